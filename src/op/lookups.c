/* SPDX-License-Identifier: Apache-2.0 */
/* lookups.c - lookups in a table, bags of them, and their gradients. Tables shard by rows or by
   columns, ids by any of their dims. By rows there are two ways: ids that all ranks have are masked
   and the sums are partial; ids that are sharded like the output travel to the owners of their rows
   and the rows come back (run/deal.h), which costs what comm says. */
#include <inttypes.h>
#include <math.h>

#include "layout/cost.h"
#include "layout/layout.h"
#include "layout/runs.h"
#include "op/families.h"
#include "op/infer.h"
#include "op/schema.h"

/* Inputs of the rows below. */
enum { TABLE = 0, GRAD = 0, IDS = 1, OFFSETS = 2, WEIGHTS = 3 };

/* ---- shapes ---- */

static tsr_status check_ids(const tsr_schema *s, int k, tsr_error *err)
{
    char text[TSR_TEXT_LEN];

    if (!tsr__schema_has(s, k) || s->in[k].dtype == TSR_I32 || s->in[k].dtype == TSR_I64)
        return TSR_OK;
    return tsr__fail(err, TSR_ERR_DTYPE, "%s: ids and offsets are of type i32 or i64, not %s",
                     s->op->name, tsr_spec_text(&s->in[k], text, sizeof text));
}

/* The padding is an id, or counts from the end. */
static tsr_status check_padding(const tsr_schema *s, int64_t rows, tsr_error *err)
{
    const tsr_attr *padding = tsr_schema_attr(s, "padding_idx");

    if (padding->n > 0 && (padding->i[0] < -rows || padding->i[0] >= rows))
        return tsr__fail(err, TSR_ERR_ARG,
                         "%s: padding_idx %" PRId64 " is not in %" PRId64 " to %" PRId64,
                         s->op->name, padding->i[0], -rows, rows - 1);
    return TSR_OK;
}

static tsr_status check_table(const tsr_schema *s, int k, tsr_error *err)
{
    char text[TSR_TEXT_LEN];

    if (s->in[k].shape.ndim == 2)
        return TSR_OK;
    return tsr__fail(err, TSR_ERR_SHAPE, "%s: a table has rows and columns, %s does not",
                     s->op->name, tsr_spec_text(&s->in[k], text, sizeof text));
}

/* How many bags the ids make: by offsets, or one for each row of ids. */
static tsr_status count_bags(const tsr_schema *s, int ids, int offsets, int64_t *out,
                             tsr_error *err)
{
    char text[2 * TSR_TEXT_LEN];
    bool by_offsets = tsr__schema_has(s, offsets);
    bool last = by_offsets && tsr_schema_attr(s, "include_last")->i[0];

    if (s->in[ids].shape.ndim != (by_offsets ? 1 : 2) ||
        (by_offsets && s->in[offsets].shape.ndim != 1))
        return tsr__fail(err, TSR_ERR_SHAPE,
                         "%s: bags are ids of 2 dims, or ids of 1 dim with offsets, not %s",
                         s->op->name, tsr_schema_text(s, text, sizeof text));
    *out = by_offsets ? s->in[offsets].shape.size[0] - last : s->in[ids].shape.size[0];
    if (*out < 0)
        return tsr__fail(err, TSR_ERR_SHAPE, "%s: include_last needs at least one offset",
                         s->op->name);
    return TSR_OK;
}

static tsr_status check_weights(const tsr_schema *s, tsr_dtype dtype, tsr_error *err)
{
    const tsr_shape *ids = &s->in[IDS].shape, *w = &s->in[WEIGHTS].shape;
    char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN];
    bool same = true;

    if (!tsr__schema_has(s, WEIGHTS))
        return TSR_OK;
    for (int d = 0; d < ids->ndim; d++)
        same = same && w->ndim == ids->ndim && w->size[d] == ids->size[d];
    if (same && s->in[WEIGHTS].dtype == dtype)
        return TSR_OK;
    return tsr__fail(err, TSR_ERR_SHAPE, "%s: weights %s do not fit ids %s and values of type %s",
                     s->op->name, tsr_spec_text(&s->in[WEIGHTS], a, sizeof a),
                     tsr_spec_text(&s->in[IDS], b, sizeof b), tsr_dtype_name(dtype));
}

