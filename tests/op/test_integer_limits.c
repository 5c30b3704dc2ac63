/* SPDX-License-Identifier: Apache-2.0 */
/* test_integer_limits.c - integers at the ends of their range: what is computed with them wraps
   around, so that the larger of two may become the smaller; numbers that a dtype has not are
   refused, and those that it has are exact; NaN in a term of a partial tensor. Public headers only.
   */
#include "support/test.h"
#include "support/numbers.h"

/* ---- what wraps around ---- */

enum { RANKS = 2, ELEMENTS = 16 };

/* One call on tensors of 16 elements; each input in turn is at P(max), P(min), P(sum) and P(prod),
   the others are replicated. */
typedef struct wrapping_call {
    const char *op;
    int n_in, index; /* this input holds 0 to 15; -1: none */
    const char *attrs[2];
} wrapping_call;

static const wrapping_call wrapping_calls[] = {
    {"add", 2, -1, {NULL}},
    {"sub", 2, -1, {NULL}},
    {"mul", 2, -1, {NULL}},
    {"neg", 1, -1, {NULL}},
    {"abs", 1, -1, {NULL}},
    {"relu", 1, -1, {NULL}},
    {"affine", 1, -1, {"mul=100"}},
    {"affine", 1, -1, {"mul=1", "add=7"}},
    {"affine", 1, -1, {"mul=3", "add=100"}},
    {"addcmul", 3, -1, {"value=5"}},
    {"index_add", 3, 1, {NULL}},
    {"scatter_add", 3, 1, {"dim=0"}},
    {"cast", 1, -1, {"dtype=i64"}},
    {"cast", 1, -1, {"dtype=i32"}},
    {"cast", 1, -1, {"dtype=u8"}},
    {"cast", 1, -1, {"dtype=i16"}},
    {"cast", 1, -1, {"dtype=u64"}},
    {"cast", 1, -1, {"dtype=f64"}},
    {"sum", 1, -1, {NULL}},
    {"prod", 1, -1, {NULL}},
    {"max", 1, -1, {NULL}},
    {"cumsum", 1, -1, {"dim=0"}},
};

/* Of a dtype "u16", say; a u64 beyond i64 by its bits. */
static int64_t element(const char *dtype, const void *data, int i)
{
    const bool natural = dtype[0] == 'u';

    switch (atoi(dtype + 1)) {
    case 8: return natural ? ((const uint8_t *)data)[i] : ((const int8_t *)data)[i];
    case 16: return natural ? ((const uint16_t *)data)[i] : ((const int16_t *)data)[i];
    case 32: return natural ? (int64_t)((const uint32_t *)data)[i] : ((const int32_t *)data)[i];
    default: return ((const int64_t *)data)[i];
    }
}

static void set_element(const char *dtype, void *data, int i, uint64_t x)
{
    switch (atoi(dtype + 1)) {
    case 8: ((uint8_t *)data)[i] = (uint8_t)x; break;
    case 16: ((uint16_t *)data)[i] = (uint16_t)x; break;
    case 32: ((uint32_t *)data)[i] = (uint32_t)x; break;
    default: ((uint64_t *)data)[i] = x; break;
    }
}

static uint64_t reduced(const char *dtype, const char *by, int64_t a, int64_t b)
{
    const bool more = dtype[0] == 'u' ? (uint64_t)a > (uint64_t)b : a > b;

    if (strcmp(by, "sum") == 0)
        return (uint64_t)a + (uint64_t)b;
    if (strcmp(by, "prod") == 0)
        return (uint64_t)a * (uint64_t)b;
    return (uint64_t)((strcmp(by, "max") == 0) == more ? a : b);
}

