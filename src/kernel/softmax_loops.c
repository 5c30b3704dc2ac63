/* SPDX-License-Identifier: Apache-2.0 */
/* softmax_loops.c - the loops of softmax_loops.h for all types and instruction sets. Called by
   softmax_rows.c, class_loss.c and log_sum.c of this folder. */
#include "kernel/softmax_loops.h"

#include "kernel/exp.h"
#include "kernel/exp_vector.h"

#include <float.h>
#include <math.h>
#include <string.h>

#ifdef __clang__ /* with a sanitizer's checks in them loops are not vectorised, and it says so */
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

enum {
    BLOCK = 512, /* terms of a sum that are added in f64 */
    WIDTH = 1024
};

#define STEP (MANY * LANES)
#define LARGER_OF(a, b) (__builtin_isgreater(a, b) ? (a) : (b))

#define T float
#define V float
#define LANES 1
#define MANY 32
#define SPLAT(x) (x)
#define LARGER LARGER_OF
#define LARGEST (double)
#define TOTAL (double)
#define EXP(x) tsr__exp_f32(false, x)
#define SET
#define FN(name) name##_f32_plain
#include "kernel/softmax_loops.inc.h"

#define T double
#define V double
#define LANES 1
#define MANY 32
#define SPLAT(x) (x)
#define LARGER LARGER_OF
#define LARGEST (double)
#define TOTAL (double)
#define EXP(x) tsr__exp_f64(false, x)
#define SET
#define FN(name) name##_f64_plain
#include "kernel/softmax_loops.inc.h"

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

TSR__AVX512 TSR__INLINE double total_avx512(__m512 v)
{
    return _mm512_reduce_add_pd(_mm512_cvtps_pd(_mm512_castps512_ps256(v)) +
                                _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1)));
}

#define T float
#define V __m256
#define LANES 8
#define MANY 4
#define SPLAT(x) _mm256_set1_ps(x)
#define LARGER _mm256_max_ps
#define LARGEST largest_avx2
#define TOTAL total_avx2
#define EXP tsr__exp_f32_avx2
#define SET TSR__AVX2_FMA
#define FN(name) name##_f32_avx2
#include "kernel/softmax_loops.inc.h"

#define T double /* of which no table fits a register */
#define V double
#define LANES 1
#define MANY 32
#define SPLAT(x) (x)
#define LARGER LARGER_OF
#define LARGEST (double)
#define TOTAL (double)
#define EXP(x) tsr__exp_f64(true, x)
#define SET TSR__AVX2_FMA
#define FN(name) name##_f64_avx2
#include "kernel/softmax_loops.inc.h"

#define T float
#define V __m512
#define LANES 16
#define MANY 2
#define SPLAT(x) _mm512_set1_ps(x)
#define LARGER _mm512_max_ps
#define LARGEST (double)_mm512_reduce_max_ps
#define TOTAL total_avx512
#define EXP tsr__exp_f32_avx512
#define SET TSR__AVX512
#define FN(name) name##_f32_avx512
#include "kernel/softmax_loops.inc.h"

#define T double
#define V __m512d
#define LANES 8
#define MANY 2
#define SPLAT(x) _mm512_set1_pd(x)
#define LARGER _mm512_max_pd
#define LARGEST _mm512_reduce_max_pd
#define TOTAL _mm512_reduce_add_pd
#define EXP tsr__exp_f64_avx512
#define SET TSR__AVX512
#define FN(name) name##_f64_avx512
#include "kernel/softmax_loops.inc.h"
#endif

const tsr_softmax_loops *tsr__softmax_loops(tsr_dtype dtype, tsr_kernel_variant variant)
{
    const bool wide = dtype == TSR_F64;

#ifdef TSR__X86
    if (variant == TSR_VARIANT_AVX512)
        return wide ? &parts_f64_avx512 : &parts_f32_avx512;
    if (variant == TSR_VARIANT_AVX2)
        return wide ? &parts_f64_avx2 : &parts_f32_avx2;
#endif
    (void)variant;
    return wide ? &parts_f64_plain : &parts_f32_plain;
}
