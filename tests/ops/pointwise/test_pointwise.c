/* SPDX-License-Identifier: Apache-2.0 */
/* test_pointwise.c - the typed functions of pointwise ops on placed tensors, by values worked out
   by hand; the same in place and over lists; numbers that change without a new plan; and calls that
   cannot be: one sentence each. */
#include <float.h>

#include "support/test.h"
#include "support/bad_texts.h"
#include "op/op_case.h"

enum { N = 6 };

static const double A[N] = {-2, -0.5, 0, 0.5, 1, 4}, B[N] = {1, 2, 0, 0.5, -4, 2};

/* What came out, gathered; bool as 0 and 1. */
static bool is(tsr_tensor *y, const double *want)
{
    const tsr_dtype dtype = tsr_tensor_spec(y)->dtype;
    double host[N];

    if (tsr_to_host(y, host, N * tsr_dtype_size(dtype)) != TSR_OK)
        return false;
    for (int i = 0; i < N; i++) {
        double x = tsr__get(dtype, host, i);
        if (!(fabs(x - want[i]) <= 1e-15 * fmax(1, fabs(want[i]))) && x != want[i] &&
            !(isnan(x) && isnan(want[i]))) {
            fprintf(stderr, "element %d: %.17g, not %.17g\n", i, x, want[i]);
            return false;
        }
    }
    return true;
}

#define IS(y, ...) CHECK(is(y, (double[N]){__VA_ARGS__}))
/* Of a function of math.h on all of A. */
#define EACH(y, f) IS(y, f(A[0]), f(A[1]), f(A[2]), f(A[3]), f(A[4]), f(A[5]))

static double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

static double times_logistic(double x)
{
    return x * logistic(x);
}

static double log_sum(double x)
{
    return log1p(exp(x));
}

static double times_tanh(double x)
{
    return x * tanh(log_sum(x));
}

static double root(double x)
{
    return 1 / sqrt(x);
}

static double normal(double x)
{
    return x * 0.5 * erfc(-x / sqrt(2));
}

