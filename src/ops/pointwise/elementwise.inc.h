/* SPDX-License-Identifier: Apache-2.0 */
/* elementwise.inc.h - body of elementwise.c for one dtype and instruction set, see
   kernel_types.inc.h: what every op computes, one line each, and a loop around that. f16 and bf16
   compute as f32, bool as u8. */

#ifdef FLOATING
#define SUB(a, b) ((a) - (b))
#if BITS == 32
#define POWER(a, b) tsr__pow_f32(FUSED, a, b)
#else
#define POWER(a, b) (FUSED ? tsr__pow_f64(a, b) : pow(a, b))
#endif
#else
#define SUB(a, b) ((T)((U)(a) - (U)(b)))
/* Vectors divide floats only. That is exact: a quotient that is not whole is at least 1 / b from
   whole numbers, and so much f64 tells apart below 2^32. */
#define DIVIDE(a, b)                                                                               \
    ((T) _Generic((T)0,                                                                            \
         int64_t: (a) / (b),                                                                       \
         uint64_t: (a) / (b),                                                                      \
         default: (double)(a) / (double)(b)))
#endif

#ifndef FLOATING
/* Rounded down, or towards 0. Nothing divided by 0 is 0; the least number by -1 wraps. */
TSR__INLINE T FN(quotient)(T a, T b, bool down)
{
    const T zero = 0, one = 1;
    const bool turns = b < zero && NEG(b) == one;
    T q = DIVIDE(a, b == zero || turns ? one : b), rest;

    q = b == zero ? zero : turns ? NEG(a) : q;
    rest = SUB(a, MUL(q, b));
    return down && b != zero && rest != zero && (rest < zero) != (b < zero) ? SUB(q, one) : q;
}

/* What is left then: a itself if b is 0. */
TSR__INLINE T FN(rest)(T a, T b, bool down)
{
    return SUB(a, MUL(FN(quotient)(a, b, down), b));
}

/* Wraps. Of a negative exponent: 1 / a^-b truncated toward zero, and 0 for 1 / 0. */
TSR__INLINE T FN(power)(T a, T b)
{
    const T zero = 0, one = 1;
    T y = one;

    if (b < zero)
        return a == one || (a < zero && NEG(a) == one && !(b & 1)) ? one
               : a < zero && NEG(a) == one                         ? a
                                                                   : zero;
    for (U e = (U)b; e; e >>= 1) {
        y = e & 1 ? MUL(y, a) : y;
        a = MUL(a, a);
    }
    return y;
}
#else
/* fmod is exact, however large a / b is; moved to the side of 0 where b is, if down. */
TSR__INLINE T FN(rest)(T a, T b, bool down)
{
    const T zero = 0, r = LIBM(fmod, a, b);

    return down && r != zero && (r < zero) != (b < zero) ? r + b : r;
}
#endif

/* Operands a, b, c of the dtype, a boolean m, and numbers p and q of the call. The op is a
   constant where this is called. */
