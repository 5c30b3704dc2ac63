/* SPDX-License-Identifier: Apache-2.0 */
/* redist_cost_table.h - redistribution costs from one source to many targets, without plans: one
   pass over the search space gives the costs of all targets that keep the same partial dims. For
   tsr_redist_costs, and for the search over strategies, which reads one table per input. Pure but
   for memory. */
#ifndef TSR_LAYOUT_REDIST_COST_TABLE_H
#define TSR_LAYOUT_REDIST_COST_TABLE_H

#include "layout/search.h"

enum { TSR_FRESH = 64 };

/* What a redistribution costs. Ties go to fewer bytes, then to fewer steps. */
typedef struct tsr_price {
    double seconds, bytes;
    int steps;
    bool detour; /* it stops where only another target allows it: alone it may cost more */
} tsr_price;

/* Sums in another order differ in the last bits: that is no difference. */
#define TSR_PRICE_ROUNDING 1e-12
static inline bool tsr__price_differs(double a, double b)
{
    return a < b * (1 - TSR_PRICE_ROUNDING) || a > b * (1 + TSR_PRICE_ROUNDING);
}

static inline bool tsr__price_less(const tsr_price *a, const tsr_price *b)
{
    if (tsr__price_differs(a->seconds, b->seconds))
        return a->seconds < b->seconds;
    return tsr__price_differs(a->bytes, b->bytes) ? a->bytes < b->bytes : a->steps < b->steps;
}

static inline void tsr__price_add(tsr_price *sum, const tsr_price *x)
{
    sum->seconds += x->seconds;
    sum->bytes += x->bytes;
    sum->steps += x->steps;
}

/* One pass: the cheapest way to every state, with these partial dims kept. */
typedef struct tsr_pass {
    struct tsr_pass *next;
    unsigned kept;
    bool complete; /* false: the space is too large, targets are planned one by one */
    tsr_space space;
    tsr_search search;
    tsr_state fresh[TSR_FRESH];
    int n_fresh;
} tsr_pass;

typedef struct tsr_redist_cost_table {
    tsr_heap *heap;
    const tsr_spec *from;
    const tsr_cost *cost;
    const tsr_placement (*admitted)[TSR_MAX_MESH]; /* targets will be made of these placements */
    int n_admitted;
    tsr_pass *passes;
    bool first_used;
    tsr_pass first;       /* mostly there is but one pass: no allocation for it */
    tsr_pass *in_scratch; /* the last pass, unless it was too large or impossible; or NULL */
    tsr_search_small scratch;
} tsr_redist_cost_table;

/* The arguments are borrowed until close. */
void tsr__redist_cost_table_open(tsr_redist_cost_table *table, tsr_heap *heap, const tsr_spec *from,
                                 const tsr_placement (*admitted)[TSR_MAX_MESH], int n,
                                 const tsr_cost *cost);
/* Infinite where S -> P or P -> other P would be needed. */
tsr_status tsr__redist_cost_table_get(tsr_redist_cost_table *table, const tsr_placement *to,
                                      tsr_price *out, tsr_error *err);
void tsr__redist_cost_table_close(tsr_redist_cost_table *table);

#endif
