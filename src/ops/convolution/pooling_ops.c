/* SPDX-License-Identifier: Apache-2.0 */
/* pooling_ops.c - max and average pooling over 1 to 3 spatial dims, and their gradients. Batch and
   channels shard freely, space by windows. */
#include <inttypes.h>

#include "ops/convolution/conv_call.h"
#include "kernel/kinds.h"
#include "ops/convolution/pooling_call.h"
#include "ops/convolution/convolution_ops.h"
#include "op/infer.h"
#include "op/sliding.h"

static bool is_backward(const tsr_schema *s)
{
    return s->op->kind == TSR_POOLING_MAX_GRAD || s->op->kind == TSR_POOLING_AVERAGE_GRAD;
}

/* ---- shapes ---- */

static tsr_status begin_shape(const tsr_schema *s, tsr_pooling_shape *p, tsr_error *err)
{
    const tsr_shape *x = &s->in[0].shape;
    char a[TSR_TEXT_LEN];
    tsr_status st;

    TSR_TRY(tsr__needs_float(s, err));
    if (x->ndim < 3 || x->ndim > 2 + TSR_CONV_DIMS)
        return tsr__fail(err, TSR_ERR_SHAPE,
                         "%s: %s has %d dims, pooling takes batch, channels and 1 to %d spatial "
                         "dims",
                         s->op->name, tsr_spec_text(&s->in[0], a, sizeof a), x->ndim,
                         TSR_CONV_DIMS);
    TSR_TRY(tsr__pooling_attrs(s->op->name, &s->attrs, x->ndim - 2, p, err));
    p->planes = x->size[0] * x->size[1];
done:
    return st;
}

static void set_shape(tsr_schema *s, const int64_t *space, int ndim)
{
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0] = s->in[0].shape;
    for (int d = 0; d < ndim; d++)
        s->out_shape[0].size[2 + d] = space[d];
}

static tsr_status pool_shape(tsr_schema *s, tsr_error *err)
{
    tsr_pooling_shape p = {0};
    tsr_status st;

    TSR_TRY(begin_shape(s, &p, err));
    for (int d = 0; d < p.ndim; d++)
        p.in[d] = s->in[0].shape.size[2 + d];
    TSR_TRY(tsr__pooling_infer(s->op->name, &p, err));
    set_shape(s, p.out, p.ndim);
done:
    return st;
}

static tsr_status max_pool_shape(tsr_schema *s, tsr_error *err)
{
    tsr_status st = pool_shape(s, err);

    s->n_out = 2;
    s->out_dtype[1] = TSR_I64;
    s->out_shape[1] = s->out_shape[0];
    return st;
}

static tsr_status pool_backward_shape(tsr_schema *s, tsr_error *err)
{
    const tsr_shape *grad = &s->in[0].shape;
    char a[TSR_TEXT_LEN];
    tsr_pooling_shape p = {0};
    tsr_status st;

    TSR_TRY(begin_shape(s, &p, err));
    TSR_TRY(tsr__spatial_sizes(s, "input", p.ndim, p.in, err));
    TSR_TRY(tsr__pooling_infer(s->op->name, &p, err));
    for (int d = 0; d < p.ndim; d++)
        if (grad->size[2 + d] != p.out[d])
            return tsr__fail(err, TSR_ERR_SHAPE,
                             "%s: spatial dim %d of the output has size %" PRId64
                             ", its gradient %s has %" PRId64,
                             s->op->name, d, p.out[d], tsr_spec_text(&s->in[0], a, sizeof a),
                             grad->size[2 + d]);
    set_shape(s, p.in, p.ndim);
done:
    return st;
}

static tsr_status max_pool_backward_shape(tsr_schema *s, tsr_error *err)
{
    const tsr_shape *grad = &s->in[0].shape, *index = &s->in[1].shape;
    char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN];
    bool same = grad->ndim == index->ndim;

    for (int d = 0; d < grad->ndim && same; d++)
        same = grad->size[d] == index->size[d];
    if (!same || s->in[1].dtype != TSR_I64)
        return tsr__fail(
            err, TSR_ERR_SHAPE,
            "%s: the index must be i64 in the gradient's shape, %s and %s do not match",
            s->op->name, tsr_spec_text(&s->in[0], a, sizeof a),
            tsr_spec_text(&s->in[1], b, sizeof b));
    return pool_backward_shape(s, err);
}

/* ---- sharding ---- */

static tsr_status pool_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (int d = 0; d < s->in[0].shape.ndim; d++) {
        const tsr_rule_placement mark = d < 2 ? tsr_rule_shard(d) : tsr__plain_shard(d);
        tsr_rule rule = {0};

        for (int k = 0; k < s->n_in; k++)
            rule.in[k] = mark;
        for (int k = 0; k < s->n_out; k++)
            rule.out[k] = mark;
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
done:
    return st;
}

static void pool_windows(const tsr_schema *s, bool reverse, tsr_windows *w)
{
    const bool back = is_backward(s);
    const int n = reverse ? 1 : s->n_in;
    tsr_pooling_shape p = {0};

    if ((reverse && !back) ||
        tsr__pooling_attrs(s->op->name, &s->attrs, s->in[0].shape.ndim - 2, &p, NULL) != TSR_OK)
        return;
    w->anchor = reverse ? 0 : TSR_OUTPUT(0);
    for (int k = 0; k < n; k++)
        for (int d = 0; d < p.ndim; d++) {
            const tsr_sliding along = {
                .kernel = p.kernel[d],
                .stride = p.stride[d],
                .dilation = p.dilation[d],
                .pad = p.pad_lo[d],
            };
            w->window[w->n++] =
                tsr__sliding_window(&along, reverse ? TSR_OUTPUT(0) : k, 2 + d, reverse || !back);
        }
}

