/* SPDX-License-Identifier: Apache-2.0 */
/* pair_losses.c - losses of x and a target of the same shape, element by element: mse_loss, l1_loss
   and bce_with_logits, each, their mean or their sum, and their gradients. All dims shard; of means
   and sums ranks then have parts. */
#include <inttypes.h>

#include "ops/loss/class_loss.h"
#include "kernel/kinds.h"
#include "ops/loss/pair_loss.h"
#include "ops/loss/loss_ops.h"
#include "op/infer.h"
#include "op/schema.h"

static bool is_backward(const tsr_schema *s)
{
    return s->op->kind == TSR_LOSS_MSE_BACKWARD || s->op->kind == TSR_LOSS_L1_BACKWARD ||
           s->op->kind == TSR_LOSS_BCE_BACKWARD;
}

static bool is_mse(const tsr_schema *s)
{
    return s->op->kind == TSR_LOSS_MSE || s->op->kind == TSR_LOSS_MSE_BACKWARD;
}

static bool is_bce(const tsr_schema *s)
{
    return s->op->kind == TSR_LOSS_BCE || s->op->kind == TSR_LOSS_BCE_BACKWARD;
}

static int x_of(const tsr_schema *s)
{
    return is_backward(s) ? 1 : 0;
}

static int64_t reduction_of(const tsr_schema *s)
{
    return tsr_schema_attr(s, "reduction")->i[0];
}

/* ---- shapes ---- */

/* Which dim of x dim d of operand k is, -1 if it is broadcast along that. */
static int own_dim(const tsr_schema *s, int k, int d)
{
    const tsr_shape *x = &s->in[x_of(s)].shape, *own = &s->in[k].shape;
    const int at = d - (x->ndim - own->ndim);

    return at >= 0 && own->size[at] == x->size[d] ? at : -1;
}

static bool is_broadcast_of(const tsr_schema *s, int k)
{
    const tsr_shape *x = &s->in[x_of(s)].shape, *own = &s->in[k].shape;

    for (int at = 0; at < own->ndim; at++) {
        const int d = at + x->ndim - own->ndim;
        if (d < 0 || (own->size[at] != 1 && own->size[at] != x->size[d]))
            return false;
    }
    return true;
}

static tsr_status check(const tsr_schema *s, tsr_error *err)
{
    const int x = x_of(s);
    char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN], text[2 * TSR_TEXT_LEN];

    if (!tsr__dtype_is_float(s->in[x].dtype))
        return tsr__fail(err, TSR_ERR_DTYPE, "%s: needs a floating-point dtype, not %s",
                         s->op->name, tsr_spec_text(&s->in[x], a, sizeof a));
    for (int k = 0; k < s->n_in; k++)
        if (tsr__schema_has(s, k) && s->in[k].dtype != s->in[x].dtype)
            return tsr__fail(err, TSR_ERR_DTYPE, "%s: dtypes differ in %s", s->op->name,
                             tsr_schema_text(s, text, sizeof text));
    if (!tsr_shape_equal(&s->in[x].shape, &s->in[x + TSR_PAIR_TARGET].shape))
        return tsr__fail(err, TSR_ERR_SHAPE, "%s: target %s does not have the shape of x %s",
                         s->op->name, tsr_spec_text(&s->in[x + TSR_PAIR_TARGET], b, sizeof b),
                         tsr_spec_text(&s->in[x], a, sizeof a));
    for (int k = x + TSR_PAIR_WEIGHT; k < s->n_in; k++)
        if (tsr__schema_has(s, k) && !is_broadcast_of(s, k))
            return tsr__fail(err, TSR_ERR_SHAPE, "%s: %s %s does not broadcast to x %s",
                             s->op->name, k == x + TSR_PAIR_WEIGHT ? "weight" : "pos_weight",
                             tsr_spec_text(&s->in[k], b, sizeof b),
                             tsr_spec_text(&s->in[x], a, sizeof a));
    return TSR_OK;
}

static tsr_status forward_shape(tsr_schema *s, tsr_error *err)
{
    tsr_status st;

    TSR_TRY(check(s, err));
    TSR_TRY(tsr__shape_same(s, err));
    if (reduction_of(s) != TSR_LOSS_NONE)
        s->out_shape[0] = (tsr_shape){0};
done:
    return st;
}