static tsr_status values_job(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *a = from_host(mesh, "f64[6]@[S(0)]", A), *b, *mask;
    (void)arg;

    b = from_host(mesh, "f64[6]@[R]", B);
    IS(tsr_sub(a, b), -3, -2.5, 0, 0, 5, 2);
    IS(tsr_div(a, b), -2, -0.25, NAN, 1, -0.25, 2);
    IS(tsr_pow(a, b), -2, 0.25, 1, sqrt(0.5), 1, 16);
    IS(tsr_floor_divide(a, b), -2, -1, NAN, 1, -1, 2);
    IS(tsr_trunc_divide(a, b), -2, 0, NAN, 1, 0, 2);
    IS(tsr_remainder(a, b), 0, 1.5, NAN, 0, -3, 0);
    IS(tsr_fmod(a, b), 0, -0.5, NAN, 0, 1, 0);
    IS(tsr_maximum(a, b), 1, 2, 0, 0.5, 1, 4);
    IS(tsr_minimum(a, b), -2, -0.5, 0, 0.5, -4, 2);
    EACH(tsr_abs(a), fabs);
    IS(tsr_sign(a), -1, -1, 0, 1, 1, 1);
    EACH(tsr_exp(a), exp);
    EACH(tsr_log(a), log);
    EACH(tsr_log1p(a), log1p);
    EACH(tsr_sqrt(a), sqrt);
    EACH(tsr_rsqrt(a), root);
    IS(tsr_reciprocal(a), -0.5, -2, INFINITY, 2, 1, 0.25);
    EACH(tsr_tanh(a), tanh);
    EACH(tsr_sigmoid(a), logistic);
    EACH(tsr_silu(a), times_logistic);
    EACH(tsr_mish(a), times_tanh);
    EACH(tsr_softplus(a), log_sum);
    EACH(tsr_sin(a), sin);
    EACH(tsr_cos(a), cos);
    EACH(tsr_floor(a), floor);
    EACH(tsr_ceil(a), ceil);
    EACH(tsr_round(a), rint);
    EACH(tsr_erf(a), erf);
    EACH(tsr_gelu(a, false), normal);
    IS(tsr_gelu(tsr_fill(a, 1), true), 0.84119199060827676, 0.84119199060827676,
       0.84119199060827676, 0.84119199060827676, 0.84119199060827676, 0.84119199060827676);
    IS(tsr_leaky_relu(a, 0.25), -0.5, -0.125, 0, 0.5, 1, 4);
    IS(tsr_elu(a, 2), 2 * expm1(-2), 2 * expm1(-0.5), 0, 0.5, 1, 4);
    IS(tsr_affine(a, 2, 1), -3, 0, 1, 2, 3, 9);
    IS(tsr_clamp(a, -1, 1), -1, -0.5, 0, 0.5, 1, 1);
    IS(tsr_clamp(a, -INFINITY, 0), -2, -0.5, 0, 0, 0, 0);
    IS(tsr_cast(a, TSR_I32), -2, 0, 0, 0, 1, 4);
    IS(tsr_cast(a, TSR_BOOL), 1, 1, 0, 1, 1, 1);
    IS(tsr_eq(a, b), 0, 0, 1, 1, 0, 0);
    IS(tsr_ne(a, b), 1, 1, 0, 0, 1, 1);
    IS(tsr_lt(a, b), 1, 1, 0, 0, 0, 0);
    IS(tsr_le(a, b), 1, 1, 1, 1, 0, 0);
    IS(tsr_gt(a, b), 0, 0, 0, 0, 1, 1);
    IS(tsr_ge(a, b), 0, 0, 1, 1, 1, 1);
    mask = tsr_gt(a, b);
    IS(tsr_logical_and(tsr_ne(a, b), mask), 0, 0, 0, 0, 1, 1);
    IS(tsr_logical_and(a, b), 1, 1, 0, 1, 1, 1);
    IS(tsr_logical_or(mask, tsr_lt(a, b)), 1, 1, 0, 0, 1, 1);
    IS(tsr_logical_not(mask), 1, 1, 1, 1, 0, 0);
    IS(tsr_where(mask, a, b), 1, 2, 0, 0.5, 1, 4);
    IS(tsr_masked_fill(a, mask, 7), -2, -0.5, 0, 0.5, 7, 7);
    IS(tsr_lerp(a, b, tsr_fill(b, 0.5)), -0.5, 0.75, 0, 0.5, -1.5, 3);
    IS(tsr_lerp_by(a, b, 2), 4, 4.5, 0, 0.5, -9, 0);
    IS(tsr_addcmul(a, b, b, 2), 0, 7.5, 0, 1, 33, 12);
    IS(tsr_addcdiv(a, b, tsr_affine(b, 0, 2), 4), 0, 3.5, 0, 1.5, -7, 8);
    return TSR_OK;
}

/* Rounding, powers, and what C leaves open. */
static tsr_status integers_job(tsr_mesh *mesh, void *arg)
{
    static const int32_t host_a[N] = {7, -7, 7, -1, INT32_MIN, 5};
    static const int32_t host_b[N] = {2, 2, -2, -3, -1, 0};
    static const uint8_t host_c[N] = {0, 1, 127, 128, 200, 255};
    tsr_tensor *a = from_host(mesh, "i32[6]@[S(0)]", host_a);
    tsr_tensor *b = from_host(mesh, "i32[6]@[R]", host_b);
    tsr_tensor *c = from_host(mesh, "u8[6]@[S(0)]", host_c);
    (void)arg;

    IS(tsr_floor_divide(a, b), 3, -4, -4, 0, INT32_MIN, 0);
    IS(tsr_trunc_divide(a, b), 3, -3, -3, 0, INT32_MIN, 0);
    IS(tsr_remainder(a, b), 1, 1, -1, -1, 0, 5);
    IS(tsr_fmod(a, b), 1, -1, 1, -1, 0, 5);
    IS(tsr_pow(a, b), 49, 49, 0, -1, 0, 1);
    IS(tsr_pow(b, tsr_abs(b)), 4, 4, 4, -27, -1, 1);
    IS(tsr_prelu(a, tsr_fill(b, 3)), 7, -21, 7, -3, INT32_MIN, 5);
    IS(tsr_prelu(c, tsr_fill(c, 3)), 0, 1, 127, 128, 200, 255);
    return TSR_OK;
}

