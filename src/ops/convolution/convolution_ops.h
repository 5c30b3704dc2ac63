/* SPDX-License-Identifier: Apache-2.0 */
/* convolution_ops.h - convolution, pooling and resampling: the compositions, gradients and rows of
   the family. Rows end with one without a name. */
#ifndef TSR_OPS_CONVOLUTION_OPS_H
#define TSR_OPS_CONVOLUTION_OPS_H

#include "op/op.h"

/* typed_convolution.c: all gradients of a convolution. */
tsr_status tsr__compose_conv_backward(tsr_tensor *const *in, int n_in, const tsr_attrs *attrs,
                                      tsr_tensor **out, tsr_error *err);

extern const tsr_op tsr__ops_convolution[];
extern const tsr_op tsr__ops_pooling[];
extern const tsr_op tsr__ops_resampling[];

#endif
