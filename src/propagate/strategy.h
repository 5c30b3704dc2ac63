/* SPDX-License-Identifier: Apache-2.0 */
/* strategy.h - one rule per mesh dim: the cheapest way to run a call. Pure: global facts only, so
   all ranks find the same. Two searches give the same answer: one tries everything and stays as the
   reference, the other is fast. */
#ifndef TSR_PROPAGATE_STRATEGY_H
#define TSR_PROPAGATE_STRATEGY_H

#include "layout/redist_cost_table.h"
#include "op/local_call.h"
#include "op/schema.h"

typedef struct tsr_strategy {
    tsr_spec in[TSR_MAX_IN], out[TSR_MAX_OUT];
    tsr_algorithm algorithm; /* how the op runs there */
    tsr_price price;         /* all of it: */
    tsr_price inputs;        /* bringing the inputs there */
    tsr_price comm;          /* what the op moves by itself */
    tsr_price pending;       /* what partial outputs will cost, or the move to the asked spec */
} tsr_strategy;

/* What is to be decided. */
typedef struct tsr_search_problem {
    const tsr_schema *schema; /* tsr__schema_effective */
    const tsr_rules *rules;
    const tsr_cost *cost;
    /* placements that output 0 shall have in the end; NULL: any. What is overwritten keeps its
       own, unless this says otherwise. */
    const tsr_placement *want;
} tsr_search_problem;

/* All combinations of rules, or all strategies of a row that speaks of the whole mesh, priced one
   by one. */
tsr_status tsr__strategy_enumerate(tsr_heap *heap, const tsr_search_problem *q, tsr_strategy *out,
                                   tsr_error *err);
/* The same answer: prices per input from tables, depth first, cut by what the inputs cost at
   least. */
tsr_status tsr__strategy_search(tsr_heap *heap, const tsr_search_problem *q, tsr_strategy *out,
                                tsr_error *err);

/* Shared by both. The specs of a strategy from its rules, one per mesh dim. */
void tsr__strategy_set(const tsr_search_problem *q, const tsr_rule *const *rule, tsr_strategy *out);
/* Decide how the op runs with these specs: s->algorithm. False: not at all. */
bool tsr__strategy_decide(const tsr_search_problem *q, tsr_strategy *s);
/* The price of what follows the inputs, once decided: comm and pending. An output left partial is
   charged its cheapest resolution, reduce-scatters from the innermost run of partial dims outwards;
   or the move to the placements that were asked for. */
tsr_status tsr__strategy_price_rest(tsr_heap *heap, const tsr_search_problem *q, tsr_strategy *s,
                                    tsr_error *err);
/* That of bringing input k to these placements, by its own plan. */
tsr_status tsr__strategy_price_input(tsr_heap *heap, const tsr_search_problem *q, int k,
                                     const tsr_placement *to, tsr_price *out, tsr_error *err);
/* Those of all inputs; then all of it. */
tsr_status tsr__strategy_price_inputs(tsr_heap *heap, const tsr_search_problem *q, tsr_strategy *s,
                                      tsr_error *err);
void tsr__strategy_price_sum(tsr_strategy *s);
/* Keep s in best if it is possible and better than what is there. */
void tsr__strategy_keep(const tsr_strategy *s, tsr_strategy *best, bool *found);
tsr_status tsr__strategy_none(const tsr_search_problem *q,
                              tsr_error *err); /* says that there is none */

#endif
