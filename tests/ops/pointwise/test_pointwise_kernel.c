/* SPDX-License-Identifier: Apache-2.0 */
/* test_pointwise_kernel.c - what the pointwise kernels compute, against libm in f64 (which is their
   reference in f64): f32 over the whole range of numbers, f16 and bf16 for every number there is,
   special values in all pairs and triples, integers at their ends. All variants that run here. */
#include <float.h>

#include "support/test.h"
#include "kernel/kinds.h"
#include "kernel/sku.h"
#include "support/kernel_check.h"
#include "op/op.h"
#include "ops/pointwise/pointwise_ops.h"
#include "support/sampling.h"

/* How far an f32 result may be from the true one, in units of the last place: ulps, and more x x
   for an input x where e has a large exponent on the way. */
typedef struct bound {
    const char *op, *attr;
    double ulps, more;
} bound;

static double allowed(const bound *b, double x, double want)
{
    double may = b->ulps + (isfinite(x) ? b->more * x * x : 0);

    /* x times a number that has lost digits near 0 */
    return fabs(want) < 0x1p-116 && isfinite(x) ? may + fabs(x) * (b->ulps > 0) : may;
}

/* Other functions of one operand are within 3.5 units. */
static const bound known[] = {
    {"neg", NULL, 0, 0},          {"abs", NULL, 0, 0},         {"sign", NULL, 0, 0},
    {"relu", NULL, 0, 0},         {"exp", NULL, 1.5, 0},       {"log", NULL, 1.5, 0},
    {"log1p", NULL, 2, 0},        {"sqrt", NULL, 0.5, 0},      {"rsqrt", NULL, 1.5, 0},
    {"reciprocal", NULL, 0.5, 0}, {"tanh", NULL, 3, 0},        {"sigmoid", NULL, 2, 0},
    {"gelu", NULL, 8, 0},         {"gelu", "tanh=true", 3, 2}, {"silu", NULL, 3, 0},
    {"mish", NULL, 4.5, 0},       {"softplus", NULL, 3.5, 0},  {"sin", NULL, 0.6, 0},
    {"cos", NULL, 0.6, 0},        {"floor", NULL, 0, 0},       {"ceil", NULL, 0, 0},
    {"round", NULL, 0, 0},        {"erf", NULL, 2.5, 0},       {"leaky_relu", NULL, 1, 0},
    {"elu", "alpha=2", 3, 0},     {"clamp", "min=-1", 0, 0},   {"clamp", "max=2", 0, 0},
    {"affine", "mul=-2", 0, 0},   {"fill", "value=3", 0, 0},
};
enum { KNOWN = sizeof known / sizeof *known, FUNCTIONS_MOST = 128 };

static bool is_known(const tsr_op *op)
{
    for (int k = 0; k < KNOWN; k++)
        if (!strcmp(known[k].op, op->name))
            return true;
    return false;
}

/* Every row that is a function of one number. */
static int all_functions(bound *list)
{
    int n = KNOWN;

    memcpy(list, known, sizeof known);
    for (int i = 0; i < tsr_op_count(); i++) {
        const tsr_op *op = tsr_op_row(i);

        if (op->kernel != tsr__kernel_pointwise || op->inplace || strcmp(op->inputs, "x") ||
            op->kind == TSR_POINTWISE_LOGICAL_NOT || is_known(op))
            continue;
        assert_true(n < FUNCTIONS_MOST);
        list[n++] = (bound){.op = op->name, .ulps = 3.5};
    }
    return n;
}

/* In units of the last place of the true value. */
static double distance(tsr_dtype dtype, double got, double want)
{
    const int digits = dtype == TSR_F32 ? 24 : dtype == TSR_F16 ? 11 : dtype == TSR_BF16 ? 8 : 53;
    const int least = dtype == TSR_F16 ? -14 : dtype == TSR_F64 ? -1022 : -126;
    char rounded[8];
    int e;

    tsr__put(dtype, rounded, 0, want);
    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got) ? 0 : INFINITY;
    if (got == tsr__get(dtype, rounded, 0)) /* infinities too */
        return signbit(got) == signbit(want) || want != 0 ? 0 : INFINITY;
    if (isinf(got) || isinf(want))
        return INFINITY;
    frexp(want, &e);
    e = e - 1 < least ? least : e - 1;
    return fabs(got - want) / ldexp(1, e + 1 - digits);
}

