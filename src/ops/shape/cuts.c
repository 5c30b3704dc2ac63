/* SPDX-License-Identifier: Apache-2.0 */
/* cuts.c - some of the elements of a tensor: slice, narrow, select, unfold, diagonal. A cut along a
   sharded dim sees its input through windows. */
#include <inttypes.h>

#include "ops/shape/rearrange.h"
#include "ops/shape/shape_ops.h"
#include "op/infer.h"
#include "op/sliding.h"

static tsr_status attr_dim(const tsr_schema *s, const char *name, int *dim, tsr_error *err)
{
    return tsr__dim_normalise(s, tsr_schema_attr(s, name)->i[0], s->in[0].shape.ndim, dim, err);
}

/* An attribute that must be given. */
static tsr_status attr_int(const tsr_schema *s, const char *name, int64_t *out, tsr_error *err)
{
    const tsr_attr *attr = tsr_schema_attr(s, name);

    *out = attr->i[0];
    return attr->n > 0 ? TSR_OK
                       : tsr__fail(err, TSR_ERR_ARG, "%s: missing required attribute %s",
                                   s->op->name, name);
}

/* ---- slice and narrow: count elements from start on, every step-th ---- */

typedef struct cut {
    int dim;
    int64_t start, step, count;
} cut;

static tsr_status slice_cut(const tsr_schema *s, cut *c, tsr_error *err)
{
    int64_t n, stop;
    tsr_status st;

    c->start = tsr_schema_attr(s, "start")->i[0];
    c->step = tsr_schema_attr(s, "step")->i[0];
    TSR_TRY(attr_dim(s, "dim", &c->dim, err));
    n = s->in[0].shape.size[c->dim];
    stop = tsr_schema_attr(s, "stop")->n < 1 ? n : tsr_schema_attr(s, "stop")->i[0];
    if (c->step < 1)
        return tsr__fail(err, TSR_ERR_ARG, "slice: step is %" PRId64 ", must be at least 1",
                         c->step);
    c->start = c->start < 0 ? c->start + n : c->start;
    stop = stop < 0 ? stop + n : stop;
    c->start = c->start < 0 ? 0 : c->start > n ? n : c->start;
    stop = stop < c->start ? c->start : stop > n ? n : stop;
    c->count = (stop - c->start) / c->step + ((stop - c->start) % c->step != 0);
    c->step = tsr__step_within(c->step, n);
done:
    return st;
}

static tsr_status narrow_cut(const tsr_schema *s, cut *c, tsr_error *err)
{
    int64_t n, start;
    char text[TSR_TEXT_LEN];
    tsr_status st;

    TSR_TRY(attr_dim(s, "dim", &c->dim, err));
    TSR_TRY(attr_int(s, "length", &c->count, err));
    n = s->in[0].shape.size[c->dim];
    start = tsr_schema_attr(s, "start")->i[0];
    c->start = start < 0 ? start + n : start;
    c->step = 1;
    if (c->start < 0 || c->count < 0 || c->start > n || c->count > n - c->start)
        return tsr__fail(err, TSR_ERR_ARG,
                         "narrow: length %" PRId64 " from start %" PRId64 " exceeds dim %d of %s",
                         c->count, start, c->dim, tsr_spec_text(&s->in[0], text, sizeof text));
done:
    return st;
}

static tsr_status cut_of(const tsr_schema *s, cut *c, tsr_error *err)
{
    return tsr__attr_index(s->op, "length") < 0 ? slice_cut(s, c, err) : narrow_cut(s, c, err);
}

static bool is_whole(const tsr_schema *s, const cut *c)
{
    return c->count == s->in[0].shape.size[c->dim];
}

static tsr_status cut_shape(tsr_schema *s, tsr_error *err)
{
    cut c;
    tsr_status st;

    TSR_TRY(cut_of(s, &c, err));
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0] = s->in[0].shape;
    s->out_shape[0].size[c.dim] = c.count;
done:
    return st;
}

static tsr_status cut_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    cut c;
    tsr_status st;

    TSR_TRY(cut_of(s, &c, err));
    for (int d = 0; d < s->in[0].shape.ndim; d++) {
        const tsr_rule_placement mark =
            d == c.dim && !is_whole(s, &c) ? tsr__plain_shard(d) : tsr_rule_shard(d);
        TSR_TRY(tsr_rule_add(out, &(tsr_rule){.in = {mark}, .out = {mark}}, err));
    }
done:
    return st;
}

static void cut_windows(const tsr_schema *s, bool reverse, tsr_windows *w)
{
    cut c;

    if (reverse || cut_of(s, &c, NULL) != TSR_OK || is_whole(s, &c))
        return;
    w->anchor = TSR_OUTPUT(0);
    w->window[w->n++] = (tsr_window){.dim = c.dim, .mul = c.step, .lo = c.start, .hi = c.start + 1};
}

