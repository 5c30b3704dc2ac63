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

static void sweep(tsr_caches *all, tsr_cache *cache, sweep_kind kind)
{
    for (int i = 0; i < TSR_CACHE_BUCKETS; i++)
        for (tsr_cached **at = &cache->bucket[i]; *at;) {
            tsr_cached *entry = *at;
            if (is_swept(entry, kind)) {
                *at = entry->next;
                cache->n--;
                all->bytes -= entry->bytes;
                cache->drop(entry, cache->arg);
            } else {
                entry->used = false;
                at = &entry->next;
            }
        }
}

static void make_room(tsr_caches *all, tsr_cache *cache)
{
    sweep(all, cache, SWEEP_UNUSED);
    if (cache->n > all->limit / 2)
        sweep(all, cache, SWEEP_FREE);
    /* if most are held, sweeping again for every new one would find as little; else the limit
       counts, which may be another the next time */
    cache->full = cache->n > all->limit / 2 ? 2 * cache->n : 0;
}

static void make_room_of_bytes(tsr_caches *all)
{
    for (tsr_cache *c = all->first; c; c = c->next)
        sweep(all, c, SWEEP_UNUSED);
    for (tsr_cache *c = all->first; c && all->bytes > all->limit_bytes / 2; c = c->next)
        sweep(all, c, SWEEP_FREE);
    all->full = all->bytes > all->limit_bytes / 2 ? 2 * all->bytes : 0;
}

void tsr__cache_add(tsr_caches *all, tsr_cache *cache, tsr_cached *entry, tsr_cache_drop drop,
                    void *arg)
{
    tsr_cached **bucket = &cache->bucket[entry->hash % TSR_CACHE_BUCKETS];

    if (!cache->drop) {
        cache->drop = drop;
        cache->arg = arg;
        cache->next = all->first;
        all->first = cache;
    }
    if (cache->n >= all->limit && cache->n >= cache->full)
        make_room(all, cache);
    if (all->bytes + entry->bytes > all->limit_bytes && all->bytes >= all->full)
        make_room_of_bytes(all);
    entry->used = true;
    entry->next = *bucket;
    *bucket = entry;
    cache->n++;
    all->bytes += entry->bytes;
}

void tsr__cache_clear(tsr_caches *all, tsr_cache *cache)
{
    sweep(all, cache, SWEEP_ALL);
}
