/* SPDX-License-Identifier: Apache-2.0 */
/* typed_norm.c - the normalisations of tessera_ops.h: options become attributes, in the order of
   the rows (ops/normalisation/norms.c); and running statistics are updated. */
#include "dispatch/dispatch.h"
#include "tessera_ops.h"

static const tsr_norm_opts USUAL = {0};

static tsr_attr number(int64_t value)
{
    return (tsr_attr){.n = 1, .i = {value}};
}

static tsr_attr real(double value, double usual)
{
    return (tsr_attr){.n = 1, .f = value == 0 ? usual : value};
}

static void hand_out(tsr_tensor *const *out, tsr_tensor **mean, tsr_tensor **rstd)
{
    if (mean)
        *mean = out[1];
    if (rstd)
        *rstd = out[2];
}

tsr_tensor *tsr_running_update(tsr_tensor *running, tsr_tensor *new_values, double momentum)
{
    return tsr__dispatch_typed("running_update", (tsr_tensor *[]){running, new_values}, 2,
                               &(tsr_attr){.n = 1, .f = momentum}, NULL);
}

tsr_tensor *tsr_batch_norm(tsr_tensor *x, tsr_tensor *weight, tsr_tensor *bias,
                           tsr_tensor *running_mean, tsr_tensor *running_var,
                           const tsr_norm_opts *opts, tsr_tensor **mean, tsr_tensor **rstd)
{
    const tsr_norm_opts *o = opts ? opts : &USUAL;
    const double momentum = o->momentum == 0 ? 0.1 : o->momentum;
    tsr_tensor *in[] = {x, weight, bias, o->inference ? running_mean : NULL,
                        o->inference ? running_var : NULL};
    tsr_tensor *out[TSR_MAX_OUT] = {NULL}, *y;
    bool updates = !o->inference && x && tsr_shape_count(&x->local_spec->spec.shape) > 0;

    y = tsr__dispatch_typed("batch_norm", in, 5,
                            (const tsr_attr[]){number(!o->inference), real(o->eps, 1e-5),
                                               number(updates && running_var)},
                            out);
    if (o->inference && tsr_tensor_ok(y))
        out[1] = running_mean;
    hand_out(out, mean, rstd);
    if (!tsr_tensor_ok(y) || !updates)
        return y;
    if (running_mean && !tsr_tensor_ok(tsr_running_update(running_mean, out[1], momentum)))
        return x->mesh->ctx->error_tensor;
    if (running_var && !tsr_tensor_ok(tsr_running_update(running_var, out[3], momentum)))
        return x->mesh->ctx->error_tensor;
    return y;
}

tsr_tensor *tsr_group_norm(tsr_tensor *x, tsr_tensor *weight, tsr_tensor *bias, int groups,
                           const tsr_norm_opts *opts, tsr_tensor **mean, tsr_tensor **rstd)
{
    const tsr_norm_opts *o = opts ? opts : &USUAL;
    tsr_tensor *out[TSR_MAX_OUT] = {NULL};
    tsr_tensor *y =
        tsr__dispatch_typed("group_norm", (tsr_tensor *[]){x, weight, bias}, 3,
                            (const tsr_attr[]){number(groups), real(o->eps, 1e-5)}, out);

    hand_out(out, mean, rstd);
    return y;
}

tsr_tensor *tsr_instance_norm(tsr_tensor *x, tsr_tensor *weight, tsr_tensor *bias,
                              const tsr_norm_opts *opts, tsr_tensor **mean, tsr_tensor **rstd)
{
    const tsr_attr eps = real(opts ? opts->eps : 0, 1e-5);
    tsr_tensor *out[TSR_MAX_OUT] = {NULL};
    tsr_tensor *y =
        tsr__dispatch_typed("instance_norm", (tsr_tensor *[]){x, weight, bias}, 3, &eps, out);

    hand_out(out, mean, rstd);
    return y;
}

/* Those that have a place to go to. */
static tsr_attr mask_of(tsr_tensor **const grads[3])
{
    return (tsr_attr){.n = 3, .i = {grads[0] != NULL, grads[1] != NULL, grads[2] != NULL}};
}

static tsr_status backward(const char *name, tsr_tensor *const in[5], const tsr_attr *attrs,
                           tsr_tensor **const grads[3])
{
    tsr_tensor *out[TSR_MAX_OUT] = {NULL};

    if (!in[0] && !in[1])
        return TSR_ERR_ARG;
    tsr__dispatch_typed(name, in, 5, attrs, out);
    for (int k = 0; k < 3; k++)
        if (grads[k])
            *grads[k] = out[k];
    return tsr_mesh_status((in[0] ? in[0] : in[1])->mesh);
}

tsr_status tsr_batch_norm_backward(tsr_tensor *grad, tsr_tensor *x, tsr_tensor *weight,
                                   tsr_tensor *mean, tsr_tensor *rstd, const tsr_norm_opts *opts,
                                   tsr_tensor **grad_x, tsr_tensor **grad_weight,
                                   tsr_tensor **grad_bias)
{
    tsr_tensor **const grads[] = {grad_x, grad_weight, grad_bias};

    return backward("batch_norm_backward", (tsr_tensor *[]){grad, x, weight, mean, rstd},
                    (const tsr_attr[]){number(!(opts && opts->inference)), mask_of(grads)}, grads);
}

tsr_status tsr_group_norm_backward(tsr_tensor *grad, tsr_tensor *x, tsr_tensor *weight,
                                   tsr_tensor *mean, tsr_tensor *rstd, int groups,
                                   tsr_tensor **grad_x, tsr_tensor **grad_weight,
                                   tsr_tensor **grad_bias)
{
    tsr_tensor **const grads[] = {grad_x, grad_weight, grad_bias};

    return backward("group_norm_backward", (tsr_tensor *[]){grad, x, weight, mean, rstd},
                    (const tsr_attr[]){number(groups), mask_of(grads)}, grads);
}
