/* SPDX-License-Identifier: Apache-2.0 */
/* lookup_parts.c - of a lookup whose strategy is known: what is exchanged and what that costs, and
   what one rank must know of the whole for its part. Called through the rows of lookups.c, and by
   runs of the family. */
#include <math.h>

#include "layout/cost.h"
#include "layout/layout.h"
#include "ops/embedding/embedding_ops.h"
#include "ops/embedding/lookups.h"
#include "op/row_parts.h"
#include "op/schema.h"
#include "op/windows.h"

/* ---- communication ---- */

unsigned tsr__list_mdims(const tsr_spec *list)
{
    unsigned mdims = 0;

    for (int m = 0; m < list->mesh.ndim; m++)
        if (list->mesh.size[m] > 1 && list->place[m].kind == TSR_SHARD && list->place[m].dim == 0)
            mdims |= 1u << m;
    return mdims;
}

unsigned tsr__lookup_mdims(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out)
{
    bool backward = tsr__lookup_is_backward(s->op->kind);

    return tsr__list_mdims(backward ? &out[0] : &in[TSR__TABLE]) &
           tsr__list_mdims(backward ? &in[TSR__GRAD] : &out[0]);
}

/* Ids go out and rows come back, each once; uniform ids are assumed, as nobody knows better. Bags
   are pooled by the owners that are hit. Without a wait for numbers, two exchanges of all pairs. */
static tsr_comm rows_comm(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                          const tsr_cost *cost)
{
    bool backward = tsr__lookup_is_backward(s->op->kind), bags = tsr__op_inputs(s->op) > 2;
    bool by_offsets = tsr__schema_has(s, TSR__OFFSETS);
    bool contest = by_offsets && s->n_out > 1 && !tsr__list_mdims(&in[TSR__OFFSETS]);
    const tsr_spec *table = backward ? &out[0] : &in[TSR__TABLE],
                   *wide = backward ? &in[TSR__GRAD] : out;
    unsigned mdims = tsr__lookup_mdims(s, in, out);
    tsr_layout ids_layout = tsr__layout_of(&in[TSR__IDS]), wide_layout = tsr__layout_of(wide);
    const int first[TSR_MAX_MESH] = {0};
    tsr_shape ids = tsr__layout_local_shape(&ids_layout, first);
    tsr_shape rows = tsr__layout_local_shape(&wide_layout, first);
    double n = (double)tsr_shape_count(&ids), group = tsr__ranks_along(table, mdims), moved,
           lookups;
    double row = (double)rows.size[rows.ndim - 1] * (double)tsr_dtype_size(wide->dtype);
    double id = (double)tsr_dtype_size(in[TSR__IDS].dtype), vocab = (double)table->shape.size[0];
    tsr_move move = {.kind = TSR_STEP_EXCHANGE, .mdims = mdims};

    if (!mdims)
        return (tsr_comm){0};
    if (by_offsets && !contest && wide->shape.size[0] > 0) /* those of its bags */
        n = (double)in[TSR__IDS].shape.size[0] * (double)rows.size[0] / (double)wide->shape.size[0];
    lookups = vocab * -expm1(n * log1p(-1 / (vocab > 1 ? vocab : 2))); /* different ids */
    if (bags && !contest) { /* owners hit by a bag of that length */
        double length = rows.size[0] > 0 ? n / (double)rows.size[0] : 0;
        moved = (double)rows.size[0] * group * -expm1(length * log1p(-1 / group));
    } else {
        moved = contest ? (double)wide->shape.size[0] : lookups;
    }
    if (s->n_out > 1)
        row += 8.0 * (double)rows.size[rows.ndim - 1];
    /* how much there is to send is told in any case: 8 bytes to each */
    move.bytes = (group - 1) / group * ((bags ? n : lookups) * id + moved * row) + 8 * (group - 1);
    move.peers = 2 * (group - 1);
    move.group = (int)group;
    move.key = tsr__spec_hash(table) ^ tsr__spec_hash(&in[TSR__IDS]);
    return (tsr_comm){tsr__move_seconds(cost, &move), move.bytes};
}

/* Sharded ids of bags by offsets: all ranks tell which they need, and get those that are not in
   their parts. If bags differ in length as much as they are long, n ids of b bags are cut where
   bags end about n / sqrt(b) ids away from where parts do. */
static tsr_comm ids_comm(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                         const tsr_cost *cost)
{
    const tsr_spec *ids = &in[tsr__lookup_ids(s->op->kind)];
    const tsr_spec *wide = tsr__lookup_rows(s->op->kind, in, out);
    unsigned mdims = tsr__list_mdims(ids);
    double group = tsr__ranks_along(ids, mdims), n = (double)ids->shape.size[0];
    double bags = (double)wide->shape.size[0], off = bags > 0 ? n / sqrt(bags) : 0;
    double size = (double)tsr_dtype_size(ids->dtype);
    tsr_move move = {.kind = TSR_STEP_EXCHANGE, .mdims = mdims, .group = (int)group};

    if (!mdims)
        return (tsr_comm){0};
    if (s->op->kind == TSR_EMBEDDING_BAG_WEIGHTS_BACKWARD) /* which go back */
        size += (double)tsr_dtype_size(out[0].dtype);
    else if (tsr__schema_has(s, TSR__WEIGHTS))
        size += (double)tsr_dtype_size(in[TSR__WEIGHTS].dtype);
    move.bytes = 16 * (group - 1) + fmin(n / group, off) * size;
    move.peers = group - 1 + fmin(group - 1, 2);
    move.key = tsr__spec_hash(ids) ^ tsr__spec_hash(wide);
    return (tsr_comm){tsr__move_seconds(cost, &move), move.bytes};
}

