/* SPDX-License-Identifier: Apache-2.0 */
/* norm_grad.c - gradients of batch, group and instance normalisation: through y by one op, and
   through statistics where these are used by themselves. Vectors may be of another dtype than x. */
#include "grad/grad.h"
#include "ops/normalisation/normalisation_ops.h"
#include "ops/normalisation/norm.h"
#include "tessera_ops.h"

enum { Y = 0, MEAN = 1, RSTD = 2, VAR = 3 }; /* outputs */
enum { TRAINING = 0 };                       /* attributes */

/* Where to put the gradient of input k, if it is wanted. */
static tsr_tensor **place_of(const tsr_grad_call *c, int k)
{
    return c->wanted[k] ? &c->grad_in[k] : NULL;
}

static bool any_wanted(const tsr_grad_call *c)
{
    return c->wanted[TSR_NORM_X] || c->wanted[TSR_NORM_WEIGHT] || c->wanted[TSR_NORM_BIAS];
}

static void give_dtypes(const tsr_grad_call *c)
{
    for (int k = TSR_NORM_WEIGHT; k <= TSR_NORM_BIAS; k++)
        if (c->grad_in[k])
            c->grad_in[k] = tsr__grad_as(c->grad_in[k], c->in[k]);
}

/* Statistics, [channels] or [samples, groups], so that they broadcast to x. */
static tsr_tensor *along(const tsr_tensor *x, tsr_tensor *statistic)
{
    const tsr_shape *s = &tsr_tensor_spec(statistic)->shape;
    tsr_shape shape = tsr_tensor_spec(x)->shape;
    const int64_t channels = shape.size[1];

    if (s->ndim == 2 && s->size[1] != channels && s->size[1] > 0) {
        const int64_t each[] = {s->size[0], s->size[1], channels / s->size[1]};
        const int last = 2;

        statistic = tsr_expand(tsr_unsqueeze(statistic, &last, 1), each, 3);
    }
    shape.size[0] = s->ndim == 2 ? shape.size[0] : 1;
    for (int d = 2; d < shape.ndim; d++)
        shape.size[d] = 1;
    return tsr_reshape(statistic, shape.size, shape.ndim);
}

/* Values that a statistic is of. */
static double values_of(const tsr_grad_call *c)
{
    const double all = (double)tsr_shape_count(&tsr_tensor_spec(c->in[TSR_NORM_X])->shape);
    const double n = (double)tsr_shape_count(&tsr_tensor_spec(c->out[RSTD])->shape);

    return n > 0 ? all / n : 0;
}

/* By way of the statistics: mean depends on x by 1 / n, rstd by -rstd^3 (x - mean) / n, the
   unbiased variance by 2 (x - mean) / (n - 1). */
static void add_statistics(const tsr_grad_call *c)
{
    tsr_tensor *x = c->in[TSR_NORM_X], *of_mean = c->grad_out[MEAN], *slope = NULL, *sum = NULL;
    const double n = values_of(c);

    if (!c->wanted[TSR_NORM_X] || n <= 0)
        return;
    if (c->grad_out[RSTD]) {
        tsr_tensor *rstd = c->out[RSTD], *cube = tsr_mul(rstd, tsr_mul(rstd, rstd));
        slope = tsr_affine(tsr_mul(c->grad_out[RSTD], cube), -1 / n, 0);
    }
    if (c->grad_out[VAR])
        slope = tsr__grad_added(slope, tsr_affine(c->grad_out[VAR], 2 / (n - 1), 0));
    if (slope)
        sum = tsr_mul(tsr_sub(tsr__grad_as(x, slope), along(x, c->out[MEAN])), along(x, slope));
    if (of_mean) {
        const tsr_shape *shape = &tsr_tensor_spec(x)->shape;
        of_mean = along(x, tsr_affine(of_mean, 1 / n, 0));
        sum = sum ? tsr_add(sum, of_mean) : tsr_expand(of_mean, shape->size, shape->ndim);
    }
    if (sum)
        c->grad_in[TSR_NORM_X] = tsr__grad_added(c->grad_in[TSR_NORM_X], tsr__grad_as(sum, x));
}

/* ---- by running statistics ---- */

/* From what weight and bias get, a and b: the running mean gets -weight rstd b, the variance
   -rstd^2 / 2 of weight a and of what rstd gets times rstd. */
