/* SPDX-License-Identifier: Apache-2.0 */
/* test_attention.c - attention with sharded keys, through the public headers: outputs are terms of
   a sum, gradients of keys stay where the keys are, both as on whole inputs; what is communicated,
   numbers of every row where those are less than keys and values; and a scale of 0. */
#include <float.h>

#include "support/test.h"

enum { MOST = 4096 }; /* elements of a tensor */

typedef enum masking { NO_MASK, ADDED, LOWEST, SEEN } masking;

typedef struct attention_case {
    const char *what, *mesh;
    int64_t batch, heads, key_heads, rows, keys;
    const char *q, *k, *v, *mask; /* placements */
    const char *y;                /* expected */
    masking masking;
    bool causal, spoilt; /* by a NaN in the last key */
    tsr_dtype dtype;
} attention_case;

enum { DIM = 8, WIDTH = 6 };

static const attention_case CASES[] = {
    {.what = "few rows", .mesh = "2", .rows = 3, .keys = 40, .dtype = TSR_F64},
    {.what = "f32", .mesh = "4", .rows = 3, .keys = 40},
    {.what = "f16", .mesh = "4", .rows = 3, .keys = 40, .dtype = TSR_F16},
    {.what = "bf16", .mesh = "4", .rows = 3, .keys = 40, .dtype = TSR_BF16},
    {.what = "a rank sees nothing of some rows",
     .mesh = "4",
     .rows = 14,
     .keys = 40,
     .causal = true},
    {.what = "uneven", .mesh = "3", .rows = 1, .keys = 7},
    {.what = "a rank without keys", .mesh = "4", .rows = 1, .keys = 9},
    {.what = "no rows", .mesh = "2", .rows = 0, .keys = 9},
    {.what = "keys in pieces",
     .mesh = "2",
     .rows = 9,
     .keys = 40,
     .k = "[SS(2,3)]",
     .v = "[SS(2,3)]",
     .causal = true},
    {.what = "a row that sees nothing",
     .mesh = "2",
     .rows = 5,
     .keys = 41,
     .mask = "[S(1)]",
     .masking = SEEN},
    {.what = "a mask that is added",
     .mesh = "2",
     .rows = 5,
     .keys = 41,
     .mask = "[S(1)]",
     .masking = ADDED,
     .causal = true},
    {.what = "a row of the lowest numbers, which leave nothing of the logarithm of their sum",
     .mesh = "2",
     .rows = 3,
     .keys = 41,
     .mask = "[S(1)]",
     .masking = LOWEST},
    {.what = "a NaN is seen by its rows",
     .mesh = "2",
     .rows = 12,
     .keys = 12,
     .causal = true,
     .spoilt = true,
     .dtype = TSR_F64},
    {.what = "rows and keys",
     .mesh = "2x2",
     .rows = 6,
     .keys = 40,
     .q = "[S(2),R]",
     .k = "[R,S(2)]",
     .v = "[R,S(2)]",
     .y = "[S(2),P(sum)]",
     .causal = true},
    {.what = "batch and keys",
     .mesh = "2x2",
     .batch = 2,
     .rows = 3,
     .keys = 40,
     .q = "[S(0),R]",
     .k = "[S(0),S(2)]",
     .v = "[S(0),S(2)]",
     .y = "[S(0),P(sum)]"},
    {.what = "grouped heads and keys",
     .mesh = "2x2",
     .heads = 4,
     .key_heads = 2,
     .rows = 3,
     .keys = 40,
     .q = "[S(1),R]",
     .k = "[S(1),S(2)]",
     .v = "[S(1),S(2)]",
     .y = "[S(1),P(sum)]"},
    {.what = "keys twice",
     .mesh = "2x2",
     .rows = 3,
     .keys = 41,
     .k = "[S(2),S(2)]",
     .v = "[S(2),S(2)]",
     .y = "[P(sum),P(sum)]",
     .causal = true},
    {.what = "columns of values and keys",
     .mesh = "2x2",
     .rows = 3,
     .keys = 40,
     .k = "[R,S(2)]",
     .v = "[S(3),S(2)]",
     .y = "[S(3),P(sum)]"},
};

/* q, k, v, mask and the gradient of y: of f64 and whole, and of the case's dtype in its places. */
typedef struct inputs {
    tsr_tensor *q, *k, *v, *mask, *grad;
} inputs;

static const char *or_else(const char *text, const char *usual)
{
    return text ? text : usual;
}

