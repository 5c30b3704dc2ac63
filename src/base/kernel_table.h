/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_table.h - the kernels of one file by dtype and instruction set: kernel_table.inc.h makes
   the table from a body that is written once, tsr__kernel_for chooses from it. */
#ifndef TSR_BASE_KERNEL_TABLE_H
#define TSR_BASE_KERNEL_TABLE_H

#include "base/bits.h"
#include "base/cpu.h"
#include "base/dtype.h"
#include "tessera_ext.h"

#include <math.h>
#include <string.h>

#ifdef __clang__ /* it says which loops stay scalar: of the field, of libm, sanitized ones */
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* What a table has besides f32 and f64. Without HALVES the kernels of f16 and bf16 are those of
   f32, for elements that were widened before; without BOOLEANS those of bool are those of u8. */
#define TSR__HALVES 1
#define TSR__VECTOR_INTEGERS 2
#define TSR__INTEGERS (TSR__VECTOR_INTEGERS | TSR__PLAIN_INTEGERS)
#define TSR__BOOLEANS 4
#define TSR__PRIME 8
#define TSR__PLAIN_INTEGERS 16 /* once, in plain C, in the tables of all instruction sets */
#define TSR__REALS 0

/* The dtype of a table that has one entry. */
#define TSR__UNTYPED TSR_F32

/* Entries by dtype, each a struct of functions; NULL: none for this dtype, or instruction set. */
typedef struct tsr_kernel_table {
    const void *const *plain, *const *avx2, *const *avx512;
} tsr_kernel_table;

/* The entry for a variant that this processor has, or AUTO for the best; the next lower if the
   table lacks it. */
static inline const void *tsr__kernel_for(const tsr_kernel_table *table, tsr_dtype dtype,
                                          tsr_kernel_variant variant)
{
    const bool best = variant == TSR_VARIANT_AUTO;

    if (table->avx512 && (best ? tsr__cpu_avx512() : variant == TSR_VARIANT_AVX512))
        return table->avx512[dtype];
    if (table->avx2 && (best ? tsr__cpu_avx2() : variant >= TSR_VARIANT_AVX2))
        return table->avx2[dtype];
    return table->plain[dtype];
}

/* ---- what kernel_types.inc.h computes with, written so that compilers vectorise it ---- */

/* Without a comparison of unsigned 64-bit numbers, which SSE2 and AVX2 lack: 2^61 is 1, and the sum
   p itself becomes 0 by the second step. */
static inline uint64_t fast_field_add(uint64_t a, uint64_t b)
{
    uint64_t sum = a + b + 1;

    return (sum & TSR__FIELD_P) + (sum >> 61) - 1;
}

static inline float fast_bf16_to_f32(tsr_bf16 x)
{
    return tsr__f32_of((uint32_t)x << 16);
}

/* These as in base/half.inc.h. */
static inline tsr_bf16 fast_f32_to_bf16(float x)
{
    const uint32_t u = tsr__bits_f32(x), rounded = (u + 0x7fff + (u >> 16 & 1)) >> 16;

    return (tsr_bf16)((u & 0x7fffffff) > 0x7f800000 ? (u >> 16 | 0x40) : rounded);
}

static inline tsr_f16 fast_f32_to_f16(float x)
{
    const uint32_t u = tsr__bits_f32(x), rest = u & 0x7fffffff;
    const uint32_t normal = (rest - (112u << 23) + 0xfff + (rest >> 13 & 1)) >> 13;
    const uint32_t tiny = tsr__bits_f32(tsr__f32_of(rest) + 0.5f) - 0x3f000000;
    uint32_t h = rest < 0x38800000 ? tiny : normal;

    h = rest >= 0x47800000 ? 0x7c00 : h;
    h = rest > 0x7f800000 ? 0x7e00 | (rest >> 13 & 0x3ff) : h;
    return (tsr_f16)((u >> 16 & 0x8000) | h);
}

/* A signalling NaN stays one here, and is quiet after any arithmetic. */
static inline float fast_f16_to_f32(tsr_f16 x)
{
    uint32_t rest = x & 0x7fffu, finite, sign = (x & 0x8000u) << 16;
    float product = tsr__f32_of(rest << 13) * 0x1p112f;

    memcpy(&finite, &product, sizeof finite);
    return tsr__f32_of(sign | (rest < 0x7c00 ? finite : 0x7f800000 | rest << 13));
}

#endif
