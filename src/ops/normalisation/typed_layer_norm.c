/* SPDX-License-Identifier: Apache-2.0 */
/* typed_layer_norm.c - the normalisations of last dims of tessera_ops.h: parameters become
   attributes, in the order of the rows. */
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

tsr_tensor *tsr_layer_norm(tsr_tensor *x, tsr_tensor *weight, tsr_tensor *bias, int n_dims,
                           double eps, tsr_tensor **mean, tsr_tensor **rstd)
{
    tsr_tensor *out[TSR_MAX_OUT] = {NULL};

    tsr__dispatch_typed(TSR_ID_LAYER_NORM, (tsr_tensor *[]){x, weight, bias}, 3,
                        (const tsr_attr[]){number(n_dims), real(eps)}, out);
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

    tsr__dispatch_typed(TSR_ID_RMS_NORM, (tsr_tensor *[]){x, weight}, 2,
                        (const tsr_attr[]){number(n_dims), real(eps)}, out);
    if (rstd)
        *rstd = out[1];
    return out[0];
}

tsr_status tsr_layer_norm_backward(tsr_tensor *grad, tsr_tensor *x, tsr_tensor *weight,
                                   tsr_tensor *mean, tsr_tensor *rstd, int n_dims,
                                   tsr_tensor **grad_x, tsr_tensor **grad_weight,
                                   tsr_tensor **grad_bias)
{
    tsr_tensor **const grads[] = {grad_x, grad_weight, grad_bias};

    return tsr__typed_grads(TSR_ID_LAYER_NORM_BACKWARD,
                            (tsr_tensor *[]){grad, x, weight, mean, rstd}, 5, TSR_OK,
                            (tsr_attr[]){number(n_dims), {0}}, 1, grads, 3);
}

tsr_status tsr_rms_norm_backward(tsr_tensor *grad, tsr_tensor *x, tsr_tensor *weight,
                                 tsr_tensor *rstd, int n_dims, tsr_tensor **grad_x,
                                 tsr_tensor **grad_weight)
{
    tsr_tensor **const grads[] = {grad_x, grad_weight};

    return tsr__typed_grads(TSR_ID_RMS_NORM_BACKWARD, (tsr_tensor *[]){grad, x, weight, rstd}, 4,
                            TSR_OK, (tsr_attr[]){number(n_dims), {0}}, 1, grads, 2);
}
