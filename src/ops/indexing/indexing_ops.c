/* SPDX-License-Identifier: Apache-2.0 */
/* indexing_ops.c - rows that read, write or add elements by indices along one dim, and one_hot. All
   other dims shard freely. Along the indexed dim, x may be sharded too: a rank reads zeros for what
   others have, and the sum is pending; or it writes what it has. Indices are sharded like what
   comes out; where values are added, the sum is pending then. Slices of index_select may also
   travel, from the ranks that have them to those that have the indices (ops/indexing/slices.c). */
#include <inttypes.h>

#include "base/reduce.h"
#include "kernel/kinds.h"
#include "ops/indexing/indexing.h"
#include "layout/cost.h"
#include "layout/layout.h"
#include "ops/indexing/indexing_ops.h"
#include "ops/indexing/indexing_attrs.h"
#include "op/infer.h"
#include "op/row_parts.h"
#include "op/schema.h"

enum { X = 0, INDEX = 1, SRC = 2 };

static bool adds(const tsr_schema *s)
{
    return s->op->linear;
}

static bool writes(const tsr_schema *s)
{
    return tsr__op_inputs(s->op) > SRC;
}

static bool by_list(const tsr_schema *s)
{
    return s->op->kind == TSR_INDEX_SELECT || s->op->kind == TSR_INDEX_ADD;
}

static tsr_status dim_of(const tsr_schema *s, int *dim, tsr_error *err)
{
    return tsr__dim_normalise(s, tsr_schema_attr(s, "dim")->i[0], s->in[X].shape.ndim, dim, err);
}

/* Indices are known by where they begin, so the indexed dim of x is not cut into strides. */
static tsr_rule_placement plain(int dim)
{
    return (tsr_rule_placement){.place = {.kind = TSR_SHARD, .dim = dim}};
}

/* ---- shapes ---- */

static tsr_status check_index(const tsr_schema *s, int k, tsr_error *err)
{
    char text[2 * TSR_TEXT_LEN];

    if (s->in[k].dtype == TSR_I32 || s->in[k].dtype == TSR_I64)
        return TSR_OK;
    return tsr__fail(err, TSR_ERR_DTYPE, "%s: indices must be i32 or i64 in %s", s->op->name,
                     tsr_schema_text(s, text, sizeof text));
}

static tsr_status shapes_wrong(const tsr_schema *s, const char *what, tsr_error *err)
{
    char text[2 * TSR_TEXT_LEN];

    return tsr__fail(err, TSR_ERR_SHAPE, "%s: %s in %s", s->op->name, what,
                     tsr_schema_text(s, text, sizeof text));
}

static tsr_status check_src(const tsr_schema *s, tsr_error *err)
{
    char text[2 * TSR_TEXT_LEN];

    if (s->in[SRC].dtype != s->in[X].dtype)
        return tsr__fail(err, TSR_ERR_DTYPE, "%s: dtypes of src and x differ in %s", s->op->name,
                         tsr_schema_text(s, text, sizeof text));
    if (adds(s) && s->in[X].dtype == TSR_BOOL)
        return tsr__fail(err, TSR_ERR_DTYPE, "%s: bool cannot be added, %s", s->op->name,
                         tsr_schema_text(s, text, sizeof text));
    return TSR_OK;
}

/* The index has as many dims as x and, but for the indexed one, at most its sizes; src has at least
   those of the index. */
static tsr_status gather_map_shape(tsr_schema *s, tsr_error *err)
{
    const tsr_shape *x = &s->in[X].shape, *index = &s->in[INDEX].shape, *src = &s->in[SRC].shape;
    int dim;
    tsr_status st;

    TSR_TRY(check_index(s, INDEX, err));
    if (writes(s))
        TSR_TRY(check_src(s, err));
    TSR_TRY(dim_of(s, &dim, err));
    if (index->ndim != x->ndim || (writes(s) && src->ndim != x->ndim))
        return shapes_wrong(s, "the numbers of dims differ", err);
    for (int d = 0; d < x->ndim; d++) {
        if (d != dim && index->size[d] > x->size[d])
            return shapes_wrong(s, "the index is larger than x in a dim that is not indexed", err);
        if (writes(s) && index->size[d] > src->size[d])
            return shapes_wrong(s, "the index is larger than src", err);
    }
    s->out_dtype[0] = s->in[X].dtype;
    s->out_shape[0] = writes(s) ? *x : *index;
done:
    return st;
}

