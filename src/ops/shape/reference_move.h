/* SPDX-License-Identifier: Apache-2.0 */
/* reference_move.h - the kernels of rearrange.h by their definitions. Same contract. */
#ifndef TSR_OPS_REFERENCE_MOVE_H
#define TSR_OPS_REFERENCE_MOVE_H

#include "kernel/kernel.h"

void tsr__reference_cat(const tsr_kernel_call *call);
void tsr__reference_stack(const tsr_kernel_call *call);
void tsr__reference_transpose(const tsr_kernel_call *call);
void tsr__reference_permute(const tsr_kernel_call *call);
void tsr__reference_reshape(const tsr_kernel_call *call);
void tsr__reference_expand(const tsr_kernel_call *call);
void tsr__reference_tile(const tsr_kernel_call *call);
void tsr__reference_slice(const tsr_kernel_call *call);
void tsr__reference_select(const tsr_kernel_call *call);
void tsr__reference_unfold(const tsr_kernel_call *call);
void tsr__reference_diagonal(const tsr_kernel_call *call);
void tsr__reference_flip(const tsr_kernel_call *call);
void tsr__reference_roll(const tsr_kernel_call *call);

#endif
