/* SPDX-License-Identifier: Apache-2.0 */
/* exp.h - e to the power of x <= 0 in f32 and f64, within 2 units in the last place, and log(1 + x)
   of 0 <= x <= 1, without branches or tables: compilers vectorise loops of them. Subnormal results,
   -infinity and NaN are as in expf and exp. */
#ifndef TSR_KERNEL_EXP_H
#define TSR_KERNEL_EXP_H

#include "base/bits.h"

TSR__INLINE float tsr__multiply_add(bool fused, float a, float b, float c)
{
    return fused ? __builtin_fmaf(a, b, c) : a * b + c;
}

TSR__INLINE double tsr__multiply_add_f64(bool fused, double a, double b, double c)
{
    return fused ? __builtin_fma(a, b, c) : a * b + c;
}

/* x = n ln 2 + r with |r| <= ln 2 / 2: the rest. The first product is exact: ten bits times n. */
TSR__INLINE float tsr__exp_rest_f32(bool fused, float x, float n)
{
    return tsr__multiply_add(fused, n, 2.12194440e-4f,
                             tsr__multiply_add(fused, n, -0.693359375f, x));
}

/* e^r - 1 by the polynomial of Cephes. */
TSR__INLINE float tsr__exp_poly_f32(bool fused, float r)
{
    float p = tsr__multiply_add(fused, 1.9875691500e-4f, r, 1.3981999507e-3f);

    p = tsr__multiply_add(fused, p, r, 8.3334519073e-3f);
    p = tsr__multiply_add(fused, p, r, 4.1665795894e-2f);
    p = tsr__multiply_add(fused, p, r, 1.6666665459e-1f);
    p = tsr__multiply_add(fused, p, r, 5.0000001201e-1f);
    return tsr__multiply_add(fused, p, r * r, r);
}

/* e^x = 2^n e^r. Adding 1.5 * 2^23 + 127 + 64 leaves in the last bits the exponent of the factor
   2^(n + 64); the result is then scaled back, since n may be below -126. Less than f32 has is set
   to 0 by a mask: from a choice compilers make a branch. `fused` is a constant: the processor has
   fma. */
TSR__INLINE float tsr__exp_f32(bool fused, float x)
{
    const float shift = 0x1.8p23f + 127 + 64;
    const uint32_t keep = (uint32_t)__builtin_isless(x, -104.0f) - 1u;
    const float t = tsr__multiply_add(fused, x, 1.44269504f, shift), n = t - shift;
    const float p = tsr__exp_poly_f32(fused, tsr__exp_rest_f32(fused, x, n)) + 1.0f;
    const float factor = tsr__f32_of(tsr__bits_f32(t) << 23);

    return tsr__f32_of(tsr__bits_f32(p * factor * 0x1p-64f) & keep);
}

TSR__INLINE double tsr__exp_rest_f64(bool fused, double x, double n)
{
    return tsr__multiply_add_f64(fused, n, -0x1.ef35793c7673p-45, /* exact: 42 bits times n */
                                 tsr__multiply_add_f64(fused, n, -0x1.62e42fefa38p-1, x));
}

/* e^r - 1, relative error 2e-17. */
TSR__INLINE double tsr__exp_poly_f64(bool fused, double r)
{
    double p = tsr__multiply_add_f64(fused, 2.5105209030726063e-08, r, 2.7620079240013075e-07);

    p = tsr__multiply_add_f64(fused, p, r, 2.7557255419156705e-06);
    p = tsr__multiply_add_f64(fused, p, r, 2.4801521314994789e-05);
    p = tsr__multiply_add_f64(fused, p, r, 0.00019841269874805898);
    p = tsr__multiply_add_f64(fused, p, r, 0.0013888888917201732);
    p = tsr__multiply_add_f64(fused, p, r, 0.0083333333333261393);
    p = tsr__multiply_add_f64(fused, p, r, 0.04166666666662415);
    p = tsr__multiply_add_f64(fused, p, r, 0.16666666666666671);
    p = tsr__multiply_add_f64(fused, p, r, 0.50000000000000011);
    return tsr__multiply_add_f64(fused, p, r * r, r);
}

/* As tsr__exp_f32. */
TSR__INLINE double tsr__exp_f64(bool fused, double x)
{
    const double shift = 0x1.8p52 + 1023 + 256;
    const uint64_t keep = (uint64_t)__builtin_isless(x, -746.0) - 1u;
    const double t = tsr__multiply_add_f64(fused, x, 0x1.71547652b82fep+0, shift), n = t - shift;
    const double p = tsr__exp_poly_f64(fused, tsr__exp_rest_f64(fused, x, n)) + 1;
    const double factor = tsr__f64_of(tsr__bits_f64(t) << 52);

    return tsr__f64_of(tsr__bits_f64(p * factor * 0x1p-256) & keep);
}

/* 2 atanh(s) with s = x / (2 + x) <= 1/3, relative error 4e-10. */
TSR__INLINE float tsr__log1p_unit_f32(bool fused, float x)
{
    const float s = x / (2.0f + x), q = s * s;
    float p = tsr__multiply_add(fused, 0.23238323f, q, 0.21703608f);

    p = tsr__multiply_add(fused, p, q, 0.28592554f);
    p = tsr__multiply_add(fused, p, q, 0.39999702f);
    p = tsr__multiply_add(fused, p, q, 0.66666667f);
    return tsr__multiply_add(fused, p * q, s, 2.0f * s);
}

/* Relative error 5e-18. */
TSR__INLINE double tsr__log1p_unit_f64(bool fused, double x)
{
    const double s = x / (2.0 + x), q = s * s;
    double p = tsr__multiply_add_f64(fused, 0.16179533065427867, q, 0.087932017471891194);

    p = tsr__multiply_add_f64(fused, p, q, 0.12002599595930914);
    p = tsr__multiply_add_f64(fused, p, q, 0.133139775864413);
    p = tsr__multiply_add_f64(fused, p, q, 0.15385580651131073);
    p = tsr__multiply_add_f64(fused, p, q, 0.181817890415407);
    p = tsr__multiply_add_f64(fused, p, q, 0.22222222725678273);
    p = tsr__multiply_add_f64(fused, p, q, 0.28571428567022483);
    p = tsr__multiply_add_f64(fused, p, q, 0.40000000000014929);
    p = tsr__multiply_add_f64(fused, p, q, 0.66666666666666663);
    return tsr__multiply_add_f64(fused, p * q, s, 2.0 * s);
}

#endif
