/* SPDX-License-Identifier: Apache-2.0 */
/* padding_ops.c - more around a tensor, or less: pad in four modes, and the gradients of slice and
   unfold. Padded dims shard by windows; tril and triu shard freely, for parts know where they are.
   */
#include <inttypes.h>

#include "base/reduce.h"
#include "kernel/kinds.h"
#include "ops/shape/padding.h"
#include "ops/shape/shape_ops.h"
#include "op/infer.h"
#include "op/sliding.h"

/* ---- pad ---- */

static tsr_status check_pad(const tsr_schema *s, int d, int64_t before, int64_t after,
                            tsr_error *err)
{
    const int64_t n = s->in[0].shape.size[d];
    const int kind = s->op->kind;
    char text[TSR_TEXT_LEN];

    tsr_spec_text(&s->in[0], text, sizeof text);
    if (kind != TSR_MOVE_PAD && (before < 0 || after < 0))
        return tsr__fail(err, TSR_ERR_ARG,
                         "%s: padding %" PRId64 " before and %" PRId64
                         " after dim %d must not be negative",
                         s->op->name, before, after, d);
    if ((kind == TSR_MOVE_PAD_REFLECT && (before >= n || after >= n) && before + after > 0) ||
        (kind == TSR_MOVE_PAD_REPLICATE && n == 0 && before + after > 0) ||
        (kind == TSR_MOVE_PAD_CIRCULAR && (before > n || after > n)))
        return tsr__fail(err, TSR_ERR_SHAPE,
                         "%s: dim %d of %s is too short for padding %" PRId64 " before and %" PRId64
                         " after it",
                         s->op->name, d, text, before, after);
    if (before < -n || after < -n || before + after + n < 0)
        return tsr__fail(err, TSR_ERR_SHAPE,
                         "%s: padding %" PRId64 " before and %" PRId64
                         " after leaves nothing of dim %d of %s",
                         s->op->name, before, after, d, text);
    return TSR_OK;
}

static tsr_status pad_shape(tsr_schema *s, tsr_error *err)
{
    const tsr_attr *before = tsr_schema_attr(s, "before"), *after = tsr_schema_attr(s, "after");
    tsr_shape out = s->in[0].shape;
    char text[TSR_TEXT_LEN];
    tsr_status st = TSR_OK;

    if ((before->n < 0 ? 0 : before->n) != out.ndim || (after->n < 0 ? 0 : after->n) != out.ndim)
        return tsr__fail(err, TSR_ERR_ARG,
                         "%s: before and after need a number for each of the %d dims of %s, not %d "
                         "and %d",
                         s->op->name, out.ndim, tsr_spec_text(&s->in[0], text, sizeof text),
                         before->n < 0 ? 0 : before->n, after->n < 0 ? 0 : after->n);
    for (int d = 0; d < out.ndim; d++) {
        const int64_t most = INT64_MAX / 8;

        if (before->i[d] > most || after->i[d] > most || out.size[d] > most)
            return tsr__fail(err, TSR_ERR_SHAPE, "%s: dim %d is too large", s->op->name, d);
        TSR_TRY(check_pad(s, d, before->i[d], after->i[d], err));
        out.size[d] += before->i[d] + after->i[d];
    }
    if (s->op->kind == TSR_MOVE_PAD)
        TSR_TRY(tsr__element_check(s, tsr__attr_index(s->op, "value"), s->in[0].dtype, err));
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0] = out;
done:
    return st;
}

static bool is_padded(const tsr_schema *s, int d)
{
    return tsr_schema_attr(s, "before")->i[d] != 0 || tsr_schema_attr(s, "after")->i[d] != 0;
}

static tsr_status pad_dims_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (int d = 0; d < s->in[0].shape.ndim; d++) {
        const tsr_rule_placement mark = is_padded(s, d) ? tsr__plain_shard(d) : tsr_rule_shard(d);

        TSR_TRY(tsr_rule_add(out, &(tsr_rule){.in = {mark}, .out = {mark}}, err));
    }
