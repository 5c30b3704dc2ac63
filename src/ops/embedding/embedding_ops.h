/* SPDX-License-Identifier: Apache-2.0 */
/* embedding_ops.h - lookups in tables, and bags of them: the kernels, runs, gradients and rows of
   the family. Rows end with one without a name. */
#ifndef TSR_OPS_EMBEDDING_OPS_H
#define TSR_OPS_EMBEDDING_OPS_H

#include "op/op.h"

/* Lookups and bags (lookups.c has the inputs; kernels see no attributes of theirs). Numbers:
   rows of the whole table, the padding's row or -1, offsets of the whole list, and attributes that
   are set. Of bags by offsets those of the output, or of the gradient, are meant; the offsets may
   be just theirs and the next. An id out of range is an error that names it. */
enum { TSR_NUMBER_ROWS = 0, TSR_NUMBER_PADDING = 1, TSR_NUMBER_OFFSETS = 2, TSR_NUMBER_FLAGS = 3 };
enum {
    TSR_FLAG_KEEP_PADDING = 1,
    TSR_FLAG_ZERO_OUT_OF_RANGE = 2,
    TSR_FLAG_INCLUDE_LAST = 4,
    TSR_FLAG_LAST = 8,
    TSR_FLAG_SCALE_BY_FREQ = 16
};
void tsr__kernel_embedding(const tsr_kernel_call *call);
void tsr__kernel_embedding_backward(const tsr_kernel_call *call);
void tsr__kernel_bag(const tsr_kernel_call *call);
void tsr__kernel_bag_max(const tsr_kernel_call *call);
void tsr__kernel_bag_backward(const tsr_kernel_call *call);
void tsr__kernel_bag_max_backward(const tsr_kernel_call *call);
void tsr__kernel_bag_weights_backward(const tsr_kernel_call *call);
/* Attributes 0 and 1: the largest norm, and which norm. */
void tsr__kernel_embedding_renorm(const tsr_kernel_call *call);
size_t tsr__scratch_embedding_renorm(const tsr_kernel_call *call);
size_t tsr__scratch_embedding_backward(const tsr_kernel_call *call);
size_t tsr__scratch_bag(const tsr_kernel_call *call);
size_t tsr__scratch_bag_weights_backward(const tsr_kernel_call *call);
size_t tsr__scratch_bag_backward(const tsr_kernel_call *call);
size_t tsr__scratch_bag_max_backward(const tsr_kernel_call *call);

/* row_exchange.c: the run of all lookups, bags and their gradients. */
tsr_status tsr__run_lookup(const tsr_run_call *call, tsr_error *err);
/* bag_weights.c: that of bag_weights_backward. */
tsr_status tsr__run_bag_weights(const tsr_run_call *call, tsr_error *err);

extern const tsr_op tsr__ops_embedding[];

#endif