static tsr_status backward_shape(tsr_schema *s, tsr_error *err)
{
    const tsr_attr *mask = is_bce(s) ? tsr_schema_attr(s, "output_mask") : NULL;
    char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN];
    const tsr_shape one = {0};
    bool any = false;
    tsr_status st;

    TSR_TRY(check(s, err));
    if (!tsr_shape_equal(&s->in[0].shape,
                         reduction_of(s) == TSR_LOSS_NONE ? &s->in[1].shape : &one))
        TSR_TRY(tsr__fail(err, TSR_ERR_SHAPE, "%s: grad %s does not match the loss of x %s",
                          s->op->name, tsr_spec_text(&s->in[0], a, sizeof a),
                          tsr_spec_text(&s->in[1], b, sizeof b)));
    s->n_out = mask ? TSR_PAIR_INPUTS : 1;
    for (int k = 0; k < s->n_out; k++) {
        s->out_dtype[k] = s->in[1].dtype;
        s->out_shape[k] = s->in[1].shape;
        if (mask && (mask->n != TSR_PAIR_INPUTS || !mask->i[k]))
            s->out_shape[k].ndim = -1;
        any = any || s->out_shape[k].ndim >= 0;
    }
    if (!any)
        TSR_TRY(tsr__fail(
            err, TSR_ERR_ARG,
            "%s: output_mask must be 4 numbers, 0 or 1, for the gradients of x, target, weight "
            "and pos_weight, with at least one 1",
            s->op->name));
done:
    return st;
}

/* ---- rules ---- */

static tsr_status add_partial(const tsr_schema *s, int k, int also, tsr_reduce reduce,
                              tsr_rules *out, tsr_error *err)
{
    const tsr_rule_placement partial = tsr_rule_partial(reduce);
    tsr_rule rule = {0};

    rule.in[k] = rule.in[also] = partial;
    for (int i = 0; i < (is_backward(s) ? s->n_out : 1); i++)
        if (tsr__schema_gives(s, i))
            rule.out[i] = partial;
    return tsr_rule_add(out, &rule, err);
}

/* Of mse_loss the gradient is linear in x and target together. bce_with_logits and its gradient by
   x are linear in weight, and linear but for what does not depend on it in target and in
   pos_weight: that can be averaged. */
static tsr_status add_partials(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    const int x = x_of(s), target = x + TSR_PAIR_TARGET, weight = x + TSR_PAIR_WEIGHT;
    const bool back = is_backward(s), by_x = !back || (s->n_out == 1 || !tsr__schema_gives(s, 1));
    tsr_status st = TSR_OK;

    for (int i = 0; i < 2; i++) {
        const tsr_reduce reduce = i ? TSR_AVG : TSR_SUM;

        if (back)
            TSR_TRY(add_partial(s, 0, 0, reduce, out, err));
        if (back && is_mse(s))
            TSR_TRY(add_partial(s, x, target, reduce, out, err));
        if (!is_bce(s) || !by_x || (back && (tsr__schema_gives(s, 2) || tsr__schema_gives(s, 3))))
            continue;
        if (tsr__schema_has(s, weight))
            TSR_TRY(add_partial(s, weight, weight, reduce, out, err));
        if (reduce == TSR_SUM)
            continue;
        TSR_TRY(add_partial(s, target, target, reduce, out, err));
        if (tsr__schema_has(s, weight + 1))
            TSR_TRY(add_partial(s, weight + 1, weight + 1, reduce, out, err));
    }
done:
    return st;
}

static tsr_status pair_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    const bool each = reduction_of(s) == TSR_LOSS_NONE, back = is_backward(s);
    tsr_status st;

    TSR_TRY(add_partials(s, out, err));
    for (int d = 0; d < s->in[x_of(s)].shape.ndim; d++) {
        const tsr_rule_placement mark = tsr_rule_shard(d);
        tsr_rule rule = {0};

        for (int k = 0; k < s->n_in; k++) {
            const int own = tsr__schema_has(s, k) ? own_dim(s, k, d) : -1;

            if (own >= 0 && !(back && k == 0 && !each))
                rule.in[k] = tsr_rule_shard(own);
        }
        for (int k = 0; k < s->n_out && back; k++)
            if (tsr__schema_gives(s, k))
                rule.out[k] = mark;
        if (!back)
            rule.out[0] = each ? mark : tsr_rule_partial(TSR_SUM);
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
done:
    return st;
}

static void pair_bind_rank(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                           const int *coord, tsr_kernel_call *call)
{
    (void)in;
    (void)out;
    (void)coord;
    call->number[TSR_PAIR_COUNT] = tsr_shape_count(&s->in[x_of(s)].shape);
}

/* ---- rows ---- */

