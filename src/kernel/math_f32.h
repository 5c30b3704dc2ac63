/* SPDX-License-Identifier: Apache-2.0 */
/* math_f32.h - functions of f32 without branches or tables, within a few units in the last place:
   compilers vectorise loops of them. Special values are as in libm. `fused` is a constant: the
   processor has fma. Some compute in f64, where f32 would lose too much on the way. Called by
   elementwise.inc.h. */
#ifndef TSR_KERNEL_MATH_F32_H
#define TSR_KERNEL_MATH_F32_H

#include "kernel/exp.h"

#include <math.h>

/* ---- exponentials ---- */

/* e^x of any x. The factor 2^n is applied in two halves, since n goes from -150 to 128: the last
   bits of t are n + 254, the sum of their exponents. Less than f32 has is set to 0 by a mask: of
   two choices compilers make branches. */
TSR__INLINE float tsr__exp_any_f32(bool fused, float x)
{
    const float shift = 0x1.8p23f + 254, most = 89.0f < x ? 89.0f : x; /* NaN stays */
    const uint32_t keep = (uint32_t)__builtin_isless(x, -104.0f) - 1u;
    const float t = tsr__multiply_add(fused, most, 1.44269504f, shift), n = t - shift;
    const uint32_t both = tsr__bits_f32(t), half = both >> 1 << 23;
    float p = tsr__exp_poly_f32(fused, tsr__exp_rest_f32(fused, most, n)) + 1.0f;

    p = p * tsr__f32_of(half) * tsr__f32_of((both << 23) - half);
    return tsr__f32_of(tsr__bits_f32(p) & keep);
}

/* e^x - 1 of x from -80 to 80. */
TSR__INLINE float tsr__expm1_near_f32(bool fused, float x)
{
    const float shift = 0x1.8p23f + 127;
    const float t = tsr__multiply_add(fused, x, 1.44269504f, shift), n = t - shift;
    const float p = tsr__exp_poly_f32(fused, tsr__exp_rest_f32(fused, x, n));
    const float scale = tsr__f32_of(tsr__bits_f32(t) << 23);

    return tsr__multiply_add(fused, p, scale, scale - 1.0f);
}

/* Of x <= 80. */
TSR__INLINE float tsr__expm1_f32(bool fused, float x)
{
    return tsr__expm1_near_f32(fused, x < -30.0f ? -30.0f : x);
}

TSR__INLINE float tsr__tanh_f32(bool fused, float x)
{
    const float z = __builtin_fabsf(x);
    const float t = tsr__expm1_near_f32(fused, 2.0f * (10.0f < z ? 10.0f : z));

    return __builtin_copysignf(t / (t + 2.0f), x);
}

/* With e^-|x| nothing is too large, and small results keep their digits. */
TSR__INLINE float tsr__sigmoid_f32(bool fused, float x)
{
    const float z = tsr__exp_f32(fused, -__builtin_fabsf(x));

    return (x < 0.0f ? z : 1.0f) / (1.0f + z);
}

/* tanh(log(1 + w)) is n / (n + 2) with w = e^x and n = w (w + 2). */
TSR__INLINE float tsr__mish_f32(bool fused, float x)
{
    const float w = tsr__exp_f32(fused, 20.0f < x ? 20.0f : x), n = w * (w + 2.0f);

    return x * (n / (n + 2.0f));
}

/* ---- logarithms ---- */

/* log(x + rest), where rest, if it is given, is what x lost by rounding. x = 2^n m with m from
   sqrt(1/2) to sqrt(2), and log m by the polynomial of Cephes. Subnormal x is scaled; by masks, as
   in exp. */
