/* SPDX-License-Identifier: Apache-2.0 */
/* layer_norms.c - layer_norm and rms_norm of the last dims of x, and their gradients. Leading dims
   shard with the statistics, which have size 1 along the last ones. A shard of the last dims takes
   its part of weight and bias along, and leaves every rank with statistics of its part: they are
   gathered and merged (.merge). */
#include <inttypes.h>

#include "ops/normalisation/layer_norm.h"
#include "kernel/kinds.h"
#include "layout/layout.h"
#include "ops/normalisation/normalisation_ops.h"
#include "op/infer.h"
#include "op/row_parts.h"
#include "op/schema.h"

enum { GRAD_X = 0, GRAD_WEIGHT = 1, GRAD_BIAS = 2 }; /* outputs of gradients */

static bool is_backward(const tsr_schema *s)
{
    return s->op->kind == TSR_LAYER_NORM_BACKWARD || s->op->kind == TSR_RMS_NORM_BACKWARD;
}

static bool is_rms(const tsr_schema *s)
{
    return s->op->kind == TSR_RMS_NORM || s->op->kind == TSR_RMS_NORM_BACKWARD;
}

static int x_of(const tsr_schema *s)
{
    return is_backward(s) ? TSR_LAYER_GRAD_X : TSR_LAYER_X;
}

/* Dims before those that are normalised. */
static int lead_of(const tsr_schema *s)
{
    return s->in[x_of(s)].shape.ndim - (int)tsr_schema_attr(s, "n_dims")->i[0];
}

/* ---- shapes ---- */

static tsr_shape last_dims(const tsr_schema *s)
{
    const tsr_shape *x = &s->in[x_of(s)].shape;
    const int lead = lead_of(s);
    tsr_shape shape = {.ndim = x->ndim - lead};

    for (int d = 0; d < shape.ndim; d++)
        shape.size[d] = x->size[lead + d];
    return shape;
}

static tsr_shape statistics_shape(const tsr_schema *s)
{
    tsr_shape shape = s->in[x_of(s)].shape;

    for (int d = lead_of(s); d < shape.ndim; d++)
        shape.size[d] = 1;
    return shape;
}

static tsr_status check_dims(const tsr_schema *s, tsr_error *err)
{
    const tsr_spec *x = &s->in[x_of(s)];
    const int64_t n = tsr_schema_attr(s, "n_dims")->i[0];
    char text[TSR_TEXT_LEN];

    if (n >= 1 && n <= x->shape.ndim)
        return TSR_OK;
    return tsr__fail(err, TSR_ERR_SHAPE,
                     "%s: n_dims=%" PRId64 " is out of range for %s with %d dims", s->op->name, n,
                     tsr_spec_text(x, text, sizeof text), x->shape.ndim);
}

static tsr_status check_vector(const tsr_schema *s, int k, const char *name, const tsr_shape *like,
                               tsr_error *err)
{
    const tsr_spec *spec = &s->in[k], *x = &s->in[x_of(s)];
    char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN], c[TSR_TEXT_LEN];

    if (!tsr__schema_has(s, k))
        return TSR_OK;
    if (!tsr_shape_equal(&spec->shape, like))
        return tsr__fail(err, TSR_ERR_SHAPE, "%s: %s must have shape %s for x %s, not %s",
                         s->op->name, name, tsr__shape_text(like, a, sizeof a),
                         tsr_spec_text(x, c, sizeof c), tsr_spec_text(spec, b, sizeof b));
    if (spec->dtype != x->dtype && spec->dtype != tsr__dtype_fine(x->dtype))
        return tsr__fail(err, TSR_ERR_DTYPE, "%s: %s %s does not have x's dtype, %s%s", s->op->name,
                         name, tsr_spec_text(spec, b, sizeof b), tsr_spec_text(x, c, sizeof c),
                         tsr__dtype_fine(x->dtype) != x->dtype ? ", or f32" : "");
    return TSR_OK;
}

