/* SPDX-License-Identifier: Apache-2.0 */
/* loss_ops.h - losses: the kernels, runs, gradients and rows of the family. Rows end with one
   without a name. */
#ifndef TSR_OPS_LOSS_OPS_H
#define TSR_OPS_LOSS_OPS_H

#include "op/op.h"

/* Losses of rows x[..., classes] and targets, inputs and attributes as in class_loss.h. A target
   that is no class is an error that names it. */
void tsr__kernel_class_loss(const tsr_kernel_call *call);
size_t tsr__scratch_class_loss(const tsr_kernel_call *call);
/* Losses of x and a target element by element, as in pair_loss.h. */
void tsr__kernel_pair_loss(const tsr_kernel_call *call);

/* class_merge.c: the run of cross_entropy and nll_loss; class_losses.c: the mesh dims that cut the
   classes, where numbers are exchanged for that, and those that cut the rows of a mean. */
tsr_status tsr__run_class_loss(const tsr_run_call *call, tsr_error *err);
void tsr__class_mdims(const tsr_schema *s, const tsr_spec *in, unsigned *classes, unsigned *rows);

/* loss_grad.c */
tsr_status tsr__grad_cross_entropy(const tsr_grad_call *call);
tsr_status tsr__grad_nll_loss(const tsr_grad_call *call);

extern const tsr_op tsr__ops_class_loss[];
extern const tsr_op tsr__ops_pair_loss[];

#endif
