/* SPDX-License-Identifier: Apache-2.0 */
/* attention_grad.c - the gradient of attention: attention_backward with the attributes of the
   call. */
#include "grad/grad.h"
#include "ops/attention/attention_ops.h"

tsr_status tsr__grad_attention(const tsr_grad_call *c)
{
    const tsr_attr *attrs = c->attrs->value;
    const bool of_mask = c->n_in > 3 && c->wanted[3];
    const tsr_attention_opts opts = {.causal = attrs[0].i[0] != 0,
                                     .scale = attrs[1].n > 0 ? attrs[1].f : 0,
                                     .group = attrs[2].n > 0 ? attrs[2].i[0] : 0};
    tsr_tensor *grad = c->grad_out[0], *out[3], *mask = NULL;
    tsr_status st;

    if (!grad) /* only the sums of rows were used */
        grad = tsr_tensor_new(tsr_tensor_mesh(c->out[0]), tsr_tensor_spec(c->out[0]));
    st = tsr_attention_backward(grad, c->in[0], c->in[1], c->in[2], c->out[0], c->out[1],
                                c->grad_out[1], c->n_in > 3 ? c->in[3] : NULL, &opts, out,
                                of_mask ? &mask : NULL);
    for (int k = 0; k < 3; k++)
        if (c->wanted[k])
            c->grad_in[k] = out[k];
    if (of_mask)
        c->grad_in[3] = mask;
    return st;
}