static tsr_tensor *whole(tsr_mesh *mesh, int64_t a, int64_t b, int64_t c, int64_t d, int seed,
                         double last)
{
    double x[MOST];
    const int64_t n = a * b * c * d;
    char text[96];

    for (int64_t i = 0; i < n && n <= MOST; i++)
        x[i] = sin((double)(7 * i + 13 * seed + i / 11));
    if (n > 0 && last != 0)
        x[n - 1] = last;
    snprintf(text, sizeof text, "f64[%d,%d,%d,%d]@%s", (int)a, (int)b, (int)c, (int)d,
             tsr_mesh_shape_get(mesh)->ndim > 1 ? "[R,R]" : "[R]");
    return from_host(mesh, text, x);
}

/* Row 0 sees nothing, or all keys by the lowest number of f32; row 1 none of the first half. */
static tsr_tensor *mask_of(tsr_mesh *mesh, const attention_case *c)
{
    uint8_t seen[MOST];
    double lowest[MOST];
    char text[64];

    if (c->masking == NO_MASK)
        return NULL;
    if (c->masking == ADDED)
        return tsr_reshape(whole(mesh, 1, 1, c->rows, c->keys, 5, 0),
                           (const int64_t[]){c->rows, c->keys}, 2);
    for (int64_t i = 0; i < c->rows * c->keys; i++)
        lowest[i] = i < c->keys ? (double)-FLT_MAX : 0;
    snprintf(text, sizeof text, "f64[%d,%d]@[R]", (int)c->rows, (int)c->keys);
    if (c->masking == LOWEST)
        return from_host(mesh, text, lowest);
    for (int64_t i = 0; i < c->rows * c->keys; i++)
        seen[i] = i >= c->keys + c->keys / 2 && i % 3 != 0;
    snprintf(text, sizeof text, "bool[%d,%d]@[R]", (int)c->rows, (int)c->keys);
    return from_host(mesh, text, seen);
}

static tsr_tensor *placed(tsr_tensor *x, const char *places)
{
    return x && places ? tsr_redistribute(x, places) : x;
}

static void make_inputs(tsr_mesh *mesh, const attention_case *c, inputs *plain, inputs *sharded)
{
    const int64_t batch = c->batch ? c->batch : 1, heads = c->heads ? c->heads : 1;
    const int64_t keys = c->key_heads ? c->key_heads : heads;
    const char *rows = tsr_mesh_shape_get(mesh)->ndim > 1 ? "[R,R]" : "[R]";
    tsr_tensor **x = &plain->q, **y = &sharded->q;

    plain->q = whole(mesh, batch, heads, c->rows, DIM, 1, 0);
    plain->k = whole(mesh, batch, keys, c->keys, DIM, 2, c->spoilt ? NAN : 0);
    plain->v = whole(mesh, batch, keys, c->keys, WIDTH, 3, 0);
    plain->mask = mask_of(mesh, c);
    plain->grad = whole(mesh, batch, heads, c->rows, WIDTH, 4, 0);
    for (int i = 0; i < 5; i++) {
        y[i] = x[i];
        if (!x[i] || (i == 3 && c->masking == SEEN))
            continue;
        y[i] = tsr_cast(x[i], c->dtype);
        x[i] = tsr_cast(y[i], TSR_F64); /* rounded alike */
    }
    sharded->q = placed(sharded->q, or_else(c->q, rows));
    sharded->k = placed(sharded->k, or_else(c->k, "[S(2)]"));
    sharded->v = placed(sharded->v, or_else(c->v, "[S(2)]"));
    sharded->mask = placed(sharded->mask, c->mask);
}

static bool is_like(tsr_tensor *x, tsr_tensor *want, double tolerance)
{
    double a[MOST], b[MOST];
    const int64_t n = tsr_shape_count(&tsr_tensor_spec(want)->shape);

    if (n > MOST || tsr_to_host(tsr_cast(x, TSR_F64), a, (size_t)n * 8) != TSR_OK ||
        tsr_to_host(want, b, (size_t)n * 8) != TSR_OK)
        return false;
    for (int64_t i = 0; i < n; i++)
        if (a[i] != b[i] && !(isnan(a[i]) && isnan(b[i])) && !(fabs(a[i] - b[i]) <= tolerance)) {
            fprintf(stderr, "element %d is %.12g, not %.12g\n", (int)i, a[i], b[i]);
            return false;
        }
    return true;
}

static bool is_at(const tsr_tensor *x, const char *places)
{
    char text[64];

    tsr_placements_text(tsr_tensor_spec(x), text, sizeof text);
    if (strcmp(text, places) != 0)
        fprintf(stderr, "at %s, not %s\n", text, places);
    return strcmp(text, places) == 0;
}

/* Is a gradient sharded as its tensor is? Where that is whole, it may be a sum. */
static bool is_sharded_as(const tsr_tensor *g, const tsr_tensor *x)
{
    const tsr_spec *a = tsr_tensor_spec(g), *b = tsr_tensor_spec(x);

    for (int m = 0; m < b->mesh.ndim; m++)
        if (b->place[m].kind != TSR_REPLICATE &&
            (a->place[m].kind != b->place[m].kind || a->place[m].dim != b->place[m].dim))
            return false;
    return true;
}