static tsr_status lookup_shape(tsr_schema *s, tsr_error *err)
{
    tsr_shape out = s->in[IDS].shape;
    char text[TSR_TEXT_LEN];
    tsr_status st;

    TSR_TRY(tsr__needs_float(s, err));
    TSR_TRY(check_table(s, TABLE, err));
    TSR_TRY(check_ids(s, IDS, err));
    TSR_TRY(check_padding(s, s->in[TABLE].shape.size[0], err));
    if (out.ndim == TSR_MAX_DIM)
        return tsr__fail(err, TSR_ERR_SHAPE, "%s: ids %s have no room for another dim", s->op->name,
                         tsr_spec_text(&s->in[IDS], text, sizeof text));
    out.size[out.ndim++] = s->in[TABLE].shape.size[1];
    s->out_dtype[0] = s->in[TABLE].dtype;
    s->out_shape[0] = out;
done:
    return st;
}

static tsr_status bag_shape(tsr_schema *s, tsr_error *err)
{
    int64_t bags = 0;
    tsr_status st;

    TSR_TRY(tsr__needs_float(s, err));
    TSR_TRY(check_table(s, TABLE, err));
    TSR_TRY(check_ids(s, IDS, err));
    TSR_TRY(check_ids(s, OFFSETS, err));
    TSR_TRY(check_padding(s, s->in[TABLE].shape.size[0], err));
    TSR_TRY(count_bags(s, IDS, OFFSETS, &bags, err));
    TSR_TRY(check_weights(s, s->in[TABLE].dtype, err));
    s->out_dtype[0] = s->in[TABLE].dtype;
    s->out_shape[0] = (tsr_shape){.ndim = 2, .size = {bags, s->in[TABLE].shape.size[1]}};
done:
    return st;
}

static tsr_status bag_max_shape(tsr_schema *s, tsr_error *err)
{
    tsr_status st = bag_shape(s, err);

    s->n_out = 2;
    s->out_dtype[1] = TSR_I64;
    s->out_shape[1] = s->out_shape[0];
    return st;
}

static tsr_status renorm_shape(tsr_schema *s, tsr_error *err)
{
    const tsr_attr *max = tsr_schema_attr(s, "max_norm"), *p = tsr_schema_attr(s, "norm_type");
    tsr_status st;

    TSR_TRY(tsr__needs_float(s, err));
    TSR_TRY(check_table(s, TABLE, err));
    TSR_TRY(check_ids(s, IDS, err));
    if (max->n < 1 || !(max->f > 0) || !(p->f > 0))
        return tsr__fail(err, TSR_ERR_ARG, "%s: max_norm and norm_type are above 0, not %g and %g",
                         s->op->name, max->n < 1 ? 0.0 : max->f, p->f);
    TSR_TRY(tsr__shape_same(s, err));
done:
    return st;
}

/* The gradient of a table of `rows` rows. */
static tsr_status set_table_grad(tsr_schema *s, tsr_error *err)
{
    const tsr_attr *rows = tsr_schema_attr(s, "rows");
    const tsr_shape *grad = &s->in[GRAD].shape;
    tsr_status st;

    if (rows->n < 1 || rows->i[0] < 0)
        return tsr__fail(err, TSR_ERR_ARG, "%s: rows= says how many rows the table has",
                         s->op->name);
    TSR_TRY(tsr__needs_float(s, err));
    TSR_TRY(check_ids(s, IDS, err));
    TSR_TRY(check_padding(s, rows->i[0], err));
    s->out_dtype[0] = s->in[GRAD].dtype;
    s->out_shape[0] =
        (tsr_shape){.ndim = 2, .size = {rows->i[0], grad->ndim ? grad->size[grad->ndim - 1] : 0}};
done:
    return st;
}

