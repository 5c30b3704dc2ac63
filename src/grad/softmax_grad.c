/* SPDX-License-Identifier: Apache-2.0 */
/* softmax_grad.c - gradients of softmax, of its log, and of the normalisations of last dims. */
#include "grad/grad.h"
#include "grad/loss_grad.h"

tsr_status tsr__grad_softmax(const tsr_grad_call *c)
{
    if (c->wanted[0])
        c->grad_in[0] =
            tsr_softmax_backward(c->grad_out[0], c->out[0], (int)c->attrs->value[0].i[0]);
    return TSR_OK;
}

tsr_status tsr__grad_log_softmax(const tsr_grad_call *c)
{
    if (c->wanted[0])
        c->grad_in[0] =
            tsr_log_softmax_backward(c->grad_out[0], c->out[0], (int)c->attrs->value[0].i[0]);
    return TSR_OK;
}

tsr_tensor *tsr__grad_scalar(const tsr_tensor *like, double value)
{
    const tsr_spec *x = tsr_tensor_spec(like);
    const tsr_spec spec = {.dtype = x->dtype, .mesh = x->mesh};
    char text[TSR_TEXT_LEN];

    return tsr_full(tsr_tensor_mesh(like), tsr_spec_text(&spec, text, sizeof text), value);
}

tsr_tensor *tsr__grad_added(tsr_tensor *a, tsr_tensor *b)
{
    return a && b ? tsr_add(a, b) : a ? a : b;
}

/* Where statistics are used by themselves: mean depends on x by 1 / n, and rstd by
   -rstd^3 (x - mean) / n. */
static tsr_tensor *through_statistics(const tsr_grad_call *c, tsr_tensor *mean, tsr_tensor *rstd,
                                      tsr_tensor *grad_mean, tsr_tensor *grad_rstd)
{
    const tsr_shape *x = &tsr_tensor_spec(c->in[0])->shape;
    tsr_tensor *sum = NULL, *each;
    double n = 1;

    for (int d = x->ndim - (int)c->attrs->value[0].i[0]; d < x->ndim; d++)
        n *= (double)x->size[d];
    each = tsr__grad_scalar(c->in[0], n > 0 ? 1 / n : 0);
    if (grad_rstd) {
        tsr_tensor *cube = tsr_mul(rstd, tsr_mul(rstd, rstd));
        sum = tsr_mul(tsr_neg(tsr_mul(grad_rstd, cube)),
                      mean ? tsr_add(c->in[0], tsr_neg(mean)) : c->in[0]);
    }
    if (grad_mean) /* in the shape of x */
        sum = tsr__grad_added(sum,
                              tsr_add(grad_mean, tsr_mul(c->in[0], tsr__grad_scalar(c->in[0], 0))));
    return sum ? tsr_mul(sum, each) : NULL;
}

tsr_status tsr__grad_layer_norm(const tsr_grad_call *c)
{
    tsr_tensor **g = c->grad_in;
    tsr_status st = TSR_OK;

    if (c->grad_out[0] && (c->wanted[0] || c->wanted[1] || c->wanted[2]))
        st = tsr_layer_norm_backward(c->grad_out[0], c->in[0], c->in[1], c->out[1], c->out[2],
                                     (int)c->attrs->value[0].i[0], c->wanted[0] ? &g[0] : NULL,
                                     c->wanted[1] ? &g[1] : NULL, c->wanted[2] ? &g[2] : NULL);
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
                                   (int)c->attrs->value[0].i[0], c->wanted[0] ? &g[0] : NULL,
                                   c->wanted[1] ? &g[1] : NULL);
    if (c->wanted[0] && st == TSR_OK)
        g[0] = tsr__grad_added(g[0], through_statistics(c, NULL, c->out[1], NULL, c->grad_out[1]));
    return st;
}
