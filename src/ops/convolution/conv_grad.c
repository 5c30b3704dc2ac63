/* SPDX-License-Identifier: Apache-2.0 */
/* conv_grad.c - the gradient of convolution in all its forms: conv_backward with the attributes of
   the call. */
#include "dispatch/dispatch.h"
#include "grad/grad.h"
#include "ops/convolution/convolution_ops.h"
#include "ops/convolution/conv_call.h"

tsr_status tsr__grad_conv(const tsr_grad_call *c)
{
    const int n = c->n_in < 3 ? c->n_in : 3;
    tsr_tensor *in[] = {c->grad_out[0], c->in[0], c->in[1]}, *out[TSR_MAX_OUT] = {NULL};
    tsr_attr a[TSR_CONV_OWN + 1];

    for (int i = 0; i < TSR_CONV_OWN; i++)
        a[i] = c->attrs->value[i];
    a[TSR_CONV_OWN] = (tsr_attr){.n = 3};
    for (int k = 0; k < n; k++)
        a[TSR_CONV_OWN].i[k] = c->wanted[k];
    tsr__dispatch_typed("conv_backward", in, 3, a, out);
    for (int k = 0; k < n; k++)
        c->grad_in[k] = out[k];
    return tsr_mesh_status(tsr_tensor_mesh(c->in[0]));
}
