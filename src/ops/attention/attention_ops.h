/* SPDX-License-Identifier: Apache-2.0 */
/* attention_ops.h - attention: the kernels, gradients and rows of the family. Rows end with
   one without a name. */
#ifndef TSR_OPS_ATTENTION_OPS_H
#define TSR_OPS_ATTENTION_OPS_H

#include "op/op.h"

/* Attention and its gradients; inputs, outputs and attributes as in attention.h. Number 0 is how
   many heads of queries share one of keys. */
void tsr__kernel_attention(const tsr_kernel_call *call);
size_t tsr__scratch_attention(const tsr_kernel_call *call);

/* attention_grad.c */
tsr_status tsr__grad_attention(const tsr_grad_call *call);

extern const tsr_op tsr__ops_attention[];

#endif
