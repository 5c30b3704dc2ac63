/* SPDX-License-Identifier: Apache-2.0 */
/* exchange.h - the one engine that moves parts between ranks: intersect what each rank has with
   what each rank wants. Under redistributions, halos and batches of datasets. */
#ifndef TSR_EXCHANGE_EXCHANGE_H
#define TSR_EXCHANGE_EXCHANGE_H

#include "layout/layout.h"
#include "world/world.h"

typedef enum tsr_exchange_mode {
    TSR_EXCHANGE_REPLACE = 0, /* every wanted element comes from one rank that has it */
    TSR_EXCHANGE_ADD = 1,     /* parts of `from` overlap; all their elements are added up */
    TSR_EXCHANGE_REDUCE = 2   /* every member has a term of every element: reduced in group order */
} tsr_exchange_mode;

/* What is to be moved: the part of `from` at each member's coordinates to that of `to`. ranks[] are
   the members' numbers in the meshes of the layouts, in the order of the group that will run it. */
typedef struct tsr_exchange_ask {
    const tsr_layout *from, *to;
    tsr_exchange_mode mode;
    const int *ranks;
    int n, me;
    bool in_place; /* what a rank both has and wants is where it belongs already */
    bool dense;    /* every member gets a message from every other one, be it an empty one */
} tsr_exchange_ask;

/* Messages of one rank, made once and run often. Zero is empty. */
typedef struct tsr_exchange {
    tsr_exchange_mode mode;
    bool dense;
    int n_send, n_recv;
    tsr_msg *send, *recv;
    tsr_piece *piece; /* of all messages */
    int n_pieces, cap;
    int64_t landing; /* ADD: elements that arrive, to be added afterwards */
} tsr_exchange;

/* Local, and pure but for memory. */
tsr_status tsr__exchange_make(tsr_heap *heap, const tsr_exchange_ask *ask, tsr_exchange *out,
                              tsr_error *err);
/* Copy what `rank` holds of both layouts from memory of the one to memory of the other. Local. */
tsr_status tsr__exchange_own(tsr_heap *heap, const tsr_layout *from, const void *src,
                             const tsr_layout *to, void *dst, int rank, tsr_error *err);
void tsr__exchange_free(tsr_heap *heap, tsr_exchange *exchange);

/* One run of an exchange, between start and finish. */
typedef struct tsr_exchange_run {
    const tsr_exchange *exchange;
    tsr_call call; /* set by the caller: group, fingerprint, what, dtype, bases, op, divisor */
    tsr_pending *pending;
    void *landing; /* ADD: where data arrives */
    void *sum;     /* ADD: what it is added to */
} tsr_exchange_run;

/* Collective over call.group. Arrivals are in place after finish. */
tsr_status tsr__exchange_start(const tsr_exchange *exchange, tsr_exchange_run *run);
tsr_status tsr__exchange_finish(tsr_exchange_run *run);

#endif
