/* SPDX-License-Identifier: Apache-2.0 */
/* class_losses.c - cross_entropy and nll_loss of x [..., classes] and the class that each row
   should have, and their gradients. Rows shard freely; a mean over rows of several ranks is one of
   sums that travel. Where classes shard, ranks tell each other a few numbers of every row, or have
   parts of a sum; logits never move (ops/loss/class_merge.c). Weights are known to all. */
#include <inttypes.h>

#include "ops/loss/class_loss.h"
#include "kernel/kinds.h"
#include "layout/layout.h"
#include "ops/loss/loss_ops.h"
#include "op/infer.h"
#include "op/row_parts.h"
#include "op/schema.h"

static bool is_backward(const tsr_schema *s)
{
    return s->op->kind == TSR_LOSS_CROSS_ENTROPY_BACKWARD || s->op->kind == TSR_LOSS_NLL_BACKWARD;
}

static bool has_logits(const tsr_schema *s)
{
    return s->op->kind == TSR_LOSS_CROSS_ENTROPY || s->op->kind == TSR_LOSS_CROSS_ENTROPY_BACKWARD;
}

static int x_of(const tsr_schema *s)
{
    return TSR_CLASS_X + (is_backward(s) ? TSR_CLASS_BACK : 0);
}

static int target_of(const tsr_schema *s)
{
    return x_of(s) + TSR_CLASS_TARGET;
}

static int weight_of(const tsr_schema *s)
{
    return x_of(s) + TSR_CLASS_WEIGHT;
}

static int64_t reduction_of(const tsr_schema *s)
{
    return tsr_schema_attr(s, "reduction")->i[0];
}

/* Dims before that of the classes. */
static int lead_of(const tsr_schema *s)
{
    return s->in[x_of(s)].shape.ndim - 1;
}

/* All classes; x may have a part of them, as bind_rank says. */
static int64_t classes_of(const tsr_schema *s)
{
    const tsr_attr *classes = tsr_schema_attr(s, "classes");

    return classes->n > 0 ? classes->i[0] : s->in[x_of(s)].shape.size[lead_of(s)];
}

/* ---- shapes ---- */

static tsr_shape rows_shape(const tsr_schema *s)
{
    tsr_shape shape = s->in[x_of(s)].shape;

    shape.ndim--;
    return shape;
}

static tsr_status check_operands(const tsr_schema *s, tsr_error *err)
{
    const tsr_spec *x = &s->in[x_of(s)], *target = &s->in[target_of(s)];
    const tsr_spec *weight = &s->in[weight_of(s)];
    char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN];
    tsr_shape rows;

    if (!tsr__dtype_is_float(x->dtype))
        return tsr__fail(err, TSR_ERR_DTYPE, "%s: needs a floating-point dtype, not %s",
                         s->op->name, tsr_spec_text(x, a, sizeof a));
    if (x->shape.ndim < 1)
        return tsr__fail(err, TSR_ERR_SHAPE, "%s: x must be [..., classes], not %s", s->op->name,
                         tsr_spec_text(x, a, sizeof a));
    rows = rows_shape(s);
    if (target->dtype != TSR_I32 && target->dtype != TSR_I64)
        return tsr__fail(err, TSR_ERR_DTYPE, "%s: targets must be i32 or i64 class indices, not %s",
                         s->op->name, tsr_spec_text(target, a, sizeof a));
    if (!tsr_shape_equal(&rows, &target->shape))
        return tsr__fail(err, TSR_ERR_SHAPE, "%s: x %s needs one target per row, not %s",
                         s->op->name, tsr_spec_text(x, a, sizeof a),
                         tsr_spec_text(target, b, sizeof b));
    if (!tsr__schema_has(s, weight_of(s)))
        return TSR_OK;
    if (weight->shape.ndim != 1 || weight->shape.size[0] != classes_of(s))
        return tsr__fail(err, TSR_ERR_SHAPE,
                         "%s: weight must be [%" PRId64 "], one number per class, not %s",
                         s->op->name, classes_of(s), tsr_spec_text(weight, a, sizeof a));
    if (weight->dtype != x->dtype && weight->dtype != tsr__dtype_fine(x->dtype))
        return tsr__fail(err, TSR_ERR_DTYPE, "%s: weight %s does not have x's dtype, %s%s",
                         s->op->name, tsr_spec_text(weight, a, sizeof a),
                         tsr_spec_text(x, b, sizeof b),
                         tsr__dtype_fine(x->dtype) != x->dtype ? ", or f32" : "");
    return TSR_OK;
}

