/* SPDX-License-Identifier: Apache-2.0 */
/* deal.h - one table's part in a trade: what it sends to the owners of its rows, what they do with
   it, what comes back. A lookup is a trade of one deal, a group of lookups one of several, so that
   all tables share the exchanges. lookup.c and bag_lookup.c say what the kinds do; deals.c runs
   them. */
#ifndef TSR_OPS_DEAL_H
#define TSR_OPS_DEAL_H

#include "ops/embedding/embedding.h"
#include "run/held.h"
#include "run/owners.h"
#include "run/trade.h"

enum { TSR_DEAL_LISTS = 2, TSR_DEAL_LOTS = 5 };

/* A run and where its table is. */
typedef struct tsr_part {
    const tsr_run_call *call;
    int table; /* its number, for messages; -1: there is but one */
    bool home; /* the table, or its gradient, is on the mesh of one rank only ... */
    int at;    /* ... at this index of the mesh of the ids */
    struct tsr_touched *touched; /* gradients: only touched rows, here; NULL: the dense output */
    /* set by running it: what came for it from others, by where it is counted (tsr__along) */
    int64_t along[TSR_MAX_MESH + 1];
} tsr_part;

typedef struct tsr_deal {
    const struct tsr_deal_kind *kind;
    tsr_part part;
    const tsr_run_call *call; /* of the part */
    tsr_ctx *ctx;
    tsr_held held;
    const tsr_spec *table; /* or its gradient */
    unsigned mdims;        /* along which things travel */
    unsigned among;        /* those of the whole trade */
    tsr_owners owners;
    tsr_trade *trade;
    int64_t *sent[TSR_DEAL_LISTS], *got[TSR_DEAL_LISTS];   /* of its lists, by member */
    int64_t n_sent[TSR_DEAL_LISTS], n_got[TSR_DEAL_LISTS]; /* known after agreeing */
    int first_list;
    tsr_lot lot[TSR_DEAL_LOTS], back[TSR_DEAL_LOTS]; /* what goes, what comes back */
    int n_lots, n_back;

    tsr_dtype dtype; /* of rows */
    int64_t dim;     /* columns that this rank has */
    size_t row;      /* bytes of these */
    tsr_bags own;    /* ids of this rank, for bags with their bounds */
    const char *weights;
    /* what a kind keeps between its steps: */
    int *owner;        /* [own.ids.n] the member that has an id's row, -1 if none */
    int64_t *item;     /* of lookups: the rows that are wanted; of bags: which bag an item is */
    int64_t *position; /* of lookups: [own.ids.n] which item, of bags: the items' ids */
    int64_t *begin;    /* [n_got + 1] bags that came */
} tsr_deal;

/* The steps, each for all deals before the next; NULL: nothing to do. count may find an error of
   this rank. */
typedef struct tsr_deal_kind {
    bool backward; /* a gradient comes in, that of the table goes out */
    int n_lists;
    /* fill sent[]; say which lots go, and come back */
    tsr_status (*count)(tsr_deal *d, tsr_error *err);
    tsr_status (*ask)(tsr_deal *d);    /* fill what goes */
    tsr_status (*answer)(tsr_deal *d); /* from what came to what goes back */
    tsr_status (*finish)(tsr_deal *d);
} tsr_deal_kind;

extern const tsr_deal_kind tsr__deal_lookup, tsr__deal_lookup_backward;
extern const tsr_deal_kind tsr__deal_bag, tsr__deal_bag_max, tsr__deal_bag_max_offsets;
extern const tsr_deal_kind tsr__deal_bag_backward, tsr__deal_bag_max_backward;
/* Bags by offsets of which the table needs nothing from others; ids were fetched. */
extern const tsr_deal_kind tsr__deal_bag_here, tsr__deal_bag_backward_here;

/* A thing for every item of one of the deal's lists; its number among those that go, or come
   back. */
int tsr__deal_add(tsr_deal *d, int list, size_t width, bool back);
/* tsr__received_check in the name of the deal's op. */
tsr_status tsr__deal_check(const tsr_deal *d, const char *field, const void *numbers, int64_t n,
                           int64_t low, int64_t high);
/* [member] the number of its first item in a list. */
tsr_status tsr__deal_first_items(tsr_deal *d, int list, int64_t **out);
/* The gradient of the table, to be filled from these rows; and filling it: all rows, or the touched
   ones. */
tsr_table_grad tsr__deal_grad(const tsr_deal *d, const void *rows);
tsr_status tsr__deal_fill(tsr_deal *d, const tsr_scattered *scatter, tsr_table_grad *grad);

/* Run them all, with one exchange of lengths, one there and one back. Collective over their mesh.
   */
tsr_status tsr__run_together(tsr_part *parts, int n);

#endif
