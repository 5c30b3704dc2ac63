/* SPDX-License-Identifier: Apache-2.0 */
/* exp.h - e to the power of x <= 0 in f32, within 2 units in the last place, without branches or
   tables: compilers vectorise loops of it. Subnormal results, -infinity and NaN are as in expf. */
#ifndef TSR_KERNEL_EXP_H
#define TSR_KERNEL_EXP_H

#include "base/cpu.h"

#include <stdint.h>
#include <string.h>

TSR__INLINE float tsr__multiply_add(bool fused, float a, float b, float c)
{
    return fused ? __builtin_fmaf(a, b, c) : a * b + c;
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
    float p = tsr__exp_poly_f32(fused, tsr__exp_rest_f32(fused, x, n)) + 1.0f, factor;
    uint32_t bits;

    memcpy(&bits, &t, sizeof bits);
    bits <<= 23;
    memcpy(&factor, &bits, sizeof factor);
    p = p * factor * 0x1p-64f;
    memcpy(&bits, &p, sizeof bits);
    bits &= keep;
    memcpy(&p, &bits, sizeof p);
    return p;
}

#endif