static tsr_status forward_shape(tsr_schema *s, tsr_error *err)
{
    const tsr_spec *x = &s->in[TSR_LAYER_X];
    const double eps = tsr_schema_attr(s, "eps")->f;
    tsr_shape vector;
    tsr_status st;

    TSR_TRY(tsr__needs_float(s, err));
    TSR_TRY(check_dims(s, err));
    if (!(eps >= 0))
        TSR_TRY(
            tsr__fail(err, TSR_ERR_ARG, "%s: eps must be at least 0, not %g", s->op->name, eps));
    vector = last_dims(s);
    TSR_TRY(check_vector(s, TSR_LAYER_WEIGHT, "weight", &vector, err));
    if (!is_rms(s))
        TSR_TRY(check_vector(s, TSR_LAYER_BIAS, "bias", &vector, err));
    s->n_out = is_rms(s) ? 2 : 3;
    s->out_dtype[0] = x->dtype;
    s->out_shape[0] = x->shape;
    for (int k = 1; k < s->n_out; k++) {
        s->out_dtype[k] = tsr__dtype_fine(x->dtype);
        s->out_shape[k] = statistics_shape(s);
    }
done:
    return st;
}

/* Which gradients are wanted, as 0 and 1. */
static tsr_status check_mask(const tsr_schema *s, tsr_error *err)
{
    const tsr_attr *mask = tsr_schema_attr(s, "output_mask");
    const int n = is_rms(s) ? 2 : 3;
    bool any = false, good = mask->n == n;

    for (int k = 0; k < mask->n && good; k++) {
        good = mask->i[k] == 0 || mask->i[k] == 1;
        any = any || mask->i[k];
    }
    if (good && any)
        return TSR_OK;
    return tsr__fail(
        err, TSR_ERR_ARG,
        "%s: output_mask must be %d numbers, 0 or 1, for the gradients of x, weight%s, with at "
        "least one 1",
        s->op->name, n, n > 2 ? " and bias" : "");
}

static tsr_status backward_shape(tsr_schema *s, tsr_error *err)
{
    const tsr_spec *x = &s->in[TSR_LAYER_GRAD_X];
    const tsr_attr *mask = tsr_schema_attr(s, "output_mask");
    tsr_shape vector, statistics;
    tsr_status st;

    TSR_TRY(tsr__needs_float(s, err));
    TSR_TRY(check_dims(s, err));
    TSR_TRY(check_mask(s, err));
    TSR_TRY(check_vector(s, TSR_LAYER_GRAD, "grad", &x->shape, err));
    if (s->in[TSR_LAYER_GRAD].dtype != x->dtype)
        TSR_TRY(tsr__fail(err, TSR_ERR_DTYPE, "%s: grad has dtype %s, but x has %s", s->op->name,
                          tsr_dtype_name(s->in[TSR_LAYER_GRAD].dtype), tsr_dtype_name(x->dtype)));
    vector = last_dims(s);
    statistics = statistics_shape(s);
    TSR_TRY(check_vector(s, TSR_LAYER_GRAD_WEIGHT, "weight", &vector, err));
    for (int k = TSR_LAYER_GRAD_STATISTICS; k < s->n_in; k++)
        TSR_TRY(check_vector(s, k, k == s->n_in - 1 ? "rstd" : "mean", &statistics, err));
    s->n_out = is_rms(s) ? 2 : 3;
    for (int k = 0; k < s->n_out; k++) {
        s->out_dtype[k] = k == GRAD_X ? x->dtype
                          : tsr__schema_has(s, TSR_LAYER_GRAD_WEIGHT)
                              ? s->in[TSR_LAYER_GRAD_WEIGHT].dtype
                              : tsr__dtype_fine(x->dtype);
        s->out_shape[k] = k == GRAD_X ? x->shape : vector;
        if (!mask->i[k])
            s->out_shape[k].ndim = -1;
    }
done:
    return st;
}

/* ---- rules ---- */

