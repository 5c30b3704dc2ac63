/* SPDX-License-Identifier: Apache-2.0 */
/* reduce.h - element-wise reduction of several buffers into one, always in the order given. */
#ifndef TSR_BASE_REDUCE_H
#define TSR_BASE_REDUCE_H

#include "base/dtype.h"

/* dst[i] = src[0][i] op src[1][i] op ... , then divided by divisor (1: not). n_src >= 1. AVG is SUM
   with a divisor and not accepted here. f16 and bf16 accumulate in f32 and round once; integers
   wrap; a NaN in MIN or MAX wins. dst may be one of the sources, else it overlaps none. */
void tsr__reduce(tsr_dtype dtype, tsr_reduce op, int64_t divisor, int n_src, const void *const *src,
                 int64_t n, void *dst);
/* The same by plain loops, element by element: the reference. */
void tsr__reduce_ref(tsr_dtype dtype, tsr_reduce op, int64_t divisor, int n_src,
                     const void *const *src, int64_t n, void *dst);

/* Fill with what changes nothing: -0.0 for a float sum, 0, 1, the largest, the smallest. */
void tsr__reduce_identity(tsr_dtype dtype, tsr_reduce op, void *dst, int64_t n);

/* Partial tensors of a bool and averages of integers have no meaning: an error sentence. */
tsr_status tsr__reduce_check(tsr_dtype dtype, tsr_reduce op, tsr_error *err);

/* Sums and averages are one kind: both add, and averages divide in the end. */
static inline bool tsr__reduce_same_kind(tsr_reduce a, tsr_reduce b)
{
    return a == b || (a <= TSR_AVG && b <= TSR_AVG);
}

/* Is an all-reduce of n elements done in one phase, in which every rank receives and reduces
   everything, not in two, in which each reduces a part and then all gather the parts? One phase
   saves a call and brings (ranks - 1) times the bytes, where two bring less than twice the bytes;
   for two ranks that is the same, and what limits it is the copy of an all-reduce in place.
   Measured on threads and MPI. */
enum { TSR_ONE_PHASE_PAIR = 256 << 10, TSR_ONE_PHASE_IN = 16 << 10 }; /* bytes received */
static inline bool tsr__all_reduce_one_phase(tsr_dtype dtype, int64_t n, int ranks)
{
    int64_t size = (int64_t)tsr_dtype_size(dtype);

    if (ranks <= 2)
        return ranks < 2 || n <= TSR_ONE_PHASE_PAIR / size;
    return n <= TSR_ONE_PHASE_IN / size / (ranks - 1);
}

#endif
