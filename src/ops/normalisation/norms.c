/* SPDX-License-Identifier: Apache-2.0 */
/* norms.c - batch and group normalisation of x [samples, channels, space...], and their gradients.
   Channels shard with their vectors. A shard of dims that statistics are taken over leaves every
   rank with statistics of its part: they are gathered and merged (.merge). */
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "ops/normalisation/norm.h"
#include "layout/layout.h"
#include "layout/runs.h"
#include "ops/normalisation/normalisation_ops.h"
#include "ops/normalisation/normalisation_attrs.h"
#include "op/infer.h"
#include "op/row_parts.h"
#include "op/schema.h"

enum { Y = 0, MEAN = 1, RSTD = 2, VAR = 3 }; /* outputs */
enum { GRAD_X = 0, GRAD_WEIGHT = 1, GRAD_BIAS = 2, N_GRADS = 3 };

static bool is_backward(const tsr_schema *s)
{
    return s->op->kind == TSR_NORM_BATCH_BACKWARD || s->op->kind == TSR_NORM_GROUP_BACKWARD;
}

static bool is_grouped(const tsr_schema *s)
{
    return s->op->kind == TSR_NORM_GROUP || s->op->kind == TSR_NORM_GROUP_BACKWARD;
}

static int x_of(const tsr_schema *s)
{
    return is_backward(s) ? TSR_NORM_GRAD_X : TSR_NORM_X;
}

/* Are statistics taken of x, or given? */
static bool is_measured(const tsr_schema *s)
{
    return is_grouped(s) || tsr_schema_attr(s, "training")->i[0];
}

/* Values per channel of x, or of its groups of channels. */
static int64_t values_of(const tsr_schema *s)
{
    const tsr_shape *x = &s->in[x_of(s)].shape;
    int64_t n = is_grouped(s) ? 1 : x->size[0];

    for (int d = 2; d < x->ndim; d++)
        n *= x->size[d];
    if (is_grouped(s)) {
        int64_t groups = tsr_schema_attr(s, "groups")->i[0];
        n *= groups > 0 ? x->size[1] / groups : 0;
    }
    return n;
}

/* ---- shapes ---- */

static tsr_status check_x(const tsr_schema *s, tsr_error *err)
{
    const tsr_spec *x = &s->in[x_of(s)];
    char text[TSR_TEXT_LEN];

    if (x->shape.ndim >= 2)
        return TSR_OK;
    return tsr__fail(err, TSR_ERR_SHAPE, "%s: x must be [samples, channels, ...], not %s",
                     s->op->name, tsr_spec_text(x, text, sizeof text));
}

static tsr_status check_vector(const tsr_schema *s, int k, const char *name, const tsr_shape *like,
                               const char *what, tsr_error *err)
{
    const tsr_spec *spec = &s->in[k], *x = &s->in[x_of(s)];
    char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN], c[TSR_TEXT_LEN];
    bool fits = spec->shape.ndim == like->ndim;

    if (!tsr__schema_has(s, k))
        return TSR_OK;
    for (int d = 0; d < like->ndim && fits; d++)
        fits = spec->shape.size[d] == like->size[d];
    if (!fits)
        return tsr__fail(err, TSR_ERR_SHAPE, "%s: %s must have shape %s, %s, not %s", s->op->name,
                         name, tsr__shape_text(like, a, sizeof a), what,
                         tsr_spec_text(spec, b, sizeof b));
    if (spec->dtype != x->dtype && spec->dtype != tsr__dtype_fine(x->dtype))
        return tsr__fail(err, TSR_ERR_DTYPE, "%s: %s %s does not have x's dtype, %s%s", s->op->name,
                         name, tsr_spec_text(spec, b, sizeof b), tsr_spec_text(x, c, sizeof c),
                         tsr__dtype_fine(x->dtype) != x->dtype ? ", or f32" : "");
    return TSR_OK;
}

