/* SPDX-License-Identifier: Apache-2.0 */
/* conv_matrix.c - see conv_matrix.h. */
#include "conv_matrix.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/opts.h"
#include "support/ranks.h"

#define SQUARE(n)                                                                                  \
    {                                                                                              \
        4,                                                                                         \
        {                                                                                          \
            4, 4, n, n                                                                             \
        }                                                                                          \
    }
#define WEIGHT(k)                                                                                  \
    {                                                                                              \
        4,                                                                                         \
        {                                                                                          \
            8, 4, k, k                                                                             \
        }                                                                                          \
    }
#define BOTH(n) {n, n}

const conv_config CONV_CONFIGS[] = {
    {"k3p1", SQUARE(8), WEIGHT(3), true, false, false, CONV_OPTS(.padding = BOTH(1))},
    {"k3p1s2", SQUARE(8), WEIGHT(3), true, false, false,
     CONV_OPTS(.padding = BOTH(1), .stride = BOTH(2))},
    {"k7p3s2", SQUARE(8), WEIGHT(7), true, false, false,
     CONV_OPTS(.padding = BOTH(3), .stride = BOTH(2))},
    {"k3p2 dilation 2", SQUARE(8), WEIGHT(3), true, false, false,
     CONV_OPTS(.padding = BOTH(2), .dilation = BOTH(2))},
    {"k2s2", SQUARE(8), WEIGHT(2), true, false, false, CONV_OPTS(.stride = BOTH(2))},
    {"k1", SQUARE(8), WEIGHT(1), true, false, false, CONV_OPTS(.groups = 1)},
    {"k3p0", SQUARE(8), WEIGHT(3), true, false, false, CONV_OPTS(.groups = 1)},
    {"k3p1 groups 2",
     SQUARE(8),
     {4, {8, 2, 3, 3}},
     true,
     false,
     false,
     CONV_OPTS(.padding = BOTH(1), .groups = 2)},
    {"k3p1 depthwise",
     SQUARE(8),
     {4, {4, 1, 3, 3}},
     true,
     false,
     false,
     CONV_OPTS(.padding = BOTH(1), .groups = 4)},
    {"transposed k3p1",
     SQUARE(8),
     {4, {4, 6, 3, 3}},
     true,
     false,
     false,
     CONV_OPTS(.padding = BOTH(1), .transposed = true)},
    {"transposed k2s2",
     SQUARE(8),
     {4, {4, 6, 2, 2}},
     true,
     false,
     false,
     CONV_OPTS(.stride = BOTH(2), .transposed = true)},
    {"k3p1 no bias", SQUARE(8), WEIGHT(3), false, false, false, CONV_OPTS(.padding = BOTH(1))},
    {"k3p1, W = 30",
     {4, {4, 4, 5, 30}},
     WEIGHT(3),
     true,
     false,
     false,
     CONV_OPTS(.padding = BOTH(1))},
    {"1-D k3p1", {3, {4, 4, 16}}, {3, {8, 4, 3}}, true, false, false, CONV_OPTS(.padding = {1})},
    {"3-D k3p1",
     {5, {4, 4, 4, 3, 4}},
     {5, {4, 4, 3, 3, 3}},
     true,
     false,
     false,
     CONV_OPTS(.padding = {1, 1, 1})},
    {"3-D k2s2",
     {5, {4, 4, 8, 4, 8}},
     {5, {4, 4, 2, 2, 2}},
     true,
     false,
     false,
     CONV_OPTS(.stride = {2, 2, 2})},
    {"k3p1, x fixed", SQUARE(8), WEIGHT(3), true, true, false, CONV_OPTS(.padding = BOTH(1))},
    {"k3p1, weight fixed", SQUARE(8), WEIGHT(3), true, false, true, CONV_OPTS(.padding = BOTH(1))},
    {"k4, padding 1 and 2", SQUARE(8), WEIGHT(4), true, false, false,
     CONV_OPTS(.padding = BOTH(1), .padding_end = BOTH(1))},
};
const int CONV_N_CONFIGS = sizeof CONV_CONFIGS / sizeof CONV_CONFIGS[0];

