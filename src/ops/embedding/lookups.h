/* SPDX-License-Identifier: Apache-2.0 */
/* lookups.h - what the rows of lookups.c are made of. Pure. */
#ifndef TSR_OPS_LOOKUPS_H
#define TSR_OPS_LOOKUPS_H

#include "kernel/index_check.h"
#include "kernel/sku.h"
#include "op/op.h"
#include "ops/embedding/embedding_attrs.h"
#include "tessera_ops.h"

/* Inputs of the rows; bag_weights_backward has a table behind the gradient. */
enum { TSR__TABLE = 0, TSR__GRAD = 0, TSR__IDS = 1, TSR__OFFSETS = 2, TSR__WEIGHTS = 3 };

/* The gradient of a table comes out. */
static inline bool tsr__lookup_is_backward(int kind)
{
    return kind == TSR_EMBEDDING_BACKWARD || kind == TSR_EMBEDDING_BAG_SUM_BACKWARD ||
           kind == TSR_EMBEDDING_BAG_MEAN_BACKWARD || kind == TSR_EMBEDDING_BAG_MAX_BACKWARD;
}

static inline bool tsr__lookup_is_mean(int kind)
{
    return kind == TSR_EMBEDDING_BAG_MEAN || kind == TSR_EMBEDDING_BAG_MEAN_BACKWARD;
}

/* The input that has the ids; offsets and weights follow. */
static inline int tsr__lookup_ids(int kind)
{
    return kind == TSR_EMBEDDING_BAG_WEIGHTS_BACKWARD ? 2 : TSR__IDS;
}

/* The tensor that has a row for each lookup or bag: a gradient, or what comes out. */
static inline const tsr_spec *tsr__lookup_rows(int kind, const tsr_spec *in, const tsr_spec *out)
{
    return tsr__lookup_is_backward(kind) || kind == TSR_EMBEDDING_BAG_WEIGHTS_BACKWARD
               ? &in[TSR__GRAD]
               : &out[0];
}

/* lookups.c: values of the attributes, in the order of the row; rows are those of gradients. */
enum { TSR__LOOKUP_ATTRS = TSR_ATTR_BAG_SUM_BACKWARD_INCLUDE_LAST + 1 };
void tsr__lookup_attrs(int kind, int64_t rows, const tsr_embedding_opts *opts,
                       tsr_attr out[TSR__LOOKUP_ATTRS]);
/* The options of a lookup, not a gradient, from its attributes, which stay. */
tsr_embedding_opts tsr__lookup_opts(int kind, const tsr_attr *attrs);

/* lookup_shapes.c */
tsr_status tsr__lookup_shape(tsr_schema *s, tsr_error *err);
tsr_status tsr__lookup_backward_shape(tsr_schema *s, tsr_error *err);
tsr_status tsr__bag_shape(tsr_schema *s, tsr_error *err);
tsr_status tsr__bag_backward_shape(tsr_schema *s, tsr_error *err);
tsr_status tsr__bag_max_shape(tsr_schema *s, tsr_error *err);
tsr_status tsr__bag_max_backward_shape(tsr_schema *s, tsr_error *err);
tsr_status tsr__weights_backward_shape(tsr_schema *s, tsr_error *err);
tsr_status tsr__renorm_shape(tsr_schema *s, tsr_error *err);

/* lookup_rules.c */
tsr_status tsr__lookup_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err);
tsr_status tsr__bag_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err);
tsr_status tsr__lookup_backward_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err);
tsr_status tsr__weights_backward_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err);
tsr_status tsr__renorm_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err);

/* lookup_parts.c: the mesh dims along which rows of the table travel in a strategy, what all that
   moves costs, and what one rank must know. */
unsigned tsr__lookup_mdims(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out);
unsigned tsr__list_mdims(const tsr_spec *list); /* those along which dim 0 is in plain shards */
tsr_comm tsr__weights_comm(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                           const tsr_cost *cost);
tsr_comm tsr__lookup_comm(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                          const tsr_cost *cost);
void tsr__lookup_bind_rank(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                           const int *coord, tsr_kernel_call *call);
void tsr__lookup_backward_bind_rank(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                                    const int *coord, tsr_kernel_call *call);
void tsr__bag_windows(const tsr_schema *s, bool reverse, tsr_windows *out);
void tsr__weights_bind_rank(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                            const int *coord, tsr_kernel_call *call);
/* How ids of a call are checked: NULL if those out of range give zeros. */
const tsr_index_range *tsr__ids_check(const tsr_schema *schema);

#endif
