/* SPDX-License-Identifier: Apache-2.0 */
/* halo_overlap.h - overlaps the halo exchange with computation: a rank's part of the output is
   split into its interior, which needs no data of other ranks and is computed while the halo is
   fetched, and the boundary around it, computed after. */
#ifndef TSR_RUN_HALO_OVERLAP_H
#define TSR_RUN_HALO_OVERLAP_H

#include "op/windows.h"
#include "tensor/tensor.h"

typedef struct tsr_halo_overlap tsr_halo_overlap;

/* Whether it pays by the cost model: does fetching the halo take longer than copying operands and
   results? Pure. */
bool tsr__halo_overlap_pays(const tsr_kernel_call *call, const tsr_windows *windows,
                            double halo_seconds, const tsr_cost *cost);
/* The kernel call of a rank in pieces; NULL if there is no interior, or if the op is not of the
   kind that can be cut: its anchor is an output, and its other operands are windows, of all, or cut
   as the anchor is. Local. */
tsr_status tsr__halo_overlap_make(tsr_mesh *mesh, const tsr_schema *schema, const tsr_spec *in,
                                  const tsr_spec *out, const tsr_windows *windows,
                                  const tsr_kernel_call *call, tsr_halo_overlap **overlap);
/* Of a call with these attributes. NULL is fine. */
void tsr__halo_overlap_free(tsr_ctx *ctx, tsr_halo_overlap *overlap, const tsr_attr *attrs);

/* The interior, from the own parts `in`; then the boundary, from the windows in call->in. Outputs
   are those of the call, attributes as it was called with. Local. */
tsr_status tsr__halo_overlap_interior(tsr_halo_overlap *overlap, tsr_ctx *ctx,
                                      const tsr_kernel_call *call, const tsr_attr *attrs,
                                      tsr_tensor *const *in);
tsr_status tsr__halo_overlap_boundary(tsr_halo_overlap *overlap, tsr_ctx *ctx,
                                      const tsr_kernel_call *call, const tsr_attr *attrs);

#endif