/* The call with input `which` partial, against the same on whole inputs. */
static tsr_status wrapping_one(tsr_mesh *mesh, const wrapping_call *c, const char *dtype, int which,
                               const char *by)
{
    const tsr_shape shape = {.ndim = 1, .size = {ELEMENTS}};
    const int n_attrs = c->attrs[0] ? c->attrs[1] ? 2 : 1 : 0;
    int64_t term[3][RANKS][ELEMENTS], whole[3][ELEMENTS], got[ELEMENTS], want[ELEMENTS];
    tsr_tensor *in[3], *all[3], *y, *z;
    uint64_t seed = 11;
    char spec[32];
    size_t bytes;

    for (int k = 0; k < c->n_in; k++) {
        const char *type = k == c->index ? "i64" : dtype;
        snprintf(spec, sizeof spec, "%s[%d]@[%s%s%s]", type, ELEMENTS, k == which ? "P(" : "",
                 k == which ? by : "R", k == which ? ")" : "");
        for (int i = 0; i < ELEMENTS; i++) {
            for (int r = 0; r < RANKS; r++)
                set_element(type, term[k][r], i,
                            k == c->index          ? (uint64_t)(7 * i % ELEMENTS)
                            : r == 0 || k == which ? next_random(&seed)
                                                   : (uint64_t)element(type, term[k][0], i));
            set_element(type, whole[k], i,
                        k == which ? reduced(type, by, element(type, term[k][0], i),
                                             element(type, term[k][1], i))
                                   : (uint64_t)element(type, term[k][0], i));
        }
        in[k] = from_local(mesh, spec, term[k][tsr_mesh_index(mesh)], &shape);
        snprintf(spec, sizeof spec, "%s[%d]", type, ELEMENTS);
        all[k] = from_host(mesh, spec, whole[k]);
    }
    y = tsr_op_run(mesh, c->op, in, c->n_in, (const char *const *)c->attrs, n_attrs);
    z = tsr_op_run(mesh, c->op, all, c->n_in, (const char *const *)c->attrs, n_attrs);
    CHECK(tsr_tensor_ok(y) && tsr_tensor_ok(z));
    bytes = (size_t)tsr_shape_count(&tsr_tensor_spec(y)->shape) *
            tsr_dtype_size(tsr_tensor_spec(y)->dtype);
    CHECK(tsr_to_host(y, got, bytes) == TSR_OK && tsr_to_host(z, want, bytes) == TSR_OK);
    if (memcmp(got, want, bytes) != 0)
        fprintf(stderr, "%s %s, input %d at P(%s)\n", c->op, dtype, which, by);
    CHECK(memcmp(got, want, bytes) == 0);
    return TSR_OK;
}

static tsr_status wrapping_job(tsr_mesh *mesh, void *arg)
{
    static const char *const dtypes[] = {"u8", "i32", "i64", "i8", "i16", "u16", "u32", "u64"};
    static const char *const by[] = {"max", "min", "sum", "prod"};
    (void)arg;

    for (size_t i = 0; i < sizeof wrapping_calls / sizeof wrapping_calls[0]; i++)
        for (int d = 0; d < 8; d++)
            for (int r = 0; r < 4; r++)
                for (int k = 0; k < wrapping_calls[i].n_in; k++) {
                    if (k == wrapping_calls[i].index)
                        continue;
                    tsr_status st = wrapping_one(mesh, &wrapping_calls[i], dtypes[d], k, by[r]);
                    if (st != TSR_OK)
                        return st;
                }
    return TSR_OK;
}

/* By the costs of torch partial inputs stay wherever a rule lets them pass. */
static void partial_integers_pass_where_nothing_wraps(void **state)
{
    (void)state;
    pass_with((tsr_run_opts)RUN_OPTS(.mesh = "2", .cost = "default"), wrapping_job, NULL);
    pass_with((tsr_run_opts)RUN_OPTS(.mesh = "2", .cost = "torch"), wrapping_job, NULL);
}

/* ---- NaN in one term of a partial input ---- */

/* A NaN wins a maximum or minimum, so that where a row lets them pass, its results must have one
   too: every op of one f64 tensor that has no required attribute, casts to every dtype. */