/* Of many times b nothing is lost, and of infinities no more than must be. */
static tsr_status remainders_job(tsr_mesh *mesh, void *arg)
{
    static const struct {
        tsr_dtype dtype;
        double a, b, remainder, fmod;
    } rows[] = {
        {TSR_F64, DBL_MAX, 7.25, 6.25, 6.25},
        {TSR_F64, -DBL_MAX, 7.25, 1, -6.25},
        {TSR_F64, 0x1p53 - 1, 0.375, 0.25, 0.25},
        {TSR_F64, -0.0277, INFINITY, INFINITY, -0.0277},
        {TSR_F64, 0.0277, -INFINITY, -INFINITY, 0.0277},
        {TSR_F64, 0.0277, INFINITY, 0.0277, 0.0277},
        {TSR_F64, INFINITY, 3, NAN, NAN},
        {TSR_F64, 3, NAN, NAN, NAN},
        {TSR_F32, 16777213, 0.375, 0.25, 0.25},
        {TSR_F32, 0x1p127, -7, -5, 2},
        {TSR_F32, -3, 0, NAN, NAN},
        {TSR_F16, 2047, 0.375, 0.25, 0.25},
        {TSR_F16, -2047, 0.375, 0.125, -0.25},
        {TSR_BF16, 200, 0.875, 0.5, 0.5},
        {TSR_BF16, 200, -0.875, -0.375, 0.5},
    };
    (void)arg;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tsr_tensor *a = tsr_full(mesh, "f64[6]@[S(0)]", rows[i].a);
        tsr_tensor *b = tsr_full(mesh, "f64[1]@[R]", rows[i].b);
        const double r = rows[i].remainder, f = rows[i].fmod;

        a = tsr_cast(a, rows[i].dtype);
        b = tsr_cast(b, rows[i].dtype);
        IS(tsr_remainder(a, b), r, r, r, r, r, r);
        IS(tsr_fmod(a, b), f, f, f, f, f, f);
        a = tsr_op_run(mesh, "fmod_inplace", (tsr_tensor *[]){a, b}, 2, NULL, 0);
        IS(a, f, f, f, f, f, f);
    }
    return TSR_OK;
}

/* Where formulas that one would write first lose digits, or overflow. */
static tsr_status hyperbolic_job(tsr_mesh *mesh, void *arg)
{
    static const struct {
        tsr_tensor *(*of)(tsr_tensor *);
        double (*want)(double);
        double first; /* of its domain */
    } functions[] = {
        {tsr_sinh, sinh, -INFINITY},
        {tsr_cosh, cosh, -INFINITY},
        {tsr_asinh, asinh, -INFINITY},
        {tsr_acosh, acosh, 1},
    };
    static const double at[] = {0,        1e-300, -1e-12, 3e-7, -1e-3, 0.5,   1,    1 + 1e-12,
                                1 + 1e-6, 1.01,   -2,     30,   -700,  710.3, 1e10, 1e160};
    enum { POINTS = sizeof at / sizeof *at, FUNCTIONS = sizeof functions / sizeof *functions };
    (void)arg;

    for (int f = 0; f < FUNCTIONS; f++)
        for (int i = 0; i < POINTS; i++) {
            double y, want = functions[f].want(at[i]);
            tsr_tensor *x = tsr_full(mesh, "f64[1]@[S(0)]", at[i]);

            if (at[i] < functions[f].first)
                continue;
            CHECK(tsr_to_host(functions[f].of(x), &y, sizeof y) == TSR_OK);
            if (!(fabs(y - want) <= 4 * DBL_EPSILON * fabs(want)) && y != want)
                fprintf(stderr, "function %d of %g is %.17g, not %.17g\n", f, at[i], y, want);
            CHECK(fabs(y - want) <= 4 * DBL_EPSILON * fabs(want) || y == want);
        }
    return TSR_OK;
}