static tsr_attrs attrs_of(const tsr_op *op, const char *attr)
{
    tsr_attrs attrs;

    assert_int_equal(tsr__attrs_default(op, &attrs, NULL), TSR_OK);
    if (attr)
        assert_int_equal(tsr__attr_parse(op, attr, strlen(attr), &attrs, NULL), TSR_OK);
    return attrs;
}

static void run_row(const tsr_op *op, tsr_kernel_call *call)
{
    call->kind = op->kind;
    op->kernel(call);
}

/* Runs the next variant that there is here, from that of the call on, AUTO at first; false after
   the last. */
static bool run_next(const tsr_op *op, tsr_dtype dtype, tsr_kernel_call *call)
{
    while (call->variant < TSR_VARIANT_AVX512) {
        call->variant = call->variant < TSR_VARIANT_PLAIN ? TSR_VARIANT_PLAIN : call->variant + 1;
        if (tsr__variant_best(TSR_CATEGORY_POINTWISE, (uint16_t)op->kind, dtype, call->variant) ==
            call->variant) {
            run_row(op, call);
            return true;
        }
    }
    return false;
}

/* The call in f64 by reference, for free(). */
static double *expect(const tsr_op *op, const tsr_kernel_call *call)
{
    double *want = calloc((size_t)tsr_shape_count(&call->out[0].shape), sizeof *want);
    tsr_kernel_call c = *call;

    assert_non_null(want);
    c.reference = true;
    for (int k = 0; k < call->n_in; k++) {
        const int64_t n = tsr_shape_count(&call->in[k].shape);

        c.in[k] = operand(TSR_F64, call->in[k].shape);
        tsr__convert(TSR_F64, c.in[k].data, call->in[k].dtype, call->in[k].data, n);
    }
    c.out[0] = (tsr_operand){.dtype = TSR_F64, .shape = call->out[0].shape, .data = want};
    run_row(op, &c);
    for (int k = 0; k < call->n_in; k++)
        free(c.in[k].data);
    return want;
}

/* All variants against that; returns the worst. */
static double worst(const bound *b, const tsr_op *op, tsr_kernel_call *call)
{
    const tsr_dtype dtype = call->out[0].dtype;
    const int64_t n = tsr_shape_count(&call->out[0].shape);
    double *want = expect(op, call), most = 0;

    while (run_next(op, dtype, call))
        for (int64_t i = 0; i < n; i++) {
            double x = tsr__get(dtype, call->in[0].data, i % tsr_shape_count(&call->in[0].shape));
            double d = distance(dtype, tsr__get(dtype, call->out[0].data, i), want[i]);
            double may = allowed(b, x, want[i]);

            may = dtype == TSR_F32 ? may : dtype == TSR_F64 ? 2 * may + 1 : 0.51; /* rounded once */
            if (d > may)
                fail_msg("%s %s %s of %.9g, %s: %.9g, not %.9g: %.3g units in the last place",
                         op->name, b->attr ? b->attr : "", tsr_dtype_name(dtype), x,
                         tsr_kernel_variant_name(call->variant),
                         tsr__get(dtype, call->out[0].data, i), want[i], d);
            most = d > most ? d : most;
        }
    free(want);
    return most;
}

/* ---- one operand ---- */

/* f32 with these bits; or every number of a 16-bit type. */
static void set_bits(tsr_operand *x, uint32_t first, uint32_t step)
{
    for (int64_t i = 0; i < tsr_shape_count(&x->shape); i++)
        if (x->dtype == TSR_F32) {
            uint32_t u = first + (uint32_t)i * step;
            memcpy((float *)x->data + i, &u, sizeof u);
        } else if (x->dtype == TSR_F64) {
            uint64_t u = ((uint64_t)(first + (uint32_t)i * step) << 32) + (uint64_t)i;
            memcpy((double *)x->data + i, &u, sizeof u);
        } else {
            ((uint16_t *)x->data)[i] = (uint16_t)i;
        }
}

