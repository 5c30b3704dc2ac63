/* SPDX-License-Identifier: Apache-2.0 */
/* norm_rows.h - the loops of normalisation: rows of memory, each with numbers of its own. f16 and
   bf16 are widened to f32 on the way; f32 is summed in blocks, and these in f64. */
#ifndef TSR_KERNEL_NORM_ROWS_H
#define TSR_KERNEL_NORM_ROWS_H

#include "kernel/kernel.h"

/* x[samples][rows][length]: mean[row] and m2[row], the sum of the squared distances to it, over
   samples and length. 0 of no values. */
void tsr__norm_moments(tsr_dtype dtype, tsr_kernel_variant variant, int64_t samples, int64_t rows,
                       int64_t length, const void *x, double *mean, double *m2);
/* Adds sum(grad) and sum(grad * (x - center[row])) of x[rows][length] to those of each row. */
void tsr__norm_sums(tsr_dtype dtype, tsr_kernel_variant variant, int64_t rows, int64_t length,
                    const void *grad, const void *x, const double *center, double *sum,
                    double *dot);

/* What rows are computed with: arrays of f64 for f64, else of f32, filled by tsr__norm_put. */
typedef struct tsr_norm_factors {
    void *high, *low; /* subtracted from x, one after the other: together they are exact */
    void *by, *plus;  /* x times that, plus that; of gradients: */
    void *grad_by;    /* the gradient times that, besides */
} tsr_norm_factors;

static inline void tsr__norm_put(tsr_dtype dtype, void *array, int64_t i, double value)
{
    if (dtype == TSR_F64)
        ((double *)array)[i] = value;
    else
        ((float *)array)[i] = (float)value;
}

/* What is left of a value that was put to an array. */
static inline double tsr__norm_rest(tsr_dtype dtype, double value)
{
    return dtype == TSR_F64 ? 0 : value - (double)(float)value;
}

/* y = (x - high - low) * by + plus; with `grad` that plus grad * grad_by. `large`: y is of so many
   bytes in all; call tsr__stream_fence when it is done. */
void tsr__norm_apply(tsr_dtype dtype, tsr_kernel_variant variant, int64_t rows, int64_t length,
                     const void *grad, const void *x, const tsr_norm_factors *factors, size_t large,
                     void *y);

#endif
