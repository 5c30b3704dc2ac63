/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer_ops.h - steps of optimizers: the kernels and rows of the family. Rows end with one
   without a name. */
#ifndef TSR_OPS_OPTIMIZER_OPS_H
#define TSR_OPS_OPTIMIZER_OPS_H

#include "op/op.h"

/* Steps of optimizers: inputs w, its states and the gradient, outputs w and the states; attributes
   in the order of the rows in optimizer_ops.c. */
void tsr__kernel_optimizer_step(const tsr_kernel_call *call);

extern const tsr_op tsr__ops_optimizer[];

#endif