TSR__INLINE T FN(value)(int op, T a, T b, T c, bool m, T p, T q)
{
    const T zero = 0, one = 1;

    switch (op) {
    case TSR_POINTWISE_ADD: return ADD(a, b);
    case TSR_POINTWISE_SUB: return SUB(a, b);
    case TSR_POINTWISE_MUL: return MUL(a, b);
    case TSR_POINTWISE_NEG: return NEG(a);
    case TSR_POINTWISE_RELU: return a < zero ? zero : a; /* NaN stays, here and below */
    case TSR_POINTWISE_SIGN: return a > zero ? one : a < zero ? NEG(one) : UNORDERED(a) ? a : zero;
    case TSR_POINTWISE_MAXIMUM: return a < b || UNORDERED(b) ? b : a;
    case TSR_POINTWISE_MINIMUM: return b < a || UNORDERED(b) ? b : a;
    case TSR_POINTWISE_AFFINE: return ADD(MUL(a, p), q);
    case TSR_POINTWISE_ADDCMUL: return ADD(a, MUL(p, MUL(b, c)));
    case TSR_POINTWISE_WHERE: return m ? a : b;
    case TSR_POINTWISE_MASKED_FILL: return m ? p : a;
    case TSR_POINTWISE_FILL: return p;
    case TSR_POINTWISE_REMAINDER: return FN(rest)(a, b, true);
    case TSR_POINTWISE_FMOD: return FN(rest)(a, b, false);
    case TSR_POINTWISE_CLAMP: /* as in PyTorch, the upper end wins */
        a = a < p ? p : a;
        return a > q ? q : a;
#ifndef FLOATING
    case TSR_POINTWISE_POW: return FN(power)(a, b);
    case TSR_POINTWISE_FLOOR_DIVIDE: return FN(quotient)(a, b, true);
    case TSR_POINTWISE_TRUNC_DIVIDE: return FN(quotient)(a, b, false);
    default: return a < zero ? NEG(a) : a; /* abs */
#else
    case TSR_POINTWISE_ABS: return LIBM(__builtin_fabs, a);
    case TSR_POINTWISE_DIV: return a / b;
    case TSR_POINTWISE_POW: return POWER(a, b);
    case TSR_POINTWISE_FLOOR_DIVIDE: return LIBM(__builtin_floor, a / b);
    case TSR_POINTWISE_TRUNC_DIVIDE: return LIBM(__builtin_trunc, a / b);
    case TSR_POINTWISE_EXP: return MATH(exp_any, a);
    case TSR_POINTWISE_LOG: return MATH(log, a);
    case TSR_POINTWISE_LOG1P: return MATH(log1p, a);
    case TSR_POINTWISE_SQRT: return LIBM(__builtin_sqrt, a);
    case TSR_POINTWISE_RSQRT: return one / LIBM(__builtin_sqrt, a);
    case TSR_POINTWISE_RECIPROCAL: return one / a;
    case TSR_POINTWISE_TANH: return MATH(tanh, a);
    case TSR_POINTWISE_SIGMOID: return MATH(sigmoid, a);
    case TSR_POINTWISE_GELU: return MATH(gelu, a);
    case OP_GELU_TANH: return MATH(gelu_tanh, a);
    case TSR_POINTWISE_SILU: return a * MATH(sigmoid, a);
    case TSR_POINTWISE_MISH: return MATH(mish, a);
    case TSR_POINTWISE_SOFTPLUS: return MATH(softplus, a);
    case TSR_POINTWISE_SIN: return MATH(sin, a, 0);
    case TSR_POINTWISE_COS: return MATH(sin, a, 1);
    case TSR_POINTWISE_ASIN: return (T)tsr__asin_f64(FUSED, a);
    case TSR_POINTWISE_ACOS: return (T)tsr__acos_f64(FUSED, a);
    case TSR_POINTWISE_ATAN: return (T)tsr__atan_f64(FUSED, a);
    case TSR_POINTWISE_FLOOR: return LIBM(__builtin_floor, a);
    case TSR_POINTWISE_CEIL: return LIBM(__builtin_ceil, a);
    case TSR_POINTWISE_ROUND: return LIBM(__builtin_rint, a); /* to even, as the processor does */
    case TSR_POINTWISE_ERF: return MATH(erf, a);
    case TSR_POINTWISE_LEAKY_RELU: return a < zero ? p * a : a;
    case TSR_POINTWISE_ELU: b = p * MATH(expm1, a < zero ? a : zero); return a < zero ? b : a;
    case TSR_POINTWISE_LERP: return a + c * (b - a);
    case OP_LERP_BY: return a + p * (b - a);
    case TSR_POINTWISE_RELU_BACKWARD: return b <= zero ? zero : a; /* of NaN, a */
    case TSR_POINTWISE_TANH_BACKWARD: return a * ((one - b) * (one + b));
    case TSR_POINTWISE_SIGMOID_BACKWARD: return a * (b * (one - b));
    case TSR_POINTWISE_SILU_BACKWARD: return a * MATH(silu_slope, b);
    case TSR_POINTWISE_MISH_BACKWARD: return a * MATH(mish_slope, b);
    case TSR_POINTWISE_GELU_BACKWARD: return a * MATH(gelu_slope, b);
    case OP_GELU_TANH_BACKWARD: return a * MATH(gelu_tanh_slope, b);
    default: return a + p * (b / c); /* addcdiv */
#endif
    }
}

