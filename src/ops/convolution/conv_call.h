/* SPDX-License-Identifier: Apache-2.0 */
/* conv_call.h - convolution as kernels of ops: the attributes that its ops share, and the kernels.
   Where operands are windows of larger tensors, tsr_operand.first says which. */
#ifndef TSR_OPS_CONV_CALL_H
#define TSR_OPS_CONV_CALL_H

#include "ops/convolution/conv.h"
#include "kernel/kernel.h"

#define TSR_CONV_ATTRS                                                                             \
    "stride:ints,padding:ints,dilation:ints,groups:int=1,transposed:bool=false,output_padding:ints"

/* Their order in a row; an op's own come after them. */
enum {
    TSR_CONV_STRIDE,
    TSR_CONV_PADDING,
    TSR_CONV_DILATION,
    TSR_CONV_GROUPS,
    TSR_CONV_TRANSPOSED,
    TSR_CONV_OUTPUT_PADDING,
    TSR_CONV_OWN
};

/* Attributes of ops with spatial dims: one number for all of them or one for each; none: `usual`.
   The padding may also be given as those before all dims, then those behind. Pure. */
tsr_status tsr__spatial_ints(const char *op, const char *name, const tsr_attr *attr, int ndim,
                             int64_t usual, int64_t *out, tsr_error *err);
tsr_status tsr__spatial_padding(const char *op, const tsr_attr *attr, int ndim, int64_t *lo,
                                int64_t *hi, tsr_error *err);
tsr_status tsr__spatial_dims(const char *op, int ndim, tsr_error *err); /* 1 to 3? */

/* Fills ndim, stride, dilation, paddings, groups and transposed. Pure. */
tsr_status tsr__conv_attrs(const char *op, const tsr_attrs *attrs, int ndim, tsr_conv_shape *out,
                           tsr_error *err);

/* x, weight, bias? -> y;  grad, weight -> grad_x;  x, grad -> grad_weight */
void tsr__kernel_conv(const tsr_kernel_call *call);
tsr_status tsr__prepare_conv(tsr_kernel_call *call, tsr_error *err);
tsr_status tsr__prepare_conv_grad_input(tsr_kernel_call *call, tsr_error *err);
tsr_status tsr__prepare_conv_grad_weight(tsr_kernel_call *call, tsr_error *err);
void tsr__release_conv(tsr_kernel_call *call);

#endif
