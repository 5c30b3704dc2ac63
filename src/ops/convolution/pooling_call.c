/* SPDX-License-Identifier: Apache-2.0 */
/* pooling_call.c - from the call of a pooling op to what it is on this rank. */
#include "ops/convolution/pooling_call.h"

#include "ops/convolution/conv_call.h"
#include "kernel/index_check.h"
#include "kernel/kinds.h"

tsr_status tsr__pooling_attrs(const char *op, const tsr_attrs *attrs, int ndim,
                              tsr_pooling_shape *s, tsr_error *err)
{
    const tsr_attr *value = attrs->value;
    const tsr_attr *stride = &value[TSR_POOLING_STRIDE];
    tsr_status st;

    TSR_TRY(tsr__spatial_dims(op, ndim, err));
    if (value[TSR_POOLING_KERNEL].n < 1)
        return tsr__fail(err, TSR_ERR_ARG, "%s: missing required attribute kernel", op);
    s->ndim = ndim;
    s->ceil = value[TSR_POOLING_CEIL].i[0];
    TSR_TRY(tsr__spatial_ints(op, "kernel", &value[TSR_POOLING_KERNEL], ndim, 1, s->kernel, err));
    TSR_TRY(tsr__spatial_ints(op, "stride", stride->n < 1 ? &value[TSR_POOLING_KERNEL] : stride,
                              ndim, 1, s->stride, err));
    TSR_TRY(
        tsr__spatial_ints(op, "dilation", &value[TSR_POOLING_DILATION], ndim, 1, s->dilation, err));
    TSR_TRY(tsr__spatial_padding(op, &value[TSR_POOLING_PADDING], ndim, s->pad_lo, s->pad_hi, err));
done:
    return st;
}

/* Gradients have one more attribute than their op, and fewer outputs than max. */
static bool is_backward(const tsr_kernel_call *call)
{
    return call->number[TSR_CONV_DIMS];
}

static void set_shape(const tsr_kernel_call *call, tsr_pooling_shape *s)
{
    const bool back = is_backward(call);
    const tsr_operand *x = back ? &call->out[0] : &call->in[0];
    const tsr_operand *y = back ? &call->in[0] : &call->out[0];

    tsr__pooling_attrs("pooling", &call->attrs, x->shape.ndim - 2, s, NULL);
    s->planes = x->shape.size[0] * x->shape.size[1];
    s->count_include_pad = call->attrs.value[TSR_POOLING_OWN].i[0];
    for (int d = 0; d < s->ndim; d++) {
        s->in[d] = x->shape.size[2 + d];
        s->out[d] = y->shape.size[2 + d];
        s->origin[d] = x->first[2 + d];
        s->whole[d] = call->number[d];
        s->pad_lo[d] += x->first[2 + d] - y->first[2 + d] * s->stride[d];
    }
}

static bool same_sizes(const tsr_shape *a, const tsr_shape *b, int n)
{
    for (int d = 0; d < n; d++)
        if (a->size[d] != b->size[d])
            return false;
    return true;
}

tsr_status tsr__prepare_pool(tsr_kernel_call *call, tsr_error *err)
{
    const bool back = is_backward(call);
    const tsr_operand *y = back ? &call->in[0] : &call->out[0];
    const tsr_operand *index = back ? &call->in[1] : &call->out[1];
    const bool indexed = back ? call->n_in > 1 : call->n_out > 1;

    if (!same_sizes(&call->in[0].shape, &call->out[0].shape, 2) ||
        (indexed && index->shape.ndim >= 0 && !same_sizes(&index->shape, &y->shape, y->shape.ndim)))
        return tsr__fail(err, TSR_ERR_SHAPE, "pooling: local shapes of the operands do not match");
    return TSR_OK;
}

/* Is the index of output `at`, in the whole plane, one that its window covers? */
static bool is_in_window(const tsr_pooling_shape *s, const int64_t *at, int64_t index)
{
    for (int d = s->ndim - 1; d >= 0; d--) {
        const int64_t q = index % s->whole[d] - s->origin[d];
        const int64_t t = q - (at[d] * s->stride[d] - s->pad_lo[d]);

        if (t < 0 || t % s->dilation[d] != 0 || t / s->dilation[d] >= s->kernel[d])
            return false;
        index /= s->whole[d];
    }
    return true;
}

/* The indices of a gradient are those that max_pool gives: in the plane and in the window of their
   output, or -1 for a window of padding alone. Any other would be added to an element that the rank
   may not have. */
static bool indices_are_good(const tsr_kernel_call *call, const tsr_pooling_shape *s)
{
    const tsr_operand *index = &call->in[1];
    const int64_t n = tsr_shape_count(&index->shape), *value = index->data;
    tsr_index_range plane = {.noun = "index", .least = -1, .size = 1};
    int64_t at[TSR_CONV_DIMS] = {0};

    for (int d = 0; d < s->ndim; d++)
        plane.size *= s->whole[d];
    if (!tsr__indices_good(call, index, plane))
        return false;
    for (int64_t i = 0; i < n; i++) {
        if (value[i] >= 0 && !is_in_window(s, at, value[i])) {
            tsr__index_refuse(call, index, "index", i, " is not in the window of its output");
            return false;
        }
        for (int d = s->ndim - 1; d >= 0 && ++at[d] == s->out[d]; d--)
            at[d] = 0;
    }
    return true;
}

void tsr__kernel_pool(const tsr_kernel_call *call)
{
    const tsr_dtype dtype = call->in[0].dtype;
    const tsr_kernel_variant variant = tsr__variant_asked(call);
    const void *x = call->in[0].data;
    void *y = call->out[0].data;
    tsr_pooling_shape s = {0};

    set_shape(call, &s);
    switch (call->kind) {
    case TSR_POOLING_MAX: tsr__pooling_max(&s, dtype, variant, x, y, call->out[1].data); break;
    case TSR_POOLING_AVERAGE: tsr__pooling_average(&s, dtype, variant, x, y); break;
    case TSR_POOLING_MAX_GRAD:
        if (!indices_are_good(call, &s))
            break;
        tsr__pooling_max_grad(&s, dtype, variant, call->memory->pool, x, call->in[1].data, y,
                              call->error);
        break;
    default:
        tsr__pooling_average_grad(&s, dtype, variant, call->memory->pool, x, y, call->error);
        break;
    }
}
