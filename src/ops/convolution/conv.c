/* SPDX-License-Identifier: Apache-2.0 */
/* conv.c - convolution: which sizes are possible, and which of the ways to compute a product runs:
   oneDNN, columns for BLAS, or the definition. Called by what runs convolutions on a rank. */
#include "ops/convolution/conv.h"

#include "ops/convolution/conv_geometry.h"
#include "ops/convolution/convolution_ops.h"
#include "kernel/kinds.h"
#include "ops/convolution/onednn_conv.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

/* ---- sizes ---- */

static tsr_status too_large(const char *op, int dim, tsr_error *err)
{
    return tsr__fail(err, TSR_ERR_SHAPE, "%s: the sizes of spatial dim %d are too large", op, dim);
}

static tsr_status check_dim(const char *op, const tsr_conv_shape *s, int dim, tsr_error *err)
{
    const struct {
        const char *name;
        int64_t value, least;
    } numbers[] = {{"kernel", s->kernel[dim], 1},     {"stride", s->stride[dim], 1},
                   {"dilation", s->dilation[dim], 1}, {"padding", s->pad_lo[dim], 0},
                   {"padding", s->pad_hi[dim], 0},    {"output padding", s->output_padding[dim], 0},
                   {"input size", s->in[dim], 0}};
    const int64_t most = s->stride[dim] > s->dilation[dim] ? s->stride[dim] : s->dilation[dim];

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].value < numbers[i].least)
            return tsr__fail(err, TSR_ERR_SHAPE,
                             "%s: the %s of spatial dim %d is %" PRId64
                             ", must be at least %" PRId64,
                             op, numbers[i].name, dim, numbers[i].value, numbers[i].least);
    if (!s->transposed && s->output_padding[dim] != 0)
        return tsr__fail(err, TSR_ERR_SHAPE, "%s: output padding needs transposed=true", op);
    if (s->output_padding[dim] > 0 && s->output_padding[dim] >= most)
        return tsr__fail(err, TSR_ERR_SHAPE,
                         "%s: output padding %" PRId64 " of spatial dim %d must be less than its "
                         "stride %" PRId64 " or its dilation %" PRId64,
                         op, s->output_padding[dim], dim, s->stride[dim], s->dilation[dim]);
    return TSR_OK;
}

tsr_status tsr__conv_out_size(const char *op, const tsr_conv_shape *s, int dim, int64_t *out,
                              tsr_error *err)
{
    const int64_t in = s->in[dim], stride = s->stride[dim];
    int64_t extent, pads, size;
    tsr_status st;

    TSR_TRY(check_dim(op, s, dim, err));
    if (__builtin_mul_overflow(s->kernel[dim] - 1, s->dilation[dim], &extent) ||
        __builtin_add_overflow(extent, 1, &extent) ||
        __builtin_add_overflow(s->pad_lo[dim], s->pad_hi[dim], &pads))
        return too_large(op, dim, err);
    if (s->transposed && in == 0) /* nothing in, nothing out */
        size = 0;
    else if (s->transposed) {
        if (__builtin_mul_overflow(in - 1, stride, &size) ||
            __builtin_add_overflow(size, extent, &size) ||
            __builtin_add_overflow(size, s->output_padding[dim], &size))
            return too_large(op, dim, err);
        if (size < pads)
            return tsr__fail(err, TSR_ERR_SHAPE,
                             "%s: the padding %" PRId64 " + %" PRId64 " of spatial dim %d exceeds "
                             "the %" PRId64 " outputs that %" PRId64 " inputs give",
                             op, s->pad_lo[dim], s->pad_hi[dim], dim, size, in);
        size -= pads;
    } else {
        if (__builtin_add_overflow(in, pads, &size))
            return too_large(op, dim, err);
        if (size < extent)
            return tsr__fail(err, TSR_ERR_SHAPE,
                             "%s: the kernel spans %" PRId64 " in spatial dim %d (size %" PRId64
                             ", dilation %" PRId64 "), the padded input only %" PRId64,
                             op, extent, dim, s->kernel[dim], s->dilation[dim], size);
        size = (size - extent) / stride + 1;
    }
    *out = size;
done:
    return st;
}

