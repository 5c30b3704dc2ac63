/* SPDX-License-Identifier: Apache-2.0 */
/* bits.h - floats as the integers that have their bits, and back: without aliasing, in loops that
   compilers vectorise. */
#ifndef TSR_BASE_BITS_H
#define TSR_BASE_BITS_H

#include <stdint.h>
#include <string.h>

#include "base/cpu.h"

TSR__INLINE uint32_t tsr__bits_f32(float x)
{
    uint32_t u;

    memcpy(&u, &x, sizeof u);
    return u;
}

TSR__INLINE float tsr__f32_of(uint32_t u)
{
    float x;

    memcpy(&x, &u, sizeof x);
    return x;
}

TSR__INLINE uint64_t tsr__bits_f64(double x)
{
    uint64_t u;

    memcpy(&u, &x, sizeof u);
    return u;
}

TSR__INLINE double tsr__f64_of(uint64_t u)
{
    double x;

    memcpy(&x, &u, sizeof x);
    return x;
}

#endif