/* What a run moves, and the offsets that it needs. If it moves nothing, the kernel's windows show
   all there is. */
static tsr_comm with_offsets(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                             const tsr_cost *cost, tsr_comm own)
{
    bool reverse;
    tsr_comm offsets;

    if (own.bytes == 0)
        return own;
    offsets = tsr__windows_comm(s, in, out, cost, &reverse);
    return (tsr_comm){own.seconds + offsets.seconds, own.bytes + offsets.bytes};
}

tsr_comm tsr__weights_comm(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                           const tsr_cost *cost)
{
    if (!tsr__schema_has(s, 3))
        return (tsr_comm){0};
    return with_offsets(s, in, out, cost, ids_comm(s, in, out, cost));
}

tsr_comm tsr__lookup_comm(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                          const tsr_cost *cost)
{
    tsr_comm rows = rows_comm(s, in, out, cost), ids;

    if (!tsr__schema_has(s, TSR__OFFSETS))
        return rows;
    ids = ids_comm(s, in, out, cost);
    return with_offsets(s, in, out, cost,
                        (tsr_comm){rows.seconds + ids.seconds, rows.bytes + ids.bytes});
}

/* ---- on one rank ---- */

/* Numbers of a table with that many rows, and attributes, which kernels see as such; see
   embedding_ops.h. */
static void set_numbers(const tsr_schema *s, int64_t rows, int offsets, tsr_kernel_call *call)
{
    static const struct {
        const char *name;
        int flag;
    } flags[] = {{"keep_padding", TSR_FLAG_KEEP_PADDING},
                 {"zero_out_of_range", TSR_FLAG_ZERO_OUT_OF_RANGE},
                 {"include_last", TSR_FLAG_INCLUDE_LAST},
                 {"last", TSR_FLAG_LAST},
                 {"scale_grad_by_freq", TSR_FLAG_SCALE_BY_FREQ}};
    int i = tsr__attr_index(s->op, "padding_idx");

    call->number[TSR_NUMBER_ROWS] = rows;
    call->number[TSR_NUMBER_PADDING] = -1;
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++)
        if (tsr_schema_attr(s, flags[k].name)->i[0])
            call->number[TSR_NUMBER_FLAGS] |= flags[k].flag;
    if (i >= 0 && s->attrs.value[i].n > 0) {
        int64_t padding = s->attrs.value[i].i[0];
        call->number[TSR_NUMBER_PADDING] = padding < 0 ? padding + rows : padding;
        call->attrs.value[i].n = -1;
    }
    if (tsr__schema_has(s, offsets))
        call->number[TSR_NUMBER_OFFSETS] = s->in[offsets].shape.size[0];
}

void tsr__lookup_bind_rank(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                           const int *coord, tsr_kernel_call *call)
{
    (void)out;
    (void)coord;
    set_numbers(s, in[TSR__TABLE].shape.size[0], TSR__OFFSETS, call);
}

void tsr__lookup_backward_bind_rank(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                                    const int *coord, tsr_kernel_call *call)
{
    (void)in;
    (void)coord;
    set_numbers(s, out[0].shape.size[0], TSR__OFFSETS, call);
    call->attrs.value[tsr__attr_index(s->op, "rows")].i[0] = call->out[0].shape.size[0];
}

void tsr__weights_bind_rank(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                            const int *coord, tsr_kernel_call *call)
{
    (void)out;
    (void)coord;
    set_numbers(s, in[1].shape.size[0], 3, call);
}

/* The offsets of bags are needed with the next one, where the last of them ends. */
void tsr__bag_windows(const tsr_schema *s, bool reverse, tsr_windows *out)
{
    const int kind = s->op->kind;
    const bool sums = kind == TSR_EMBEDDING_BAG_SUM || kind == TSR_EMBEDDING_BAG_MEAN ||
                      kind == TSR_EMBEDDING_BAG_MAX;

    if (!reverse)
        *out = (tsr_windows){.anchor = sums ? TSR_OUTPUT(0) : TSR__GRAD,
                             .n = 1,
                             .window = {{.operand = tsr__lookup_ids(kind) + 1, .mul = 1, .hi = 2}}};
}

const tsr_index_range *tsr__ids_check(const tsr_schema *s)
{
    static const tsr_index_range ids = {.noun = "id"}, winners = {.noun = "index", .least = -1};

    if (s->op->kind == TSR_EMBEDDING_BAG_MAX_BACKWARD) /* of an empty bag it is -1 */
        return &winners;
    return tsr_schema_attr(s, "zero_out_of_range")->i[0] ? NULL : &ids;
}
