/* SPDX-License-Identifier: Apache-2.0 */
/* exp_vector.h - as exp.h, e to the power of x <= 0, for vectors that have a table in a register:
   x = n ln 2 + r, where n is a multiple of 1/16 or 1/8, so that few terms are enough for e^r and
   the fraction of n picks its power of 2. Takes half of the time. */
#ifndef TSR_KERNEL_EXP_VECTOR_H
#define TSR_KERNEL_EXP_VECTOR_H

#include "base/cpu.h"

#ifdef TSR__X86
#include <immintrin.h>
#include <stdint.h>

/* 2^(k / 16). Adding 1.5 * 2^19 leaves n in the last bits, k in the lowest four. */
TSR__AVX512 TSR__INLINE __m512 tsr__exp_f32_avx512(__m512 x)
{
    const __m512 table = _mm512_setr_ps(
        0x1p+0f, 0x1.0b5586p+0f, 0x1.172b84p+0f, 0x1.2387a6p+0f, 0x1.306fep+0f, 0x1.3dea64p+0f,
        0x1.4bfdaep+0f, 0x1.5ab07ep+0f, 0x1.6a09e6p+0f, 0x1.7a1148p+0f, 0x1.8ace54p+0f,
        0x1.9c4918p+0f, 0x1.ae89fap+0f, 0x1.c199bep+0f, 0x1.d5818ep+0f, 0x1.ea4afap+0f);
    const __m512 shift = _mm512_set1_ps(0x1.8p19f);
    const __m512 most = _mm512_max_ps(_mm512_set1_ps(-120.0f), x); /* a NaN stays one */
    const __m512 t = _mm512_fmadd_ps(most, _mm512_set1_ps(1.44269504f), shift);
    const __m512 n = _mm512_sub_ps(t, shift);
    const __m512 rest = _mm512_fnmadd_ps(n, _mm512_set1_ps(0.693359375f), most);
    const __m512 r = _mm512_fmadd_ps(n, _mm512_set1_ps(2.12194440e-4f), rest);
    const __m512 power = _mm512_permutexvar_ps(_mm512_castps_si512(t), table);
    __m512 p = _mm512_fmadd_ps(_mm512_set1_ps(0.1666696f), r, _mm512_set1_ps(0.5000147f));

    p = _mm512_mul_ps(_mm512_fmadd_ps(p, r, _mm512_set1_ps(1)), r);
    return _mm512_scalef_ps(_mm512_fmadd_ps(power, p, power), n); /* by 2^floor(n) */
}

/* 2^(k / 8). */
TSR__AVX512 TSR__INLINE __m512d tsr__exp_f64_avx512(__m512d x)
{
    const __m512d table = _mm512_setr_pd(
        0x1p+0, 0x1.172b83c7d517bp+0, 0x1.306fe0a31b715p+0, 0x1.4bfdad5362a27p+0,
        0x1.6a09e667f3bcdp+0, 0x1.8ace5422aa0dbp+0, 0x1.ae89f995ad3adp+0, 0x1.d5818dcfba487p+0);
    const __m512d shift = _mm512_set1_pd(0x1.8p49);
    const __m512d most = _mm512_max_pd(_mm512_set1_pd(-800), x);
    const __m512d t = _mm512_fmadd_pd(most, _mm512_set1_pd(0x1.71547652b82fep+0), shift);
    const __m512d n = _mm512_sub_pd(t, shift);
    const __m512d rest = _mm512_fnmadd_pd(n, _mm512_set1_pd(0x1.62e42fefa38p-1), most);
    const __m512d r = _mm512_fnmadd_pd(n, _mm512_set1_pd(0x1.ef35793c7673p-45), rest);
    const __m512d power = _mm512_permutexvar_pd(_mm512_castpd_si512(t), table);
    __m512d p = _mm512_fmadd_pd(_mm512_set1_pd(0.000198421749384977906), r,
                                _mm512_set1_pd(0.00138897034802546517));

    p = _mm512_fmadd_pd(p, r, _mm512_set1_pd(0.00833333332483998425));
    p = _mm512_fmadd_pd(p, r, _mm512_set1_pd(0.0416666665902260539));
    p = _mm512_fmadd_pd(p, r, _mm512_set1_pd(0.166666666666668659));
    p = _mm512_fmadd_pd(p, r, _mm512_set1_pd(0.500000000000017933));
    p = _mm512_mul_pd(_mm512_fmadd_pd(p, r, _mm512_set1_pd(1)), r);
    return _mm512_scalef_pd(_mm512_fmadd_pd(power, p, power), n);
}

/* 2^(k / 8), from whose bits k * 2^20 is taken away: those of t bring it again, and n, and 64,
   which is taken away at the end, since n may be below -126. */
TSR__AVX2_FMA TSR__INLINE __m256 tsr__exp_f32_avx2(__m256 x)
{
    const __m256i table = _mm256_setr_epi32(0x3f800000, 0x3f7b95c2, 0x3f7837f0, 0x3f75fed7,
                                            0x3f7504f3, 0x3f75672a, 0x3f7744fd, 0x3f7ac0c7);
    const __m256 shift = _mm256_set1_ps(0x1.8p20f + 64);
    const __m256 most = _mm256_max_ps(_mm256_set1_ps(-104), x);
    const __m256 t = _mm256_fmadd_ps(most, _mm256_set1_ps(1.44269504f), shift);
    const __m256 n = _mm256_sub_ps(t, shift);
    const __m256 rest = _mm256_fnmadd_ps(n, _mm256_set1_ps(0.693359375f), most);
    const __m256 r = _mm256_fmadd_ps(n, _mm256_set1_ps(2.12194440e-4f), rest);
    const __m256i bits = _mm256_castps_si256(t);
    const __m256 power = _mm256_castsi256_ps(
        _mm256_add_epi32(_mm256_slli_epi32(bits, 20), _mm256_permutevar8x32_epi32(table, bits)));
    __m256 p = _mm256_fmadd_ps(_mm256_set1_ps(0.1666784f), r, _mm256_set1_ps(0.50005865f));

    p = _mm256_mul_ps(_mm256_fmadd_ps(p, r, _mm256_set1_ps(1)), r);
    return _mm256_mul_ps(_mm256_fmadd_ps(power, p, power), _mm256_set1_ps(0x1p-64f));
}
#endif

#endif
