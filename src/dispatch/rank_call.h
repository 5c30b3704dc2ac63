/* SPDX-License-Identifier: Apache-2.0 */
/* rank_call.h - what a cached call is on this rank, made once and the same for every such call: the
   kernel's call and its halo. */
#ifndef TSR_DISPATCH_RANK_CALL_H
#define TSR_DISPATCH_RANK_CALL_H

#include "dispatch/cached_call.h"
#include "dispatch/dispatch.h"
#include "run/compact_call.h"
#include "run/halo.h"
#include "run/halo_overlap.h"

typedef struct tsr_rank_call {
    tsr_compact_call *call;
    tsr_halo *halo;            /* operands that are seen through windows; NULL: none */
    tsr_halo_overlap *overlap; /* the call in pieces; NULL: not (yet) */
    bool overlap_tried, overlap_pays;
} tsr_rank_call;

/* Made and kept with the call when it is first needed: plan->rank. Local. */
tsr_status tsr__rank_call_make(tsr_mesh *mesh, tsr_cached_call *plan);
/* Of a call with these attributes. NULL is fine. */
void tsr__rank_call_free(tsr_ctx *ctx, tsr_rank_call *rank, const tsr_attr *attrs);

/* The kernel, on windows where there are any. An error of its own is named by the op, after
   call->part if there is one, and told to all ranks. Collective if halos are exchanged, else Local.
   */
tsr_status tsr__rank_call_run(tsr_mesh *mesh, const tsr_op_call *call, tsr_cached_call *plan,
                              tsr_tensor *const *in, tsr_tensor *const *out);

#endif
