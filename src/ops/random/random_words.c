/* SPDX-License-Identifier: Apache-2.0 */
/* random_words.c - many blocks of Philox at once. Called by random.c. */
#include "ops/random/random.h"

#include "base/cpu.h"

#ifdef TSR__X86
#include <immintrin.h>

enum { LANES = 4, SIDE = 3, SIDE_512 = 4 }; /* blocks in a vector, vectors side by side */

static void keys(const tsr_stream *s, uint64_t *k0, uint64_t *k1)
{
    for (uint32_t r = 0; r < TSR__PHILOX_ROUNDS; r++) {
        k0[r] = (uint32_t)s->seed + r * TSR__PHILOX_W0;
        k1[r] = (uint32_t)(s->seed >> 32) + r * TSR__PHILOX_W1;
    }
}

/* Four blocks, one in each lane of 64 bits, of which only the low half counts: products look at
   nothing else, so what is left in the high halves does not matter. */
typedef struct four {
    __m256i c0, c1, c2, c3;
} four;

/* Of n vectors side by side: the products of one wait for each other. */
TSR__AVX2 TSR__INLINE void rounds(four *x, int n, const uint64_t *k0, const uint64_t *k1)
{
    const __m256i m0 = _mm256_set1_epi64x(TSR__PHILOX_M0), m1 = _mm256_set1_epi64x(TSR__PHILOX_M1);

    for (int i = 0; i < TSR__PHILOX_ROUNDS; i++)
        for (int k = 0; k < n; k++) {
            const __m256i p0 = _mm256_mul_epu32(m0, x[k].c0), p1 = _mm256_mul_epu32(m1, x[k].c2);

            x[k].c0 = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p1, 32), x[k].c1),
                                       _mm256_set1_epi64x((int64_t)k0[i]));
            x[k].c2 = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p0, 32), x[k].c3),
                                       _mm256_set1_epi64x((int64_t)k1[i]));
            x[k].c1 = p1;
            x[k].c3 = p0;
        }
}

TSR__AVX2 TSR__INLINE four four_from(const tsr_stream *s, uint64_t block)
{
    const __m256i number =
        _mm256_add_epi64(_mm256_set1_epi64x((int64_t)block), _mm256_set_epi64x(3, 2, 1, 0));

    return (four){number, _mm256_srli_epi64(number, 32), _mm256_set1_epi64x((int64_t)s->offset),
                  _mm256_set1_epi64x((int64_t)(s->offset >> 32))};
}

/* Words of a block stand side by side. */
TSR__AVX2 TSR__INLINE void store(const four *x, uint32_t *out)
{
    const __m256i ab = _mm256_blend_epi32(x->c0, _mm256_slli_epi64(x->c1, 32), 0xaa);
    const __m256i cd = _mm256_blend_epi32(x->c2, _mm256_slli_epi64(x->c3, 32), 0xaa);
    const __m256i even = _mm256_unpacklo_epi64(ab, cd), odd = _mm256_unpackhi_epi64(ab, cd);

    _mm256_storeu_si256((__m256i *)(void *)out, _mm256_permute2x128_si256(even, odd, 0x20));
    _mm256_storeu_si256((__m256i *)(void *)(out + 8), _mm256_permute2x128_si256(even, odd, 0x31));
}

TSR__AVX2 TSR__INLINE void some(const tsr_stream *s, uint64_t block, int n, const uint64_t *k0,
                                const uint64_t *k1, uint32_t *out)
{
    four x[SIDE];

    for (int k = 0; k < n; k++)
        x[k] = four_from(s, block + (uint64_t)(k * LANES));
    rounds(x, n, k0, k1);
    for (int k = 0; k < n; k++)
        store(&x[k], out + 4 * k * LANES);
}

/* Returns how many are done. */
TSR__AVX2 static int64_t words_avx2(const tsr_stream *s, uint64_t block, int64_t n, uint32_t *out)
{
    uint64_t k0[TSR__PHILOX_ROUNDS], k1[TSR__PHILOX_ROUNDS];
    int64_t i = 0;

    keys(s, k0, k1);
    for (; i + SIDE * LANES <= n; i += SIDE * LANES)
        some(s, block + (uint64_t)i, SIDE, k0, k1, out + 4 * i);
    for (; i + LANES <= n; i += LANES)
        some(s, block + (uint64_t)i, 1, k0, k1, out + 4 * i);
    return i;
}

