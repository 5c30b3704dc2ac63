/* SPDX-License-Identifier: Apache-2.0 */
/* thread.c - the thread world: the hub that the ranks of one process share, joining and leaving it,
   and the channels of groups. Calls are in thread_call.c, waits in thread_wait.c. */
#include "world/thread.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"

enum { SPINS = 200 };            /* pauses before a sleep: a few us */
enum { DEFAULT_MS = 60 * 1000 }; /* timeout */

/* Zeroed memory on a line of its own; `block` is what must be freed. */
static tsr_status alloc_lines(tsr_heap *heap, size_t bytes, void **block, void *out, tsr_error *err)
{
    char *p;
    tsr_status st;

    TSR_TRY(tsr__alloc(heap, 1, bytes + TSR_LINE, &p, err));
    *block = p;
    p += TSR_LINE - (uintptr_t)p % TSR_LINE;
    memcpy(out, &p, sizeof p);
done:
    return st;
}

/* CPUs that this process may use. */
static int usable_cpus(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
    return (int)sysconf(_SC_NPROCESSORS_ONLN); /* more CPUs than a cpu_set_t holds */
}

tsr_status tsr__thread_hub_open(tsr_heap *heap, int size, int timeout_ms, tsr_thread_hub **out,
                                tsr_error *err)
{
    tsr_thread_hub *hub;
    void *block;
    tsr_status st;

    if (size < 1)
        return tsr__fail(err, TSR_ERR_ARG, "a thread world needs at least 1 rank, not %d", size);
    TSR_TRY(alloc_lines(heap, sizeof *hub + (size_t)size * sizeof *hub->rank, &block, &hub, err));
    hub->block = block;
    hub->heap = heap;
    hub->size = size;
    hub->timeout_ms = timeout_ms ? timeout_ms : DEFAULT_MS;
    hub->spins = size <= usable_cpus() ? SPINS : 0;
    hub->rank = (tsr_rank_state *)(hub + 1);
    pthread_mutex_init(&hub->lock, NULL);
    *out = hub;
done:
    return st;
}

static void free_channel(tsr_heap *heap, tsr_channel *c)
{
    for (tsr_ring *ring = c->ring, *next; ring; ring = next) {
        next = ring->next;
        tsr__free(heap, ring->block);
    }
    tsr__free(heap, c->block);
}

void tsr__thread_hub_close(tsr_thread_hub *hub)
{
    if (!hub)
        return;
    for (int i = 0; i < TSR_HUB_BUCKETS; i++)
        for (tsr_channel *c = hub->bucket[i], *next; c; c = next) {
            next = c->next;
            free_channel(hub->heap, c);
        }
    pthread_mutex_destroy(&hub->lock);
    tsr__free(hub->heap, hub->block);
}

static uint64_t hash_group(const tsr_group *group)
{
    uint64_t h = tsr__hash_mix((uint64_t)group->n, (uint64_t)group->lane);

    for (int i = 0; i < group->n; i++)
        h = tsr__hash_mix(h, (uint64_t)group->rank[i]);
    return tsr__hash_final(h);
}

static tsr_channel *channel_find(tsr_channel *c, const tsr_group *group, uint64_t hash)
{
    size_t bytes = (size_t)group->n * sizeof *group->rank;

    while (c && !(c->hash == hash && c->n == group->n && c->lane == group->lane &&
                  memcmp(c->rank, group->rank, bytes) == 0))
        c = c->next;
    return c;
}

static tsr_status ring_make(tsr_heap *heap, tsr_channel *channel, uint64_t size, tsr_ring **out,
                            tsr_error *err)
{
    size_t n = (size_t)channel->n;
    tsr_ring *ring;
    tsr_slot *slot;
    tsr_seat *seat;
    void *block;
    tsr_status st;

    TSR_TRY(alloc_lines(heap, size * (sizeof *slot + n * sizeof *seat) + sizeof *ring, &block,
                        &slot, err));
    seat = (tsr_seat *)(slot + size);
    ring = (tsr_ring *)(seat + size * n);
    *ring = (tsr_ring){.block = block, .size = size, .slot = slot};
    for (uint64_t i = 0; i < size; i++) {
        slot[i].channel = channel;
        slot[i].seat = seat + n * i;
    }
    *out = ring;
done:
    return st;
}

tsr_status tsr__ring_next(tsr_thread_world *world, tsr_channel *channel, tsr_ring *ring)
{
    tsr_thread_hub *hub = world->hub;
    tsr_status st = TSR_OK;

    pthread_mutex_lock(&hub->lock);
    if (!ring->next)
        st = ring_make(hub->heap, channel, 2 * ring->size, &ring->next, &world->base.ctx->error);
    pthread_mutex_unlock(&hub->lock);
    return st;
}

