/* SPDX-License-Identifier: Apache-2.0 */
/* embedding_rows.c - sums, maxima and products of rows, by number type and instruction set. f16 and
   bf16 add in f32, f32 in f32 and f64. Called by the embedding kernels. */
#include "kernel/embedding_rows.h"

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

TSR__INLINE uint32_t row_bits(float x)
{
    uint32_t u;

    memcpy(&u, &x, sizeof u);
    return u;
}

/* Both as in base/half.inc.h, for compilers to vectorise. */
TSR__INLINE tsr_bf16 row_f32_to_bf16(float x)
{
    const uint32_t u = row_bits(x), rounded = (u + 0x7fff + (u >> 16 & 1)) >> 16;

    return (tsr_bf16)((u & 0x7fffffff) > 0x7f800000 ? (u >> 16 | 0x40) : rounded);
}

TSR__INLINE tsr_f16 row_f32_to_f16(float x)
{
    const uint32_t u = row_bits(x), rest = u & 0x7fffffff;
    const uint32_t normal = (rest - (112u << 23) + 0xfff + (rest >> 13 & 1)) >> 13;
    const uint32_t tiny = row_bits(fast_f32_of(rest) + 0.5f) - 0x3f000000;
    uint32_t h = rest < 0x38800000 ? tiny : normal;

    h = rest >= 0x47800000 ? 0x7c00 : h;
    h = rest > 0x7f800000 ? 0x7e00 | (rest >> 13 & 0x3ff) : h;
    return (tsr_f16)((u >> 16 & 0x8000) | h);
}

#define NAME(name, dtype) name##_##dtype##_plain
#define SET
#include "kernel/embedding_types.inc.h"

#ifdef TSR__X86
#define NAME(name, dtype) name##_##dtype##_avx2
#define SET TSR__AVX2
#include "kernel/embedding_types.inc.h"

#define NAME(name, dtype) name##_##dtype##_avx512
#define SET TSR__AVX512
#include "kernel/embedding_types.inc.h"
#endif

static const tsr_row_parts plain[TSR__DTYPES] = {
    [TSR_F32] = {sum_f32_plain, max_f32_plain, merge_f32_plain, elements_f32_plain,
                 divide_f32_plain, dot_f32_plain, weigh_f32_plain},
    [TSR_F64] = {sum_f64_plain, max_f64_plain, merge_f64_plain, elements_f64_plain,
                 divide_f64_plain, dot_f64_plain, weigh_f64_plain},
    [TSR_F16] = {sum_f16_plain, max_f16_plain, merge_f16_plain, elements_f16_plain,
                 divide_f16_plain, dot_f16_plain, weigh_f16_plain},
    [TSR_BF16] = {sum_bf16_plain, max_bf16_plain, merge_bf16_plain, elements_bf16_plain,
                  divide_bf16_plain, dot_bf16_plain, weigh_bf16_plain},
    [TSR__FIELD] = {sum_field_plain, NULL, NULL, elements_field_plain, divide_field_plain,
                    dot_field_plain, weigh_field_plain},
};

#ifdef TSR__X86
static const tsr_row_parts avx2[TSR__DTYPES] = {
    [TSR_F32] = {sum_f32_avx2, max_f32_avx2, merge_f32_avx2, elements_f32_avx2, divide_f32_avx2,
                 dot_f32_avx2, weigh_f32_avx2},
    [TSR_F64] = {sum_f64_avx2, max_f64_avx2, merge_f64_avx2, elements_f64_avx2, divide_f64_avx2,
                 dot_f64_avx2, weigh_f64_avx2},
    [TSR_F16] = {sum_f16_avx2, max_f16_avx2, merge_f16_avx2, elements_f16_avx2, divide_f16_avx2,
                 dot_f16_avx2, weigh_f16_avx2},
    [TSR_BF16] = {sum_bf16_avx2, max_bf16_avx2, merge_bf16_avx2, elements_bf16_avx2,
                  divide_bf16_avx2, dot_bf16_avx2, weigh_bf16_avx2},
    [TSR__FIELD] = {sum_field_avx2, NULL, NULL, elements_field_avx2, divide_field_avx2,
                    dot_field_avx2, weigh_field_avx2},
};

static const tsr_row_parts avx512[TSR__DTYPES] = {
    [TSR_F32] = {sum_f32_avx512, max_f32_avx512, merge_f32_avx512, elements_f32_avx512,
                 divide_f32_avx512, dot_f32_avx512, weigh_f32_avx512},
    [TSR_F64] = {sum_f64_avx512, max_f64_avx512, merge_f64_avx512, elements_f64_avx512,
                 divide_f64_avx512, dot_f64_avx512, weigh_f64_avx512},
    [TSR_F16] = {sum_f16_avx512, max_f16_avx512, merge_f16_avx512, elements_f16_avx512,
                 divide_f16_avx512, dot_f16_avx512, weigh_f16_avx512},
    [TSR_BF16] = {sum_bf16_avx512, max_bf16_avx512, merge_bf16_avx512, elements_bf16_avx512,
                  divide_bf16_avx512, dot_bf16_avx512, weigh_bf16_avx512},
    [TSR__FIELD] = {sum_field_avx512, NULL, NULL, elements_field_avx512, divide_field_avx512,
                    dot_field_avx512, weigh_field_avx512},
};
#endif

const tsr_row_parts *tsr__row_parts(tsr_dtype dtype, tsr_kernel_variant variant)
{
    /* all ops with arithmetic on rows have the same */
    const tsr_kernel_variant best =
        tsr__variant_best(TSR_CATEGORY_EMBEDDING, TSR_EMBEDDING_BAG_SUM, dtype, variant);

#ifdef TSR__X86
    if (best == TSR_VARIANT_AVX512)
        return &avx512[dtype];
    if (best == TSR_VARIANT_AVX2)
        return &avx2[dtype];
#endif
    (void)best;
    return &plain[dtype];
}