static tsr_status check_case(tsr_mesh *mesh, const attention_case *c)
{
    static const double TOLERANCE[] = {
        [TSR_F32] = 2e-5, [TSR_F64] = 1e-13, [TSR_F16] = 2e-2, [TSR_BF16] = 1e-1};
    const tsr_attention_opts opts = ATTENTION_OPTS(.causal = c->causal);
    const double tolerance = TOLERANCE[c->dtype];
    tsr_tensor *y, *lse, *want, *want_lse, *g[3], *want_g[3], *gm = NULL, *want_gm = NULL;
    const bool of_mask = c->masking == ADDED;
    inputs p, s;

    make_inputs(mesh, c, &p, &s);
    want = tsr_attention(p.q, p.k, p.v, p.mask, &opts, &want_lse);
    y = tsr_attention(s.q, s.k, s.v, s.mask, &opts, &lse);
    CHECK(tsr_tensor_ok(y) && is_at(y, or_else(c->y, "[P(sum)]")));
    CHECK(is_like(y, want, tolerance) && is_like(lse, want_lse, tolerance));
    if (c->spoilt || c->masking == LOWEST) /* lse is too large to be a gradient */
        return TSR_OK;
    CHECK(tsr_attention_backward(p.grad, p.q, p.k, p.v, want, want_lse, want_lse, p.mask, &opts,
                                 &want_g[0], &want_g[1], &want_g[2],
                                 of_mask ? &want_gm : NULL) == TSR_OK);
    CHECK(tsr_attention_backward(s.grad, s.q, s.k, s.v, y, lse, lse, s.mask, &opts, &g[0], &g[1],
                                 &g[2], of_mask ? &gm : NULL) == TSR_OK);
    CHECK(is_sharded_as(g[1], s.k) && is_sharded_as(g[2], s.v));
    for (int k = 0; k < 3; k++)
        CHECK(is_like(g[k], want_g[k], 8 * tolerance));
    CHECK(!of_mask || (is_at(gm, c->mask) && is_like(gm, want_gm, 8 * tolerance)));
    return TSR_OK;
}

static tsr_status case_job(tsr_mesh *mesh, void *arg)
{
    const attention_case *c = arg;
    const tsr_status st = check_case(mesh, c);

    if (st != TSR_OK)
        fprintf(stderr, "case: %s\n", c->what);
    return st;
}

static void as_on_whole_inputs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        attention_case c = CASES[i];

        pass_on(c.mesh, case_job, &c);
    }
}

/* ---- communication ---- */

static int64_t bytes_since(tsr_mesh *mesh)
{
    const int64_t bytes = tsr_counters_get(mesh).bytes_in;

    tsr_counters_reset(mesh);
    return bytes;
}

/* Of each of 8 rows from every other rank two numbers forward, and one backward. */
static tsr_status merged_job(tsr_mesh *mesh, void *arg)
{
    const int64_t numbers = 8 * (tsr_mesh_size(mesh) - 1) * 8;
    tsr_tensor *q = tsr_zeros(mesh, "f32[1,2,4,64]@[R]"),
               *grad = tsr_zeros(mesh, "f32[1,2,4,64]@[R]");
    tsr_tensor *k = tsr_zeros(mesh, "f32[1,2,1024,64]@[S(2)]"), *y, *lse, *g[3];
    (void)arg;

    tsr_counters_reset(mesh);
    y = tsr_attention(q, k, k, NULL, NULL, &lse);
    CHECK(is_at(y, "[P(sum)]") && is_at(lse, "[R]"));
    CHECK(bytes_since(mesh) == 2 * numbers);
    CHECK(tsr_attention_backward(grad, q, k, k, y, lse, NULL, NULL, NULL, &g[0], &g[1], &g[2],
                                 NULL) == TSR_OK);
    CHECK(is_at(g[0], "[P(sum)]") && is_at(g[1], "[S(2)]") && is_at(g[2], "[S(2)]"));
    CHECK(bytes_since(mesh) == numbers);
    return TSR_OK;
}

/* Few keys come to where many rows are. */
static tsr_status gathered_job(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *q = tsr_zeros(mesh, "f32[1,1,1024,64]@[S(2)]");
    tsr_tensor *k = tsr_zeros(mesh, "f32[1,1,8,64]@[S(2)]"), *y;
    const int64_t n = tsr_mesh_size(mesh);
    (void)arg;

    tsr_counters_reset(mesh);
    y = tsr_attention(q, k, k, NULL, NULL, NULL);
    CHECK(is_at(y, "[S(2)]"));
    CHECK(bytes_since(mesh) == 2 * (n - 1) * (8 / n) * 64 * 4);
    return TSR_OK;
}

