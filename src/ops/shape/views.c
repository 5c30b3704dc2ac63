/* SPDX-License-Identifier: Apache-2.0 */
/* views.c - all elements of the inputs in another order: cat, stack, transpose, permute, flip and
   roll, which shards by circular windows. They only move elements, so every reduction passes
   through them. */
#include "kernel/index.h"
#include "ops/shape/rearrange.h"
#include "ops/shape/shape_ops.h"
#include "op/infer.h"
#include "op/sliding.h"

/* ---- cat: joins along dim; parts of the output see what they need through windows ---- */

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

static int cat_dim(const tsr_schema *s)
{
    const int64_t dim = tsr_schema_attr(s, "dim")->i[0];

    return (int)(dim < 0 ? dim + s->in[0].shape.ndim : dim);
}

static tsr_status cat_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (int d = 0; d < s->in[0].shape.ndim; d++) {
        const tsr_rule_placement mark = d == cat_dim(s) ? tsr__plain_shard(d) : tsr_rule_shard(d);
        tsr_rule rule = {.out = {mark}};

        for (int k = 0; k < s->n_in; k++)
            rule.in[k] = mark;
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
done:
    return st;
}

static void cat_windows(const tsr_schema *s, bool reverse, tsr_windows *w)
{
    const int dim = cat_dim(s);
    int64_t begin = 0;

    if (reverse)
        return;
    w->anchor = TSR_OUTPUT(0);
    for (int k = 0; k < s->n_in; k++) {
        w->window[w->n++] =
            (tsr_window){.operand = k, .dim = dim, .mul = 1, .lo = -begin, .hi = 1 - begin};
        begin += s->in[k].shape.size[dim];
    }
}

static void cat_bind_rank(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                          const int *coord, tsr_kernel_call *call)
{
    int64_t begin = 0;

    (void)in;
    (void)out;
    (void)coord;
    for (int k = 0; k < s->n_in; k++) {
        call->number[k] = begin;
        begin += s->in[k].shape.size[cat_dim(s)];
    }
}

/* ---- stack: joins along a dim of its own ---- */

static tsr_status stack_shape(tsr_schema *s, tsr_error *err)
{
    const tsr_shape *x = &s->in[0].shape;
    tsr_shape out = {.ndim = x->ndim + 1};
    char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN];
    int dim;
    tsr_status st;

    tsr_spec_text(&s->in[0], a, sizeof a);
    if (x->ndim == TSR_MAX_DIM)
        return tsr__fail(err, TSR_ERR_SHAPE, "stack: %s has %d dims already, the maximum", a,
                         x->ndim);
    TSR_TRY(tsr__same_dtype(s, err));
    TSR_TRY(tsr__dim_normalise(s, tsr_schema_attr(s, "dim")->i[0], out.ndim, &dim, err));
    for (int k = 1; k < s->n_in; k++) {
        bool same = s->in[k].shape.ndim == x->ndim;
        for (int d = 0; d < x->ndim && same; d++)
            same = s->in[k].shape.size[d] == x->size[d];
        if (!same)
            return tsr__fail(err, TSR_ERR_SHAPE, "stack: %s and %s are of different shapes", a,
                             tsr_spec_text(&s->in[k], b, sizeof b));
    }
    for (int d = 0; d < x->ndim; d++)
        out.size[d < dim ? d : d + 1] = x->size[d];
    out.size[dim] = s->n_in;
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0] = out;
done:
    return st;
}

static tsr_status stack_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    int dim;
    tsr_status st;

    TSR_TRY(
        tsr__dim_normalise(s, tsr_schema_attr(s, "dim")->i[0], s->out_shape[0].ndim, &dim, err));
    for (int d = 0; d < s->in[0].shape.ndim; d++) {
        tsr_rule rule = {.out = {tsr_rule_shard(d < dim ? d : d + 1)}};
        for (int k = 0; k < s->n_in; k++)
            rule.in[k] = tsr_rule_shard(d);
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
        TSR_TRY(tsr__rule_pass(out, d, to, err));
    }
done:
    return st;
}

/* ---- permute: all dims in another order ---- */

static tsr_status permute_dims(const tsr_schema *s, int dim[TSR_MAX_DIM], tsr_error *err)
{
    const int ndim = s->in[0].shape.ndim;
    char text[TSR_TEXT_LEN];
    unsigned mask;
    int n;
    tsr_status st;

    TSR_TRY(tsr__dims_list(s, ndim, dim, &n, &mask, err));
    if (n != ndim)
        return tsr__fail(err, TSR_ERR_ARG, "permute: %s has %d dims, but dims lists %d",
                         tsr_spec_text(&s->in[0], text, sizeof text), ndim, n);
done:
    return st;
}

