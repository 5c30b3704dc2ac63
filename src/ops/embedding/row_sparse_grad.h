/* SPDX-License-Identifier: Apache-2.0 */
/* row_sparse_grad.h - gradients of tables as touched rows, which go to the tables themselves. */
#ifndef TSR_OPS_ROW_SPARSE_GRAD_H
#define TSR_OPS_ROW_SPARSE_GRAD_H

#include "tape/tape.h"

/* Does this op give a gradient of this watched table (may be NULL) as rows, and is that wanted? */
bool tsr__gives_rows(const tsr_op *op, const tsr_tensor *table);
/* Such a call's, added to those that the table has. Collective. */
tsr_status tsr__row_sparse_give(const tsr_grad_call *call, tsr_tensor *table);
/* All gradients of lookups in several tables. Collective. */
tsr_status tsr__back_group(tsr_ctx *ctx, tsr_taped *node);

#endif