TSR__INLINE float tsr__log_sum_f32(bool fused, float x, const float *rest)
{
    const uint32_t tiny = 0u - (uint32_t)__builtin_isless(x, 0x1p-126f);
    const uint32_t more = tiny & 23u << 23, from = 0x3f3504f3;
    const uint32_t u = tsr__bits_f32(x * tsr__f32_of(0x3f800000u + more));
    const uint32_t e = (u - from) & 0xff800000u;
    const float m = tsr__f32_of(u - e) - 1.0f, scale = tsr__f32_of(0x40000000u - e); /* 2^(1 - n) */
    const float f = rest ? tsr__multiply_add(fused, 0.5f * *rest, scale, m) : m, s = f * f;
    const float n = (float)((int32_t)(e - more) >> 23);
    float p, y;

    p = tsr__multiply_add(fused, 7.0376836292e-2f, f, -1.1514610310e-1f);
    p = tsr__multiply_add(fused, p, f, 1.1676998740e-1f);
    p = tsr__multiply_add(fused, p, f, -1.2420140846e-1f);
    p = tsr__multiply_add(fused, p, f, 1.4249322787e-1f);
    p = tsr__multiply_add(fused, p, f, -1.6668057665e-1f);
    p = tsr__multiply_add(fused, p, f, 2.0000714765e-1f);
    p = tsr__multiply_add(fused, p, f, -2.4999993993e-1f);
    p = tsr__multiply_add(fused, p, f, 3.3333331174e-1f);
    y = tsr__multiply_add(fused, n, -2.12194440e-4f, p * s * f);
    y = tsr__multiply_add(fused, -0.5f, s, y) + f;
    y = tsr__multiply_add(fused, n, 0.693359375f, y);
    y = __builtin_isless(x, INFINITY) ? y : x; /* NaN too */
    y = tsr__f32_of(tsr__bits_f32(y) | (0u - (uint32_t)__builtin_isless(x, 0.0f)));
    return x == 0.0f ? -INFINITY : y;
}

TSR__INLINE float tsr__log_f32(bool fused, float x)
{
    return tsr__log_sum_f32(fused, x, NULL);
}

/* log(1 + x): of the sign of x, even where that is 0; x itself where it is too small to differ, of
   which the half of a subnormal rest would lose bits. */
TSR__INLINE float tsr__log1p_f32(bool fused, float x)
{
    const float u = 1.0f + x, rest = x - (u - 1.0f);
    const float y = __builtin_copysignf(tsr__log_sum_f32(fused, u, &rest), x);

    return __builtin_fabsf(x) < 0x1p-60f ? x : y;
}

TSR__INLINE float tsr__softplus_f32(bool fused, float x)
{
    const float e = tsr__exp_f32(fused, -__builtin_fabsf(x));

    return tsr__log1p_unit_f32(fused, e) + (x < 0.0f ? 0.0f : x);
}

/* ---- the error function ---- */

/* Near 0 by a polynomial, then 1 - (P / Q)^2, to where that is 1; absolute error 1e-8. */
TSR__INLINE float tsr__erf_f32(bool fused, float x)
{
    const float a = __builtin_fabsf(x), z = 4.0f < a ? 4.0f : a;
    const float s = z * z, t = z - 0.92f;
    float near, p, q;

    near = tsr__multiply_add(fused, -0.0005990491f, s, 0.00499311f);
    near = tsr__multiply_add(fused, near, s, -0.026766568f);
    near = tsr__multiply_add(fused, near, s, 0.11281815f);
    near = tsr__multiply_add(fused, near, s, -0.37612495f);
    near = tsr__multiply_add(fused, near, s, 0.12837917f);
    near = tsr__multiply_add(fused, near, z, z);
    p = tsr__multiply_add(fused, 0.0045719569f, t, -0.054798244f);
    p = tsr__multiply_add(fused, p, t, 0.25344461f);
    p = tsr__multiply_add(fused, p, t, -0.53679386f);
    p = tsr__multiply_add(fused, p, t, 0.43958193f);
    q = tsr__multiply_add(fused, 0.021050565f, t, 0.0025111033f);
    q = tsr__multiply_add(fused, q, t, 0.24784259f);
    q = tsr__multiply_add(fused, q, t, 0.031296255f);
    q = tsr__multiply_add(fused, q, t, 1.0f);
    p /= q;
    return __builtin_copysignf(z < 0.92f ? near : 1.0f - p * p, x);
}

