/* SPDX-License-Identifier: Apache-2.0 */
/* philox.h - Philox4x32-10 (Salmon and others, "Parallel random numbers: as easy as 1, 2, 3",
   2011): four random words as a pure function of a key and a counter, so that any rank can have the
   numbers of any element without those before it. Pure. */
#ifndef TSR_BASE_PHILOX_H
#define TSR_BASE_PHILOX_H

#include <stdint.h>

enum { TSR__PHILOX_ROUNDS = 10 };
#define TSR__PHILOX_M0 UINT32_C(0xD2511F53)
#define TSR__PHILOX_M1 UINT32_C(0xCD9E8D57)
#define TSR__PHILOX_W0 UINT32_C(0x9E3779B9) /* what the key grows by in every round */
#define TSR__PHILOX_W1 UINT32_C(0xBB67AE85)

static inline void tsr__philox(const uint32_t key[2], const uint32_t counter[4], uint32_t out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];

    for (int i = 0; i < TSR__PHILOX_ROUNDS; i++) {
        const uint64_t p0 = (uint64_t)TSR__PHILOX_M0 * c0, p1 = (uint64_t)TSR__PHILOX_M1 * c2;

        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += TSR__PHILOX_W0;
        k1 += TSR__PHILOX_W1;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

/* An endless row of such blocks of four words: the seed is the key; the block's number and the
   offset, which tells apart streams of one seed, are the counter. */
typedef struct tsr_stream {
    uint64_t seed, offset;
} tsr_stream;

static inline void tsr__stream_block(const tsr_stream *s, uint64_t block, uint32_t out[4])
{
    const uint32_t key[2] = {(uint32_t)s->seed, (uint32_t)(s->seed >> 32)};
    const uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), (uint32_t)s->offset,
                                 (uint32_t)(s->offset >> 32)};

    tsr__philox(key, counter, out);
}

#endif
