/* SPDX-License-Identifier: Apache-2.0 */
/* statistic.h - reductions of floats that are more than a sum, a product or a choice: norms,
   variances, the logarithm of the sum of exponentials. */
#ifndef TSR_OPS_STATISTIC_H
#define TSR_OPS_STATISTIC_H

#include "kernel/merge.h"

/* By definition, in f64. */
void tsr__reference_statistic(const tsr_kernel_call *call);

/* norm2: of p = 2 */
extern const tsr_merge_steps tsr__norm2_steps, tsr__var_steps, tsr__log_sum_steps;
/* any_all.c */
extern const tsr_merge_steps tsr__any_all_steps;

#endif