/* The lists of outputs have one element: what is behind them is not looked at. */
static tsr_status slopes_at_zero_job(tsr_mesh *mesh, void *arg)
{
    static const char *const name[] = {"sinh", "asinh", "atanh"};
    tsr_tensor *const no_tensor = (tsr_tensor *)(uintptr_t)64; /* reading that is a fault */
    (void)arg;

    for (int f = 0; f < 3; f++) {
        tsr_tensor *x = tsr_full(mesh, "f64[1]@[S(0)]", 0), *y, *slope;
        double got;

        y = tsr_op_run(mesh, name[f], &x, 1, NULL, 0);
        CHECK(tsr_op_grad(mesh, name[f], &x, 1, NULL, 0, (tsr_tensor *[]){y, no_tensor},
                          (tsr_tensor *[]){tsr_full(mesh, "f64[1]@[S(0)]", 1), no_tensor}, NULL,
                          &slope) == TSR_OK);
        CHECK(slope && tsr_to_host(slope, &got, sizeof got) == TSR_OK && got == 1);
    }
    return TSR_OK;
}

static tsr_status inplace_job(tsr_mesh *mesh, void *arg)
{
    static const char *const specs[] = {"f64[6]@[S(0)]", "f64[6]@[R]", "f64[6]@[P(sum)]"};
    (void)arg;

    for (int i = 0; i < 3; i++) {
        tsr_tensor *a = from_host(mesh, specs[i], A), *b = from_host(mesh, specs[2 - i], B);
        const tsr_spec spec = *tsr_tensor_spec(a);

        CHECK(tsr_sub_inplace(a, b) == a);
        IS(a, -3, -2.5, 0, 0, 5, 2);
        CHECK(tsr_div_inplace(a, tsr_fill(b, 0.5)) == a);
        IS(a, -6, -5, 0, 0, 10, 4);
        CHECK(tsr_affine_inplace(a, 0.5, 1) == a);
        IS(a, -2, -1.5, 1, 1, 6, 3);
        CHECK(tsr_clamp_inplace(a, -1, 4) == a);
        IS(a, -1, -1, 1, 1, 4, 3);
        CHECK(tsr_addcmul_inplace(a, b, b, 1) == a);
        IS(a, 0, 3, 1, 1.25, 20, 7);
        CHECK(tsr_addcdiv_inplace(a, a, tsr_fill(b, 2), -1) == a);
        IS(a, 0, 1.5, 0.5, 0.625, 10, 3.5);
        CHECK(tsr_lerp_by_inplace(a, b, 0) == a);
        CHECK(tsr_lerp_inplace(a, b, tsr_fill(b, 1)) == a);
        IS(a, 1, 2, 0, 0.5, -4, 2);
        CHECK(tsr_masked_fill_inplace(a, tsr_lt(a, tsr_fill(a, 0)), 9) == a);
        IS(a, 1, 2, 0, 0.5, 9, 2);
        CHECK(tsr_sqrt_inplace(a) == a);
        IS(a, 1, sqrt(2), 0, sqrt(0.5), 3, sqrt(2));
        CHECK(tsr_fill_inplace(a, -1) == a);
        IS(a, -1, -1, -1, -1, -1, -1);
        CHECK(tsr_spec_equal(tsr_tensor_spec(a), &spec));
    }
    return TSR_OK;
}

/* Steps of an optimizer: lists, and numbers that are others each time. */
static tsr_status steps_job(tsr_mesh *mesh, void *arg)
{
    enum { LISTS = 4 };
    tsr_tensor *x[LISTS], *m[LISTS], *v[LISTS];
    double want[N];
    int64_t misses = 0;
    (void)arg;

    memcpy(want, A, sizeof want);
    for (int i = 0; i < LISTS; i++) {
        x[i] = from_host(mesh, i % 2 ? "f64[6]@[S(0)]" : "f64[6]@[R]", A);
        m[i] = from_host(mesh, "f64[6]@[S(0)]", B);
        v[i] = tsr_fill(m[i], 4);
    }
    for (int step = 1; step <= 5; step++) {
        char text[40];
        const char *attrs[] = {text};

        snprintf(text, sizeof text, "value=-%.17g", 0.5 / step);
        CHECK(tsr_foreach("addcdiv_inplace", (tsr_tensor *const *[]){x, m, v}, 3, LISTS, attrs, 1,
                          x) == TSR_OK);
        for (int i = 0; i < N; i++)
            want[i] -= 0.5 / step * B[i] / 4;
        for (int i = 0; i < LISTS; i++)
            CHECK(is(x[i], want));
        misses = step == 1 ? tsr_counters_get(mesh).plan_misses : misses;
    }
    CHECK(tsr_counters_get(mesh).plan_misses == misses);
    return TSR_OK;
}

