/* SPDX-License-Identifier: Apache-2.0 */
/* convolution.c - convolution and its gradients. All three are one relation of an input x, a weight
   w and an output y, of which two are given: shapes, rules and windows are written once, in terms
   of these roles. */
#include <inttypes.h>

#include "ops/convolution/conv_call.h"
#include "kernel/kinds.h"
#include "layout/layout.h"
#include "ops/convolution/convolution_ops.h"
#include "op/infer.h"
#include "op/sliding.h"

/* Which operand is what: the number of an input or TSR_OUTPUT(0). */
typedef struct roles {
    int x, w, y;
    int bias;   /* -1: none */
    int result; /* of x, w and y */
} roles;

static roles roles_of(const tsr_schema *s)
{
    const int out = TSR_OUTPUT(0);

    if (s->op->kind == TSR_CONVOLUTION_GRAD_INPUT)
        return (roles){.x = out, .w = 1, .y = 0, .bias = -1, .result = out};
    if (s->op->kind == TSR_CONVOLUTION_GRAD_WEIGHT)
        return (roles){.x = 1, .w = out, .y = 0, .bias = -1, .result = out};
    return (roles){.x = 0, .w = 1, .y = out, .bias = tsr__schema_has(s, 2) ? 2 : -1, .result = out};
}

/* ---- shapes ---- */

static tsr_status check_ndim(const tsr_schema *s, int a, int b, tsr_error *err)
{
    char x[TSR_TEXT_LEN], y[TSR_TEXT_LEN];

    if (s->in[a].shape.ndim != s->in[b].shape.ndim)
        return tsr__fail(err, TSR_ERR_SHAPE, "%s: %s and %s have different numbers of dims",
                         s->op->name, tsr_spec_text(&s->in[a], x, sizeof x),
                         tsr_spec_text(&s->in[b], y, sizeof y));
    if (s->in[a].shape.ndim < 3 || s->in[a].shape.ndim > 2 + TSR_CONV_DIMS)
        return tsr__fail(err, TSR_ERR_SHAPE,
                         "%s: %s has %d dims, convolution takes batch, channels and 1 to %d "
                         "spatial dims",
                         s->op->name, tsr_spec_text(&s->in[a], x, sizeof x), s->in[a].shape.ndim,
                         TSR_CONV_DIMS);
    return TSR_OK;
}

/* What all three begin with: dtypes, the same number of dims, attributes. */
static tsr_status begin_shape(const tsr_schema *s, tsr_conv_shape *c, tsr_error *err)
{
    tsr_status st;

    TSR_TRY(tsr__same_dtype(s, err));
    TSR_TRY(tsr__needs_float(s, err));
    TSR_TRY(check_ndim(s, 0, 1, err));
    TSR_TRY(tsr__conv_attrs(s->op->name, &s->attrs, s->in[0].shape.ndim - 2, c, err));
    if (c->groups < 1)
        st = tsr__fail(err, TSR_ERR_SHAPE, "%s: %" PRId64 " groups, must be at least 1",
                       s->op->name, c->groups);
done:
    return st;
}

static void set_shape(tsr_schema *s, int64_t n, int64_t channels, const int64_t *space, int ndim)
{
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0] = (tsr_shape){.ndim = 2 + ndim, .size = {n, channels}};
    for (int d = 0; d < ndim; d++)
        s->out_shape[0].size[2 + d] = space[d];
}

/* The channels that a weight is for. */
static tsr_status weight_channels(const tsr_schema *s, const tsr_shape *w, tsr_conv_shape *c,
                                  tsr_error *err)
{
    int64_t inner;

    if (__builtin_mul_overflow(w->size[1], c->groups, &inner))
        return tsr__fail(err, TSR_ERR_SHAPE,
                         "%s: %" PRId64 " groups of %" PRId64 " channels are too many", s->op->name,
                         c->groups, w->size[1]);
    c->in_channels = c->transposed ? w->size[0] : inner;
    c->out_channels = c->transposed ? inner : w->size[0];
    return TSR_OK;
}

