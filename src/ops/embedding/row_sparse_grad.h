/* SPDX-License-Identifier: Apache-2.0 */
/* row_sparse_grad.h - row-sparse gradients of tables, which go to the tables
   themselves. */
#ifndef TSR_OPS_ROW_SPARSE_GRAD_H
#define TSR_OPS_ROW_SPARSE_GRAD_H

#include "tape/tape.h"
#include "tessera_ops.h"

/* The tensors of one table in a group, among the inputs of its node. */
enum {
    TSR_USE_TABLE = 0,
    TSR_USE_IDS = 1,
    TSR_USE_OFFSETS = 2,
    TSR_USE_WEIGHTS = 3,
    TSR_USE_INDEX = 4,
    TSR_USE_TENSORS = 5
};

/* Does this op give a gradient of this watched table (may be NULL) as rows, and is that wanted? */
bool tsr__gives_rows(const tsr_op *op, const tsr_tensor *table);
/* Such a call's, added to those that the table has. Collective. */
tsr_status tsr__row_sparse_give(const tsr_grad_call *call, tsr_tensor *table);
/* Room for one more list of rows in a gradient, at leaf->sparse[leaf->n_sparse]. Local. */
tsr_status tsr__leaf_rows_grow(tsr_ctx *ctx, tsr_leaf *leaf);
/* All gradients of lookups in several tables, whose uses the node has. Collective. */
tsr_status tsr__back_group(tsr_ctx *ctx, tsr_taped *node);

/* What the tape remembers of a use in a group besides its tensors; the program's options may be
   gone when it goes back. */
typedef struct tsr_taped_use {
    tsr_bag_mode pooling;
    tsr_embedding_opts opts;
} tsr_taped_use;

#endif