static tsr_status nan_one(tsr_mesh *mesh, const char *op, const char *attr, const char *by)
{
    const double term[RANKS][4] = {{NAN, 2, -3, NAN}, {1, NAN, 5, -2}},
                 whole[4] = {NAN, NAN, 0, NAN};
    const tsr_shape shape = {.ndim = 1, .size = {4}};
    double got[4] = {0}, want[4] = {0};
    char spec[32];
    tsr_tensor *x, *y, *z;
    size_t bytes;

    snprintf(spec, sizeof spec, "f64[4]@[P(%s)]", by);
    x = from_local(mesh, spec, term[tsr_mesh_index(mesh)], &shape);
    y = tsr_op_run(mesh, op, &x, 1, &attr, attr != NULL);
    x = from_host(mesh, "f64[4]", whole);
    z = tsr_op_run(mesh, op, &x, 1, &attr, attr != NULL);
    if (!tsr_tensor_ok(y) || tsr_tensor_spec(y)->shape.ndim != 1 ||
        tsr_shape_count(&tsr_tensor_spec(y)->shape) != 4) {
        tsr_mesh_clear_error(mesh); /* it needs more, or is not pointwise */
        return TSR_OK;
    }
    bytes = 4 * tsr_dtype_size(tsr_tensor_spec(y)->dtype);
    CHECK(tsr_to_host(y, got, bytes) == TSR_OK && tsr_to_host(z, want, bytes) == TSR_OK);
    for (size_t i = 0; i < 4; i++) {
        const size_t size = bytes / 4;

        if (i == 2) /* no NaN there */
            continue;
        if (tsr_tensor_spec(y)->dtype == TSR_F64
                ? isnan(got[i]) != isnan(want[i])
                : memcmp((char *)got + i * size, (char *)want + i * size, size) != 0) {
            fprintf(stderr, "%s %s at P(%s), element %zu\n", op, attr ? attr : "", by, i);
            return TSR_ERR_MISMATCH;
        }
    }
    return TSR_OK;
}

static tsr_status nan_job(tsr_mesh *mesh, void *arg)
{
    static const char *const by[] = {"max", "min"};
    static const char *const to[] = {"dtype=i64", "dtype=i32", "dtype=u8",
                                     "dtype=f32", "dtype=f16", "dtype=bool"};
    tsr_status st = TSR_OK;
    (void)arg;

    for (int r = 0; r < 2; r++) {
        for (int i = 0; i < tsr_op_count() && st == TSR_OK; i++)
            st = nan_one(mesh, tsr_op_row(i)->name, NULL, by[r]);
        for (int i = 0; i < 6 && st == TSR_OK; i++)
            st = nan_one(mesh, "cast", to[i], by[r]);
    }
    return st;
}

static void nan_in_a_term_wins(void **state)
{
    (void)state;
    pass_with((tsr_run_opts)RUN_OPTS(.mesh = "2", .cost = "torch"), nan_job, NULL);
}

/* ---- numbers that a dtype has, or has not ---- */

/* The sentence of a call on one tensor of integers or bool; NULL: it is done. */
typedef struct number_call {
    const char *op, *dtype, *attrs[2], *sentence;
} number_call;

static const number_call number_calls[] = {
    {"fill", "u8", {"value=255"}, NULL},
    {"fill", "u8", {"value=256"}, "fill: value=256 is out of range 0 to 255 of dtype u8"},
    {"fill", "u8", {"value=-1"}, "fill: value=-1 is out of range 0 to 255 of dtype u8"},
    {"fill", "bool", {"value=2"}, "fill: value=2 is out of range 0 to 1 of dtype bool"},
    {"fill", "i32", {"value=-2147483648"}, NULL},
    {"fill",
     "i32",
     {"value=2147483648"},
     "fill: value=2147483648 is out of range -2147483648 to 2147483647 of dtype i32"},
    {"fill",
     "i32",
     {"value=inf"},
     "fill: value=inf is out of range -2147483648 to 2147483647 of dtype i32"},
    {"fill", "i64", {"value=-9223372036854775808"}, NULL},
    {"fill", "i64", {"value=9223372036854775807"}, NULL},
    {"fill",
     "i64",
     {"value=9223372036854775808"},
     "fill: value=9.22337204e+18 is out of range -9223372036854775808 to 9223372036854775807 of "
     "dtype i64"},
    {"fill", "i8", {"value=128"}, "fill: value=128 is out of range -128 to 127 of dtype i8"},
    {"fill", "u32", {"value=4294967295"}, NULL},
    {"fill", "u64", {"value=9223372036854775807"}, NULL},
    {"fill", "u64", {"value=9223372036854775808"}, NULL},
    {"fill",
     "u64",
     {"value=18446744073709551616"},
     "fill: value=1.84467441e+19 is out of range 0 to 18446744073709551615 of dtype u64"},
    {"affine", "u8", {"mul=-3"}, "affine: mul=-3 is out of range 0 to 255 of dtype u8"},
    {"affine", "u8", {"add=300"}, "affine: add=300 is out of range 0 to 255 of dtype u8"},
    {"clamp", "u8", {"min=-1"}, "clamp: min=-1 is out of range 0 to 255 of dtype u8"},
    {"clamp", "u8", {"min=-inf", "max=inf"}, NULL},
    {"clamp", "u8", {"min=inf"}, "clamp: min=inf is out of range 0 to 255 of dtype u8"},
    {"threshold",
     "u8",
     {"value=999"},
     "threshold: value=999 is out of range 0 to 255 of dtype u8, in its part fill of threshold "
     "u8[4]@[S(0)]"},
    {"arange", "u8", {"start=256"}, "arange: start=256 is out of range 0 to 255 of dtype u8"},
    {"arange", "i64", {"step=0.5"}, "arange: step=0.5 is not an integer, which dtype i64 requires"},
    {"sum",
     "i64",
     {"dims=99999999999999999999"},
     "sum: dims=99999999999999999999 does not fit 64 bits"},
    {"sum",
     "i64",
     {"dims=0,0,0,0,0,0,0,0,0"},
     "sum: dims=0,0,0,0,0,0,0,0,0 has more than 8 numbers"},
};

