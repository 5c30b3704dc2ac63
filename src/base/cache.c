/* SPDX-License-Identifier: Apache-2.0 */
/* cache.c - see cache.h. */
#include "base/cache.h"

#include <stddef.h>

/* Which entries a sweep drops. */
typedef enum sweep_kind { SWEEP_UNUSED, SWEEP_FREE, SWEEP_ALL } sweep_kind;

static bool is_swept(const tsr_cached *entry, sweep_kind kind)
{
    if (kind == SWEEP_ALL)
        return true;
    return !entry->holds && (kind == SWEEP_FREE || !entry->used);
}

static void sweep(tsr_cache *cache, sweep_kind kind, tsr_cache_drop drop, void *arg)
{
    for (int i = 0; i < TSR_CACHE_BUCKETS; i++)
        for (tsr_cached **at = &cache->bucket[i]; *at;) {
            tsr_cached *entry = *at;
            if (is_swept(entry, kind)) {
                *at = entry->next;
                cache->n--;
                drop(entry, arg);
            } else {
                entry->used = false;
                at = &entry->next;
            }
        }
}

static void make_room(tsr_cache *cache, int limit, tsr_cache_drop drop, void *arg)
{
    sweep(cache, SWEEP_UNUSED, drop, arg);
    if (cache->n > limit / 2)
        sweep(cache, SWEEP_FREE, drop, arg);
    /* if most are held, sweeping again for every new one would find as little; else the limit
       counts, which may be another the next time */
    cache->full = cache->n > limit / 2 ? 2 * cache->n : 0;
}

void tsr__cache_add(tsr_cache *cache, int limit, tsr_cached *entry, tsr_cache_drop drop, void *arg)
{
    tsr_cached **bucket = &cache->bucket[entry->hash % TSR_CACHE_BUCKETS];

    if (cache->n >= limit && cache->n >= cache->full)
        make_room(cache, limit, drop, arg);
    entry->used = true;
    entry->next = *bucket;
    *bucket = entry;
    cache->n++;
}

void tsr__cache_clear(tsr_cache *cache, tsr_cache_drop drop, void *arg)
{
    sweep(cache, SWEEP_ALL, drop, arg);
}
