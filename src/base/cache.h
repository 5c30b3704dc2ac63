/* SPDX-License-Identifier: Apache-2.0 */
/* cache.h - things that are made once and found again by hash, as many as a limit allows. What they
   are, how they are compared and how they are freed is their owner's business: plans of ops,
   programs of redistributions, forms of tensors. */
#ifndef TSR_BASE_CACHE_H
#define TSR_BASE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

/* The first member of what is kept. */
typedef struct tsr_cached {
    struct tsr_cached *next; /* in the same bucket */
    uint64_t hash;
    int holds; /* by those who need it now: it stays while there are any */
    bool used; /* since room was made the last time */
} tsr_cached;

enum { TSR_CACHE_BUCKETS = 1024, TSR_CACHE_LIMIT = 4096 };

/* Zero is an empty cache. */
typedef struct tsr_cache {
    tsr_cached *bucket[TSR_CACHE_BUCKETS];
    int n;
    int full; /* no room is made for fewer: most were held the last time */
} tsr_cache;

typedef void (*tsr_cache_drop)(tsr_cached *entry, void *arg);

/* Where to begin looking for this hash; go on along next. */
static inline tsr_cached *tsr__cache_first(const tsr_cache *cache, uint64_t hash)
{
    return cache->bucket[hash % TSR_CACHE_BUCKETS];
}

/* Keep an entry whose hash is set. Before, if there are `limit` of them or more, room is made:
   entries that were not used since the last time go, and if that leaves more than half, all that
   nobody holds. */
void tsr__cache_add(tsr_cache *cache, int limit, tsr_cached *entry, tsr_cache_drop drop, void *arg);
/* Drop all, held or not. */
void tsr__cache_clear(tsr_cache *cache, tsr_cache_drop drop, void *arg);

#endif
