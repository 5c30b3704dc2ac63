/* SPDX-License-Identifier: Apache-2.0 */
/* resampling.c - other sizes for space: adaptive average pooling and interpolation, with gradients.
   Batch and channels shard freely, space by windows. */
#include <inttypes.h>

#include "kernel/kernel.h"
#include "kernel/kinds.h"
#include "ops/convolution/convolution_attrs.h"
#include "ops/convolution/convolution_ops.h"
#include "ops/convolution/resample.h"
#include "op/infer.h"
#include "op/sliding.h"

/* Numbers of a call: per spatial dim the whole sizes of the input and of the output. */
enum { WHOLE_IN = 0, WHOLE_OUT = TSR_CONV_DIMS };

static bool is_backward(int op)
{
    return op % 2;
}

static tsr_resample_kind kind_of(int op, const tsr_attrs *attrs)
{
    const tsr_resample_kind kind = (tsr_resample_kind)(op / 2);

    return kind == TSR_RESAMPLE_LINEAR && attrs->value[TSR_ATTR_UPSAMPLE_LINEAR_ALIGN_CORNERS].i[0]
               ? TSR_RESAMPLE_CORNERS
               : kind;
}

/* The sizes that the tensors do not have are those of the attribute. */
static tsr_status resample_shape(tsr_schema *s, tsr_error *err)
{
    const bool back = is_backward(s->op->kind);
    const tsr_shape *given = &s->in[0].shape;
    tsr_resample_shape r = {.ndim = given->ndim - 2};
    int64_t sizes[TSR_CONV_DIMS];
    char a[TSR_TEXT_LEN];
    tsr_status st;

    TSR_TRY(tsr__needs_float(s, err));
    if (r.ndim < 1 || r.ndim > TSR_CONV_DIMS)
        return tsr__fail(err, TSR_ERR_SHAPE,
                         "%s: %s has %d dims, it takes batch, channels and 1 to %d spatial dims",
                         s->op->name, tsr_spec_text(&s->in[0], a, sizeof a), given->ndim,
                         TSR_CONV_DIMS);
    TSR_TRY(tsr__spatial_sizes(s, back ? "input" : "size", r.ndim, sizes, err));
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0] = *given;
    for (int d = 0; d < r.ndim; d++) {
        if (sizes[d] < 1)
            return tsr__fail(err, TSR_ERR_SHAPE,
                             "%s: size %" PRId64 " of spatial dim %d must be at least 1",
                             s->op->name, sizes[d], d);
        r.whole_in[d] = back ? sizes[d] : given->size[2 + d];
        r.whole_out[d] = back ? given->size[2 + d] : sizes[d];
        s->out_shape[0].size[2 + d] = sizes[d];
    }
    TSR_TRY(tsr__resample_check(s->op->name, &r, err));
done:
    return st;
}

static tsr_status resample_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (int d = 0; d < s->in[0].shape.ndim; d++) {
        const tsr_rule_placement mark = d < 2 ? tsr_rule_shard(d) : tsr__plain_shard(d);
        TSR_TRY(tsr_rule_add(out, &(tsr_rule){.in = {mark}, .out = {mark}}, err));
    }
done:
    return st;
}

static void resample_windows(const tsr_schema *s, bool reverse, tsr_windows *w)
{
    const bool back = is_backward(s->op->kind);
    const tsr_shape *x = back ? &s->out_shape[0] : &s->in[0].shape;
    const tsr_shape *y = back ? &s->in[0].shape : &s->out_shape[0];

    if (reverse)
        return;
    w->anchor = TSR_OUTPUT(0);
    for (int d = 2; d < x->ndim; d++) {
        const tsr_window_law law =
            tsr__resample_law(kind_of(s->op->kind, &s->attrs), back, x->size[d], y->size[d]);
        w->window[w->n++] =
            (tsr_window){.dim = d, .mul = law.mul, .lo = law.lo, .hi = law.hi, .div = law.div};
    }
}

static void resample_bind_rank(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                               const int *coord, tsr_kernel_call *call)
{
    const bool back = is_backward(s->op->kind);
    const tsr_shape *x = back ? &out[0].shape : &in[0].shape;
    const tsr_shape *y = back ? &in[0].shape : &out[0].shape;

    (void)coord;
    for (int d = 0; d < x->ndim - 2; d++) {
        call->number[WHOLE_IN + d] = x->size[2 + d];
        call->number[WHOLE_OUT + d] = y->size[2 + d];
    }
}

/* ---- the kernel: operands may be windows, tsr_operand.first says which ---- */

static tsr_resample_shape shape_of(const tsr_kernel_call *call)
{
    const bool back = is_backward(call->kind);
    const tsr_operand *x = back ? &call->out[0] : &call->in[0];
    const tsr_operand *y = back ? &call->in[0] : &call->out[0];
    tsr_resample_shape s = {.ndim = x->shape.ndim - 2,
                            .planes = x->shape.size[0] * x->shape.size[1]};

    for (int d = 0; d < s.ndim; d++) {
        s.whole_in[d] = call->number[WHOLE_IN + d];
        s.whole_out[d] = call->number[WHOLE_OUT + d];
        s.in_first[d] = x->first[2 + d];
        s.in_count[d] = x->shape.size[2 + d];
        s.out_first[d] = y->first[2 + d];
        s.out_count[d] = y->shape.size[2 + d];
    }
    return s;
}

