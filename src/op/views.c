/* SPDX-License-Identifier: Apache-2.0 */
/* views.c - ops that only move elements: every reduction passes through them. */
#include <inttypes.h>

#include "op/families.h"
#include "op/infer.h"

/* ---- cat: joins along dim, which is blocked ---- */

static tsr_status cat_shape(tsr_schema *s, tsr_error *err)
{
    tsr_shape out = s->in[0].shape;
    char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN];
    int dim;
    tsr_status st;

    TSR_TRY(tsr__same_dtype(s, err));
    TSR_TRY(tsr__dim_normalise(s, tsr_schema_attr(s, "dim")->i[0], out.ndim, &dim, err));
    for (int k = 1; k < s->n_in; k++) {
        const tsr_shape *x = &s->in[k].shape;
        bool fits = x->ndim == out.ndim;
        for (int d = 0; d < out.ndim && fits; d++)
            fits = d == dim || x->size[d] == out.size[d];
        if (!fits)
            return tsr__fail(err, TSR_ERR_SHAPE, "cat: %s and %s differ in more than dim %d",
                             tsr_spec_text(&s->in[0], a, sizeof a),
                             tsr_spec_text(&s->in[k], b, sizeof b), dim);
        if (__builtin_add_overflow(out.size[dim], x->size[dim], &out.size[dim]))
            return tsr__fail(err, TSR_ERR_SHAPE, "cat: dim %d is too large", dim);
    }
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0] = out;
done:
    return st;
}

static tsr_status cat_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    int dim, ndim = s->in[0].shape.ndim;
    tsr_status st;

    TSR_TRY(tsr__dim_normalise(s, tsr_schema_attr(s, "dim")->i[0], ndim, &dim, err));
    for (int d = 0; d < ndim; d++) {
        tsr_rule rule = {.out = {tsr_mark_shard(d)}};
        for (int k = 0; k < s->n_in; k++)
            rule.in[k] = tsr_mark_shard(d);
        if (d != dim)
            TSR_TRY(tsr_rule_add(out, &rule, err));
    }
done:
    return st;
}

/* ---- transpose: two dims change places, and so do their shards ---- */

static tsr_status transpose_dims(const tsr_schema *s, int dim[2], tsr_error *err)
{
    int ndim = s->in[0].shape.ndim;
    tsr_status st;

    TSR_TRY(tsr__dim_normalise(s, tsr_schema_attr(s, "dim0")->i[0], ndim, &dim[0], err));
    TSR_TRY(tsr__dim_normalise(s, tsr_schema_attr(s, "dim1")->i[0], ndim, &dim[1], err));
done:
    return st;
}

static tsr_status transpose_shape(tsr_schema *s, tsr_error *err)
{
    tsr_shape out = s->in[0].shape;
    int dim[2];
    tsr_status st;

    TSR_TRY(transpose_dims(s, dim, err));
    out.size[dim[0]] = s->in[0].shape.size[dim[1]];
    out.size[dim[1]] = s->in[0].shape.size[dim[0]];
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0] = out;
done:
    return st;
}

static tsr_status transpose_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    int dim[2];
    tsr_status st;

    TSR_TRY(transpose_dims(s, dim, err));
    for (int d = 0; d < s->in[0].shape.ndim; d++) {
        int to = d == dim[0] ? dim[1] : d == dim[1] ? dim[0] : d;
        TSR_TRY(tsr_rule_add(
            out, &(tsr_rule){.in = {tsr_mark_shard(d)}, .out = {tsr_mark_shard(to)}}, err));
    }
done:
    return st;
}

/* ---- slice: start, stop and step along dim, which is blocked unless all of it is taken ---- */

static tsr_status slice_shape(tsr_schema *s, tsr_error *err)
{
    tsr_shape out = s->in[0].shape;
    int64_t start = tsr_schema_attr(s, "start")->i[0], step = tsr_schema_attr(s, "step")->i[0], n,
            stop;
    int dim;
    tsr_status st;

    TSR_TRY(tsr__dim_normalise(s, tsr_schema_attr(s, "dim")->i[0], out.ndim, &dim, err));
    n = out.size[dim];
    stop = tsr_schema_attr(s, "stop")->n < 1 ? n : tsr_schema_attr(s, "stop")->i[0];
    if (step < 1)
        return tsr__fail(err, TSR_ERR_ARG, "slice: step %" PRId64 " is not at least 1", step);
    start = start < 0 ? start + n : start;
    stop = stop < 0 ? stop + n : stop;
    start = start < 0 ? 0 : start > n ? n : start;
    stop = stop < start ? start : stop > n ? n : stop;
    out.size[dim] = (stop - start) / step + ((stop - start) % step != 0);
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0] = out;
done:
    return st;
}

static tsr_status slice_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    const tsr_shape *x = &s->in[0].shape;
    int dim;
    tsr_status st;

    TSR_TRY(tsr__dim_normalise(s, tsr_schema_attr(s, "dim")->i[0], x->ndim, &dim, err));
    for (int d = 0; d < x->ndim; d++)
        if (d != dim || s->out_shape[0].size[d] == x->size[d])
            TSR_TRY(tsr_rule_add(
                out, &(tsr_rule){.in = {tsr_mark_shard(d)}, .out = {tsr_mark_shard(d)}}, err));
done:
    return st;
}

static const char *const cat_cases[] = {
    "f64[4,6] f64[4,6]",
    "f64[5,3] f64[2,3]",
    "f64[5,3] f64[2,3] f64[1,3]",
    "f64[4,2] f64[4,6] f64[4,4] dim=1",
    "f64[5,3] f64[5,2] f64[5,7] dim=1",
    NULL,
};

static const char *const transpose_cases[] = {
    "f64[4,6]", "f64[5,3]", "f64[4,6,2] dim0=0 dim1=2", "f64[5,3,7] dim0=0 dim1=2", NULL,
};

static const char *const slice_cases[] = {
    "f64[8,4] start=2 stop=7", "f64[9,5] start=2 stop=7", "f64[4,6] dim=1 start=-3",
    "f64[5,7] dim=1 start=-3", "f64[8,4] step=2",         "f64[9,5] step=2",
    "f64[4,6] dim=1",          "f64[5,7] dim=1",          NULL,
};

const tsr_op tsr__ops_views[] = {
    {.name = "cat",
     .inputs = "x*",
     .attrs = "dim:int=0",
     .doc = "joins tensors along dim",
     .rule = cat_rule,
     .moves = true,
     .shape = cat_shape,
     .kernel = tsr__kernel_cat,
     .in_field = true,
     .cases = cat_cases},
    {.name = "transpose",
     .inputs = "x",
     .attrs = "dim0:int=-2,dim1:int=-1",
     .doc = "two dims change places",
     .rule = transpose_rule,
     .moves = true,
     .shape = transpose_shape,
     .kernel = tsr__kernel_transpose,
     .in_field = true,
     .cases = transpose_cases},
    {.name = "slice",
     .inputs = "x",
     .attrs = "dim:int=0,start:int=0,stop:int,step:int=1",
     .doc = "x[start:stop:step] along dim; negative numbers count from the end",
     .rule = slice_rule,
     .moves = true,
     .shape = slice_shape,
     .kernel = tsr__kernel_slice,
     .in_field = true,
     .cases = slice_cases},
    {0},
};
