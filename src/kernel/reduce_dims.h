/* SPDX-License-Identifier: Apache-2.0 */
/* reduce_dims.h - reductions over any dims of one operand, for kernels that make more of them. */
#ifndef TSR_KERNEL_REDUCE_DIMS_H
#define TSR_KERNEL_REDUCE_DIMS_H

#include "kernel/kernel.h"

/* What becomes of the elements; of absolute values and squares for floats only. A NaN wins. */
typedef enum tsr_fold {
    TSR_FOLD_SUM,
    TSR_FOLD_PROD,
    TSR_FOLD_MAX,
    TSR_FOLD_MIN,
    TSR_FOLD_SUM_ABS,
    TSR_FOLD_MAX_ABS,
    TSR_FOLD_SQUARES /* their sum */
} tsr_fold;

/* A float operand reduced over the dims in `gone` to n_out results in f64: f16 and bf16 add up in
   f32. */
void tsr__reduce_wide(tsr_fold how, tsr_kernel_variant variant, const tsr_operand *in,
                      unsigned gone, int64_t n_out, double *out);

/* The same to the output of a call by its definition; sums times `times`, by `divisor`. A bool
   output is of booleans: anything but 0 is true. */
void tsr__reference_reduce(const tsr_kernel_call *call, tsr_fold how, int64_t times,
                           int64_t divisor);

/* Over the dims of attribute 0 (ints; none or empty: all), kept as size 1 if attribute 1 is true.
   sum, mean, prod, max, min, any and all; of no elements: 0, 0, 1, the smallest and the largest
   number, false and true. mean divides the sum, times number 1, by number 0 (0 counts as 1): where
   parts of the whole have no elements, theirs is 0. If the whole has none, number 0 says so, and
   the mean is NaN; in the field, which has no NaN, 0. any and all are of bool, from any dtype. */
enum { TSR_MEAN_OF_NOTHING = -1 };
void tsr__kernel_reduce(const tsr_kernel_call *call);

#endif