static const char *const pair_cases[] = {
    "f64[4,6] f64[4,6]",
    "f64[5,3] f64[5,3]",
    "f64[4,6] f64[4,6] reduction=none",
    "f64[5,3] f64[5,3] reduction=none",
    "f64[4,2] f64[4,2] reduction=sum",
    "f64[3,5] f64[3,5] reduction=sum",
    NULL,
};
static const char *const pair_backward_cases[] = {
    "f64[4,6] f64[4,6] f64[4,6] reduction=none",
    "f64[5,3] f64[5,3] f64[5,3] reduction=none",
    NULL,
};
static const char *const bce_cases[] = {
    "f64[4,6] f64[4,6] f64[4,1] f64[6]",
    "f64[5,3] f64[5,3] f64[5,1] f64[3]",
    "f64[6] f64[6] f64[6] - reduction=none",
    "f64[7] f64[7] f64[7] - reduction=none",
    "f64[6] f64[6] reduction=sum",
    "f64[7] f64[7] reduction=sum",
    NULL,
};
static const char *const bce_backward_cases[] = {
    "f64[4,2] f64[4,2] f64[4,2] - f64[2] reduction=none output_mask=1,0,0,0",
    "f64[5,3] f64[5,3] f64[5,3] - f64[3] reduction=none output_mask=1,0,0,0",
    "f64[6] f64[6] f64[6] f64[6] - reduction=none output_mask=1,0,0,0",
    "f64[7] f64[7] f64[7] f64[7] - reduction=none output_mask=1,0,0,0",
    NULL,
};

#define REDUCTION "reduction:mean|sum|none=mean"

/* What rows have in common. */
#define PAIR_LOSS .rule = pair_rule, .kernel = tsr__kernel_pair_loss, .bind_rank = pair_bind_rank
#define DISTANCE                                                                                   \
    PAIR_LOSS, .inputs = "x,target", .attrs = REDUCTION, .shape = forward_shape, .cases = pair_cases
#define DISTANCE_BACKWARD                                                                          \
    PAIR_LOSS, .inputs = "grad,x,target", .attrs = REDUCTION, .shape = backward_shape,             \
        .cases = pair_backward_cases

const tsr_op tsr__ops_pair_loss[] = {
    {DISTANCE, .name = "mse_loss",
     .doc = "Computes the squared error (x - target)^2, reduced by mean, sum or none.",
     .kind = TSR_LOSS_MSE,
     .grad_expr = "x: mse_loss_backward(g, x, target, ...);"
                  "target: neg(mse_loss_backward(g, x, target, ...))"},
    {DISTANCE_BACKWARD, .name = "mse_loss_backward",
     .doc = "Computes the gradient of mse_loss's x; that of target is its negative.",
     .kind = TSR_LOSS_MSE_BACKWARD},
    {DISTANCE, .name = "l1_loss",
     .doc = "Computes the absolute error |x - target|, reduced by mean, sum or none.",
     .kind = TSR_LOSS_L1,
     .grad_expr = "x: l1_loss_backward(g, x, target, ...);"
                  "target: neg(l1_loss_backward(g, x, target, ...))"},
    {DISTANCE_BACKWARD, .name = "l1_loss_backward",
     .doc = "Computes the gradient of l1_loss's x; that of target is its negative.",
     .kind = TSR_LOSS_L1_BACKWARD},
    {PAIR_LOSS, .name = "bce_with_logits", .inputs = "x,target,weight?,pos_weight?",
     .attrs = REDUCTION,
     .doc =
         "Computes the binary cross entropy of logits, weight ((1 - target) x + (1 + (pos_weight "
         "- 1) target) log(1 + e^-x)), reduced by mean, sum or none. weight and pos_weight "
         "broadcast to x.",
     .shape = forward_shape, .kind = TSR_LOSS_BCE,
     .grad_expr = "x, target, weight, pos_weight: bce_with_logits_backward("
                  "g, x, target, weight, pos_weight, ..., output_mask=wanted)",
     .cases = bce_cases},
    {PAIR_LOSS, .name = "bce_with_logits_backward", .inputs = "grad,x,target,weight?,pos_weight?",
     .attrs = REDUCTION ",output_mask:ints=1/0/0/0", .params = "",
     .doc = "Computes the gradients of bce_with_logits' x, target, weight and pos_weight, each in "
            "x's shape.",
     .shape = backward_shape, .kind = TSR_LOSS_BCE_BACKWARD, .cases = bce_backward_cases},
    {0},
};