/* All that the results need must be here. */
static tsr_status resample_prepare(tsr_kernel_call *call, tsr_error *err)
{
    const tsr_operand *in = &call->in[0], *out = &call->out[0];
    const bool back = is_backward(call->kind);
    bool fits = in->shape.size[0] == out->shape.size[0] && in->shape.size[1] == out->shape.size[1];

    for (int d = 2; d < in->shape.ndim && fits; d++) {
        const int64_t x = call->number[WHOLE_IN + d - 2], y = call->number[WHOLE_OUT + d - 2];
        const tsr_window_law law = tsr__resample_law(kind_of(call->kind, &call->attrs), back, x, y);
        int64_t begin, end;

        tsr__window_of(&law, out->first[d], out->first[d] + out->shape.size[d], back ? y : x,
                       &begin, &end);
        fits = begin >= end || (in->first[d] <= begin && end <= in->first[d] + in->shape.size[d]);
    }
    if (!fits)
        return tsr__fail(err, TSR_ERR_SHAPE,
                         "resampling: local shapes of the operands do not match");
    return TSR_OK;
}

static void resample(const tsr_kernel_call *call)
{
    const tsr_resample_shape s = shape_of(call);

    tsr__resample(&s, kind_of(call->kind, &call->attrs), is_backward(call->kind), call->in[0].dtype,
                  tsr__variant_asked(call), call->memory->pool, call->in[0].data, call->out[0].data,
                  call->error);
}

/* ---- rows ---- */

static const char *const average_cases[] = {
    "f64[4,2,8] size=3",
    "f64[3,5,7] size=3",
    "f64[2,2,6,8] size=4,3",
    "f64[3,3,7,5] size=4,3",
    NULL,
};
static const char *const average_backward_cases[] = {
    "f64[4,2,3] input=8",
    "f64[3,5,5] input=8",
    "f64[2,2,4,5] input=7,8",
    "f64[3,3,3,3] input=7,8",
    NULL,
};
static const char *const nearest_cases[] = {
    "f64[4,2,4] size=8",
    "f64[3,5,5] size=8",
    "f64[2,2,4,3] size=6,4",
    "f64[3,3,3,5] size=6,4",
    NULL,
};
static const char *const nearest_backward_cases[] = {
    "f64[4,2,8] input=4",
    "f64[3,5,9] input=4",
    "f64[2,2,6,8] input=4,3",
    "f64[3,3,7,5] input=4,3",
    NULL,
};
static const char *const linear_cases[] = {
    "f64[4,2,4] size=8",
    "f64[3,5,5] size=8",
    "f64[2,2,4,3] size=6,4",
    "f64[3,3,3,5] size=6,4",
    "f64[2,2,4,4] size=6,7 align_corners=true",
    "f64[3,3,5,3] size=6,7 align_corners=true",
    NULL,
};
static const char *const linear_backward_cases[] = {
    "f64[4,2,8] input=4",
    "f64[3,5,7] input=4",
    "f64[2,2,6,4] input=4,3",
    "f64[3,3,7,5] input=4,3",
    "f64[2,2,6,7] input=4,4 align_corners=true",
    "f64[3,3,7,5] input=4,4 align_corners=true",
    NULL,
};

/* What rows have in common. */
#define RESAMPLE                                                                                   \
    .rule = resample_rule, .windows = resample_windows, .shape = resample_shape,                   \
    .kernel = resample, .bind_rank = resample_bind_rank, .prepare = resample_prepare,              \
    .in_field = true

const tsr_op tsr__ops_resampling[] = {
    {RESAMPLE, .name = "adaptive_avg_pool", .kind = TSR_RESAMPLING_AVERAGE, .inputs = "x",
     .attrs = "size:ints",
     .doc = "Averages the spatial dims over size bins that are as even as possible, as PyTorch's "
            "adaptive_avg_pool does.",
     .linear = "x", .grad_expr = "x: adaptive_avg_pool_backward(g, input=x.shape[2:])",
     .cases = average_cases},
    {RESAMPLE, .name = "adaptive_avg_pool_backward", .kind = TSR_RESAMPLING_AVERAGE_BACKWARD,
     .inputs = "grad", .attrs = "input:ints",
     .doc = "Computes the gradient of adaptive_avg_pool's input, whose spatial sizes are given by "
            "input.",
     .linear = "grad", .cases = average_backward_cases},
    {RESAMPLE, .name = "upsample_nearest", .kind = TSR_RESAMPLING_NEAREST, .inputs = "x",
     .attrs = "size:ints",
     .doc =
         "Resizes the spatial dims to size by nearest neighbor, index floor(i * input / size) as "
         "in PyTorch.",
     .permutes = true, .grad_expr = "x: upsample_nearest_backward(g, input=x.shape[2:])",
     .cases = nearest_cases},
    {RESAMPLE, .name = "upsample_nearest_backward", .kind = TSR_RESAMPLING_NEAREST_BACKWARD,
     .inputs = "grad", .attrs = "input:ints",
     .doc = "Computes the gradient of upsample_nearest's input, whose spatial sizes are given by "
            "input.",
     .linear = "grad", .cases = nearest_backward_cases},
    {RESAMPLE, .name = "upsample_linear", .kind = TSR_RESAMPLING_LINEAR, .inputs = "x",
     .attrs = "size:ints,align_corners:bool=false",
     .doc = "Resizes the spatial dims to size by linear, bilinear or trilinear interpolation; "
            "align_corners as in PyTorch.",
     .linear = "x", .grad_expr = "x: upsample_linear_backward(g, ..., input=x.shape[2:])",
     .cases = linear_cases},
    {RESAMPLE, .name = "upsample_linear_backward", .kind = TSR_RESAMPLING_LINEAR_BACKWARD,
     .inputs = "grad", .attrs = "input:ints,align_corners:bool=false",
     .doc = "Computes the gradient of upsample_linear's input, whose spatial sizes are given by "
            "input.",
     .linear = "grad", .cases = linear_backward_cases},
    {0},
};