done:
    return st;
}

/* Every rank pads its term with the value: reductions that leave equal numbers alone pass. */
static bool keeps(tsr_reduce reduce, double value)
{
    return value == 0 || reduce == TSR_AVG || reduce == TSR_MAX || reduce == TSR_MIN ||
           (reduce == TSR_PROD && value == 1);
}

static tsr_status pad_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    const double value = tsr_schema_attr(s, "value")->f;
    tsr_status st = TSR_OK;

    for (int r = TSR_SUM; r <= TSR_PROD; r++) {
        const tsr_rule_placement term = tsr_rule_partial((tsr_reduce)r);

        if (keeps((tsr_reduce)r, value) &&
            tsr__reduce_check(s->in[0].dtype, (tsr_reduce)r, NULL) == TSR_OK)
            TSR_TRY(tsr_rule_add(out, &(tsr_rule){.in = {term}, .out = {term}}, err));
    }
    TSR_TRY(pad_dims_rule(s, out, err));
done:
    return st;
}

/* Beyond its ends a dim is seen from within, as far away as the padding is wide, or from its other
   end. */
static void pad_windows(const tsr_schema *s, bool reverse, tsr_windows *w)
{
    const tsr_attr *before = tsr_schema_attr(s, "before"), *after = tsr_schema_attr(s, "after");

    if (reverse)
        return;
    w->anchor = TSR_OUTPUT(0);
    for (int d = 0; d < s->in[0].shape.ndim; d++) {
        const int64_t b = before->i[d], a = after->i[d];
        tsr_window window = {.dim = d, .mul = 1, .lo = -b, .hi = 1 - b};

        if (s->op->kind == TSR_MOVE_PAD_REFLECT) {
            window.lo = -b - 2 * a;
            window.hi = 1 + b;
        } else if (s->op->kind == TSR_MOVE_PAD_REPLICATE) {
            window.lo = -b - a;
            window.hi = 1;
        }
        window.circular = s->op->kind == TSR_MOVE_PAD_CIRCULAR;
        if (is_padded(s, d))
            w->window[w->n++] = window;
    }
}

/* ---- gradients of slice and unfold ---- */

typedef struct spreading {
    int dim;
    int64_t size, step, start, length;
} spreading;

static tsr_status spreading_of(const tsr_schema *s, spreading *p, tsr_error *err)
{
    const bool slice = tsr__attr_index(s->op, "start") >= 0;
    const int ndim = s->in[0].shape.ndim - !slice;
    const tsr_attr *length = tsr_schema_attr(s, "length");
    tsr_status st;

    *p = (spreading){.size = slice ? 1 : tsr_schema_attr(s, "size")->i[0],
                     .step = tsr_schema_attr(s, "step")->i[0],
                     .start = slice ? tsr_schema_attr(s, "start")->i[0] : 0,
                     .length = length->i[0]};
    TSR_TRY(tsr__dim_normalise(s, tsr_schema_attr(s, "dim")->i[0], ndim, &p->dim, err));
    if (p->step > 0 && s->in[0].shape.size[p->dim] < 2)
        p->step = tsr__step_within(p->step, p->length);
    if (length->n < 1 || p->size < 1 || p->step < 1 || p->start < 0 || p->length < 0)
        return tsr__fail(err, TSR_ERR_ARG,
                         "%s: %s%" PRId64 ", step %" PRId64 " and length %" PRId64 " are invalid",
                         s->op->name, slice ? "start " : "size ", slice ? p->start : p->size,
                         p->step, p->length);
done:
    return st;
}

