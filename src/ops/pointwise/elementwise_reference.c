/* SPDX-License-Identifier: Apache-2.0 */
/* elementwise_reference.c - the pointwise ops, element by element: floats in f64, rounded once;
   integers modulo 2^64, so that cutting off bits gives what wraps in the small type; bool with or
   and and; the field. To be checked by eye. Called when a call asks for the reference. */
#include "ops/pointwise/elementwise_reference.h"
#include "ops/pointwise/pointwise_attrs.h"

#include "kernel/element.h"
#include "kernel/kinds.h"
#include "kernel/index.h"

#include <math.h>

tsr_pointwise_numbers tsr__pointwise_numbers(const tsr_kernel_call *call, int op, tsr_dtype dtype)
{
    static const tsr_attr none[] = {{.n = 1, .f = -INFINITY}, {.n = 1, .f = INFINITY}};
    tsr_pointwise_numbers v = {0};
    const tsr_attr *a = call->attrs.value;
    const bool ends = op == TSR_POINTWISE_CLAMP;

    tsr__element_put(ends && a[0].n < 0 ? &none[0] : &a[0], dtype, &v.p);
    tsr__element_put(ends && a[1].n < 0 ? &none[1] : &a[1], dtype, &v.q);
    return v;
}

bool tsr__pointwise_is_predicate(int op)
{
    switch (op) {
#define TRUTH(OP, name) case TSR_POINTWISE_##OP:
#include "kernel/pointwise_list.inc.h"
        return true;
    default: return false;
    }
}

static double larger(double a, double b)
{
    return isnan(a) || isnan(b) ? NAN : a < b ? b : a;
}

static double sigmoid(double x)
{
    return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
}

static double softplus(double x)
{
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

/* What rounding the argument of erfc changes is x x times as much in the result. */
static double gelu(double x, bool by_tanh)
{
    if (!by_tanh)
        return (double)(x * (erfcl(-x / sqrtl(2)) / 2));
    return x * sigmoid(2 * sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x));
}

/* The slopes of silu, mish and gelu; infinities have those of large numbers. */
static double silu_slope(double x)
{
    return isinf(x) ? x > 0 : sigmoid(x) * (1 + x * sigmoid(-x));
}

static double mish_slope(double x)
{
    const double t = tanh(softplus(x));

    return isinf(x) ? x > 0 : t + x * sigmoid(x) * (1 - t * t);
}

static double gelu_slope(double x, bool by_tanh)
{
    const double root = 2 * sqrt(2 / acos(-1)), s = sigmoid(root * (x + 0.044715 * x * x * x));

    if (fabs(x) > 1e6)
        return x > 0;
    if (!by_tanh)
        return erfc(-x / sqrt(2)) / 2 + x * exp(-x * x / 2) / sqrt(2 * acos(-1));
    return s +
           x * s * sigmoid(-root * (x + 0.044715 * x * x * x)) * root * (1 + 3 * 0.044715 * x * x);
}

/* Rounded as the type that computes has it. */
static double quotient(double a, double b, bool single)
{
    return single ? (double)(float)(a / b) : a / b;
}

