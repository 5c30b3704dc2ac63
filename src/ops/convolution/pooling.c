/* SPDX-License-Identifier: Apache-2.0 */
/* pooling.c - max and average pooling: sizes, and the fast kernels, which go tap by tap along rows
   of the output, a block of positions at a time. f16 and bf16 compute in f32. Called by what runs
   pooling on a rank. */
#include "ops/convolution/pooling.h"
#include "kernel/kinds.h"

#include "ops/convolution/pooling_geometry.h"

#include <inttypes.h>

enum { BLOCK = 256 }; /* positions of a row whose state fits the stack and the cache */

/* rows: positions [from, to) of every row of y. back: one plane, added to `sum`, then stored. */
typedef struct bodies {
    void (*max)(const tsr_pooling_geometry *p, int64_t from, int64_t to, const void *in, void *out,
                int64_t *index);
    void (*average)(const tsr_pooling_geometry *p, int64_t from, int64_t to, const void *in,
                    void *out);
    void (*max_back)(const tsr_pooling_geometry *p, const void *grad_out, const int64_t *index,
                     void *sum, void *grad_in);
    void (*average_back)(const tsr_pooling_geometry *p, const void *grad_out, void *sum,
                         void *grad_in);
} bodies;

#define TABLE pooling_kernels
#define BODY "ops/convolution/pooling.inc.h"
#define DTYPES (TSR__HALVES | TSR__INTEGERS | TSR__PRIME)
#define AVX2 TSR__AVX2
#include "base/kernel_table.inc.h"

/* ---- sizes ---- */

static tsr_status check_dim(const char *op, const tsr_pooling_shape *s, int dim, tsr_error *err)
{
    const int64_t half = ((s->kernel[dim] - 1) * s->dilation[dim] + 1) / 2;

    if (s->pad_lo[dim] > half || s->pad_hi[dim] > half)
        return tsr__fail(err, TSR_ERR_SHAPE,
                         "%s: padding %" PRId64 " + %" PRId64
                         " of spatial dim %d is more than half "
                         "of the kernel of %" PRId64,
                         op, s->pad_lo[dim], s->pad_hi[dim], dim, s->kernel[dim]);
    return TSR_OK;
}

tsr_status tsr__pooling_infer(const char *op, tsr_pooling_shape *s, tsr_error *err)
{
    tsr_conv_shape like = {.ndim = s->ndim, .groups = 1, .in_channels = 1, .out_channels = 1};
    tsr_status st;

    for (int d = 0; d < TSR_CONV_DIMS && d < s->ndim; d++) {
        like.in[d] = s->in[d], like.kernel[d] = s->kernel[d], like.stride[d] = s->stride[d];
        like.dilation[d] = s->dilation[d];
        like.pad_lo[d] = s->pad_lo[d], like.pad_hi[d] = s->pad_hi[d];
    }
    TSR_TRY(tsr__conv_infer(op, &like, err));
    for (int d = 0; d < s->ndim; d++)
        TSR_TRY(check_dim(op, s, d, err));
    for (int d = 0; d < s->ndim; d++) {
        const int64_t extent = (s->kernel[d] - 1) * s->dilation[d] + 1;
        const int64_t room = s->in[d] + s->pad_lo[d] + s->pad_hi[d] - extent;

        s->out[d] = like.out[d];
        if (s->ceil && room % s->stride[d] != 0 &&
            s->out[d] * s->stride[d] < s->in[d] + s->pad_lo[d])
            s->out[d]++;
    }
done:
    return st;
}

static void set_geometry(const tsr_pooling_shape *s, tsr_pooling_geometry *p)
{
    const int skip = TSR_CONV_DIMS - s->ndim;
    tsr_conv_geometry *g = &p->g;

    *p = (tsr_pooling_geometry){.planes = s->planes, .count_include_pad = s->count_include_pad};
    *g = (tsr_conv_geometry){.ndim = s->ndim, .x_count = 1, .y_count = 1, .k_count = 1};
    for (int d = 0; d < TSR_CONV_DIMS; d++) {
        const int from = d - skip;

        g->x[d] = d < skip ? 1 : s->in[from];
        g->y[d] = d < skip ? 1 : s->out[from];
        g->k[d] = d < skip ? 1 : s->kernel[from];
        g->stride[d] = d < skip ? 1 : s->stride[from];
        g->dilation[d] = d < skip ? 1 : s->dilation[from];
        g->pad[d] = d < skip ? 0 : s->pad_lo[from];
        p->pad_hi[d] = d < skip ? 0 : s->pad_hi[from];
        p->origin[d] = d < skip ? 0 : s->origin[from];
        p->whole[d] = d < skip || s->whole[from] == 0 ? g->x[d] : s->whole[from];
        g->x_count *= g->x[d];
        g->y_count *= g->y[d];
        g->k_count *= g->k[d];
    }
}