static tsr_status check_eps(const tsr_schema *s, tsr_error *err)
{
    double eps = tsr_schema_attr(s, "eps")->f;

    if (eps >= 0)
        return TSR_OK;
    return tsr__fail(err, TSR_ERR_ARG, "%s: eps must be at least 0, not %g", s->op->name, eps);
}

/* No groups are right for no channels: what a rank may hold. */
static tsr_status check_groups(const tsr_schema *s, tsr_error *err)
{
    int64_t channels = s->in[x_of(s)].shape.size[1];
    const tsr_attr *groups = tsr_schema_attr(s, "groups");

    if (groups->n < 1)
        return tsr__fail(err, TSR_ERR_ARG, "%s: missing required attribute groups", s->op->name);
    if (groups->i[0] < 0 || (groups->i[0] == 0 && channels > 0))
        return tsr__fail(err, TSR_ERR_ARG, "%s: groups must be at least 1, not %" PRId64,
                         s->op->name, groups->i[0]);
    if (groups->i[0] > 0 && channels % groups->i[0] != 0)
        return tsr__fail(err, TSR_ERR_SHAPE,
                         "%s: %" PRId64 " channels are not divisible by %" PRId64 " groups",
                         s->op->name, channels, groups->i[0]);
    return TSR_OK;
}

static tsr_shape channels_shape(const tsr_schema *s)
{
    return (tsr_shape){.ndim = 1, .size = {s->in[x_of(s)].shape.size[1]}};
}

/* [channels], or [samples, groups] */
static tsr_shape statistics_shape(const tsr_schema *s)
{
    if (is_grouped(s))
        return (tsr_shape){
            .ndim = 2, .size = {s->in[x_of(s)].shape.size[0], tsr_schema_attr(s, "groups")->i[0]}};
    return channels_shape(s);
}

static tsr_status check_forward(tsr_schema *s, tsr_error *err)
{
    tsr_shape channels;
    tsr_status st;

    TSR_TRY(tsr__needs_float(s, err));
    TSR_TRY(check_x(s, err));
    TSR_TRY(check_eps(s, err));
    channels = channels_shape(s);
    TSR_TRY(check_vector(s, TSR_NORM_WEIGHT, "weight", &channels, "one number per channel", err));
    TSR_TRY(check_vector(s, TSR_NORM_BIAS, "bias", &channels, "one number per channel", err));
done:
    return st;
}

static void set_forward(tsr_schema *s, bool variance)
{
    s->n_out = variance ? 4 : 3;
    s->out_dtype[Y] = s->in[TSR_NORM_X].dtype;
    s->out_shape[Y] = s->in[TSR_NORM_X].shape;
    for (int k = MEAN; k < s->n_out; k++) {
        s->out_dtype[k] = tsr__dtype_fine(s->in[TSR_NORM_X].dtype);
        s->out_shape[k] = statistics_shape(s);
    }
}

static tsr_status batch_norm_shape(tsr_schema *s, tsr_error *err)
{
    const tsr_spec *x = &s->in[TSR_NORM_X];
    bool training = tsr_schema_attr(s, "training")->i[0];
    bool mean = tsr__schema_has(s, TSR_NORM_RUNNING_MEAN);
    bool var = tsr__schema_has(s, TSR_NORM_RUNNING_VAR);
    char text[TSR_TEXT_LEN];
    tsr_shape channels;
    tsr_status st;

    TSR_TRY(check_forward(s, err));
    channels = channels_shape(s);
    if (training && (mean || var))
        TSR_TRY(tsr__fail(err, TSR_ERR_ARG,
                          "%s: training takes no running statistics; running_update updates them",
                          s->op->name));
    if (!training && !(mean && var))
        TSR_TRY(tsr__fail(err, TSR_ERR_ARG,
                          "%s: without training, running_mean and running_var are required",
                          s->op->name));
    if (training && values_of(s) == 1)
        TSR_TRY(tsr__fail(err, TSR_ERR_SHAPE,
                          "%s: training needs more than one value per channel, %s has one",
                          s->op->name, tsr_spec_text(x, text, sizeof text)));
    TSR_TRY(check_vector(s, TSR_NORM_RUNNING_MEAN, "running_mean", &channels,
                         "one number per channel", err));
    TSR_TRY(check_vector(s, TSR_NORM_RUNNING_VAR, "running_var", &channels,
                         "one number per channel", err));
    set_forward(s, training && tsr_schema_attr(s, "variance")->i[0]);
    if (!training) /* it is the running one */
        s->out_shape[MEAN].ndim = -1;
done:
    return st;
}

