/* SPDX-License-Identifier: Apache-2.0 */
/* redist_plan.h - a redistribution plan: the steps from one layout to another. Made by
   redist_plan.c; its exact bytes by redist_bytes.c; run by redist/. */
#ifndef TSR_LAYOUT_REDIST_PLAN_H
#define TSR_LAYOUT_REDIST_PLAN_H

#include "layout/layout.h"

typedef struct tsr_redist_plan_step {
    tsr_step_kind kind;
    unsigned mdims; /* mesh dims of from.mesh that it runs over */
    tsr_layout from, to;
    double seconds, bytes; /* as the search prices them; for exact bytes see below */
    tsr_reduce op;         /* reductions: SUM, MIN, MAX or PROD */
    int64_t divisor;       /* of the sum; averages */
} tsr_redist_plan_step;

struct tsr_redist {
    tsr_spec from, to;
    tsr_heap own; /* used when there is no other */
    tsr_heap *heap;
    int n_steps, cap;
    tsr_redist_plan_step *step;
    double seconds;
};

/* tsr_redist_plan with memory from a heap that outlives the plan. */
tsr_status tsr__redist_plan_make(tsr_heap *heap, const tsr_spec *from, const tsr_spec *to,
                                 const tsr_cost *cost, size_t memory_limit, tsr_redist_rival rival,
                                 tsr_redist **out, tsr_error *err);

/* redist_bytes.c: exact numbers of a step, in bytes, for the rank with the given index of from.mesh
   (of to.mesh for what an exchange onto another mesh brings in). */
int64_t tsr__step_bytes_in(const tsr_redist_plan_step *step, int rank);
int64_t tsr__step_bytes_out(const tsr_redist_plan_step *step, int rank);
int64_t tsr__step_bytes_max(const tsr_redist_plan_step *step); /* in, over all ranks */

/* Bytes held at once on a rank at the most: the input, and input and output of a step. */
size_t tsr__redist_plan_peak(const tsr_redist *plan);

/* The rank of `mesh` that gives a part with source coordinates `owner` on the mesh dims that shard
   to `rank`: itself where possible, else the replica with the same coordinates as the taker, or,
   for a taker outside, one chosen by its number. Writes the coordinates of the giver. */
void tsr__holder(const tsr_layout *from, int rank, const int *owner, int *coord);

#endif
