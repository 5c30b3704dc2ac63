/* SPDX-License-Identifier: Apache-2.0 */
/* indexing_ops.h - indexing, sorting and topk: the runs, gradients and rows of the family. Rows end
   with one without a name. */
#ifndef TSR_OPS_INDEXING_OPS_H
#define TSR_OPS_INDEXING_OPS_H

#include "op/op.h"

/* slices.c: the run of index_select; indexing_ops.c: the mesh dims along which slices travel, and
   the dim that they are of. */
tsr_status tsr__run_select(const tsr_run_call *call, tsr_error *err);
unsigned tsr__select_mdims(const tsr_schema *s, const tsr_spec *in, int *dim);
/* top_merge.c: the run of topk; ordering_ops.c: the mesh dims along which ranks hold parts of one
   line. */
tsr_status tsr__run_topk(const tsr_run_call *call, tsr_error *err);
unsigned tsr__topk_mdims(const tsr_schema *s, const tsr_spec *in);

/* index_grad.c */
tsr_status tsr__grad_take(const tsr_grad_call *call);
tsr_status tsr__grad_scatter(const tsr_grad_call *call);
tsr_status tsr__grad_scatter_add(const tsr_grad_call *call);

extern const tsr_op tsr__ops_indexing[];
extern const tsr_op tsr__ops_ordering[];

#endif