static tsr_status wrong_grad(const tsr_schema *s, tsr_error *err)
{
    char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN];

    return tsr__fail(err, TSR_ERR_SHAPE, "%s: the gradient %s does not fit ids %s", s->op->name,
                     tsr_spec_text(&s->in[GRAD], a, sizeof a),
                     tsr_spec_text(&s->in[IDS], b, sizeof b));
}

static tsr_status lookup_backward_shape(tsr_schema *s, tsr_error *err)
{
    const tsr_shape *grad = &s->in[GRAD].shape, *ids = &s->in[IDS].shape;
    tsr_status st;

    TSR_TRY(set_table_grad(s, err));
    if (grad->ndim != ids->ndim + 1)
        return wrong_grad(s, err);
    for (int d = 0; d < ids->ndim; d++)
        if (grad->size[d] != ids->size[d])
            return wrong_grad(s, err);
done:
    return st;
}

static tsr_status bag_backward_shape(tsr_schema *s, tsr_error *err)
{
    int64_t bags = 0;
    tsr_status st;

    TSR_TRY(set_table_grad(s, err));
    TSR_TRY(check_ids(s, OFFSETS, err));
    TSR_TRY(count_bags(s, IDS, OFFSETS, &bags, err));
    TSR_TRY(check_weights(s, s->in[GRAD].dtype, err));
    if (s->in[GRAD].shape.ndim != 2 || s->in[GRAD].shape.size[0] != bags)
        return wrong_grad(s, err);
done:
    return st;
}

static tsr_status bag_max_backward_shape(tsr_schema *s, tsr_error *err)
{
    const tsr_shape *grad = &s->in[GRAD].shape, *index = &s->in[IDS].shape;
    tsr_status st;

    TSR_TRY(set_table_grad(s, err));
    if (grad->ndim != 2 || index->ndim != 2 || grad->size[0] != index->size[0] ||
        grad->size[1] != index->size[1])
        return wrong_grad(s, err);
done:
    return st;
}

/* The gradient of the weights: grad, table, ids, offsets. */
static tsr_status weights_backward_shape(tsr_schema *s, tsr_error *err)
{
    char text[4 * TSR_TEXT_LEN];
    int64_t bags = 0;
    tsr_status st;

    TSR_TRY(tsr__needs_float(s, err));
    TSR_TRY(check_table(s, 1, err));
    TSR_TRY(check_ids(s, 2, err));
    TSR_TRY(check_ids(s, 3, err));
    TSR_TRY(check_padding(s, s->in[1].shape.size[0], err));
    TSR_TRY(count_bags(s, 2, 3, &bags, err));
    if (s->in[0].shape.ndim != 2 || s->in[0].shape.size[0] != bags ||
        s->in[0].shape.size[1] != s->in[1].shape.size[1] || s->in[0].dtype != s->in[1].dtype)
        return tsr__fail(err, TSR_ERR_SHAPE, "%s: gradient, table and ids do not fit, %s",
                         s->op->name, tsr_schema_text(s, text, sizeof text));
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0] = s->in[2].shape;
done:
    return st;
}

/* ---- rules ---- */

/* Rows are known by where they begin, so they are not cut into strides. */
static const tsr_mark ROWS = {.place = {.kind = TSR_SHARD}};

static bool by_offsets(const tsr_schema *s)
{
    return tsr__schema_has(s, OFFSETS);
}

