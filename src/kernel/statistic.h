/* SPDX-License-Identifier: Apache-2.0 */
/* statistic.h - reductions of floats that are more than a sum, a product or a choice: norms,
   variances, the logarithm of the sum of exponentials. */
#ifndef TSR_KERNEL_STATISTIC_H
#define TSR_KERNEL_STATISTIC_H

#include "kernel/merge.h"

typedef enum tsr_statistic {
    TSR_STATISTIC_NORM,
    TSR_STATISTIC_VAR,
    TSR_STATISTIC_STD,
    TSR_STATISTIC_LOG_SUM
} tsr_statistic;

/* By definition, in f64. */
void tsr__reference_statistic(const tsr_kernel_call *call, tsr_statistic what);

/* reduction_steps.c: of kernels of reductions and scans of elements of this dtype. */
const tsr_merge_steps *tsr__reduction_steps(tsr_kernel kernel, tsr_dtype dtype);

extern const tsr_merge_steps tsr__norm2_steps, tsr__var_steps, tsr__std_steps, tsr__log_sum_steps;

#endif