static void values(void **state)
{
    (void)state;
    pass_on("1", values_job, NULL);
    pass_on("4", values_job, NULL);
}

static void integers(void **state)
{
    (void)state;
    pass_on("1", integers_job, NULL);
    pass_on("4", integers_job, NULL);
}

static void remainders(void **state)
{
    (void)state;
    pass_on("1", remainders_job, NULL);
    pass_on("4", remainders_job, NULL);
}

static void hyperbolic(void **state)
{
    (void)state;
    pass_on("2", hyperbolic_job, NULL);
    pass_on("2", slopes_at_zero_job, NULL);
}

/* The result of an op in place that is computed elsewhere would be moved back, which is as
   forbidden as moving inputs: of x whole and two shards, moving the sum back is the cheapest. */
static tsr_status strict_inplace_job(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *x = tsr_full(mesh, "f32[64,64]@[R]", 1),
               *a = tsr_full(mesh, "f32[64,64]@[S(0)]", 2);
    float got[64 * 64];
    (void)arg;

    tsr_strict_set(mesh, true);
    CHECK(!tsr_tensor_ok(tsr_addcmul_inplace(x, a, a, 3)));
    CHECK(
        strcmp(tsr_mesh_message(mesh),
               "addcmul_inplace: strict mode forbids redistributing f32[64,64]@[S(0)] to [R] (8192 "
               "bytes per rank)") == 0);
    tsr_mesh_clear_error(mesh);
    CHECK(tsr_op_counters_get(mesh, "addcmul_inplace").along[0] == 0);
    tsr_strict_set(mesh, false);
    tsr_fill_inplace(x, 1);
    CHECK(tsr_tensor_ok(tsr_addcmul_inplace(x, a, a, 3)));
    CHECK(tsr_op_counters_get(mesh, "addcmul_inplace").along[0] == 8192); /* the result alone */
    CHECK(tsr_to_host(x, got, sizeof got) == TSR_OK && got[0] == 13 && got[64 * 64 - 1] == 13);
    tsr_strict_set(mesh, true);
    x = tsr_redistribute(x, "[S(0)]"); /* where nothing has to move it may run */
    CHECK(tsr_tensor_ok(tsr_addcmul_inplace(x, a, a, 3)));
    return TSR_OK;
}

static void in_place(void **state)
{
    (void)state;
    pass_on("3", inplace_job, NULL);
    pass_on("2", strict_inplace_job, NULL);
}

static void steps(void **state)
{
    (void)state;
    pass_on("2", steps_job, NULL);
}

/* ---- calls that cannot be ---- */