const conv_sharding CONV_SHARDINGS[] = {
    {"2", "N"},    {"2", "C"},    {"2", "I"},    {"2", "O"},    {"2", "B"},    {"2", "H"},
    {"2", "W"},    {"4", "N"},    {"4", "C"},    {"4", "I"},    {"4", "O"},    {"4", "B"},
    {"4", "H"},    {"4", "W"},    {"2x2", "NR"}, {"2x2", "NN"}, {"2x2", "WW"}, {"2x2", "NW"},
    {"2x2", "WN"}, {"2x2", "RW"}, {"2x2", "WR"}, {"2x2", "HW"}, {"2x2", "CW"}, {"2x2", "WC"},
    {"2x2", "OW"}, {"2x2", "WO"}, {"2x2", "IW"}, {"2x2", "NO"}, {"2x2", "NI"}, {"2x2", "IO"},
    {"2x2", "HO"}, {"2x2", "II"},
};
const int CONV_N_SHARDINGS = sizeof CONV_SHARDINGS / sizeof CONV_SHARDINGS[0];

/* ---- shapes ---- */

static int64_t or_one(int64_t x)
{
    return x ? x : 1;
}

tsr_shape conv_out(const conv_config *c)
{
    const tsr_conv_opts *o = &c->opts;
    const int64_t groups = or_one(o->groups);
    tsr_shape y = {.ndim = c->x.ndim, .size = {c->x.size[0], c->w.size[0]}};

    if (o->transposed)
        y.size[1] = c->w.size[1] * groups;
    for (int d = 0; d < c->x.ndim - 2; d++) {
        const int64_t s = or_one(o->stride[d]), pad = 2 * o->padding[d] + o->padding_end[d];
        const int64_t extent = (c->w.size[2 + d] - 1) * or_one(o->dilation[d]) + 1;
        const int64_t n = c->x.size[2 + d];
        y.size[2 + d] = o->transposed ? (n - 1) * s - pad + extent + o->output_padding[d]
                                      : (n + pad - extent) / s + 1;
    }
    return y;
}

/* ---- placements ---- */

typedef enum role { X, WEIGHTS, BIAS, GRAD } role;

/* The dim that a letter shards, -1: none. */
static int dim_of(const conv_config *c, role who, char letter)
{
    const int last = c->x.ndim - 1, out = c->opts.transposed ? 1 : 0;

    if (who == WEIGHTS)
        return letter == 'I' ? 1 - out : letter == 'O' || letter == 'B' ? out : -1;
    if (who == BIAS)
        return letter == 'O' || letter == 'B' ? 0 : -1;
    switch (letter) {
    case 'N': return 0;
    case 'H': return 2;
    case 'W': return last;
    case 'C':
    case 'I': return who == X ? 1 : -1;
    case 'B': return 1;
    case 'O': return who == GRAD ? 1 : -1;
    default: return -1;
    }
}

static const char *spec_of(const conv_run *r, role who, const tsr_shape *shape,
                           char out[TSR_TEXT_LEN])
{
    size_t n = (size_t)snprintf(out, TSR_TEXT_LEN, "%s[", r->dtype);

    for (int d = 0; d < shape->ndim; d++)
        n += (size_t)snprintf(out + n, TSR_TEXT_LEN - n, "%s%lld", d ? "," : "",
                              (long long)shape->size[d]);
    n += (size_t)snprintf(out + n, TSR_TEXT_LEN - n, "]%s", *r->by ? "@[" : "");
    for (const char *by = r->by; *by; by++) {
        int d = dim_of(r->config, who, *by);
        const char *end = by[1] ? "," : "]";
        n += (size_t)(d < 0 ? snprintf(out + n, TSR_TEXT_LEN - n, "R%s", end)
                            : snprintf(out + n, TSR_TEXT_LEN - n, "S(%d)%s", d, end));
    }
    return out;
}

/* ---- one run ---- */

