/* SPDX-License-Identifier: Apache-2.0 */
/* thread_stuck.c - what keeps a wait from ending: finds deadlocks among thread ranks exactly, from
   what the ranks publish, and words the errors of waits. Called by thread_wait.c when a wait has
   become long; waits for nothing itself. */
#include "world/thread.h"

#include <stdio.h>
#include <string.h>

void tsr__what_put(tsr_seat *seat, const char *what)
{
    uint64_t word[TSR_WHAT_WORDS];

    memcpy(word, what, sizeof word);
    for (int i = 0; i < TSR_WHAT_WORDS; i++)
        atomic_store_explicit(&seat->what[i], word[i], memory_order_relaxed);
}

const char *tsr__what_get(const tsr_seat *seat, char buf[TSR_WHAT_LEN])
{
    uint64_t word[TSR_WHAT_WORDS];

    for (int i = 0; i < TSR_WHAT_WORDS; i++)
        word[i] = atomic_load_explicit(&seat->what[i], memory_order_relaxed);
    memcpy(buf, word, TSR_WHAT_LEN);
    buf[TSR_WHAT_LEN - 1] = 0;
    return buf;
}

/* Is member m one of those that a wait is for? */
static bool is_missing(const tsr_slot *slot, uint64_t seq, bool for_done, int m)
{
    return atomic_load(&slot->seat[m].stage) < 2 * seq + (for_done ? 2 : 1);
}

/* The first member that keeps the wait of `v` from ever ending, -1 if there is none. A rank that
   waits for something else still takes the messages of calls that it has started (see
   tsr__thread_progress), so only one that has left keeps others from being done. */
static int blocker(const tsr_rank_view *view, const tsr_rank_view *v)
{
    for (int m = 0; m < v->slot->channel->n; m++) {
        const tsr_rank_view *peer = &view[v->slot->channel->rank[m]];
        if (peer->stuck && (peer->left || !v->for_done) &&
            is_missing(v->slot, v->seq, v->for_done, m))
            return m;
    }
    return -1;
}

static int index_of(const tsr_channel *channel, int rank)
{
    int m = 0;

    while (channel->rank[m] != rank)
        m++;
    return m;
}

/* "waits in WHAT" as rank `rank` would say it */
static const char *what_of(const tsr_rank_view *v, int rank, char buf[TSR_WHAT_LEN])
{
    return tsr__what_get(&v->slot->seat[index_of(v->slot->channel, rank)], buf);
}

static void look(tsr_thread_hub *hub, tsr_rank_view *view)
{
    for (int i = 0; i < hub->size; i++) {
        tsr_rank_state *r = &hub->rank[i];
        tsr_rank_view *v = &view[i];
        v->epoch = atomic_load(&r->epoch);
        v->slot = atomic_load(&r->slot);
        v->seq = atomic_load(&r->seq);
        v->for_done = atomic_load(&r->for_done);
        v->left = atomic_load(&r->left);
        v->waiting = v->epoch % 2 == 1;
        v->stuck = v->waiting || v->left;
    }
}

static bool has_changed(tsr_thread_hub *hub, const tsr_rank_view *view)
{
    for (int i = 0; i < hub->size; i++)
        if (atomic_load(&hub->rank[i].epoch) != view[i].epoch)
            return true;
    return false;
}

/* Assume that all who wait or have left are stuck, and free those for whom no stuck rank is
   missing until nothing changes. A rank that waits arrives nowhere, so what is seen of it between
   two looks at its epoch holds for one moment at which all the others are seen too. */
tsr_status tsr__thread_deadlock(tsr_thread_world *world, tsr_error *err)
{
    tsr_thread_hub *hub = world->hub;
    tsr_rank_view *view = world->view, *me = &view[world->base.rank], *peer;
    char mine[TSR_WHAT_LEN], theirs[TSR_WHAT_LEN];
    bool freed = true;

    look(hub, view);
    while (freed) {
        freed = false;
        for (int i = 0; i < hub->size; i++)
            if (view[i].stuck && !view[i].left && blocker(view, &view[i]) < 0) {
                view[i].stuck = false;
                freed = true;
            }
    }
    if (!me->stuck)
        return TSR_OK;
    int other = me->slot->channel->rank[blocker(view, me)];
    peer = &view[other];
    what_of(me, world->base.rank, mine);
    if (peer->left) {
        if (has_changed(hub, view))
            return TSR_OK;
        return tsr__fail(
            err, TSR_ERR_DIVERGED,
            "ranks diverged: rank %d waits in %s for rank %d, which has left the world",
            world->base.rank, mine, other);
    }
    int third = peer->slot->channel->rank[blocker(view, peer)];
    what_of(peer, other, theirs);
    if (has_changed(hub, view))
        return TSR_OK;
    return tsr__fail(err, TSR_ERR_DIVERGED,
                     "ranks diverged: rank %d waits in %s for rank %d, which waits in %s for "
                     "rank %d%s",
                     world->base.rank, mine, other, theirs, third,
                     view[third].left ? ", which has left the world" : "");
}

tsr_status tsr__thread_timeout(const tsr_thread_world *world, const tsr_place *at, bool for_done,
                               int64_t ms, tsr_error *err)
{
    const tsr_channel *channel = at->slot->channel;
    tsr_thread_hub *hub = world->hub;
    tsr_rank_view *view = world->view;
    char mine[TSR_WHAT_LEN], theirs[TSR_WHAT_LEN], does[TSR_WHAT_LEN + 16] = "is not in any call";
    int m = 0, rank;

    while (m < channel->n && !is_missing(at->slot, at->seq, for_done, m))
        m++;
    if (m == channel->n)
        return TSR_OK; /* it has just come */
    rank = channel->rank[m];
    look(hub, view);
    if (view[rank].left)
        snprintf(does, sizeof does, "has left the world");
    else if (view[rank].waiting)
        snprintf(does, sizeof does, "waits in %s", what_of(&view[rank], rank, theirs));
    tsr__what_get(&at->slot->seat[index_of(channel, world->base.rank)], mine);
    return tsr__fail(err, TSR_ERR_TIMEOUT, "rank %d waited %g s in %s for rank %d, which %s",
                     world->base.rank, (double)(ms / 100) / 10, mine, rank, does);
}
