/* SPDX-License-Identifier: Apache-2.0 */
/* softmax_loops.h - the loops of softmax, log-sum-exp and losses of classes: rows of f32 or f64,
   for one instruction set, each as softmax_loops.inc.h says. f16 and bf16 are widened before. */
#ifndef TSR_KERNEL_SOFTMAX_LOOPS_H
#define TSR_KERNEL_SOFTMAX_LOOPS_H

#include "kernel/merge.h"

typedef struct tsr_softmax_loops {
    double (*row_max)(const void *x, int64_t n);
    double (*row_exp)(const void *x, int64_t n, double shift, void *e, const void *ahead);
    double (*row_exp_sum)(const void *x, int64_t n, double shift, const void *ahead);
    void (*row_scale)(const void *e, int64_t n, double factor, void *y);
    void (*row_apply)(const void *x, int64_t n, double high, double low, double by, double plus,
                      void *y);
    void (*row_shift)(const void *x, int64_t n, double high, double low, void *y);
    double (*row_dot)(const void *grad, const void *y, int64_t n);
    void (*row_grad)(bool log, const void *grad, const void *y, int64_t n, double s, void *out);
    void (*row_add)(const void *x, int64_t n, double by, void *y);
    void (*row_add_at)(void *y, int64_t i, double value);
    void (*columns_start)(int64_t n, void *max, double *sum);
    void (*columns_add)(const void *x, int64_t rows, int64_t step, int64_t n, void *max,
                        double *sum);
    void (*columns_apply)(bool log, const void *x, int64_t n, const void *max, const void *number,
                          void *y);
    void (*columns_dot)(const void *grad, const void *y, int64_t n, double *sum);
    void (*columns_grad)(bool log, const void *grad, const void *y, int64_t n, const void *s,
                         void *out);
} tsr_softmax_loops;

const tsr_softmax_loops *tsr__softmax_loops(tsr_dtype dtype, tsr_kernel_variant variant);

#endif
