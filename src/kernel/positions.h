/* SPDX-License-Identifier: Apache-2.0 */
/* positions.h - where the elements of a local operand are in the whole tensor, for kernels whose
   numbers depend on that. Their rows say `.positions`. Pure. */
#ifndef TSR_KERNEL_POSITIONS_H
#define TSR_KERNEL_POSITIONS_H

#include "kernel/kernel.h"

/* The index in the whole tensor of local index i along dim d. */
static inline int64_t tsr__position(const tsr_operand *x, int d, int64_t i)
{
    return x->index[d] ? x->index[d][i] : x->first[d] + i;
}

/* The number of local element i in the row-major order of a whole tensor of these sizes. */
static inline int64_t tsr__position_number(const tsr_operand *x, const int64_t *whole, int64_t i)
{
    int64_t at = 0, stride = 1;

    for (int d = x->shape.ndim - 1; d >= 0; d--) {
        at += tsr__position(x, d, i % x->shape.size[d]) * stride;
        i /= x->shape.size[d];
        stride *= whole[d];
    }
    return at;
}

/* Called for n elements from the local one `at` on, which in the row-major order of the whole
   tensor are those from `global` on. */
typedef void (*tsr_run_of)(void *arg, int64_t at, int64_t global, int64_t n);
/* All of an operand of a tensor of these sizes, in runs as long as possible. */
void tsr__positions_walk(const tsr_operand *x, const int64_t *whole, tsr_run_of fn, void *arg);

/* " at [3,1]" for local element i, in the whole tensor. */
void tsr__position_text(const tsr_operand *x, int64_t i, char *buf, size_t n);

#endif
