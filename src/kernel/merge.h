/* SPDX-License-Identifier: Apache-2.0 */
/* merge.h - a kernel in two steps: from a rank's own data to a few numbers, and from these, merged
   over the ranks that hold parts of the same rows or statistics, to the outputs. A kernel does
   both; run/merged.c puts the merging in between, for rows with .merge. */
#ifndef TSR_KERNEL_MERGE_H
#define TSR_KERNEL_MERGE_H

#include "kernel/kernel.h"

/* The call's scratch keeps what the first step leaves for the second. */
typedef struct tsr_merge_steps {
    int64_t (*count)(const tsr_kernel_call *call); /* numbers; equal on ranks that merge. Pure. */
    void (*local)(const tsr_kernel_call *call, double *numbers);
    void (*merge)(const tsr_kernel_call *call, int64_t count, double *numbers,
                  const double *more); /* of the next rank */
    void (*finish)(const tsr_kernel_call *call, const double *numbers);
    /* NULL: the numbers of all ranks are merged. -1: only of those before this one; 1: of those
       behind it, from the last on. finish gets NULL where there are none. */
    int (*side)(const tsr_kernel_call *call);
} tsr_merge_steps;

/* What a row says of it: the steps, and the mesh dims along which ranks hold parts, a mask. */
typedef struct tsr_merge {
    const tsr_merge_steps *steps;
    unsigned (*mdims)(const tsr_schema *schema, const tsr_spec *in);
} tsr_merge;

/* Welford statistics of two ranks: their count, means, and sums of squared deviations (M2); a rank
   may have no values. And sums. */
void tsr__welford_combine_n(const tsr_kernel_call *call, int64_t count, double *numbers,
                            const double *more);
void tsr__merge_sums(const tsr_kernel_call *call, int64_t count, double *numbers,
                     const double *more);
/* The same for k statistics of `a` values and of b more, given separately. */
void tsr__welford_combine(int64_t k, double a, double *mean, double *m2, double b,
                          const double *more_mean, const double *more_m2);

/* Combines two partial log-sum-exps, each a maximum and a sum of exp(x - maximum), as ranks do. */
void tsr__lse_combine(double *max, double *sum, double more_max, double more_sum);
/* The same of count / 2 rows: their maxima, then their sums. */
void tsr__lse_combine_n(const tsr_kernel_call *call, int64_t count, double *numbers,
                        const double *more);

#endif
