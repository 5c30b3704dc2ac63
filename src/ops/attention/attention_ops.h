/* SPDX-License-Identifier: Apache-2.0 */
/* attention_ops.h - attention: the kernels, runs, gradients and rows of the family. Rows end with
   one without a name. */
#ifndef TSR_OPS_ATTENTION_OPS_H
#define TSR_OPS_ATTENTION_OPS_H

#include "op/op.h"

/* Attention and its gradients; inputs, outputs and attributes as in attention.h. Number 0 is how
   many heads of queries share one of keys. */
void tsr__kernel_attention(const tsr_kernel_call *call);
size_t tsr__scratch_attention(const tsr_kernel_call *call);

/* attention_merge.c: the run of attention and its gradients; attention_op.c: the mesh dims that cut
   the keys, where numbers are exchanged for that. */
tsr_status tsr__run_attention(const tsr_run_call *call, tsr_error *err);
unsigned tsr__attention_mdims(const tsr_schema *s, const tsr_spec *in);

/* attention_grad.c */
tsr_status tsr__grad_attention(const tsr_grad_call *call);

extern const tsr_op tsr__ops_attention[];

#endif