static tsr_status numbers_job(tsr_mesh *mesh, void *arg)
{
    (void)arg;
    for (size_t i = 0; i < sizeof number_calls / sizeof number_calls[0]; i++) {
        const number_call *c = &number_calls[i];
        char spec[32];
        tsr_tensor *x, *y;

        snprintf(spec, sizeof spec, "%s[4]@[S(0)]", c->dtype);
        x = tsr_zeros(mesh, spec);
        y = tsr_op_run(mesh, c->op, &x, 1, (const char *const *)c->attrs, c->attrs[1] ? 2 : 1);
        if (c->sentence && strcmp(tsr_mesh_message(mesh), c->sentence) != 0)
            fprintf(stderr, "%s %s\n", c->op, c->attrs[0]);
        CHECK(tsr_tensor_ok(y) == !c->sentence);
        CHECK(!c->sentence || strcmp(tsr_mesh_message(mesh), c->sentence) == 0);
        tsr_mesh_clear_error(mesh);
    }
    return TSR_OK;
}

/* Numbers are not part of a plan's key: one that is out of range is refused after one that is not,
   and the other way round. */
static tsr_status both_orders_job(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *x = tsr_zeros(mesh, "u8[4]");
    const double values[] = {200, 300, 200, -1, 0, 1e300, 255, 256, 255};
    (void)arg;

    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        CHECK(tsr_tensor_ok(tsr_fill(x, values[i])) == (values[i] >= 0 && values[i] <= 255));
        tsr_mesh_clear_error(mesh);
        CHECK(tsr_tensor_ok(tsr_full(mesh, "u8[4]", values[i])) ==
              (values[i] >= 0 && values[i] <= 255));
        tsr_mesh_clear_error(mesh);
    }
    CHECK(!tsr_tensor_ok(tsr_full(mesh, "i32[4]", 2.5)));
    CHECK(strcmp(tsr_mesh_message(mesh),
                 "tsr_full: value=2.5 is not an integer, which dtype i32 requires") == 0);
    tsr_mesh_clear_error(mesh);
    return TSR_OK;
}

