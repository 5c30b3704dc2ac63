/* SPDX-License-Identifier: Apache-2.0 */
/* pooling_grad.c - gradients of pooling, with the attributes of the call and the sizes of its
   input. */
#include "ops/convolution/typed_space.h"
#include "grad/grad.h"
#include "ops/convolution/convolution_ops.h"
#include "ops/convolution/pooling_call.h"

/* `own`: attributes of the row, before the gradient's `input`. */
static tsr_tensor *backward(const tsr_grad_call *c, const char *name, tsr_tensor *const *in,
                            int n_in, int own)
{
    const tsr_shape *x = &tsr_tensor_spec(c->in[0])->shape; /* of its values nothing may be left */
    tsr_attr a[TSR_POOLING_OWN + 2];

    for (int i = 0; i < own; i++)
        a[i] = c->attrs->value[i];
    a[own] = typed_numbers(&x->size[2], x->ndim - 2, 0);
    return tsr__dispatch_typed(name, in, n_in, a, NULL);
}

tsr_status tsr__grad_max_pool(const tsr_grad_call *c)
{
    if (c->wanted[0])
        c->grad_in[0] = backward(c, "max_pool_backward",
                                 (tsr_tensor *[]){c->grad_out[0], c->out[1]}, 2, TSR_POOLING_OWN);
    return TSR_OK;
}

tsr_status tsr__grad_avg_pool(const tsr_grad_call *c)
{
    if (c->wanted[0])
        c->grad_in[0] = backward(c, "avg_pool_backward", c->grad_out, 1, TSR_POOLING_OWN + 1);
    return TSR_OK;
}
