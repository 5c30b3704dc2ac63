/* SPDX-License-Identifier: Apache-2.0 */
/* pointwise_ops.h - ops that treat every element alike: the kernels, gradients and rows of the
   family. Rows end with one without a name. */
#ifndef TSR_OPS_POINTWISE_OPS_H
#define TSR_OPS_POINTWISE_OPS_H

#include "op/op.h"
#include "kernel/kinds.h"

/* out[...] = f(in[...]), shapes broadcast from the last dim; f by the call's kind, a
   tsr_pointwise_kind. Numbers and flags are attributes 0 and 1. */
void tsr__kernel_pointwise(const tsr_kernel_call *call);
/* out = in as the output's dtype; truncates toward zero */
void tsr__kernel_cast(const tsr_kernel_call *call);

/* pointwise_grad.c */
tsr_status tsr__grad_lerp(const tsr_grad_call *call);

extern const tsr_op tsr__ops_pointwise[];
extern const tsr_op tsr__ops_inplace[]; /* of them, in place: found by name, but not listed */
extern const tsr_op tsr__ops_activation_grad[];
extern const tsr_op tsr__ops_compare[];
extern const tsr_op tsr__ops_decomposed[];

#endif