static tsr_status group_norm_shape(tsr_schema *s, tsr_error *err)
{
    tsr_status st;

    TSR_TRY(check_forward(s, err));
    TSR_TRY(check_groups(s, err));
    set_forward(s, false);
done:
    return st;
}

/* Which gradients are wanted, as 0 and 1. */
static tsr_status check_mask(const tsr_schema *s, tsr_error *err)
{
    const tsr_attr *mask = tsr_schema_attr(s, "output_mask");
    bool any = false, good = mask->n == N_GRADS;

    for (int k = 0; k < mask->n && good; k++) {
        good = mask->i[k] == 0 || mask->i[k] == 1;
        any = any || mask->i[k];
    }
    if (good && any)
        return TSR_OK;
    return tsr__fail(
        err, TSR_ERR_ARG,
        "%s: output_mask must be 3 numbers, 0 or 1, for the gradients of x, weight and bias, with "
        "at least one 1",
        s->op->name);
}

static tsr_status backward_shape(tsr_schema *s, tsr_error *err)
{
    const tsr_spec *grad = &s->in[TSR_NORM_GRAD], *x = &s->in[TSR_NORM_GRAD_X];
    const tsr_attr *mask = tsr_schema_attr(s, "output_mask");
    const char *each = is_grouped(s) ? "one number per sample and group" : "one number per channel";
    tsr_shape channels, statistics;
    tsr_status st;

    TSR_TRY(tsr__needs_float(s, err));
    TSR_TRY(check_x(s, err));
    if (is_grouped(s))
        TSR_TRY(check_groups(s, err));
    TSR_TRY(check_mask(s, err));
    TSR_TRY(check_vector(s, TSR_NORM_GRAD, "grad", &x->shape, "that of x", err));
    if (grad->dtype != x->dtype)
        TSR_TRY(tsr__fail(err, TSR_ERR_DTYPE, "%s: grad has dtype %s, but x has %s", s->op->name,
                          tsr_dtype_name(grad->dtype), tsr_dtype_name(x->dtype)));
    channels = channels_shape(s);
    statistics = statistics_shape(s);
    TSR_TRY(
        check_vector(s, TSR_NORM_GRAD_WEIGHT, "weight", &channels, "one number per channel", err));
    TSR_TRY(check_vector(s, TSR_NORM_GRAD_MEAN, "mean", &statistics, each, err));
    TSR_TRY(check_vector(s, TSR_NORM_GRAD_RSTD, "rstd", &statistics, each, err));
    s->n_out = N_GRADS;
    for (int k = 0; k < N_GRADS; k++) {
        s->out_dtype[k] = k == GRAD_X ? x->dtype
                          : tsr__schema_has(s, TSR_NORM_GRAD_WEIGHT)
                              ? s->in[TSR_NORM_GRAD_WEIGHT].dtype
                              : tsr__dtype_fine(x->dtype);
        s->out_shape[k] = k == GRAD_X ? x->shape : channels;
        if (!mask->i[k])
            s->out_shape[k].ndim = -1;
    }
done:
    return st;
}

