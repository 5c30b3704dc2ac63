/* SPDX-License-Identifier: Apache-2.0 */
/* trade.h - every rank of a group sends every other one a list of its own length: first how long
   the lists are, then things by the list's items, there and back. For ops whose data decides what
   moves. Collective over the group, each of them. */
#ifndef TSR_RUN_TRADE_H
#define TSR_RUN_TRADE_H

#include "tensor/tensor.h"

typedef struct tsr_trade {
    tsr_ctx *ctx;
    tsr_group *group;
    const char *what;      /* for messages: "embedding" */
    uint64_t fingerprint;  /* of the call, equal on all ranks */
    int64_t *sent, *got;   /* [group] items that go to, and come from, each rank */
    int64_t n_sent, n_got; /* in all */
    struct tsr_msg *msg;   /* room for one call */
    struct tsr_piece *piece;
} tsr_trade;

/* The ranks that a rank of the mesh reaches along these mesh dims; sent[] is all 0. */
tsr_status tsr__trade_open(tsr_trade *t, tsr_mesh *mesh, unsigned mdims, const char *what);
/* All ranks know what they send; now also what they get. */
tsr_status tsr__trade_agree(tsr_trade *t);
/* `width` elements for every item, in the order of ranks and items. */
tsr_status tsr__trade_send(tsr_trade *t, tsr_dtype dtype, int64_t width, const void *sent,
                           void *got);
/* What was got goes back: `back` has the order in which items were sent. */
tsr_status tsr__trade_return(tsr_trade *t, tsr_dtype dtype, int64_t width, const void *got,
                             void *back);
void tsr__trade_close(tsr_trade *t);

#endif
