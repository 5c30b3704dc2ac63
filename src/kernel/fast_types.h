/* SPDX-License-Identifier: Apache-2.0 */
/* fast_types.h - what fast_types.inc.h computes with, written so that compilers vectorise it. */
#ifndef TSR_KERNEL_FAST_TYPES_H
#define TSR_KERNEL_FAST_TYPES_H

#include "base/bits.h"
#include "base/dtype.h"

#include <math.h>
#include <string.h>

#ifdef __clang__ /* the products of the field stay scalar, whatever the bodies ask for */
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* As in base/fold.c: 2^61 is 1, and the sum p itself becomes 0 by the second step. */
static inline uint64_t fast_field_add(uint64_t a, uint64_t b)
{
    uint64_t sum = a + b + 1;

    return (sum & TSR__FIELD_P) + (sum >> 61) - 1;
}

static inline float fast_bf16_to_f32(tsr_bf16 x)
{
    return tsr__f32_of((uint32_t)x << 16);
}

/* As in base/half.inc.h. A signalling NaN stays one here, and is quiet after any arithmetic. */
static inline float fast_f16_to_f32(tsr_f16 x)
{
    uint32_t rest = x & 0x7fffu, finite, sign = (x & 0x8000u) << 16;
    float product = tsr__f32_of(rest << 13) * 0x1p112f;

    memcpy(&finite, &product, sizeof finite);
    return tsr__f32_of(sign | (rest < 0x7c00 ? finite : 0x7f800000 | rest << 13));
}

#endif
