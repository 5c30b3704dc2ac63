/* SPDX-License-Identifier: Apache-2.0 */
/* test_exchange.c - the exchange engine with overlapping layouts: fetching halos, adding overlaps
   back into their owners, several exchanges under way; against loops over single elements. */
#include "support/test.h"
#include "exchange/exchange.h"
#include "world/mesh_handle.h"

enum { MAX = 400 };

/* A 2-D tensor of h x w, dim 0 over mesh dim 0 and dim 1 over mesh dim 1, seen through windows. */
typedef struct halo_case {
    const char *mesh;
    int64_t h, w;
    tsr_dim_window rows, cols;
} halo_case;

static const halo_case CASES[] = {
    {"2x2",
     8,
     6,
     {true, 8, 1, -1, 2, 1, false},
     {true, 6, 1, -1, 2, 1, false}}, /* halo of 1: corners too */
    {"2x2",
     5,
     3,
     {true, 5, 1, -2, 3, 1, false},
     {true, 3, 1, 0, 1, 1, false}},                              /* uneven, one dim only */
    {"4x1", 5, 4, {true, 5, 1, -3, 4, 1, false}, {.on = false}}, /* over several ranks, one empty */
    {"3x2",
     7,
     9,
     {true, 4, 2, -1, 2, 1, false},
     {true, 5, 2, -1, 2, 1, false}}, /* convolution k3 s2 p1 */
    {"2x2",
     6,
     6,
     {true, 3, 2, 0, 2, 1, false},
     {true, 3, 2, 0, 2, 1, false}}, /* k2 s2: nothing but misalignment */
    {"2x3",
     4,
     4,
     {true, 9, 1, -6, 1, 1, false},
     {true, 4, 1, -1, 2, 1, false}}, /* padding beyond the tensor */
};

static double value_at(int64_t i, int64_t j)
{
    return (double)(i * 100 + j);
}

static tsr_layout plain(const tsr_mesh_shape *mesh, const halo_case *c)
{
    tsr_layout layout = {
        .dtype = TSR_F64, .shape = {.ndim = 2, .size = {c->h, c->w}}, .mesh = *mesh};

    for (int d = 0; d < 2; d++) {
        layout.dim[d].n = 1;
        layout.dim[d].mdim[0] = d;
        layout.dim[d].factor[0] = 1;
    }
    return layout;
}

/* [begin, end) of a dim for the rank at coordinate r of p, by the definition of windows. */
static void range_of(const tsr_dim_window *w, int64_t n, int p, int r, int64_t *begin, int64_t *end)
{
    int64_t coarse = w->on ? w->n : n, c = (coarse + p - 1) / p, b = r * c, e = b + c;

    b = b < coarse ? b : coarse;
    e = e < coarse ? e : coarse;
    *begin = b;
    *end = e;
    if (!w->on)
        return;
    *begin = b * w->mul + w->lo;
    *end = (e - 1) * w->mul + w->hi;
    *begin = *begin < 0 ? 0 : *begin > n ? n : *begin;
    *end = *end > n ? n : *end;
    if (b >= e || *end < *begin)
        *end = *begin;
}

typedef struct box {
    int64_t i0, i1, j0, j1;
} box;

static box box_of(const halo_case *c, const tsr_mesh_shape *mesh, const int *coord, bool windowed)
{
    const tsr_dim_window none = {0};
    box b;

    range_of(windowed ? &c->rows : &none, c->h, mesh->size[0], coord[0], &b.i0, &b.i1);
    range_of(windowed ? &c->cols : &none, c->w, mesh->size[1], coord[1], &b.j0, &b.j1);
    return b;
}

static tsr_status exchange(tsr_mesh *mesh, const tsr_layout *from, const tsr_layout *to,
                           tsr_exchange_mode mode, const double *src, double *dst)
{
    tsr_ctx *ctx = mesh->ctx;
    tsr_exchange x = {0};
    tsr_exchange_run run = {.call = {.fingerprint = 7,
                                     .what = "halo",
                                     .dtype = TSR_F64,
                                     .send_base = src,
                                     .recv_base = dst,
                                     .divisor = 1}};
    tsr_exchange_ask ask = {.from = from, .to = to, .mode = mode};
    tsr_status st;

    TSR_TRY(tsr__mesh_group(mesh, 3, &run.call.group));
    ask.ranks = run.call.group->rank;
    ask.n = run.call.group->n;
    ask.me = run.call.group->me;
    TSR_TRY(tsr__exchange_make(&ctx->heap, &ask, &x, &ctx->error));
    TSR_TRY(tsr__exchange_start(&x, &run));
    TSR_TRY(tsr__exchange_finish(&run));
done:
    tsr__exchange_free(&ctx->heap, &x);
    return st;
}

static tsr_status wrong(tsr_mesh *mesh, int number, const char *what, int64_t i, int64_t j,
                        double got, double want)
{
    fprintf(stderr, "case %d rank %d %s: element %lld,%lld is %g, not %g\n", number,
            tsr_mesh_rank(mesh), what, (long long)i, (long long)j, got, want);
    return TSR_ERR_MISMATCH;
}

