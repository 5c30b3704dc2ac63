/* SPDX-License-Identifier: Apache-2.0 */
/* reduction_ops.h - reductions and scans: the kernels, gradients and rows of the family. Rows
   end with one without a name. */
#ifndef TSR_OPS_REDUCTION_OPS_H
#define TSR_OPS_REDUCTION_OPS_H

#include "kernel/reduce_dims.h"
#include "op/op.h"

/* Reductions, as in reduce_dims.h. Of floats. Attribute 2: which norm, 1, 2 or infinity; what is
   subtracted from the number of elements that a variance, or the square of a standard deviation, is
   divided by. */
void tsr__kernel_norm(const tsr_kernel_call *call);
void tsr__kernel_var(const tsr_kernel_call *call);
void tsr__kernel_logsumexp(const tsr_kernel_call *call);
size_t tsr__scratch_norm(const tsr_kernel_call *call);
size_t tsr__scratch_var(const tsr_kernel_call *call);
size_t tsr__scratch_logsumexp(const tsr_kernel_call *call);
/* Where the largest or smallest element is along the dim of attribute 0, or among all if that is
   left out: an i64, of equal ones the first, of NaN too; -1 of no elements. Numbers: sizes of the
   dims of the whole tensor. */
void tsr__kernel_arg(const tsr_kernel_call *call);
size_t tsr__scratch_arg(const tsr_kernel_call *call);
/* out = the sum or product of all elements up to each along the dim of attribute 0, or from each on
   if attribute 1 is true */
void tsr__kernel_scan(const tsr_kernel_call *call);

/* reduction_grad.c; total is sum, extreme is max and min */
tsr_status tsr__grad_total(const tsr_grad_call *call);
tsr_status tsr__grad_mean(const tsr_grad_call *call);
tsr_status tsr__grad_prod(const tsr_grad_call *call);
tsr_status tsr__grad_extreme(const tsr_grad_call *call);
tsr_status tsr__grad_norm(const tsr_grad_call *call);
tsr_status tsr__grad_var(const tsr_grad_call *call);
tsr_status tsr__grad_std(const tsr_grad_call *call);
tsr_status tsr__grad_logsumexp(const tsr_grad_call *call);
tsr_status tsr__grad_cumsum(const tsr_grad_call *call);
tsr_status tsr__grad_cumprod(const tsr_grad_call *call);

extern const tsr_op tsr__ops_reduction[];
extern const tsr_op tsr__ops_merging[];
extern const tsr_op tsr__ops_scan[];

#endif