static tsr_tensor *make(tsr_mesh *mesh, const conv_run *r, role who, tsr_shape shape)
{
    const int64_t n = tsr_shape_count(&shape);
    const bool whole = strcmp(r->dtype, "f64") == 0;
    char spec[TSR_TEXT_LEN];
    void *data = malloc((size_t)n * 8 + 8);
    tsr_tensor *x;

    for (int64_t i = 0; i < n && data; i++) {
        const int64_t k = i * 7 + i * i % 11 + (int)who * 5;
        if (whole)
            ((double *)data)[i] = (double)(k % 7 - 3);
        else
            ((float *)data)[i] = (float)sin((double)k * 1.7);
    }
    x = from_host(mesh, spec_of(r, who, &shape, spec), data);
    free(data);
    return x;
}

typedef struct tensors {
    tsr_tensor *x, *w, *bias, *grad, *out[CONV_OUT];
} tensors;

static tsr_tensor *one_result(const conv_config *c, const tensors *t, int k)
{
    const int dims[] = {0, 2, 3, 4};

    if (k == 0)
        return tsr_conv(t->x, t->w, t->bias, &c->opts);
    if (k == 1)
        return tsr_conv_grad_input(t->grad, t->w, &c->x.size[2], &c->opts);
    if (k == 2)
        return tsr_conv_grad_weight(t->grad, t->x, &c->w.size[2], &c->opts);
    return tsr_sum(t->grad, dims, c->x.ndim - 1, false);
}

static bool is_wanted(const conv_config *c, int k)
{
    return k == 0 || (k == 1 && !c->no_grad_x) || (k == 2 && !c->no_grad_w) || (k == 3 && c->bias);
}

/* What only one result moves, then the gradients together, with fresh counters. */
static tsr_status compute(tsr_mesh *mesh, conv_run *r, tensors *t)
{
    const conv_config *c = r->config;
    const int me = tsr_mesh_index(mesh);
    bool wanted[3];

    for (int k = 0; k < CONV_OUT; k++) {
        tsr_tensor *y;
        if (!is_wanted(c, k))
            continue;
        tsr_counters_reset(mesh);
        y = one_result(c, t, k);
        CHECK(tsr_tensor_ok(y));
        r->bytes[me][k] = tsr_counters_get(mesh).bytes_in;
        r->calls[me][k] = tsr_counters_get(mesh).calls;
        if (k == 0)
            t->out[0] = y;
    }
    for (int k = 0; k < 3; k++)
        wanted[k] = is_wanted(c, k + 1);
    tsr_counters_reset(mesh);
    CHECK(tsr_conv_backward(t->grad, t->x, t->w, &c->opts, wanted[0] ? &t->out[1] : NULL,
                            wanted[1] ? &t->out[2] : NULL,
                            wanted[2] ? &t->out[3] : NULL) == TSR_OK);
    r->backward[me] = tsr_counters_get(mesh).bytes_in;
    for (int k = 0; k < 3; k++)
        CHECK(wanted[k] ? t->out[k + 1] && tsr_tensor_ok(t->out[k + 1]) : !t->out[k + 1]);
    CHECK(tsr_op_counters_get(mesh, "conv_grad_input").calls == wanted[0]);
    CHECK(tsr_op_counters_get(mesh, "conv_grad_weight").calls == wanted[1]);
    CHECK(tsr_op_counters_get(mesh, "sum").calls == wanted[2]);
    return TSR_OK;
}

/* All of it on every rank; the first one keeps it. */
static tsr_status bring_home(tsr_mesh *mesh, conv_run *r, tsr_tensor *x, int k)
{
    const tsr_spec *spec = tsr_tensor_spec(x);
    const int64_t n = tsr_shape_count(&spec->shape);
    const size_t size = tsr_dtype_size(spec->dtype);
    void *data;
    tsr_status st;

    if (tsr_mesh_index(mesh) == 0)
        r->spec[k] = *spec;
    if (tsr_mesh_world(mesh) == TSR_WORLD_SIM)
        return TSR_OK;
    data = malloc((size_t)n * size + 1);
    st = tsr_to_host(x, data, (size_t)n * size);
    if (tsr_mesh_index(mesh) == 0 && st == TSR_OK) {
        r->n[k] = n;
        r->value[k] = malloc((size_t)n * sizeof(double) + 1);
        for (int64_t i = 0; i < n; i++)
            r->value[k][i] = size == 8 ? ((double *)data)[i] : (double)((float *)data)[i];
    }
    free(data);
    return st;
}