static void test_functions(void **state)
{
    enum { N = 65536 };
    bound functions[FUNCTIONS_MOST];
    const int n = all_functions(functions);
    int number = 0;
    (void)state;

    for (int f = 0; f < n; f++) {
        const tsr_op *op = tsr_op_find(NULL, functions[f].op);
        double most[FLOATS] = {0};

        assert_non_null(op);
        for (int d = 0; d < FLOATS; d++)
            for (uint32_t round = 0; round < (d == 0 ? 8 : 1); round++, number++) {
                tsr_kernel_call call;
                double m;

                if (!sample_has(number, sample_quick()))
                    continue;
                call = unary_call(dtypes[d], SHAPE(N), SHAPE(N));
                call.attrs = attrs_of(op, functions[f].attr);
                set_bits(&call.in[0], round * 8171, 65537);
                m = worst(&functions[f], op, &call);
                most[d] = m > most[d] ? m : most[d];
                free_call(&call);
            }
        print_message(
            "%-10s %-10s units in the last place: f32 %.2f, f64 %.2f, f16 %.2f, bf16 %.2f\n",
            op->name, functions[f].attr ? functions[f].attr : "", most[0], most[1], most[2],
            most[3]);
    }
}

/* ---- slopes ---- */

/* They are 0 somewhere, so what counts is how far they are from the truth, whatever they are. */
static void check_slope(const tsr_op *op, tsr_kernel_call *call)
{
    const tsr_dtype dtype = call->out[0].dtype;
    const double digits = dtype == TSR_F64 ? 1e-15 : dtype == TSR_F32 ? 5e-7 : 0;
    const int64_t n = tsr_shape_count(&call->out[0].shape);
    double *want = expect(op, call);

    while (run_next(op, dtype, call))
        for (int64_t i = 0; i < n; i++) {
            const double got = tsr__get(dtype, call->out[0].data, i);
            const double far = digits > 0 ? digits : dtype == TSR_F16 ? 5.1e-4 : 4.1e-3;

            if (isnan(got) != isnan(want[i]) || fabs(got - want[i]) > far * 2)
                fail_msg("%s %s at %.9g, %s: %.9g, not %.9g", op->name, tsr_dtype_name(dtype),
                         tsr__get(dtype, call->in[1].data, i),
                         tsr_kernel_variant_name(call->variant), got, want[i]);
        }
    free(want);
}

static void test_slopes(void **state)
{
    static const struct {
        const char *op, *attr;
        double most; /* what an output can be, or an input */
    } slopes[] = {
        {"relu_backward", NULL, INFINITY},
        {"tanh_backward", NULL, 1},
        {"sigmoid_backward", NULL, 1},
        {"silu_backward", NULL, INFINITY},
        {"mish_backward", NULL, INFINITY},
        {"gelu_backward", NULL, INFINITY},
        {"gelu_backward", "tanh=true", INFINITY},
    };
    enum { N = 65536 };
    (void)state;

    for (size_t f = 0; f < sizeof slopes / sizeof *slopes; f++)
        for (int d = 0; d < FLOATS; d++) {
            const tsr_op *op = tsr_op_find(NULL, slopes[f].op);
            tsr_kernel_call call = unary_call(dtypes[d], SHAPE(N), SHAPE(N));

            call.n_in = 2;
            call.in[1] = operand(dtypes[d], SHAPE(N));
            call.attrs = attrs_of(op, slopes[f].attr);
            set_bits(&call.in[1], 8171, 65537);
            for (int64_t i = 0; i < N; i++) {
                double x = tsr__get(dtypes[d], call.in[1].data, i);

                tsr__put(dtypes[d], call.in[0].data, i, i % 2 ? 1 : -1);
                if (isfinite(x) && i % 3 == 0) /* where they change */
                    x = fmod(x, 16);
                if (!isnan(x) && fabs(x) > slopes[f].most)
                    x = 1 / x;
                tsr__put(dtypes[d], call.in[1].data, i, x);
            }
            check_slope(op, &call);
            free_call(&call);
        }
}

/* ---- special values ---- */

static const double special[] = {
    0.0,  -0.0,  1,       -1,       2,    -2,       3,         -3,         0.5,        -0.5,
    1.5,  -2.5,  1e-3,    -1e-3,    100,  -100,     0x1p-149,  -0x1p-149,  0x1p-126,   -0x1p-130,
    1e30, -1e30, FLT_MAX, -FLT_MAX, NAN,  INFINITY, -INFINITY, 16777216.0, 16777217.0, 88.5,
    89.5, -87.5, -103.5,  1e6,      -2e6, 0.92,     6.2831853, 1e10,       1048576.5,  33554432,
};
enum { SPECIALS_N = sizeof special / sizeof *special };