static tsr_status check_attrs(const tsr_schema *s, tsr_error *err)
{
    const double smoothing = has_logits(s) ? tsr_schema_attr(s, "label_smoothing")->f : 0;

    if (!(smoothing >= 0 && smoothing <= 1))
        return tsr__fail(err, TSR_ERR_ARG, "%s: label_smoothing must be in [0, 1], not %g",
                         s->op->name, smoothing);
    return TSR_OK;
}

static tsr_status forward_shape(tsr_schema *s, tsr_error *err)
{
    const tsr_dtype dtype = s->in[TSR_CLASS_X].dtype;
    tsr_status st;

    TSR_TRY(check_operands(s, err));
    TSR_TRY(check_attrs(s, err));
    s->n_out = 1;
    s->out_dtype[0] = dtype;
    s->out_shape[0] = (tsr_shape){0};
    if (reduction_of(s) == TSR_LOSS_NONE)
        s->out_shape[0] = rows_shape(s);
    if (has_logits(s)) {
        s->out_dtype[s->n_out] = TSR_F64;
        s->out_shape[s->n_out++] = rows_shape(s);
    }
    if (reduction_of(s) == TSR_LOSS_MEAN) {
        s->out_dtype[s->n_out] = tsr__dtype_fine(dtype);
        s->out_shape[s->n_out++] = (tsr_shape){0};
    }
done:
    return st;
}

static tsr_status backward_shape(tsr_schema *s, tsr_error *err)
{
    const tsr_spec *grad = &s->in[0], *x = &s->in[x_of(s)];
    const bool mean = reduction_of(s) == TSR_LOSS_MEAN;
    const int last = s->n_in - 1;
    char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN];
    tsr_shape rows, like = {0};
    tsr_status st;

    TSR_TRY(check_operands(s, err));
    TSR_TRY(check_attrs(s, err));
    rows = rows_shape(s);
    if (reduction_of(s) == TSR_LOSS_NONE)
        like = rows;
    if (!tsr_shape_equal(&grad->shape, &like) || grad->dtype != x->dtype)
        TSR_TRY(tsr__fail(err, TSR_ERR_SHAPE, "%s: grad %s does not match the loss of x %s",
                          s->op->name, tsr_spec_text(grad, a, sizeof a),
                          tsr_spec_text(x, b, sizeof b)));
    if (has_logits(s) && (!tsr_shape_equal(&s->in[TSR_CLASS_LSE].shape, &rows) ||
                          !tsr__dtype_is_float(s->in[TSR_CLASS_LSE].dtype)))
        TSR_TRY(tsr__fail(err, TSR_ERR_SHAPE, "%s: lse %s does not match the rows of x %s",
                          s->op->name, tsr_spec_text(&s->in[TSR_CLASS_LSE], a, sizeof a),
                          tsr_spec_text(x, b, sizeof b)));
    if (mean != tsr__schema_has(s, last))
        TSR_TRY(tsr__fail(err, TSR_ERR_ARG, "%s: divisor is required exactly for reduction=mean",
                          s->op->name));
    if (mean && (s->in[last].shape.ndim != 0 || !tsr__dtype_is_float(s->in[last].dtype)))
        TSR_TRY(tsr__fail(err, TSR_ERR_SHAPE, "%s: divisor %s must be a scalar of %s", s->op->name,
                          tsr_spec_text(&s->in[last], a, sizeof a),
                          tsr_dtype_name(tsr__dtype_fine(x->dtype))));
    s->out_dtype[0] = x->dtype;
    s->out_shape[0] = x->shape;
done:
    return st;
}

/* ---- rules ---- */