/* A dim that does not go around is not sharded, or one rank would do all the work: heads instead of
   the batch, or rows. */
static tsr_status spread_job(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *x = tsr_zeros(mesh, "f32[1,4,1024,64]@[S(2)]");
    tsr_tensor *one = tsr_zeros(mesh, "f32[1,1,1024,64]@[S(2)]"), *y, *lse, *g[3];
    (void)arg;

    CHECK(is_at(tsr_attention(x, x, x, NULL, NULL, NULL), "[S(1)]"));
    y = tsr_attention(one, one, one, NULL, NULL, &lse);
    CHECK(is_at(y, "[S(2)]"));
    CHECK(tsr_attention_backward(y, one, one, one, y, lse, NULL, NULL, NULL, &g[0], &g[1], &g[2],
                                 NULL) == TSR_OK);
    CHECK(is_at(g[0], "[S(2)]") && is_at(g[1], "[P(sum)]"));
    return TSR_OK;
}

static void work_is_shared(void **state)
{
    (void)state;
    pass_on("2", spread_job, NULL);
    pass_on("4", spread_job, NULL);
}

static void little_travels(void **state)
{
    (void)state;
    pass_on("2", merged_job, NULL);
    pass_on("4", merged_job, NULL);
    pass_on("2", gathered_job, NULL);
    pass_on("4", gathered_job, NULL);
}

/* Without a dim to compare in all scores are 0, and every row gets the mean of v. */
static tsr_status no_dim_job(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *q = tsr_zeros(mesh, "f32[1,1,2,0]"), *k = tsr_zeros(mesh, "f32[1,1,4,0]"), *y;
    float got[6];
    (void)arg;

    y = tsr_attention(q, k, tsr_arange(mesh, "f32[1,1,4,3]@[S(2)]", 0, 1), NULL, NULL, NULL);
    CHECK(tsr_to_host(y, got, sizeof got) == TSR_OK);
    for (int i = 0; i < 6; i++)
        CHECK(fabsf(got[i] - (4.5F + (float)(i % 3))) < 1e-5F);
    return TSR_OK;
}

static void nothing_to_compare(void **state)
{
    (void)state;
    pass_on("1", no_dim_job, NULL);
    pass_on("2", no_dim_job, NULL);
}

/* A scale of 0, which only the op by its name can have: every row gets the mean of v, and nothing
   depends on q and k, whose gradients would not be 0 with the usual scale. */
static tsr_status scale_of_zero_job(tsr_mesh *mesh, void *arg)
{
    const char *const zero[] = {"scale=0"};
    double got[24];
    (void)arg;

    for (int by_zero = 0; by_zero < 2; by_zero++) {
        tsr_tensor *in[3] = {tsr_watch(tsr_arange(mesh, "f64[1,1,2,3]@[R]", 0, 0.1)),
                             tsr_watch(tsr_arange(mesh, "f64[1,1,4,3]@[S(2)]", 1, 0.1)),
                             tsr_watch(tsr_arange(mesh, "f64[1,1,4,2]@[S(2)]", 0, 1))};
        tsr_tensor *y;
        bool slopes = false;

        CHECK(tsr_tape_begin(mesh) == TSR_OK);
        y = tsr_op_run(mesh, "attention", in, 3, zero, by_zero);
        CHECK(tsr_to_host(y, got, 4 * sizeof *got) == TSR_OK);
        for (int i = 0; i < 4; i++)
            CHECK(!by_zero == (fabs(got[i] - (3 + i % 2)) > 1e-12));
        CHECK(tsr_backward(tsr_sum(tsr_mul(y, y), NULL, 0, false)) == TSR_OK);
        for (int k = 0; k < 2; k++) {
            CHECK(tsr_to_host(tsr_grad(in[k]), got, (k ? 12 : 6) * sizeof *got) == TSR_OK);
            for (int i = 0; i < (k ? 12 : 6); i++)
                slopes = slopes || got[i] != 0;
            CHECK(slopes == !by_zero);
        }
        CHECK(tsr_to_host(tsr_grad(in[2]), got, 8 * sizeof *got) == TSR_OK);
        for (int i = 0; i < 8 && by_zero; i++) /* 2 y of each of 2 rows, a quarter of it each */
            CHECK(fabs(got[i] - (3 + i % 2)) < 1e-12);
    }
    return TSR_OK;
}

static void scale_of_zero(void **state)
{
    (void)state;
    pass_on("1", scale_of_zero_job, NULL);
    pass_on("2", scale_of_zero_job, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_on_whole_inputs), cmocka_unit_test(little_travels),
        cmocka_unit_test(work_is_shared),     cmocka_unit_test(nothing_to_compare),
        cmocka_unit_test(scale_of_zero),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
