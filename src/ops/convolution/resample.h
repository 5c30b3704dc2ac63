/* SPDX-License-Identifier: Apache-2.0 */
/* resample.h - other sizes for the spatial dims of [planes, space...] on one rank, row-major
   without gaps: adaptive average pooling and interpolation, with gradients. Every result is a sum
   of neighbours with weights that depend on the whole sizes and its place in the whole only. */
#ifndef TSR_OPS_RESAMPLE_H
#define TSR_OPS_RESAMPLE_H

#include "ops/convolution/conv.h"

/* Along each dim, from size N to size O, output o is made of: */
typedef enum tsr_resample_kind {
    TSR_RESAMPLE_AVERAGE, /* the mean of inputs [floor(o N / O), ceil((o + 1) N / O)) */
    TSR_RESAMPLE_NEAREST, /* input floor(o N / O) */
    TSR_RESAMPLE_LINEAR,  /* the two inputs around max(0, (o + 1/2) N / O - 1/2) */
    TSR_RESAMPLE_CORNERS, /* those around o (N - 1) / (O - 1), 0 if O is 1: corners are aligned */
} tsr_resample_kind;

/* Per spatial dim in [0, ndim), in elements: what is here of the input and of the output, counted
   from the start of the whole. `out` is what is computed and `in` the window of the input that it
   needs, or more; for a gradient `in` is computed, from that window of `out`. */
typedef struct tsr_resample_shape {
    int ndim; /* 1 to 3 */
    int64_t planes;
    int64_t whole_in[TSR_CONV_DIMS], whole_out[TSR_CONV_DIMS];
    int64_t in_first[TSR_CONV_DIMS], in_count[TSR_CONV_DIMS];
    int64_t out_first[TSR_CONV_DIMS], out_count[TSR_CONV_DIMS];
} tsr_resample_shape;

/* Results [from, to) need [floor((from mul + lo) / div), floor(((to - 1) mul + hi) / div)), clipped
   to the whole. */
typedef struct tsr_window_law {
    int64_t mul, lo, hi, div;
} tsr_window_law;

/* What outputs need of the input, or inputs' gradients (`back`) of the output's. Nothing more, but
   for the gradient of a single output with aligned corners. in > 0, out >= 0. Pure. */
tsr_window_law tsr__resample_law(tsr_resample_kind kind, bool back, int64_t in, int64_t out);

static inline int64_t resample_floor(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* No results need [0, 0). Pure. */
static inline void tsr__window_of(const tsr_window_law *law, int64_t from, int64_t to,
                                  int64_t whole, int64_t *begin, int64_t *end)
{
    *begin = *end = 0;
    if (from >= to)
        return;
    *begin = resample_floor(from * law->mul + law->lo, law->div);
    *end = resample_floor((to - 1) * law->mul + law->hi, law->div);
    *begin = *begin < 0 ? 0 : *begin > whole ? whole : *begin;
    *end = *end < *begin ? *begin : *end > whole ? whole : *end;
}

/* Are the whole sizes possible? If not, a sentence that starts with `op`. Pure. */
tsr_status tsr__resample_check(const char *op, const tsr_resample_shape *shape, tsr_error *err);

/* Write all of the result: out from in, or grad_in from grad_out (`back`). The kinds that divide
   are for floats and the field, nearest is for every dtype; f16 and bf16 compute in f32. A
   neighbour with weight 0 is not looked at. A part gets the bits that it has in the whole. Scratch
   comes from the pool and goes back. Local. */
tsr_status tsr__resample(const tsr_resample_shape *shape, tsr_resample_kind kind, bool back,
                         tsr_dtype dtype, tsr_kernel_variant variant, tsr_pool *pool,
                         const void *source, void *result, tsr_error *err);

#endif