static tsr_status permute_shape(tsr_schema *s, tsr_error *err)
{
    tsr_shape out = s->in[0].shape;
    int dim[TSR_MAX_DIM];
    tsr_status st;

    TSR_TRY(permute_dims(s, dim, err));
    for (int d = 0; d < out.ndim; d++)
        out.size[d] = s->in[0].shape.size[dim[d]];
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0] = out;
done:
    return st;
}

static tsr_status permute_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    int dim[TSR_MAX_DIM];
    tsr_status st;

    TSR_TRY(permute_dims(s, dim, err));
    for (int d = 0; d < s->in[0].shape.ndim; d++)
        TSR_TRY(tsr__rule_pass(out, dim[d], d, err));
done:
    return st;
}

/* ---- flip: its dims are blocked, for what a rank needs is elsewhere ---- */

static tsr_status flip_shape(tsr_schema *s, tsr_error *err)
{
    unsigned mask;
    tsr_status st = tsr__dims_mask(s, &mask, err);

    return st == TSR_OK ? tsr__shape_same(s, err) : st;
}

static tsr_status flip_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    unsigned mask;
    tsr_status st;

    TSR_TRY(tsr__dims_mask(s, &mask, err));
    for (int d = 0; d < s->in[0].shape.ndim; d++)
        if (!(mask >> d & 1))
            TSR_TRY(tsr__rule_pass(out, d, d, err));
done:
    return st;
}

/* ---- roll ---- */

static tsr_status roll_shape(tsr_schema *s, tsr_error *err)
{
    const tsr_attr *shifts = tsr_schema_attr(s, "shifts"), *dims = tsr_schema_attr(s, "dims");
    const int wanted = dims->n < 0 ? 1 : dims->n;
    unsigned mask;
    tsr_status st;

    if (shifts->n < 1)
        return tsr__fail(err, TSR_ERR_ARG, "roll: missing required attribute shifts");
    if (dims->n < 0 && shifts->n != 1)
        return tsr__fail(err, TSR_ERR_ARG,
                         "roll: %d shifts without dims; without dims= only one is allowed",
                         shifts->n);
    if (shifts->n != wanted)
        return tsr__fail(err, TSR_ERR_ARG, "roll: shifts= has %d number%s, dims= has %d", shifts->n,
                         shifts->n == 1 ? "" : "s", wanted);
    TSR_TRY(tsr__dims_mask(s, &mask, err));
    TSR_TRY(tsr__shape_same(s, err));
done:
    return st;
}

/* Without dims all elements are one row, which may be sharded along its outermost dim alone. */
static bool is_flat(const tsr_schema *s)
{
    return tsr_schema_attr(s, "dims")->n < 0;
}

static tsr_status roll_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    unsigned mask;
    tsr_status st;

    TSR_TRY(tsr__dims_mask(s, &mask, err));
    for (int d = 0; d < s->in[0].shape.ndim; d++) {
        const tsr_rule_placement mark = mask >> d & 1 ? tsr__plain_shard(d) : tsr_rule_shard(d);

        if (!is_flat(s) || d == 0)
            TSR_TRY(tsr_rule_add(out, &(tsr_rule){.in = {mark}, .out = {mark}}, err));
    }
done:
    return st;
}

/* Of what lies `shift` before it, around the end; in units of rows if all elements are one. */
static void roll_windows(const tsr_schema *s, bool reverse, tsr_windows *w)
{
    const tsr_attr *shifts = tsr_schema_attr(s, "shifts"), *dims = tsr_schema_attr(s, "dims");
    const tsr_shape *x = &s->in[0].shape;

    if (reverse || tsr_shape_count(x) == 0)
        return;
    w->anchor = TSR_OUTPUT(0);
    if (is_flat(s) && x->ndim > 0) {
        const int64_t row = tsr_shape_count(x) / x->size[0];
        const int64_t shift = tsr__modulo(shifts->i[0], tsr_shape_count(x));

        w->window[w->n++] = (tsr_window){
            .mul = row, .lo = -shift, .hi = 2 * row - 1 - shift, .div = row, .circular = true};
    }
    for (int k = 0; k < dims->n; k++) {
        const int d = (int)(dims->i[k] < 0 ? dims->i[k] + x->ndim : dims->i[k]);
        const int64_t shift = tsr__modulo(shifts->i[k], x->size[d]);

        w->window[w->n++] =
            (tsr_window){.dim = d, .mul = 1, .lo = -shift, .hi = 1 - shift, .circular = true};
    }
}

/* What the kernel sees through a window ends where it went around, so that its part is rolled by
   what is left; for all elements as one: where the first one is, and how many follow it. */
