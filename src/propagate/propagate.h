/* SPDX-License-Identifier: Apache-2.0 */
/* propagate.h - from a call to its plan, impossible calls included. Pure; called by dispatch for
   every call that it has not met (dispatch/plan_cache.c). */
#ifndef TSR_PROPAGATE_PROPAGATE_H
#define TSR_PROPAGATE_PROPAGATE_H

#include "base/cache.h"
#include "op/op_table.h"
#include "propagate/strategy.h"

/* A call as the cache sees it: nothing is copied unless it is new. Inputs are known by address, for
   the caller has one spec of each value. */
typedef struct tsr_plan_key {
    const tsr_op_entry *entry;
    const tsr_attr *attrs; /* as many as the entry says */
    int n_in;
    const tsr_spec *in[TSR_MAX_IN]; /* NULL: an absent optional input */
    const tsr_placement *want;      /* placements that output 0 shall end in; NULL: any */
    uint64_t hash;                  /* of all of that */
    const tsr_cost *cost;
    int cost_version; /* equal versions are equal costs */
} tsr_plan_key;

typedef struct tsr_plan {
    tsr_cached cached; /* held by calls that run */
    tsr_plan_key key;  /* attrs, want and cost are those below */
    tsr_schema schema;
    tsr_placement want[TSR_MAX_MESH];
    tsr_cost cost;
    tsr_error why; /* code TSR_OK, or why the call is impossible */
    tsr_strategy strategy;
    bool stays[TSR_MAX_IN]; /* the input is where it is needed */
    bool all_stay;
    bool direct[TSR_MAX_OUT]; /* in place: the kernel may write where this input is */
    void *local;              /* dispatch's: what the call is on this rank */
} tsr_plan;

/* A new plan for a call; also if it is impossible (look at why). */
tsr_status tsr__propagate(tsr_heap *heap, const tsr_plan_key *key, tsr_plan **out, tsr_error *err);
/* Is it the plan of this call? If by costs of another version, it is known as of this one then. */
bool tsr__plan_is_of(tsr_plan *plan, const tsr_plan_key *key);
/* The cheapest strategy of a schema that was checked, by search or by trying everything. */
tsr_status tsr__plan_strategy(tsr_heap *heap, const tsr_schema *schema, const tsr_cost *cost,
                              const tsr_placement *want, bool exhaustive, tsr_strategy *out,
                              tsr_error *err);

#endif