TSR__INLINE bool FN(predicate)(int op, T a, T b)
{
    switch (op) {
    case TSR_POINTWISE_EQ: return a == b;
    case TSR_POINTWISE_NE: return a != b;
    case TSR_POINTWISE_LT: return a < b;
    case TSR_POINTWISE_LE: return a <= b;
    case TSR_POINTWISE_GT: return a > b;
    case TSR_POINTWISE_GE: return a >= b;
    case TSR_POINTWISE_LOGICAL_AND: return (a != 0) & (b != 0);
    case TSR_POINTWISE_LOGICAL_OR: return (a != 0) | (b != 0);
    default: return a == 0; /* logical_not */
    }
}

TSR__INLINE void FN(values)(int op, const run *r)
{
    const T *a = r->in[0], *b = r->in[1], *c = r->in[2], p = *(const T *)r->p, q = *(const T *)r->q;
    const uint8_t *m = r->mask;
    const int64_t n = r->n; /* bytes that are stored might be it */
    T *y = r->out;

    TSR__INDEPENDENT
    for (int64_t i = 0; i < n; i++)
        y[i] = FN(value)(op, a[i], b[i], c[i], m[i], p, q);
}

TSR__INLINE void FN(predicates)(int op, const run *r)
{
    const T *a = r->in[0], *b = r->in[1];
    const int64_t n = r->n;
    uint8_t *y = r->out;

    TSR__INDEPENDENT
    for (int64_t i = 0; i < n; i++)
        y[i] = FN(predicate)(op, a[i], b[i]);
}

#ifdef FLOATING
/* sin and cos where some number is too large for ours. */
SET static bool FN(far_sine)(int op, const run *r)
{
    const int64_t n = r->n;
    const T *a = r->in[0];
    T *y = r->out;
    int far = 0;

    for (int64_t i = 0; i < n; i++)
        far += !(LIBM(__builtin_fabs, a[i]) <= TSR_SIN_MOST);
    for (int64_t i = 0; i < n && far; i++)
        y[i] = op == TSR_POINTWISE_SIN ? LIBM(sin, a[i]) : LIBM(cos, a[i]);
    return far > 0;
}
#endif

#define VALUES(OP)                                                                                 \
    case TSR_POINTWISE_##OP: FN(values)(TSR_POINTWISE_##OP, r); break;
#define TRUTHS(OP)                                                                                 \
    case TSR_POINTWISE_##OP: FN(predicates)(TSR_POINTWISE_##OP, r); break;
#if ISA == 512 /* the rest waits for memory as it is */
#define NUMBER(OP, name)
#define TRUTH(OP, name)
#else
#define NUMBER(OP, name) VALUES(OP)
#define TRUTH(OP, name) TRUTHS(OP)
#endif
#define BASIC(OP, name) NUMBER(OP, name)
#define VALUE(OP, name) NUMBER(OP, name)
#define WHOLE(OP, name) VALUES(OP)
#ifdef FLOATING
#define FLOAT(OP, name) VALUES(OP)
#else
#define FLOAT(OP, name)
#endif

SET static void FN(compute)(int op, const run *r)
{
#ifdef FLOATING
    if ((op == TSR_POINTWISE_SIN || op == TSR_POINTWISE_COS) && FN(far_sine)(op, r))
        return;
#endif
    switch (op) {
#include "kernel/pointwise_list.inc.h"
#ifdef FLOATING
    case OP_GELU_TANH: FN(values)(OP_GELU_TANH, r); break;
    case OP_GELU_TANH_BACKWARD: FN(values)(OP_GELU_TANH_BACKWARD, r); break;
    case OP_LERP_BY: FN(values)(OP_LERP_BY, r); break;
#endif
    }
}

static const bodies FN(entry) = {FN(compute)};

#undef VALUES
#undef TRUTHS
#undef SUB
#undef POWER
#undef DIVIDE