static void roll_bind_rank(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                           const int *coord, tsr_kernel_call *call)
{
    const tsr_shape *whole = &s->in[0].shape;
    const tsr_operand *x = &call->in[0];
    tsr_attr *shifts = &call->attrs.value[tsr__attr_index(s->op, "shifts")];
    const tsr_attr *dims = tsr_schema_attr(s, "dims");

    (void)in;
    (void)out;
    (void)coord;
    if (is_flat(s) && tsr_shape_count(whole) > 0) {
        const int64_t n = tsr_shape_count(whole), rows = whole->ndim > 0 ? whole->size[0] : 1;
        const int64_t row = n / rows, begin = whole->ndim > 0 ? x->first[0] : 0;
        const int64_t end = begin + (whole->ndim > 0 ? x->shape.size[0] : 1);
        const int64_t at = (whole->ndim > 0 ? call->out[0].first[0] : 0) * row;
        const int64_t from = tsr__modulo(at - tsr__modulo(shifts->i[0], n), n);

        call->number[0] = from - begin * row + (end > rows ? end - rows : 0) * row;
        call->number[1] = n - from;
    }
    for (int k = 0; k < dims->n; k++) {
        const int d = (int)(dims->i[k] < 0 ? dims->i[k] + whole->ndim : dims->i[k]);
        const int64_t size = x->shape.size[d], beyond = x->first[d] + size - whole->size[d];

        if (x->first[d] >= 0 && size < whole->size[d])
            shifts->i[k] = beyond > 0 ? -beyond : 0;
    }
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

static const char *const stack_cases[] = {
    "f64[4,6] f64[4,6]",
    "f64[5,3] f64[5,3]",
    "f64[4,2] f64[4,2] f64[4,2] dim=-1",
    "f64[5,3] f64[5,3] f64[5,3] dim=-1",
    NULL,
};
static const char *const permute_cases[] = {
    "f64[4,6,2] dims=1,2,0",
    "f64[5,3,7] dims=1,2,0",
    "f64[4,6] dims=-1,0",
    "f64[5,3] dims=-1,0",
    NULL,
};
static const char *const flip_cases[] = {
    "f64[4,6]", "f64[5,3]", "f64[4,2,6] dims=0,-1", "f64[5,3,7] dims=0,-1", NULL,
};
static const char *const roll_cases[] = {
    "f64[4,6] shifts=2",
    "f64[5,3] shifts=2",
    "f64[4,2,6] shifts=-1,2 dims=0,2",
    "f64[5,3,7] shifts=-1,2 dims=0,2",
    NULL,
};

/* What rows have in common. */
#define JOINS TSR_MOVES, .inputs = "x*", .attrs = "dim:dim=0", .saves = ""

const tsr_op tsr__ops_views[] = {
    {JOINS, .name = "cat", .params = "", .doc = "Concatenates tensors along dim.", .rule = cat_rule,
     .windows = cat_windows, .shape = cat_shape, .kernel = tsr__kernel_cat,
     .bind_rank = cat_bind_rank, .grad = tsr__grad_cat, .cases = cat_cases},
    {JOINS, .name = "stack", .params = "", .doc = "Stacks tensors of one shape along a new dim.",
     .rule = stack_rule, .shape = stack_shape, .kernel = tsr__kernel_stack, .grad = tsr__grad_stack,
     .cases = stack_cases},
    {TSR_MOVES, .name = "transpose", .inputs = "x", .attrs = "dim0:dim=-2,dim1:dim=-1",
     .doc = "Swaps two dims.", .rule = transpose_rule, .shape = transpose_shape,
     .kernel = tsr__kernel_transpose, .grad_expr = "x: transpose(g, ...)",
     .cases = transpose_cases},
    {TSR_MOVES, .name = "permute", .inputs = "x", .attrs = "dims:dims",
     .doc = "Permutes the dims of x into the given order.", .rule = permute_rule,
     .shape = permute_shape, .kernel = tsr__kernel_permute, .grad = tsr__grad_permute, .saves = "",
     .cases = permute_cases},
    {TSR_MOVES, .name = "flip", .inputs = "x", .attrs = "dims:dims?",
     .doc = "Reverses the order of elements along dims (default: all).", .rule = flip_rule,
     .shape = flip_shape, .kernel = tsr__kernel_flip, .grad_expr = "x: flip(g, ...)",
     .cases = flip_cases},
    {TSR_MOVES, .name = "roll", .inputs = "x", .attrs = "shifts:ints,dims:dims?",
     .doc =
         "Rolls elements by shifts along dims, wrapping around; without dims, along the flattened "
         "tensor. Positive shifts move toward the end.",
     .rule = roll_rule, .windows = roll_windows, .shape = roll_shape, .kernel = tsr__kernel_roll,
     .bind_rank = roll_bind_rank, .grad = tsr__grad_roll, .saves = "", .cases = roll_cases},
    {0},
};
