/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate.c - fits the cost model to this machine: all-gathers of several sizes along each mesh
   dim, all its lines at once; t = c + x/bandwidth for x received bytes. Then measures a few
   redistributions to see what the numbers are worth. Called by cmd_calibrate.c. */
#include "calibrate.h"
#include "measure.h"

#include <inttypes.h>
#include <string.h>

enum { N_SIZES = 7, LARGEST = 32 << 20, COPY = 16 << 20 }; /* bytes */

/* Warm memory of the kind that tensors have; it goes with the scope. */
static char *memory_of(tsr_mesh *world, int64_t bytes)
{
    char text[CLI_TEXT];
    tsr_local view;

    snprintf(text, sizeof text, "u8[%" PRId64 "]", bytes);
    return tsr_local_view(tsr_zeros(world, text), &view) == TSR_OK ? view.data : NULL;
}

typedef struct gather {
    tsr_mesh *line;
    char *send, *recv;
    int64_t n;
} gather;

static tsr_status run_gather(void *arg)
{
    gather *g = arg;

    return tsr_all_gather(g->line, TSR_U8, g->send, g->n, g->recv);
}

typedef struct copying {
    char *to, *from;
} copying;

static tsr_status run_copy(void *arg)
{
    copying *c = arg;

    memcpy(c->to, c->from, COPY);
    return TSR_OK;
}

/* Weighted least squares for t = c + x b, each point by 1/t, so that small sizes decide c. */
static void fit(const double *x, const double *t, int n, double *c, double *b)
{
    double w = 0, wx = 0, wt = 0, wxx = 0, wxt = 0, det;

    for (int i = 0; i < n; i++) {
        double k = 1 / (t[i] * t[i]);

        w += k;
        wx += k * x[i];
        wt += k * t[i];
        wxx += k * x[i] * x[i];
        wxt += k * x[i] * t[i];
    }
    det = w * wxx - wx * wx;
    *b = det > 0 ? (w * wxt - wx * wt) / det : 0;
    *c = (wt - *b * wx) / w;
    if (*c <= 0)
        *c = t[0] / 2;
    if (*b <= 0)
        *b = t[n - 1] / (x[n - 1] + 1);
}

/* c and b of one mesh dim. */
static tsr_status measure_mdim(tsr_mesh *world, int mdim, double *c, double *b)
{
    static const int64_t sizes[N_SIZES] = {64, 512, 4096, 1 << 20, 4 << 20, 16 << 20, LARGEST};
    int p = tsr_mesh_shape_get(world)->size[mdim];
    char name[16], *send, *recv;
    double x[N_SIZES], t[N_SIZES];
    tsr_mesh *line = NULL;
    tsr_status st;

    snprintf(name, sizeof name, "%d", mdim);
    tsr_scope_push(world);
    send = memory_of(world, LARGEST / p + 1);
    recv = memory_of(world, LARGEST + p);
    st = tsr_mesh_status(world);
    if (st == TSR_OK)
        st = tsr_mesh_sub(world, name, &line);
    for (int i = 0; i < N_SIZES && st == TSR_OK; i++) {
        gather g = {.line = line, .send = send, .recv = recv};
        measure_work work = {.run = run_gather, .arg = &g, .calls = sizes[i] <= 4096 ? 50 : 1};

        g.n = sizes[i] / p > 0 ? sizes[i] / p : 1;
        if (tsr_mesh_rank(world) == 0)
            cli_progress("calibrate: all-gathers along mesh dim %d, %d of %d", mdim, i + 1,
                         N_SIZES);
        st = measure_together(world, &work, 1, 0.1);
        x[i] = (double)(g.n * (p - 1));
        t[i] = work.seconds;
    }
    if (st == TSR_OK)
        fit(x, t, N_SIZES, c, b);
    tsr_mesh_unref(line);
    tsr_scope_pop(world);
    return st;
}

static tsr_status measure_memory(tsr_mesh *world, double *per_byte)
{
    copying c = {0};
    measure_work work = {.run = run_copy, .arg = &c};
    tsr_status st;

    tsr_scope_push(world);
    c.to = memory_of(world, COPY);
    c.from = memory_of(world, COPY);
    st = tsr_mesh_status(world);
    if (st == TSR_OK)
        st = measure_together(world, &work, 1, 0.1);
    *per_byte = work.seconds / COPY;
    tsr_scope_pop(world);
    return st;
}

/* The fixed part of an all-gather over p ranks is step + (p - 1) latency; one mesh dim cannot tell
   them apart, so half of the smallest fixed part is booked as the step. */