tsr_status tsr__conv_infer(const char *op, tsr_conv_shape *s, tsr_error *err)
{
    int64_t out[TSR_CONV_DIMS] = {0};
    tsr_status st = TSR_OK;

    if (s->ndim < 1 || s->ndim > TSR_CONV_DIMS)
        return tsr__fail(err, TSR_ERR_SHAPE, "%s: %d spatial dims, 1 to 3 are supported", op,
                         s->ndim);
    if (s->groups < 1 || s->in_channels % s->groups || s->out_channels % s->groups)
        return tsr__fail(err, TSR_ERR_SHAPE,
                         "%s: %" PRId64 " groups do not divide %" PRId64 " input and %" PRId64
                         " output channels",
                         op, s->groups, s->in_channels, s->out_channels);
    for (int d = 0; d < s->ndim; d++)
        TSR_TRY(tsr__conv_out_size(op, s, d, &out[d], err));
    for (int d = 0; d < s->ndim; d++)
        s->out[d] = out[d];
done:
    return st;
}

/* ---- plans ---- */

typedef enum algorithm { REFERENCE, EMPTY, COLUMNS, ONEDNN } algorithm;

struct tsr_conv_plan {
    tsr_conv_geometry g;
    tsr_dtype dtype;
    tsr_conv_result what;
    bool transposed, reproducible;
    algorithm algorithm;
    tsr_onednn_conv *onednn;
};

/* A transposed convolution is the plain one with its sides changed: its input is the y. */
static void set_geometry(const tsr_conv_shape *s, tsr_conv_geometry *g)
{
    const int skip = TSR_CONV_DIMS - s->ndim;

    *g = (tsr_conv_geometry){.ndim = s->ndim,
                             .batch = s->batch,
                             .groups = s->groups,
                             .xc = (s->transposed ? s->out_channels : s->in_channels) / s->groups,
                             .yc = (s->transposed ? s->in_channels : s->out_channels) / s->groups,
                             .x_count = 1,
                             .y_count = 1,
                             .k_count = 1};
    for (int d = 0; d < TSR_CONV_DIMS; d++) {
        const int from = d - skip;

        g->x[d] = d < skip ? 1 : s->transposed ? s->out[from] : s->in[from];
        g->y[d] = d < skip ? 1 : s->transposed ? s->in[from] : s->out[from];
        g->k[d] = d < skip ? 1 : s->kernel[from];
        g->stride[d] = d < skip ? 1 : s->stride[from];
        g->dilation[d] = d < skip ? 1 : s->dilation[from];
        g->pad[d] = d < skip ? 0 : s->pad_lo[from];
        g->x_count *= g->x[d];
        g->y_count *= g->y[d];
        g->k_count *= g->k[d];
    }
}

static tsr_conv_result result_of(const tsr_conv_shape *s, tsr_conv_product product)
{
    if (product == TSR_CONV_GRAD_WEIGHT)
        return TSR_CONV_W;
    return (product == TSR_CONV_OUTPUT) != s->transposed ? TSR_CONV_Y : TSR_CONV_X;
}

static bool is_empty(const tsr_conv_geometry *g)
{
    return g->batch == 0 || g->xc == 0 || g->yc == 0 || g->x_count == 0 || g->y_count == 0 ||
           g->k_count == 0;
}

/* BLAS and oneDNN count in 32 bits inside a plane. */
static bool is_huge(const tsr_conv_geometry *g)
{
    return g->groups * g->xc * g->x_count > INT_MAX || g->groups * g->yc * g->y_count > INT_MAX ||
           g->groups * g->xc * g->yc * g->k_count > INT_MAX || g->batch > INT_MAX;
}

/* oneDNN rounds the channels of x up to 16 when it computes it, so that columns are up to 7 times
   faster for images in colour or grey. */
static bool has_few_channels(const tsr_conv_geometry *g, tsr_dtype dtype, tsr_conv_result what)
{
    return what == TSR_CONV_X && g->groups == 1 && g->xc <= (dtype == TSR_F32 ? 8 : 4);
}

