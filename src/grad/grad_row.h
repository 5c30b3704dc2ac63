/* SPDX-License-Identifier: Apache-2.0 */
/* grad_row.h - the gradient of one call by its row. */
#ifndef TSR_GRAD_GRAD_ROW_H
#define TSR_GRAD_GRAD_ROW_H

#include "dispatch/dispatch.h"

/* The lists of a call; what is not set is absent. */
typedef struct tsr_grad_lists {
    tsr_attrs attrs;
    tsr_tensor *in[TSR_MAX_IN], *out[TSR_MAX_OUT], *grad_out[TSR_MAX_OUT], *grad_in[TSR_MAX_IN];
    bool wanted[TSR_MAX_IN];
} tsr_grad_lists;

static inline tsr_grad_call tsr__grad_call_of(const tsr_op *op, tsr_grad_lists *l)
{
    return (tsr_grad_call){op,     &l->attrs,   TSR_MAX_IN, TSR_MAX_OUT, l->in,
                           l->out, l->grad_out, l->wanted,  l->grad_in};
}

/* Fill call->grad_in; what else the row's function makes is gone afterwards. Inputs are checked.
   Collective over the mesh of the inputs. */
tsr_status tsr__grad_row(tsr_ctx *ctx, const tsr_grad_call *call);

/* expr_grad.c: the same for a row that is an expression of others; what it makes stays in the
   scope. */
tsr_status tsr__grad_expr(tsr_ctx *ctx, const tsr_grad_call *call);

#endif
