/* SPDX-License-Identifier: Apache-2.0 */
/* embedding_rows.c - sums, maxima and products of rows, by number type and instruction set. f16 and
   bf16 add in f32, f32 in f32 and f64. Called by the embedding kernels. */
#include "ops/embedding/embedding_rows.h"

#include "kernel/fast_types.h"

#ifdef __clang__ /* a product and a sum joined would round differently than elsewhere */
#pragma STDC FP_CONTRACT OFF
#endif

enum {
    TILE = 256,     /* bytes of accumulators that fit the registers */
    SHORT_RUN = 8,  /* terms that are added one by one, if their sums are then added in a wider */
    LONG_RUN = 256, /* type; and if not */
    WHOLE = 256 << 10
};

/* With the first columns whole rows are fetched, unless there are so many terms that the rest would
   be gone from the cache when its turn comes. */
TSR__INLINE size_t bytes_to_fetch(const tsr_row_terms *t, int64_t column, int64_t width,
                                  size_t size)
{
    const size_t row = (size_t)t->dim * size;

    if ((size_t)t->n * row > WHOLE)
        return (size_t)width * size;
    return column == 0 ? row : 0;
}

/* Divisions of 32 bits are several times as fast. */
TSR__INLINE uint64_t remainder_of(int64_t element, int64_t dim)
{
    const uint64_t e = (uint64_t)element, d = (uint64_t)dim;

    return (e | d) >> 32 ? e % d : (uint32_t)e % (uint32_t)d;
}

/* Both as in base/half.inc.h, for compilers to vectorise. */
TSR__INLINE tsr_bf16 row_f32_to_bf16(float x)
{
    const uint32_t u = tsr__bits_f32(x), rounded = (u + 0x7fff + (u >> 16 & 1)) >> 16;

    return (tsr_bf16)((u & 0x7fffffff) > 0x7f800000 ? (u >> 16 | 0x40) : rounded);
}

TSR__INLINE tsr_f16 row_f32_to_f16(float x)
{
    const uint32_t u = tsr__bits_f32(x), rest = u & 0x7fffffff;
    const uint32_t normal = (rest - (112u << 23) + 0xfff + (rest >> 13 & 1)) >> 13;
    const uint32_t tiny = tsr__bits_f32(tsr__f32_of(rest) + 0.5f) - 0x3f000000;
    uint32_t h = rest < 0x38800000 ? tiny : normal;

    h = rest >= 0x47800000 ? 0x7c00 : h;
    h = rest > 0x7f800000 ? 0x7e00 | (rest >> 13 & 0x3ff) : h;
    return (tsr_f16)((u >> 16 & 0x8000) | h);
}

#define NAME(name, dtype) name##_##dtype##_plain
#define SET
#include "ops/embedding/embedding_types.inc.h"

#ifdef TSR__X86
#define NAME(name, dtype) name##_##dtype##_avx2
#define SET TSR__AVX2
#include "ops/embedding/embedding_types.inc.h"

#define NAME(name, dtype) name##_##dtype##_avx512
#define SET TSR__AVX512
#include "ops/embedding/embedding_types.inc.h"
#endif

const tsr_row_parts *tsr__row_parts(tsr_dtype dtype, tsr_kernel_variant variant)
{
    /* all ops with arithmetic on rows have the same */
    const tsr_kernel_variant best =
        tsr__variant_best(TSR_CATEGORY_EMBEDDING, TSR_EMBEDDING_BAG_SUM, dtype, variant);

#ifdef TSR__X86
    if (best == TSR_VARIANT_AVX512)
        return parts_all_avx512[dtype];
    if (best == TSR_VARIANT_AVX2)
        return parts_all_avx2[dtype];
#endif
    (void)best;
    return parts_all_plain[dtype];
}
