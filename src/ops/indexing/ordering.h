/* SPDX-License-Identifier: Apache-2.0 */
/* ordering.h - sort and topk along one dim, values and where they were. A NaN is larger than any
   number, equal values stay in the order of their places. */
#ifndef TSR_OPS_ORDERING_H
#define TSR_OPS_ORDERING_H

#include "kernel/kernel.h"

/* Input x; attributes dim, descending. Outputs values and indices. */
void tsr__kernel_sort(const tsr_kernel_call *call);
size_t tsr__scratch_sort(const tsr_kernel_call *call);
/* Input x; attributes k, dim, largest: the best of each line, the best one first. */
void tsr__kernel_topk(const tsr_kernel_call *call);
size_t tsr__scratch_topk(const tsr_kernel_call *call);

/* One of the best of a line that several ranks share. */
typedef struct tsr_candidate {
    uint64_t value; /* its bytes */
    int64_t index;  /* in the whole line; -1: there is none */
} tsr_candidate;

/* The k best of each line that this rank has, out[lines, k], with indices of the whole tensor. */
void tsr__topk_candidates(const tsr_kernel_call *call, tsr_candidate *out);
/* Those of n ranks, all[n, lines, k], become the outputs. taken is scratch, [n]. */
void tsr__topk_merge(const tsr_kernel_call *call, int n, const tsr_candidate *all, int64_t *taken);

#endif