static tsr_status list_shape(tsr_schema *s, tsr_error *err)
{
    const tsr_shape *ids = &s->in[INDEX].shape;
    tsr_shape values = s->in[X].shape;
    int dim;
    tsr_status st;

    TSR_TRY(check_index(s, INDEX, err));
    if (writes(s))
        TSR_TRY(check_src(s, err));
    TSR_TRY(dim_of(s, &dim, err));
    if (ids->ndim != 1)
        return shapes_wrong(s, "the index must be 1-D", err);
    values.size[dim] = ids->size[0];
    if (writes(s) && !tsr_shape_equal(&values, &s->in[SRC].shape))
        return shapes_wrong(s, "src must be of x's shape, with as many indices along dim as ids",
                            err);
    s->out_dtype[0] = s->in[X].dtype;
    s->out_shape[0] = writes(s) ? s->in[X].shape : values;
done:
    return st;
}

static tsr_status take_shape(tsr_schema *s, tsr_error *err)
{
    tsr_status st;

    TSR_TRY(check_index(s, INDEX, err));
    s->out_dtype[0] = s->in[X].dtype;
    s->out_shape[0] = s->in[INDEX].shape;
done:
    return st;
}

static tsr_status one_hot_shape(tsr_schema *s, tsr_error *err)
{
    const tsr_attr *classes = tsr_schema_attr(s, "classes"), *dtype = tsr_schema_attr(s, "dtype");
    tsr_shape out = s->in[0].shape;
    tsr_status st;

    TSR_TRY(check_index(s, 0, err));
    if (classes->n < 0)
        return tsr__fail(err, TSR_ERR_ARG, "one_hot: missing required attribute classes");
    if (classes->i[0] < 0)
        return tsr__fail(err, TSR_ERR_ARG, "one_hot: classes is %" PRId64 ", must be at least 0",
                         classes->i[0]);
    TSR_TRY(tsr__dtype_given(s, dtype, &s->out_dtype[0], err));
    if (out.ndim == TSR_MAX_DIM)
        return tsr__fail(err, TSR_ERR_SHAPE,
                         "one_hot: the result would have %d dims, at most %d are supported",
                         out.ndim + 1, TSR_MAX_DIM);
    out.size[out.ndim++] = classes->i[0];
    s->out_shape[0] = out;
done:
    return st;
}

/* ---- rules ---- */

static bool has_sums(const tsr_schema *s)
{
    return tsr__reduce_check(s->in[X].dtype, TSR_SUM, NULL) == TSR_OK;
}

/* Elements are only moved: every reduction of x (and src) passes. */
static tsr_status moved_partials(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (int reduce = TSR_SUM; reduce <= TSR_PROD; reduce++) {
        const tsr_rule_placement mark = tsr_rule_partial((tsr_reduce)reduce);
        tsr_rule rule = {.in = {mark}, .out = {mark}};

        if (writes(s))
            rule.in[SRC] = mark;
        if (tsr__reduce_check(s->in[X].dtype, (tsr_reduce)reduce, NULL) == TSR_OK)
            TSR_TRY(tsr_rule_add(out, &rule, err));
    }
done:
    return st;
}

/* Each rank looks up what it has along dim, zeros elsewhere. */
static tsr_status add_owners(const tsr_schema *s, int dim, tsr_rules *out, tsr_error *err)
{
    const tsr_rule rule = {.in = {plain(dim)}, .out = {tsr_rule_partial(TSR_SUM)}};

    return has_sums(s) ? tsr_rule_add(out, &rule, err) : TSR_OK;
}

static tsr_status gather_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    const tsr_shape *x = &s->in[X].shape, *index = &s->in[INDEX].shape;
    int dim;
    tsr_status st;

    TSR_TRY(dim_of(s, &dim, err));
    TSR_TRY(moved_partials(s, out, err));
    for (int d = 0; d < x->ndim; d++) {
        tsr_rule rule = {.in = {[INDEX] = tsr_rule_shard(d)}, .out = {tsr_rule_shard(d)}};

        if (d == dim && s->op->kind == TSR_INDEX_SCATTER_BACKWARD)
            continue; /* who writes last is seen in a whole line */
        if (d != dim && x->size[d] == index->size[d])
            rule.in[X] = tsr_rule_shard(d);
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
    TSR_TRY(add_owners(s, dim, out, err));
done:
    return st;
}