static tsr_status conv_shape(tsr_schema *s, tsr_error *err)
{
    const tsr_shape *x = &s->in[0].shape, *w = &s->in[1].shape, *bias = &s->in[2].shape;
    char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN];
    tsr_conv_shape c = {0};
    tsr_status st;

    TSR_TRY(begin_shape(s, &c, err));
    TSR_TRY(weight_channels(s, w, &c, err));
    if (c.in_channels != x->size[1])
        return tsr__fail(err, TSR_ERR_SHAPE,
                         "%s: weight %s expects %" PRId64 " input channels, input %s has %" PRId64,
                         s->op->name, tsr_spec_text(&s->in[1], a, sizeof a), c.in_channels,
                         tsr_spec_text(&s->in[0], b, sizeof b), x->size[1]);
    c.batch = x->size[0];
    for (int d = 0; d < c.ndim; d++) {
        c.in[d] = x->size[2 + d];
        c.kernel[d] = w->size[2 + d];
    }
    TSR_TRY(tsr__conv_infer(s->op->name, &c, err));
    if (tsr__schema_has(s, 2) && (bias->ndim != 1 || bias->size[0] != c.out_channels))
        return tsr__fail(err, TSR_ERR_SHAPE,
                         "%s: bias %s does not match the %" PRId64 " output channels of weight %s",
                         s->op->name, tsr_spec_text(&s->in[2], a, sizeof a), c.out_channels,
                         tsr_spec_text(&s->in[1], b, sizeof b));
    set_shape(s, c.batch, c.out_channels, c.out, c.ndim);
done:
    return st;
}

/* Is the gradient, input k, what the sizes give? */
static tsr_status check_grad(const tsr_schema *s, int k, tsr_conv_shape *c, tsr_error *err)
{
    const tsr_shape *grad = &s->in[k].shape;
    char a[TSR_TEXT_LEN];
    tsr_status st;

    TSR_TRY(tsr__conv_infer(s->op->name, c, err));
    for (int d = 0; d < c->ndim; d++)
        if (grad->size[2 + d] != c->out[d])
            return tsr__fail(err, TSR_ERR_SHAPE,
                             "%s: spatial dim %d of the output has size %" PRId64
                             ", its gradient %s has %" PRId64,
                             s->op->name, d, c->out[d], tsr_spec_text(&s->in[k], a, sizeof a),
                             grad->size[2 + d]);
done:
    return st;
}

static tsr_status grad_input_shape(tsr_schema *s, tsr_error *err)
{
    const tsr_shape *grad = &s->in[0].shape, *w = &s->in[1].shape;
    char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN];
    tsr_conv_shape c = {0};
    tsr_status st;

    TSR_TRY(begin_shape(s, &c, err));
    TSR_TRY(tsr__spatial_sizes(s, "input", c.ndim, c.in, err));
    TSR_TRY(weight_channels(s, w, &c, err));
    c.batch = grad->size[0];
    for (int d = 0; d < c.ndim; d++)
        c.kernel[d] = w->size[2 + d];
    if (grad->size[1] != c.out_channels)
        return tsr__fail(err, TSR_ERR_SHAPE,
                         "%s: weight %s gives %" PRId64 " output channels, the gradient %s has "
                         "%" PRId64,
                         s->op->name, tsr_spec_text(&s->in[1], a, sizeof a), c.out_channels,
                         tsr_spec_text(&s->in[0], b, sizeof b), grad->size[1]);
    TSR_TRY(check_grad(s, 0, &c, err));
    set_shape(s, c.batch, c.in_channels, c.in, c.ndim);
done:
    return st;
}

static tsr_status grad_weight_shape(tsr_schema *s, tsr_error *err)
{
    const tsr_shape *grad = &s->in[0].shape, *x = &s->in[1].shape;
    char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN];
    tsr_conv_shape c = {0};
    int64_t outer, inner;
    tsr_status st;

    TSR_TRY(begin_shape(s, &c, err));
    TSR_TRY(tsr__spatial_sizes(s, "kernel", c.ndim, c.kernel, err));
    if (x->size[0] != grad->size[0])
        return tsr__fail(err, TSR_ERR_SHAPE, "%s: batches differ, %s and %s", s->op->name,
                         tsr_spec_text(&s->in[0], a, sizeof a),
                         tsr_spec_text(&s->in[1], b, sizeof b));
    c.batch = x->size[0];
    c.in_channels = x->size[1];
    c.out_channels = grad->size[1];
    for (int d = 0; d < c.ndim; d++)
        c.in[d] = x->size[2 + d];
    TSR_TRY(check_grad(s, 0, &c, err));
    outer = c.transposed ? c.in_channels : c.out_channels;
    inner = (c.transposed ? c.out_channels : c.in_channels) / c.groups;
    set_shape(s, outer, inner, c.kernel, c.ndim);
