/* SPDX-License-Identifier: Apache-2.0 */
/* typed_losses.c - softmax's kin, the normalisations of last dims and the losses of tessera_ops.h:
   parameters become attributes, in the order of the rows. */
#include "dispatch/dispatch.h"
#include "tessera_ops.h"

static tsr_attr number(int64_t value)
{
    return (tsr_attr){.n = 1, .i = {value}};
}

static tsr_attr real(double value)
{
    return (tsr_attr){.n = 1, .f = value};
}

static double eps_of(double eps)
{
    return eps == 0 ? 1e-5 : eps;
}

tsr_tensor *tsr_log_softmax(tsr_tensor *x, int dim)
{
    const tsr_attr attr = number(dim);

    return tsr__dispatch_typed("log_softmax", &x, 1, &attr, NULL);
}

tsr_tensor *tsr_softmax_backward(tsr_tensor *grad, tsr_tensor *y, int dim)
{
    const tsr_attr attr = number(dim);

    return tsr__dispatch_typed("softmax_backward", (tsr_tensor *[]){grad, y}, 2, &attr, NULL);
}

tsr_tensor *tsr_log_softmax_backward(tsr_tensor *grad, tsr_tensor *y, int dim)
{
    const tsr_attr attr = number(dim);

    return tsr__dispatch_typed("log_softmax_backward", (tsr_tensor *[]){grad, y}, 2, &attr, NULL);
}

/* ---- normalisations ---- */

tsr_tensor *tsr_layer_norm(tsr_tensor *x, tsr_tensor *weight, tsr_tensor *bias, int n_dims,
                           double eps, tsr_tensor **mean, tsr_tensor **rstd)
{
    tsr_tensor *out[TSR_MAX_OUT] = {NULL};

    tsr__dispatch_typed("layer_norm", (tsr_tensor *[]){x, weight, bias}, 3,
                        (const tsr_attr[]){number(n_dims), real(eps_of(eps))}, out);
    if (mean)
        *mean = out[1];
    if (rstd)
        *rstd = out[2];
    return out[0];
}

tsr_tensor *tsr_rms_norm(tsr_tensor *x, tsr_tensor *weight, int n_dims, double eps,
                         tsr_tensor **rstd)
{
    tsr_tensor *out[TSR_MAX_OUT] = {NULL};

    tsr__dispatch_typed("rms_norm", (tsr_tensor *[]){x, weight}, 2,
                        (const tsr_attr[]){number(n_dims), real(eps_of(eps))}, out);
    if (rstd)
        *rstd = out[1];
    return out[0];
}

/* The gradients that have a place to go to. */
static tsr_status backward(const char *name, tsr_tensor *const *in, int n_in, tsr_attr first,
                           tsr_tensor **const *grads, int n)
{
    tsr_tensor *out[TSR_MAX_OUT] = {NULL};
    tsr_attr attrs[] = {first, {.n = n}};

    if (!grads)
        tsr__typed_refuse(in, n_in, NULL, "%s: grads is NULL", name);
    if (!grads || (!in[0] && !in[1]))
        return TSR_ERR_ARG;
    for (int k = 0; k < n; k++)
        attrs[1].i[k] = grads[k] != NULL;
    tsr__dispatch_typed(name, in, n_in, attrs, out);
    for (int k = 0; k < n; k++)
        if (grads[k])
            *grads[k] = out[k];
    return tsr_mesh_status((in[0] ? in[0] : in[1])->mesh);
}

tsr_status tsr_layer_norm_backward(tsr_tensor *grad, tsr_tensor *x, tsr_tensor *weight,
                                   tsr_tensor *mean, tsr_tensor *rstd, int n_dims,
                                   tsr_tensor **grad_x, tsr_tensor **grad_weight,
                                   tsr_tensor **grad_bias)
{
    tsr_tensor **const grads[] = {grad_x, grad_weight, grad_bias};

    return backward("layer_norm_backward", (tsr_tensor *[]){grad, x, weight, mean, rstd}, 5,
                    number(n_dims), grads, 3);
}

tsr_status tsr_rms_norm_backward(tsr_tensor *grad, tsr_tensor *x, tsr_tensor *weight,
                                 tsr_tensor *rstd, int n_dims, tsr_tensor **grad_x,
                                 tsr_tensor **grad_weight)
{
    tsr_tensor **const grads[] = {grad_x, grad_weight};

    return backward("rms_norm_backward", (tsr_tensor *[]){grad, x, weight, rstd}, 4, number(n_dims),
                    grads, 2);
}

/* ---- losses ---- */