/* -z z - c, rounded once; without fma it is the high half of z that has an exact square. */
TSR__INLINE float tsr__minus_square_f32(bool fused, float z, float c)
{
    const float high = tsr__f32_of(tsr__bits_f32(z) & 0xfffff000u);

    return fused ? __builtin_fmaf(-z, z, -c) : (-high * high - c) - (z - high) * (z + high);
}

/* The tail of the normal distribution from z on, 0 <= z <= 15, less z times its density if it is
   for the slope. It is e^(-z z / 2) P(z) / Q(z), relative error 6e-9, and e^(-z z / 2) is
   2^n (d + r) / (d - r) with r = -z z - 2 n ln 2 and d = r coth(r / 4), a series of r r. All of it
   takes one division. 2^64 is there since n may be below -126. */
TSR__INLINE float tsr__normal_tail_f32(bool fused, bool slope, float z)
{
    const float shift = 0x1.8p23f + 64;
    const float t = tsr__multiply_add(fused, z * -0.72134752f, z, shift), n = t - shift;
    const float r = tsr__multiply_add(fused, n, 4.24388880e-4f,
                                      tsr__minus_square_f32(fused, z, n * 1.38671875f));
    const float s = r * r;
    float d, p, q;

    d = tsr__multiply_add(fused, -3.4549204e-4f, s, 8.3332919e-2f);
    d = tsr__multiply_add(fused, d, s, 4.0f);
    p = tsr__multiply_add(fused, 4.1087142e-3f, z, 4.0582130e-2f);
    p = tsr__multiply_add(fused, p, z, 1.8308367e-1f);
    p = tsr__multiply_add(fused, p, z, 4.3809066e-1f);
    p = tsr__multiply_add(fused, p, z, 0.5f);
    q = tsr__multiply_add(fused, 1.0298898e-2f * 0x1p64f, z, 1.0173083e-1f * 0x1p64f);
    q = tsr__multiply_add(fused, q, z, 4.6907074e-1f * 0x1p64f);
    q = tsr__multiply_add(fused, q, z, 1.2018743f * 0x1p64f);
    q = tsr__multiply_add(fused, q, z, 1.6740663f * 0x1p64f);
    q = tsr__multiply_add(fused, q, z, 0x1p64f);
    if (slope)
        p = tsr__multiply_add(fused, z * (-0.39894228f * 0x1p-64f), q, p);
    return tsr__f32_of(tsr__bits_f32(d + r) + (tsr__bits_f32(t) << 23)) * p / ((d - r) * q);
}

/* Clamped as an integer, which takes one step; NaN comes back by x. */
TSR__INLINE float tsr__gelu_f32(bool fused, float x)
{
    const uint32_t a = tsr__bits_f32(x) & 0x7fffffffu, most = 0x41700000u; /* 15 */
    const float tail = tsr__normal_tail_f32(fused, false, tsr__f32_of(a < most ? a : most));

    return x * (x < 0.0f ? tail : 1.0f - tail);
}

TSR__INLINE float tsr__gelu_tanh_f32(bool fused, float x)
{
    const float cubic = tsr__multiply_add(fused, 0.044715f * x * x, x, x);

    return x * tsr__sigmoid_f32(fused, 1.59576912f * cubic);
}

/* ---- slopes ---- */

/* s (1 + by (1 - s)), where s is the sigmoid of x and 1 - s keeps its digits. */
TSR__INLINE float tsr__sigmoid_slope_f32(bool fused, float x, float by)
{
    const float z = tsr__exp_f32(fused, -__builtin_fabsf(x)), d = 1.0f / (1.0f + z);

    return (x < 0.0f ? z : 1.0f) * d *
           tsr__multiply_add(fused, by, (x < 0.0f ? 1.0f : z) * d, 1.0f);
}

