/* SPDX-License-Identifier: Apache-2.0 */
/* grad_row.h - the gradient of one call by its row. */
#ifndef TSR_GRAD_GRAD_ROW_H
#define TSR_GRAD_GRAD_ROW_H

#include "dispatch/dispatch.h"

/* Fill call->grad_in; what else the row's function makes is gone afterwards. Inputs are checked.
   Collective over the mesh of the inputs. */
tsr_status tsr__grad_row(tsr_ctx *ctx, const tsr_grad_call *call);

/* means_grad.c: the same for a row that is a text of others; what it makes stays in the scope. */
tsr_status tsr__grad_means(tsr_ctx *ctx, const tsr_grad_call *call);

#endif
