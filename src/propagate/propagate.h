/* SPDX-License-Identifier: Apache-2.0 */
/* propagate.h - from a call's schema to its plan: cached by value, impossible ones included.
   Pure but for the cache; called by dispatch on every op. */
#ifndef TSR_PROPAGATE_PROPAGATE_H
#define TSR_PROPAGATE_PROPAGATE_H

#include "propagate/strategy.h"

typedef struct tsr_plan {
    tsr_schema schema;
    uint64_t hash;
    tsr_cost cost;
    tsr_error why; /* code TSR_OK, or why the call is impossible */
    tsr_strategy strategy;
    bool stays[TSR_MAX_IN]; /* the input is where it is needed */
    int64_t divisor;        /* of a mean */
    void *local;            /* dispatch's: what the output is on this rank */
    struct tsr_plan *next;
} tsr_plan;

typedef struct tsr_plan_cache tsr_plan_cache;

/* A call as the cache sees it: nothing is copied unless it is new. */
typedef struct tsr_plan_key {
    const tsr_op *op;
    const tsr_attrs *attrs;
    const tsr_spec *in[TSR_MAX_IN]; /* NULL: an absent optional input */
    int n_in;
    uint64_t hash; /* of all of that */
} tsr_plan_key;

/* The plan of a call; *out also if it is impossible (look at why). */
tsr_status tsr__propagate(tsr_heap *heap, tsr_plan_cache **cache, const tsr_plan_key *key,
                          const tsr_cost *cost, tsr_counters *counters, tsr_plan **out,
                          tsr_error *err);
/* Plan without a cache; *out is only set on success. */
tsr_status tsr__propagate_once(tsr_heap *heap, const tsr_schema *call, const tsr_cost *cost,
                               const tsr_placement *want, tsr_plan *out, tsr_error *err);
void tsr__plan_cache_free(tsr_heap *heap, tsr_plan_cache *cache);

#endif
