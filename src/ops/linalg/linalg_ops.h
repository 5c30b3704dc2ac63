/* SPDX-License-Identifier: Apache-2.0 */
/* linalg_ops.h - products of matrices and tensors: the kernels, gradients and rows of the family.
   Rows end with one without a name. */
#ifndef TSR_OPS_LINALG_OPS_H
#define TSR_OPS_LINALG_OPS_H

#include "op/op.h"

/* out[...,m,n] = sum over k of a[...,m,k] b[...,k,n] (+ bias[n]); leading dims broadcast */
void tsr__kernel_matmul(const tsr_kernel_call *call);
/* out[...,n] = sum over k of x[...,k] weight[n,k] (+ bias[n]) */
void tsr__kernel_linear(const tsr_kernel_call *call);
/* What the text of attribute 0 says, einsum.h; dot and outer are two such texts. */
void tsr__kernel_einsum(const tsr_kernel_call *call);
void tsr__kernel_dot(const tsr_kernel_call *call);
void tsr__kernel_outer(const tsr_kernel_call *call);
size_t tsr__scratch_einsum(const tsr_kernel_call *call);
size_t tsr__scratch_dot(const tsr_kernel_call *call);
size_t tsr__scratch_outer(const tsr_kernel_call *call);

/* linalg_grad.c */
tsr_status tsr__grad_matmul(const tsr_grad_call *call); /* and of bmm */
tsr_status tsr__grad_einsum(const tsr_grad_call *call);

extern const tsr_op tsr__ops_linalg[];
extern const tsr_op tsr__ops_einsum[];

#endif