/* Those of cross_entropy; nll_loss has no smoothing. */
static tsr_tensor *class_loss(const char *name, tsr_tensor *const *in, int n_in,
                              const tsr_class_opts *opts, bool logits, tsr_tensor **out)
{
    const tsr_class_opts o = opts ? *opts : (tsr_class_opts){0};
    const tsr_attr classes = {.n = -1};
    const tsr_attr attrs[] = {number(o.reduction), number(o.ignores ? o.ignore_index : -100),
                              logits ? real(o.label_smoothing) : classes, classes};

    return tsr__dispatch_typed(name, in, n_in, attrs, out);
}

tsr_tensor *tsr_cross_entropy(tsr_tensor *x, tsr_tensor *target, tsr_tensor *weight,
                              const tsr_class_opts *opts, tsr_tensor **lse, tsr_tensor **divisor)
{
    tsr_tensor *out[TSR_MAX_OUT] = {NULL};

    class_loss("cross_entropy", (tsr_tensor *[]){x, target, weight}, 3, opts, true, out);
    if (lse)
        *lse = out[1];
    if (divisor)
        *divisor = out[2];
    return out[0];
}

tsr_tensor *tsr_nll_loss(tsr_tensor *x, tsr_tensor *target, tsr_tensor *weight,
                         const tsr_class_opts *opts, tsr_tensor **divisor)
{
    tsr_tensor *out[TSR_MAX_OUT] = {NULL};

    class_loss("nll_loss", (tsr_tensor *[]){x, target, weight}, 3, opts, false, out);
    if (divisor)
        *divisor = out[1];
    return out[0];
}

tsr_tensor *tsr_cross_entropy_backward(tsr_tensor *grad, tsr_tensor *x, tsr_tensor *target,
                                       tsr_tensor *weight, tsr_tensor *lse, tsr_tensor *divisor,
                                       const tsr_class_opts *opts)
{
    return class_loss("cross_entropy_backward",
                      (tsr_tensor *[]){grad, x, target, weight, lse, divisor}, 6, opts, true, NULL);
}

tsr_tensor *tsr_nll_loss_backward(tsr_tensor *grad, tsr_tensor *x, tsr_tensor *target,
                                  tsr_tensor *weight, tsr_tensor *divisor,
                                  const tsr_class_opts *opts)
{
    return class_loss("nll_loss_backward", (tsr_tensor *[]){grad, x, target, weight, divisor}, 5,
                      opts, false, NULL);
}

static tsr_tensor *pair_loss(const char *name, tsr_tensor *const *in, int n_in,
                             tsr_loss_reduction reduction)
{
    const tsr_attr attr = number(reduction);

    return tsr__dispatch_typed(name, in, n_in, &attr, NULL);
}

tsr_tensor *tsr_mse_loss(tsr_tensor *x, tsr_tensor *target, tsr_loss_reduction reduction)
{
    return pair_loss("mse_loss", (tsr_tensor *[]){x, target}, 2, reduction);
}

tsr_tensor *tsr_l1_loss(tsr_tensor *x, tsr_tensor *target, tsr_loss_reduction reduction)
{
    return pair_loss("l1_loss", (tsr_tensor *[]){x, target}, 2, reduction);
}

tsr_tensor *tsr_bce_with_logits(tsr_tensor *x, tsr_tensor *target, tsr_tensor *weight,
                                tsr_tensor *pos_weight, tsr_loss_reduction reduction)
{
    return pair_loss("bce_with_logits", (tsr_tensor *[]){x, target, weight, pos_weight}, 4,
                     reduction);
}

tsr_tensor *tsr_mse_loss_backward(tsr_tensor *grad, tsr_tensor *x, tsr_tensor *target,
                                  tsr_loss_reduction reduction)
{
    return pair_loss("mse_loss_backward", (tsr_tensor *[]){grad, x, target}, 3, reduction);
}

tsr_tensor *tsr_l1_loss_backward(tsr_tensor *grad, tsr_tensor *x, tsr_tensor *target,
                                 tsr_loss_reduction reduction)
{
    return pair_loss("l1_loss_backward", (tsr_tensor *[]){grad, x, target}, 3, reduction);
}

tsr_status tsr_bce_with_logits_backward(tsr_tensor *grad, tsr_tensor *x, tsr_tensor *target,
                                        tsr_tensor *weight, tsr_tensor *pos_weight,
                                        tsr_loss_reduction reduction, tsr_tensor **const grads[4])
{
    return backward("bce_with_logits_backward",
                    (tsr_tensor *[]){grad, x, target, weight, pos_weight}, 5, number(reduction),
                    grads, 4);
}
