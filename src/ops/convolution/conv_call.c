/* SPDX-License-Identifier: Apache-2.0 */
/* conv_call.c - from the call of a convolution op to the product that it is on this rank. */
#include "ops/convolution/conv_call.h"

#include <inttypes.h>

/* ---- attributes ---- */

/* Of strides, dilations and the like: positions, which are products of them, stay countable. */
static const int64_t MOST = INT64_C(1) << 48;

tsr_status tsr__spatial_ints(const char *op, const char *name, const tsr_attr *attr, int ndim,
                             int64_t usual, int64_t *out, tsr_error *err)
{
    if (attr->n > 1 && attr->n != ndim)
        return tsr__fail(err, TSR_ERR_SHAPE, "%s: %s has %d numbers for %d spatial dims", op, name,
                         attr->n, ndim);
    for (int d = 0; d < ndim; d++) {
        out[d] = attr->n < 1 ? usual : attr->i[attr->n == 1 ? 0 : d];
        if (out[d] > MOST || out[d] < -MOST)
            return tsr__fail(err, TSR_ERR_SHAPE, "%s: %s %" PRId64 " exceeds 2^48", op, name,
                             out[d]);
    }
    return TSR_OK;
}

tsr_status tsr__spatial_padding(const char *op, const tsr_attr *attr, int ndim, int64_t *lo,
                                int64_t *hi, tsr_error *err)
{
    const bool both = attr->n == 2 * ndim;
    tsr_attr half = *attr;
    tsr_status st;

    if (both)
        half.n = ndim;
    TSR_TRY(tsr__spatial_ints(op, "padding", &half, ndim, 0, lo, err));
    for (int d = 0; both && d < ndim; d++)
        half.i[d] = attr->i[ndim + d];
    TSR_TRY(tsr__spatial_ints(op, "padding", &half, ndim, 0, hi, err));
done:
    return st;
}

tsr_status tsr__spatial_dims(const char *op, int ndim, tsr_error *err)
{
    if (ndim >= 1 && ndim <= TSR_CONV_DIMS)
        return TSR_OK;
    return tsr__fail(err, TSR_ERR_SHAPE, "%s: %d spatial dims, 1 to %d are supported", op,
                     ndim < 0 ? 0 : ndim, TSR_CONV_DIMS);
}

tsr_status tsr__conv_attrs(const char *op, const tsr_attrs *attrs, int ndim, tsr_conv_shape *s,
                           tsr_error *err)
{
    const tsr_attr *value = attrs->value;
    tsr_status st;

    TSR_TRY(tsr__spatial_dims(op, ndim, err));
    s->ndim = ndim;
    s->groups = value[TSR_CONV_GROUPS].i[0];
    s->transposed = value[TSR_CONV_TRANSPOSED].i[0];
    TSR_TRY(tsr__spatial_ints(op, "stride", &value[TSR_CONV_STRIDE], ndim, 1, s->stride, err));
    TSR_TRY(
        tsr__spatial_ints(op, "dilation", &value[TSR_CONV_DILATION], ndim, 1, s->dilation, err));
    TSR_TRY(tsr__spatial_ints(op, "output_padding", &value[TSR_CONV_OUTPUT_PADDING], ndim, 0,
                              s->output_padding, err));
    TSR_TRY(tsr__spatial_padding(op, &value[TSR_CONV_PADDING], ndim, s->pad_lo, s->pad_hi, err));
done:
    return st;
}

/* ---- the product on this rank ---- */

static tsr_status does_not_fit(tsr_error *err)
{
    return tsr__fail(err, TSR_ERR_SHAPE, "convolution: local shapes of the operands do not match");
}

/* Without channels there are no groups, but 1 is as good. With y = p * stride - pad + t * dilation
   as the place in the wide tensor, a window that begins at x of it, and one of the narrow tensor
   that begins at p, shift the padding by x - p * stride. */
static tsr_status set_shape(const tsr_kernel_call *call, const tsr_operand *x, const tsr_operand *w,
                            const tsr_operand *y, tsr_conv_shape *s, tsr_error *err)
{
    const int64_t inner = w->shape.size[1];
    const tsr_operand *wide, *narrow;
    int64_t outer, split;
    tsr_status st;

    TSR_TRY(tsr__conv_attrs("convolution", &call->attrs, x->shape.ndim - 2, s, err));
    wide = s->transposed ? y : x;
    narrow = s->transposed ? x : y;
    split = wide->shape.size[1];
    outer = narrow->shape.size[1];
    s->batch = x->shape.size[0];
    s->in_channels = x->shape.size[1];
    s->out_channels = y->shape.size[1];
    if (split == 0)
        s->groups = 1;
    if (y->shape.size[0] != s->batch || (split > 0 && s->groups * inner != split) ||
        w->shape.size[0] != outer || outer % s->groups)
        return does_not_fit(err);
    for (int d = 0; d < s->ndim; d++) {
        s->in[d] = x->shape.size[2 + d];
        s->out[d] = y->shape.size[2 + d];
        s->kernel[d] = w->shape.size[2 + d];
        s->pad_lo[d] += wide->first[2 + d] - narrow->first[2 + d] * s->stride[d];
    }
done:
    return st;
}

static tsr_status make(tsr_kernel_call *call, const tsr_operand *x, const tsr_operand *w,
                       const tsr_operand *y, tsr_conv_product what, tsr_error *err)
{
    const bool bias = what == TSR_CONV_OUTPUT && call->in[2].shape.ndim >= 0;
    tsr_conv_shape shape = {0};
    tsr_conv_plan *plan;
    tsr_status st;

    TSR_TRY(set_shape(call, x, w, y, &shape, err));
    if (bias && call->in[2].shape.size[0] != shape.out_channels)
        return does_not_fit(err);
    TSR_TRY(tsr__conv_plan_make(call->memory->heap, &shape, x->dtype, what, bias,
                                call->reproducible, tsr__variant_asked(call), &plan, err));
    call->state = plan;
done:
    return st;
}

tsr_status tsr__prepare_conv(tsr_kernel_call *call, tsr_error *err)
{
    return make(call, &call->in[0], &call->in[1], &call->out[0], TSR_CONV_OUTPUT, err);
}

tsr_status tsr__prepare_conv_grad_input(tsr_kernel_call *call, tsr_error *err)
{
    return make(call, &call->out[0], &call->in[1], &call->in[0], TSR_CONV_GRAD_INPUT, err);
}

tsr_status tsr__prepare_conv_grad_weight(tsr_kernel_call *call, tsr_error *err)
{
    return make(call, &call->in[1], &call->out[0], &call->in[0], TSR_CONV_GRAD_WEIGHT, err);
}

void tsr__kernel_conv(const tsr_kernel_call *call)
{
    const void *bias = call->n_in > 2 ? call->in[2].data : NULL;

    tsr__conv_plan_run(call->state, call->memory->pool, call->in[0].data, call->in[1].data, bias,
                       call->out[0].data, call->error);
}

void tsr__release_conv(tsr_kernel_call *call)
{
    tsr__conv_plan_free(call->memory->heap, call->state);
    call->state = NULL;
}