done:
    return st;
}

/* ---- rules for one mesh dim ---- */

static void put(tsr_rule *rule, int operand, tsr_rule_placement mark)
{
    *(operand < 0 ? &rule->out[TSR_OUTPUT(operand)] : &rule->in[operand]) = mark;
}

static bool is_transposed(const tsr_schema *s)
{
    return s->attrs.value[TSR_CONV_TRANSPOSED].i[0];
}

/* The rule shards two roles, or three; the result is a sum if it is none of them. */
static tsr_status add_rule(const roles *r, tsr_rule rule, bool summed, tsr_rules *out,
                           tsr_error *err)
{
    if (summed)
        put(&rule, r->result, tsr_rule_partial(TSR_SUM));
    return tsr_rule_add(out, &rule, err);
}

/* Channels of the only group: those of the input are summed up, so the bias is added once. */
static tsr_status channel_rules(const tsr_schema *s, const roles *r, tsr_rules *out, tsr_error *err)
{
    const int of_x = is_transposed(s) ? 0 : 1; /* the weight's dim of input channels */
    tsr_rule in = {0}, of_y = {0};
    tsr_status st;

    put(&in, r->x, tsr_rule_shard(1));
    put(&in, r->w, tsr_rule_shard(of_x));
    put(&of_y, r->w, tsr_rule_shard(1 - of_x));
    put(&of_y, r->y, tsr_rule_shard(1));
    if (r->bias >= 0) {
        put(&in, r->bias, tsr_rule_partial(TSR_SUM));
        put(&of_y, r->bias, tsr_rule_shard(0));
    }
    TSR_TRY(add_rule(r, in, r->result == r->y, out, err));
    TSR_TRY(add_rule(r, of_y, r->result == r->x, out, err));
done:
    return st;
}

static tsr_status conv_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    const roles r = roles_of(s);
    const bool grouped = s->attrs.value[TSR_CONV_GROUPS].i[0] > 1;
    tsr_rule batch = {0}, groups = {0};
    tsr_status st;

    put(&batch, r.x, tsr_rule_shard(0));
    put(&batch, r.y, tsr_rule_shard(0));
    TSR_TRY(add_rule(&r, batch, r.result == r.w, out, err));
    if (!grouped)
        TSR_TRY(channel_rules(s, &r, out, err));
    put(&groups, r.x, tsr__plain_shard(1));
    put(&groups, r.w, tsr__plain_shard(0));
    put(&groups, r.y, tsr__plain_shard(1));
    if (r.bias >= 0)
        put(&groups, r.bias, tsr__plain_shard(0));
    if (grouped)
        TSR_TRY(add_rule(&r, groups, false, out, err));
    for (int d = 2; d < s->in[0].shape.ndim; d++) {
        tsr_rule space = {0};
        put(&space, r.x, tsr__plain_shard(d));
        put(&space, r.y, tsr__plain_shard(d));
        TSR_TRY(add_rule(&r, space, r.result == r.w, out, err));
    }
done:
    return st;
}

/* Are `size` channels in groups cut between groups only? */
static bool cuts_groups(const tsr_spec *spec, int64_t groups)
{
    tsr_layout channels = tsr__layout_of(spec), whole = channels;
    const int64_t each = spec->shape.size[1] / groups;
    int coord[TSR_MAX_MESH] = {0};

    whole.shape.size[1] = groups;
    for (int i = 0; i < tsr__mesh_size(&spec->mesh); i++) {
        int64_t b, e, gb, ge;
        tsr__mesh_coords(&spec->mesh, i, coord);
        tsr__layout_interval(&channels, 1, coord, &b, &e);
        tsr__layout_interval(&whole, 1, coord, &gb, &ge);
        if (b != gb * each || e != ge * each)
            return true;
    }
    return false;
}

static bool conv_feasible(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out)
{
    const roles r = roles_of(s);
    const int64_t groups = s->attrs.value[TSR_CONV_GROUPS].i[0];

    return groups == 1 || (!cuts_groups(r.x < 0 ? out : &in[r.x], groups) &&
                           !cuts_groups(r.y < 0 ? out : &in[r.y], groups));
}

