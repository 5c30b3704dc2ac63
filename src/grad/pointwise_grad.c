/* SPDX-License-Identifier: Apache-2.0 */
/* pointwise_grad.c - gradients of ops that treat every element alike. */
#include "grad/grad.h"

tsr_status tsr__grad_add(const tsr_grad_call *c)
{
    for (int k = 0; k < 2; k++)
        if (c->wanted[k])
            c->grad_in[k] = tsr__grad_fit(c->grad_out[0], c->in[k]);
    return TSR_OK;
}

tsr_status tsr__grad_mul(const tsr_grad_call *c)
{
    for (int k = 0; k < 2; k++)
        if (c->wanted[k])
            c->grad_in[k] = tsr__grad_fit(tsr_mul(c->grad_out[0], c->in[1 - k]), c->in[k]);
    return TSR_OK;
}

tsr_status tsr__grad_neg(const tsr_grad_call *c)
{
    if (c->wanted[0])
        c->grad_in[0] = tsr_neg(c->grad_out[0]);
    return TSR_OK;
}
