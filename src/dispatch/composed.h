/* SPDX-License-Identifier: Apache-2.0 */
/* composed.h - ops that are made of other ops. */
#ifndef TSR_DISPATCH_COMPOSED_H
#define TSR_DISPATCH_COMPOSED_H

#include "dispatch/dispatch.h"

/* Run a call of such an op. Collective over the mesh of the inputs. */
tsr_status tsr__compose(tsr_ctx *ctx, const tsr_op_call *call, tsr_tensor **out);

/* While one runs: what an input of a part was moved to, so that the next part has it; NULL if it
   was not moved there. And to remember a move. Local. */
tsr_tensor *tsr__moved_before(const tsr_ctx *ctx, const tsr_tensor *x, const tsr_spec *to);
void tsr__moved_add(tsr_ctx *ctx, tsr_tensor *from, tsr_tensor *to);

#endif
