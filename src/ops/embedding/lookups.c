/* SPDX-License-Identifier: Apache-2.0 */
/* lookups.c - rows of lookups in a table, bags of them, and their gradients: what stands in them is
   in lookup_shapes.c, lookup_rules.c and lookup_parts.c; what they are tried on is here. */
#include "ops/embedding/embedding_ops.h"
#include "ops/embedding/lookups.h"

static const char *const lookup_cases[] = {
    "f64[10,4] i64[6]<10",
    "f64[9,5] i64[7]<9",
    "f64[10,4] i64[4,6]<10",
    "f64[9,5] i64[5,3]<9",
    "f64[10,4] i64[6]<10 padding_idx=-2",
    "f64[9,5] i64[7]<9 padding_idx=-2",
    NULL,
};
static const char *const lookup_backward_cases[] = {
    "f64[6,4] i64[6]<10 rows=10",
    "f64[7,5] i64[7]<10 rows=10",
    "f64[4,6,2] i64[4,6]<9 rows=9",
    "f64[5,3,7] i64[5,3]<9 rows=9",
    "f64[6,4] i64[6]<10 rows=10 scale_grad_by_freq=true padding_idx=3",
    "f64[7,5] i64[7]<10 rows=10 scale_grad_by_freq=true padding_idx=3",
    NULL,
};
static const char *const bag_sum_cases[] = {
    "f64[10,4] i64[4,6]<10",
    "f64[9,5] i64[5,3]<9",
    "f64[10,4] i64[12]<10 i64[6]/12",
    "f64[9,5] i64[12]<9 i64[5]/12",
    "f64[10,4] i64[12]<10 i64[7]/12 f64[12] include_last=true",
    "f64[9,5] i64[12]<9 i64[6]/12 f64[12] include_last=true",
    "f64[10,4] i64[4,6]<10 - f64[4,6]",
    "f64[9,5] i64[5,3]<9 - f64[5,3]",
    NULL,
};
static const char *const bag_cases[] = {
    "f64[10,4] i64[4,6]<10",
    "f64[9,5] i64[5,3]<9",
    "f64[10,4] i64[12]<10 i64[6]/12 padding_idx=3",
    "f64[9,5] i64[12]<9 i64[5]/12 padding_idx=3",
    "f64[10,4] i64[12]<10 i64[7]/12 include_last=true",
    "f64[9,5] i64[12]<9 i64[6]/12 include_last=true",
    NULL,
};
static const char *const bag_sum_backward_cases[] = {
    "f64[4,6] i64[4,6]<10 rows=10",
    "f64[5,3] i64[5,3]<10 rows=10",
    "f64[6,4] i64[12]<10 i64[6]/12 rows=10",
    "f64[5,3] i64[12]<10 i64[5]/12 rows=10",
    "f64[6,4] i64[12]<10 i64[7]/12 f64[12] rows=10 include_last=true",
    "f64[5,3] i64[12]<10 i64[6]/12 f64[12] rows=10 include_last=true",
    "f64[4,6] i64[4,6]<10 - f64[4,6] rows=10",
    "f64[5,7] i64[5,3]<10 - f64[5,3] rows=10",
    "f64[4,6] i64[4,6]<10 rows=10 scale_grad_by_freq=true",
    "f64[5,3] i64[5,3]<10 rows=10 scale_grad_by_freq=true",
    "f64[6,4] i64[12]<10 i64[7]/12 rows=10 scale_grad_by_freq=true include_last=true",
    "f64[5,3] i64[12]<10 i64[6]/12 rows=10 scale_grad_by_freq=true include_last=true",
    NULL,
};
static const char *const bag_mean_backward_cases[] = {
    "f64[4,6] i64[4,6]<10 rows=10",
    "f64[5,3] i64[5,3]<10 rows=10",
    "f64[6,4] i64[12]<10 i64[6]/12 rows=10 padding_idx=3",
    "f64[5,3] i64[12]<10 i64[5]/12 rows=10 padding_idx=3",
    "f64[6,4] i64[12]<10 i64[7]/12 rows=10 include_last=true",
    "f64[5,3] i64[12]<10 i64[6]/12 rows=10 include_last=true",
    NULL,
};
static const char *const bag_max_backward_cases[] = {
    "f64[4,6] i64[4,6]<10 rows=10",
    "f64[5,3] i64[5,3]<10 rows=10",
    "f64[4,6] i64[4,6]<10 rows=10 padding_idx=3",
    "f64[5,3] i64[5,3]<10 rows=10 padding_idx=3",
    NULL,
};
static const char *const renorm_cases[] = {
    "f64[10,4] i64[6]<10 max_norm=1.5",
    "f64[9,5] i64[7]<9 max_norm=1.5",
    "f64[10,4] i64[6]<10 max_norm=1.5 norm_type=1",
    "f64[9,5] i64[7]<9 max_norm=1.5 norm_type=1",
    NULL,
};
static const char *const weights_backward_cases[] = {
    "f64[4,6] f64[10,6] i64[4,2]<10",
    "f64[5,3] f64[9,3] i64[5,7]<9",
    "f64[6,4] f64[10,4] i64[12]<10 i64[6]/12",
    "f64[5,3] f64[9,3] i64[12]<9 i64[5]/12",
    "f64[6,4] f64[10,4] i64[12]<10 i64[7]/12 include_last=true",
    "f64[5,3] f64[9,3] i64[12]<9 i64[6]/12 include_last=true",
    NULL,
};

