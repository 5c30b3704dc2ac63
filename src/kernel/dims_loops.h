/* SPDX-License-Identifier: Apache-2.0 */
/* dims_loops.h - a tensor of which some dims are kept and some reduced as loops along memory:
   neighbouring dims of one kind are one loop. Pure. */
#ifndef TSR_KERNEL_DIMS_LOOPS_H
#define TSR_KERNEL_DIMS_LOOPS_H

#include "tessera_ext.h"

typedef struct tsr_loop {
    int64_t count, stride; /* in elements */
} tsr_loop;

/* Loops over kept and over reduced dims, the innermost first; at least one of each. */
typedef struct tsr_dims_loops {
    bool by_rows; /* the innermost loop of all is over reduced elements, side by side */
    int n_keep, n_gone;
    tsr_loop keep[TSR_MAX_DIM + 1], gone[TSR_MAX_DIM + 1];
} tsr_dims_loops;

static inline tsr_dims_loops tsr__dims_loops(const tsr_shape *s, unsigned gone)
{
    tsr_dims_loops l = {0};
    int64_t stride = 1;
    int last = -1; /* was the previous dim reduced? */

    for (int d = s->ndim - 1; d >= 0; d--) {
        int now = (int)(gone >> d & 1), *n = now ? &l.n_gone : &l.n_keep;
        tsr_loop *list = now ? l.gone : l.keep;

        if (s->size[d] == 1)
            continue;
        if (now == last)
            list[*n - 1].count *= s->size[d];
        else
            list[(*n)++] = (tsr_loop){s->size[d], stride};
        last = now;
        stride *= s->size[d];
    }
    l.by_rows = l.n_gone && l.gone[0].stride == 1;
    if (l.n_keep == 0)
        l.keep[l.n_keep++] = (tsr_loop){1, 1};
    if (l.n_gone == 0)
        l.gone[l.n_gone++] = (tsr_loop){1, 1};
    return l;
}

#endif
