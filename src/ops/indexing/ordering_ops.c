/* SPDX-License-Identifier: Apache-2.0 */
/* ordering_ops.c - rows of sort and topk. The ordered dim of a sort is blocked; of a topk it may be
   sharded, then only the best of every rank are exchanged. */
#include <inttypes.h>

#include "ops/indexing/ordering.h"
#include "layout/cost.h"
#include "layout/layout.h"
#include "ops/indexing/indexing_ops.h"
#include "op/infer.h"

static tsr_status dim_of(const tsr_schema *s, int *dim, tsr_error *err)
{
    return tsr__dim_normalise(s, tsr_schema_attr(s, "dim")->i[0], s->in[0].shape.ndim, dim, err);
}

static void set_outputs(tsr_schema *s, tsr_shape shape)
{
    s->n_out = 2;
    s->out_dtype[0] = s->in[0].dtype;
    s->out_dtype[1] = TSR_I64;
    s->out_shape[0] = s->out_shape[1] = shape;
}

static tsr_status sort_shape(tsr_schema *s, tsr_error *err)
{
    int dim;
    tsr_status st;

    TSR_TRY(dim_of(s, &dim, err));
    set_outputs(s, s->in[0].shape);
done:
    return st;
}

static tsr_status topk_shape(tsr_schema *s, tsr_error *err)
{
    const tsr_attr *k = tsr_schema_attr(s, "k");
    tsr_shape shape = s->in[0].shape;
    char text[TSR_TEXT_LEN];
    int dim;
    tsr_status st;

    TSR_TRY(dim_of(s, &dim, err));
    if (k->n < 0)
        return tsr__fail(err, TSR_ERR_ARG, "topk: missing required attribute k");
    if (k->i[0] < 0 || k->i[0] > shape.size[dim])
        return tsr__fail(
            err, TSR_ERR_ARG, "topk: k is %" PRId64 ", but dim %d of %s has %" PRId64 " elements",
            k->i[0], dim, tsr_spec_text(&s->in[0], text, sizeof text), shape.size[dim]);
    shape.size[dim] = k->i[0];
    set_outputs(s, shape);
done:
    return st;
}

static tsr_status order_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    int dim;
    tsr_status st;

    TSR_TRY(dim_of(s, &dim, err));
    for (int d = 0; d < s->in[0].shape.ndim; d++) {
        const tsr_rule_placement shard = tsr_rule_shard(d);
        tsr_rule rule = {.in = {shard}, .out = {shard, shard}};

        if (d == dim && !s->op->run)
            continue;
        if (d == dim)
            rule.out[0] = rule.out[1] = (tsr_rule_placement){0};
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
done:
    return st;
}

unsigned tsr__topk_mdims(const tsr_schema *s, const tsr_spec *in)
{
    unsigned mdims = 0;
    int dim = 0;

    dim_of(s, &dim, NULL); /* shape has checked it */
    for (int m = 0; m < in->mesh.ndim; m++)
        if (in->mesh.size[m] > 1 && in->place[m].dim == dim &&
            (in->place[m].kind == TSR_SHARD || in->place[m].kind == TSR_STRIDED))
            mdims |= 1u << m;
    return mdims;
}

/* Every rank gets the candidates of all others. */
static tsr_comm topk_comm(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                          const tsr_cost *cost)
{
    const int first[TSR_MAX_MESH] = {0};
    tsr_layout layout = tsr__layout_of(&out[0]);
    tsr_shape here = tsr__layout_local_shape(&layout, first);
    tsr_move move = {.kind = TSR_STEP_ALL_GATHER, .mdims = tsr__topk_mdims(s, in), .group = 1};

    if (!move.mdims)
        return (tsr_comm){0};
    for (int m = 0; m < in->mesh.ndim; m++)
        move.group *= move.mdims >> m & 1 ? in->mesh.size[m] : 1;
    move.before = (double)sizeof(tsr_candidate) * (double)tsr_shape_count(&here);
    move.after = move.before * move.group;
    move.key = tsr__spec_hash(&in[0]);
    return (tsr_comm){tsr__move_seconds(cost, &move), tsr__move_bytes(&move)};
}

static const char *const sort_cases[] = {"f64[4,6]",
                                         "f64[5,3]",
                                         "f64[4,6] dim=0 descending=true",
                                         "f64[5,3] dim=0 descending=true",
                                         "f64[8] stable=false",
                                         "f64[7] stable=false",
                                         NULL};
static const char *const topk_cases[] = {"f64[4,6] k=2",
                                         "f64[5,7] k=2",
                                         "f64[6,4] k=3 dim=0 largest=false",
                                         "f64[5,3] k=3 dim=0 largest=false",
                                         "f64[20] k=2 sorted=false",
                                         "f64[17] k=2 sorted=false",
                                         NULL};

/* What rows have in common. */
#define ORDER                                                                                      \
    .inputs = "x", .rule = order_rule, .positions = true,                                          \
    .grad_expr = "x: scatter_add(zeros(x), out1, g, ...)"

const tsr_op tsr__ops_ordering[] = {
    {ORDER, .name = "sort", .attrs = "dim:dim=-1,descending:bool=false,stable:bool=true",
     .params = "x, dim, descending, *index",
     .doc =
         "Sorts the elements along dim, and returns their original indices. Always stable; NaN is "
         "greater than any number.",
     .shape = sort_shape, .kernel = tsr__kernel_sort, .scratch = tsr__scratch_sort,
     .cases = sort_cases},
    {ORDER, .name = "topk", .attrs = "k:int,dim:dim=-1,largest:bool=true,sorted:bool=true",
     .params = "x, k, dim, largest, *index",
     .doc =
         "Returns the k largest elements along dim, or the smallest, and their indices. Always "
         "sorted; the first of equal elements comes first. Across shards, only each rank's best k "
         "elements are communicated.",
     .comm = topk_comm, .shape = topk_shape, .kernel = tsr__kernel_topk,
     .scratch = tsr__scratch_topk, .run = tsr__run_topk, .cases = topk_cases},
    {0},
};
