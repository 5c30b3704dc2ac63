/* SPDX-License-Identifier: Apache-2.0 */
/* pooling_call.h - pooling as kernels of ops: the attributes that its ops share, and the kernels.
   Where operands are windows of larger tensors, tsr_operand.first says which. */
#ifndef TSR_OPS_POOLING_CALL_H
#define TSR_OPS_POOLING_CALL_H

#include "kernel/kernel.h"
#include "kernel/kinds.h"
#include "ops/convolution/pooling.h"

#define TSR_POOLING_ATTRS "kernel:ints,stride:ints,padding:ints,dilation:ints,ceil:bool=false"

/* Their order in a row; count_include_pad is that of averages, `input` that of gradients. */
enum {
    TSR_POOLING_KERNEL,
    TSR_POOLING_STRIDE,
    TSR_POOLING_PADDING,
    TSR_POOLING_DILATION,
    TSR_POOLING_CEIL,
    TSR_POOLING_OWN
};

/* Fills ndim, kernel, stride (that of the kernel unless given), dilation, paddings and ceil. Pure.
   */
tsr_status tsr__pooling_attrs(const char *op, const tsr_attrs *attrs, int ndim,
                              tsr_pooling_shape *out, tsr_error *err);

/* By tsr_pooling_kind: x -> y, index; x -> y; grad, index -> grad_x; grad -> grad_x. Numbers 0
   to 2 are the sizes of the whole input; attribute OWN says of averages whether padding counts.
   */
void tsr__kernel_pool(const tsr_kernel_call *call);
/* Do the operands of a rank fit together? For both directions. */
tsr_status tsr__prepare_pool(tsr_kernel_call *call, tsr_error *err);

#endif