static tsr_status measure_cost(tsr_mesh *world, calibrate_result *t)
{
    const tsr_mesh_shape *mesh = tsr_mesh_shape_get(world);
    double c[TSR_MAX_MESH], b[TSR_MAX_MESH], least = 0;
    tsr_cost cost = tsr_cost_default();
    int last = -1;
    tsr_status st = tsr_cost_get(world, &cost);

    for (int m = 0; m < mesh->ndim && st == TSR_OK; m++) {
        if (mesh->size[m] < 2)
            continue;
        st = measure_mdim(world, m, &c[m], &b[m]);
        least = last < 0 || c[m] < least ? c[m] : least;
        last = m;
    }
    if (st == TSR_OK)
        st = measure_memory(world, &cost.memory);
    if (st != TSR_OK)
        return st;
    cost.per_step = least / 2;
    cost.per_shuffle = 0;
    for (int m = 0, use = last; m < TSR_MAX_MESH; m++) {
        if (m < mesh->ndim && mesh->size[m] > 1)
            use = m;
        cost.latency[m] = (c[use] - cost.per_step) / (mesh->size[use] - 1);
        cost.per_byte[m] = b[use];
    }
    tsr_cost_set(world, &cost);
    if (tsr_mesh_rank(world) == 0)
        t->cost = cost;
    return TSR_OK;
}

/* ---- how well they predict ---- */

typedef struct redist {
    tsr_mesh *world;
    tsr_tensor *x;
    const char *to;
} redist;

static tsr_status run_redist(void *arg)
{
    redist *r = arg;

    tsr_scope_push(r->world);
    tsr_redistribute(r->x, r->to);
    tsr_scope_pop(r->world);
    return tsr_mesh_status(r->world);
}

/* "[A,R,R]": placement `first` on one mesh dim; or `second` on the next one instead of R */
static void placements(char *buf, size_t n, int ndim, int at, const char *first, const char *second)
{
    size_t used = (size_t)snprintf(buf, n, "[");

    for (int m = 0; m < ndim && used < n; m++)
        used += (size_t)snprintf(buf + used, n - used, "%s%s", m ? "," : "",
                                 m == at                 ? first
                                 : m == at + 1 && second ? second
                                                         : "R");
    if (used < n)
        snprintf(buf + used, n - used, "]");
}

static tsr_status measure_move(tsr_mesh *world, calibrate_move *m)
{
    tsr_spec from, to;
    tsr_cost cost = tsr_cost_default();
    tsr_redist *plan;
    redist r = {.world = world, .to = m->to};
    measure_work work = {.run = run_redist, .arg = &r};
    tsr_error err = {0};
    tsr_status st = tsr_spec_parse(m->from, tsr_mesh_shape_get(world), &from, &err);

    if (st == TSR_OK)
        st = tsr_placements_parse(m->to, &from, &to, &err);
    if (st == TSR_OK)
        st = tsr_cost_get(world, &cost);
    if (st == TSR_OK)
        st = tsr_redist_plan(&from, &to, &cost, 0, TSR_RIVAL_BEST, &plan, &err);
    if (st != TSR_OK)
        return st;
    m->predicted = tsr_redist_info_get(plan).seconds;
    tsr_redist_free(plan);
    tsr_scope_push(world);
    r.x = tsr_zeros(world, m->from);
    st = measure_together(world, &work, 1, 0.15);
    tsr_scope_pop(world);
    m->measured = work.seconds;
    return st;
}

static tsr_status measure_moves(tsr_mesh *world, calibrate_result *t)
{
    static const struct {
        const char *from, *to, *from2, *to2, *shape;
    } cases[] = {
        {"S(0)", "R", NULL, NULL, "f32[64,64]"},
        {"S(0)", "R", NULL, NULL, "f32[2048,2048]"},
        {"S(0)", "S(1)", NULL, NULL, "f32[2048,2048]"},
        {"P(sum)", "R", NULL, NULL, "f32[2048,2048]"},
        {"P(sum)", "S(0)", NULL, NULL, "f32[2048,2048]"},
        {"R", "S(0)", NULL, NULL, "f32[2048,2048]"},
        {"S(0)", "S(1)", "S(1)", "S(0)", "f32[2048,2048]"},
        {"S(0)", "R", "S(0)", "S(1)", "f32[2048,2048]"},
    };
    const tsr_mesh_shape *mesh = tsr_mesh_shape_get(world);
    int at = 0;
    tsr_status st = TSR_OK;

    while (at + 1 < mesh->ndim && mesh->size[at] < 2)
        at++;
    for (int i = 0; i < CALIBRATE_MOVES && st == TSR_OK; i++) {
        char places[TSR_TEXT_LEN];
        calibrate_move m = {.predicted = 0};

        if (cases[i].from2 && (at + 1 >= mesh->ndim || mesh->size[at + 1] < 2))
            continue;
        placements(places, sizeof places, mesh->ndim, at, cases[i].from, cases[i].from2);
        placements(m.to, sizeof m.to, mesh->ndim, at, cases[i].to, cases[i].to2);
        snprintf(m.from, sizeof m.from, "%s@%.400s", cases[i].shape, places);
        if (tsr_mesh_rank(world) == 0)
            cli_progress("calibrate: %.120s -> %.80s", m.from, m.to);
        st = measure_move(world, &m);
        if (tsr_mesh_rank(world) == 0)
            t->moves[t->n_moves++] = m;
    }
    return st;
}

tsr_status calibrate_job(tsr_mesh *world, void *arg)
{
    calibrate_result *t = arg;
    tsr_status st;

    if (tsr_mesh_rank(world) == 0)
        t->mesh = *tsr_mesh_shape_get(world);
    if (tsr_mesh_size(world) < 2)
        return TSR_ERR_MESH;
    st = measure_cost(world, t);
    return st == TSR_OK ? measure_moves(world, t) : st;
}