static tsr_status run_on(tsr_mesh *mesh, conv_run *r)
{
    const conv_config *c = r->config;
    const tsr_shape y = conv_out(c);
    tensors t = {0};
    tsr_status st = TSR_OK;

    if (r->pending_free) {
        tsr_cost cost = mesh_cost(mesh);
        cost.pending_free = true;
        tsr_cost_set(mesh, &cost);
    }
    t.x = make(mesh, r, X, c->x);
    t.w = make(mesh, r, WEIGHTS, c->w);
    t.grad = make(mesh, r, GRAD, y);
    if (c->bias)
        t.bias = make(mesh, r, BIAS, (tsr_shape){.ndim = 1, .size = {y.size[1]}});
    CHECK(tsr_mesh_status(mesh) == TSR_OK);
    st = compute(mesh, r, &t);
    for (int k = 0; k < CONV_OUT && st == TSR_OK; k++)
        if (t.out[k])
            st = bring_home(mesh, r, t.out[k], k);
    return st;
}

tsr_status conv_job(tsr_mesh *mesh, void *arg)
{
    conv_run *r = arg;
    tsr_mesh *part;
    tsr_status st = TSR_OK;

    if (!r->in_part)
        return run_on(mesh, r);
    CHECK(tsr_mesh_part(mesh, "2", 1, &part) == TSR_OK);
    if (tsr_mesh_is_member(part))
        st = run_on(part, r);
    tsr_mesh_unref(part);
    return st;
}

void conv_free(conv_run *r)
{
    for (int k = 0; k < CONV_OUT; k++) {
        free(r->value[k]);
        r->value[k] = NULL;
    }
}

const char *conv_compare(const conv_run *r, const conv_run *reference)
{
    static const char *const names[] = {"the output differs", "the input's gradient differs",
                                        "the weight's gradient differs",
                                        "the bias's gradient differs"};
    const bool exact = strcmp(r->dtype, "f64") == 0;

    for (int k = 0; k < CONV_OUT; k++) {
        const double *a = r->value[k], *b = reference->value[k];
        double largest = 1;
        if (!a != !b || r->n[k] != reference->n[k])
            return "results are missing, or there are too many";
        for (int64_t i = 0; i < r->n[k]; i++)
            largest = fabs(b[i]) > largest ? fabs(b[i]) : largest;
        for (int64_t i = 0; i < r->n[k]; i++)
            if (!(fabs(a[i] - b[i]) <= (exact ? 0 : 2e-5 * largest)))
                return names[k];
    }
    return NULL;
}

bool conv_stayed(const conv_run *r, int k)
{
    for (int m = 0; m < r->spec[k].mesh.ndim && k < 2; m++) {
        const tsr_placement *p = &r->spec[k].place[m];
        if (p->kind != TSR_SHARD || p->dim != dim_of(r->config, k ? X : GRAD, r->by[m]))
            return false;
    }
    for (int i = 0; i < CONV_RANKS && k >= 2; i++)
        if (r->calls[i][k] > 1)
            return false;
    return true;
}

/* ---- what a rank lacks ---- */

typedef struct range {
    int64_t begin, end;
} range;

static int64_t count(range x)
{
    return x.end > x.begin ? x.end - x.begin : 0;
}

static range both(range a, range b)
{
    return (range){a.begin > b.begin ? a.begin : b.begin, a.end < b.end ? a.end : b.end};
}

int conv_ranks(const tsr_mesh_shape *mesh)
{
    int n = 1;

    for (int m = 0; m < mesh->ndim; m++)
        n *= mesh->size[m];
    return n;
}

