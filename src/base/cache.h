/* SPDX-License-Identifier: Apache-2.0 */
/* cache.h - things that are made once and found again by hash, as many as limits allow: of entries
   per cache, and of bytes in all caches of a rank together. What they are, how they are compared
   and how they are freed is their owner's business: calls of ops, programs of redistributions,
   local specs. */
#ifndef TSR_BASE_CACHE_H
#define TSR_BASE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first member of what is kept. */
typedef struct tsr_cached {
    struct tsr_cached *next; /* in the same bucket */
    uint64_t hash;
    size_t bytes; /* that go with it */
    int holds;    /* by those who need it now: it stays while there are any */
    bool used;    /* since room was made the last time */
} tsr_cached;

enum { TSR_CACHE_BUCKETS = 4096 };

typedef void (*tsr_cache_drop)(tsr_cached *entry, void *arg);

/* Zero is an empty cache. */
typedef struct tsr_cache {
    tsr_cached *bucket[TSR_CACHE_BUCKETS];
    int n;
    int full;            /* no room is made for fewer: most were held the last time */
    tsr_cache_drop drop; /* set by its first entry, with what follows */
    void *arg;
    struct tsr_cache *next; /* of the caches that share limits */
} tsr_cache;

/* The caches of a rank, and what they may keep. */
typedef struct tsr_caches {
    int limit;          /* entries of each */
    size_t limit_bytes; /* bytes of all together */
    size_t bytes;
    size_t full;      /* no room is made for fewer bytes */
    tsr_cache *first; /* the latest to be used for the first time: calls before their local specs */
} tsr_caches;

/* Where to begin looking for this hash; go on along next. */
static inline tsr_cached *tsr__cache_first(const tsr_cache *cache, uint64_t hash)
{
    return cache->bucket[hash % TSR_CACHE_BUCKETS];
}

/* Keep an entry whose hash and bytes are set. Before, if the cache has `limit` entries or more,
   room is made: entries that were not used since the last time go, and if that leaves more than
   half, all that nobody holds. The same in all caches if they would exceed their bytes. */
void tsr__cache_add(tsr_caches *all, tsr_cache *cache, tsr_cached *entry, tsr_cache_drop drop,
                    void *arg);
/* An entry has got larger. */
static inline void tsr__cache_grow(tsr_caches *all, tsr_cached *entry, size_t bytes)
{
    entry->bytes += bytes;
    all->bytes += bytes;
}
/* Drop all, held or not. */
void tsr__cache_clear(tsr_caches *all, tsr_cache *cache);

#endif
