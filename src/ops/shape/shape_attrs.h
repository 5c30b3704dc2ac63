/* SPDX-License-Identifier: Apache-2.0 */
/* shape_attrs.h - printed by make ops from the rows: where attributes are, by
   name. In-place forms have those of their ops. */
#ifndef TSR_OPS_SHAPE_ATTRS_H
#define TSR_OPS_SHAPE_ATTRS_H

/* cat */
enum { TSR_ATTR_CAT_DIM };

/* stack */
enum { TSR_ATTR_STACK_DIM };

/* transpose */
enum { TSR_ATTR_TRANSPOSE_DIM0, TSR_ATTR_TRANSPOSE_DIM1 };

/* permute */
enum { TSR_ATTR_PERMUTE_DIMS };

/* flip */
enum { TSR_ATTR_FLIP_DIMS };

/* roll */
enum { TSR_ATTR_ROLL_SHIFTS, TSR_ATTR_ROLL_DIMS };

/* expand */
enum { TSR_ATTR_EXPAND_SIZES };

/* tile */
enum { TSR_ATTR_TILE_COUNTS };

/* slice */
enum { TSR_ATTR_SLICE_DIM, TSR_ATTR_SLICE_START, TSR_ATTR_SLICE_STOP, TSR_ATTR_SLICE_STEP };

/* narrow */
enum { TSR_ATTR_NARROW_DIM, TSR_ATTR_NARROW_START, TSR_ATTR_NARROW_LENGTH };

/* select */
enum { TSR_ATTR_SELECT_DIM, TSR_ATTR_SELECT_INDEX };

/* unfold */
enum { TSR_ATTR_UNFOLD_DIM, TSR_ATTR_UNFOLD_SIZE, TSR_ATTR_UNFOLD_STEP };

/* diagonal */
enum { TSR_ATTR_DIAGONAL_OFFSET, TSR_ATTR_DIAGONAL_DIM1, TSR_ATTR_DIAGONAL_DIM2 };

/* pad */
enum { TSR_ATTR_PAD_BEFORE, TSR_ATTR_PAD_AFTER, TSR_ATTR_PAD_VALUE };

/* pad_reflect */
enum { TSR_ATTR_PAD_REFLECT_BEFORE, TSR_ATTR_PAD_REFLECT_AFTER };

/* pad_replicate */
enum { TSR_ATTR_PAD_REPLICATE_BEFORE, TSR_ATTR_PAD_REPLICATE_AFTER };

/* pad_circular */
enum { TSR_ATTR_PAD_CIRCULAR_BEFORE, TSR_ATTR_PAD_CIRCULAR_AFTER };

/* slice_backward */
enum {
    TSR_ATTR_SLICE_BACKWARD_DIM,
    TSR_ATTR_SLICE_BACKWARD_START,
    TSR_ATTR_SLICE_BACKWARD_STEP,
    TSR_ATTR_SLICE_BACKWARD_LENGTH
};

/* unfold_backward */
enum {
    TSR_ATTR_UNFOLD_BACKWARD_DIM,
    TSR_ATTR_UNFOLD_BACKWARD_SIZE,
    TSR_ATTR_UNFOLD_BACKWARD_STEP,
    TSR_ATTR_UNFOLD_BACKWARD_LENGTH
};

/* tril */
enum { TSR_ATTR_TRIL_DIAGONAL };

/* triu */
enum { TSR_ATTR_TRIU_DIAGONAL };

/* split */
enum { TSR_ATTR_SPLIT_SIZES, TSR_ATTR_SPLIT_DIM };

/* chunk */
enum { TSR_ATTR_CHUNK_CHUNKS, TSR_ATTR_CHUNK_DIM };

/* depth_to_space */
enum { TSR_ATTR_DEPTH_TO_SPACE_BLOCK, TSR_ATTR_DEPTH_TO_SPACE_CRD };

/* space_to_depth */
enum { TSR_ATTR_SPACE_TO_DEPTH_BLOCK, TSR_ATTR_SPACE_TO_DEPTH_CRD };

/* reshape */
enum { TSR_ATTR_RESHAPE_SHAPE };

/* squeeze */
enum { TSR_ATTR_SQUEEZE_DIMS };

/* unsqueeze */
enum { TSR_ATTR_UNSQUEEZE_DIMS };

/* flatten */
enum { TSR_ATTR_FLATTEN_START, TSR_ATTR_FLATTEN_END };

#endif