/* How many windows see an element: what adding ones back must give. */
static int64_t seen(const halo_case *c, const tsr_mesh_shape *mesh, int64_t i, int64_t j)
{
    int64_t n = 0;

    for (int r = 0; r < tsr__mesh_size(mesh); r++) {
        int coord[TSR_MAX_MESH];
        tsr__mesh_coords(mesh, r, coord);
        box b = box_of(c, mesh, coord, true);
        n += i >= b.i0 && i < b.i1 && j >= b.j0 && j < b.j1;
    }
    return n;
}

static tsr_status test_case(tsr_mesh *mesh, void *arg)
{
    int number = *(const int *)arg;
    const halo_case *c = &CASES[number];
    tsr_layout owners = plain(&mesh->shape, c), windows = owners;
    box own = box_of(c, &mesh->shape, mesh->coord, false);
    box win = box_of(c, &mesh->shape, mesh->coord, true);
    double part[MAX], halo[MAX], sum[MAX], ones[MAX];
    int64_t n = 0;
    tsr_status st;

    windows.dim[0].window = c->rows;
    windows.dim[1].window = c->cols;
    for (int64_t i = own.i0; i < own.i1; i++)
        for (int64_t j = own.j0; j < own.j1; j++) {
            sum[n] = 0.5;
            part[n++] = value_at(i, j);
        }
    TSR_TRY(exchange(mesh, &owners, &windows, TSR_EXCHANGE_REPLACE, part, halo));
    n = 0;
    for (int64_t i = win.i0; i < win.i1; i++)
        for (int64_t j = win.j0; j < win.j1; j++, n++)
            if (halo[n] != value_at(i, j))
                return wrong(mesh, number, "fetching", i, j, halo[n], value_at(i, j));
    for (int64_t k = 0; k < MAX; k++)
        ones[k] = 1;
    TSR_TRY(exchange(mesh, &windows, &owners, TSR_EXCHANGE_ADD, ones, sum));
    n = 0;
    for (int64_t i = own.i0; i < own.i1; i++)
        for (int64_t j = own.j0; j < own.j1; j++, n++)
            if (sum[n] != 0.5 + (double)seen(c, &mesh->shape, i, j))
                return wrong(mesh, number, "adding", i, j, sum[n],
                             0.5 + (double)seen(c, &mesh->shape, i, j));
done:
    return st;
}

/* What a call that cannot start has taken it gives back. */
static tsr_status failing_job(tsr_mesh *mesh, void *arg)
{
    const halo_case *c = &CASES[*(const int *)arg];
    tsr_layout owners = plain(&mesh->shape, c), windows = owners;
    const size_t used = mesh->ctx->pool.used;
    double ones[MAX] = {0}, sum[MAX] = {0};

    windows.dim[0].window = c->rows;
    windows.dim[1].window = c->cols;
    mesh->ctx->world->fail_call_at = mesh->ctx->world->calls + 1;
    if (exchange(mesh, &windows, &owners, TSR_EXCHANGE_ADD, ones, sum) != TSR_ERR_STATE ||
        mesh->ctx->pool.used != used)
        return TSR_ERR_MISMATCH;
    return TSR_ERR_STATE;
}

static void failing(void **state)
{
    int first = 0;
    tsr_error err = {0};

    (void)state;
    assert_int_equal(
        tsr_run(&(tsr_run_opts)RUN_OPTS(.mesh = CASES[first].mesh, .world = TSR_WORLD_THREAD),
                failing_job, &first, &err),
        TSR_ERR_STATE);
}

static void halos(void **state)
{
    (void)state;
    for (int i = 0; i < (int)(sizeof CASES / sizeof CASES[0]); i++)
        pass_on(CASES[i].mesh, test_case, &i);
}

/* Aligned windows need nothing from anybody: no message but the own one. */
static tsr_status nothing_travels(tsr_mesh *mesh, void *arg)
{
    const halo_case c = {"2x2", 8, 8, {true, 4, 2, 0, 2, 1, false}, {true, 4, 2, 0, 2, 1, false}};
    tsr_layout owners = plain(&mesh->shape, &c), windows = owners;
    double part[16] = {0}, got[16];
    tsr_status st;
    (void)arg;

    windows.dim[0].window = c.rows;
    windows.dim[1].window = c.cols;
    tsr_counters_reset(mesh);
    TSR_TRY(exchange(mesh, &owners, &windows, TSR_EXCHANGE_REPLACE, part, got));
    if (tsr_counters_get(mesh).bytes_in != 0 || tsr_counters_get(mesh).bytes_out != 0)
        st = TSR_ERR_MISMATCH;
done:
    return st;
}

static void aligned_windows_stay(void **state)
{
    (void)state;
    pass_on("2x2", nothing_travels, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halos),
        cmocka_unit_test(failing),
        cmocka_unit_test(aligned_windows_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