/* Along tensor dim d, chunks of ceil(n / p), the first mesh dim outermost. */
static range part_of(const conv_config *c, role who, const tsr_shape *shape,
                     const tsr_mesh_shape *mesh, const char *by, int index, int d)
{
    range x = {0, shape->size[d]};
    int rest = conv_ranks(mesh);

    for (int m = 0; m < mesh->ndim; m++) {
        const int p = mesh->size[m];
        int coord;
        rest /= p;
        coord = index / rest % p;
        if (dim_of(c, who, by[m]) == d) {
            const int64_t chunk = (x.end - x.begin + p - 1) / p, end = x.end;
            x.begin = x.begin + coord * chunk < end ? x.begin + coord * chunk : end;
            x.end = x.begin + chunk < end ? x.begin + chunk : end;
        }
    }
    return x;
}

/* Of x, from the first tap of the first output to the last of the last one; a border may cut it. */
static range read_by(const conv_config *c, int d, range y)
{
    const int s = d - 2;
    const int64_t stride = or_one(c->opts.stride[s]);
    const int64_t extent = (c->w.size[d] - 1) * or_one(c->opts.dilation[s]) + 1;
    range x = {0, 0};

    if (count(y) > 0)
        x = (range){y.begin * stride - c->opts.padding[s],
                    (y.end - 1) * stride - c->opts.padding[s] + extent};
    return both(x, (range){0, c->x.size[d]});
}

/* Of the output, what reads any of [x.begin, x.end). */
static range readers_of(const conv_config *c, int d, range x)
{
    const tsr_shape shape = conv_out(c);
    range y = {shape.size[d], 0};

    for (int64_t p = 0; p < shape.size[d]; p++)
        if (count(both(read_by(c, d, (range){p, p + 1}), x)) > 0) {
            y.begin = p < y.begin ? p : y.begin;
            y.end = p + 1;
        }
    return y.end > y.begin ? y : (range){0, 0};
}

/* Is dim d of space cut? */
static bool is_along(const tsr_mesh_shape *mesh, const conv_config *c, const char *by, int d)
{
    for (int m = 0; m < mesh->ndim && d >= 2; m++)
        if (dim_of(c, X, by[m]) == d)
            return true;
    return false;
}

/* Do the two ranks differ in their parts of space only? Others hold other samples, or the same. */
static bool are_neighbours(const tsr_mesh_shape *mesh, const char *by, int a, int b)
{
    for (int m = mesh->ndim - 1; m >= 0; m--) {
        if (by[m] != 'H' && by[m] != 'W' && a % mesh->size[m] != b % mesh->size[m])
            return false;
        a /= mesh->size[m];
        b /= mesh->size[m];
    }
    return true;
}

/* Of the input's gradient, what another rank's part of the output's gradient adds to mine. */
static int64_t added_by(const conv_config *c, const tsr_mesh_shape *mesh, const char *by, int index,
                        int other)
{
    const tsr_shape out = conv_out(c);
    int64_t n = 1;

    for (int d = 0; d < c->x.ndim; d++) {
        const range x = part_of(c, X, &c->x, mesh, by, index, d);
        range window = x;
        if (is_along(mesh, c, by, d))
            window = read_by(c, d, part_of(c, GRAD, &out, mesh, by, other, d));
        n *= count(both(x, window));
    }
    return n;
}

int64_t conv_missing(const conv_config *c, const tsr_mesh_shape *mesh, const char *by, int index,
                     conv_way way)
{
    const tsr_shape out = conv_out(c);
    int64_t needs = 1, has = 1, added = 0;

    for (int other = 0; other < CONV_RANKS && way == CONV_SPREAD; other++)
        if (other != index && other < conv_ranks(mesh) && are_neighbours(mesh, by, index, other))
            added += added_by(c, mesh, by, index, other);
    if (way == CONV_SPREAD)
        return added;
    for (int d = 0; d < c->x.ndim; d++) {
        const range x = part_of(c, X, &c->x, mesh, by, index, d);
        const range y = part_of(c, GRAD, &out, mesh, by, index, d);
        const range own = way == CONV_FORWARD ? x : y;
        range window = own;
        if (is_along(mesh, c, by, d))
            window = way == CONV_FORWARD ? read_by(c, d, y) : readers_of(c, d, x);
        needs *= count(window);
        has *= count(both(window, own));
    }
    return needs - has;
}