static tsr_status update_shape(tsr_schema *s, tsr_error *err)
{
    double momentum = tsr_schema_attr(s, "momentum")->f;
    char text[2 * TSR_TEXT_LEN];
    bool same = s->in[0].shape.ndim == s->in[1].shape.ndim;
    tsr_status st;

    TSR_TRY(tsr__needs_float(s, err));
    for (int d = 0; d < s->in[0].shape.ndim && same; d++)
        same = s->in[0].shape.size[d] == s->in[1].shape.size[d];
    if (!same || !tsr__dtype_is_float(s->in[1].dtype))
        TSR_TRY(tsr__fail(err, TSR_ERR_SHAPE,
                          "%s: new statistics do not match the running ones, %s", s->op->name,
                          tsr_schema_text(s, text, sizeof text)));
    if (!(momentum >= 0 && momentum <= 1))
        TSR_TRY(tsr__fail(err, TSR_ERR_ARG, "%s: momentum must be in [0, 1], not %g", s->op->name,
                          momentum));
    TSR_TRY(tsr__shape_same(s, err));
done:
    return st;
}

/* ---- rules ---- */

/* Groups are known by where they begin, so channels of groups are not cut into strides. */
static tsr_rule_placement channel_mark(const tsr_schema *s, int dim)
{
    return is_grouped(s) ? (tsr_rule_placement){.place = {.kind = TSR_SHARD, .dim = dim}}
                         : tsr_rule_shard(dim);
}

static void set_statistics_out(const tsr_schema *s, tsr_rule *rule, tsr_rule_placement mark)
{
    for (int k = MEAN; k <= VAR; k++)
        tsr__rule_out(s, rule, k, mark);
}