/* Classes are known by where they begin, so they are not cut into strides. */
static tsr_rule_placement class_mark(const tsr_schema *s)
{
    return (tsr_rule_placement){.place = {.kind = TSR_SHARD, .dim = lead_of(s)}};
}

/* Sums pass along weights, unless the loss is divided by them too; and nll_loss is linear in x. */
static tsr_status add_forward_partials(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    const bool each = reduction_of(s) == TSR_LOSS_NONE;
    const bool weighted = tsr__schema_has(s, weight_of(s));
    const bool smoothed = has_logits(s) && tsr_schema_attr(s, "label_smoothing")->f != 0;
    tsr_status st = TSR_OK;

    for (int i = 0; i < 2; i++) {
        const tsr_rule_placement partial = tsr_rule_partial(i ? TSR_AVG : TSR_SUM);
        const tsr_rule_placement one = tsr_rule_partial(i ? TSR_MAX : TSR_MIN);
        const tsr_rule_placement other = tsr_rule_partial(i ? TSR_MIN : TSR_MAX);

        if (weighted && reduction_of(s) != TSR_LOSS_MEAN)
            TSR_TRY(tsr_rule_add(
                out, &(tsr_rule){.in = {[TSR_CLASS_WEIGHT] = partial}, .out = {partial}}, err));
        if (each && weighted && has_logits(s) && !smoothed) /* each loss is 0 or more */
            TSR_TRY(tsr_rule_add(out, &(tsr_rule){.in = {[TSR_CLASS_WEIGHT] = one}, .out = {one}},
                                 err));
        if (has_logits(s))
            continue;
        TSR_TRY(tsr_rule_add(out, &(tsr_rule){.in = {partial}, .out = {partial}}, err));
        if (each && !weighted)
            TSR_TRY(tsr_rule_add(out, &(tsr_rule){.in = {one}, .out = {other}}, err));
    }
done:
    return st;
}

static tsr_status forward_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    tsr_rule rule;
    tsr_status st;

    TSR_TRY(add_forward_partials(s, out, err));
    for (int d = 0; d < lead_of(s); d++) {
        const tsr_rule_placement row = tsr_rule_shard(d);

        rule = (tsr_rule){.in = {[TSR_CLASS_X] = row, [TSR_CLASS_TARGET] = row}};
        if (reduction_of(s) == TSR_LOSS_NONE)
            rule.out[0] = row;
        if (reduction_of(s) == TSR_LOSS_SUM)
            rule.out[0] = tsr_rule_partial(TSR_SUM);
        if (has_logits(s))
            rule.out[TSR_CLASS_OUT_LSE] = row;
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
    rule = (tsr_rule){.in = {class_mark(s)}};
    if (!has_logits(s))
        rule.out[0] = tsr_rule_partial(TSR_SUM);
    TSR_TRY(tsr_rule_add(out, &rule, err));
done:
    return st;
}

/* Sums pass along grad and along weights. Of nll_loss only the shape of x counts. */
static tsr_status add_backward_partials(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    const tsr_rule_placement of_x[] = {{.open = false},
                                       tsr_rule_partial(TSR_SUM),
                                       tsr_rule_partial(TSR_AVG),
                                       tsr_rule_partial(TSR_MAX),
                                       tsr_rule_partial(TSR_MIN)};
    const bool weighted = tsr__schema_has(s, weight_of(s));
    const bool falls = !has_logits(s) && !weighted && reduction_of(s) != TSR_LOSS_MEAN;
    tsr_status st = TSR_OK;

    for (int k = 0; k < (has_logits(s) ? 1 : 5); k++) {
        tsr_rule rule = {0};

        rule.in[x_of(s)] = of_x[k];
        if (k > 0)
            TSR_TRY(tsr_rule_add(out, &rule, err));
        for (int i = 0; i < 2; i++) {
            rule.out[0] = rule.in[0] = tsr_rule_partial(i ? TSR_AVG : TSR_SUM);
            TSR_TRY(tsr_rule_add(out, &rule, err));
        }
        for (int i = 0; i < 2 && falls; i++) {
            rule.in[0] = tsr_rule_partial(i ? TSR_MAX : TSR_MIN);
            rule.out[0] = tsr_rule_partial(i ? TSR_MIN : TSR_MAX);
            TSR_TRY(tsr_rule_add(out, &rule, err));
        }
        rule.in[0] = (tsr_rule_placement){0};
        for (int i = 0; i < 2 && weighted; i++) {
            rule.out[0] = rule.in[weight_of(s)] = tsr_rule_partial(i ? TSR_AVG : TSR_SUM);
            TSR_TRY(tsr_rule_add(out, &rule, err));
        }
    }
done:
    return st;
}