static tsr_status channel_make(tsr_heap *heap, const tsr_group *group, uint64_t hash,
                               tsr_channel **out, tsr_error *err)
{
    size_t n = (size_t)group->n;
    tsr_channel_member *member;
    tsr_channel *c;
    void *block;
    tsr_status st;

    TSR_TRY(alloc_lines(heap, n * (sizeof *member + sizeof *c->rank) + sizeof *c, &block, &member,
                        err));
    c = (tsr_channel *)(member + n);
    c->block = block;
    c->hash = hash;
    c->n = group->n;
    c->lane = group->lane;
    c->member = member;
    c->rank = (int *)(c + 1);
    memcpy(c->rank, group->rank, n * sizeof *c->rank);
    st = ring_make(heap, c, TSR_RING_FIRST, &c->ring, err);
    if (st != TSR_OK)
        free_channel(heap, c);
    for (size_t i = 0; st == TSR_OK && i < n; i++)
        member[i].ring = c->ring;
    if (st == TSR_OK)
        *out = c;
done:
    return st;
}

/* Groups with equal rank lists meet in one channel, whichever rank opens it first. */
static tsr_status thread_group_open(tsr_group *group)
{
    tsr_thread_hub *hub = ((tsr_thread_world *)group->world)->hub;
    uint64_t hash = hash_group(group);
    tsr_channel **bucket = &hub->bucket[hash % TSR_HUB_BUCKETS], *c;
    tsr_status st = TSR_OK;

    pthread_mutex_lock(&hub->lock);
    c = channel_find(*bucket, group, hash);
    if (!c) {
        TSR_TRY(channel_make(hub->heap, group, hash, &c, &group->world->ctx->error));
        c->next = *bucket;
        *bucket = c;
    }
    group->channel = c;
    group->started = c->member[group->me].next_seq;
done:
    pthread_mutex_unlock(&hub->lock);
    return st;
}

static void poison(tsr_world *base, const tsr_error *err)
{
    tsr__thread_poison(((tsr_thread_world *)base)->hub, base->rank, err);
}

/* A rank that leaves in the middle of calls takes away memory that its peers may read. */
static void abandon_calls(tsr_thread_world *world)
{
    tsr_error err = {0};
    char what[TSR_WHAT_LEN];

    if (!world->open)
        return;
    tsr__fail(&err, TSR_ERR_STATE, "rank %d left the world without finishing %s", world->base.rank,
              tsr__what_get(&world->open->at.slot->seat[world->open->me], what));
    tsr__thread_poison(world->hub, world->base.rank, &err);
    for (tsr_pending *p = world->open; p; p = p->next)
        tsr__thread_wait_readers(p);
}

static void free_calls(tsr_heap *heap, tsr_pending *list)
{
    for (tsr_pending *next; list; list = next) {
        next = list->next;
        tsr__free(heap, list);
    }
}

static void leave(tsr_world *base)
{
    tsr_thread_world *world = (tsr_thread_world *)base;

    abandon_calls(world);
    atomic_store(&world->hub->rank[base->rank].left, true);
    free_calls(&base->ctx->heap, world->open);
    free_calls(&base->ctx->heap, world->unused);
    tsr__free(&base->ctx->heap, world);
}

static const tsr_world_ops thread_ops = {
    .name = "thread",
    .group_open = thread_group_open,
    .start = tsr__thread_start,
    .finish_take = tsr__thread_finish_take,
    .poison = poison,
    .close = leave,
};

tsr_status tsr__thread_join(tsr_thread_hub *hub, int rank, tsr_ctx *ctx, tsr_world **out)
{
    tsr_thread_world *world;
    size_t n = (size_t)hub->size;
    tsr_status st;

    if (rank < 0 || rank >= hub->size)
        return tsr__fail(&ctx->error, TSR_ERR_ARG, "rank %d is not in a world of %d ranks", rank,
                         hub->size);
    TSR_TRY(tsr__alloc(&ctx->heap, 1,
                       sizeof *world +
                           n * (sizeof *world->view + sizeof *world->src + sizeof *world->from),
                       &world, &ctx->error));
    if (atomic_exchange(&hub->rank[rank].joined, true)) {
        tsr__free(&ctx->heap, world);
        return tsr__fail(&ctx->error, TSR_ERR_STATE, "rank %d has joined the world before", rank);
    }
    world->hub = hub;
    world->view = (tsr_rank_view *)(world + 1);
    world->src = (const void **)(world->view + n);
    world->from = (const tsr_piece **)(world->src + n);
    world->base = (tsr_world){.ops = &thread_ops,
                              .kind = TSR_WORLD_THREAD,
                              .rank = rank,
                              .size = hub->size,
                              .timeout_ms = hub->timeout_ms,
                              .ctx = ctx};
    *out = &world->base;
done:
    return st;
}