static tsr_status select_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    int dim;
    tsr_status st;

    TSR_TRY(dim_of(s, &dim, err));
    TSR_TRY(moved_partials(s, out, err));
    for (int d = 0; d < s->in[X].shape.ndim; d++) {
        tsr_rule rule = {.out = {tsr_rule_shard(d)}};

        rule.in[d == dim ? INDEX : X] = tsr_rule_shard(d == dim ? 0 : d);
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
    TSR_TRY(add_owners(s, dim, out, err));
    TSR_TRY(tsr_rule_add(out, &(tsr_rule){.in = {plain(dim), plain(0)}, .out = {plain(dim)}}, err));
done:
    return st;
}

unsigned tsr__select_mdims(const tsr_schema *s, const tsr_spec *in, int *dim)
{
    *dim = 0;
    dim_of(s, dim, NULL); /* shape has checked it */
    return tsr__sharded_mdims(&in[X], 1u << *dim) & tsr__sharded_mdims(&in[INDEX], 1);
}

/* Each index goes to the slice's owner, and the slice comes: two exchanges of all pairs, and a
   number for how many there are. Nobody knows how often an index is there. */
static tsr_comm select_comm(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                            const tsr_cost *cost)
{
    const int first[TSR_MAX_MESH] = {0};
    const tsr_layout index = tsr__layout_of(&in[INDEX]), y = tsr__layout_of(&out[0]);
    const tsr_shape indices = tsr__layout_local_shape(&index, first);
    const tsr_shape here = tsr__layout_local_shape(&y, first);
    const double bytes = 8.0 * (double)tsr_shape_count(&indices) +
                         (double)tsr_shape_count(&here) * (double)tsr_dtype_size(out[0].dtype);
    tsr_move move = {.kind = TSR_STEP_EXCHANGE};
    int dim;

    move.mdims = tsr__select_mdims(s, in, &dim);
    if (!move.mdims)
        return (tsr_comm){0};
    move.group = tsr__ranks_along(&in[X], move.mdims);
    move.bytes = (move.group - 1) * (bytes / move.group + 8);
    move.peers = 2 * (move.group - 1);
    move.key = tsr__spec_hash(&in[X]) ^ tsr__spec_hash(&in[INDEX]);
    return (tsr_comm){tsr__move_seconds(cost, &move), move.bytes};
}

