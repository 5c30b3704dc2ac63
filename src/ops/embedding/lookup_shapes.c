/* SPDX-License-Identifier: Apache-2.0 */
/* lookup_shapes.c - what lookups, bags and their gradients demand of their inputs, and the shapes
   that come out. Called through the rows of lookups.c. */
#include <inttypes.h>

#include "op/infer.h"
#include "ops/embedding/lookups.h"

static tsr_status check_ids(const tsr_schema *s, int k, tsr_error *err)
{
    char text[TSR_TEXT_LEN];

    if (!tsr__schema_has(s, k) || s->in[k].dtype == TSR_I32 || s->in[k].dtype == TSR_I64)
        return TSR_OK;
    return tsr__fail(err, TSR_ERR_DTYPE, "%s: ids and offsets must be i32 or i64, not %s",
                     s->op->name, tsr_spec_text(&s->in[k], text, sizeof text));
}

/* The padding is an id, or counts from the end. */
static tsr_status check_padding(const tsr_schema *s, int64_t rows, tsr_error *err)
{
    const tsr_attr *padding = tsr_schema_attr(s, "padding_idx");

    if (padding->n > 0 && (padding->i[0] < -rows || padding->i[0] >= rows))
        return tsr__fail(err, TSR_ERR_ARG,
                         "%s: padding_idx %" PRId64 " is out of range %" PRId64 " to %" PRId64,
                         s->op->name, padding->i[0], -rows, rows - 1);
    return TSR_OK;
}

static tsr_status check_table(const tsr_schema *s, int k, tsr_error *err)
{
    char text[TSR_TEXT_LEN];

    if (s->in[k].shape.ndim == 2)
        return TSR_OK;
    return tsr__fail(err, TSR_ERR_SHAPE, "%s: a table must have 2 dims, not %s", s->op->name,
                     tsr_spec_text(&s->in[k], text, sizeof text));
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
                         "%s: bags must be ids of 2 dims, or ids of 1 dim with offsets, not %s",
                         s->op->name, tsr_schema_text(s, text, sizeof text));
    *out = by_offsets ? s->in[offsets].shape.size[0] - last : s->in[ids].shape.size[0];
    if (*out < 0)
        return tsr__fail(err, TSR_ERR_SHAPE, "%s: include_last needs at least one offset",
                         s->op->name);
    return TSR_OK;
}

static tsr_status check_weights(const tsr_schema *s, tsr_dtype dtype, tsr_error *err)
{
    const tsr_shape *ids = &s->in[TSR__IDS].shape, *w = &s->in[TSR__WEIGHTS].shape;
    char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN];
    bool same = true;

    if (!tsr__schema_has(s, TSR__WEIGHTS))
        return TSR_OK;
    for (int d = 0; d < ids->ndim; d++)
        same = same && w->ndim == ids->ndim && w->size[d] == ids->size[d];
    if (same && s->in[TSR__WEIGHTS].dtype == dtype)
        return TSR_OK;
    return tsr__fail(err, TSR_ERR_SHAPE, "%s: weights %s do not match ids %s and values of type %s",
                     s->op->name, tsr_spec_text(&s->in[TSR__WEIGHTS], a, sizeof a),
                     tsr_spec_text(&s->in[TSR__IDS], b, sizeof b), tsr_dtype_name(dtype));
}

tsr_status tsr__lookup_shape(tsr_schema *s, tsr_error *err)
{
    tsr_shape out = s->in[TSR__IDS].shape;
    char text[TSR_TEXT_LEN];
    tsr_status st;

    TSR_TRY(tsr__needs_float(s, err));
    TSR_TRY(check_table(s, TSR__TABLE, err));
    TSR_TRY(check_ids(s, TSR__IDS, err));
    TSR_TRY(check_padding(s, s->in[TSR__TABLE].shape.size[0], err));
    if (out.ndim == TSR_MAX_DIM)
        return tsr__fail(err, TSR_ERR_SHAPE, "%s: ids %s have too many dims to add another",
                         s->op->name, tsr_spec_text(&s->in[TSR__IDS], text, sizeof text));
    out.size[out.ndim++] = s->in[TSR__TABLE].shape.size[1];
    s->out_dtype[0] = s->in[TSR__TABLE].dtype;
    s->out_shape[0] = out;
done:
    return st;
}

