/* SPDX-License-Identifier: Apache-2.0 */
/* rearrange.h - kernels that only move elements: each element of the output is one of an input.
   Attributes are those of the rows, in their order. Called by the rows of op/. */
#ifndef TSR_OPS_REARRANGE_H
#define TSR_OPS_REARRANGE_H

#include "kernel/kernel.h"

/* Joined along attribute 0, an own dim of the output for stack; of cat, number k is where input k
   begins in the whole output. */
void tsr__kernel_cat(const tsr_kernel_call *call);
void tsr__kernel_stack(const tsr_kernel_call *call);

/* Dims in another order, elements in the same. */
void tsr__kernel_transpose(const tsr_kernel_call *call);
void tsr__kernel_permute(const tsr_kernel_call *call);
void tsr__kernel_reshape(const tsr_kernel_call *call);

/* Elements that repeat: dims of size 1 grow, or all of x stands there several times. */
void tsr__kernel_expand(const tsr_kernel_call *call);
void tsr__kernel_tile(const tsr_kernel_call *call);

/* Some of the elements. Along attribute 0, slice takes whole[number 0 + i * number 1]. */
void tsr__kernel_slice(const tsr_kernel_call *call);
void tsr__kernel_select(const tsr_kernel_call *call);
void tsr__kernel_unfold(const tsr_kernel_call *call);
void tsr__kernel_diagonal(const tsr_kernel_call *call);

/* Backwards along dims, or shifted with what falls out coming in at the other end. */
void tsr__kernel_flip(const tsr_kernel_call *call);
void tsr__kernel_roll(const tsr_kernel_call *call);

#endif