static void cut_bind_rank(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                          const int *coord, tsr_kernel_call *call)
{
    const int length = tsr__attr_index(s->op, "length");
    cut c = {0};

    (void)in;
    (void)out;
    (void)coord;
    if (cut_of(s, &c, NULL) != TSR_OK)
        return;
    call->number[0] = c.start;
    call->number[1] = is_whole(s, &c) ? 1 : c.step;
    if (length >= 0 && is_whole(s, &c))
        call->attrs.value[length].i[0] = call->out[0].shape.size[c.dim];
}

/* ---- select: one index of a dim, which goes ---- */

static tsr_status select_shape(tsr_schema *s, tsr_error *err)
{
    tsr_shape out = s->in[0].shape;
    int64_t index;
    char text[TSR_TEXT_LEN];
    int dim;
    tsr_status st;

    TSR_TRY(attr_dim(s, "dim", &dim, err));
    TSR_TRY(attr_int(s, "index", &index, err));
    if (index < -out.size[dim] || index >= out.size[dim])
        return tsr__fail(err, TSR_ERR_ARG,
                         "select: index %" PRId64 " is out of range for dim %d of %s", index, dim,
                         tsr_spec_text(&s->in[0], text, sizeof text));
    out.ndim--;
    for (int d = dim; d < out.ndim; d++)
        out.size[d] = out.size[d + 1];
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0] = out;
done:
    return st;
}

static tsr_status select_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    int dim;
    tsr_status st;

    TSR_TRY(attr_dim(s, "dim", &dim, err));
    for (int d = 0; d < s->in[0].shape.ndim; d++)
        if (d != dim)
            TSR_TRY(tsr__rule_pass(out, d, d < dim ? d : d - 1, err));
done:
    return st;
}

/* ---- unfold: runs of `size` elements that begin `step` apart, side by side in a last dim ---- */

typedef struct unfolding {
    int dim;
    int64_t size, step;
} unfolding;

static tsr_status unfolding_of(const tsr_schema *s, unfolding *u, tsr_error *err)
{
    tsr_status st;

    TSR_TRY(attr_dim(s, "dim", &u->dim, err));
    TSR_TRY(attr_int(s, "size", &u->size, err));
    u->step = tsr_schema_attr(s, "step")->i[0];
    if (u->size < 1 || u->step < 1)
        return tsr__fail(err, TSR_ERR_ARG,
                         "%s: size %" PRId64 " and step %" PRId64 ", both must be at least 1",
                         s->op->name, u->size, u->step);
done:
    return st;
}

static tsr_status unfold_shape(tsr_schema *s, tsr_error *err)
{
    tsr_shape out = s->in[0].shape;
    char text[TSR_TEXT_LEN];
    unfolding u;
    tsr_status st;

    TSR_TRY(unfolding_of(s, &u, err));
    tsr_spec_text(&s->in[0], text, sizeof text);
    if (out.ndim == TSR_MAX_DIM)
        return tsr__fail(err, TSR_ERR_SHAPE, "unfold: %s has %d dims already, the maximum", text,
                         out.ndim);
    if (u.size > out.size[u.dim])
        return tsr__fail(err, TSR_ERR_SHAPE, "unfold: dim %d of %s is shorter than size %" PRId64,
                         u.dim, text, u.size);
    out.size[u.dim] = (out.size[u.dim] - u.size) / u.step + 1;
    out.size[out.ndim++] = u.size;
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0] = out;
done:
    return st;
}

static tsr_status unfold_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    unfolding u;
    tsr_status st;

    TSR_TRY(unfolding_of(s, &u, err));
    for (int d = 0; d < s->in[0].shape.ndim; d++) {
        const tsr_rule_placement mark = d == u.dim ? tsr__plain_shard(d) : tsr_rule_shard(d);
        TSR_TRY(tsr_rule_add(out, &(tsr_rule){.in = {mark}, .out = {mark}}, err));
    }
done:
    return st;
}

static void unfold_windows(const tsr_schema *s, bool reverse, tsr_windows *w)
{
    unfolding u;

    if (reverse || unfolding_of(s, &u, NULL) != TSR_OK)
        return;
    w->anchor = TSR_OUTPUT(0);
    w->window[w->n++] = tsr__sliding_window(
        &(tsr_sliding){
            .kernel = u.size,
            .stride = tsr__step_within(u.step, s->in[0].shape.size[u.dim]),
            .dilation = 1,
        },
        0, u.dim, true);
}

/* ---- diagonal ---- */

static tsr_status diagonal_dims(const tsr_schema *s, int dim[2], tsr_error *err)
{
    tsr_status st;

    TSR_TRY(attr_dim(s, "dim1", &dim[0], err));
    TSR_TRY(attr_dim(s, "dim2", &dim[1], err));
    if (dim[0] == dim[1])
        return tsr__fail(err, TSR_ERR_ARG, "diagonal: dim1 and dim2 are both %d", dim[0]);
done:
    return st;
}

