/* SPDX-License-Identifier: Apache-2.0 */
/* row_exchange.h - the exchange of one table's rows: a request to the owners of the rows, what they
   compute from it, and their response. A lookup is a ragged all-to-all (alltoallv.h) of one row
   exchange; a group of lookups has several in one, so all tables share the messages. lookup.c and
   bag_lookup.c define the kinds; row_exchange.c runs them. */
#ifndef TSR_OPS_ROW_EXCHANGE_H
#define TSR_OPS_ROW_EXCHANGE_H

#include "ops/embedding/embedding.h"
#include "run/call_arena.h"
#include "run/owners.h"
#include "run/alltoallv.h"

enum { TSR_ROW_EXCHANGE_LISTS = 2, TSR_ROW_EXCHANGE_PAYLOADS = 5 };

/* A run and where its table is. */
typedef struct tsr_part {
    const tsr_run_call *call;
    int table;        /* its number, for messages; -1: there is but one */
    bool on_one_rank; /* the table, or its gradient, is on the mesh of one rank only ... */
    int at;           /* ... at this index of the mesh of the ids */
    struct tsr_row_sparse *sparse; /* gradients: the row-sparse one; NULL: the dense output */
    /* set by running it: what came for it from others, by where it is counted (tsr__along) */
    int64_t along[TSR_MAX_MESH + 1];
} tsr_part;

typedef struct tsr_row_exchange {
    const struct tsr_row_exchange_kind *kind;
    tsr_part part;
    const tsr_run_call *call; /* of the part */
    tsr_ctx *ctx;
    tsr_call_arena arena;
    const tsr_spec *table; /* or its gradient */
    unsigned mdims;        /* along which things travel */
    unsigned among;        /* those of the whole all-to-all */
    tsr_owners owners;
    tsr_alltoallv *comm;
    int64_t *sent[TSR_ROW_EXCHANGE_LISTS],
        *got[TSR_ROW_EXCHANGE_LISTS]; /* of its lists, by member */
    int64_t n_sent[TSR_ROW_EXCHANGE_LISTS],
        n_got[TSR_ROW_EXCHANGE_LISTS]; /* after exchanging counts */
    int first_list;
    tsr_payload request[TSR_ROW_EXCHANGE_PAYLOADS], response[TSR_ROW_EXCHANGE_PAYLOADS];
    int n_requests, n_responses;

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
} tsr_row_exchange;

/* The steps, each for all row exchanges before the next; NULL: nothing to do. count may find an
   error of this rank. */
typedef struct tsr_row_exchange_kind {
    bool backward; /* a gradient comes in, that of the table goes out */
    int n_lists;
    /* fill sent[]; add the payloads of request and response */
    tsr_status (*count)(tsr_row_exchange *d, tsr_error *err);
    tsr_status (*fill_request)(tsr_row_exchange *d);
    tsr_status (*fill_response)(tsr_row_exchange *d); /* from the request */
    tsr_status (*finish)(tsr_row_exchange *d);
} tsr_row_exchange_kind;

extern const tsr_row_exchange_kind tsr__row_exchange_lookup, tsr__row_exchange_lookup_backward;
extern const tsr_row_exchange_kind tsr__row_exchange_bag, tsr__row_exchange_bag_max,
    tsr__row_exchange_bag_max_offsets;
extern const tsr_row_exchange_kind tsr__row_exchange_bag_backward,
    tsr__row_exchange_bag_max_backward;
/* Bags by offsets of which the table needs nothing from others; ids were fetched. */
extern const tsr_row_exchange_kind tsr__row_exchange_bag_here, tsr__row_exchange_bag_backward_here;

/* A payload for every item of one of its lists; returns its index in request[] or response[]. */
int tsr__row_exchange_add(tsr_row_exchange *d, int list, size_t width, bool is_response);
/* tsr__received_check in the name of its op. */
tsr_status tsr__row_exchange_check(const tsr_row_exchange *d, const char *field,
                                   const void *numbers, int64_t n, int64_t low, int64_t high);
/* [member] the number of its first item in a list. */
tsr_status tsr__row_exchange_first_items(tsr_row_exchange *d, int list, int64_t **out);
/* The gradient of the table, to be filled from these rows; and filling it: all rows,
   or those that ids name. */
tsr_table_grad tsr__row_exchange_grad(const tsr_row_exchange *d, const void *rows);
tsr_status tsr__row_exchange_fill(tsr_row_exchange *d, const tsr_scattered *scatter,
                                  tsr_table_grad *grad);

/* Run them all, with one exchange of counts, one of requests and one of responses. Collective over
   their mesh. */
tsr_status tsr__run_together(tsr_part *parts, int n);

#endif
