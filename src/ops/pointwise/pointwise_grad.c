/* SPDX-License-Identifier: Apache-2.0 */
/* pointwise_grad.c - the gradient of lerp, whose weight may be a number or a tensor; those of other
   pointwise ops stand in their rows. */
#include "grad/grad.h"
#include "ops/pointwise/pointwise_ops.h"
#include "ops/pointwise/pointwise_attrs.h"
#include "tessera_ops.h"

/* 1 - weight, weight and b - a */
tsr_status tsr__grad_lerp(const tsr_grad_call *c)
{
    const double number = c->attrs->value[TSR_ATTR_LERP_WEIGHT].f;
    tsr_tensor *g = c->grad_out[0], *weight = c->in[2];
    tsr_tensor *of[3] = {NULL};

    if (c->wanted[0])
        of[0] = weight ? tsr_mul(g, tsr_affine(weight, -1, 1)) : tsr_affine(g, 1 - number, 0);
    if (c->wanted[1])
        of[1] = weight ? tsr_mul(g, weight) : tsr_affine(g, number, 0);
    if (c->wanted[2])
        of[2] = tsr_mul(g, tsr_sub(c->in[1], c->in[0]));
    for (int k = 0; k < 3; k++)
        if (of[k])
            c->grad_in[k] = tsr__grad_fit(of[k], c->in[k]);
    return TSR_OK;
}