static void refused(void **state)
{
    static const bad_text bad[] = {
        {"exp i32[4]", TSR_ERR_DTYPE, "exp: needs a floating-point dtype, not i32[4]@[R]"},
        {"div i64[4] i64[4]", TSR_ERR_DTYPE,
         "div: i64 is not supported; use floor_divide or trunc_divide for integers"},
        {"pow bool[4] bool[4]", TSR_ERR_DTYPE,
         "pow: dtype bool is not supported (numeric dtypes only)"},
        {"sub bool[4] bool[4]", TSR_ERR_DTYPE,
         "sub: dtype bool is not supported (numeric dtypes only)"},
        {"add f32[4] f64[4]", TSR_ERR_DTYPE, "add: dtypes differ in f32[4]@[R] f64[4]@[R]"},
        {"eq f32[4] i32[4]", TSR_ERR_DTYPE, "eq: dtypes differ in f32[4]@[R] i32[4]@[R]"},
        {"where f32[4] f32[4] f32[4]", TSR_ERR_DTYPE, "where: condition must be bool in f32[4]"},
        {"where bool[4] f32[4] f64[4]", TSR_ERR_DTYPE, "where: dtypes differ in bool[4]"},
        {"masked_fill f32[4] u8[4]", TSR_ERR_DTYPE, "masked_fill: mask must be bool in f32[4]"},
        {"lt f32[3] f32[4]", TSR_ERR_SHAPE, "lt: shapes do not broadcast, f32[3]@[R] f32[4]@[R]"},
        {"sub_inplace f32[1,4] f32[3,4]", TSR_ERR_SHAPE,
         "sub_inplace: the result does not match its first input, f32[1,4]@[R] f32[3,4]@[R]"},
        {"masked_fill_inplace f32[4] bool[3,4]", TSR_ERR_SHAPE,
         "masked_fill_inplace: the result does not match its first input"},
        {"affine i32[4] mul=0.5", TSR_ERR_ARG,
         "affine: mul=0.5 is not an integer, which dtype i32 requires"},
        {"clamp u8[4] max=1.5", TSR_ERR_ARG,
         "clamp: max=1.5 is not an integer, which dtype u8 requires"},
        {"clamp i32[4] min=0.5", TSR_ERR_ARG,
         "clamp: min=0.5 is not an integer, which dtype i32 requires"},
        {"fill i32[4] value=nan", TSR_ERR_ARG,
         "fill: value=nan is not an integer, which dtype i32 requires"},
        {"div bool[4] bool[4]", TSR_ERR_DTYPE,
         "div: needs a floating-point dtype, not bool[4]@[R]"},
        {"clamp f32[4] max=x", TSR_ERR_PARSE, "clamp: max=x is not of type number"},
        {"cast f32[4]", TSR_ERR_ARG, "cast: missing attribute dtype (for example dtype=f32)"},
        {"cast f32[4] dtype=f33", TSR_ERR_PARSE,
         "cast: dtype: unknown dtype \"f33\", known are f32, f64, f16, bf16, i32, i64, u8, bool"},
        {"addcmul f32[4] f32[4]", TSR_ERR_ARG, "addcmul: input b is missing"},
        {"exp f32[4] f32[4]", TSR_ERR_ARG, "exp: takes inputs x, but 2 were given"},
    };
    (void)state;

    expect_bad_calls(bad, sizeof bad / sizeof *bad);
}

/* Plans are kept for numbers of a kind; what is said of one is said of that one. */
static tsr_status numbers_job(tsr_mesh *mesh, void *arg)
{
    static const struct {
        const char *attr, *says; /* NULL: it works */
    } of[] = {
        {"value=3", NULL},
        {"value=300", "fill: value=300 is out of range 0 to 255 of dtype u8"},
        {"value=301", "fill: value=301 is out of range 0 to 255 of dtype u8"},
        {"value=4", NULL},
        {"value=1.5", "fill: value=1.5 is not an integer, which dtype u8 requires"},
        {"value=2.5", "fill: value=2.5 is not an integer, which dtype u8 requires"},
    };
    tsr_tensor *x = tsr_zeros(mesh, "u8[4]");

    (void)arg;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        CHECK(tsr_tensor_ok(tsr_op_run(mesh, "fill", &x, 1, &of[i].attr, 1)) == !of[i].says);
        if (of[i].says && strcmp(tsr_mesh_message(mesh), of[i].says) != 0) {
            fprintf(stderr, "said: %s\nwant: %s\n", tsr_mesh_message(mesh), of[i].says);
            return TSR_ERR_MISMATCH;
        }
        tsr_mesh_clear_error(mesh);
    }
    return TSR_OK;
}

static void numbers(void **state)
{
    (void)state;
    pass_on("2", numbers_job, NULL);
}

static tsr_status no_dtype_job(tsr_mesh *mesh, void *arg)
{
    static const int no_dtype[] = {-1, TSR_U64 + 1, 99};
    tsr_tensor *x = tsr_zeros(mesh, "f32[4]");
    char text[64];

    (void)arg;
    for (int i = 0; i < 3; i++) {
        snprintf(text, sizeof text, "cast: unknown dtype %d", no_dtype[i]);
        CHECK(!tsr_tensor_ok(tsr_cast(x, (tsr_dtype)no_dtype[i])));
        CHECK(tsr_mesh_status(mesh) == TSR_ERR_DTYPE && !strcmp(tsr_mesh_message(mesh), text));
        tsr_mesh_clear_error(mesh);
    }
    return TSR_OK;
}

static void no_dtype(void **state)
{
    (void)state;
    pass_on("2", no_dtype_job, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),   cmocka_unit_test(integers), cmocka_unit_test(in_place),
        cmocka_unit_test(steps),    cmocka_unit_test(refused),  cmocka_unit_test(hyperbolic),
        cmocka_unit_test(no_dtype), cmocka_unit_test(numbers),  cmocka_unit_test(remainders),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
