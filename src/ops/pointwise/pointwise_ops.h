/* SPDX-License-Identifier: Apache-2.0 */
/* pointwise_ops.h - ops that treat every element alike: the kernels, gradients and rows of the
   family. Rows end with one without a name. */
#ifndef TSR_OPS_POINTWISE_OPS_H
#define TSR_OPS_POINTWISE_OPS_H

#include "op/op.h"

/* out[...] = f(in[...]), shapes broadcast from the last dim; f by the call's kind, a
   tsr_pointwise_kind. Numbers and flags are attributes 0 and 1. */
void tsr__kernel_pointwise(const tsr_kernel_call *call);
/* out = in as the output's dtype; what is behind the point is cut off */
void tsr__kernel_cast(const tsr_kernel_call *call);

/* pointwise_grad.c; that of maximum is minimum's too */
tsr_status tsr__grad_add(const tsr_grad_call *call);
tsr_status tsr__grad_sub(const tsr_grad_call *call);
tsr_status tsr__grad_mul(const tsr_grad_call *call);
tsr_status tsr__grad_div(const tsr_grad_call *call);
tsr_status tsr__grad_pow(const tsr_grad_call *call);
tsr_status tsr__grad_remainder(const tsr_grad_call *call);
tsr_status tsr__grad_fmod(const tsr_grad_call *call);
tsr_status tsr__grad_maximum(const tsr_grad_call *call);
tsr_status tsr__grad_neg(const tsr_grad_call *call);
tsr_status tsr__grad_abs(const tsr_grad_call *call);
tsr_status tsr__grad_relu(const tsr_grad_call *call);
tsr_status tsr__grad_exp(const tsr_grad_call *call);
tsr_status tsr__grad_log(const tsr_grad_call *call);
tsr_status tsr__grad_log1p(const tsr_grad_call *call);
tsr_status tsr__grad_sqrt(const tsr_grad_call *call);
tsr_status tsr__grad_rsqrt(const tsr_grad_call *call);
tsr_status tsr__grad_reciprocal(const tsr_grad_call *call);
tsr_status tsr__grad_tanh(const tsr_grad_call *call);
tsr_status tsr__grad_sigmoid(const tsr_grad_call *call);
tsr_status tsr__grad_silu(const tsr_grad_call *call);
tsr_status tsr__grad_mish(const tsr_grad_call *call);
tsr_status tsr__grad_sinh(const tsr_grad_call *call);
tsr_status tsr__grad_asinh(const tsr_grad_call *call);
tsr_status tsr__grad_acosh(const tsr_grad_call *call);
tsr_status tsr__grad_gelu(const tsr_grad_call *call);
tsr_status tsr__grad_softplus(const tsr_grad_call *call);
tsr_status tsr__grad_sin(const tsr_grad_call *call);
tsr_status tsr__grad_cos(const tsr_grad_call *call);
tsr_status tsr__grad_erf(const tsr_grad_call *call);
tsr_status tsr__grad_leaky_relu(const tsr_grad_call *call);
tsr_status tsr__grad_elu(const tsr_grad_call *call);
tsr_status tsr__grad_affine(const tsr_grad_call *call);
tsr_status tsr__grad_clamp(const tsr_grad_call *call);
tsr_status tsr__grad_cast(const tsr_grad_call *call);
tsr_status tsr__grad_where(const tsr_grad_call *call);
tsr_status tsr__grad_masked_fill(const tsr_grad_call *call);
tsr_status tsr__grad_lerp(const tsr_grad_call *call);
tsr_status tsr__grad_addcmul(const tsr_grad_call *call);
tsr_status tsr__grad_addcdiv(const tsr_grad_call *call);

extern const tsr_op tsr__ops_pointwise[];
extern const tsr_op tsr__ops_inplace[]; /* of them, in place: found by name, but not listed */
extern const tsr_op tsr__ops_activation_grad[];
extern const tsr_op tsr__ops_compare[];
extern const tsr_op tsr__ops_decomposed[];

#endif