/* f64 has not all integers beyond 2^53. */
static tsr_status exact_job(tsr_mesh *mesh, void *arg)
{
    static const struct {
        const char *op, *attr, *more;
        int64_t from, want;
    } calls[] = {
        {"fill", "value=9007199254740993", NULL, 0, 9007199254740993},
        {"fill", "value=-9223372036854775807", NULL, 0, -9223372036854775807},
        {"fill", "value=9223372036854775807", NULL, 0, INT64_MAX},
        {"affine", "mul=9007199254740993", NULL, 1, 9007199254740993},
        {"affine", "add=9007199254740993", NULL, 2, 9007199254740995},
        {"clamp", "min=9007199254740993", NULL, 5, 9007199254740993},
        {"clamp", "max=-9007199254740993", NULL, 5, -9007199254740993},
        {"arange", "start=9007199254740993", "step=9007199254740993", 0, 9007199254740993},
        {"threshold", "threshold=9007199254740993", "value=9007199254740995", 9007199254740993,
         9007199254740995},
        {"threshold", "threshold=9007199254740993", "value=1", 9007199254740994, 9007199254740994},
        {"pad", "before=1", "after=0", 7, 0},
    };
    static const char *const pads[] = {"before=1", "after=0", "value=9007199254740993"};
    (void)arg;

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const char *const attrs[] = {calls[i].attr, calls[i].more};
        const int64_t in[2] = {calls[i].from, calls[i].from};
        int64_t got[3] = {0};
        tsr_tensor *x = from_host(mesh, "i64[2]@[R]", in);
        tsr_tensor *y = tsr_op_run(mesh, calls[i].op, &x, 1, attrs, calls[i].more ? 2 : 1);

        CHECK(tsr_tensor_ok(y));
        CHECK(tsr_to_host(y, got, (size_t)tsr_shape_count(&tsr_tensor_spec(y)->shape) * 8) ==
              TSR_OK);
        CHECK(got[0] == calls[i].want);
        y = tsr_op_run(mesh, "pad", &x, 1, pads, 3);
        CHECK(tsr_to_host(y, got, sizeof got) == TSR_OK && got[0] == 9007199254740993);
    }
    return TSR_OK;
}

static void numbers_of_an_integer_dtype(void **state)
{
    (void)state;
    pass_on("2", numbers_job, NULL);
    pass_on("2", both_orders_job, NULL);
    pass_on("1", exact_job, NULL);
}

/* Lists are not cut. */
static tsr_status lists_job(tsr_mesh *mesh, void *arg)
{
    const int64_t sizes[9] = {1, 1, 1, 1, 1, 1, 1, 1, 7};
    const int dims[9] = {0, 1, 2, 3, 4, 5, 6, 7, 9};
    tsr_tensor *x = tsr_zeros(mesh, "f32[1,1,1,1,1,1,1,1]");
    (void)arg;

    CHECK(!tsr_tensor_ok(tsr_reshape(x, sizes, 9)));
    CHECK(strcmp(tsr_mesh_message(mesh), "reshape: a list of 9 numbers, at most 8 are allowed") ==
          0);
    tsr_mesh_clear_error(mesh);
    CHECK(!tsr_tensor_ok(tsr_sum(x, dims, 9, false)));
    CHECK(strcmp(tsr_mesh_message(mesh), "sum: a list of 9 numbers, at most 8 are allowed") == 0);
    tsr_mesh_clear_error(mesh);
    CHECK(!tsr_tensor_ok(tsr_permute(x, dims, 9)));
    tsr_mesh_clear_error(mesh);
    CHECK(tsr_tensor_ok(tsr_sum(x, dims, 8, false)));
    return TSR_OK;
}

