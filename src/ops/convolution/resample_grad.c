/* SPDX-License-Identifier: Apache-2.0 */
/* resample_grad.c - gradients of ops that give space other sizes. */
#include "grad/grad.h"
#include "ops/convolution/convolution_ops.h"

enum { SIZE = 0, CORNERS = 1 }; /* attributes */

static const int64_t *space_of(const tsr_tensor *x)
{
    return &tsr_tensor_spec(x)->shape.size[2];
}

static tsr_status upsampled(const tsr_grad_call *c, tsr_upsample_mode mode)
{
    if (c->wanted[0])
        c->grad_in[0] = tsr_upsample_backward(c->grad_out[0], space_of(c->in[0]), mode);
    return TSR_OK;
}

tsr_status tsr__grad_adaptive_avg_pool(const tsr_grad_call *c)
{
    if (c->wanted[0])
        c->grad_in[0] = tsr_adaptive_avg_pool_backward(c->grad_out[0], space_of(c->in[0]));
    return TSR_OK;
}

tsr_status tsr__grad_upsample_nearest(const tsr_grad_call *c)
{
    return upsampled(c, TSR_UPSAMPLE_NEAREST);
}

tsr_status tsr__grad_upsample_linear(const tsr_grad_call *c)
{
    return upsampled(c, c->attrs->value[CORNERS].i[0] ? TSR_UPSAMPLE_LINEAR_CORNERS
                                                      : TSR_UPSAMPLE_LINEAR);
}