/* The same for eight blocks; three numbers are joined by one step. */
typedef struct eight {
    __m512i c0, c1, c2, c3;
} eight;

TSR__AVX512 TSR__INLINE void rounds_512(eight *x, int n, const uint64_t *k0, const uint64_t *k1)
{
    enum { XOR = 0x96 }; /* of three */
    const __m512i m0 = _mm512_set1_epi64(TSR__PHILOX_M0), m1 = _mm512_set1_epi64(TSR__PHILOX_M1);

    for (int i = 0; i < TSR__PHILOX_ROUNDS; i++)
        for (int k = 0; k < n; k++) {
            const __m512i p0 = _mm512_mul_epu32(m0, x[k].c0), p1 = _mm512_mul_epu32(m1, x[k].c2);

            x[k].c0 = _mm512_ternarylogic_epi64(_mm512_srli_epi64(p1, 32), x[k].c1,
                                                _mm512_set1_epi64((int64_t)k0[i]), XOR);
            x[k].c2 = _mm512_ternarylogic_epi64(_mm512_srli_epi64(p0, 32), x[k].c3,
                                                _mm512_set1_epi64((int64_t)k1[i]), XOR);
            x[k].c1 = p1;
            x[k].c3 = p0;
        }
}

TSR__AVX512 TSR__INLINE eight eight_from(const tsr_stream *s, uint64_t block)
{
    const __m512i number = _mm512_add_epi64(_mm512_set1_epi64((int64_t)block),
                                            _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0));

    return (eight){number, _mm512_srli_epi64(number, 32), _mm512_set1_epi64((int64_t)s->offset),
                   _mm512_set1_epi64((int64_t)(s->offset >> 32))};
}

TSR__AVX512 TSR__INLINE void store_512(const eight *x, uint32_t *out)
{
    const __m512i ab = _mm512_mask_blend_epi32(0xaaaa, x->c0, _mm512_slli_epi64(x->c1, 32));
    const __m512i cd = _mm512_mask_blend_epi32(0xaaaa, x->c2, _mm512_slli_epi64(x->c3, 32));
    const __m512i first = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0);
    const __m512i second = _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4);

    _mm512_storeu_si512(out, _mm512_permutex2var_epi64(ab, first, cd));
    _mm512_storeu_si512(out + 16, _mm512_permutex2var_epi64(ab, second, cd));
}

TSR__AVX512 TSR__INLINE void some_512(const tsr_stream *s, uint64_t block, int n,
                                      const uint64_t *k0, const uint64_t *k1, uint32_t *out)
{
    eight x[SIDE_512];

    for (int k = 0; k < n; k++)
        x[k] = eight_from(s, block + (uint64_t)(k * 2 * LANES));
    rounds_512(x, n, k0, k1);
    for (int k = 0; k < n; k++)
        store_512(&x[k], out + 8 * k * LANES);
}

TSR__AVX512 static int64_t words_avx512(const tsr_stream *s, uint64_t block, int64_t n,
                                        uint32_t *out)
{
    enum { MANY = 2 * LANES };
    uint64_t k0[TSR__PHILOX_ROUNDS], k1[TSR__PHILOX_ROUNDS];
    int64_t i = 0;

    keys(s, k0, k1);
    for (; i + SIDE_512 * MANY <= n; i += SIDE_512 * MANY)
        some_512(s, block + (uint64_t)i, SIDE_512, k0, k1, out + 4 * i);
    for (; i + MANY <= n; i += MANY)
        some_512(s, block + (uint64_t)i, 1, k0, k1, out + 4 * i);
    return i;
}
#endif

void tsr__random_words(const tsr_stream *s, uint64_t block, int64_t n, tsr_kernel_variant variant,
                       uint32_t *out)
{
    int64_t i = 0;

#ifdef TSR__X86
    if (variant == TSR_VARIANT_AVX512)
        i = words_avx512(s, block, n, out);
    else if (variant == TSR_VARIANT_AVX2)
        i = words_avx2(s, block, n, out);
#endif
    (void)variant;
    for (; i < n; i++)
        tsr__stream_block(s, block + (uint64_t)i, out + 4 * i);
}