/* y = normalised x * weight + bias, in the sums that pend in vectors. */
static tsr_status add_forward_partials(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    static const tsr_reduce reduce[] = {TSR_SUM, TSR_AVG, TSR_MAX, TSR_MIN};
    bool has_weight = tsr__schema_has(s, TSR_NORM_WEIGHT);
    bool has_bias = tsr__schema_has(s, TSR_NORM_BIAS);
    tsr_status st = TSR_OK;

    for (int i = 0; i < 4; i++) {
        tsr_rule_placement partial = tsr_rule_partial(reduce[i]);
        bool linear = reduce[i] == TSR_SUM || reduce[i] == TSR_AVG;
        tsr_rule rule = {.out = {partial}};

        /* one term has no vector: it may be averaged, but not be summed up */
        if (reduce[i] == TSR_SUM ? !has_weight : !(linear ? has_weight || has_bias : has_bias))
            continue;
        if (linear)
            tsr__rule_in(s, &rule, TSR_NORM_WEIGHT, partial);
        tsr__rule_in(s, &rule, TSR_NORM_BIAS, partial);
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
done:
    return st;
}

/* With given statistics y is affine in x and in the running mean, and without weights it grows
   with x. */
static tsr_status add_given_partials(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (int i = 0; i < 2; i++) {
        tsr_rule_placement partial = tsr_rule_partial(i ? TSR_AVG : TSR_SUM);
        tsr_rule rule = {.in = {[TSR_NORM_X] = partial, [TSR_NORM_RUNNING_MEAN] = partial},
                         .out = {partial}};

        tsr__rule_in(s, &rule, TSR_NORM_BIAS, partial);
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
    for (int max = 0; max < 2 && !tsr__schema_has(s, TSR_NORM_WEIGHT); max++) {
        tsr_rule_placement one = tsr_rule_partial(max ? TSR_MAX : TSR_MIN);
        tsr_rule_placement other = tsr_rule_partial(max ? TSR_MIN : TSR_MAX);

        TSR_TRY(tsr_rule_add(out, &(tsr_rule){.in = {one}, .out = {one}}, err));
        TSR_TRY(tsr_rule_add(
            out, &(tsr_rule){.in = {[TSR_NORM_RUNNING_MEAN] = one}, .out = {other}}, err));
    }
done:
    return st;
}

static tsr_status forward_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    tsr_status st;

    TSR_TRY(add_forward_partials(s, out, err));
    if (!is_measured(s))
        TSR_TRY(add_given_partials(s, out, err));
    for (int d = 0; d < s->in[TSR_NORM_X].shape.ndim; d++) {
        tsr_rule rule = {.in = {tsr_rule_shard(d)}, .out = {tsr_rule_shard(d)}};

        if (d == 1) {
            rule.in[TSR_NORM_X] = rule.out[Y] = channel_mark(s, 1);
            for (int k = TSR_NORM_WEIGHT; k <= TSR_NORM_RUNNING_VAR; k++)
                tsr__rule_in(s, &rule, k, channel_mark(s, 0));
            set_statistics_out(s, &rule, channel_mark(s, is_grouped(s) ? 1 : 0));
        } else if (d == 0 && is_grouped(s)) {
            set_statistics_out(s, &rule, tsr_rule_shard(0));
        }
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
done:
    return st;
}

/* The gradient of x is linear in grad and in weight, that of weight in grad, in x - mean and in
   rstd, that of bias in grad. Where x's has statistics of x in it, nothing passes but grad and
   weight. */
static tsr_status add_backward_partials(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    bool whole = tsr__schema_gives(s, GRAD_X) && is_measured(s);
    bool by_weight = tsr__schema_gives(s, GRAD_X) && tsr__schema_has(s, TSR_NORM_GRAD_WEIGHT);
    bool by_x = tsr__schema_gives(s, GRAD_WEIGHT) && !whole;
    const tsr_rule_placement mark[] = {
        {.open = false}, tsr_rule_partial(TSR_SUM), tsr_rule_partial(TSR_AVG)};
    tsr_status st = TSR_OK;

    for (int i = 1; i < 3; i++) {
        tsr_rule rule = {.in = {mark[i]}};

        for (int k = 0; k < N_GRADS; k++)
            tsr__rule_out(s, &rule, k, mark[i]);
        TSR_TRY(tsr_rule_add(out, &rule, err));
        rule = (tsr_rule){.in = {[TSR_NORM_GRAD_RSTD] = mark[i]}};
        tsr__rule_out(s, &rule, GRAD_X, mark[i]);
        tsr__rule_out(s, &rule, GRAD_WEIGHT, mark[i]);
        if (by_x || (!whole && tsr__schema_gives(s, GRAD_X)))
            TSR_TRY(tsr_rule_add(out, &rule, err));
    }
    for (int i = 0; i < (by_weight ? 3 : 1); i++)
        for (int j = 0; j < (by_x ? 3 : 1); j++) {
            tsr_rule rule = {.in = {[TSR_NORM_GRAD_X] = mark[j], [TSR_NORM_GRAD_MEAN] = mark[j]}};

            tsr__rule_in(s, &rule, TSR_NORM_GRAD_WEIGHT, mark[i]);
            tsr__rule_out(s, &rule, GRAD_X, mark[i]);
            tsr__rule_out(s, &rule, GRAD_WEIGHT, mark[j]);
            TSR_TRY(tsr_rule_add(out, &rule, err));
        }
done:
    return st;
}

static tsr_status backward_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    /* the sums that all ranks need for the gradient of x are the other gradients too */
    bool summed = !is_grouped(s) && is_measured(s) && tsr__schema_gives(s, GRAD_X);
    tsr_status st;

    TSR_TRY(add_backward_partials(s, out, err));
    for (int d = 0; d < s->in[TSR_NORM_GRAD_X].shape.ndim; d++) {
        tsr_rule_placement x = d == 1 ? channel_mark(s, 1) : tsr_rule_shard(d);
        tsr_rule_placement vector = d == 1   ? channel_mark(s, 0)
                                    : summed ? (tsr_rule_placement){0}
                                             : tsr_rule_partial(TSR_SUM);
        tsr_rule rule = {.in = {[TSR_NORM_GRAD] = x, [TSR_NORM_GRAD_X] = x}};

        if (d == 1)
            tsr__rule_in(s, &rule, TSR_NORM_GRAD_WEIGHT, vector);
        if (d == 1 || (d == 0 && is_grouped(s)))
            rule.in[TSR_NORM_GRAD_MEAN] = rule.in[TSR_NORM_GRAD_RSTD] = is_grouped(s) ? x : vector;
        tsr__rule_out(s, &rule, GRAD_X, x);
        tsr__rule_out(s, &rule, GRAD_WEIGHT, vector);
        tsr__rule_out(s, &rule, GRAD_BIAS, vector);
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
done:
    return st;
}

/* ---- whole groups ---- */

/* Do parts of channels and of groups go together, along all mesh dims that shard channels? */
static bool parts_agree(const tsr_spec *x, int64_t groups, int m, int64_t channels, int64_t each)
{
    while (m < x->mesh.ndim && (x->place[m].kind != TSR_SHARD || x->place[m].dim != 1))
        m++;
    if (m == x->mesh.ndim)
        return channels == groups * each;
    for (int r = 0; r < x->mesh.size[m]; r++) {
        int64_t begin, end, first, last;
        tsr__chunk(channels, x->mesh.size[m], r, &begin, &end);
        tsr__chunk(groups, x->mesh.size[m], r, &first, &last);
        if (begin != first * each || !parts_agree(x, last - first, m + 1, end - begin, each))
            return false;
    }
    return true;
}

static bool groups_fit(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out)
{
    const tsr_spec *x = &in[x_of(s)];
    int64_t groups = tsr_schema_attr(s, "groups")->i[0], channels = x->shape.size[1];

    (void)out;
    return parts_agree(x, groups, 0, channels, groups > 0 ? channels / groups : 0);
}

/* Groups of the channels that are here; -1 if they are not whole. */
static void groups_bind_rank(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                             const int *coord, tsr_kernel_call *call)
{
    tsr_layout layout = tsr__layout_of(&in[x_of(s)]);
    int64_t here = tsr__layout_local_shape(&layout, coord).size[1];
    int64_t groups = tsr_schema_attr(s, "groups")->i[0], channels = s->in[x_of(s)].shape.size[1];

    (void)out;
    call->number[TSR_NORM_COUNT] = values_of(s);
    if (channels > 0)
        call->attrs.value[TSR_NORM_GROUPS].i[0] =
            here * groups % channels == 0 ? here * groups / channels : -1;
}

static void batch_bind_rank(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                            const int *coord, tsr_kernel_call *call)
{
    (void)in;
    (void)out;
    (void)coord;
    call->number[TSR_NORM_COUNT] = values_of(s);
}

/* ---- communication ---- */

static unsigned norm_mdims(const tsr_schema *s, const tsr_spec *in)
{
    if (!is_measured(s) || (is_backward(s) && !tsr__schema_gives(s, GRAD_X)))
        return 0;
    return tsr__sharded_mdims(&in[x_of(s)], is_grouped(s) ? ~3u : ~2u);
}

/* ---- of other ops ---- */

/* A single value is its own mean: nothing would be left of it. */
static tsr_status check_instances(const tsr_spec *x, tsr_error *err)
{
    char text[TSR_TEXT_LEN];
    int64_t values = 1;

    for (int d = 2; d < x->shape.ndim; d++)
        values *= x->shape.size[d];
    if (x->shape.ndim >= 2 && values != 1)
        return TSR_OK;
    return tsr__fail(
        err, TSR_ERR_SHAPE,
        "instance_norm: x must be [samples, channels, space...] with more than one value per "
        "channel, not %s",
        tsr_spec_text(x, text, sizeof text));
}

static tsr_status instance_norm_shape(tsr_schema *s, tsr_error *err)
{
    tsr_status st;

    TSR_TRY(check_instances(&s->in[TSR_NORM_X], err));
    TSR_TRY(check_forward(s, err));
    set_forward(s, false);
    for (int k = MEAN; k <= RSTD; k++)
        s->out_shape[k] =
            (tsr_shape){.ndim = 2, .size = {s->out_shape[Y].size[0], s->out_shape[Y].size[1]}};
done:
    return st;
}

/* Groups of one channel each. */
static tsr_status compose_instance_norm(tsr_tensor *const *in, int n_in, const tsr_attrs *attrs,
                                        tsr_tensor **out, tsr_error *err)
{
    const tsr_spec *x = tsr_tensor_spec(in[0]);
    char groups[TSR_TEXT_LEN], eps[TSR_TEXT_LEN];
    const char *const given[] = {groups, eps};
    tsr_status st;

    TSR_TRY(check_instances(x, err));
    snprintf(groups, sizeof groups, "groups=%" PRId64, x->shape.size[1]);
    tsr__format(eps, sizeof eps, "eps=%.17g", attrs->value[TSR_ATTR_INSTANCE_NORM_EPS].f);
    TSR_TRY(tsr_op_run_all(tsr_tensor_mesh(in[0]), "group_norm", in, n_in, given, 2, out));
done:
    return st;
}

/* ---- rows ---- */

static const char *const batch_norm_cases[] = {
    "f64[4,6,2]",
    "f64[5,3,3]",
    "f64[4,6] f64[6] f64[6]",
    "f64[5,3] f64[3] f64[3]",
    "f64[4,3,2,3] f64[3] - variance=true",
    "f64[3,5,3,2] f64[5] - variance=true",
    "f64[4,6,2] - - f64[6] f64[6]+ training=false",
    "f64[5,3,3] - - f64[3] f64[3]+ training=false",
    "f64[4,6] f64[6] f64[6] f64[6] f64[6]+ training=false",
    "f64[5,3] f64[3] f64[3] f64[3] f64[3]+ training=false",
    NULL,
};
static const char *const batch_norm_backward_cases[] = {
    "f64[4,6,2] f64[4,6,2] - f64[6] f64[6]",
    "f64[5,3,3] f64[5,3,3] - f64[3] f64[3]",
    "f64[4,6] f64[4,6] f64[6] f64[6] f64[6] output_mask=1,0,0",
    "f64[5,3] f64[5,3] f64[3] f64[3] f64[3] output_mask=1,0,0",
    "f64[4,6,2] f64[4,6,2] - f64[6] f64[6] output_mask=0,1,1",
    "f64[5,3,3] f64[5,3,3] - f64[3] f64[3] output_mask=0,1,1",
    "f64[4,6] f64[4,6] f64[6] f64[6] f64[6] training=false output_mask=1,1,0",
    "f64[5,3] f64[5,3] f64[3] f64[3] f64[3] training=false output_mask=1,1,0",
    "f64[4,3,2] f64[4,3,2] - f64[3] f64[3] training=false",
    "f64[5,5,3] f64[5,5,3] - f64[5] f64[5] training=false",
    NULL,
};
static const char *const group_norm_cases[] = {
    "f64[4,6,3] f64[6] f64[6] groups=2",
    "f64[5,4,2] groups=4",
    "f64[3,8,2,2] f64[8] - groups=4",
    "f64[5,6] - f64[6] groups=3",
    NULL,
};
static const char *const group_norm_backward_cases[] = {
    "f64[4,6,2] f64[4,6,2] - f64[4,3] f64[4,3] groups=3",
    "f64[3,4] f64[3,4] f64[4] f64[3,2] f64[3,2] groups=2 output_mask=1,0,0",
    "f64[5,4,3] f64[5,4,3] - f64[5,2] f64[5,2] groups=2 output_mask=0,1,1",
    NULL,
};
static const char *const instance_norm_cases[] = {
    "f64[4,6,2] f64[6] f64[6]",
    "f64[5,3,3] f64[3] f64[3]",
    NULL,
};
static const char *const update_cases[] = {
    "f64[6] f64[6] momentum=0.25",
    "f64[7] f64[7] momentum=0.25",
    NULL,
};

#define MASK "output_mask:ints=1/1/1"

/* What rows have in common. */
#define NORM                                                                                       \
    .kernel = tsr__kernel_channel_norm, .scratch = tsr__scratch_channel_norm,                      \
    .cross_rank_reduction = true
#define FORWARD                                                                                    \
    NORM, .rule = forward_rule, .merge = &(const tsr_merge)                                        \
    {                                                                                              \
        &tsr__norm_steps, norm_mdims                                                               \
    }
#define BACKWARD                                                                                   \
    NORM, .inputs = "grad,x,weight?,mean,rstd", .rule = backward_rule, .shape = backward_shape,    \
        .merge = &(const tsr_merge)                                                                \
    {                                                                                              \
        &tsr__norm_backward_steps, norm_mdims                                                      \
    }

const tsr_op tsr__ops_norm[] = {
    {FORWARD, .name = "batch_norm", .inputs = "x,weight?,bias?,running_mean?,running_var?",
     .attrs = "training:bool=true,eps:float=1e-5,variance:bool=false",
     .doc =
         "Normalizes each channel of x [samples, channels, space...] over samples and space by "
         "its biased variance, or by the running statistics, then applies weight and bias. Also "
         "returns the mean unless it was given, 1 / sqrt(variance + eps) and, with variance, the "
         "unbiased variance.",
     .shape = batch_norm_shape, .kind = TSR_NORM_BATCH, .grad = tsr__grad_batch_norm,
     .saves = "x,weight,running_mean,out1,out2", .cases = batch_norm_cases},
    {BACKWARD, .name = "batch_norm_backward", .attrs = "training:bool=true," MASK,
     .doc = "Computes the gradients of batch_norm's x, weight and bias.",
     .kind = TSR_NORM_BATCH_BACKWARD, .bind_rank = batch_bind_rank,
     .cases = batch_norm_backward_cases},
    {FORWARD, .name = "group_norm", .inputs = "x,weight?,bias?",
     .attrs = "groups:int,eps:float=1e-5",
     .doc =
         "Normalizes each sample's groups of channels, then applies weight and bias per channel. "
         "Also returns mean and 1 / sqrt(variance + eps), both [samples, groups].",
     .feasible = groups_fit, .shape = group_norm_shape, .kind = TSR_NORM_GROUP,
     .bind_rank = groups_bind_rank, .grad = tsr__grad_group_norm, .saves = "x,weight,out1,out2",
     .cases = group_norm_cases},
    {BACKWARD, .name = "group_norm_backward", .attrs = "groups:int," MASK,
     .doc = "Computes the gradients of group_norm's x, weight and bias.", .feasible = groups_fit,
     .kind = TSR_NORM_GROUP_BACKWARD, .bind_rank = groups_bind_rank,
     .cases = group_norm_backward_cases},
    {.name = "instance_norm",
     .inputs = "x,weight?,bias?",
     .attrs = "eps:float=1e-5",
     .doc = "Normalizes each channel of each sample: group_norm with one channel per group.",
     .shape = instance_norm_shape,
     .compose = compose_instance_norm,
     .grad = tsr__grad_group_norm,
     .saves = "x,weight,out1,out2",
     .cases = instance_norm_cases},
    {.name = "running_update",
     .inputs = "running,new",
     .attrs = "momentum:float=0.1",
     .doc = "Updates running statistics in place: running = (1 - momentum) running + momentum new. "
            "Placements stay.",
     .axes = "...,...->...",
     .linear = "running+new",
     .monotone = "+running+new",
     .shape = update_shape,
     .kernel = tsr__kernel_running_update,
     .kind = TSR_NORM_RUNNING_UPDATE,
     .grad = tsr_grad_none,
     .inplace = true,
     .cases = update_cases},
    {0},
};