/* A rank has some of the groups. */
static void conv_bind_rank(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                           const int *coord, tsr_kernel_call *call)
{
    const int x = roles_of(s).x;
    tsr_attr *groups = &call->attrs.value[TSR_CONV_GROUPS];
    const int64_t channels = (x < 0 ? out : &in[x])->shape.size[1];
    const int64_t here = (x < 0 ? &call->out[0] : &call->in[x])->shape.size[1];

    (void)coord;
    if (groups->i[0] > 1 && channels > 0)
        groups->i[0] = here > 0 ? groups->i[0] * here / channels : 1;
}

/* ---- windows ---- */

static void conv_windows(const tsr_schema *s, bool reverse, tsr_windows *w)
{
    const roles r = roles_of(s);
    const int wide = is_transposed(s) ? r.y : r.x, narrow = is_transposed(s) ? r.x : r.y;
    const tsr_shape *weight = r.w < 0 ? &s->out_shape[0] : &s->in[r.w].shape;
    const bool both_in = wide >= 0 && narrow >= 0;
    int anchor = both_in ? narrow : r.result, operand = both_in || anchor == narrow ? wide : narrow;
    tsr_conv_shape c = {0};

    if (reverse && (anchor != wide || r.bias >= 0)) /* a bias would be added in every window */
        return;
    if (reverse) /* the wide result is filled from the narrow side */
        anchor = narrow, operand = wide;
    if (tsr__conv_attrs(s->op->name, &s->attrs, weight->ndim - 2, &c, NULL) != TSR_OK)
        return;
    w->anchor = anchor;
    for (int d = 0; d < c.ndim; d++) {
        const tsr_sliding along = {
            .kernel = weight->size[2 + d],
            .stride = c.stride[d],
            .dilation = c.dilation[d],
            .pad = c.pad_lo[d],
        };
        w->window[w->n++] = tsr__sliding_window(&along, operand, 2 + d, operand == wide);
    }
}

/* ---- rows ---- */

static const char *const conv_cases[] = {
    "f64[4,6,8] f64[4,6,3] f64[4] padding=1",
    "f64[5,3,7] f64[5,3,3] f64[5] padding=1",
    "f64[2,4,6,4] f64[4,4,3,3] padding=1 stride=2",
    "f64[3,3,5,7] f64[2,3,3,3] padding=1 stride=2",
    "f64[2,2,8,4] f64[2,2,2,2] stride=2",
    "f64[1,3,7,5] f64[3,3,2,2] stride=2",
    "f64[2,4,8] f64[4,2,3] f64[4] padding=2 dilation=2 groups=2",
    "f64[3,6,7] f64[3,2,3] f64[3] padding=2 dilation=2 groups=3",
    "f64[2,4,6] f64[4,4,4] padding=2,1 transposed=true stride=2 output_padding=1",
    "f64[3,3,5] f64[3,2,4] padding=2,1 transposed=true stride=2 output_padding=1",
    "f64[2,4,6] f64[4,2,3] f64[2] padding=1 transposed=true",
    "f64[3,3,5] f64[3,5,3] f64[5] padding=1 transposed=true",
    "f64[2,4,6] f64[4,1,3] transposed=true groups=4",
    "f64[3,3,5] f64[3,1,3] transposed=true groups=3",
    "f64[2,2,4,2,4] f64[2,2,3,1,3] padding=1,0,1",
    "f64[3,3,3,2,5] f64[2,3,3,1,3] padding=1,0,1",
    NULL,
};
static const char *const grad_input_cases[] = {
    "f64[4,4,8] f64[4,6,3] padding=1 input=8",
    "f64[5,5,7] f64[5,3,3] padding=1 input=7",
    "f64[2,4,3,2] f64[4,4,3,3] padding=1 stride=2 input=6,4",
    "f64[3,2,3,4] f64[2,3,3,3] padding=1 stride=2 input=5,7",
    "f64[2,4,8] f64[4,2,3] padding=2 dilation=2 groups=2 input=8",
    "f64[3,3,7] f64[3,2,3] padding=2 dilation=2 groups=3 input=7",
    "f64[2,4,12] f64[4,4,4] padding=2,1 transposed=true stride=2 output_padding=1 input=6",
    "f64[3,2,10] f64[3,2,4] padding=2,1 transposed=true stride=2 output_padding=1 input=5",
    NULL,
};
static const char *const grad_weight_cases[] = {
    "f64[4,4,8] f64[4,6,8] padding=1 kernel=3",
    "f64[5,5,7] f64[5,3,7] padding=1 kernel=3",
    "f64[2,4,3,2] f64[2,4,6,4] padding=1 stride=2 kernel=3,3",
    "f64[3,2,3,4] f64[3,3,5,7] padding=1 stride=2 kernel=3,3",
    "f64[2,4,8] f64[2,4,8] padding=2 dilation=2 groups=2 kernel=3",
    "f64[3,3,7] f64[3,6,7] padding=2 dilation=2 groups=3 kernel=3",
    "f64[2,4,12] f64[2,4,6] padding=2,1 transposed=true stride=2 output_padding=1 kernel=4",
    "f64[3,2,10] f64[3,3,5] padding=2,1 transposed=true stride=2 output_padding=1 kernel=4",
    NULL,
};

