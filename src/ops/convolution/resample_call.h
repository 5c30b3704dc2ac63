/* SPDX-License-Identifier: Apache-2.0 */
/* resample_call.h - resampling as a kernel of ops. */
#ifndef TSR_OPS_RESAMPLE_CALL_H
#define TSR_OPS_RESAMPLE_CALL_H

#include "kernel/kernel.h"
#include "ops/convolution/resample.h"

/* Numbers of a call: per spatial dim the whole sizes of the input and of the output, then what it
   is. */
enum {
    TSR_RESAMPLE_IN = 0,
    TSR_RESAMPLE_OUT = TSR_CONV_DIMS,
    TSR_RESAMPLE_KIND = 2 * TSR_CONV_DIMS, /* tsr_resample_kind */
    TSR_RESAMPLE_BACK                      /* is it the gradient? */
};

/* x -> y, or grad -> grad_x; operands may be windows, tsr_operand.first says which. */
void tsr__kernel_resample(const tsr_kernel_call *call);
tsr_status tsr__prepare_resample(tsr_kernel_call *call, tsr_error *err);

#endif