static tsr_status backward_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    tsr_rule rule;
    tsr_status st;

    TSR_TRY(add_backward_partials(s, out, err));
    for (int d = 0; d < lead_of(s); d++) {
        const tsr_rule_placement row = tsr_rule_shard(d);

        rule = (tsr_rule){.out = {row}};
        rule.in[x_of(s)] = rule.in[target_of(s)] = row;
        if (reduction_of(s) == TSR_LOSS_NONE)
            rule.in[0] = row;
        if (has_logits(s))
            rule.in[TSR_CLASS_LSE] = row;
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
    rule = (tsr_rule){.out = {class_mark(s)}};
    rule.in[x_of(s)] = class_mark(s);
    TSR_TRY(tsr_rule_add(out, &rule, err));
done:
    return st;
}

/* ---- communication ---- */

void tsr__class_mdims(const tsr_schema *s, const tsr_spec *in, unsigned *classes, unsigned *rows)
{
    const unsigned last = 1u << lead_of(s);

    *classes = has_logits(s) ? tsr__sharded_mdims(&in[TSR_CLASS_X], last) : 0;
    *rows = reduction_of(s) == TSR_LOSS_MEAN ? tsr__sharded_mdims(&in[TSR_CLASS_X], ~last) : 0;
}

/* Four numbers of every row here, and two of all. */
static tsr_comm class_comm(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                           const tsr_cost *cost)
{
    const int first[TSR_MAX_MESH] = {0};
    tsr_layout layout = tsr__layout_of(&in[TSR_CLASS_X]);
    tsr_shape here = tsr__layout_local_shape(&layout, first);
    unsigned classes, rows;
    tsr_comm a, b;
    double n = 1;

    (void)out;
    tsr__class_mdims(s, in, &classes, &rows);
    for (int d = 0; d < here.ndim - 1; d++)
        n *= (double)here.size[d];
    a = tsr__gather_comm(&in[TSR_CLASS_X], classes, 4 * (n > 0 ? n : 1), cost);
    b = tsr__gather_comm(&in[TSR_CLASS_X], rows, 2, cost);
    return (tsr_comm){a.seconds + b.seconds, a.bytes + b.bytes};
}

static void class_bind_rank(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                            const int *coord, tsr_kernel_call *call)
{
    tsr_attr *classes = &call->attrs.value[tsr__attr_index(s->op, "classes")];

    (void)in;
    (void)out;
    (void)coord;
    call->number[TSR_CLASS_COUNT] = classes_of(s);
    *classes = (tsr_attr){.n = 1, .i = {classes_of(s)}};
}

/* ---- rows ---- */

