/* SPDX-License-Identifier: Apache-2.0 */
/* row_sparse.h - row-sparse gradients of tables. A call here is one of the op that
   gives the dense gradient, with the table in place of its output: its spec is read, not its
   values. */
#ifndef TSR_OPS_ROW_SPARSE_H
#define TSR_OPS_ROW_SPARSE_H

#include "ops/embedding/embedding.h"
#include "run/call_arena.h"
#include "tessera_ext.h"
#include "tessera_ops.h"

/* Where gradients and table are both sharded by rows, ids and gradients travel to the owners, as
   for the dense gradient; else ids and gradients that all ranks have are masked. Collective. */
tsr_status tsr__row_sparse_run(const tsr_run_call *call, tsr_row_sparse *out);

/* Memory for the rows and their values; first is the global number of local row 0.
   Local. */
tsr_status tsr__row_sparse_fill(const tsr_scattered *scatter, tsr_table_grad *grad, int64_t first,
                                const tsr_run_call *call, tsr_row_sparse *out);

/* Before some values of a tensor are changed: its part becomes its own, with what it held, and
   counts as overwritten. Local. */
tsr_status tsr__make_writable(tsr_tensor *x);

/* Before rows of a table are changed: do they fit, and are they here? Its part is its own then, and
   counts as overwritten; *first is the global number of local row 0. Local. */
tsr_status tsr__rows_open(tsr_tensor *table, const tsr_row_sparse *sparse, const char *function,
                          int64_t *first);

/* Let rows be divided by how often each occurs among the terms; the counts are held. */
tsr_status tsr__row_sparse_freq(tsr_call_arena *arena, const tsr_scattered *scatter,
                                tsr_table_grad *grad);

#endif
