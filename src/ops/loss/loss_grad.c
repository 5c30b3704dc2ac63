/* SPDX-License-Identifier: Apache-2.0 */
/* loss_grad.c - gradients of the losses. */
#include "grad/grad.h"
#include "ops/loss/loss_ops.h"
#include "tessera_ops.h"

enum { REDUCTION = 0, IGNORE = 1, SMOOTHING = 2 }; /* attributes */

static tsr_loss_reduction reduction_of(const tsr_grad_call *c)
{
    return (tsr_loss_reduction)c->attrs->value[REDUCTION].i[0];
}

static tsr_class_opts opts_of(const tsr_grad_call *c, bool logits)
{
    const tsr_attr *a = c->attrs->value;
    tsr_class_opts opts = tsr_class_opts_default();

    opts.reduction = reduction_of(c);
    opts.ignore_index = a[IGNORE].i[0];
    opts.label_smoothing = logits ? a[SMOOTHING].f : 0;
    return opts;
}

/* Over all dims but the last. */
static tsr_tensor *sum_rows(tsr_tensor *x)
{
    int dims[TSR_MAX_DIM], n = tsr_tensor_spec(x)->shape.ndim - 1;

    for (int d = 0; d < n; d++)
        dims[d] = d;
    return n > 0 ? tsr_sum(x, dims, n, false) : x;
}

/* That of weights. at[row][class] is minus the gradient of the row's loss at its target, 0
   elsewhere: of log-probabilities p each row has at * p, of which a mean is less its loss, since it
   is divided by weights too; and smoothing gives a share to every class. */
static tsr_tensor *weight_grad(const tsr_grad_call *c, const tsr_class_opts *o, tsr_tensor *p,
                               tsr_tensor *divisor, tsr_tensor *grad_divisor)
{
    const tsr_shape *x = &tsr_tensor_spec(p)->shape;
    const int last = x->ndim - 1;
    tsr_tensor *sum = NULL;

    if (c->grad_out[0]) {
        tsr_tensor *at = tsr_nll_loss_backward(c->grad_out[0], p, c->in[1], NULL, divisor, o);
        tsr_tensor *of = tsr_mul(p, tsr__grad_scalar(p, 1 - o->label_smoothing));

        if (o->reduction == TSR_LOSS_MEAN)
            of = tsr_add(of, c->out[0]);
        sum = tsr_mul(at, of);
        if (o->label_smoothing != 0)
            sum = tsr_add(sum,
                          tsr_mul(tsr_mul(tsr_sum(at, &last, 1, true), p),
                                  tsr__grad_scalar(p, o->label_smoothing / (double)x->size[last])));
    }
    if (grad_divisor) { /* it counts weights */
        tsr_class_opts all = *o;

        all.reduction = TSR_LOSS_SUM;
        sum = tsr__grad_added(sum, tsr_neg(tsr_nll_loss_backward(tsr__grad_as(grad_divisor, p), p,
                                                                 c->in[1], NULL, NULL, &all)));
    }
    return sum ? tsr__grad_as(sum_rows(sum), c->in[2]) : NULL;
}

/* What flows through the log of the sum of exponentials, which is f64: softmax. */
static tsr_tensor *through_lse(const tsr_grad_call *c)
{
    const tsr_shape *x = &tsr_tensor_spec(c->in[0])->shape;
    int64_t sizes[TSR_MAX_DIM];

    for (int d = 0; d < x->ndim; d++)
        sizes[d] = d < x->ndim - 1 ? x->size[d] : 1;
    return tsr_mul(tsr_reshape(tsr__grad_as(c->grad_out[1], c->in[0]), sizes, x->ndim),
                   tsr_softmax(c->in[0], -1));
}

tsr_status tsr__grad_cross_entropy(const tsr_grad_call *c)
{
    const tsr_class_opts o = opts_of(c, true);

    if (c->wanted[0]) {
        if (c->grad_out[0])
            c->grad_in[0] = tsr_cross_entropy_backward(c->grad_out[0], c->in[0], c->in[1], c->in[2],
                                                       c->out[1], c->out[2], &o);
        if (c->grad_out[1])
            c->grad_in[0] = tsr__grad_added(c->grad_in[0], through_lse(c));
    }
    if (c->wanted[2])
        c->grad_in[2] =
            weight_grad(c, &o, tsr_log_softmax(c->in[0], -1), c->out[2], c->grad_out[2]);
    return TSR_OK;
}

tsr_status tsr__grad_nll_loss(const tsr_grad_call *c)
{
    const tsr_class_opts o = opts_of(c, false);

    if (c->wanted[0] && c->grad_out[0])
        c->grad_in[0] =
            tsr_nll_loss_backward(c->grad_out[0], c->in[0], c->in[1], c->in[2], c->out[1], &o);
    if (c->wanted[2])
        c->grad_in[2] = weight_grad(c, &o, c->in[0], c->out[1], c->grad_out[1]);
    return TSR_OK;
}
