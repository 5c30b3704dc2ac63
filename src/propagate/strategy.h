/* SPDX-License-Identifier: Apache-2.0 */
/* strategy.h - one rule per mesh dim: the cheapest way to run a call. Pure: global facts only, so
   all ranks find the same. Two searches give the same answer: one tries everything and stays as the
   reference, the other is fast. */
#ifndef TSR_PROPAGATE_STRATEGY_H
#define TSR_PROPAGATE_STRATEGY_H

#include "layout/pricer.h"
#include "op/schema.h"

typedef struct tsr_strategy {
    int rule[TSR_MAX_MESH]; /* numbers in the list of rules */
    tsr_spec in[TSR_MAX_IN], out[TSR_MAX_OUT];
    tsr_price price;   /* all of it: */
    tsr_price inputs;  /* bringing the inputs there */
    tsr_price pending; /* what partial outputs will cost, or the move to the asked spec */
} tsr_strategy;

/* What is to be decided. */
typedef struct tsr_question {
    const tsr_schema *schema;
    const tsr_rules *rules;
    const tsr_cost *cost;
    const tsr_placement *want; /* placements that output 0 shall have in the end; NULL: any */
} tsr_question;

/* All combinations of rules, priced one by one. */
tsr_status tsr__strategy_enumerate(tsr_heap *heap, const tsr_question *q, tsr_strategy *out,
                                   tsr_error *err);
/* The same answer: prices per input from tables, depth first, cut by what the inputs cost at
   least. */
tsr_status tsr__strategy_search(tsr_heap *heap, const tsr_question *q, tsr_strategy *out,
                                tsr_error *err);

/* Shared by both. */
void tsr__strategy_set(const tsr_question *q, const int *rule, tsr_strategy *out); /* the specs */
/* What an output left partial will cost: its cheapest resolution, reduce-scatters from the
   innermost run of partial dims outwards; or the move to the placements that were asked for. */
tsr_status tsr__strategy_pending(tsr_heap *heap, const tsr_question *q, const tsr_spec *out,
                                 tsr_price *price, tsr_error *err);
/* The different placements that rules ask of an input, each for all mesh dims. */
int tsr__strategy_admitted(const tsr_question *q, int input, tsr_placement (*out)[TSR_MAX_MESH],
                           int cap);
tsr_status tsr__strategy_none(const tsr_question *q, tsr_error *err); /* says that there is none */

#endif