static void set_special(tsr_operand *x)
{
    for (int64_t i = 0; i < tsr_shape_count(&x->shape); i++)
        tsr__put(x->dtype, x->data, i, special[i % SPECIALS_N]);
}

/* All pairs by broadcasting, all triples too. */
static void test_special(void **state)
{
    static const bound ops[] = {
        {"add", NULL, 0.5, 0},   {"sub", NULL, 0.5, 0},  {"mul", NULL, 0.5, 0},
        {"div", NULL, 0.5, 0},   {"pow", NULL, 0.51, 0}, {"maximum", NULL, 0, 0},
        {"minimum", NULL, 0, 0},
    };
    bound functions[FUNCTIONS_MOST];
    const int n = all_functions(functions);
    (void)state;

    for (size_t f = 0; f < sizeof ops / sizeof *ops; f++)
        for (int d = 0; d < 2; d++) {
            const tsr_op *op = tsr_op_find(NULL, ops[f].op);
            tsr_kernel_call call = {.n_in = 2, .n_out = 1};

            call.in[0] = operand(dtypes[d], SHAPE(SPECIALS_N, 1));
            call.in[1] = operand(dtypes[d], SHAPE(SPECIALS_N));
            call.out[0] = operand(dtypes[d], SHAPE(SPECIALS_N, SPECIALS_N));
            set_special(&call.in[0]);
            set_special(&call.in[1]);
            worst(&ops[f], op, &call);
            free_call(&call);
        }
    for (int f = 0; f < n; f++)
        for (int d = 0; d < FLOATS; d++) {
            const tsr_op *op = tsr_op_find(NULL, functions[f].op);
            tsr_kernel_call call = unary_call(dtypes[d], SHAPE(SPECIALS_N), SHAPE(SPECIALS_N));

            call.attrs = attrs_of(op, functions[f].attr);
            set_special(&call.in[0]);
            worst(&functions[f], op, &call);
            free_call(&call);
        }
}

/* Of f64 too, where the exponent of e gets as large as it can; odd integers beyond 2^52. */
static void test_power(void **state)
{
    static const bound power = {"pow", NULL, 0.51, 0};
    static const double whole[] = {0x1p52 + 1, -0x1p52 - 1, 0x1p53 - 1, 0x1p53, 3, -4};
    const tsr_op *op = tsr_op_find(NULL, "pow");
    enum { N = 4000 };
    uint64_t seed = 77;
    (void)state;

    for (int t = 0; t < 40; t++) {
        const tsr_dtype dtype = dtypes[t % 2];
        tsr_kernel_call call = unary_call(dtype, SHAPE(N), SHAPE(N));

        call.n_in = 2;
        call.in[1] = operand(dtype, SHAPE(N));
        for (int64_t i = 0; i < N; i++) {
            double x = (double)below(&seed, 1 << 24) / (1 << 22);
            double y = (double)below(&seed, 1 << 24) / (1 << 24) * (t < 20 ? 60 : 3) - 1.5;

            x = t < 20 ? x : ldexp(x, (int)below(&seed, 250) - 125);
            if (dtype == TSR_F64 && i % 3 == 1 && x > 0)
                y = 740 / log(x) * (i % 2 ? 1 : -1);
            if (dtype == TSR_F64 && i % 100 == 0) {
                x = i % 200 ? -1 : -1 - 0x1p-52;
                y = whole[i / 100 % 6];
            }
            tsr__put(dtype, call.in[0].data, i, x);
            tsr__put(dtype, call.in[1].data, i, y);
        }
        worst(&power, op, &call);
        free_call(&call);
    }
}

/* So small that the logarithm of 1 + x is x: all bits of subnormal numbers are kept. */
static void test_tiny(void **state)
{
    const tsr_op *op = tsr_op_find(NULL, "log1p");
    enum { N = 4000 };
    (void)state;

    for (int d = 0; d < 2; d++) {
        const int least = dtypes[d] == TSR_F64 ? -1074 : -149;
        tsr_kernel_call call = unary_call(dtypes[d], SHAPE(N), SHAPE(N));

        for (int64_t i = 0; i < N; i++)
            tsr__put(dtypes[d], call.in[0].data, i,
                     ldexp((double)(i % 2 ? -i : i), least + (int)(i % 61)));
        while (run_next(op, dtypes[d], &call))
            assert_memory_equal(call.out[0].data, call.in[0].data, N * tsr_dtype_size(dtypes[d]));
        free_call(&call);
    }
}

