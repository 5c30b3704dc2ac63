/* SPDX-License-Identifier: Apache-2.0 */
/* creation.h - kernels that fill output 0 by formulas of its elements' places; what input 0 holds
   does not count. Numbers: the sizes of the whole tensor. */
#ifndef TSR_OPS_CREATION_H
#define TSR_OPS_CREATION_H

#include "kernel/kernel.h"

void tsr__kernel_formula(
    const tsr_kernel_call *call); /* arange: start, step; linspace: start, stop */
void tsr__kernel_eye(const tsr_kernel_call *call);

#endif
