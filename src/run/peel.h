/* SPDX-License-Identifier: Apache-2.0 */
/* peel.h - the part of a guide as its interior, which needs nothing of other ranks, and the borders
   around it: the interior is computed while the windows are still being filled. */
#ifndef TSR_RUN_PEEL_H
#define TSR_RUN_PEEL_H

#include "op/windows.h"
#include "tensor/tensor.h"

typedef struct tsr_peel tsr_peel;

/* Whether it pays by the model: does filling the windows take longer than cutting operands and
   pasting results? Pure. */
bool tsr__peel_pays(const tsr_kernel_call *call, const tsr_windows *windows, double halo_seconds,
                    const tsr_cost *cost);
/* The kernel call of a rank in pieces; NULL if there is no interior, or if the op is not of the
   kind that can be cut: its guide is an output, and its other operands are windows, of all, or cut
   as the guide is. Local. */
tsr_status tsr__peel_make(tsr_mesh *mesh, const tsr_schema *schema, const tsr_spec *in,
                          const tsr_spec *out, const tsr_windows *windows,
                          const tsr_kernel_call *call, tsr_peel **peel);
void tsr__peel_free(tsr_ctx *ctx, tsr_peel *peel); /* NULL is fine */

/* The interior, from the own parts `in`; then the borders, from the windows in call->in. Outputs
   are those of the call. Local. */
tsr_status tsr__peel_interior(tsr_peel *peel, tsr_ctx *ctx, const tsr_kernel_call *call,
                              tsr_tensor *const *in);
tsr_status tsr__peel_borders(tsr_peel *peel, tsr_ctx *ctx, const tsr_kernel_call *call);

#endif
