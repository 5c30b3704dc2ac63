/* SPDX-License-Identifier: Apache-2.0 */
/* row_parts.h - rows and statistics that are cut, so that ranks have numbers of their parts, which
   are gathered and merged: along which mesh dims, and what that costs. Pure. */
#ifndef TSR_OP_ROW_PARTS_H
#define TSR_OP_ROW_PARTS_H

#include "kernel/merge.h"
#include "op/op.h"

/* The mesh dims that shard one of these dims of x, a mask, into more than one part. */
unsigned tsr__sharded_mdims(const tsr_spec *x, unsigned dims);
/* How many ranks there are along these mesh dims. */
int tsr__ranks_along(const tsr_spec *x, unsigned mdims);
/* Every rank receives this many f64 numbers of all others along these mesh dims of x. */
tsr_comm tsr__gather_comm(const tsr_spec *x, unsigned mdims, double numbers, const tsr_cost *cost);
/* What merging costs: the comm of rows with .merge. */
tsr_comm tsr__merge_comm(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                         const tsr_cost *cost);

#endif
