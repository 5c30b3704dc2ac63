/* SPDX-License-Identifier: Apache-2.0 */
/* conv_geometry.h - one view of all products of plain and transposed convolutions, for the files
   that compute them. With x the larger side, y the smaller and w the weight,
       y[n,o,p] ~ sum of w[o,c,t] x[n,c, p * stride - pad + t * dilation]
   relates the three in both kinds, and a product computes one of them from the two others. */
#ifndef TSR_OPS_CONV_GEOMETRY_H
#define TSR_OPS_CONV_GEOMETRY_H

#include "ops/convolution/conv.h"

typedef enum tsr_conv_result { TSR_CONV_Y, TSR_CONV_X, TSR_CONV_W } tsr_conv_result;

/* Always three spatial dims; the missing ones come first and have size 1. Channels are those of one
   group: x is [batch, groups, xc, x...], y [batch, groups, yc, y...], w [groups, yc, xc, k...]. */
typedef struct tsr_conv_geometry {
    int ndim; /* that the shape had */
    int64_t batch, groups, xc, yc;
    int64_t x[TSR_CONV_DIMS], y[TSR_CONV_DIMS], k[TSR_CONV_DIMS];
    int64_t stride[TSR_CONV_DIMS], dilation[TSR_CONV_DIMS], pad[TSR_CONV_DIMS];
    int64_t x_count, y_count, k_count; /* products of x, y and k */
} tsr_conv_geometry;

/* The operands by role: the one that is computed is written. bias is added to y or x, one value per
   channel. */
typedef struct tsr_conv_operands {
    void *x, *y, *w;
    const void *bias;
} tsr_conv_operands;

/* Where p meets t in x, along dim d; may be outside. */
static inline int64_t conv_tap(const tsr_conv_geometry *g, int d, int64_t p, int64_t t)
{
    return p * g->stride[d] + t * g->dilation[d] - g->pad[d];
}

/* The p in [*lo, *hi) are those for which tap t is inside x, along dim d. */
static inline void conv_inside(const tsr_conv_geometry *g, int d, int64_t t, int64_t *lo,
                               int64_t *hi)
{
    const int64_t s = g->stride[d], first = conv_tap(g, d, 0, t), rest = g->x[d] - first;

    *lo = first < 0 ? (s - 1 - first) / s : 0;
    *hi = rest > 0 ? (rest + s - 1) / s : 0;
    *hi = *hi < g->y[d] ? *hi : g->y[d];
    *lo = *lo < *hi ? *lo : *hi;
}

/* The element of x, in its plane, that element p of y meets with tap t; -1: outside. */
static inline int64_t conv_x_of(const tsr_conv_geometry *g, int64_t p, int64_t t)
{
    int64_t at = 0, step = 1;

    for (int d = TSR_CONV_DIMS - 1; d >= 0; d--) {
        int64_t q = p % g->y[d] * g->stride[d] + t % g->k[d] * g->dilation[d] - g->pad[d];

        if (q < 0 || q >= g->x[d])
            return -1;
        at += q * step;
        step *= g->x[d];
        p /= g->y[d];
        t /= g->k[d];
    }
    return at;
}

/* The other way: the element of y that meets element q of x with tap t; -1: none. */
static inline int64_t conv_y_of(const tsr_conv_geometry *g, int64_t q, int64_t t)
{
    int64_t at = 0, step = 1;

    for (int d = TSR_CONV_DIMS - 1; d >= 0; d--) {
        int64_t p = q % g->x[d] + g->pad[d] - t % g->k[d] * g->dilation[d];

        if (p < 0 || p % g->stride[d] != 0 || p / g->stride[d] >= g->y[d])
            return -1;
        at += p / g->stride[d] * step;
        step *= g->y[d];
        q /= g->x[d];
        t /= g->k[d];
    }
    return at;
}

/* conv_reference.c: any dtype, any sizes. */
void tsr__conv_reference(const tsr_conv_geometry *g, tsr_dtype dtype, tsr_conv_result what,
                         const tsr_conv_operands *on);

/* conv_columns.c: floats, nothing empty, planes of fewer than 2^31 elements. */
bool tsr__conv_by_taps(const tsr_conv_geometry *g);
tsr_status tsr__conv_columns(const tsr_conv_geometry *g, tsr_dtype dtype, tsr_conv_result what,
                             bool reproducible, tsr_pool *pool, const tsr_conv_operands *on,
                             tsr_error *err);

#endif
