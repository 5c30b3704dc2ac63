/* SPDX-License-Identifier: Apache-2.0 */
/* merged_dims.h - ops along dims of which ranks hold parts: each makes a few words of its own,
   these are gathered and merged (kernel/merge.h). Pure. */
#ifndef TSR_OPS_MERGED_DIMS_H
#define TSR_OPS_MERGED_DIMS_H

#include "kernel/merge.h"
#include "op/op.h"

/* The dims along which there is something to merge, as a mask: those that are reduced by attribute
   `dims`, or that of attribute `dim`, all if it is left out. */
tsr_status tsr__merged_dims(const tsr_schema *s, unsigned *out, tsr_error *err);
/* The mesh dims that shard them. */
unsigned tsr__merged_mdims(const tsr_schema *s, const tsr_spec *in);

/* reduction.c: the shape of a reduction over these dims, kept as size 1 if attribute `keepdim` is
   true; without a dtype. */
tsr_shape tsr__reduced_shape(const tsr_schema *s, unsigned reduced);
/* Says that a dim among these is empty and has no such `what`. */
tsr_status tsr__not_empty(const tsr_schema *s, unsigned reduced, const char *what, tsr_error *err);

#endif