static tsr_status add_partials(const tsr_schema *s, int k, int last, tsr_rules *out, tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (int op = TSR_SUM; op <= last && tsr__schema_has(s, k); op++) {
        tsr_rule rule = {.out = {tsr_mark_partial((tsr_reduce)op)}};
        rule.in[k] = tsr_mark_partial((tsr_reduce)op);
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
done:
    return st;
}

/* Ids, and weights with them, sharded along dim d. */
static tsr_rule ids_sharded(const tsr_schema *s, int d)
{
    tsr_rule rule = {0};

    rule.in[IDS] = tsr_mark_shard(d);
    if (tsr__schema_has(s, WEIGHTS))
        rule.in[WEIGHTS] = tsr_mark_shard(d);
    return rule;
}

/* By rows on both sides: what was asked for travels. */
static tsr_rule exchanged(const tsr_schema *s)
{
    tsr_rule rule = {.in = {ROWS, ROWS}, .out = {ROWS}};

    if (tsr__schema_has(s, WEIGHTS))
        rule.in[WEIGHTS] = ROWS;
    if (s->n_out > 1)
        rule.out[1] = ROWS;
    return rule;
}

static tsr_status lookup_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    int ndim = s->in[IDS].shape.ndim;
    tsr_rule rule = {.in = {tsr_mark_shard(1)}, .out = {tsr_mark_shard(ndim)}};
    tsr_status st;

    TSR_TRY(add_partials(s, TABLE, TSR_PROD, out, err)); /* rows are only moved */
    TSR_TRY(tsr_rule_add(out, &rule, err));
    rule = (tsr_rule){.in = {ROWS}, .out = {tsr_mark_partial(TSR_SUM)}};
    TSR_TRY(tsr_rule_add(out, &rule, err));
    for (int d = 0; d < ndim; d++) {
        rule = ids_sharded(s, d);
        rule.out[0] = tsr_mark_shard(d);
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
    if (ndim > 0) {
        rule = exchanged(s);
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
done:
    return st;
}

static tsr_status bag_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    bool max = s->n_out > 1, mean = s->op->kernel == tsr__kernel_bag_mean;
    tsr_rule rule = {.in = {tsr_mark_shard(1)}, .out = {tsr_mark_shard(1)}};
    tsr_status st = TSR_OK;

    if (!max) {
        TSR_TRY(add_partials(s, TABLE, TSR_AVG, out, err));
        TSR_TRY(add_partials(s, WEIGHTS, TSR_AVG, out, err));
    }
    if (max)
        rule.out[1] = rule.out[0];
    TSR_TRY(tsr_rule_add(out, &rule, err));
    if (!max) {
        rule = (tsr_rule){.in = {ROWS}, .out = {tsr_mark_partial(TSR_SUM)}};
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
    if (by_offsets(s)) {
        /* the winners of all owners are compared; else each rank pools bags of its own */
        rule = max ? (tsr_rule){.in = {ROWS}, .out = {ROWS, ROWS}} : (tsr_rule){.out = {ROWS}};
        return tsr_rule_add(out, &rule, err);
    }
    rule = ids_sharded(s, 0);
    rule.out[0] = tsr_mark_shard(0);
    if (max)
        rule.out[1] = rule.out[0];
    TSR_TRY(tsr_rule_add(out, &rule, err));
    if (!max && !mean) { /* parts of bags add up; a mean would not know its divisor */
        rule = ids_sharded(s, 1);
        rule.out[0] = tsr_mark_partial(TSR_SUM);
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
    rule = exchanged(s);
    TSR_TRY(tsr_rule_add(out, &rule, err));
done:
    return st;
}

static tsr_status backward_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    int last = s->in[GRAD].shape.ndim - 1;
    bool bags = tsr__op_inputs(s->op) > 2;
    bool max = s->op->kernel == tsr__kernel_bag_max_backward;
    bool freq = tsr__attr_index(s->op, "scale_grad_by_freq") >= 0 &&
                tsr_schema_attr(s, "scale_grad_by_freq")->i[0];
    tsr_rule rule = {.in = {tsr_mark_shard(last)}, .out = {tsr_mark_shard(1)}};
    tsr_status st;

    TSR_TRY(add_partials(s, GRAD, TSR_AVG, out, err));
    TSR_TRY(add_partials(s, WEIGHTS, TSR_AVG, out, err));
    if (max)
        rule.in[IDS] = tsr_mark_shard(1);
    TSR_TRY(tsr_rule_add(out, &rule, err));
    rule = (tsr_rule){.out = {ROWS}}; /* each rank adds what belongs to its rows */
    TSR_TRY(tsr_rule_add(out, &rule, err));
    if (by_offsets(s)) { /* each rank adds what its bags give */
        rule = (tsr_rule){.in = {ROWS}, .out = {tsr_mark_partial(TSR_SUM)}};
        return freq ? st : tsr_rule_add(out, &rule, err);
    }
    for (int d = 0; d < (bags || max ? 1 : last) && !freq; d++) { /* how often is known to all */
        rule = ids_sharded(s, d);
        rule.in[GRAD] = tsr_mark_shard(d);
        rule.out[0] = tsr_mark_partial(TSR_SUM);
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
    if (s->op->kernel == tsr__kernel_bag_sum_backward && !freq) {
        rule = ids_sharded(s, 1);
        rule.out[0] = tsr_mark_partial(TSR_SUM);
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
    if (last > 0) {
        rule = exchanged(s);
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
done:
    return st;
}

static tsr_status weights_backward_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    tsr_rule rule = {.in = {tsr_mark_shard(1), tsr_mark_shard(1)},
                     .out = {tsr_mark_partial(TSR_SUM)}};
    tsr_status st;

    TSR_TRY(add_partials(s, 0, TSR_AVG, out, err));
    TSR_TRY(add_partials(s, 1, TSR_AVG, out, err));
    TSR_TRY(tsr_rule_add(out, &rule, err));
    rule = (tsr_rule){.in = {[1] = ROWS}, .out = {tsr_mark_partial(TSR_SUM)}};
    TSR_TRY(tsr_rule_add(out, &rule, err));
    if (tsr__schema_has(s, 3)) {
        rule = (tsr_rule){.in = {ROWS}, .out = {tsr_mark_partial(TSR_SUM)}};
        return tsr_rule_add(out, &rule, err);
    }
    rule = (tsr_rule){.in = {[0] = tsr_mark_shard(0), [2] = tsr_mark_shard(0)},
                      .out = {tsr_mark_shard(0)}};
    TSR_TRY(tsr_rule_add(out, &rule, err));
    rule = (tsr_rule){.in = {[2] = tsr_mark_shard(1)}, .out = {tsr_mark_shard(1)}};
    TSR_TRY(tsr_rule_add(out, &rule, err));
done:
    return st;
}

static tsr_status renorm_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    tsr_rule rule = {.in = {ROWS}, .out = {ROWS}};

    (void)s;
    return tsr_rule_add(out, &rule, err);
}

/* ---- what travels ---- */

unsigned tsr__lookup_mdims(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out)
{
    bool backward = s->op->rule == backward_rule;
    const tsr_spec *table = backward ? &out[0] : &in[TABLE], *other = backward ? &in[GRAD] : out;
    unsigned mdims = 0;

    for (int m = 0; m < table->mesh.ndim; m++)
        if (table->mesh.size[m] > 1 && table->place[m].kind == TSR_SHARD &&
            table->place[m].dim == 0 && other->place[m].kind == TSR_SHARD &&
            other->place[m].dim == 0)
            mdims |= 1u << m;
    return mdims;
}

/* Ids go out and rows come back, each once; uniform ids are assumed, as nobody knows better. Bags
   are pooled by the owners that are hit. Without a wait for numbers, two exchanges of all pairs. */
static tsr_comm lookup_comm(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                            const tsr_cost *cost)
{
    bool backward = s->op->rule == backward_rule, bags = tsr__op_inputs(s->op) > 2;
    const tsr_spec *table = backward ? &out[0] : &in[TABLE], *wide = backward ? &in[GRAD] : out;
    unsigned mdims = tsr__lookup_mdims(s, in, out);
    tsr_layout ids_layout = tsr__layout_of(&in[IDS]), wide_layout = tsr__layout_of(wide);
    const int first[TSR_MAX_MESH] = {0};
    tsr_shape ids = tsr__layout_local_shape(&ids_layout, first);
    tsr_shape rows = tsr__layout_local_shape(&wide_layout, first);
    double n = (double)tsr_shape_count(&ids), group = 1, moved, lookups;
    double row = (double)rows.size[rows.ndim - 1] * (double)tsr_dtype_size(wide->dtype);
    double id = (double)tsr_dtype_size(in[IDS].dtype), vocab = (double)table->shape.size[0];
    tsr_move move = {.kind = TSR_STEP_EXCHANGE, .mdims = mdims};

    if (!mdims)
        return (tsr_comm){0};
    for (int m = 0; m < table->mesh.ndim; m++)
        group *= mdims >> m & 1 ? table->mesh.size[m] : 1;
    lookups = vocab * -expm1(n * log1p(-1 / (vocab > 1 ? vocab : 2))); /* different ids */
    if (bags && !by_offsets(s)) { /* owners hit by a bag of that length */
        double length = rows.size[0] > 0 ? n / (double)rows.size[0] : 0;
        moved = (double)rows.size[0] * group * -expm1(length * log1p(-1 / group));
    } else {
        moved = by_offsets(s) ? (double)wide->shape.size[0] : lookups;
    }
    if (s->n_out > 1)
        row += 8.0 * (double)rows.size[rows.ndim - 1];
    /* how much there is to send is told in any case: 8 bytes to each */
    move.bytes = (group - 1) / group * ((bags ? n : lookups) * id + moved * row) + 8 * (group - 1);
    move.peers = 2 * (group - 1);
    move.group = (int)group;
    move.key = tsr__spec_hash(table) ^ tsr__spec_hash(&in[IDS]);
    return (tsr_comm){tsr__move_seconds(cost, &move), move.bytes};
}

/* ---- on one rank ---- */

/* Where the part at coord begins; -1 if it is in several pieces. */
static int64_t first_index(const tsr_spec *spec, int dim, const int *coord)
{
    int64_t first = 0, n = spec->shape.size[dim];

    for (int m = 0; m < spec->mesh.ndim; m++) {
        int64_t begin, end;
        if ((spec->place[m].kind != TSR_SHARD && spec->place[m].kind != TSR_STRIDED) ||
            spec->place[m].dim != dim || spec->mesh.size[m] == 1)
            continue;
        if (spec->place[m].kind == TSR_STRIDED)
            return -1;
        tsr__chunk(n, spec->mesh.size[m], coord[m], &begin, &end);
        first += begin;
        n = end - begin;
    }
    return first;
}

/* Numbers of a table and the ids that name its rows; the padding becomes one of them. */
static void set_numbers(const tsr_schema *s, const tsr_spec *table, const tsr_spec *ids,
                        const int *coord, tsr_kernel_call *call)
{
    int64_t rows = table->shape.size[0];
    int i = tsr__attr_index(s->op, "padding_idx");

    call->number[TSR_NUMBER_FIRST_ROW] = first_index(table, 0, coord);
    call->number[TSR_NUMBER_ROWS] = rows;
    call->number[TSR_NUMBER_PADDING] = -1;
    for (int d = 0; d < ids->shape.ndim; d++)
        call->number[TSR_NUMBER_POSITION + d] = first_index(ids, d, coord);
    if (i >= 0 && s->attrs.value[i].n > 0) {
        int64_t padding = s->attrs.value[i].i[0];
        call->number[TSR_NUMBER_PADDING] = padding < 0 ? padding + rows : padding;
        call->attrs.value[i].n = -1;
    }
}

/* Bags by offsets, sharded as `rows` are: all offsets are there, but fewer are meant. */
static void set_bags(const tsr_schema *s, int offsets, const tsr_spec *rows, const int *coord,
                     tsr_kernel_call *call)
{
    tsr_layout layout = tsr__layout_of(rows);

    if (offsets >= tsr__op_inputs(s->op) || !tsr__schema_has(s, offsets))
        return;
    call->number[TSR_NUMBER_FIRST_BAG] = first_index(rows, 0, coord);
    call->number[TSR_NUMBER_OFFSETS] = s->in[offsets].shape.size[0];
    call->in[offsets].shape.size[0] =
        tsr__layout_local_shape(&layout, coord).size[0] + tsr_schema_attr(s, "include_last")->i[0];
}

static void lookup_localise(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                            const int *coord, tsr_kernel_call *call)
{
    set_numbers(s, &in[TABLE], &in[IDS], coord, call);
    set_bags(s, OFFSETS, out, coord, call);
}

static void backward_localise(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                              const int *coord, tsr_kernel_call *call)
{
    tsr_layout layout = tsr__layout_of(&out[0]);
    int rows = tsr__attr_index(s->op, "rows");

    set_numbers(s, &out[0], &in[IDS], coord, call);
    set_bags(s, OFFSETS, &in[GRAD], coord, call);
    call->attrs.value[rows].i[0] = tsr__layout_local_shape(&layout, coord).size[0];
}

static void weights_localise(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                             const int *coord, tsr_kernel_call *call)
{
    (void)out;
    set_numbers(s, &in[1], &in[2], coord, call);
    set_bags(s, 3, &in[0], coord, call);
}

/* ---- rows ---- */

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
    "f64[10,4] i64[4,6]<10 - f64[4,6]",
    "f64[9,5] i64[5,3]<9 - f64[5,3]",
    NULL,
};
static const char *const bag_cases[] = {
    "f64[10,4] i64[4,6]<10",
    "f64[9,5] i64[5,3]<9",
    "f64[10,4] i64[12]<10 i64[6]/12 padding_idx=3",
    "f64[9,5] i64[12]<9 i64[5]/12 padding_idx=3",
    NULL,
};
static const char *const bag_sum_backward_cases[] = {
    "f64[4,6] i64[4,6]<10 rows=10",
    "f64[5,3] i64[5,3]<10 rows=10",
    "f64[6,4] i64[12]<10 i64[6]/12 rows=10",
    "f64[5,3] i64[12]<10 i64[5]/12 rows=10",
    "f64[4,6] i64[4,6]<10 - f64[4,6] rows=10",
    "f64[5,7] i64[5,3]<10 - f64[5,3] rows=10",
    "f64[4,6] i64[4,6]<10 rows=10 scale_grad_by_freq=true",
    "f64[5,3] i64[5,3]<10 rows=10 scale_grad_by_freq=true",
    NULL,
};
static const char *const bag_mean_backward_cases[] = {
    "f64[4,6] i64[4,6]<10 rows=10",
    "f64[5,3] i64[5,3]<10 rows=10",
    "f64[6,4] i64[12]<10 i64[6]/12 rows=10 padding_idx=3",
    "f64[5,3] i64[12]<10 i64[5]/12 rows=10 padding_idx=3",
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
    NULL,
};

#define LOOKUP_ATTRS "padding_idx:int,keep_padding:bool=false,zero_out_of_range:bool=false"
#define BAG_ATTRS "padding_idx:int,include_last:bool=false,zero_out_of_range:bool=false"

#define BAG_BACK_ATTRS                                                                             \
    "rows:int,padding_idx:int,include_last:bool=false,zero_out_of_range:bool=false,"               \
    "scale_grad_by_freq:bool=false"

const tsr_op tsr__ops_embedding[] = {
    {.name = "embedding",
     .inputs = "table,ids",
     .attrs = LOOKUP_ATTRS,
     .doc = "the table's row for every id",
     .rule = lookup_rule,
     .comm = lookup_comm,
     .shape = lookup_shape,
     .kernel = tsr__kernel_embedding,
     .localise = lookup_localise,
     .run = tsr__run_lookup,
     .in_field = true,
     .cases = lookup_cases},
    {.name = "embedding_backward",
     .inputs = "grad,ids",
     .attrs = "rows:int,padding_idx:int,scale_grad_by_freq:bool=false,"
              "zero_out_of_range:bool=false",
     .doc = "the gradient of a table of so many rows from that of its lookups",
     .rule = backward_rule,
     .comm = lookup_comm,
     .shape = lookup_backward_shape,
     .kernel = tsr__kernel_embedding_backward,
     .scratch = tsr__scratch_embedding_backward,
     .localise = backward_localise,
     .run = tsr__run_lookup,
     .in_field = true,
     .cases = lookup_backward_cases},
    {.name = "bag_sum",
     .inputs = "table,ids,offsets?,weights?",
     .attrs = BAG_ATTRS,
     .doc = "the sum of each bag's rows, each times its weight",
     .rule = bag_rule,
     .comm = lookup_comm,
     .shape = bag_shape,
     .kernel = tsr__kernel_bag_sum,
     .scratch = tsr__scratch_bag,
     .localise = lookup_localise,
     .run = tsr__run_lookup,
     .in_field = true,
     .cases = bag_sum_cases},
    {.name = "bag_mean",
     .inputs = "table,ids,offsets?",
     .attrs = BAG_ATTRS,
     .doc = "the mean of each bag's rows, padding left out; of an empty bag zeros",
     .rule = bag_rule,
     .comm = lookup_comm,
     .shape = bag_shape,
     .kernel = tsr__kernel_bag_mean,
     .scratch = tsr__scratch_bag,
     .localise = lookup_localise,
     .run = tsr__run_lookup,
     .in_field = true,
     .cases = bag_cases},
    {.name = "bag_max",
     .inputs = "table,ids,offsets?",
     .attrs = BAG_ATTRS ",last:bool=false",
     .doc = "the largest of each bag's rows, column by column, and the row that it is from; of "
            "equal ones the first, or the last",
     .rule = bag_rule,
     .comm = lookup_comm,
     .shape = bag_max_shape,
     .kernel = tsr__kernel_bag_max,
     .scratch = tsr__scratch_bag,
     .localise = lookup_localise,
     .run = tsr__run_lookup,
     .cases = bag_cases},
    {.name = "bag_sum_backward",
     .inputs = "grad,ids,offsets?,weights?",
     .attrs = BAG_BACK_ATTRS,
     .doc = "the gradient of a table of so many rows from that of its bags' sums",
     .rule = backward_rule,
     .comm = lookup_comm,
     .shape = bag_backward_shape,
     .kernel = tsr__kernel_bag_sum_backward,
     .scratch = tsr__scratch_bag_backward,
     .localise = backward_localise,
     .run = tsr__run_lookup,
     .in_field = true,
     .cases = bag_sum_backward_cases},
    {.name = "bag_mean_backward",
     .inputs = "grad,ids,offsets?",
     .attrs = BAG_BACK_ATTRS,
     .doc = "the gradient of a table of so many rows from that of its bags' means",
     .rule = backward_rule,
     .comm = lookup_comm,
     .shape = bag_backward_shape,
     .kernel = tsr__kernel_bag_mean_backward,
     .scratch = tsr__scratch_bag_backward,
     .localise = backward_localise,
     .run = tsr__run_lookup,
     .in_field = true,
     .cases = bag_mean_backward_cases},
    {.name = "bag_max_backward",
     .inputs = "grad,index",
     .attrs = "rows:int,padding_idx:int",
     .doc = "the gradient of a table of so many rows from that of its bags' largest",
     .rule = backward_rule,
     .comm = lookup_comm,
     .shape = bag_max_backward_shape,
     .kernel = tsr__kernel_bag_max_backward,
     .scratch = tsr__scratch_bag_max_backward,
     .localise = backward_localise,
     .run = tsr__run_lookup,
     .in_field = true,
     .cases = bag_max_backward_cases},
    {.name = "embedding_renorm",
     .inputs = "table,ids",
     .attrs = "max_norm:float,norm_type:float=2",
     .doc = "rows that ids name are scaled down to a norm of max_norm, in the table",
     .rule = renorm_rule,
     .shape = renorm_shape,
     .kernel = tsr__kernel_embedding_renorm,
     .scratch = tsr__scratch_embedding_renorm,
     .localise = lookup_localise,
     .inplace = true,
     .cases = renorm_cases},
    {.name = "bag_weights_backward",
     .inputs = "grad,table,ids,offsets?",
     .attrs = BAG_ATTRS,
     .doc = "the gradient of a bag_sum's weights",
     .rule = weights_backward_rule,
     .shape = weights_backward_shape,
     .kernel = tsr__kernel_bag_weights_backward,
     .scratch = tsr__scratch_bag_weights_backward,
     .localise = weights_localise,
     .in_field = true,
     .cases = weights_backward_cases},
    {0},
};