/* With the sign of b. */
static double remainder_of(double a, double b)
{
    const double r = fmod(a, b);

    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

/* x is the operands in order; m the boolean of where and masked_fill. */
static double float_value(int op, const double *x, int n, bool m, const double *number,
                          bool by_tanh, bool single)
{
    const double a = x[0], b = x[1], c = x[2], p = number[0], q = number[1];

    switch (op) {
#define CMATH(OP, name)                                                                            \
    case TSR_POINTWISE_##OP: return name(a);
#include "kernel/pointwise_list.inc.h"
    case TSR_POINTWISE_ADD: return a + b;
    case TSR_POINTWISE_MUL: return a * b;
    case TSR_POINTWISE_NEG: return -a;
    case TSR_POINTWISE_RELU: return a < 0 ? 0 : a;
    case TSR_POINTWISE_SUB: return a - b;
    case TSR_POINTWISE_ABS: return fabs(a);
    case TSR_POINTWISE_SIGN: return isnan(a) ? a : (a > 0) - (a < 0);
    case TSR_POINTWISE_AFFINE: return a * p + q;
    case TSR_POINTWISE_CLAMP: return isnan(a) ? a : fmin(fmax(a, p), q);
    case TSR_POINTWISE_ADDCMUL: return a + p * b * c;
    case TSR_POINTWISE_DIV: return a / b;
    case TSR_POINTWISE_POW: return pow(a, b);
    case TSR_POINTWISE_FLOOR_DIVIDE: return floor(quotient(a, b, single));
    case TSR_POINTWISE_TRUNC_DIVIDE: return trunc(quotient(a, b, single));
    case TSR_POINTWISE_REMAINDER: return remainder_of(a, b);
    case TSR_POINTWISE_FMOD: return fmod(a, b);
    case TSR_POINTWISE_RSQRT: return 1 / sqrt(a);
    case TSR_POINTWISE_RECIPROCAL: return 1 / a;
    case TSR_POINTWISE_SIGMOID: return sigmoid(a);
    case TSR_POINTWISE_GELU: return gelu(a, by_tanh);
    case TSR_POINTWISE_SILU: return a * sigmoid(a);
    case TSR_POINTWISE_MISH: return a * tanh(softplus(a));
    case TSR_POINTWISE_SOFTPLUS: return softplus(a);
    case TSR_POINTWISE_ROUND: return rint(a);
    case TSR_POINTWISE_LEAKY_RELU: return a < 0 ? p * a : a;
    case TSR_POINTWISE_ELU: return a > 0 ? a : p * expm1(a);
    case TSR_POINTWISE_LERP: return a + (n == 3 ? c : p) * (b - a);
    case TSR_POINTWISE_ADDCDIV: return a + p * b / c;
    case TSR_POINTWISE_RELU_BACKWARD: return b <= 0 ? 0 : a;
    case TSR_POINTWISE_TANH_BACKWARD: return a * (1 - b * b);
    case TSR_POINTWISE_SIGMOID_BACKWARD: return a * b * (1 - b);
    case TSR_POINTWISE_SILU_BACKWARD: return a * silu_slope(b);
    case TSR_POINTWISE_MISH_BACKWARD: return a * mish_slope(b);
    case TSR_POINTWISE_GELU_BACKWARD: return a * gelu_slope(b, by_tanh);
    case TSR_POINTWISE_MAXIMUM: return larger(a, b);
    case TSR_POINTWISE_MINIMUM: return -larger(-a, -b);
    case TSR_POINTWISE_WHERE: return m ? a : b;
    case TSR_POINTWISE_MASKED_FILL: return m ? p : a;
    default: return p; /* fill */
    }
}

static int64_t int_power(int64_t a, int64_t b)
{
    int64_t half;

    if (b < 0)
        return a == 1 || (a == -1 && b % 2 == 0) ? 1 : a == -1 ? -1 : 0;
    if (b == 0)
        return 1;
    half = int_power(a, b / 2);
    half = (int64_t)((uint64_t)half * (uint64_t)half);
    return b % 2 ? (int64_t)((uint64_t)half * (uint64_t)a) : half;
}

static int64_t int_quotient(int64_t a, int64_t b, bool down)
{
    if (b == 0)
        return 0;
    if (b == -1) /* of the least number C does not say what comes */
        return (int64_t)(0 - (uint64_t)a);
    return a / b - (down && a % b != 0 && (a < 0) != (b < 0));
}

/* With the sign of b, or of a. */
static int64_t int_rest(int64_t a, int64_t b, bool down)
{
    int64_t r;

    if (b == 0)
        return a;
    r = b == -1 ? 0 : a % b;
    return down && r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

/* Of an integer; bool too, where plus is or, and times is and. */
static int64_t int_value(int op, const int64_t *x, bool m, int64_t p, int64_t q, bool logic)
{
    const int64_t a = x[0], b = x[1];
    const uint64_t ua = (uint64_t)a, ub = (uint64_t)b, uc = (uint64_t)x[2], up = (uint64_t)p;

    switch (op) {
    case TSR_POINTWISE_ADD: return logic ? a | b : (int64_t)(ua + ub);
    case TSR_POINTWISE_MUL: return logic ? a & b : (int64_t)(ua * ub);
    case TSR_POINTWISE_NEG: return logic ? a : (int64_t)(0 - ua);
    case TSR_POINTWISE_RELU: return a < 0 ? 0 : a;
    case TSR_POINTWISE_SUB: return (int64_t)(ua - ub);
    case TSR_POINTWISE_ABS: return a < 0 ? (int64_t)(0 - ua) : a;
    case TSR_POINTWISE_SIGN: return (a > 0) - (a < 0);
    case TSR_POINTWISE_AFFINE: return (int64_t)(ua * up + (uint64_t)q);
    case TSR_POINTWISE_CLAMP: return (a < p ? p : a) > q ? q : a < p ? p : a;
    case TSR_POINTWISE_ADDCMUL: return (int64_t)(ua + up * ub * uc);
    case TSR_POINTWISE_POW: return int_power(a, b);
    case TSR_POINTWISE_FLOOR_DIVIDE: return int_quotient(a, b, true);
    case TSR_POINTWISE_TRUNC_DIVIDE: return int_quotient(a, b, false);
    case TSR_POINTWISE_REMAINDER: return int_rest(a, b, true);
    case TSR_POINTWISE_FMOD: return int_rest(a, b, false);
    case TSR_POINTWISE_MAXIMUM: return a > b ? a : b;
    case TSR_POINTWISE_MINIMUM: return a < b ? a : b;
    case TSR_POINTWISE_WHERE: return m ? a : b;
    case TSR_POINTWISE_MASKED_FILL: return m ? p : a;
    default: return p; /* fill */
    }
}

/* Of an unsigned integer, where no number is below 0. */
static uint64_t unsigned_value(int op, const int64_t *x, bool m, int64_t p, int64_t q)
{
    const uint64_t a = (uint64_t)x[0], b = (uint64_t)x[1], low = (uint64_t)p, high = (uint64_t)q;
    uint64_t y = 1;

    switch (op) {
    case TSR_POINTWISE_RELU:
    case TSR_POINTWISE_ABS: return a;
    case TSR_POINTWISE_SIGN: return a > 0;
    case TSR_POINTWISE_CLAMP: return (a < low ? low : a) > high ? high : a < low ? low : a;
    case TSR_POINTWISE_POW:
        for (int bit = 63; bit >= 0; bit--)
            y *= b >> bit & 1 ? y * a : y;
        return y;
    case TSR_POINTWISE_FLOOR_DIVIDE:
    case TSR_POINTWISE_TRUNC_DIVIDE: return b ? a / b : 0;
    case TSR_POINTWISE_REMAINDER:
    case TSR_POINTWISE_FMOD: return b ? a % b : a;
    case TSR_POINTWISE_MAXIMUM: return a > b ? a : b;
    case TSR_POINTWISE_MINIMUM: return a < b ? a : b;
    default: return (uint64_t)int_value(op, x, m, p, q, false);
    }
}

/* Those ops that the validator tries in the field. */
static uint64_t field_value(int op, const uint64_t *x)
{
    const uint64_t minus_b = x[1] ? TSR__FIELD_P - x[1] : 0;

    switch (op) {
    case TSR_POINTWISE_ADD: return tsr__field_add(x[0], x[1]);
    case TSR_POINTWISE_SUB: return tsr__field_add(x[0], minus_b);
    case TSR_POINTWISE_MUL: return tsr__field_mul(x[0], x[1]);
    case TSR_POINTWISE_NEG: return x[0] ? TSR__FIELD_P - x[0] : 0;
    default: return x[0]; /* relu: nothing is negative there */
    }
}

static bool predicate(int op, bool less, bool equal, bool a, bool b, bool unordered)
{
    switch (op) {
    case TSR_POINTWISE_EQ: return equal;
    case TSR_POINTWISE_NE: return !equal;
    case TSR_POINTWISE_LT: return less;
    case TSR_POINTWISE_LE: return less || equal;
    case TSR_POINTWISE_GT: return !less && !equal && !unordered;
    case TSR_POINTWISE_GE: return !less && !unordered;
    case TSR_POINTWISE_LOGICAL_AND: return a && b;
    case TSR_POINTWISE_LOGICAL_OR: return a || b;
    default: return !a; /* logical_not */
    }
}

/* The operands of element i: floats as f64, the field as it is, others as i64, or the bits of a
   u64. */
typedef struct element {
    int n;
    bool mask;
    double f[TSR_OP_INPUTS];
    int64_t i[TSR_OP_INPUTS];
} element;

static element element_at(const tsr_kernel_call *call, int mask, tsr_dtype whole, int64_t i)
{
    const tsr_shape *s = &call->out[0].shape;
    element x = {0};

    for (int k = 0; k < call->n_in && tsr__operand_given(call, k); k++) {
        const tsr_operand *in = &call->in[k];
        const int64_t at = tsr__broadcast_at(in->shape.ndim, in->shape.size, s->ndim, s->size, i);
        const char *from = (const char *)in->data + (size_t)at * tsr_dtype_size(in->dtype);

        if (k == mask) {
            x.mask = *from != 0;
            continue;
        }
        x.f[x.n] = tsr__get(in->dtype, in->data, at);
        tsr__convert(whole, &x.i[x.n++], in->dtype, from, 1);
    }
    return x;
}

void tsr__pointwise_reference(const tsr_kernel_call *call, int op)
{
    const int mask = op == TSR_POINTWISE_WHERE ? 0 : op == TSR_POINTWISE_MASKED_FILL ? 1 : -1;
    const tsr_operand *out = &call->out[0];
    const tsr_dtype dtype = call->in[mask == 0].dtype;
    const bool floating = tsr__dtype_is_float(dtype);
    const bool natural = tsr__dtype_is_integer(dtype) && tsr__dtype_min(dtype) == 0;
    const tsr_dtype whole = natural ? TSR_U64 : TSR_I64;
    const tsr_pointwise_numbers v = tsr__pointwise_numbers(call, op, floating ? TSR_F64 : dtype);
    double f[2];
    int64_t n[2];

    for (int k = 0; k < 2; k++)
        tsr__convert(floating ? TSR_F64 : whole, floating ? (void *)&f[k] : &n[k],
                     floating ? TSR_F64 : dtype, k == 0 ? &v.p : &v.q, 1);
    for (int64_t i = 0; i < tsr__operand_count(out); i++) {
        const element x = element_at(call, mask, whole, i);
        const bool less = floating  ? x.f[0] < x.f[1]
                          : natural ? (uint64_t)x.i[0] < (uint64_t)x.i[1]
                                    : x.i[0] < x.i[1];

        if (tsr__pointwise_is_predicate(op))
            ((uint8_t *)out->data)[i] = predicate(
                op, less, floating ? x.f[0] == x.f[1] : x.i[0] == x.i[1],
                floating ? x.f[0] != 0 : x.i[0] != 0, floating ? x.f[1] != 0 : x.i[1] != 0,
                floating && (isnan(x.f[0]) || isnan(x.f[1])));
        else if ((int)dtype == TSR__FIELD)
            ((uint64_t *)out->data)[i] =
                field_value(op, (uint64_t[]){(uint64_t)x.i[0], (uint64_t)x.i[1]});
        else if (floating)
            tsr__put(dtype, out->data, i,
                     float_value(op, x.f, x.n, x.mask, f,
                                 call->attrs.value[TSR_ATTR_GELU_TANH].i[0] != 0,
                                 dtype != TSR_F64));
        else
            tsr__put_integer(
                dtype, out->data, i,
                natural ? unsigned_value(op, x.i, x.mask, n[0], n[1])
                        : (uint64_t)int_value(op, x.i, x.mask, n[0], n[1], dtype == TSR_BOOL));
    }
}
