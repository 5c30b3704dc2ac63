/* SPDX-License-Identifier: Apache-2.0 */
/* typed_losses.c - the losses of tessera_ops.h: parameters become attributes, in the order of the
   rows. */
#include "base/args.h"
#include "dispatch/dispatch.h"
#include "ops/op_ids.h"
#include "tessera_ops.h"

static tsr_attr number(int64_t value)
{
    return (tsr_attr){.n = 1, .i = {value}};
}

static tsr_attr real(double value)
{
    return (tsr_attr){.n = 1, .f = value};
}

/* Those of cross_entropy; nll_loss has no smoothing. */
static tsr_tensor *class_loss(int op, tsr_tensor *const *in, int n_in, const tsr_class_opts *opts,
                              bool logits, tsr_tensor **out)
{
    const tsr_class_opts usual = tsr_class_opts_default(), *o = opts ? opts : &usual;
    const tsr_attr classes = {.n = -1};
    tsr_status st;

    TSR_TRY(TSR_SIZE_CHECK(tsr__op_by_id(op)->name, o, "tsr_class_opts_default",
                           tsr__typed_error(in, n_in)));
    const tsr_attr attrs[] = {number(o->reduction), number(o->ignore_index),
                              logits ? real(o->label_smoothing) : classes, classes};

    return tsr__dispatch_typed(op, in, n_in, attrs, out);
done:
    return tsr__typed_failed(in, n_in, st, out);
}

tsr_tensor *tsr_cross_entropy(tsr_tensor *x, tsr_tensor *target, tsr_tensor *weight,
                              const tsr_class_opts *opts, tsr_tensor **lse, tsr_tensor **divisor)
{
    tsr_tensor *out[TSR_MAX_OUT] = {NULL};

    class_loss(TSR_ID_CROSS_ENTROPY, (tsr_tensor *[]){x, target, weight}, 3, opts, true, out);
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

    class_loss(TSR_ID_NLL_LOSS, (tsr_tensor *[]){x, target, weight}, 3, opts, false, out);
    if (divisor)
        *divisor = out[1];
    return out[0];
}

tsr_tensor *tsr_cross_entropy_backward(tsr_tensor *grad, tsr_tensor *x, tsr_tensor *target,
                                       tsr_tensor *weight, tsr_tensor *lse, tsr_tensor *divisor,
                                       const tsr_class_opts *opts)
{
    return class_loss(TSR_ID_CROSS_ENTROPY_BACKWARD,
                      (tsr_tensor *[]){grad, x, target, weight, lse, divisor}, 6, opts, true, NULL);
}

tsr_tensor *tsr_nll_loss_backward(tsr_tensor *grad, tsr_tensor *x, tsr_tensor *target,
                                  tsr_tensor *weight, tsr_tensor *divisor,
                                  const tsr_class_opts *opts)
{
    return class_loss(TSR_ID_NLL_LOSS_BACKWARD, (tsr_tensor *[]){grad, x, target, weight, divisor},
                      5, opts, false, NULL);
}

tsr_status tsr_bce_with_logits_backward(tsr_tensor *grad, tsr_tensor *x, tsr_tensor *target,
                                        tsr_tensor *weight, tsr_tensor *pos_weight,
                                        tsr_loss_reduction reduction, tsr_tensor **grad_x,
                                        tsr_tensor **grad_target, tsr_tensor **grad_weight,
                                        tsr_tensor **grad_pos_weight)
{
    tsr_tensor **const grads[] = {grad_x, grad_target, grad_weight, grad_pos_weight};

    return tsr__typed_grads(TSR_ID_BCE_WITH_LOGITS_BACKWARD,
                            (tsr_tensor *[]){grad, x, target, weight, pos_weight}, 5, TSR_OK,
                            (tsr_attr[]){number(reduction), {0}}, 1, grads, 4);
}