/* Far out, where slopes no longer change, x must not get into a product with 0. */
TSR__INLINE float tsr__silu_slope_f32(bool fused, float x)
{
    const float z = __builtin_fabsf(x), near = __builtin_copysignf(120.0f < z ? 120.0f : z, x);

    return tsr__sigmoid_slope_f32(fused, near, near);
}

/* Of n / (n + 2) it is 4 w (w + 1) / (n + 2)^2. */
TSR__INLINE float tsr__mish_slope_f32(bool fused, float x)
{
    const float above = x < -120.0f ? -120.0f : x, near = 20.0f < above ? 20.0f : above;
    const float w = tsr__exp_f32(fused, near), n = w * (w + 2.0f), d = 1.0f / (n + 2.0f);

    return d * tsr__multiply_add(fused, 4.0f * near * w, (w + 1.0f) * d, n);
}

/* That of -x is 1 less that of x. */
TSR__INLINE float tsr__gelu_slope_f32(bool fused, float x)
{
    const float z = __builtin_fabsf(x);
    const float slope = tsr__normal_tail_f32(fused, true, 15.0f < z ? 15.0f : z);

    return x < 0.0f ? slope : 1.0f - slope;
}

TSR__INLINE float tsr__gelu_tanh_slope_f32(bool fused, float x)
{
    const float z = __builtin_fabsf(x), near = __builtin_copysignf(32.0f < z ? 32.0f : z, x);
    const float square = near * near, u = 1.59576912f * near;

    return tsr__sigmoid_slope_f32(fused, u * tsr__multiply_add(fused, 0.044715f, square, 1.0f),
                                  u * tsr__multiply_add(fused, 0.134145f, square, 1.0f));
}

/* ---- in f64 ---- */

/* log of x >= 0, relative error 1e-13: 2^e m as above, log m = 2 atanh((m - 1) / (m + 1)). */
TSR__INLINE double tsr__log_f64_of_f32(bool fused, double x)
{
    const uint64_t u = tsr__bits_f64(x), from = 0x3fe6a09e667f3bcd; /* sqrt(1/2) */
    const uint64_t e = (u - from + (UINT64_C(1024) << 52)) >> 52;   /* plus 1024 */
    const double m = tsr__f64_of(u - ((e - 1024) << 52));
    const double n = tsr__f64_of(e | UINT64_C(0x4330000000000000)) - (0x1p52 + 1024);
    const double s = (m - 1.0) / (m + 1.0), q = s * s;
    double p, y;

    p = tsr__multiply_add_f64(fused, 0.19609223900677916, q, 0.2217416795305112);
    p = tsr__multiply_add_f64(fused, p, q, 0.2857216822886369);
    p = tsr__multiply_add_f64(fused, p, q, 0.39999994870233174);
    p = tsr__multiply_add_f64(fused, p, q, 0.6666666667965759);
    p = tsr__multiply_add_f64(fused, p, q, 1.9999999999999467);
    y = tsr__multiply_add_f64(fused, n, 0.69314718055994530942, p * s);
    y = x == 0.0 ? -INFINITY : y;
    return x < INFINITY ? y : x; /* NaN too */
}

