/* SPDX-License-Identifier: Apache-2.0 */
/* local_plan.h - what a plan is on this rank, made once and the same for every call: the kernel's
   call and its halo. */
#ifndef TSR_DISPATCH_LOCAL_PLAN_H
#define TSR_DISPATCH_LOCAL_PLAN_H

#include "propagate/propagate.h"
#include "run/halo.h"
#include "run/halo_overlap.h"
#include "tensor/tensor.h"

typedef struct tsr_local_plan {
    const tsr_op *op;
    tsr_local_spec *out[TSR_MAX_OUT]; /* held */
    tsr_halo *halo;                   /* operands that are seen through windows; NULL: none */
    tsr_halo_overlap *overlap;        /* the call in pieces; NULL: not (yet) */
    bool overlap_tried, overlap_pays;
    tsr_kernel_call call; /* but for the data */
    tsr_memory memory;    /* the call's */
    /* of the last call, if statistics are on: seconds that windows took, and seconds of computing
       while they were on their way */
    double windows, hidden;
} tsr_local_plan;

/* Kept with the plan, made when it is first needed. Local. */
tsr_status tsr__local_plan_get(tsr_mesh *mesh, tsr_plan *plan, tsr_local_plan **out);
void tsr__local_plan_free(tsr_ctx *ctx, tsr_local_plan *local); /* NULL is fine */

/* The kernel, on windows where there are any. An error of its own is named by the op, after `part`
   if there is one, and told to all ranks. Collective if windows travel, else Local. */
tsr_status tsr__local_plan_run(tsr_mesh *mesh, const char *part, const tsr_plan *plan,
                               tsr_tensor *const *in, tsr_tensor *const *out);

#endif