/* Numbers of which none is left to libm, and those nearest to multiples of pi / 2. */
static void test_sine(void **state)
{
    static const bound ops[] = {{"sin", NULL, 0.6, 0}, {"cos", NULL, 0.6, 0}};
    enum { N = 30000 };
    uint64_t seed = 78;
    (void)state;

    for (int f = 0; f < 2; f++)
        for (int d = 0; d < 2; d++) {
            const tsr_op *op = tsr_op_find(NULL, ops[f].op);
            tsr_kernel_call call = unary_call(dtypes[d], SHAPE(N), SHAPE(N));

            for (int64_t i = 0; i < N; i++) {
                const double x = (double)below(&seed, 1 << 30) / (1 << 29) - 1; /* -1 to 1 */

                tsr__put(dtypes[d], call.in[0].data, i,
                         i % 3 == 0   ? 10 * x
                         : i % 3 == 1 ? 1e6 * x
                                      : rint(6e5 * x) * 1.57079632679489661923);
            }
            worst(&ops[f], op, &call);
            free_call(&call);
        }
}

/* ---- bit for bit ---- */

static void same_as_reference(const tsr_op *op, tsr_kernel_call *call)
{
    const tsr_dtype dtype = call->in[op->kind == TSR_POINTWISE_WHERE].dtype;
    const int64_t n = tsr_shape_count(&call->out[0].shape);
    const size_t size = tsr_dtype_size(call->out[0].dtype);
    tsr_operand want = operand(call->out[0].dtype, call->out[0].shape);
    tsr_kernel_call c = *call;

    c.reference = true;
    c.out[0] = want;
    run_row(op, &c);
    while (run_next(op, dtype, call))
        for (int64_t i = 0; i < n; i++) {
            const char *x = (char *)call->out[0].data + (size_t)i * size,
                       *y = (char *)want.data + (size_t)i * size;
            double a = tsr__get(want.dtype, x, 0), b = tsr__get(want.dtype, y, 0);

            if (memcmp(x, y, size) != 0 && !(isnan(a) && isnan(b)))
                fail_msg("%s %s, %s, element %d: %.17g, not %.17g", op->name, tsr_dtype_name(dtype),
                         tsr_kernel_variant_name(call->variant), (int)i, a, b);
        }
    free(want.data);
}

static void set_ends(tsr_operand *x, int64_t i)
{
    static const int64_t ends[] = {0,         1,         -1,  2,   INT64_MAX, INT64_MIN,
                                   INT32_MAX, INT32_MIN, 255, 254, 7,         -100};
    const int64_t value = ends[i % 12];

    if (tsr__dtype_is_integer(x->dtype))
        tsr__put_integer(x->dtype, x->data, i, (uint64_t)value);
    else if (x->dtype == TSR_BOOL)
        ((uint8_t *)x->data)[i] = value & 1;
    else
        tsr__put(x->dtype, x->data, i, special[i % SPECIALS_N]);
}

