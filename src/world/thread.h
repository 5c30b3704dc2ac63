/* SPDX-License-Identifier: Apache-2.0 */
/* thread.h - what the files of the thread world share: the hub, the channels of groups, and the
   seats in which ranks publish their calls.
   A group's calls are numbered; call number `seq` uses slot seq % size of a ring of slots. A slot
   has two events per round: all members have arrived, and all are done with reading. A member that
   starts more calls than the ring has slots makes the next ring, of twice the size, to which all
   members move on at that call. */
#ifndef TSR_WORLD_THREAD_H
#define TSR_WORLD_THREAD_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>

#include "world/world.h"

enum { TSR_LINE = 64 }; /* bytes of a cache line */
enum { TSR_HUB_BUCKETS = 64 };
enum { TSR_RING_FIRST = 8 }; /* slots of a channel's first ring */
enum { TSR_WHAT_WORDS = TSR_WHAT_LEN / 8 };

typedef struct tsr_channel tsr_channel;
typedef struct tsr_thread_world tsr_thread_world;

/* Completed when all members have come, once per round. */
typedef struct tsr_event {
    alignas(TSR_LINE) _Atomic uint32_t count; /* members that have come in this round */
    alignas(TSR_LINE) _Atomic uint32_t round; /* rounds completed; the futex word */
    _Atomic uint32_t sleepers;
} tsr_event;
#define TSR_EVENT_POISON (UINT32_C(1) << 31) /* set in `round` to end the sleep of a futex wait */

/* What one member publishes of its call in a slot. */
typedef struct tsr_seat {
    /* Written by the member before it arrives, read by the others until it may be reused, which is
       when all are done. */
    alignas(TSR_LINE) const tsr_call *offer; /* NULL: sends nothing to others */
    uint64_t fingerprint;
    uint64_t history;         /* hash of the calls before it; 0: not compared */
    bool has_verdict;         /* `verdict` is set */
    _Atomic uint64_t stage;   /* 2 * seq + 1: arrived at seq, 2 * seq + 2: done with it */
    _Atomic uint32_t reading; /* the member is inside its peers' memory */

    /* The member's own. */
    alignas(TSR_LINE) uint64_t seq; /* of the call that used it last */
    uint64_t round;                 /* calls that have used it */
    bool open;                      /* the last one is started and not finished */

    /* Written and read like the first part; rarely looked at. */
    alignas(TSR_LINE) const tsr_history *past; /* of the mesh, to name calls that differ */
    tsr_verdict verdict;

    /* Read by others in error messages, at any time: hence atomic. */
    alignas(TSR_LINE) _Atomic uint64_t what[TSR_WHAT_WORDS];
} tsr_seat;

/* What the first member to come to a round decides for all: to use the slot, 2 * round, or to move
   on to the next ring, 2 * round + 1. */
typedef struct tsr_slot {
    tsr_event arrive, done;
    _Atomic uint64_t claim;
    tsr_channel *channel;
    tsr_seat *seat; /* [n] */
} tsr_slot;

typedef struct tsr_ring tsr_ring;
struct tsr_ring {
    tsr_ring *next; /* guarded by the hub's lock until a slot is claimed for moving on */
    void *block;    /* to free */
    uint64_t size;
    tsr_slot *slot; /* [size] */
};

/* A call of a channel, as long as not all are done with it. */
typedef struct tsr_place {
    tsr_slot *slot;
    uint64_t seq;
    uint64_t round; /* of the slot */
} tsr_place;

/* A started call: the member's own. */
struct tsr_pending {
    tsr_thread_world *world;
    tsr_place at;
    int me; /* index in the group */
    const tsr_call *call;
    tsr_pending *next; /* in world->open, or world->unused */
    bool sends;        /* others read its memory */
    bool taken;        /* its messages were read, or failed to be */
    tsr_status status; /* of that */
    tsr_verdict met;   /* of all members' verdicts the first */
};

/* Where each member is; the members' own, on a line each. */
typedef struct tsr_channel_member {
    alignas(TSR_LINE) uint64_t next_seq;
    tsr_ring *ring; /* of its next call */
} tsr_channel_member;

/* What groups with equal rank lists and lanes share. Lives as long as the hub. */
struct tsr_channel {
    tsr_channel *next; /* in its bucket */
    void *block;       /* to free */
    uint64_t hash;
    int n, lane;
    int *rank;                  /* [n] */
    tsr_channel_member *member; /* [n] */
    tsr_ring *ring;             /* the first */
};

