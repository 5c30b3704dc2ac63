/* SPDX-License-Identifier: Apache-2.0 */
/* fold_half.c - reduction of f16 and bf16 with AVX2, 16 elements at a time: widened, accumulated in
   f32 registers and rounded once. Same bits as reduce_ref.c. Called by fold.c, which does the rest
   and everything on other processors. */
#include "base/fold.h"

#include "base/cpu.h"

#ifdef TSR__X86
#include <immintrin.h>

#define INLINE_AVX2 TSR__INLINE TSR__AVX2

/* 16 elements as two vectors of f32. Of f16: the first and the last eight. Of bf16: those at even
   and those at odd places, since that takes a shift and a mask instead of shuffles. */
typedef struct pair {
    __m256 a, b;
} pair;

INLINE_AVX2 pair load16(tsr_dtype dtype, const uint16_t *src)
{
    if (dtype == TSR_F16)
        return (pair){_mm256_cvtph_ps(_mm_loadu_si128((const void *)src)),
                      _mm256_cvtph_ps(_mm_loadu_si128((const void *)(src + 8)))};
    __m256i x = _mm256_loadu_si256((const void *)src);
    __m256i odd = _mm256_and_si256(x, _mm256_set1_epi32((int)0xffff0000));

    return (pair){_mm256_castsi256_ps(_mm256_slli_epi32(x, 16)), _mm256_castsi256_ps(odd)};
}

/* The upper 16 bits are the bf16, to nearest even; a NaN stays one. See tsr__f32_to_bf16. */
INLINE_AVX2 __m256i round_bf16(__m256 x)
{
    __m256i u = _mm256_castps_si256(x);
    __m256i odd = _mm256_and_si256(_mm256_srli_epi32(u, 16), _mm256_set1_epi32(1));
    __m256i up = _mm256_add_epi32(_mm256_add_epi32(u, _mm256_set1_epi32(0x7fff)), odd);
    __m256i quiet = _mm256_or_si256(u, _mm256_set1_epi32(0x400000));
    __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));

    return _mm256_blendv_epi8(up, quiet, nan);
}

INLINE_AVX2 void store16(tsr_dtype dtype, uint16_t *dst, pair x)
{
    if (dtype == TSR_F16) {
        _mm_storeu_si128((void *)dst, _mm256_cvtps_ph(x.a, 0));
        _mm_storeu_si128((void *)(dst + 8), _mm256_cvtps_ph(x.b, 0));
        return;
    }
    __m256i even = _mm256_srli_epi32(round_bf16(x.a), 16);

    _mm256_storeu_si256((void *)dst, _mm256_blend_epi16(even, round_bf16(x.b), 0xaa));
}

INLINE_AVX2 __m256 combine8(tsr_reduce op, __m256 a, __m256 b)
{
    __m256 less, nan;

    switch (op) {
    case TSR_MIN:
    case TSR_MAX:
        less = op == TSR_MIN ? _mm256_cmp_ps(b, a, _CMP_LT_OQ) : _mm256_cmp_ps(a, b, _CMP_LT_OQ);
        nan = _mm256_cmp_ps(b, b, _CMP_UNORD_Q);
        return _mm256_blendv_ps(a, b, _mm256_or_ps(less, nan));
    case TSR_PROD: return _mm256_mul_ps(a, b);
    default: return _mm256_add_ps(a, b);
    }
}

INLINE_AVX2 int64_t fold_op(tsr_dtype dtype, tsr_reduce op, int64_t divisor, int n_src,
                            const void *const *src, int64_t n, uint16_t *dst)
{
    const __m256 by = _mm256_set1_ps((float)divisor);
    int64_t i = 0;

    for (; i + 16 <= n; i += 16) {
        pair acc = load16(dtype, (const uint16_t *)src[0] + i);

        for (int k = 1; k < n_src; k++) {
            pair x = load16(dtype, (const uint16_t *)src[k] + i);

            acc.a = combine8(op, acc.a, x.a);
            acc.b = combine8(op, acc.b, x.b);
        }
        if (divisor != 1)
            acc = (pair){_mm256_div_ps(acc.a, by), _mm256_div_ps(acc.b, by)};
        store16(dtype, dst + i, acc);
    }
    return i;
}

INLINE_AVX2 int64_t fold_dtype(tsr_dtype dtype, tsr_reduce op, int64_t divisor, int n_src,
                               const void *const *src, int64_t n, uint16_t *dst)
{
    switch (op) {
    case TSR_MIN: return fold_op(dtype, TSR_MIN, divisor, n_src, src, n, dst);
    case TSR_MAX: return fold_op(dtype, TSR_MAX, divisor, n_src, src, n, dst);
    case TSR_PROD: return fold_op(dtype, TSR_PROD, divisor, n_src, src, n, dst);
    default: return fold_op(dtype, TSR_SUM, divisor, n_src, src, n, dst);
    }
}

TSR__AVX2 static int64_t fold_avx2(tsr_dtype dtype, tsr_reduce op, int64_t divisor, int n_src,
                                   const void *const *src, int64_t n, uint16_t *dst)
{
    if (dtype == TSR_F16)
        return fold_dtype(TSR_F16, op, divisor, n_src, src, n, dst);
    return fold_dtype(TSR_BF16, op, divisor, n_src, src, n, dst);
}
#endif

int64_t tsr__fold_half(tsr_dtype dtype, tsr_reduce op, int64_t divisor, int n_src,
                       const void *const *src, int64_t n, void *dst)
{
#ifdef TSR__X86
    if (tsr__cpu_avx2())
        return fold_avx2(dtype, op, divisor, n_src, src, n, dst);
#else
    (void)dtype, (void)op, (void)divisor, (void)n_src, (void)src, (void)n, (void)dst;
#endif
    return 0;
}
