/* SPDX-License-Identifier: Apache-2.0 */
/* attention_grad.c - the gradient of attention: attention_backward with the attributes of the
   call. */
#include "dispatch/dispatch.h"
#include "grad/grad.h"
#include "ops/attention/attention_attrs.h"
#include "ops/attention/attention_ops.h"
#include "ops/op_ids.h"

tsr_status tsr__grad_attention(const tsr_grad_call *c)
{
    const tsr_attr *attrs = c->attrs->value;
    const bool of_mask = c->n_in > 3 && c->wanted[3];
    const tsr_attr a[] = {attrs[TSR_ATTR_ATTENTION_CAUSAL],
                          attrs[TSR_ATTR_ATTENTION_SCALE],
                          attrs[TSR_ATTR_ATTENTION_GROUP],
                          {.n = 1, .i = {of_mask}}};
    tsr_tensor *grad = c->grad_out[0], *out[TSR_MAX_OUT] = {NULL};
    tsr_status st;

    if (!grad) /* only the sums of rows were used */
        grad = tsr_tensor_new(tsr_tensor_mesh(c->out[0]), tsr_tensor_spec(c->out[0]));
    st = tsr__tensor_status(tsr__dispatch_typed(
        TSR_ID_ATTENTION_BACKWARD,
        (tsr_tensor *[]){grad, c->in[0], c->in[1], c->in[2], c->out[0], c->out[1], c->grad_out[1],
                         c->n_in > 3 ? c->in[3] : NULL},
        8, a, out));
    for (int k = 0; k < c->n_in; k++)
        if (c->wanted[k])
            c->grad_in[k] = out[k];
    return st;
}
