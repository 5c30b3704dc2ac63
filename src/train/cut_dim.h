/* SPDX-License-Identifier: Apache-2.0 */
/* cut_dim.h - along which dim a tensor is best cut into parts for one more mesh dim. For states of
   optimizers and for gradients that are reduced. Pure. */
#ifndef TSR_TRAIN_CUT_DIM_H
#define TSR_TRAIN_CUT_DIM_H

#include "layout/spec.h"

static inline bool cut_dim_is_cut(const tsr_spec *spec, int d)
{
    for (int m = 0; m < spec->mesh.ndim; m++)
        if ((spec->place[m].kind == TSR_SHARD || spec->place[m].kind == TSR_STRIDED) &&
            spec->place[m].dim == d)
            return true;
    return false;
}

/* Of dims that no mesh dim cuts yet one that divides evenly if there is one, and the largest of
   those; -1: none. */
static inline int tsr__cut_dim(const tsr_spec *spec, int m)
{
    int best = -1;
    bool best_even = false;

    for (int d = 0; d < spec->shape.ndim; d++) {
        const int64_t size = spec->shape.size[d];
        const bool even = size % spec->mesh.size[m] == 0;

        if (size <= 1 || cut_dim_is_cut(spec, d) || (best_even && !even))
            continue;
        if (best < 0 || even != best_even || size > spec->shape.size[best])
            best = d;
        best_even = even;
    }
    return best;
}

#endif
