/* SPDX-License-Identifier: Apache-2.0 */
/* layer_norm_grad.c - gradients of layer_norm and rms_norm, in ops. That of softmax is in its row,
   in softmax.c. Called by backward through the rows of layer_norms.c. */
#include "grad/grad.h"
#include "ops/normalisation/normalisation_ops.h"
#include "ops/normalisation/normalisation_attrs.h"
#include "tessera_ops.h"

/* Where statistics are used by themselves: mean depends on x by 1 / n, and rstd by
   -rstd^3 (x - mean) / n. They are f32 where x is f16 or bf16. */
static tsr_tensor *through_statistics(const tsr_grad_call *c, tsr_tensor *mean, tsr_tensor *rstd,
                                      tsr_tensor *grad_mean, tsr_tensor *grad_rstd)
{
    const tsr_shape *shape = &tsr_tensor_spec(c->in[0])->shape;
    tsr_tensor *sum = NULL;
    double n = 1;

    for (int d = shape->ndim - (int)c->attrs->value[TSR_ATTR_LAYER_NORM_N_DIMS].i[0];
         d < shape->ndim; d++)
        n *= (double)shape->size[d];
    if (n <= 0 || (!grad_mean && !grad_rstd))
        return NULL;
    if (grad_rstd) {
        tsr_tensor *cube = tsr_mul(rstd, tsr_mul(rstd, rstd)), *x = tsr__grad_as(c->in[0], rstd);
        sum = tsr_mul(tsr_affine(tsr_mul(grad_rstd, cube), -1 / n, 0), mean ? tsr_sub(x, mean) : x);
    }
    if (grad_mean) {
        grad_mean = tsr_affine(grad_mean, 1 / n, 0);
        sum = sum ? tsr_add(sum, grad_mean) : tsr_expand(grad_mean, shape->size, shape->ndim);
    }
    return tsr__grad_as(sum, c->in[0]);
}

tsr_status tsr__grad_layer_norm(const tsr_grad_call *c)
{
    tsr_tensor **g = c->grad_in;
    tsr_status st = TSR_OK;

    if (c->grad_out[0] && (c->wanted[0] || c->wanted[1] || c->wanted[2]))
        st = tsr_layer_norm_backward(c->grad_out[0], c->in[0], c->in[1], c->out[1], c->out[2],
                                     (int)c->attrs->value[TSR_ATTR_LAYER_NORM_N_DIMS].i[0],
                                     c->wanted[0] ? &g[0] : NULL, c->wanted[1] ? &g[1] : NULL,
                                     c->wanted[2] ? &g[2] : NULL);
    for (int k = 1; k < 3 && st == TSR_OK; k++) /* without a weight they come as statistics do */
        if (g[k])
            g[k] = tsr__grad_as(g[k], c->in[k]);
    if (c->wanted[0] && st == TSR_OK)
        g[0] = tsr__grad_added(
            g[0], through_statistics(c, c->out[1], c->out[2], c->grad_out[1], c->grad_out[2]));
    return st;
}

tsr_status tsr__grad_rms_norm(const tsr_grad_call *c)
{
    tsr_tensor **g = c->grad_in;
    tsr_status st = TSR_OK;

    if (c->grad_out[0] && (c->wanted[0] || c->wanted[1]))
        st = tsr_rms_norm_backward(c->grad_out[0], c->in[0], c->in[1], c->out[1],
                                   (int)c->attrs->value[TSR_ATTR_RMS_NORM_N_DIMS].i[0],
                                   c->wanted[0] ? &g[0] : NULL, c->wanted[1] ? &g[1] : NULL);
    if (c->wanted[0] && st == TSR_OK)
        g[0] = tsr__grad_added(g[0], through_statistics(c, NULL, c->out[1], NULL, c->grad_out[1]));
    return st;
}
