/* SPDX-License-Identifier: Apache-2.0 */
/* hash.h - mixing of 64-bit values. Values are hashed field by field, never as raw bytes, and never
   by pointer: ranks must agree. */
#ifndef TSR_BASE_HASH_H
#define TSR_BASE_HASH_H

#include <stdint.h>

static inline uint64_t tsr__hash_mix(uint64_t h, uint64_t value)
{
    h = (h ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ (h >> 29);
}

static inline uint64_t tsr__hash_final(uint64_t h)
{
    h = (h ^ (h >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ (h >> 27)) * UINT64_C(0x94d049bb133111eb);
    return h ^ (h >> 31);
}

#endif