/* Beyond the largest tensor all diagonals, steps and strides are alike: nothing overflows. */
static tsr_status far_job(tsr_mesh *mesh, void *arg)
{
    static const struct {
        const char *op, *spec, *attrs[3];
        const char *sentence; /* NULL: `n` elements, which sum up to `sum` */
        int64_t n;
        double sum;
    } calls[] = {
        {"tril", "f64[4,4]", {"diagonal=9223372036854775807"}, NULL, 16, 120},
        {"tril", "f64[4,4]", {"diagonal=-9223372036854775808"}, NULL, 16, 0},
        {"triu", "f64[4,4]", {"diagonal=9223372036854775807"}, NULL, 16, 0},
        {"triu", "f64[4,4]", {"diagonal=-9223372036854775808"}, NULL, 16, 120},
        {"diagonal", "f64[4,4]", {"offset=9223372036854775807"}, NULL, 0, 0},
        {"diagonal", "f64[4,4]", {"offset=-9223372036854775808"}, NULL, 0, 0},
        {"slice", "f64[16]", {"start=3", "step=9223372036854775807"}, NULL, 1, 3},
        {"slice", "f64[16]", {"start=14", "stop=9223372036854775807"}, NULL, 2, 29},
        {"slice", "f64[16]", {"start=-9223372036854775808", "stop=2"}, NULL, 2, 1},
        {"unfold", "f64[16]", {"dim=0", "size=2", "step=9223372036854775807"}, NULL, 2, 1},
        {"unfold_backward",
         "f64[1,16]",
         {"size=16", "step=9223372036854775807", "length=16"},
         NULL,
         16,
         120},
        {"slice_backward",
         "f64[1,16]",
         {"start=0", "step=9223372036854775807", "length=2"},
         NULL,
         32,
         120},
        {"roll", "f64[16]", {"shifts=9223372036854775807"}, NULL, 16, 120},
        {"max_pool",
         "f64[1,1,16]",
         {"kernel=2", "stride=9223372036854775807"},
         "max_pool: stride 9223372036854775807 exceeds 2^48",
         0,
         0},
        {"avg_pool",
         "f64[1,1,16]",
         {"kernel=2", "stride=9223372036854775807"},
         "avg_pool: stride 9223372036854775807 exceeds 2^48",
         0,
         0},
        {"avg_pool",
         "f64[1,1,16]",
         {"kernel=2", "padding=0,9223372036854775807"},
         "avg_pool: padding 9223372036854775807 exceeds 2^48",
         0,
         0},
        {"avg_pool", "f64[1,1,16]", {"kernel=2", "stride=281474976710656"}, NULL, 1, 0.5},
    };
    static const char *const places[] = {"[R]", "[S(0)]"};
    (void)arg;

    for (size_t i = 0; i < 2 * sizeof calls / sizeof *calls; i++) {
        const char *const *attrs = (const char *const *)calls[i / 2].attrs;
        char spec[64];
        tsr_tensor *x, *y;
        double sum = 0;
        int n = 0;

        while (n < 3 && attrs[n])
            n++;
        snprintf(spec, sizeof spec, "%s@%s", calls[i / 2].spec, places[i % 2]);
        x = tsr_arange(mesh, spec, 0, 1);
        y = tsr_op_run(mesh, calls[i / 2].op, &x, 1, attrs, n);
        if (calls[i / 2].sentence) {
            CHECK(strcmp(tsr_mesh_message(mesh), calls[i / 2].sentence) == 0);
            tsr_mesh_clear_error(mesh);
            continue;
        }
        CHECK(tsr_tensor_ok(y));
        CHECK(tsr_shape_count(&tsr_tensor_spec(y)->shape) == calls[i / 2].n);
        CHECK(tsr_to_host(tsr_sum(y, NULL, 0, false), &sum, sizeof sum) == TSR_OK);
        if (sum != calls[i / 2].sum)
            fprintf(stderr, "%s %s\n", calls[i / 2].op, attrs[0]);
        CHECK(sum == calls[i / 2].sum);
    }
    return TSR_OK;
}

/* Heads of queries that all share one of keys, however large the group is said to be. */
static tsr_status group_job(tsr_mesh *mesh, void *arg)
{
    const char *const attrs[] = {"group=9223372036854775807"}, *const same[] = {"group=4"};
    tsr_tensor *in[3] = {tsr_arange(mesh, "f64[1,4,2,2]@[S(1)]", 0, 0.1),
                         tsr_arange(mesh, "f64[1,1,2,2]", 0, 0.1),
                         tsr_arange(mesh, "f64[1,1,2,2]", 0, 1)};
    tsr_tensor *y = tsr_op_run(mesh, "attention", in, 3, attrs, 1);
    tsr_tensor *z = tsr_op_run(mesh, "attention", in, 3, same, 1);
    double got[16], want[16];
    (void)arg;

    CHECK(tsr_to_host(y, got, sizeof got) == TSR_OK && tsr_to_host(z, want, sizeof want) == TSR_OK);
    CHECK(memcmp(got, want, sizeof got) == 0);
    return TSR_OK;
}

static void extreme_attributes(void **state)
{
    (void)state;
    pass_on("2", lists_job, NULL);
    pass_on("1", far_job, NULL);
    pass_on("2", far_job, NULL);
    pass_on("3", far_job, NULL);
    pass_on("2", group_job, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(partial_integers_pass_where_nothing_wraps),
        cmocka_unit_test(nan_in_a_term_wins),
        cmocka_unit_test(numbers_of_an_integer_dtype),
        cmocka_unit_test(extreme_attributes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