/* Attributes. Functions here and in run/ find them by name, kernels get numbers
   (lookup_parts.c). */
#define LOOKUP_ATTRS "padding_idx:int,zero_out_of_range:bool=false,keep_padding:bool=false"
#define BAG_ATTRS "padding_idx:int,zero_out_of_range:bool=false,include_last:bool=false"
#define FOR_GRAD ",scale_grad_by_freq:bool=false" /* the lookup does not care, its gradient does */
#define GRAD_ATTRS                                                                                 \
    "rows:int,padding_idx:int,zero_out_of_range:bool=false,scale_grad_by_freq:bool=false"

/* All lookups have the first two in the same places, bags the third, all but bag_max the fourth;
   gradients have those of bag_sum's, or the first of them. */
_Static_assert(
    (int)TSR_ATTR_BAG_SUM_ZERO_OUT_OF_RANGE == TSR_ATTR_EMBEDDING_ZERO_OUT_OF_RANGE &&
        (int)TSR_ATTR_BAG_SUM_ZERO_OUT_OF_RANGE == TSR_ATTR_BAG_MAX_ZERO_OUT_OF_RANGE &&
        (int)TSR_ATTR_BAG_SUM_INCLUDE_LAST == TSR_ATTR_BAG_MAX_INCLUDE_LAST &&
        (int)TSR_ATTR_BAG_SUM_SCALE_GRAD_BY_FREQ == TSR_ATTR_EMBEDDING_SCALE_GRAD_BY_FREQ &&
        (int)TSR_ATTR_BAG_SUM_BACKWARD_SCALE_GRAD_BY_FREQ ==
            TSR_ATTR_EMBEDDING_BACKWARD_SCALE_GRAD_BY_FREQ &&
        (int)TSR_ATTR_BAG_SUM_BACKWARD_INCLUDE_LAST == TSR_ATTR_BAG_MEAN_BACKWARD_INCLUDE_LAST &&
        (int)TSR_ATTR_BAG_SUM_BACKWARD_PADDING_IDX == TSR_ATTR_BAG_MAX_BACKWARD_PADDING_IDX,
    "rows of lookups share places");

static tsr_attr number(int64_t value)
{
    return (tsr_attr){.n = 1, .i = {value}};
}

