/* SPDX-License-Identifier: Apache-2.0 */
/* reduced_view.h - elements of an operand by two indices, for references of reductions: to be
   checked by eye. Pure. */
#ifndef TSR_KERNEL_REDUCED_VIEW_H
#define TSR_KERNEL_REDUCED_VIEW_H

#include "kernel/index.h"

/* Elements of a tensor of shape s by two indices: one of the kept dims, one of the reduced ones. */
typedef struct tsr_reduced_view {
    tsr_shape s, keep, over; /* either has size 1 where the other counts */
    int64_t n;               /* elements of one output */
} tsr_reduced_view;

static inline tsr_reduced_view tsr__reduced_view(const tsr_operand *x, unsigned gone)
{
    tsr_reduced_view v = {.s = x->shape, .keep = x->shape, .over = x->shape};

    for (int d = 0; d < v.s.ndim; d++)
        *(gone >> d & 1 ? &v.keep.size[d] : &v.over.size[d]) = 1;
    v.n = tsr__product(v.s.ndim, v.over.size);
    return v;
}

static inline int64_t tsr__reduced_at(const tsr_reduced_view *v, int64_t i, int64_t k)
{
    int64_t at = 0, stride = 1;

    for (int d = v->s.ndim - 1; d >= 0; d--) {
        at += (i % v->keep.size[d] + k % v->over.size[d]) * stride;
        i /= v->keep.size[d];
        k /= v->over.size[d];
        stride *= v->s.size[d];
    }
    return at;
}

#endif