static void pool_bind_rank(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                           const int *coord, tsr_kernel_call *call)
{
    const bool back = is_backward(s);
    const tsr_shape *x = back ? &out[0].shape : &in[0].shape;

    (void)coord;
    for (int d = 0; d < x->ndim - 2; d++)
        call->number[d] = x->size[2 + d];
    call->number[TSR_CONV_DIMS] = back;
}

/* ---- rows ---- */

static const char *const max_pool_cases[] = {
    "f64[4,2,8] kernel=2",
    "f64[3,5,7] kernel=2",
    "f64[2,2,6,8] kernel=3 stride=2 padding=1",
    "f64[3,3,7,5] kernel=3 stride=2 padding=1",
    "f64[2,2,8,6] kernel=2,3 stride=1 dilation=2,1 ceil=true",
    "f64[3,3,7,5] kernel=2,3 stride=1 dilation=2,1 ceil=true",
    NULL,
};
static const char *const avg_pool_cases[] = {
    "f64[4,2,8] kernel=2",
    "f64[3,5,7] kernel=2",
    "f64[2,2,6,8] kernel=3 stride=2 padding=1",
    "f64[3,3,7,5] kernel=3 stride=2 padding=1",
    "f64[2,2,6,8] kernel=3 stride=2 padding=1 ceil=true count_include_pad=false",
    "f64[3,3,7,5] kernel=3 stride=2 padding=1 ceil=true count_include_pad=false",
    NULL,
};
/* An index is in the window of its output: here all windows see all there is. */
static const char *const max_pool_backward_cases[] = {
    "f64[4,2,4] i64[4,2,4]<8 kernel=16 stride=1 padding=7,4 input=8",
    "f64[3,5,4] i64[3,5,4]<8 kernel=16 stride=1 padding=7,4 input=8",
    "f64[3,5,3] i64[3,5,3]<7 kernel=16 stride=1 padding=7,4 input=7",
    "f64[2,2,3,2] i64[2,2,3,2]<16 kernel=8 stride=1 padding=3,3,3,2 input=4,4",
    "f64[3,3,3,3] i64[3,3,3,3]<15 kernel=8 stride=1 padding=3,4,2,3 input=5,3",
    NULL,
};
static const char *const avg_pool_backward_cases[] = {
    "f64[4,2,6] kernel=3 stride=1 input=8",
    "f64[3,5,6] kernel=3 stride=1 input=8",
    "f64[3,5,5] kernel=3 stride=1 input=7",
    "f64[2,2,3,4] kernel=3 stride=2 padding=1 input=6,8",
    "f64[3,3,4,3] kernel=3 stride=2 padding=1 input=7,5",
    "f64[2,2,4,5] kernel=3 stride=2 padding=1 ceil=true count_include_pad=false input=6,8",
    "f64[3,3,4,3] kernel=3 stride=2 padding=1 ceil=true count_include_pad=false input=7,5",
    NULL,
};

/* What rows have in common. */
#define POOL                                                                                       \
    .rule = pool_rule, .windows = pool_windows, .kernel = tsr__kernel_pool,                        \
    .bind_rank = pool_bind_rank, .prepare = tsr__prepare_pool

const tsr_op tsr__ops_pooling[] = {
    {POOL, .name = "max_pool", .kind = TSR_POOLING_MAX, .inputs = "x", .attrs = TSR_POOLING_ATTRS,
     .doc = "Takes the maximum of each window of the spatial dims, and its index in the flattened "
            "spatial dims. The first of equal maxima wins.",
     .shape = max_pool_shape, .grad_expr = "x: max_pool_backward(g, out1, ..., input=x.shape[2:])",
     .cases = max_pool_cases},
    {POOL, .name = "avg_pool", .kind = TSR_POOLING_AVERAGE, .inputs = "x",
     .attrs = TSR_POOLING_ATTRS ",count_include_pad:bool=true",
     .doc = "Takes the mean of each window of the spatial dims. Padding counts as zeros unless "
            "count_include_pad is false.",
     .linear = "x", .shape = pool_shape,
     .grad_expr = "x: avg_pool_backward(g, ..., input=x.shape[2:])", .in_field = true,
     .cases = avg_pool_cases},
    {POOL, .name = "max_pool_backward", .kind = TSR_POOLING_MAX_GRAD, .inputs = "grad,index",
     .attrs = TSR_POOLING_ATTRS ",input:ints",
     .doc = "Computes the gradient of max_pool's input, whose spatial sizes are given by input. An "
            "index outside its output's window is an error.",
     .linear = "grad", .positions = true, .shape = max_pool_backward_shape, .in_field = true,
     .cases = max_pool_backward_cases},
    {POOL, .name = "avg_pool_backward", .kind = TSR_POOLING_AVERAGE_GRAD, .inputs = "grad",
     .attrs = TSR_POOLING_ATTRS ",count_include_pad:bool=true,input:ints",
     .doc = "Computes the gradient of avg_pool's input, whose spatial sizes are given by input.",
     .linear = "grad", .shape = pool_backward_shape, .in_field = true,
     .cases = avg_pool_backward_cases},
    {0},
};