void tsr__lookup_attrs(int kind, int64_t rows, const tsr_embedding_opts *opts,
                       tsr_attr out[TSR__LOOKUP_ATTRS])
{
    const tsr_embedding_opts usual = tsr_embedding_opts_default();
    const tsr_embedding_opts *o = opts && kind != TSR_EMBEDDING_BAG_MAX_BACKWARD ? opts : &usual;
    const tsr_attr padding = o->has_padding_idx ? number(o->padding_idx) : (tsr_attr){.n = -1};

    if (tsr__lookup_is_backward(kind)) {
        out[TSR_ATTR_BAG_SUM_BACKWARD_ROWS] = number(rows);
        out[TSR_ATTR_BAG_SUM_BACKWARD_PADDING_IDX] = padding;
        out[TSR_ATTR_BAG_SUM_BACKWARD_ZERO_OUT_OF_RANGE] = number(o->zero_out_of_range);
        out[TSR_ATTR_BAG_SUM_BACKWARD_SCALE_GRAD_BY_FREQ] = number(o->scale_grad_by_freq);
        out[TSR_ATTR_BAG_SUM_BACKWARD_INCLUDE_LAST] = number(o->include_last);
        return;
    }
    out[TSR_ATTR_BAG_SUM_PADDING_IDX] = padding;
    out[TSR_ATTR_BAG_SUM_ZERO_OUT_OF_RANGE] = number(o->zero_out_of_range);
    out[TSR_ATTR_BAG_SUM_INCLUDE_LAST] = number(o->include_last);
    out[TSR_ATTR_BAG_SUM_SCALE_GRAD_BY_FREQ] = number(o->scale_grad_by_freq);
    if (kind == TSR_EMBEDDING)
        out[TSR_ATTR_EMBEDDING_KEEP_PADDING] = number(o->keep_padding);
    if (kind == TSR_EMBEDDING_BAG_MAX)
        out[TSR_ATTR_BAG_MAX_LAST] = number(o->last);
}

tsr_embedding_opts tsr__lookup_opts(int kind, const tsr_attr *attrs)
{
    tsr_embedding_opts o = tsr_embedding_opts_default();

    o.has_padding_idx = attrs[TSR_ATTR_BAG_SUM_PADDING_IDX].n > 0;
    o.padding_idx = o.has_padding_idx ? attrs[TSR_ATTR_BAG_SUM_PADDING_IDX].i[0] : 0;
    o.zero_out_of_range = attrs[TSR_ATTR_BAG_SUM_ZERO_OUT_OF_RANGE].i[0];
    if (kind == TSR_EMBEDDING)
        o.keep_padding = attrs[TSR_ATTR_EMBEDDING_KEEP_PADDING].i[0];
    else
        o.include_last = attrs[TSR_ATTR_BAG_SUM_INCLUDE_LAST].i[0];
    if (kind != TSR_EMBEDDING_BAG_MAX)
        o.scale_grad_by_freq = attrs[TSR_ATTR_BAG_SUM_SCALE_GRAD_BY_FREQ].i[0];
    return o;
}

/* What rows have in common. */
#define LOOKUP .comm = tsr__lookup_comm, .run = tsr__run_lookup
#define BAG                                                                                        \
    LOOKUP, .rule = tsr__bag_rule, .windows = tsr__bag_windows, .scratch = tsr__scratch_bag,       \
        .bind_rank = tsr__lookup_bind_rank
#define BAG_TOTAL                                                                                  \
    BAG, .attrs = BAG_ATTRS FOR_GRAD, .shape = tsr__bag_shape, .kernel = tsr__kernel_bag,          \
        .cross_rank_reduction = true, .in_field = true
#define TABLE_GRAD                                                                                 \
    LOOKUP, .rule = tsr__lookup_backward_rule, .bind_rank = tsr__lookup_backward_bind_rank,        \
        .in_field = true
#define BAG_GRAD                                                                                   \
    TABLE_GRAD, .attrs = GRAD_ATTRS ",include_last:bool=false", .windows = tsr__bag_windows,       \
        .shape = tsr__bag_backward_shape, .kernel = tsr__kernel_bag_backward,                      \
        .scratch = tsr__scratch_bag_backward