tsr_status tsr__conv_plan_make(tsr_heap *heap, const tsr_conv_shape *shape, tsr_dtype dtype,
                               tsr_conv_product what, bool bias, bool reproducible,
                               tsr_kernel_variant variant, tsr_conv_plan **out, tsr_error *err)
{
    tsr_conv_plan *plan = NULL;
    tsr_status st;

    TSR_TRY(tsr__alloc(heap, 1, sizeof *plan, &plan, err));
    set_geometry(shape, &plan->g);
    plan->dtype = dtype;
    plan->what = result_of(shape, what);
    plan->transposed = shape->transposed;
    if (is_empty(&plan->g))
        plan->algorithm = EMPTY;
    else if (tsr__variant_best(TSR_CATEGORY_CONVOLUTION, (uint16_t)what, dtype, variant) ==
                 TSR_VARIANT_REFERENCE ||
             is_huge(&plan->g) || (reproducible && plan->what == TSR_CONV_X))
        plan->algorithm = REFERENCE; /* columns are added to x in the order of their blocks */
    else
        plan->algorithm = COLUMNS;
    plan->reproducible = reproducible;
    if (plan->algorithm == COLUMNS && !reproducible && (dtype == TSR_F32 || dtype == TSR_BF16) &&
        !has_few_channels(&plan->g, dtype, plan->what))
        TSR_TRY(tsr__onednn_conv_make(heap, &plan->g, dtype, plan->what, bias, &plan->onednn, err));
    if (plan->onednn)
        plan->algorithm = ONEDNN;
    *out = plan, plan = NULL;
done:
    tsr__conv_plan_free(heap, plan);
    return st;
}

void tsr__conv_plan_free(tsr_heap *heap, tsr_conv_plan *plan)
{
    if (plan)
        tsr__onednn_conv_free(heap, plan->onednn);
    tsr__free(heap, plan);
}

const char *tsr__conv_plan_name(const tsr_conv_plan *plan)
{
    switch (plan->algorithm) {
    case REFERENCE: return "reference";
    case EMPTY: return "empty";
    case COLUMNS: return tsr__conv_by_taps(&plan->g) ? "taps" : "columns";
    case ONEDNN: return tsr__onednn_conv_name(plan->onednn);
    }
    return "";
}

/* No terms to add: 0, or the bias of each channel. */
static void fill_empty(const tsr_conv_plan *plan, const void *bias, void *out)
{
    const tsr_conv_geometry *g = &plan->g;
    const bool y = plan->what == TSR_CONV_Y;
    const int64_t channels = g->groups * (y ? g->yc : g->xc), n = y ? g->y_count : g->x_count;
    const size_t size = tsr_dtype_size(plan->dtype);

    if (plan->what == TSR_CONV_W) {
        memset(out, 0, (size_t)(g->groups * g->yc * g->xc * g->k_count) * size);
        return;
    }
    for (int64_t i = 0; i < g->batch * channels && n > 0; i++) {
        char *row = (char *)out + (size_t)(i * n) * size;

        if (bias)
            memcpy(row, (const char *)bias + (size_t)(i % channels) * size, size);
        else
            memset(row, 0, size);
        tsr__repeat(size, row, n);
    }
}

tsr_status tsr__conv_plan_run(const tsr_conv_plan *plan, tsr_pool *pool, const void *a,
                              const void *b, const void *bias, void *out, tsr_error *err)
{
    tsr_conv_operands on = {.bias = bias};

    switch (plan->what) {
    case TSR_CONV_Y: on.x = (void *)a, on.w = (void *)b, on.y = out; break;
    case TSR_CONV_X: on.y = (void *)a, on.w = (void *)b, on.x = out; break;
    case TSR_CONV_W: /* b is the input, which is y if transposed */
        on.x = (void *)(plan->transposed ? a : b);
        on.y = (void *)(plan->transposed ? b : a);
        on.w = out;
        break;
    }
    if (plan->algorithm == ONEDNN)
        return tsr__onednn_conv_run(plan->onednn, pool, &on, err);
    if (plan->algorithm == COLUMNS)
        return tsr__conv_columns(&plan->g, plan->dtype, plan->what, plan->reproducible, pool, &on,
                                 err);
    if (plan->algorithm == EMPTY)
        fill_empty(plan, bias, out);
    else
        tsr__conv_reference(&plan->g, plan->dtype, plan->what, &on);
    return TSR_OK;
}