/* Every op that only chooses or tells, of all dtypes; and arithmetic of integers, which wraps. */
static void test_exact(void **state)
{
    static const struct {
        const char *op, *attr;
        int inputs;
        bool floats, truth; /* exact for floats; takes bool */
    } ops[] = {
        {"add", NULL, 2, false, true},
        {"sub", NULL, 2, false, false},
        {"mul", NULL, 2, false, true},
        {"pow", NULL, 2, false, false},
        {"floor_divide", NULL, 2, true, false},
        {"trunc_divide", NULL, 2, true, false},
        {"remainder", NULL, 2, true, false},
        {"fmod", NULL, 2, true, false},
        {"neg", NULL, 1, true, true},
        {"relu", NULL, 1, true, true},
        {"abs", NULL, 1, true, false},
        {"sign", NULL, 1, true, false},
        {"affine", "mul=-3", 1, false, false},
        {"affine", "add=5", 1, false, false},
        {"clamp", "min=2", 1, true, false},
        {"clamp", "max=-1", 1, true, false},
        {"addcmul", "value=3", 3, false, false},
        {"maximum", NULL, 2, true, true},
        {"minimum", NULL, 2, true, true},
        {"fill", "value=1", 1, true, true},
        {"where", NULL, 3, true, true},
        {"masked_fill", "value=1", 2, true, true},
        {"eq", NULL, 2, true, true},
        {"ne", NULL, 2, true, true},
        {"lt", NULL, 2, true, true},
        {"le", NULL, 2, true, true},
        {"gt", NULL, 2, true, true},
        {"ge", NULL, 2, true, true},
        {"logical_and", NULL, 2, true, true},
        {"logical_or", NULL, 2, true, true},
        {"logical_not", NULL, 1, true, true},
    };
    enum { N = 12 * 40, MOST = N * 60 };
    (void)state;

    for (size_t f = 0; f < sizeof ops / sizeof *ops; f++)
        for (int d = 0; d < DTYPES - 1; d++) {
            const tsr_op *op = tsr_op_find(NULL, ops[f].op);
            const bool tells =
                op->kind >= TSR_POINTWISE_EQ && op->kind <= TSR_POINTWISE_LOGICAL_NOT;
            tsr_kernel_call call = {.n_in = ops[f].inputs, .n_out = 1};

            if (tsr__dtype_is_float(dtypes[d]) ? !ops[f].floats
                                               : dtypes[d] == TSR_BOOL && !ops[f].truth)
                continue;
            call.attrs = attrs_of(op, ops[f].attr);
            for (int k = 0; k < ops[f].inputs; k++) { /* [N], [60, 1] and [N] */
                const bool mask = (op->kind == TSR_POINTWISE_WHERE && k == 0) ||
                                  (op->kind == TSR_POINTWISE_MASKED_FILL && k == 1);

                call.in[k] = operand(mask ? TSR_BOOL : dtypes[d], k == 1 ? SHAPE(60, 1) : SHAPE(N));
                for (int64_t i = 0; i < (k == 1 ? 60 : N); i++)
                    set_ends(&call.in[k], i);
            }
            call.out[0] =
                operand(tells ? TSR_BOOL : dtypes[d], ops[f].inputs == 1 ? SHAPE(N) : SHAPE(60, N));
            same_as_reference(op, &call);
            free_call(&call);
        }
}

/* Quotients next to integers, which must not be rounded to them. */
static void test_quotients(void **state)
{
    static const char *const names[] = {"floor_divide", "trunc_divide", "remainder", "fmod"};
    enum { N = 50000 };
    uint64_t seed = 79;
    (void)state;

    for (int d = FLOATS; d < DTYPES - 1; d++)
        for (int f = 0; f < 4 && dtypes[d] != TSR_BOOL; f++) {
            tsr_kernel_call call = {.n_in = 2, .n_out = 1};

            call.in[0] = operand(dtypes[d], SHAPE(N));
            call.in[1] = operand(dtypes[d], SHAPE(N));
            call.out[0] = operand(dtypes[d], SHAPE(N));
            for (int64_t i = 0; i < N; i++) {
                const int64_t b = 1 + below(&seed, 1 << below(&seed, 31));
                const int64_t a = INT32_MAX / b * b - 1 + below(&seed, 3);

                tsr__put(dtypes[d], call.in[0].data, i, (double)(i % 2 ? a : -a));
                tsr__put(dtypes[d], call.in[1].data, i, (double)(i % 4 < 2 ? b : -b));
            }
            same_as_reference(tsr_op_find(NULL, names[f]), &call);
            free_call(&call);
        }
}

/* ---- cast ---- */

static double cast_one(double x, tsr_dtype from, tsr_dtype to)
{
    const tsr_op *op = tsr_op_find(NULL, "cast");
    tsr_kernel_call call = unary_call(from, SHAPE(1), SHAPE(1));
    double y;

    free(call.out[0].data);
    call.out[0] = operand(to, SHAPE(1));
    tsr__put(from, call.in[0].data, 0, x);
    run_row(op, &call);
    y = tsr__get(to, call.out[0].data, 0);
    free_call(&call);
    return y;
}