static tsr_status diagonal_shape(tsr_schema *s, tsr_error *err)
{
    const int64_t offset = tsr_schema_attr(s, "offset")->i[0];
    const tsr_shape *x = &s->in[0].shape;
    tsr_shape out = {0};
    int64_t rows, columns;
    int dim[2];
    tsr_status st;

    TSR_TRY(diagonal_dims(s, dim, err));
    for (int d = 0; d < x->ndim; d++)
        if (d != dim[0] && d != dim[1])
            out.size[out.ndim++] = x->size[d];
    rows = x->size[dim[0]];
    columns = x->size[dim[1]];
    if (offset >= columns || offset <= -rows) /* beside the corner there is nothing */
        rows = 0;
    else if (offset < 0)
        rows += offset;
    else
        columns -= offset;
    out.size[out.ndim++] = rows < columns ? rows : columns;
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0] = out;
done:
    return st;
}

static tsr_status diagonal_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    int dim[2], to = 0;
    tsr_status st;

    TSR_TRY(diagonal_dims(s, dim, err));
    for (int d = 0; d < s->in[0].shape.ndim; d++)
        if (d != dim[0] && d != dim[1])
            TSR_TRY(tsr__rule_pass(out, d, to++, err));
done:
    return st;
}

/* ---- rows ---- */

static const char *const slice_cases[] = {
    "f64[8,4] start=2 stop=7", "f64[9,5] start=2 stop=7", "f64[4,6] dim=1 start=-3",
    "f64[5,7] dim=1 start=-3", "f64[8,4] step=2",         "f64[9,5] step=2",
    "f64[4,6] dim=1",          "f64[5,7] dim=1",          NULL,
};
static const char *const narrow_cases[] = {
    "f64[8,4] start=2 length=5",
    "f64[9,5] start=2 length=5",
    "f64[4,6] dim=1 start=-3 length=2",
    "f64[5,7] dim=1 start=-3 length=2",
    NULL,
};
static const char *const select_cases[] = {
    "f64[4,6] index=1",
    "f64[5,3] index=1",
    "f64[4,2,6] dim=1 index=-1",
    "f64[5,3,7] dim=1 index=-1",
    NULL,
};
static const char *const unfold_cases[] = {
    "f64[8,2] dim=0 size=3 step=2",
    "f64[9,3] dim=0 size=3 step=2",
    "f64[4,6] dim=-1 size=2",
    "f64[5,7] dim=-1 size=2",
    NULL,
};
static const char *const diagonal_cases[] = {
    "f64[4,6]",
    "f64[5,3]",
    "f64[4,2,6] offset=-1 dim1=0 dim2=2",
    "f64[5,3,4] offset=-1 dim1=0 dim2=2",
    "f64[4,6] offset=2",
    "f64[5,5] offset=2",
    NULL,
};

/* What rows have in common. */
#define CUT                                                                                        \
    TSR_MOVES, .inputs = "x", .rule = cut_rule, .windows = cut_windows, .shape = cut_shape,        \
        .kernel = tsr__kernel_slice, .bind_rank = cut_bind_rank, .saves = ""

const tsr_op tsr__ops_cuts[] = {
    {CUT, .name = "slice", .attrs = "dim:dim=0,start:int=0,stop:int,step:int=1",
     .doc = "Slices x[start:stop:step] along dim. Negative indices count from the end.",
     .grad = tsr__grad_slice, .cases = slice_cases},
    {CUT, .name = "narrow", .attrs = "dim:dim=0,start:int=0,length:int",
     .doc = "Slices x[start:start+length] along dim. A negative start counts from the end.",
     .grad = tsr__grad_narrow, .cases = narrow_cases},
    {TSR_MOVES, .name = "select", .inputs = "x", .attrs = "dim:dim=0,index:int",
     .doc = "Selects one index of dim and removes dim. A negative index counts from the end.",
     .rule = select_rule, .shape = select_shape, .kernel = tsr__kernel_select,
     .grad = tsr__grad_select, .saves = "", .cases = select_cases},
    {TSR_MOVES, .name = "unfold", .inputs = "x", .attrs = "dim:dim=0,size:int,step:int=1",
     .doc = "Returns the sliding windows of the given size and step along dim, as a new last dim.",
     .rule = unfold_rule, .windows = unfold_windows, .shape = unfold_shape,
     .kernel = tsr__kernel_unfold, .grad_expr = "x: unfold_backward(g, ..., length=x.shape[dim])",
     .cases = unfold_cases},
    {TSR_MOVES, .name = "diagonal", .inputs = "x", .attrs = "offset:int=0,dim1:dim=0,dim2:dim=1",
     .doc = "Returns the diagonal elements [i, i + offset] of dim1 and dim2, as a new last dim in "
            "their place.",
     .rule = diagonal_rule, .shape = diagonal_shape, .kernel = tsr__kernel_diagonal,
     .grad = tsr__grad_diagonal, .saves = "", .cases = diagonal_cases},
    {0},
};
