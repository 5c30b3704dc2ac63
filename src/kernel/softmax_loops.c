/* SPDX-License-Identifier: Apache-2.0 */
/* softmax_loops.c - the loops of softmax_loops.h for all types and instruction sets. Called by the
   kernels of softmax, losses, log-sum-exp and attention in ops/. */
#include "kernel/softmax_loops.h"

#include "kernel/exp.h"
#include "kernel/exp_vector.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    BLOCK = 512, /* terms of a sum that are added in f64 */
    WIDTH = 1024
};

#define STEP (MANY * LANES)
#define LARGER_OF(a, b) (__builtin_isgreater(a, b) ? (a) : (b))

#ifdef TSR__X86
TSR__AVX2_FMA TSR__INLINE double largest_avx2(__m256 v)
{
    __m128 most = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));

    most = _mm_max_ps(most, _mm_movehl_ps(most, most));
    return (double)_mm_cvtss_f32(_mm_max_ss(most, _mm_movehdup_ps(most)));
}

TSR__AVX2_FMA TSR__INLINE double total_avx2(__m256 v)
{
    const __m256d wide =
        _mm256_cvtps_pd(_mm256_castps256_ps128(v)) + _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1));
    const __m128d half = _mm256_castpd256_pd128(wide) + _mm256_extractf128_pd(wide, 1);

    return _mm_cvtsd_f64(_mm_hadd_pd(half, half));
}
#endif

#ifdef TSR__X86_512
TSR__AVX512 TSR__INLINE double total_avx512(__m512 v)
{
    return _mm512_reduce_add_pd(_mm512_cvtps_pd(_mm512_castps512_ps256(v)) +
                                _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1)));
}
#endif

#define TABLE softmax_kernels
#define BODY "kernel/softmax_loops.inc.h"
#define DTYPES TSR__REALS
#define AVX2 TSR__AVX2_FMA
#define AVX512 TSR__AVX512
#include "base/kernel_table.inc.h"

const tsr_softmax_loops *tsr__softmax_loops(tsr_dtype dtype, tsr_kernel_variant variant)
{
    return tsr__kernel_for(&softmax_kernels, dtype, variant);
}
