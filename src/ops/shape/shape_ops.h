/* SPDX-License-Identifier: Apache-2.0 */
/* shape_ops.h - ops that only move, repeat or cut elements: the compositions, gradients and rows of
   the family. Rows end with one without a name. */
#ifndef TSR_OPS_SHAPE_OPS_H
#define TSR_OPS_SHAPE_OPS_H

#include "op/op.h"

/* Slots of rows that only move elements. */
#define TSR_MOVES .permutes = true, .in_field = true

/* composed_shapes.c: ops on shapes that are made of others. */
tsr_status tsr__compose_split(tsr_tensor *const *in, int n_in, const tsr_attrs *attrs,
                              tsr_tensor **out, tsr_error *err);
tsr_status tsr__compose_chunk(tsr_tensor *const *in, int n_in, const tsr_attrs *attrs,
                              tsr_tensor **out, tsr_error *err);
tsr_status tsr__compose_depth_to_space(tsr_tensor *const *in, int n_in, const tsr_attrs *attrs,
                                       tsr_tensor **out, tsr_error *err);
tsr_status tsr__compose_space_to_depth(tsr_tensor *const *in, int n_in, const tsr_attrs *attrs,
                                       tsr_tensor **out, tsr_error *err);

/* shape_grad.c */
tsr_status tsr__grad_cat(const tsr_grad_call *call);
tsr_status tsr__grad_stack(const tsr_grad_call *call);
tsr_status tsr__grad_split(const tsr_grad_call *call);
tsr_status tsr__grad_permute(const tsr_grad_call *call);
tsr_status tsr__grad_tile(const tsr_grad_call *call);
tsr_status tsr__grad_slice(const tsr_grad_call *call);
tsr_status tsr__grad_narrow(const tsr_grad_call *call);
tsr_status tsr__grad_select(const tsr_grad_call *call);
tsr_status tsr__grad_diagonal(const tsr_grad_call *call);
tsr_status tsr__grad_slice_backward(const tsr_grad_call *call);
tsr_status tsr__grad_unfold_backward(const tsr_grad_call *call);
tsr_status tsr__grad_roll(const tsr_grad_call *call);
tsr_status tsr__grad_pad_reflect(const tsr_grad_call *call);
tsr_status tsr__grad_pad_replicate(const tsr_grad_call *call);
tsr_status tsr__grad_pad_circular(const tsr_grad_call *call);

extern const tsr_op tsr__ops_views[];
extern const tsr_op tsr__ops_repeats[];
extern const tsr_op tsr__ops_cuts[];
extern const tsr_op tsr__ops_padding[];
extern const tsr_op tsr__ops_shape_composed[];
extern const tsr_op tsr__ops_reshape[];

#endif
