/* SPDX-License-Identifier: Apache-2.0 */
/* half.c - arrays of 16-bit floats to and from f32, by the best instructions the processor has. */
#include "base/half.h"

#include "base/bits.h"

#include <string.h>
#ifdef TSR__X86
#include <immintrin.h>
#endif

#define FN(name) name##_plain
#define ISA
#include "base/half.inc.h"

#ifdef TSR__X86
#define FN(name) name##_avx2
#define ISA TSR__AVX2
#include "base/half.inc.h"

TSR__AVX2 static void widen_f16_f16c(const tsr_f16 *src, int64_t n, float *dst)
{
    int64_t i = 0;

    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(dst + i, _mm256_cvtph_ps(_mm_loadu_si128((const void *)(src + i))));
    widen_f16_avx2(src + i, n - i, dst + i);
}

TSR__AVX2 static void narrow_f16_f16c(const float *src, int64_t n, tsr_f16 *dst)
{
    int64_t i = 0;

    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128((void *)(dst + i), _mm256_cvtps_ph(_mm256_loadu_ps(src + i), 0));
    narrow_f16_avx2(src + i, n - i, dst + i);
}

TSR__AVX2 static void widen_bf16_shifted(const tsr_bf16 *src, int64_t n, float *dst)
{
    int64_t i = 0;

    for (; i + 8 <= n; i += 8) {
        __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)(src + i)));

        _mm256_storeu_ps(dst + i, _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16)));
    }
    widen_bf16_avx2(src + i, n - i, dst + i);
}

/* The upper 16 bits, to nearest even; a NaN stays one and is made quiet. */
TSR__INLINE TSR__AVX2 __m256i upper_bf16(__m256 x)
{
    const __m256i u = _mm256_castps_si256(x), quiet = _mm256_set1_epi32(0x400000);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(u, 16), _mm256_set1_epi32(1));
    const __m256i up = _mm256_add_epi32(_mm256_add_epi32(u, _mm256_set1_epi32(0x7fff)), odd);
    const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));

    return _mm256_srli_epi32(_mm256_blendv_epi8(up, _mm256_or_si256(u, quiet), nan), 16);
}

/* Packing takes turns between the halves of two vectors. */
TSR__AVX2 static void narrow_bf16_packed(const float *src, int64_t n, tsr_bf16 *dst)
{
    int64_t i = 0;

    for (; i + 16 <= n; i += 16) {
        __m256i a = upper_bf16(_mm256_loadu_ps(src + i)),
                b = upper_bf16(_mm256_loadu_ps(src + i + 8));
        __m256i both = _mm256_permute4x64_epi64(_mm256_packus_epi32(a, b), 0xd8);

        _mm256_storeu_si256((void *)(dst + i), both);
    }
    narrow_bf16_avx2(src + i, n - i, dst + i);
}
#endif

void tsr__half_widen(tsr_dtype dtype, const void *src, int64_t n, float *dst)
{
#ifdef TSR__X86
    if (tsr__cpu_avx2()) {
        if (dtype == TSR_F16)
            widen_f16_f16c(src, n, dst);
        else
            widen_bf16_shifted(src, n, dst);
        return;
    }
#endif
    if (dtype == TSR_F16)
        widen_f16_plain(src, n, dst);
    else
        widen_bf16_plain(src, n, dst);
}

void tsr__half_narrow(tsr_dtype dtype, const float *src, int64_t n, void *dst)
{
#ifdef TSR__X86
    if (tsr__cpu_avx2()) {
        if (dtype == TSR_F16)
            narrow_f16_f16c(src, n, dst);
        else
            narrow_bf16_packed(src, n, dst);
        return;
    }
#endif
    if (dtype == TSR_F16)
        narrow_f16_plain(src, n, dst);
    else
        narrow_bf16_plain(src, n, dst);
}
