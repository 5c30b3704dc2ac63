/* SPDX-License-Identifier: Apache-2.0 */
/* propagate.h - from a call to its op plan, impossible calls included. Pure; called by dispatch for
   every call that it has not met (dispatch/cached_call.c). */
#ifndef TSR_PROPAGATE_PROPAGATE_H
#define TSR_PROPAGATE_PROPAGATE_H

#include "op/op_table.h"
#include "propagate/strategy.h"

/* A call as the cache sees it: nothing is copied unless it is new. Inputs are known by address, for
   the caller has one spec of each value. */
typedef struct tsr_op_plan_key {
    tsr_op_entry *entry;
    const tsr_attr *attrs; /* as many as the entry says */
    int n_in;
    const tsr_spec *in[TSR_MAX_IN]; /* NULL: an absent optional input */
    const tsr_placement *want;      /* placements that output 0 shall end in; NULL: any */
    uint64_t hash;                  /* of all of that */
    const tsr_cost *cost;
    int cost_version; /* equal versions are equal costs */
} tsr_op_plan_key;

/* The op plan of a call, with all that it was made of. What dispatch keeps of it is a small part
   (tsr_cached_call). */
typedef struct tsr_op_plan_full {
    tsr_schema schema;
    tsr_strategy strategy;
    tsr_error why;   /* code TSR_OK, or why the call is impossible */
    unsigned stays;  /* inputs that are where they are needed, a mask */
    unsigned direct; /* in place: inputs where the kernel may write, a mask */
} tsr_op_plan_full;

/* Also if the call is impossible (look at why). */
tsr_status tsr__propagate(tsr_heap *heap, const tsr_op_plan_key *key, tsr_op_plan_full *out,
                          tsr_error *err);
/* The cheapest strategy of a schema that was checked, by search or by trying everything. */
tsr_status tsr__op_plan_strategy(tsr_heap *heap, const tsr_schema *schema, const tsr_cost *cost,
                                 const tsr_placement *want, bool exhaustive, tsr_strategy *out,
                                 tsr_error *err);

#endif
