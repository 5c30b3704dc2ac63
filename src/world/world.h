/* SPDX-License-Identifier: Apache-2.0 */
/* world.h - one rank's end of a world, and the one primitive that every transport has: a call.
   A call is made by all members of a group alike; each member says which pieces of its memory go to
   whom and which arrive from whom. Broadcast, gathers, reductions, exchanges and halos are all
   lists of messages; threads read each other's memory, MPI sends. */
#ifndef TSR_WORLD_WORLD_H
#define TSR_WORLD_WORLD_H

#include "base/ctx.h"
#include "base/piece.h"
#include "world/history.h"

enum { TSR_WHAT_LEN = 96 }; /* the text of a call in messages */

typedef struct tsr_world tsr_world;
typedef struct tsr_pending tsr_pending; /* a started call; each transport has its own */

/* Ranks that make calls together. Two lists with the same ranks in another order are two groups. */
typedef struct tsr_group {
    tsr_world *world;
    int n;
    int me;           /* own index in rank[] */
    int *rank;        /* world rank of each member */
    int lane;         /* groups of the same ranks on different lanes do not meet */
    int along;        /* the mesh dim that it is along, as tsr__along */
    uint64_t started; /* calls started so far, equal on all members */
    void *channel;    /* the transport's own */
    /* of its mesh, compared at every call, and the mesh dims that it is along; NULL: of none */
    tsr_history *history;
    unsigned mdims;
} tsr_group;

/* What goes to, or comes from, one member. No pieces: an empty message, only for keeping step. */
typedef struct tsr_msg {
    int peer; /* index in the group; the own index is allowed: a local copy */
    int n_pieces;
    const tsr_piece *piece;
} tsr_msg;

/* send[] and recv[] are sorted by peer, one message per peer at most; if A sends to B then B
   receives from A, pieces of equal counts. With `reduce` set, all recv[] describe the same
   destination, which gets the reduction of the arriving pieces in the order of recv[] (the own one
   included if it is listed), divided by divisor. */
typedef struct tsr_call {
    tsr_group *group;
    uint64_t fingerprint;    /* equal on all members, or the ranks have diverged */
    char what[TSR_WHAT_LEN]; /* for messages: "all-gather f32[8,12] over model" */
    tsr_dtype dtype;
    const void *send_base;
    void *recv_base;
    int n_send, n_recv;
    const tsr_msg *send, *recv;
    bool dense; /* every member has a message for every other, be it an empty one */
    bool reduce;
    tsr_reduce op; /* SUM, MIN, MAX or PROD */
    int64_t divisor;
} tsr_call;

/* A transport. All slots are required unless marked optional. */
typedef struct tsr_world_ops {
    const char *name;
    /* optional: make and release group->channel */
    tsr_status (*group_open)(tsr_group *group);
    void (*group_close)(tsr_group *group);
    /* Begin a call: may return before the others have begun. The call and its memory must stay. */
    tsr_status (*start)(const tsr_call *call, tsr_pending **out);
    /* Wait until data has arrived and own memory is free again. Frees pending, also on failure. */
    tsr_status (*finish_take)(tsr_pending *pending);
    /* Tell all ranks that this one failed: every wait ends with TSR_ERR_PEER and err's sentence. */
    void (*poison)(tsr_world *world, const tsr_error *err);
    /* Leave the world: the rank makes no more calls. Waits for nothing (thread) or for the
       others to leave too (mpi). */
    void (*close)(tsr_world *world);
    /* optional: a library's own collective, for benchmarks to compare with. Bytes in and out as for
       tsr_collective. */
    tsr_status (*native)(tsr_world *world, const tsr_collective *call);
} tsr_world_ops;

/* Transports embed this as their first member. */
struct tsr_world {
    const tsr_world_ops *ops;
    tsr_world_kind kind;
    int rank, size;
    int timeout_ms;       /* of a wait; below 0: none */
    tsr_ctx *ctx;         /* heap, pool, error and counters of this rank */
    int64_t calls;        /* started so far */
    int64_t fail_call_at; /* fault hook: this call (from 1) fails on this rank; 0: none */
};

/* group.c */
tsr_status tsr__group_open(tsr_world *world, const int *ranks, int n, tsr_group **out);
tsr_status tsr__group_open_lane(tsr_world *world, const int *ranks, int n, int lane,
                                tsr_group **out); /* tsr__group_open takes lane 0 */
void tsr__group_close(tsr_group *group);          /* NULL is fine */

/* call.c: start with the fault hook and the counters; start and finish in one */
tsr_status tsr__call_start(const tsr_call *call, tsr_pending **out);
tsr_status tsr__call_finish_take(tsr_world *world, tsr_pending *pending);
tsr_status tsr__call(const tsr_call *call);

/* A failure that only this rank can see (memory, files) poisons the world; hands st on. */
tsr_status tsr__poison_if_local(tsr_ctx *ctx, tsr_status st);

/* thread.c: ranks are threads. A hub is what they share; it is opened and closed by the thread that
   starts them. Each rank joins once, from its own thread. */
typedef struct tsr_thread_hub tsr_thread_hub;
tsr_status tsr__thread_hub_open(tsr_heap *heap, int size, int timeout_ms, tsr_thread_hub **out,
                                tsr_error *err);
void tsr__thread_hub_close(tsr_thread_hub *hub);
tsr_status tsr__thread_join(tsr_thread_hub *hub, int rank, tsr_ctx *ctx, tsr_world **out);

/* message.c: a world over a message-passing network that plugin.c loads (MPI) */
bool tsr__mpi_launched(void);     /* were we started by mpirun or srun? */
int tsr__mpi_launched_size(void); /* with how many ranks; 0: it does not say */
tsr_status tsr__mpi_join(tsr_ctx *ctx, int timeout_ms, tsr_world **out);

/* sim.c: one thread stands for all ranks; a call is an error, costs are counted elsewhere */
tsr_status tsr__sim_join(tsr_ctx *ctx, int size, tsr_world **out);

#endif
