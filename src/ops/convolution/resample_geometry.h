/* SPDX-License-Identifier: Apache-2.0 */
/* resample_geometry.h - what the files of resampling share: one view of outputs and gradients, both
   results that are made of a source. */
#ifndef TSR_OPS_RESAMPLE_GEOMETRY_H
#define TSR_OPS_RESAMPLE_GEOMETRY_H

#include "ops/convolution/resample.h"

typedef struct tsr_resample_dim {
    int64_t in, out;   /* whole sizes of input and output */
    int64_t source, n; /* the first element of the source here, and how many */
    int64_t result, m; /* likewise of the result */
} tsr_resample_dim;

/* Three spatial dims; the missing ones come first and have size 1. */
typedef struct tsr_resample_geometry {
    tsr_resample_kind kind;
    bool back; /* gradient: the source is the output's, the result the input's */
    int64_t planes;
    int64_t n_count, m_count; /* elements of a plane of the source and of the result */
    tsr_resample_dim dim[TSR_CONV_DIMS];
} tsr_resample_geometry;

typedef struct tsr_fraction {
    int64_t num, den;
} tsr_fraction;

/* What input i contributes to output o. */
static inline tsr_fraction resample_share(tsr_resample_kind kind, int64_t in, int64_t out,
                                          int64_t i, int64_t o)
{
    if (kind == TSR_RESAMPLE_NEAREST)
        return (tsr_fraction){i == o * in / out, 1};
    if (kind == TSR_RESAMPLE_AVERAGE) {
        const int64_t first = o * in / out, end = ((o + 1) * in + out - 1) / out;

        return (tsr_fraction){i >= first && i < end, end - first};
    }

    const bool corners = kind == TSR_RESAMPLE_CORNERS;
    const int64_t den = !corners ? 2 * out : out > 1 ? out - 1 : 1;
    const int64_t at = corners ? o * (in - 1) : (2 * o + 1) * in - out; /* in units of 1 / den */
    const int64_t low = at < 0 ? 0 : at / den, rest = at < 0 ? 0 : at % den;

    if (low >= in - 1) /* beyond the last input there is nothing to mix it with */
        return (tsr_fraction){i == in - 1, 1};
    return (tsr_fraction){i == low ? den - rest : i == low + 1 ? rest : 0, den};
}

/* What element s of the source contributes to element r of the result, in the whole. */
static inline tsr_fraction resample_weight(const tsr_resample_geometry *g, int d, int64_t s,
                                           int64_t r)
{
    return resample_share(g->kind, g->dim[d].in, g->dim[d].out, g->back ? r : s, g->back ? s : r);
}

/* resample_reference.c: any dtype. */
void tsr__resample_reference(const tsr_resample_geometry *g, tsr_dtype dtype, const void *source,
                             void *result);

/* resample_sum.c: nearest for every dtype but gradients of bool, the rest for floats and the
   field. */
tsr_status tsr__resample_sum(tsr_resample_geometry *g, tsr_dtype dtype, tsr_kernel_variant variant,
                             tsr_pool *pool, const void *source, void *result, tsr_error *err);

#endif