static tsr_status take_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    tsr_status st;

    TSR_TRY(moved_partials(s, out, err));
    for (int d = 0; d < s->in[INDEX].shape.ndim; d++) {
        tsr_rule rule = {.in = {[INDEX] = tsr_rule_shard(d)}, .out = {tsr_rule_shard(d)}};
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
    for (int d = 0; d < s->in[X].shape.ndim && has_sums(s); d++) {
        tsr_rule rule = {.in = {plain(d)}, .out = {tsr_rule_partial(TSR_SUM)}};
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
done:
    return st;
}

/* Where x is sharded, each rank writes what it has; but for the indexed dim, the index must be cut
   alike. Sums may also be cut along the values of a line: x is a pending sum then, or it would be
   added once per rank. */
static tsr_status written_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    const tsr_shape *x = &s->in[X].shape, *src = &s->in[SRC].shape, *index = &s->in[INDEX].shape;
    int dim;
    tsr_status st = TSR_OK;

    if (!adds(s))
        TSR_TRY(moved_partials(s, out, err));
    TSR_TRY(dim_of(s, &dim, err));
    for (int d = 0; d < x->ndim; d++) {
        const tsr_rule_placement shard = tsr_rule_shard(d);
        const bool list = by_list(s);
        const int64_t anchor = list ? src->size[d] : index->size[d];
        tsr_rule rule = {.in = {d == dim ? plain(d) : shard}, .out = {d == dim ? plain(d) : shard}};

        if (d != dim && !list)
            rule.in[INDEX] = shard;
        if (d != dim && src->size[d] == x->size[d])
            rule.in[SRC] = shard;
        if (d == dim || anchor == x->size[d])
            TSR_TRY(tsr_rule_add(out, &rule, err));
    }
    if (adds(s)) {
        tsr_rule rule = {.in = {tsr_rule_partial(TSR_SUM), tsr_rule_shard(by_list(s) ? 0 : dim)},
                         .out = {tsr_rule_partial(TSR_SUM)}};

        if (src->size[dim] == index->size[by_list(s) ? 0 : dim])
            rule.in[SRC] = tsr_rule_shard(dim);
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
done:
    return st;
}

static tsr_status one_hot_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    const int ndim = s->in[0].shape.ndim;
    tsr_rule rule;
    tsr_status st = TSR_OK;

    for (int d = 0; d < ndim; d++) {
        rule = (tsr_rule){.in = {tsr_rule_shard(d)}, .out = {tsr_rule_shard(d)}};
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
    rule = (tsr_rule){.out = {tsr_rule_shard(ndim)}}; /* each rank has some classes */
    TSR_TRY(tsr_rule_add(out, &rule, err));
done:
    return st;
}

/* ---- on one rank ---- */

static int64_t sharded_dims(const tsr_spec *spec)
{
    int64_t mask = 0;

    for (int m = 0; m < spec->mesh.ndim; m++)
        if (spec->mesh.size[m] > 1 &&
            (spec->place[m].kind == TSR_SHARD || spec->place[m].kind == TSR_STRIDED))
            mask |= INT64_C(1) << spec->place[m].dim;
    return mask;
}

/* The numbers of ops/indexing/indexing.h. */
static void gather_map_bind_rank(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                                 const int *coord, tsr_kernel_call *call)
{
    const tsr_spec *values = writes(s) ? &in[SRC] : &out[0];
    int64_t *number = call->number;
    int dim = 0;

    (void)coord;
    dim_of(s, &dim, NULL); /* shape has checked it */
    number[TSR_INDEXING_X] = sharded_dims(writes(s) ? &out[0] : &in[X]);
    number[TSR_INDEXING_ANCHOR] = sharded_dims(&in[INDEX]);
    number[TSR_INDEXING_VALUES] = sharded_dims(values);
    number[TSR_INDEXING_SIZE] = s->in[X].shape.size[dim];
    if (by_list(s)) {
        const int64_t own = INT64_C(1) << dim;
        const int64_t ids = number[TSR_INDEXING_ANCHOR] & 1 ? own : 0;

        number[TSR_INDEXING_ANCHOR] = (number[TSR_INDEXING_VALUES] & ~own) | ids;
    }
}

static void one_hot_bind_rank(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                              const int *coord, tsr_kernel_call *call)
{
    (void)in;
    (void)out;
    (void)coord;
    call->number[0] = s->out_shape[0].size[s->out_shape[0].ndim - 1];
    call->attrs.value[TSR_ATTR_ONE_HOT_CLASSES].i[0] =
        call->out[0].shape.size[call->out[0].shape.ndim - 1];
}

/* ---- rows ---- */

static const char *const gather_cases[] = {"f64[4,6] i64[4,6]<4 dim=0", "f64[5,3] i64[5,3]<5 dim=0",
                                           "f64[4,6,2] i64[4,3,2]<6 dim=1",
                                           "f64[5,7,3] i64[3,4,3]<7 dim=1", NULL};
static const char *const select_cases[] = {"f64[8,4] i64[6]<8", "f64[9,5] i64[7]<9",
                                           "f64[4,6,2] i64[6]<6 dim=-2",
                                           "f64[5,3,7] i64[5]<3 dim=-2", NULL};
static const char *const take_cases[] = {"f64[4,6] i64[6]<24", "f64[5,3] i64[7]<15",
                                         "f64[8] i64[4,2]<8", "f64[7] i64[3,5]<7", NULL};
static const char *const scatter_cases[] = {
    "f64[4,6] i64[4,6]<4 f64[4,6] dim=0", "f64[5,3] i64[5,3]<5 f64[5,3] dim=0",
    "f64[4,6] i64[2,4]<6 f64[4,4] dim=1", "f64[5,7] i64[3,3]<7 f64[5,5] dim=1", NULL};
static const char *const scatter_add_cases[] = {
    "f64[4,6] i64[4,6]<4 f64[4,6] dim=0", "f64[5,3] i64[5,3]<5 f64[5,3] dim=0",
    "f64[4,6] i64[2,4]<6 f64[4,4] dim=1", "f64[5,7] i64[3,3]<7 f64[5,5] dim=1", NULL};
static const char *const index_add_cases[] = {
    "f64[8,4] i64[6]<8 f64[6,4]", "f64[9,5] i64[7]<9 f64[7,5]", "f64[4,6] i64[8]<6 f64[4,8] dim=-1",
    "f64[5,3] i64[7]<3 f64[5,7] dim=-1", NULL};
static const char *const scatter_backward_cases[] = {"f64[4,6] i64[4,6]<4", "f64[5,3] i64[5,3]<5",
                                                     "f64[4,6] i64[2,4]<6 dim=1",
                                                     "f64[5,7] i64[3,3]<7 dim=1", NULL};
static const char *const one_hot_cases[] = {"i64[8]<6 classes=6", "i64[7]<6 classes=6",
                                            "i64[4,2]<7 classes=7 dtype=f32",
                                            "i64[5,3]<7 classes=7 dtype=f32", NULL};

/* What rows have in common. */
#define ALONG_DIM                                                                                  \
    .attrs = "dim:dim=0", .positions = true, .bind_rank = gather_map_bind_rank, .in_field = true
#define WRITES ALONG_DIM, .inputs = "x,index,src", .rule = written_rule
#define ADDS                                                                                       \
    WRITES, .linear = "x+src", .monotone = "+x", .kernel = tsr__kernel_index_add,                  \
        .scratch = tsr__scratch_index_add

const tsr_op tsr__ops_indexing[] = {
    {ALONG_DIM, .name = "gather", .kind = TSR_INDEX_GATHER, .inputs = "x,index",
     .params = "x, dim, index",
     .doc = "Gathers elements along dim: for dim 1, out[i][j][k] = x[i][index[i][j][k]][k]. The "
            "index has as many dims as x and is not larger than x in the other dims.",
     .rule = gather_rule, .shape = gather_map_shape, .kernel = tsr__kernel_gather,
     .grad_expr = "x: scatter_add(zeros(x), index, g, ...)", .cases = gather_cases},
    {ALONG_DIM, .name = "index_select", .kind = TSR_INDEX_SELECT, .inputs = "x,index",
     .params = "x, dim, index", .doc = "Selects the slices of x along dim that a 1-D index lists.",
     .rule = select_rule, .comm = select_comm, .shape = list_shape,
     .kernel = tsr__kernel_index_select, .run = tsr__run_select,
     .grad_expr = "x: index_add(zeros(x), index, g, ...)", .cases = select_cases},
    {.name = "take",
     .kind = TSR_INDEX_TAKE,
     .inputs = "x,index",
     .doc = "Takes elements of x, flattened in row-major order, at indices of any shape.",
     .rule = take_rule,
     .positions = true,
     .shape = take_shape,
     .kernel = tsr__kernel_take,
     .bind_rank = tsr__bind_sizes,
     .grad = tsr__grad_take,
     .saves = "index",
     .in_field = true,
     .cases = take_cases},
    {WRITES, .name = "scatter", .kind = TSR_INDEX_SCATTER, .params = "x, dim, index, src",
     .doc = "Writes src into a copy of x along dim: for dim 1, out[i][index[i][j][k]][k] = "
            "src[i][j][k]. If indices repeat, the last write along dim wins. src is at least as "
            "large as the index.",
     .shape = gather_map_shape, .kernel = tsr__kernel_scatter, .grad = tsr__grad_scatter,
     .saves = "index", .cases = scatter_cases},
    {ADDS, .name = "scatter_add", .kind = TSR_INDEX_SCATTER_ADD, .params = "x, dim, index, src",
     .doc =
         "Adds src to a copy of x along dim: for dim 1, out[i][index[i][j][k]][k] += src[i][j][k].",
     .shape = gather_map_shape, .grad = tsr__grad_scatter_add, .saves = "index",
     .cases = scatter_add_cases},
    {ADDS, .name = "index_add", .kind = TSR_INDEX_ADD, .params = "x, dim, index, src",
     .doc = "Adds slices of src to a copy of x at the positions along dim that a 1-D index lists.",
     .shape = list_shape, .grad_expr = "x: g; src: index_select(g, index, ...)",
     .cases = index_add_cases},
    {ALONG_DIM, .name = "scatter_backward", .kind = TSR_INDEX_SCATTER_BACKWARD,
     .inputs = "grad,index", .params = "grad, dim, index",
     .doc =
         "Computes the gradient of scatter's src in the shape of the index; overwritten elements "
         "get 0.",
     .rule = gather_rule, .shape = gather_map_shape, .kernel = tsr__kernel_scatter_backward,
     .scratch = tsr__scratch_scatter_backward, .cases = scatter_backward_cases},
    {.name = "one_hot",
     .kind = TSR_INDEX_ONE_HOT,
     .inputs = "ids",
     .attrs = "classes:int,dtype:dtype=i64",
     .doc = "Encodes each id as a vector of the given number of classes: 1 at the id, 0 elsewhere.",
     .rule = one_hot_rule,
     .positions = true,
     .shape = one_hot_shape,
     .kernel = tsr__kernel_one_hot,
     .bind_rank = one_hot_bind_rank,
     .grad = tsr_grad_none,
     .cases = one_hot_cases},
    {0},
};
