/* SPDX-License-Identifier: Apache-2.0 */
/* normalisation_ops.h - normalisations and softmax: the kernels, gradients and rows of the
   family. Rows end with one without a name. */
#ifndef TSR_OPS_NORMALISATION_OPS_H
#define TSR_OPS_NORMALISATION_OPS_H

#include "kernel/kinds.h"
#include "kernel/merge.h"
#include "op/op.h"

/* Along the dim of attribute 0 (negative: from the end): exp(x - max) / sum of that, or its
   logarithm. Their gradients: from that of such an output (input 0) and the output itself (input 1)
   that of x. */
void tsr__kernel_softmax(const tsr_kernel_call *call);

/* Of softmax and log_softmax, and of their gradients. */
extern const tsr_merge_steps tsr__softmax_steps, tsr__softmax_backward_steps;
/* By their definitions: the oracle. */
void tsr__reference_softmax(const tsr_kernel_call *call);

/* Normalisation of x [samples, channels, space...], kinds, inputs and attributes as in norm.h:
   y, and the mean and reciprocal standard deviation of each statistic. Of gradients, outputs
   that are switched off have ndim -1; number 0 is how many values a statistic is of. */
void tsr__kernel_channel_norm(const tsr_kernel_call *call);
size_t tsr__scratch_channel_norm(const tsr_kernel_call *call);
/* The same for the last dims of x, inputs and attributes as in layer_norm.h. */
void tsr__kernel_layer_norm(const tsr_kernel_call *call);
size_t tsr__scratch_layer_norm(const tsr_kernel_call *call);
/* out = (1 - momentum) in0 + momentum in1, momentum attribute 0; the dtypes may differ */
void tsr__kernel_running_update(const tsr_kernel_call *call);

/* layer_norm_grad.c */
tsr_status tsr__grad_layer_norm(const tsr_grad_call *call);
tsr_status tsr__grad_rms_norm(const tsr_grad_call *call);

/* norm_grad.c */
tsr_status tsr__grad_batch_norm(const tsr_grad_call *call);
tsr_status tsr__grad_group_norm(const tsr_grad_call *call); /* and of instance_norm */

extern const tsr_op tsr__ops_softmax[];
extern const tsr_op tsr__ops_norm[];
extern const tsr_op tsr__ops_layer_norm[];

#endif