/* What a rank does, for the others to see. slot, seq and for_done change only while epoch is even;
   so a rank whose epoch is odd and unchanged between two looks has waited all the while. */
typedef struct tsr_rank_state {
    alignas(TSR_LINE) _Atomic uint64_t epoch; /* odd: waiting */
    _Atomic(tsr_slot *) slot;
    _Atomic uint64_t seq;
    _Atomic bool for_done; /* waits for the others to be done, not for their arrival */
    _Atomic bool left;
    _Atomic bool joined;
    _Atomic(_Atomic uint32_t *) word; /* the futex word on which it sleeps */
} tsr_rank_state;

struct tsr_thread_hub {
    tsr_heap *heap; /* guarded by lock while ranks run */
    void *block;    /* to free */
    int size;
    int timeout_ms;
    int spins; /* 0 if there are more ranks than CPUs */
    pthread_mutex_t lock;
    tsr_channel *bucket[TSR_HUB_BUCKETS]; /* guarded by lock */

    alignas(TSR_LINE) _Atomic bool poisoned;
    int poison_rank; /* these two are written once, before poisoned */
    tsr_error poison;

    /* Rung at every completed event while somebody waits for several calls at once. */
    alignas(TSR_LINE) _Atomic uint32_t bell;
    _Atomic uint32_t bell_sleepers;

    tsr_rank_state *rank; /* [size] */
};

/* A rank's picture of another, for finding deadlocks. */
typedef struct tsr_rank_view {
    uint64_t epoch, seq;
    const tsr_slot *slot;
    bool waiting, left, for_done, stuck;
} tsr_rank_view;

struct tsr_thread_world {
    tsr_world base;
    tsr_thread_hub *hub;
    tsr_pending *open;   /* started and not finished, the last one first */
    tsr_pending *unused; /* to be used again */
    int n_untaken;       /* of the open ones, those that are not taken yet */
    /* scratch, [size] each */
    const void **src;
    const tsr_piece **from;
    tsr_rank_view *view;
};

static inline bool tsr__poisoned(tsr_thread_hub *hub)
{
    return atomic_load(&hub->poisoned);
}

/* Has the event been completed in this round, or a later one? Shifted by the poison's bit. */
static inline bool tsr__event_complete(tsr_event *event, uint64_t round)
{
    uint32_t completed = atomic_load(&event->round);

    return (int32_t)((completed - (uint32_t)round) << 1) >= 0;
}

/* thread_wait.c */
void tsr__event_come(tsr_thread_hub *hub, tsr_event *event, int n);
tsr_status tsr__thread_wait_for(tsr_thread_world *world, const tsr_place *at, bool for_done);
/* Record err and end all waits. The first poison stays. */
void tsr__thread_poison(tsr_thread_hub *hub, int rank, const tsr_error *err);
/* The error of a poisoned world, as this rank sees it. */
tsr_status tsr__thread_peer_error(tsr_thread_world *world);
/* Record an error of this rank and poison the world with it. */
tsr_status tsr__thread_fail(tsr_thread_world *world, const tsr_error *err);

/* thread_stuck.c: errors of waits, all with a sentence in err */
tsr_status tsr__thread_deadlock(tsr_thread_world *world, tsr_error *err); /* TSR_OK: none */
tsr_status tsr__thread_timeout(const tsr_thread_world *world, const tsr_place *at, bool for_done,
                               int64_t ms, tsr_error *err);
void tsr__what_put(tsr_seat *seat, const char *what);
const char *tsr__what_get(const tsr_seat *seat, char buf[TSR_WHAT_LEN]);

/* thread.c: the ring after this one, made if it is not there. */
tsr_status tsr__ring_next(tsr_thread_world *world, tsr_channel *channel, tsr_ring *ring);

/* thread_call.c */
tsr_status tsr__thread_start(const tsr_call *call, tsr_pending **out);
tsr_status tsr__thread_finish_take(tsr_pending *pending);
/* Read the messages of all own calls at which all have arrived: a rank that waits for one call
   must not keep its peers waiting in another. */
void tsr__thread_progress(tsr_thread_world *world);
/* Wait until no peer is inside this rank's memory any more. Only in a poisoned world. */
void tsr__thread_wait_readers(tsr_pending *pending);

#endif
