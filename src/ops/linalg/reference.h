/* SPDX-License-Identifier: Apache-2.0 */
/* reference.h - the kernels by their definitions: the oracle for the fast ones, and what runs for
   number types that have no fast one. Same contract as in linalg_ops.h. */
#ifndef TSR_OPS_REFERENCE_H
#define TSR_OPS_REFERENCE_H

#include "kernel/kernel.h"

void tsr__reference_matmul(const tsr_kernel_call *call);
void tsr__reference_linear(const tsr_kernel_call *call);

#endif