static const char *const backward_cases[] = {
    "f64[2,4,3,2] f64[2,4,6,4] f64[4,4,3,3] padding=1 stride=2",
    "f64[3,2,3,4] f64[3,3,5,7] f64[2,3,3,3] padding=1 stride=2",
    "f64[2,4,8] f64[2,4,8] f64[4,2,3] padding=2 dilation=2 groups=2 output_mask=0,1,1",
    "f64[3,6,7] f64[3,6,7] f64[6,3,3] padding=2 dilation=2 groups=2 output_mask=0,1,1",
    "f64[2,4,12] f64[2,4,6] f64[4,4,4] padding=2,1 transposed=true stride=2 output_padding=1",
    "f64[3,2,10] f64[3,3,5] f64[3,2,4] padding=2,1 transposed=true stride=2 output_padding=1",
    NULL,
};

/* What rows have in common. */
#define CONV                                                                                       \
    .rule = conv_rule, .feasible = conv_feasible, .windows = conv_windows,                         \
    .kernel = tsr__kernel_conv, .bind_rank = conv_bind_rank, .release = tsr__release_conv,         \
    .in_field = true

const tsr_op tsr__ops_convolution[] = {
    {CONV, .name = "conv", .kind = TSR_CONVOLUTION_OUTPUT, .inputs = "x,weight,bias?",
     .attrs = TSR_CONV_ATTRS,
     .doc =
         "Convolves x [batch, channels, space...] over 1 to 3 spatial dims; transposed gives the "
         "adjoint (transposed convolution).",
     .linear = "x*weight+bias", .monotone = "+bias", .shape = conv_shape,
     .prepare = tsr__prepare_conv,
     .grad_expr = "x, weight, bias: conv_backward(g, x, weight, ..., output_mask=wanted)",
     .cases = conv_cases},
    {CONV, .name = "conv_grad_input", .kind = TSR_CONVOLUTION_GRAD_INPUT, .inputs = "grad,weight",
     .attrs = TSR_CONV_ATTRS ",input:ints",
     .doc =
         "Computes the gradient of a convolution's input, whose spatial sizes are given by input.",
     .linear = "grad*weight", .shape = grad_input_shape, .prepare = tsr__prepare_conv_grad_input,
     .cases = grad_input_cases},
    {CONV, .name = "conv_grad_weight", .kind = TSR_CONVOLUTION_GRAD_WEIGHT, .inputs = "grad,x",
     .attrs = TSR_CONV_ATTRS ",kernel:ints",
     .doc = "Computes the gradient of a convolution's weight, whose spatial sizes are given by "
            "kernel.",
     .linear = "grad*x", .shape = grad_weight_shape, .prepare = tsr__prepare_conv_grad_weight,
     .cases = grad_weight_cases},
    {.name = "conv_backward",
     .inputs = "grad,x,weight",
     .attrs = TSR_CONV_ATTRS ",output_mask:ints",
     .doc = "Computes the gradients of a convolution's input, weight and bias, those selected by "
            "output_mask.",
     .compose = tsr__compose_conv_backward,
     .cases = backward_cases},
    {0},
};