static tsr_status spread_shape(tsr_schema *s, tsr_error *err)
{
    const tsr_shape *x = &s->in[0].shape;
    const bool slice = tsr__attr_index(s->op, "start") >= 0;
    tsr_shape out = *x;
    char text[TSR_TEXT_LEN];
    spreading p;
    int64_t last;
    tsr_status st;

    TSR_TRY(spreading_of(s, &p, err));
    tsr_spec_text(&s->in[0], text, sizeof text);
    if (!slice && x->size[x->ndim - 1] != p.size)
        return tsr__fail(err, TSR_ERR_SHAPE, "%s: the last dim of %s does not have size %" PRId64,
                         s->op->name, text, p.size);
    if (x->size[p.dim] > 0 && (__builtin_mul_overflow(x->size[p.dim] - 1, p.step, &last) ||
                               last > p.length - p.start - p.size))
        return tsr__fail(err, TSR_ERR_SHAPE,
                         "%s: dim %d of %s does not match an input of length %" PRId64, s->op->name,
                         p.dim, text, p.length);
    out.size[p.dim] = p.length;
    out.ndim -= !slice;
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0] = out;
done:
    return st;
}

static tsr_status spread_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    spreading p;
    tsr_status st;

    TSR_TRY(spreading_of(s, &p, err));
    for (int d = 0; d < s->out_shape[0].ndim; d++) {
        const tsr_rule_placement mark = d == p.dim ? tsr__plain_shard(d) : tsr_rule_shard(d);
        TSR_TRY(tsr_rule_add(out, &(tsr_rule){.in = {mark}, .out = {mark}}, err));
    }
    /* or each rank spreads what it has, and the others have 0 there */
    TSR_TRY(tsr_rule_add(
        out, &(tsr_rule){.in = {tsr__plain_shard(p.dim)}, .out = {tsr_rule_partial(TSR_SUM)}},
        err));
done:
    return st;
}

static void spread_windows(const tsr_schema *s, bool reverse, tsr_windows *w)
{
    spreading p;

    if (reverse || spreading_of(s, &p, NULL) != TSR_OK)
        return;
    w->anchor = TSR_OUTPUT(0);
    w->window[w->n++] = tsr__sliding_window(
        &(tsr_sliding){.kernel = p.size, .stride = p.step, .dilation = 1, .pad = -p.start}, 0,
        p.dim, false);
}

static void spread_bind_rank(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                             const int *coord, tsr_kernel_call *call)
{
    spreading p;

    (void)in;
    (void)out;
    (void)coord;
    if (spreading_of(s, &p, NULL) != TSR_OK)
        return;
    call->number[0] = p.step;
    call->number[1] = p.start;
}

/* ---- triangles ---- */

static tsr_status triangle_shape(tsr_schema *s, tsr_error *err)
{
    char text[TSR_TEXT_LEN];

    if (s->in[0].shape.ndim < 2)
        return tsr__fail(err, TSR_ERR_SHAPE, "%s: needs at least 2 dims, not %s", s->op->name,
                         tsr_spec_text(&s->in[0], text, sizeof text));
    return tsr__shape_same(s, err);
}

/* ---- rows ---- */

static const char *const pad_cases[] = {
    "f64[4,6] before=1,0 after=2,0",
    "f64[5,3] before=1,0 after=2,0",
    "f64[6,4] before=-1,2 after=1,-1 value=2",
    "f64[5,7] before=-1,2 after=1,-1 value=2",
    NULL,
};
static const char *const pad_mode_cases[] = {
    "f64[4,6] before=1,0 after=2,0",
    "f64[5,3] before=1,0 after=2,0",
    "f64[6,4] before=2,3 after=0,1",
    "f64[5,7] before=2,3 after=0,1",
    NULL,
};
static const char *const slice_backward_cases[] = {
    "f64[3,4] start=1 step=2 length=8",
    "f64[4,5] start=1 step=2 length=9",
    "f64[4,6] dim=1 length=7",
    "f64[5,3] dim=1 length=7",
    NULL,
};
static const char *const unfold_backward_cases[] = {
    "f64[3,2,3] size=3 step=2 length=8",
    "f64[4,3,3] size=3 step=2 length=9",
    "f64[4,5,2] dim=1 size=2 length=6",
    "f64[5,6,2] dim=1 size=2 length=7",
    NULL,
};
static const char *const triangle_cases[] = {
    "f64[4,6]",
    "f64[5,3]",
    "f64[2,4,6] diagonal=1",
    "f64[3,5,7] diagonal=1",
    "f64[4,6] diagonal=-2",
    "f64[7,5] diagonal=-2",
    NULL,
};