static const char *const cross_entropy_cases[] = {
    "f64[4,7] i64[4]<7 - reduction=sum",
    "f64[6,5] i64[6]<5 - reduction=sum",
    "f64[4,6] i64[4]<6 f64[6] ignore_index=3 label_smoothing=0.25",
    "f64[5,7] i64[5]<7 f64[7] ignore_index=3 label_smoothing=0.25",
    "f64[4,2,6] i64[4,2]<6 f64[6] reduction=none",
    "f64[3,3,5] i64[3,3]<5 f64[5] reduction=none",
    NULL,
};
/* Weights of both signs: where one number decides, all elements would grow with it by chance. */
static const char *const cross_entropy_backward_cases[] = {
    "f64[] f64[4,6] i64[4]<6 f64[6] f64[4] - reduction=sum",
    "f64[] f64[5,7] i64[5]<7 f64[7] f64[5] - reduction=sum",
    "f64[4] f64[4,6] i64[4]<6 - f64[4] - reduction=none ignore_index=2 label_smoothing=0.25",
    "f64[5] f64[5,7] i64[5]<7 - f64[5] - reduction=none ignore_index=2 label_smoothing=0.25",
    NULL,
};
static const char *const nll_loss_cases[] = {
    "f64[4,6] i64[4]<6 f64[6] ignore_index=3",
    "f64[5,7] i64[5]<7 f64[7] ignore_index=3",
    "f64[4,2,6] i64[4,2]<6 - reduction=none",
    "f64[3,3,5] i64[3,3]<5 - reduction=none",
    "f64[4,6] i64[4]<6 f64[6] reduction=sum",
    "f64[5,7] i64[5]<6 f64[7] reduction=sum",
    NULL,
};
static const char *const nll_loss_backward_cases[] = {
    "f64[4] f64[4,6] i64[4]<6 f64[6] - reduction=none ignore_index=2",
    "f64[5] f64[5,7] i64[5]<7 f64[7] - reduction=none ignore_index=2",
    "f64[4] f64[4,6] i64[4]<6 - - reduction=none",
    "f64[5] f64[5,7] i64[5]<7 - - reduction=none",
    NULL,
};

#define REDUCTION "reduction:mean|sum|none=mean,ignore_index:int=-100,"

/* What rows have in common. */
#define CLASS_LOSS .kernel = tsr__kernel_class_loss, .positions = true, .bind_rank = class_bind_rank
#define FORWARD                                                                                    \
    CLASS_LOSS, .inputs = "x,target,weight?", .rule = forward_rule, .comm = class_comm,            \
        .shape = forward_shape, .run = tsr__run_class_loss, .cross_rank_reduction = true
#define BACKWARD CLASS_LOSS, .rule = backward_rule, .shape = backward_shape

const tsr_op tsr__ops_class_loss[] = {
    {FORWARD, .name = "cross_entropy", .attrs = REDUCTION "label_smoothing:float=0,classes:int",
     .doc =
         "Computes the cross entropy of logits x [..., classes] and integer targets, "
         "-log(softmax(x))[target] times the target's class weight, reduced by mean (divided by "
         "the sum of the weights), sum or none. Also returns the log-sum-exp of each row and, for "
         "mean, the divisor. classes is the number of classes, by default the last size of x. A "
         "target that is out of range is an error. Across shards of the classes, only a few "
         "numbers per row are communicated.",
     .kind = TSR_LOSS_CROSS_ENTROPY, .scratch = tsr__scratch_class_loss,
     .grad = tsr__grad_cross_entropy, .saves = "x,target,weight,out,out1,out2",
     .cases = cross_entropy_cases},
    {BACKWARD, .name = "cross_entropy_backward", .inputs = "grad,x,target,weight?,lse,divisor?",
     .attrs = REDUCTION "label_smoothing:float=0,classes:int",
     .doc = "Computes the gradient of cross_entropy's x; lse and divisor are its other outputs.",
     .kind = TSR_LOSS_CROSS_ENTROPY_BACKWARD, .scratch = tsr__scratch_class_loss,
     .cases = cross_entropy_backward_cases},
    {FORWARD, .name = "nll_loss", .attrs = REDUCTION "classes:int",
     .doc =
         "Computes the negative log-likelihood of log-probabilities x [..., classes] and integer "
         "targets, -x[target] times the target's class weight, reduced by mean (divided by the "
         "sum of the weights), sum or none. Also returns, for mean, the divisor.",
     .kind = TSR_LOSS_NLL, .grad = tsr__grad_nll_loss, .saves = "x,target,weight,out,out1",
     .cases = nll_loss_cases},
    {BACKWARD, .name = "nll_loss_backward", .inputs = "grad,x,target,weight?,divisor?",
     .attrs = REDUCTION "classes:int",
     .doc = "Computes the gradient of nll_loss's x. Only the shape of x is used.",
     .kind = TSR_LOSS_NLL_BACKWARD, .cases = nll_loss_backward_cases},
    {0},
};