/* ---- running ---- */

static tsr_kernel_variant best(tsr_pooling_kind op, tsr_dtype dtype, tsr_kernel_variant wanted)
{
    return tsr__variant_best(TSR_CATEGORY_POOLING, op, dtype, wanted);
}

void tsr__pooling_max(const tsr_pooling_shape *shape, tsr_dtype dtype, tsr_kernel_variant variant,
                      const void *in, void *out, int64_t *index)
{
    tsr_pooling_geometry p;
    const bodies *b;

    set_geometry(shape, &p);
    variant = best(TSR_POOLING_MAX, dtype, variant);
    if (variant == TSR_VARIANT_REFERENCE || /* the others keep their reach in 32 bits */
        pooling_reach(&p, p.g.k[0], p.g.k[1], p.g.k[2]) > INT32_MAX) {
        tsr__pooling_reference_max(&p, dtype, in, out, index);
        return;
    }
    b = tsr__kernel_for(&pooling_kernels, dtype, variant);
    for (int64_t from = 0; from < p.g.y[2]; from += BLOCK)
        b->max(&p, from, from + BLOCK < p.g.y[2] ? from + BLOCK : p.g.y[2], in, out, index);
}

void tsr__pooling_average(const tsr_pooling_shape *shape, tsr_dtype dtype,
                          tsr_kernel_variant variant, const void *in, void *out)
{
    tsr_pooling_geometry p;
    const bodies *b;

    set_geometry(shape, &p);
    variant = best(TSR_POOLING_AVERAGE, dtype, variant);
    if (variant == TSR_VARIANT_REFERENCE) {
        tsr__pooling_reference_average(&p, dtype, in, out);
        return;
    }
    b = tsr__kernel_for(&pooling_kernels, dtype, variant);
    for (int64_t from = 0; from < p.g.y[2]; from += BLOCK)
        b->average(&p, from, from + BLOCK < p.g.y[2] ? from + BLOCK : p.g.y[2], in, out);
}

/* Plane by plane, each summed in scratch: outputs meet in one input. */
static tsr_status run_back(const tsr_pooling_geometry *p, tsr_dtype dtype,
                           tsr_kernel_variant variant, tsr_pool *pool, const void *grad_out,
                           const int64_t *index, void *grad_in, tsr_error *err)
{
    const size_t size = tsr_dtype_size(dtype);
    const size_t x_bytes = (size_t)p->g.x_count * size, y_bytes = (size_t)p->g.y_count * size;
    const bodies *b = tsr__kernel_for(&pooling_kernels, dtype, variant);
    void *sum = NULL;
    tsr_status st;

    TSR_TRY(tsr__pool_get(pool, (size_t)(p->g.x_count + 1) * sizeof(double), &sum, err));
    for (int64_t i = 0; i < p->planes; i++) {
        const char *from = (const char *)grad_out + (size_t)i * y_bytes;
        char *to = (char *)grad_in + (size_t)i * x_bytes;

        if (index)
            b->max_back(p, from, index + i * p->g.y_count, sum, to);
        else
            b->average_back(p, from, sum, to);
    }
done:
    tsr__pool_put(pool, sum);
    return st;
}

tsr_status tsr__pooling_max_grad(const tsr_pooling_shape *shape, tsr_dtype dtype,
                                 tsr_kernel_variant variant, tsr_pool *pool, const void *grad_out,
                                 const int64_t *index, void *grad_in, tsr_error *err)
{
    tsr_pooling_geometry p;

    set_geometry(shape, &p);
    variant = best(TSR_POOLING_MAX_GRAD, dtype, variant);
    if (variant != TSR_VARIANT_REFERENCE)
        return run_back(&p, dtype, variant, pool, grad_out, index, grad_in, err);
    tsr__pooling_reference_max_grad(&p, dtype, grad_out, index, grad_in);
    return TSR_OK;
}

tsr_status tsr__pooling_average_grad(const tsr_pooling_shape *shape, tsr_dtype dtype,
                                     tsr_kernel_variant variant, tsr_pool *pool,
                                     const void *grad_out, void *grad_in, tsr_error *err)
{
    tsr_pooling_geometry p;

    set_geometry(shape, &p);
    variant = best(TSR_POOLING_AVERAGE_GRAD, dtype, variant);
    if (variant != TSR_VARIANT_REFERENCE)
        return run_back(&p, dtype, variant, pool, grad_out, NULL, grad_in, err);
    tsr__pooling_reference_average_grad(&p, dtype, grad_out, grad_in);
    return TSR_OK;
}