#define PAD_ATTRS "before:ints,after:ints"

/* What rows have in common. */
#define PAD                                                                                        \
    .inputs = "x", .windows = pad_windows, .shape = pad_shape, .kernel = tsr__kernel_pad,          \
    .bind_rank = tsr__bind_sizes, .in_field = true
#define PAD_COPIES                                                                                 \
    PAD, .attrs = PAD_ATTRS, .rule = pad_dims_rule, .permutes = true, .saves = "",                 \
        .cases = pad_mode_cases
#define SPREAD                                                                                     \
    .inputs = "grad", .rule = spread_rule, .windows = spread_windows, .shape = spread_shape,       \
    .bind_rank = spread_bind_rank, .in_field = true, .saves = ""
#define TRIANGLE                                                                                   \
    TSR_MOVES, .inputs = "x", .attrs = "diagonal:int=0", .axes = "...->...",                       \
        .shape = triangle_shape, .kernel = tsr__kernel_triangle, .positions = true,                \
        .cases = triangle_cases

const tsr_op tsr__ops_padding[] = {
    {PAD, .name = "pad", .kind = TSR_MOVE_PAD, .attrs = PAD_ATTRS ",value:element=0",
     .doc =
         "Pads x with value, before[d] and after[d] elements along dim d. Negative padding crops.",
     .rule = pad_rule, .grad_expr = "x: pad(g, before=-before, after=-after)", .cases = pad_cases},
    {PAD_COPIES, .name = "pad_reflect", .kind = TSR_MOVE_PAD_REFLECT,
     .doc = "Pads x by reflection, without repeating the edge element; before[d] and after[d] "
            "elements along dim d.",
     .grad = tsr__grad_pad_reflect},
    {PAD_COPIES, .name = "pad_replicate", .kind = TSR_MOVE_PAD_REPLICATE,
     .doc = "Pads x by repeating the edge element; before[d] and after[d] elements along dim d.",
     .grad = tsr__grad_pad_replicate},
    {PAD_COPIES, .name = "pad_circular", .kind = TSR_MOVE_PAD_CIRCULAR,
     .doc = "Pads x by wrapping around; before[d] and after[d] elements along dim d.",
     .grad = tsr__grad_pad_circular},
    {SPREAD, .name = "slice_backward", .attrs = "dim:dim=0,start:int=0,step:int=1,length:int",
     .doc = "Computes the gradient of slice's input, whose dim has the given length: grad at the "
            "sliced positions, else 0.",
     .permutes = true, .kernel = tsr__kernel_slice_backward, .grad = tsr__grad_slice_backward,
     .cases = slice_backward_cases},
    {SPREAD, .name = "unfold_backward", .attrs = "dim:dim=0,size:int,step:int=1,length:int",
     .doc = "Computes the gradient of unfold's input, whose dim has the given length; overlapping "
            "windows add up.",
     .linear = "grad", .kernel = tsr__kernel_unfold_backward, .grad = tsr__grad_unfold_backward,
     .cases = unfold_backward_cases},
    {TRIANGLE, .name = "tril",
     .doc =
         "Keeps the lower triangle of the last two dims, where j - i <= diagonal, and zeroes the "
         "rest.",
     .kind = TSR_MOVE_TRIL, .grad_expr = "x: tril(g, ...)"},
    {TRIANGLE, .name = "triu",
     .doc =
         "Keeps the upper triangle of the last two dims, where j - i >= diagonal, and zeroes the "
         "rest.",
     .kind = TSR_MOVE_TRIU, .grad_expr = "x: triu(g, ...)"},
    {0},
};
