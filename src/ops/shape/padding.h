/* SPDX-License-Identifier: Apache-2.0 */
/* padding.h - kernels that move elements and set others: padding, triangles, and gradients of cuts.
   Attributes are those of the rows, in their order. Called by the rows of op/. */
#ifndef TSR_OPS_PADDING_H
#define TSR_OPS_PADDING_H

#include "kernel/kernel.h"

/* Attributes 0 and 1 are how many indices come before and behind each dim, of pad attribute 2 what
   stands there. Number d is the size of dim d of the whole input. Along dims that are padded, or
   cut, operands are in one piece, and an input holds all that its output needs. */
void tsr__kernel_pad(const tsr_kernel_call *call);

/* tril, triu: x[..., i, j] where j - i is at most attribute 0, or at least; else 0. Operands
   know where they are. */
void tsr__kernel_triangle(const tsr_kernel_call *call);

/* Along attribute 0, whole output [start + p step + k] is the sum over the whole input [p, k], k
   its last dim, which is one index if it has no more dims than the output; else 0. Numbers 0 and 1
   are step and start. Of the input, what it does not hold counts as 0. */
void tsr__kernel_slice_backward(const tsr_kernel_call *call);
void tsr__kernel_unfold_backward(const tsr_kernel_call *call);

#endif