/* e^t, relative error 4e-11, where that is not beyond f32. */
TSR__INLINE double tsr__exp_f64_of_f32(bool fused, double t)
{
    const double shift = 0x1.8p52;
    double k, n, r, p;

    t = t > 100.0 ? 100.0 : t;
    t = t < -120.0 ? -120.0 : t;
    k = tsr__multiply_add_f64(fused, t, 1.44269504088896340736, shift);
    n = k - shift;
    r = tsr__multiply_add_f64(fused, n, -0.69314718055994530942, t);
    p = tsr__multiply_add_f64(fused, 0.0001977516881041359, r, 0.0013948185509413836);
    p = tsr__multiply_add_f64(fused, p, r, 0.008333561107705705);
    p = tsr__multiply_add_f64(fused, p, r, 0.04166622539311379);
    p = tsr__multiply_add_f64(fused, p, r, 0.16666665125963828);
    p = tsr__multiply_add_f64(fused, p, r, 0.5000000104547679);
    p = tsr__multiply_add_f64(fused, p, r, 1.0000000002431324);
    p = tsr__multiply_add_f64(fused, p, r, 0.9999999999616764);
    return p * tsr__f64_of((tsr__bits_f64(k) - tsr__bits_f64(shift) + 1023u) << 52);
}

/* Adding 2^23 rounds to an integer; larger ones are whole anyway. */
TSR__INLINE bool tsr__is_whole_f32(float x)
{
    const float z = __builtin_fabsf(x);

    return (z + 0x1p23f) - 0x1p23f == z || z >= 0x1p23f;
}

/* x^y, where z is |x|^y. Special cases: a negative base, 1 to any power, anything to the power
   0. */
TSR__INLINE float tsr__signed_power_f32(float x, float y, float z)
{
    const float base = __builtin_fabsf(x), sign = tsr__is_whole_f32(0.5f * y) ? 1.0f : -1.0f;
    const float none = base == 0.0f ? 1.0f : NAN, root = base == INFINITY ? 1.0f : none;
    const float minus = tsr__is_whole_f32(y) ? sign : root;
    float one;

    z *= __builtin_copysignf(1.0f, x) < 0.0f ? minus : 1.0f;
    one = __builtin_fabsf(y) == INFINITY ? 1.0f : z;
    z = base == 1.0f ? (x == 1.0f ? 1.0f : one) : z;
    return y == 0.0f ? 1.0f : z;
}

TSR__INLINE float tsr__pow_f32(bool fused, float x, float y)
{
    const double t = y * tsr__log_f64_of_f32(fused, __builtin_fabsf(x));

    return tsr__signed_power_f32(x, y, (float)tsr__exp_f64_of_f32(fused, t));
}

enum { TSR_SIN_MOST = 1000000 }; /* beyond, pi / 2 is not known well enough below */

/* sin of x + quarter * pi / 2, |x| <= TSR_SIN_MOST: the rest from the nearest multiple of pi / 2,
   of which the first part has 33 bits, so that small multiples are exact. */
TSR__INLINE float tsr__sin_f32(bool fused, float a, unsigned quarter)
{
    const double shift = 0x1.8p52, x = a;
    const double k = tsr__multiply_add_f64(fused, x, 0.63661977236758134308, shift), n = k - shift;
    const double r = tsr__multiply_add_f64(fused, n, -6.07710050650619224932e-11,
                                           x - n * 1.57079632673412561417);
    const double q = r * r;
    const uint64_t turn = tsr__bits_f64(k) + quarter;
    double s, c, y;

    s = tsr__multiply_add_f64(fused, 1.0 / 362880, q, -1.0 / 5040);
    s = tsr__multiply_add_f64(fused, s, q, 1.0 / 120);
    s = tsr__multiply_add_f64(fused, s, q, -1.0 / 6);
    s = r * tsr__multiply_add_f64(fused, s, q, 1.0);
    c = tsr__multiply_add_f64(fused, -1.0 / 3628800, q, 1.0 / 40320);
    c = tsr__multiply_add_f64(fused, c, q, -1.0 / 720);
    c = tsr__multiply_add_f64(fused, c, q, 1.0 / 24);
    c = tsr__multiply_add_f64(fused, c, q, -0.5);
    c = tsr__multiply_add_f64(fused, c, q, 1.0);
    y = turn & 1 ? c : s;
    return (float)tsr__f64_of(tsr__bits_f64(y) ^ (turn & 2) << 62);
}

#endif
