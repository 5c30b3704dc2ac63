/* SPDX-License-Identifier: Apache-2.0 */
/* pooling_geometry.h - what the two files of pooling share. */
#ifndef TSR_OPS_POOLING_GEOMETRY_H
#define TSR_OPS_POOLING_GEOMETRY_H

#include "ops/convolution/conv_geometry.h"
#include "ops/convolution/pooling.h"

/* Three spatial dims, as for convolution: x is the input, y the output. */
typedef struct tsr_pooling_geometry {
    tsr_conv_geometry g;
    int64_t planes;
    bool count_include_pad;
    int64_t origin[TSR_CONV_DIMS], whole[TSR_CONV_DIMS], pad_hi[TSR_CONV_DIMS];
} tsr_pooling_geometry;

/* How many terms output p of dim d is divided by: the taps that meet the whole input, or that and
   its padding. */
static inline int64_t pooling_count(const tsr_pooling_geometry *p, int d, int64_t at)
{
    const tsr_conv_geometry *g = &p->g;
    int64_t n = 0;

    for (int64_t t = 0; t < g->k[d]; t++) {
        const int64_t q = conv_tap(g, d, at, t) + p->origin[d];

        n += p->count_include_pad ? q < p->whole[d] + p->pad_hi[d] : q >= 0 && q < p->whole[d];
    }
    return n;
}

/* How far from where its window starts a tap is in the whole plane; and where the window of
   position 0 of a row of y starts, which may be outside. */
static inline int64_t pooling_reach(const tsr_pooling_geometry *p, int64_t t0, int64_t t1,
                                    int64_t t2)
{
    const int64_t *dilation = p->g.dilation;

    return (t0 * dilation[0] * p->whole[1] + t1 * dilation[1]) * p->whole[2] + t2 * dilation[2];
}

static inline int64_t pooling_start(const tsr_pooling_geometry *p, int64_t row)
{
    const int64_t q0 = conv_tap(&p->g, 0, row / p->g.y[1], 0) + p->origin[0];
    const int64_t q1 = conv_tap(&p->g, 1, row % p->g.y[1], 0) + p->origin[1];

    return (q0 * p->whole[1] + q1) * p->whole[2] + conv_tap(&p->g, 2, 0, 0) + p->origin[2];
}

static inline bool pooling_is_whole(const tsr_pooling_geometry *p)
{
    for (int d = 0; d < TSR_CONV_DIMS; d++)
        if (p->origin[d] != 0 || p->whole[d] != p->g.x[d])
            return false;
    return true;
}

/* Element q of this part's plane in the whole's, and back; -1: not in this part. */
static inline int64_t pooling_to_whole(const tsr_pooling_geometry *p, int64_t q)
{
    const int64_t *x = p->g.x;
    const int64_t q2 = q % x[2] + p->origin[2], q1 = q / x[2] % x[1] + p->origin[1];

    return ((q / x[2] / x[1] + p->origin[0]) * p->whole[1] + q1) * p->whole[2] + q2;
}

static inline int64_t pooling_to_part(const tsr_pooling_geometry *p, int64_t index)
{
    const int64_t *x = p->g.x, *whole = p->whole;
    const int64_t q2 = index % whole[2] - p->origin[2];
    const int64_t q1 = index / whole[2] % whole[1] - p->origin[1];
    const int64_t q0 = index / whole[2] / whole[1] - p->origin[0];

    if (index < 0 || q0 < 0 || q0 >= x[0] || q1 < 0 || q1 >= x[1] || q2 < 0 || q2 >= x[2])
        return -1;
    return (q0 * x[1] + q1) * x[2] + q2;
}

/* pooling_reference.c */
void tsr__pooling_reference_max(const tsr_pooling_geometry *p, tsr_dtype dtype, const void *in,
                                void *out, int64_t *index);
void tsr__pooling_reference_average(const tsr_pooling_geometry *p, tsr_dtype dtype, const void *in,
                                    void *out);
void tsr__pooling_reference_max_grad(const tsr_pooling_geometry *p, tsr_dtype dtype,
                                     const void *grad_out, const int64_t *index, void *grad_in);
void tsr__pooling_reference_average_grad(const tsr_pooling_geometry *p, tsr_dtype dtype,
                                         const void *grad_out, void *grad_in);

#endif