tsr_status tsr__bag_shape(tsr_schema *s, tsr_error *err)
{
    int64_t bags = 0;
    tsr_status st;

    TSR_TRY(tsr__needs_float(s, err));
    TSR_TRY(check_table(s, TSR__TABLE, err));
    TSR_TRY(check_ids(s, TSR__IDS, err));
    TSR_TRY(check_ids(s, TSR__OFFSETS, err));
    TSR_TRY(check_padding(s, s->in[TSR__TABLE].shape.size[0], err));
    TSR_TRY(count_bags(s, TSR__IDS, TSR__OFFSETS, &bags, err));
    TSR_TRY(check_weights(s, s->in[TSR__TABLE].dtype, err));
    s->out_dtype[0] = s->in[TSR__TABLE].dtype;
    s->out_shape[0] = (tsr_shape){.ndim = 2, .size = {bags, s->in[TSR__TABLE].shape.size[1]}};
done:
    return st;
}

tsr_status tsr__bag_max_shape(tsr_schema *s, tsr_error *err)
{
    tsr_status st = tsr__bag_shape(s, err);

    s->n_out = 2;
    s->out_dtype[1] = TSR_I64;
    s->out_shape[1] = s->out_shape[0];
    return st;
}

tsr_status tsr__renorm_shape(tsr_schema *s, tsr_error *err)
{
    const tsr_attr *max = tsr_schema_attr(s, "max_norm"), *p = tsr_schema_attr(s, "norm_type");
    tsr_status st;

    TSR_TRY(tsr__needs_float(s, err));
    TSR_TRY(check_table(s, TSR__TABLE, err));
    TSR_TRY(check_ids(s, TSR__IDS, err));
    if (max->n < 1 || !(max->f > 0) || !(p->f > 0))
        return tsr__fail(err, TSR_ERR_ARG,
                         "%s: max_norm and norm_type must be positive, not %g and %g", s->op->name,
                         max->n < 1 ? 0.0 : max->f, p->f);
    TSR_TRY(tsr__shape_same(s, err));
done:
    return st;
}

/* The gradient of a table of `rows` rows. */
static tsr_status set_table_grad(tsr_schema *s, tsr_error *err)
{
    const tsr_attr *rows = tsr_schema_attr(s, "rows");
    const tsr_shape *grad = &s->in[TSR__GRAD].shape;
    tsr_status st;

    if (rows->n < 1 || rows->i[0] < 0)
        return tsr__fail(err, TSR_ERR_ARG, "%s: missing required attribute rows", s->op->name);
    TSR_TRY(tsr__needs_float(s, err));
    TSR_TRY(check_ids(s, TSR__IDS, err));
    TSR_TRY(check_padding(s, rows->i[0], err));
    s->out_dtype[0] = s->in[TSR__GRAD].dtype;
    s->out_shape[0] =
        (tsr_shape){.ndim = 2, .size = {rows->i[0], grad->ndim ? grad->size[grad->ndim - 1] : 0}};
done:
    return st;
}

static tsr_status wrong_grad(const tsr_schema *s, tsr_error *err)
{
    char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN];

    return tsr__fail(err, TSR_ERR_SHAPE, "%s: the gradient %s does not match ids %s", s->op->name,
                     tsr_spec_text(&s->in[TSR__GRAD], a, sizeof a),
                     tsr_spec_text(&s->in[TSR__IDS], b, sizeof b));
}

tsr_status tsr__lookup_backward_shape(tsr_schema *s, tsr_error *err)
{
    const tsr_shape *grad = &s->in[TSR__GRAD].shape, *ids = &s->in[TSR__IDS].shape;
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

tsr_status tsr__bag_backward_shape(tsr_schema *s, tsr_error *err)
{
    int64_t bags = 0;
    tsr_status st;

    TSR_TRY(set_table_grad(s, err));
    TSR_TRY(check_ids(s, TSR__OFFSETS, err));
    TSR_TRY(count_bags(s, TSR__IDS, TSR__OFFSETS, &bags, err));
    TSR_TRY(check_weights(s, s->in[TSR__GRAD].dtype, err));
    if (s->in[TSR__GRAD].shape.ndim != 2 || s->in[TSR__GRAD].shape.size[0] != bags)
        return wrong_grad(s, err);
done:
    return st;
}

tsr_status tsr__bag_max_backward_shape(tsr_schema *s, tsr_error *err)
{
    const tsr_shape *grad = &s->in[TSR__GRAD].shape, *index = &s->in[TSR__IDS].shape;
    tsr_status st;

    TSR_TRY(set_table_grad(s, err));
    if (grad->ndim != 2 || index->ndim != 2 || grad->size[0] != index->size[0] ||
        grad->size[1] != index->size[1])
        return wrong_grad(s, err);
done:
    return st;
}

/* The gradient of the weights: grad, table, ids, offsets. */
tsr_status tsr__weights_backward_shape(tsr_schema *s, tsr_error *err)
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
        return tsr__fail(err, TSR_ERR_SHAPE, "%s: gradient, table and ids do not match, %s",
                         s->op->name, tsr_schema_text(s, text, sizeof text));
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0] = s->in[2].shape;
done:
    return st;
}