const tsr_op tsr__ops_embedding[] = {
    {LOOKUP, .name = "embedding", .kind = TSR_EMBEDDING, .inputs = "table,ids",
     .attrs = LOOKUP_ATTRS FOR_GRAD,
     .doc =
         "Looks up the table's row for every id: out[...,:] = table[ids[...],:]. An out-of-range "
         "id fails on every rank; the message gives the id and its position.",
     .rule = tsr__lookup_rule, .shape = tsr__lookup_shape, .kernel = tsr__kernel_embedding,
     .bind_rank = tsr__lookup_bind_rank,
     .grad_expr = "table: embedding_backward(g, ids, ..., rows=table.shape[0])", .in_field = true,
     .cases = lookup_cases},
    {TABLE_GRAD, .name = "embedding_backward", .kind = TSR_EMBEDDING_BACKWARD, .inputs = "grad,ids",
     .attrs = GRAD_ATTRS,
     .doc =
         "Computes the gradient of an embedding table with the given number of rows. Rows that no "
         "id names are 0.",
     .shape = tsr__lookup_backward_shape, .kernel = tsr__kernel_embedding_backward,
     .scratch = tsr__scratch_embedding_backward, .cases = lookup_backward_cases},
    {BAG_TOTAL, .name = "bag_sum", .kind = TSR_EMBEDDING_BAG_SUM,
     .inputs = "table,ids,offsets?,weights?",
     .doc =
         "Sums the rows of each bag, scaled by weights if given. Bags are ids [bags, length], or "
         "ids [n] with offsets [bags]. Padding is skipped; an empty bag gives zeros.",
     .grad_expr = "table: bag_sum_backward(g, ids, offsets, weights, ..., rows=table.shape[0]);"
                  "weights: bag_weights_backward(g, table, ids, offsets, ...)",
     .cases = bag_sum_cases},
    {BAG_TOTAL, .name = "bag_mean", .kind = TSR_EMBEDDING_BAG_MEAN, .inputs = "table,ids,offsets?",
     .doc = "Averages the rows of each bag. Padding is skipped and not counted; an empty bag gives "
            "zeros.",
     .grad_expr = "table: bag_mean_backward(g, ids, offsets, ..., rows=table.shape[0])",
     .cases = bag_cases},
    {BAG, .name = "bag_max", .kind = TSR_EMBEDDING_BAG_MAX, .inputs = "table,ids,offsets?",
     .attrs = BAG_ATTRS ",last:bool=false",
     .doc =
         "Takes the columnwise maximum of each bag's rows, and the row that each one is from, -1 "
         "in an empty bag. The first of equal maxima wins, with last the last.",
     .shape = tsr__bag_max_shape, .kernel = tsr__kernel_bag_max,
     .grad_expr = "table: bag_max_backward(g, out1, rows=table.shape[0])", .cases = bag_cases},
    {BAG_GRAD, .name = "bag_sum_backward", .kind = TSR_EMBEDDING_BAG_SUM_BACKWARD,
     .inputs = "grad,ids,offsets?,weights?",
     .doc = "Computes the gradient of bag_sum's table with the given number of rows.",
     .cases = bag_sum_backward_cases},
    {BAG_GRAD, .name = "bag_mean_backward", .kind = TSR_EMBEDDING_BAG_MEAN_BACKWARD,
     .inputs = "grad,ids,offsets?",
     .doc = "Computes the gradient of bag_mean's table with the given number of rows.",
     .cases = bag_mean_backward_cases},
    {TABLE_GRAD, .name = "bag_max_backward", .kind = TSR_EMBEDDING_BAG_MAX_BACKWARD,
     .inputs = "grad,index", .attrs = "rows:int,padding_idx:int",
     .doc = "Computes the gradient of bag_max's table with the given number of rows, from the row "
            "index that bag_max returned.",
     .shape = tsr__bag_max_backward_shape, .kernel = tsr__kernel_bag_max_backward,
     .scratch = tsr__scratch_bag_max_backward, .cases = bag_max_backward_cases},
    {.name = "embedding_renorm",
     .kind = TSR_EMBEDDING_RENORM,
     .inputs = "table,ids",
     .attrs = "max_norm:float,norm_type:float=2",
     .doc = "Scales the table's rows that ids name down to a p-norm of at most max_norm, in place.",
     .rule = tsr__renorm_rule,
     .shape = tsr__renorm_shape,
     .kernel = tsr__kernel_embedding_renorm,
     .scratch = tsr__scratch_embedding_renorm,
     .bind_rank = tsr__lookup_bind_rank,
     .inplace = true,
     .cases = renorm_cases},
    {.name = "bag_weights_backward",
     .kind = TSR_EMBEDDING_BAG_WEIGHTS_BACKWARD,
     .inputs = "grad,table,ids,offsets?",
     .attrs = BAG_ATTRS,
     .doc = "Computes the gradient of bag_sum's weights.",
     .rule = tsr__weights_backward_rule,
     .comm = tsr__weights_comm,
     .windows = tsr__bag_windows,
     .shape = tsr__weights_backward_shape,
     .kernel = tsr__kernel_bag_weights_backward,
     .scratch = tsr__scratch_bag_weights_backward,
     .bind_rank = tsr__weights_bind_rank,
     .run = tsr__run_bag_weights,
     .in_field = true,
     .cases = weights_backward_cases},
    {0},
};
