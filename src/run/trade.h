/* SPDX-License-Identifier: Apache-2.0 */
/* trade.h - every rank of a group sends every other one some lists, each of its own length: first
   all ranks say how long the lists are, then things go by the lists' items, there and back, any
   number of them in one message. For ops whose data decides what moves. */
#ifndef TSR_RUN_TRADE_H
#define TSR_RUN_TRADE_H

#include "tensor/tensor.h"

typedef struct tsr_trade {
    tsr_ctx *ctx;
    tsr_group *group;
    const char *what;     /* for messages: "embedding" */
    uint64_t fingerprint; /* of the call, equal on all ranks */
    int n_lists;
    int64_t *sent, *got; /* [list][group] items that go to, and come from, each rank */
    int n_rooms;
    void *room[2]; /* what goes there, and back */
} tsr_trade;

/* One thing for every item of a list, in the order of ranks and items. */
typedef struct tsr_lot {
    int list;
    size_t width; /* bytes of one; the two ends of a list agree */
    bool back;    /* from where the items went to where they came from */
    void *out, *in;
} tsr_lot;

/* The ranks that a rank of the mesh reaches along these mesh dims; sent[] is all 0. Local. */
tsr_status tsr__trade_open(tsr_trade *t, tsr_mesh *mesh, unsigned mdims, int n_lists,
                           const char *what);
/* Are numbers that came from other ranks in low .. high? They are lengths and places in this rank's
   memory; others than these no rank sends, but they may be damaged on the way. `field` names them
   in the error. Local. */
tsr_status tsr__received_check(tsr_ctx *ctx, const char *what, const char *field,
                               const int64_t *numbers, int64_t n, int64_t low, int64_t high);
/* All ranks know what they send; now also what they get. Collective over the group. */
tsr_status tsr__trade_agree(tsr_trade *t);
int64_t tsr__trade_count(const tsr_trade *t, const int64_t *count); /* of a list, over ranks */
/* [rank] the number of its first item in such a list. */
void tsr__trade_first_items(const tsr_trade *t, const int64_t *count, int64_t *out);
/* Memory for lots, which stays until the trade is closed; at most twice. Local. */
tsr_status tsr__trade_room(tsr_trade *t, tsr_lot *const *lots, int n);
/* What stands in `out` goes to `in`; all lots in one exchange. Collective over the group. */
tsr_status tsr__trade_exchange(tsr_trade *t, tsr_lot *const *lots, int n);
void tsr__trade_close(tsr_trade *t);

#endif
