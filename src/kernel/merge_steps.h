/* SPDX-License-Identifier: Apache-2.0 */
/* merge_steps.h - a kernel in two steps, where several ranks hold parts of what one result is of:
   from its own data to a few words per result, and from these, merged over ranks, to the outputs.
   The kernels do both; run/moments.c puts the merging in between. */
#ifndef TSR_KERNEL_MERGE_STEPS_H
#define TSR_KERNEL_MERGE_STEPS_H

#include "kernel/kernel.h"

typedef struct tsr_merge_steps {
    int64_t (*count)(const tsr_kernel_call *call); /* words; equal on ranks that merge. Pure. */
    void (*local)(const tsr_kernel_call *call, double *words);
    /* with those of the next rank */
    void (*merge)(const tsr_kernel_call *call, int64_t count, double *words, const double *more);
    void (*finish)(const tsr_kernel_call *call, const double *words);
    /* NULL: the words of all ranks are merged, in their order. -1: only of those before this one;
       1: of those behind it, from the last on. finish gets NULL where there are none. */
    int (*side)(const tsr_kernel_call *call);
} tsr_merge_steps;

/* reduction_steps.c: of the kernels of reductions and scans, NULL of others. */
const tsr_merge_steps *tsr__reduction_steps(tsr_kernel kernel);

#endif
