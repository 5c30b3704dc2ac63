/* SPDX-License-Identifier: Apache-2.0 */
/* thread_wait.c - how thread ranks wait: a short spin if there is a CPU for every rank, a few
   yields, then a futex. Waits end at poison at once, and wake now and then to look at the clock and
   for deadlocks (thread_stuck.c). Called by thread_call.c. */
#include "world/thread.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A yield lets a rank that shares the CPU arrive; sleep and wake-up cost ten times as much. */
enum { YIELDS = 4 };
enum { SLICE_MS = 50 }; /* of one sleep; deadlocks are found after one or two */

typedef struct waiting {
    tsr_thread_world *world;
    const tsr_place *at;
    tsr_event *event;
    bool for_done;
} waiting;

static void pause_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Sleep while *word is `seen`, for less than a second. May wake for no reason. */
static void futex_wait(_Atomic uint32_t *word, uint32_t seen, int64_t ms)
{
    struct timespec t = {.tv_nsec = (long)ms * 1000000};

    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, &t, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* A sleeper counts itself before it looks at the word; so the last one to come either sees the
   sleeper or is seen by it (all sequentially consistent). */
void tsr__event_come(tsr_thread_hub *hub, tsr_event *event, int n)
{
    if (atomic_fetch_add(&event->count, 1) + 1 != (uint32_t)n)
        return;
    /* nobody comes for the next round before this one is complete */
    atomic_store_explicit(&event->count, 0, memory_order_relaxed);
    uint32_t round = atomic_load_explicit(&event->round, memory_order_relaxed);
    atomic_store(&event->round, (round + 1) & ~TSR_EVENT_POISON);
    if (atomic_load(&event->sleepers))
        futex_wake(&event->round);
    if (atomic_load(&hub->bell_sleepers)) {
        atomic_fetch_add(&hub->bell, 1);
        futex_wake(&hub->bell);
    }
}

void tsr__thread_poison(tsr_thread_hub *hub, int rank, const tsr_error *err)
{
    bool first;

    pthread_mutex_lock(&hub->lock);
    first = !tsr__poisoned(hub);
    if (first) {
        hub->poison = *err;
        hub->poison_rank = rank;
        atomic_store(&hub->poisoned, true);
    }
    pthread_mutex_unlock(&hub->lock);
    for (int i = 0; first && i < hub->size; i++) {
        _Atomic uint32_t *word = atomic_load(&hub->rank[i].word);
        if (word) {
            atomic_fetch_or(word, TSR_EVENT_POISON); /* for one that is just about to sleep */
            futex_wake(word);
        }
    }
}

tsr_status tsr__thread_peer_error(tsr_thread_world *world)
{
    const tsr_thread_hub *hub = world->hub;
    tsr_error *err = &world->base.ctx->error;

    /* divergence concerns all ranks alike and is told as it is */
    if (hub->poison_rank == world->base.rank || hub->poison.code == TSR_ERR_DIVERGED)
        return tsr__fail(err, hub->poison.code, "%s", hub->poison.text);
    return tsr__fail(err, TSR_ERR_PEER, "rank %d failed: %s", hub->poison_rank, hub->poison.text);
}

tsr_status tsr__thread_fail(tsr_thread_world *world, const tsr_error *err)
{
    tsr__thread_poison(world->hub, world->base.rank, err);
    return tsr__fail(&world->base.ctx->error, err->code, "%s", err->text);
}

/* Own calls, besides the one waited for, whose messages peers may want this rank to take. */
static bool has_other_calls(const waiting *w)
{
    return w->world->n_untaken > (w->for_done ? 0 : 1);
}

static bool is_over(const waiting *w)
{
    if (tsr__event_complete(w->event, w->at->round))
        return true;
    if (!has_other_calls(w))
        return false;
    tsr__thread_progress(w->world);
    return tsr__event_complete(w->event, w->at->round);
}

static void doze(const waiting *w, int64_t ms)
{
    tsr_thread_hub *hub = w->world->hub;
    tsr_rank_state *me = &hub->rank[w->world->base.rank];
    bool several = has_other_calls(w);
    _Atomic uint32_t *word = several ? &hub->bell : &w->event->round;
    _Atomic uint32_t *sleepers = several ? &hub->bell_sleepers : &w->event->sleepers;

    atomic_fetch_add(sleepers, 1);
    atomic_store(&me->word, word);
    uint32_t seen = atomic_load(word);
    if (!is_over(w) && !tsr__poisoned(hub))
        futex_wait(word, seen, ms);
    atomic_store(&me->word, NULL);
    atomic_fetch_sub(sleepers, 1);
}

static tsr_status sleep_until_over(const waiting *w)
{
    tsr_thread_world *world = w->world;
    tsr_rank_state *me = &world->hub->rank[world->base.rank];
    int64_t begin = now_ms(), ms = 0, look;
    int64_t limit = world->base.timeout_ms < 0 ? INT64_MAX : world->base.timeout_ms;
    tsr_error err = {0};
    tsr_status st = TSR_OK;

    atomic_store(&me->slot, w->at->slot);
    atomic_store(&me->seq, w->at->seq);
    atomic_store(&me->for_done, w->for_done);
    atomic_fetch_add(&me->epoch, 1);
    look = limit < SLICE_MS ? limit : SLICE_MS;
    for (;;) {
        doze(w, look > ms ? look - ms : 1);
        if (is_over(w))
            break;
        if (tsr__poisoned(world->hub)) {
            st = tsr__thread_peer_error(world);
            break;
        }
        ms = now_ms() - begin;
        if (ms < look)
            continue;
        TSR_TRY(tsr__thread_deadlock(world, &err));
        if (ms >= limit)
            TSR_TRY(tsr__thread_timeout(world, w->at, w->for_done, ms, &err));
        look = ms < limit && limit < ms + SLICE_MS ? limit : ms + SLICE_MS;
    }
done:
    atomic_fetch_add(&me->epoch, 1);
    return err.code ? tsr__thread_fail(world, &err) : st;
}

tsr_status tsr__thread_wait_for(tsr_thread_world *world, const tsr_place *at, bool for_done)
{
    waiting w = {.world = world,
                 .at = at,
                 .event = for_done ? &at->slot->done : &at->slot->arrive,
                 .for_done = for_done};

    for (int i = 0; i < world->hub->spins; i++) {
        if (is_over(&w))
            return TSR_OK;
        pause_cpu();
    }
    for (int i = 0; i < YIELDS; i++) {
        if (is_over(&w))
            return TSR_OK;
        sched_yield();
    }
    return sleep_until_over(&w);
}