static void give_running(const tsr_grad_call *c, tsr_tensor *a, tsr_tensor *b)
{
    tsr_tensor *rstd = c->out[RSTD], *weight = c->in[TSR_NORM_WEIGHT], *var = NULL;

    if (a) {
        a = tsr__grad_as(a, rstd);
        b = tsr__grad_as(b, rstd);
        var = weight ? tsr_mul(tsr__grad_as(weight, rstd), a) : a;
        b = weight ? tsr_mul(tsr__grad_as(weight, rstd), b) : b;
        if (c->wanted[TSR_NORM_RUNNING_MEAN])
            c->grad_in[TSR_NORM_RUNNING_MEAN] =
                tsr__grad_as(tsr_neg(tsr_mul(rstd, b)), c->in[TSR_NORM_RUNNING_MEAN]);
    }
    if (c->grad_out[RSTD])
        var = tsr__grad_added(var, tsr_mul(c->grad_out[RSTD], rstd));
    if (c->wanted[TSR_NORM_RUNNING_VAR] && var)
        c->grad_in[TSR_NORM_RUNNING_VAR] = tsr__grad_as(
            tsr_mul(var, tsr_affine(tsr_mul(rstd, rstd), -0.5, 0)), c->in[TSR_NORM_RUNNING_VAR]);
}

static tsr_status inference_grad(const tsr_grad_call *c)
{
    const bool running = c->wanted[TSR_NORM_RUNNING_MEAN] || c->wanted[TSR_NORM_RUNNING_VAR];
    tsr_norm_opts opts = tsr_norm_opts_default();
    tsr_tensor *a = NULL, *b = NULL;
    tsr_status st = TSR_OK;

    opts.inference = true;
    if (c->grad_out[Y] && (running || any_wanted(c)))
        st = tsr_batch_norm_backward(c->grad_out[Y], c->in[TSR_NORM_X], c->in[TSR_NORM_WEIGHT],
                                     c->in[TSR_NORM_RUNNING_MEAN], c->out[RSTD], &opts,
                                     place_of(c, TSR_NORM_X),
                                     running || c->wanted[TSR_NORM_WEIGHT] ? &a : NULL,
                                     running || c->wanted[TSR_NORM_BIAS] ? &b : NULL);
    if (st != TSR_OK)
        return st;
    if (c->wanted[TSR_NORM_WEIGHT])
        c->grad_in[TSR_NORM_WEIGHT] = a;
    if (c->wanted[TSR_NORM_BIAS])
        c->grad_in[TSR_NORM_BIAS] = b;
    if (running)
        give_running(c, a, b);
    give_dtypes(c);
    return TSR_OK;
}

/* ---- the rows ---- */

tsr_status tsr__grad_batch_norm(const tsr_grad_call *c)
{
    tsr_status st = TSR_OK;

    if (!c->attrs->value[TRAINING].i[0])
        return inference_grad(c);
    if (c->grad_out[Y] && any_wanted(c))
        st = tsr_batch_norm_backward(c->grad_out[Y], c->in[TSR_NORM_X], c->in[TSR_NORM_WEIGHT],
                                     c->out[MEAN], c->out[RSTD], NULL, place_of(c, TSR_NORM_X),
                                     place_of(c, TSR_NORM_WEIGHT), place_of(c, TSR_NORM_BIAS));
    if (st == TSR_OK) {
        add_statistics(c);
        give_dtypes(c);
    }
    return st;
}

/* Of instance_norm too, whose statistics have a group for every channel. */
tsr_status tsr__grad_group_norm(const tsr_grad_call *c)
{
    const int groups = (int)tsr_tensor_spec(c->out[RSTD])->shape.size[1];
    tsr_status st = TSR_OK;

    if (c->grad_out[Y] && any_wanted(c))
        st = tsr_group_norm_backward(c->grad_out[Y], c->in[TSR_NORM_X], c->in[TSR_NORM_WEIGHT],
                                     c->out[MEAN], c->out[RSTD], groups, place_of(c, TSR_NORM_X),
                                     place_of(c, TSR_NORM_WEIGHT), place_of(c, TSR_NORM_BIAS));
    if (st == TSR_OK) {
        add_statistics(c);
        give_dtypes(c);
    }
    return st;
}