static void test_cast(void **state)
{
    (void)state;
    assert_true(cast_one(2.9, TSR_F64, TSR_I32) == 2);
    assert_true(cast_one(-2.9, TSR_F32, TSR_I64) == -2);
    assert_true(cast_one(1e20, TSR_F32, TSR_I32) == INT32_MAX);
    assert_true(cast_one(-5, TSR_BF16, TSR_U8) == 0);
    assert_true(cast_one(0.25, TSR_F16, TSR_BOOL) == 1);
    assert_true(cast_one(0, TSR_F64, TSR_BOOL) == 0);
    assert_true(cast_one(1, TSR_BOOL, TSR_F16) == 1);
    assert_true(cast_one(0.1, TSR_F64, TSR_F32) == (double)0.1f);
    assert_true(isinf(cast_one(1e6, TSR_F64, TSR_F16)));
    assert_true(cast_one(NAN, TSR_F32, TSR_I32) == 0);
    for (int from = 0; from < DTYPES - 1; from++)
        for (int to = 0; to < DTYPES - 1; to++) {
            enum { N = 3001 };
            const tsr_op *op = tsr_op_find(NULL, "cast");
            tsr_kernel_call call = unary_call(dtypes[from], SHAPE(N), SHAPE(N));

            free(call.out[0].data);
            call.out[0] = operand(dtypes[to], SHAPE(N));
            for (int64_t i = 0; i < N; i++)
                set_ends(&call.in[0], i);
            same_as_reference(op, &call);
            free_call(&call);
        }
}

/* ---- shapes: broadcasting in all ways, over several blocks, in place, past the caches ---- */

static void test_shapes(void **state)
{
    static const char *const names[] = {"sub", "lt", "where", "masked_fill", "addcmul", "lerp"};
    const int64_t step = sample_quick();
    uint64_t seed = 5;
    (void)state;

    for (int64_t t = sample_first(step); t < 3000; t += step) {
        const tsr_op *op = tsr_op_find(NULL, names[t % 6]);
        const tsr_dtype dtype = dtypes[t % FLOATS];
        const int inputs = t % 6 < 2 || t % 6 == 3 ? 2 : 3;
        tsr_kernel_call call = {.n_in = inputs, .n_out = 1, .attrs = attrs_of(op, NULL)};
        tsr_shape s = random_shape(&seed);

        if (s.ndim > 0 && below(&seed, 20) == 0)
            s.size[s.ndim - 1] = 300 + below(&seed, 2000);
        for (int k = 0; k < inputs; k++) {
            const bool mask = (t % 6 == 2 && k == 0) || (t % 6 == 3 && k == 1);
            tsr_shape in = s;

            for (int d = 0; d < in.ndim; d++)
                if (below(&seed, 3) == 0 && k != (int)(t / 6 % inputs))
                    in.size[d] = 1;
            if (below(&seed, 4) == 0 && k != (int)(t / 6 % inputs)) {
                int gone = (int)below(&seed, in.ndim + 1);
                memmove(in.size, in.size + gone, (size_t)(in.ndim -= gone) * sizeof *in.size);
            }
            call.in[k] = operand(mask ? TSR_BOOL : dtype, in);
            fill(&call.in[k], INTEGERS, &seed);
        }
        call.out[0] = operand(t % 6 == 1 ? TSR_BOOL : dtype, s);
        same_as_reference(op, &call);
        free_call(&call);
    }
}

static void test_inplace(void **state)
{
    uint64_t seed = 6;
    (void)state;

    for (int d = 0; d < FLOATS; d++)
        for (int large = 0; large < 2; large++) {
            const tsr_op *op = tsr_op_find(NULL, "sub_inplace");
            const tsr_shape s = large ? SHAPE(2300, 1031) : SHAPE(37, 41), row = SHAPE(s.size[1]);
            tsr_kernel_call call = {.n_in = 2, .n_out = 1};
            const size_t bytes = (size_t)tsr_shape_count(&s) * tsr_dtype_size(dtypes[d]);
            tsr_operand want = operand(dtypes[d], s);

            call.in[0] = operand(dtypes[d], s);
            call.in[1] = operand(dtypes[d], row);
            fill(&call.in[0], INTEGERS, &seed);
            fill(&call.in[1], INTEGERS, &seed);
            call.out[0] = want; /* and once into another */
            run_row(op, &call);
            call.out[0] = call.in[0];
            run_row(op, &call);
            assert_memory_equal(call.in[0].data, want.data, bytes);
            free(call.in[1].data);
            free(call.in[0].data);
            free(want.data);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions), cmocka_unit_test(test_slopes),
        cmocka_unit_test(test_special),   cmocka_unit_test(test_power),
        cmocka_unit_test(test_sine),      cmocka_unit_test(test_tiny),
        cmocka_unit_test(test_exact),     cmocka_unit_test(test_quotients),
        cmocka_unit_test(test_cast),      cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_inplace),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