/* y = normalised x * weight + bias, in the sums that pend in vectors. */
static tsr_status add_forward_partials(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    static const tsr_reduce reduce[] = {TSR_SUM, TSR_AVG, TSR_MAX, TSR_MIN};
    const bool has_weight = tsr__schema_has(s, TSR_LAYER_WEIGHT);
    const bool has_bias = !is_rms(s) && tsr__schema_has(s, TSR_LAYER_BIAS);
    tsr_status st = TSR_OK;

    for (int i = 0; i < 4; i++) {
        const tsr_rule_placement partial = tsr_rule_partial(reduce[i]);
        const bool linear = reduce[i] == TSR_SUM || reduce[i] == TSR_AVG;
        tsr_rule rule = {.out = {partial}};

        /* without weight one term has no vector: it may be averaged, but not be summed up */
        if (reduce[i] == TSR_SUM ? !has_weight : !(has_bias || (linear && has_weight)))
            continue;
        if (linear && has_weight)
            rule.in[TSR_LAYER_WEIGHT] = partial;
        if (has_bias)
            rule.in[TSR_LAYER_BIAS] = partial;
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
done:
    return st;
}

static tsr_status forward_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    const int lead = lead_of(s);
    tsr_status st;

    TSR_TRY(add_forward_partials(s, out, err));
    for (int d = 0; d < s->in[TSR_LAYER_X].shape.ndim; d++) {
        tsr_rule rule = {.in = {tsr_rule_shard(d)}, .out = {tsr_rule_shard(d)}};

        for (int k = 1; k < s->n_out && d < lead; k++)
            rule.out[k] = tsr_rule_shard(d);
        for (int k = TSR_LAYER_WEIGHT; k < s->n_in && d >= lead; k++)
            tsr__rule_in(s, &rule, k, tsr_rule_shard(d - lead));
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
done:
    return st;
}

/* The gradient of x is linear in grad and in weight, that of weight in grad, in x - mean and in
   rstd, that of bias in grad. Where x's is wanted, nothing passes but grad and weight. */
static tsr_status add_backward_partials(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    const bool whole = tsr__schema_gives(s, GRAD_X);
    const bool by_x = !whole && tsr__schema_gives(s, GRAD_WEIGHT);
    const int rstd = s->n_in - 1;
    tsr_status st = TSR_OK;

    for (int i = 0; i < 2; i++) {
        const tsr_rule_placement partial = tsr_rule_partial(i ? TSR_AVG : TSR_SUM);
        tsr_rule rule = {.in = {partial}};

        for (int k = 0; k < s->n_out; k++)
            tsr__rule_out(s, &rule, k, partial);
        TSR_TRY(tsr_rule_add(out, &rule, err));
        rule = (tsr_rule){.in = {[TSR_LAYER_GRAD_WEIGHT] = partial}, .out = {partial}};
        if (whole && tsr__schema_has(s, TSR_LAYER_GRAD_WEIGHT))
            TSR_TRY(tsr_rule_add(out, &rule, err));
        rule = (tsr_rule){.in = {[TSR_LAYER_GRAD_X] = partial}};
        rule.out[GRAD_WEIGHT] = partial;
        for (int k = TSR_LAYER_GRAD_STATISTICS; k < rstd; k++)
            rule.in[k] = partial;
        if (by_x)
            TSR_TRY(tsr_rule_add(out, &rule, err));
        rule = (tsr_rule){.out = {[GRAD_WEIGHT] = partial}};
        rule.in[rstd] = partial;
        if (by_x)
            TSR_TRY(tsr_rule_add(out, &rule, err));
    }
done:
    return st;
}

static tsr_status backward_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    const int lead = lead_of(s);
    tsr_status st;

    TSR_TRY(add_backward_partials(s, out, err));
    for (int d = 0; d < s->in[TSR_LAYER_GRAD_X].shape.ndim; d++) {
        const tsr_rule_placement x = tsr_rule_shard(d);
        const tsr_rule_placement vector =
            d < lead ? tsr_rule_partial(TSR_SUM) : tsr_rule_shard(d - lead);
        tsr_rule rule = {.in = {[TSR_LAYER_GRAD] = x, [TSR_LAYER_GRAD_X] = x}};

        if (d >= lead)
            tsr__rule_in(s, &rule, TSR_LAYER_GRAD_WEIGHT, vector);
        for (int k = TSR_LAYER_GRAD_STATISTICS; k < s->n_in && d < lead; k++)
            rule.in[k] = x;
        tsr__rule_out(s, &rule, GRAD_X, x);
        for (int k = GRAD_WEIGHT; k < s->n_out; k++)
            tsr__rule_out(s, &rule, k, vector);
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
done:
    return st;
}

/* ---- communication ---- */

static unsigned layer_norm_mdims(const tsr_schema *s, const tsr_spec *in)
{
    if (is_backward(s) && !tsr__schema_gives(s, GRAD_X))
        return 0;
    return tsr__sharded_mdims(&in[x_of(s)], ~0u << lead_of(s));
}

static void layer_norm_bind_rank(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                                 const int *coord, tsr_kernel_call *call)
{
    const tsr_shape last = last_dims(s);

    (void)in;
    (void)out;
    (void)coord;
    call->number[TSR_LAYER_COUNT] = tsr_shape_count(&last);
}

/* ---- rows ---- */

static const char *const layer_norm_cases[] = {
    "f64[4,6] f64[6] f64[6]",
    "f64[5,3] f64[3] f64[3]",
    "f64[2,4,3] - - n_dims=2 eps=0.01",
    "f64[3,2,5] - - n_dims=2 eps=0.01",
    "f64[4,6] - f64[6]",
    "f64[5,3] - f64[3]",
    NULL,
};
/* With weights as in rms_norm_backward below: here there would be millions of placements. */
static const char *const layer_norm_backward_cases[] = {
    "f64[4,6] f64[4,6] - f64[4,1] f64[4,1] output_mask=1,1,0",
    "f64[5,3] f64[5,3] - f64[5,1] f64[5,1] output_mask=1,1,0",
    "f64[6] f64[6] f64[6] f64[1] f64[1] output_mask=1,0,0",
    "f64[7] f64[7] f64[7] f64[1] f64[1] output_mask=1,0,0",
    "f64[4,2] f64[4,2] - f64[4,1] f64[4,1] output_mask=0,1,1",
    "f64[5,3] f64[5,3] - f64[5,1] f64[5,1] output_mask=0,1,1",
    NULL,
};
static const char *const rms_norm_cases[] = {
    "f64[4,6] f64[6]",
    "f64[5,3] f64[3]",
    "f64[2,4,3] - n_dims=2 eps=0.01",
    "f64[3,2,5] - n_dims=2 eps=0.01",
    NULL,
};
static const char *const rms_norm_backward_cases[] = {
    "f64[4,6] f64[4,6] f64[6] f64[4,1]",
    "f64[5,3] f64[5,3] f64[3] f64[5,1]",
    "f64[2,4] f64[2,4] - f64[1,1] n_dims=2 output_mask=1,0",
    "f64[3,5] f64[3,5] - f64[1,1] n_dims=2 output_mask=1,0",
    "f64[4,6] f64[4,6] - f64[4,1] output_mask=0,1",
    "f64[5,3] f64[5,3] - f64[5,1] output_mask=0,1",
    NULL,
};

/* What rows have in common. */
#define LAYER_NORM                                                                                 \
    .kernel = tsr__kernel_layer_norm, .scratch = tsr__scratch_layer_norm,                          \
    .cross_rank_reduction = true
#define FORWARD                                                                                    \
    LAYER_NORM, .attrs = "n_dims:int=1,eps:float=1e-5", .rule = forward_rule,                      \
        .shape = forward_shape, .merge = &(const tsr_merge)                                        \
    {                                                                                              \
        &tsr__layer_norm_steps, layer_norm_mdims                                                   \
    }
#define BACKWARD                                                                                   \
    LAYER_NORM, .rule = backward_rule, .shape = backward_shape, .bind_rank = layer_norm_bind_rank, \
        .merge = &(const tsr_merge)                                                                \
    {                                                                                              \
        &tsr__layer_norm_backward_steps, layer_norm_mdims                                          \
    }

const tsr_op tsr__ops_layer_norm[] = {
    {FORWARD, .name = "layer_norm", .inputs = "x,weight?,bias?",
     .doc =
         "Normalizes the last n_dims dims of x to mean 0 and variance 1, then applies weight and "
         "bias, which have the shape of these dims. Also returns the mean and 1 / sqrt(variance + "
         "eps), of size 1 along these dims.",
     .kind = TSR_LAYER_NORM, .grad = tsr__grad_layer_norm, .saves = "x,weight,out1,out2",
     .cases = layer_norm_cases},
    {BACKWARD, .name = "layer_norm_backward", .inputs = "grad,x,weight?,mean,rstd",
     .attrs = "n_dims:int=1,output_mask:ints=1/1/1",
     .doc = "Computes the gradients of layer_norm's x, weight and bias.",
     .kind = TSR_LAYER_NORM_BACKWARD, .cases = layer_norm_backward_cases},
    {FORWARD, .name = "rms_norm", .inputs = "x,weight?",
     .doc =
         "Divides the last n_dims dims of x by their root mean square, then applies weight. Also "
         "returns 1 / sqrt(mean square + eps), of size 1 along these dims.",
     .kind = TSR_RMS_NORM, .grad = tsr__grad_rms_norm, .saves = "x,weight,out1",
     .cases = rms_norm_cases},
    {BACKWARD, .name = "rms_norm_backward", .inputs = "grad,x,weight?,rstd",
     .attrs = "n_dims:int=1,output_mask:ints=1/1",
     .doc = "Computes the gradients of rms_norm's x and weight.", .kind = TSR_RMS_NORM_BACKWARD,
     .cases = rms_norm_backward_cases},
    {0},
};
