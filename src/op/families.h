/* SPDX-License-Identifier: Apache-2.0 */
/* families.h - the tables of rows, one per family, each ended by a row without a name; and the
   kernels that the rows name. */
#ifndef TSR_OP_FAMILIES_H
#define TSR_OP_FAMILIES_H

#include "kernel/kernels.h"
#include "kernel/reduce_dims.h"
#include "op/gradients.h"
#include "op/op.h"

/* The run of all lookups, bags and their gradients, src/run/deals.c. */
tsr_status tsr__run_lookup(const tsr_run_call *call, tsr_error *err);
/* That of bag_weights_backward, src/run/bag_weights.c. */
tsr_status tsr__run_bag_weights(const tsr_run_call *call, tsr_error *err);

/* All gradients of a convolution, src/dispatch/typed_convolution.c. */
tsr_status tsr__compose_conv_backward(tsr_tensor *const *in, int n_in, const tsr_attrs *attrs,
                                      tsr_tensor **out, tsr_error *err);

/* Ops on shapes that are made of others, src/dispatch/composed_shapes.c. */
tsr_status tsr__compose_split(tsr_tensor *const *in, int n_in, const tsr_attrs *attrs,
                              tsr_tensor **out, tsr_error *err);
tsr_status tsr__compose_chunk(tsr_tensor *const *in, int n_in, const tsr_attrs *attrs,
                              tsr_tensor **out, tsr_error *err);
tsr_status tsr__compose_depth_to_space(tsr_tensor *const *in, int n_in, const tsr_attrs *attrs,
                                       tsr_tensor **out, tsr_error *err);
tsr_status tsr__compose_space_to_depth(tsr_tensor *const *in, int n_in, const tsr_attrs *attrs,
                                       tsr_tensor **out, tsr_error *err);

/* The run of normalisations and their gradients, src/run/moments.c. */
tsr_status tsr__run_norm(const tsr_run_call *call, tsr_error *err);
/* That of reductions and scans whose parts are merged. */
tsr_status tsr__run_reduction(const tsr_run_call *call, tsr_error *err);

/* op/norms.c: the mesh dims along which ranks hold parts of one statistic. */
unsigned tsr__norm_mdims(const tsr_schema *s, const tsr_spec *in);

/* Those of softmax and its kin, src/run/moments.c, and the mesh dims that cut their rows. */
tsr_status tsr__run_softmax(const tsr_run_call *call, tsr_error *err);
unsigned tsr__softmax_mdims(const tsr_schema *s, const tsr_spec *in);
/* Of op/layer_norms.c the same. */
tsr_status tsr__run_layer_norm(const tsr_run_call *call, tsr_error *err);
unsigned tsr__layer_norm_mdims(const tsr_schema *s, const tsr_spec *in);
/* Of op/attention_op.c: the mesh dims that cut the keys, where that makes numbers travel. */
tsr_status tsr__run_attention(const tsr_run_call *call, tsr_error *err);
unsigned tsr__attention_mdims(const tsr_schema *s, const tsr_spec *in);

/* That of index_select, src/run/slices.c; op/indexing_ops.c: the mesh dims along which slices
   travel, and the dim that they are of. */
tsr_status tsr__run_select(const tsr_run_call *call, tsr_error *err);
unsigned tsr__select_mdims(const tsr_schema *s, const tsr_spec *in, int *dim);

/* That of cross_entropy and nll_loss, src/run/class_merge.c; op/class_losses.c: the mesh dims that
   cut the classes, where that makes numbers travel, and those that cut the rows of a mean. */
tsr_status tsr__run_class_loss(const tsr_run_call *call, tsr_error *err);
void tsr__class_mdims(const tsr_schema *s, const tsr_spec *in, unsigned *classes, unsigned *rows);

/* The run of topk, src/run/top_merge.c; and op/ordering_ops.c: the mesh dims along which ranks hold
   parts of one line. */
tsr_status tsr__run_topk(const tsr_run_call *call, tsr_error *err);
unsigned tsr__topk_mdims(const tsr_schema *s, const tsr_spec *in);

extern const tsr_op tsr__ops_pointwise[];
extern const tsr_op tsr__ops_inplace[]; /* of them, in place: found by name, but not listed */
extern const tsr_op tsr__ops_slopes[];
extern const tsr_op tsr__ops_compare[];
extern const tsr_op tsr__ops_linalg[];
extern const tsr_op tsr__ops_einsum[];
extern const tsr_op tsr__ops_attention[];
extern const tsr_op tsr__ops_reduction[];
extern const tsr_op tsr__ops_merging[];
extern const tsr_op tsr__ops_scan[];
extern const tsr_op tsr__ops_softmax[];
extern const tsr_op tsr__ops_views[];
extern const tsr_op tsr__ops_repeats[];
extern const tsr_op tsr__ops_cuts[];
extern const tsr_op tsr__ops_padding[];
extern const tsr_op tsr__ops_shape_composed[];
extern const tsr_op tsr__ops_reshape[];
extern const tsr_op tsr__ops_embedding[];
extern const tsr_op tsr__ops_convolution[];
extern const tsr_op tsr__ops_pooling[];
extern const tsr_op tsr__ops_resampling[];
extern const tsr_op tsr__ops_norm[];
extern const tsr_op tsr__ops_decomposed[];
extern const tsr_op tsr__ops_layer_norm[];
extern const tsr_op tsr__ops_class_loss[];
extern const tsr_op tsr__ops_pair_loss[];
extern const tsr_op tsr__ops_indexing[];
extern const tsr_op tsr__ops_ordering[];
extern const tsr_op tsr__ops_random[];
extern const tsr_op tsr__ops_creation[];
extern const tsr_op tsr__ops_optimizer[];

#endif
