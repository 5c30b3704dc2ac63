/* SPDX-License-Identifier: Apache-2.0 */
/* typed_norm.c - the normalisations of tessera_ops.h: options become attributes, in the order of
   the rows (ops/normalisation/norms.c); and running statistics are updated. */
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

/* NULL options are the defaults. */
static tsr_status read_opts(int op, const tsr_norm_opts *opts, tsr_tensor *const *in, int n,
                            tsr_norm_opts *out)
{
    tsr_status st = TSR_OK;

    if (opts)
        TSR_TRY(TSR_SIZE_CHECK(tsr__op_by_id(op)->name, opts, "tsr_norm_opts_default",
                               tsr__typed_error(in, n)));
    *out = opts ? *opts : tsr_norm_opts_default();
done:
    return st;
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
    return tsr__dispatch_typed(TSR_ID_RUNNING_UPDATE, (tsr_tensor *[]){running, new_values}, 2,
                               &(tsr_attr){.n = 1, .f = momentum}, NULL);
}

tsr_tensor *tsr_batch_norm(tsr_tensor *x, tsr_tensor *weight, tsr_tensor *bias,
                           tsr_tensor *running_mean, tsr_tensor *running_var,
                           const tsr_norm_opts *opts, tsr_tensor **mean, tsr_tensor **rstd)
{
    tsr_tensor *in[] = {x, weight, bias, running_mean, running_var};
    tsr_tensor *out[TSR_MAX_OUT] = {NULL}, *y;
    tsr_norm_opts o;
    bool updates;
    const tsr_status st = read_opts(TSR_ID_BATCH_NORM, opts, in, 5, &o);

    if (st != TSR_OK) {
        y = tsr__typed_failed(in, 5, st, out);
        hand_out(out, mean, rstd);
        return y;
    }
    updates = !o.inference && x && tsr_shape_count(&x->local_spec->spec.shape) > 0;
    if (!o.inference)
        in[3] = in[4] = NULL;
    y = tsr__dispatch_typed(
        TSR_ID_BATCH_NORM, in, 5,
        (const tsr_attr[]){number(!o.inference), real(o.eps), number(updates && running_var)}, out);
    if (o.inference && tsr_tensor_ok(y))
        out[1] = running_mean;
    hand_out(out, mean, rstd);
    if (!tsr_tensor_ok(y) || !updates)
        return y;
    if (running_mean && !tsr_tensor_ok(tsr_running_update(running_mean, out[1], o.momentum)))
        return x->mesh->ctx->error_tensor;
    if (running_var && !tsr_tensor_ok(tsr_running_update(running_var, out[3], o.momentum)))
        return x->mesh->ctx->error_tensor;
    return y;
}

/* Of groups of channels, or without a number of them a group for each. */
static tsr_tensor *by_sample(int op, tsr_tensor *const in[3], const int *groups,
                             const tsr_norm_opts *opts, tsr_tensor **mean, tsr_tensor **rstd)
{
    tsr_tensor *out[TSR_MAX_OUT] = {NULL}, *y;
    tsr_norm_opts o;
    const tsr_status st = read_opts(op, opts, in, 3, &o);

    if (st != TSR_OK)
        y = tsr__typed_failed(in, 3, st, out);
    else if (groups)
        y = tsr__dispatch_typed(op, in, 3, (const tsr_attr[]){number(*groups), real(o.eps)}, out);
    else
        y = tsr__dispatch_typed(op, in, 3, (const tsr_attr[]){real(o.eps)}, out);
    hand_out(out, mean, rstd);
    return y;
}

tsr_tensor *tsr_group_norm(tsr_tensor *x, tsr_tensor *weight, tsr_tensor *bias, int groups,
                           const tsr_norm_opts *opts, tsr_tensor **mean, tsr_tensor **rstd)
{
    return by_sample(TSR_ID_GROUP_NORM, (tsr_tensor *[]){x, weight, bias}, &groups, opts, mean,
                     rstd);
}

tsr_tensor *tsr_instance_norm(tsr_tensor *x, tsr_tensor *weight, tsr_tensor *bias,
                              const tsr_norm_opts *opts, tsr_tensor **mean, tsr_tensor **rstd)
{
    return by_sample(TSR_ID_INSTANCE_NORM, (tsr_tensor *[]){x, weight, bias}, NULL, opts, mean,
                     rstd);
}

tsr_status tsr_batch_norm_backward(tsr_tensor *grad, tsr_tensor *x, tsr_tensor *weight,
                                   tsr_tensor *mean, tsr_tensor *rstd, const tsr_norm_opts *opts,
                                   tsr_tensor **grad_x, tsr_tensor **grad_weight,
                                   tsr_tensor **grad_bias)
{
    tsr_tensor **const grads[] = {grad_x, grad_weight, grad_bias};
    tsr_tensor *in[] = {grad, x, weight, mean, rstd};
    tsr_norm_opts o;
    const tsr_status st = read_opts(TSR_ID_BATCH_NORM_BACKWARD, opts, in, 5, &o);
    tsr_attr attrs[] = {number(st == TSR_OK && !o.inference), {0}};

    return tsr__typed_grads(TSR_ID_BATCH_NORM_BACKWARD, in, 5, st, attrs, 1, grads, 3);
}

tsr_status tsr_group_norm_backward(tsr_tensor *grad, tsr_tensor *x, tsr_tensor *weight,
                                   tsr_tensor *mean, tsr_tensor *rstd, int groups,
                                   tsr_tensor **grad_x, tsr_tensor **grad_weight,
                                   tsr_tensor **grad_bias)
{
    tsr_tensor **const grads[] = {grad_x, grad_weight, grad_bias};

    return tsr__typed_grads(TSR_ID_GROUP_NORM_BACKWARD,
                            (tsr_tensor *[]){grad, x, weight, mean, rstd}, 5, TSR_OK,
                            (tsr_attr[]){number(groups), {0}}, 1, grads, 3);
}
