/* SPDX-License-Identifier: Apache-2.0 */
/* linalg.c - products of matrices. */
#include <inttypes.h>

#include "ops/linalg/linalg_ops.h"
#include "op/infer.h"

static tsr_status matmul_shape(tsr_schema *s, tsr_error *err)
{
    const tsr_shape *a = &s->in[0].shape, *b = &s->in[1].shape, *bias = &s->in[2].shape;
    char x[TSR_TEXT_LEN], y[TSR_TEXT_LEN];
    tsr_shape out;
    tsr_status st;

    TSR_TRY(tsr__same_dtype(s, err));
    TSR_TRY(tsr__needs_float(s, err));
    if (a->ndim < 2 || b->ndim < 2)
        return tsr__fail(err, TSR_ERR_SHAPE, "matmul: both inputs need at least 2 dims, %s and %s",
                         tsr_spec_text(&s->in[0], x, sizeof x),
                         tsr_spec_text(&s->in[1], y, sizeof y));
    if (a->size[a->ndim - 1] != b->size[b->ndim - 2])
        return tsr__fail(err, TSR_ERR_SHAPE,
                         "matmul: inner sizes differ, %s has %" PRId64 ", %s has %" PRId64,
                         tsr_spec_text(&s->in[0], x, sizeof x), a->size[a->ndim - 1],
                         tsr_spec_text(&s->in[1], y, sizeof y), b->size[b->ndim - 2]);
    out = a->ndim >= b->ndim ? *a : *b;
    for (int e = 3; e <= out.ndim; e++) {
        int64_t n = e <= a->ndim ? a->size[a->ndim - e] : 1;
        int64_t m = e <= b->ndim ? b->size[b->ndim - e] : 1;
        if (n != m && n != 1 && m != 1)
            return tsr__fail(err, TSR_ERR_SHAPE, "matmul: leading dims do not broadcast, %s and %s",
                             tsr_spec_text(&s->in[0], x, sizeof x),
                             tsr_spec_text(&s->in[1], y, sizeof y));
        out.size[out.ndim - e] = n == 1 ? m : n;
    }
    out.size[out.ndim - 2] = a->size[a->ndim - 2];
    out.size[out.ndim - 1] = b->size[b->ndim - 1];
    if (tsr__schema_has(s, 2) && (bias->ndim != 1 || bias->size[0] != out.size[out.ndim - 1]))
        return tsr__fail(err, TSR_ERR_SHAPE,
                         "matmul: bias %s does not match %" PRId64 " columns of %s",
                         tsr_spec_text(&s->in[2], x, sizeof x), out.size[out.ndim - 1],
                         tsr_spec_text(&s->in[1], y, sizeof y));
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0] = out;
done:
    return st;
}

static bool are_vectors(const tsr_schema *s)
{
    return s->in[0].shape.ndim == 1 && s->in[1].shape.ndim == 1;
}

static tsr_status dot_shape(tsr_schema *s, tsr_error *err)
{
    char text[2 * TSR_TEXT_LEN];
    tsr_status st;

    TSR_TRY(tsr__same_dtype(s, err));
    TSR_TRY(tsr__needs_float(s, err));
    if (!are_vectors(s) || s->in[0].shape.size[0] != s->in[1].shape.size[0])
        TSR_TRY(tsr__fail(err, TSR_ERR_SHAPE, "dot: needs two vectors of the same size, not %s",
                          tsr_schema_text(s, text, sizeof text)));
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0] = (tsr_shape){0};
done:
    return st;
}

static tsr_status outer_shape(tsr_schema *s, tsr_error *err)
{
    char text[2 * TSR_TEXT_LEN];
    tsr_status st;

    TSR_TRY(tsr__same_dtype(s, err));
    TSR_TRY(tsr__needs_float(s, err));
    if (!are_vectors(s))
        TSR_TRY(tsr__fail(err, TSR_ERR_SHAPE, "outer: needs two vectors, not %s",
                          tsr_schema_text(s, text, sizeof text)));
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0] =
        (tsr_shape){.ndim = 2, .size = {s->in[0].shape.size[0], s->in[1].shape.size[0]}};
done:
    return st;
}

static tsr_status bmm_shape(tsr_schema *s, tsr_error *err)
{
    const tsr_shape *a = &s->in[0].shape, *b = &s->in[1].shape;
    char text[2 * TSR_TEXT_LEN];
    tsr_status st;

    TSR_TRY(tsr__same_dtype(s, err));
    TSR_TRY(tsr__needs_float(s, err));
    if (a->ndim != 3 || b->ndim != 3 || a->size[0] != b->size[0] || a->size[2] != b->size[1])
        TSR_TRY(tsr__fail(err, TSR_ERR_SHAPE,
                          "bmm: inputs must be [batch, m, k] and [batch, k, n], not %s",
                          tsr_schema_text(s, text, sizeof text)));
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0] = (tsr_shape){.ndim = 3, .size = {a->size[0], a->size[1], b->size[2]}};
done:
    return st;
}

static tsr_status linear_shape(tsr_schema *s, tsr_error *err)
{
    const tsr_shape *x = &s->in[0].shape, *weight = &s->in[1].shape, *bias = &s->in[2].shape;
    char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN];
    tsr_status st;

    TSR_TRY(tsr__same_dtype(s, err));
    TSR_TRY(tsr__needs_float(s, err));
    if (x->ndim < 1 || weight->ndim != 2 || x->size[x->ndim - 1] != weight->size[1])
        TSR_TRY(tsr__fail(
            err, TSR_ERR_SHAPE, "linear: x must be [..., in] and weight [out, in], not %s and %s",
            tsr_spec_text(&s->in[0], a, sizeof a), tsr_spec_text(&s->in[1], b, sizeof b)));
    if (tsr__schema_has(s, 2) && (bias->ndim != 1 || bias->size[0] != weight->size[0]))
        TSR_TRY(tsr__fail(err, TSR_ERR_SHAPE,
                          "linear: bias %s does not match %" PRId64 " rows of weight %s",
                          tsr_spec_text(&s->in[2], a, sizeof a), weight->size[0],
                          tsr_spec_text(&s->in[1], b, sizeof b)));
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0] = *x;
    s->out_shape[0].size[x->ndim - 1] = weight->size[0];
done:
    return st;
}

static const char *const dot_cases[] = {"f64[4] f64[4]", "f64[7] f64[7]", NULL};
static const char *const outer_cases[] = {"f64[4] f64[6]", "f64[5] f64[3]", NULL};
static const char *const bmm_cases[] = {"f64[4,2,6] f64[4,6,2]", "f64[5,3,2] f64[5,2,3]", NULL};
static const char *const linear_cases[] = {
    "f64[4,6] f64[2,6]",
    "f64[5,7] f64[3,7]",
    "f64[2,4,6] f64[4,6] f64[4]",
    "f64[3,5,3] f64[5,3] f64[5]",
    "f64[6] f64[4,6] f64[4]",
    "f64[3] f64[5,3] f64[5]",
    NULL,
};
static const char *const matmul_cases[] = {
    "f64[4,6] f64[6,2]",
    "f64[5,7] f64[7,3]",
    "f64[4,6] f64[6,8] f64[8]",
    "f64[5,3] f64[3,7] f64[7]",
    "f64[4,2,6] f64[6,3]",
    "f64[5,3,2] f64[2,7]",
    "f64[4,2,6] f64[4,6,3]",
    "f64[5,3,2] f64[5,2,4]",
    "f64[4,2,3] f64[1,3,6]",
    "f64[5,3,4] f64[1,4,2]",
    "f64[4,2,3] f64[3,6] f64[6]",
    "f64[5,3,2] f64[2,7] f64[7]",
    NULL,
};

/* What rows have in common. */
#define PRODUCT .inputs = "a,b", .linear = "a*b", .in_field = true

const tsr_op tsr__ops_linalg[] = {
    {.name = "matmul",
     .inputs = "a,b,bias?",
     .doc =
         "Multiplies matrices: c[...,m,n] = sum over k of a[...,m,k] b[...,k,n], plus bias[n] if "
         "given. Leading dims broadcast.",
     .axes = "...mk,...kn,n->...mn", /* k is summed: sharding it yields P(sum) */
     .linear = "a*b+bias",
     .monotone = "+bias",
     .shape = matmul_shape,
     .kernel = tsr__kernel_matmul,
     .grad = tsr__grad_matmul,
     .saves = "a,b",
     .in_field = true,
     .cases = matmul_cases},
    {PRODUCT, .name = "bmm",
     .doc =
         "Multiplies batches of matrices: c[batch,m,n] = sum over k of a[batch,m,k] b[batch,k,n].",
     .axes = "bmk,bkn->bmn", .shape = bmm_shape, .kernel = tsr__kernel_matmul,
     .grad = tsr__grad_matmul, .saves = "a,b", .cases = bmm_cases},
    {.name = "linear",
     .inputs = "x,weight,bias?",
     .doc =
         "Applies a linear layer: y[...,n] = sum over k of x[...,k] weight[n,k], plus bias[n] if "
         "given.",
     .axes = "...k,nk,n->...n",
     .linear = "x*weight+bias",
     .monotone = "+bias",
     .shape = linear_shape,
     .kernel = tsr__kernel_linear,
     .grad_expr = "x: einsum(g, weight, equation='...n,nk->...k');"
                  "weight: einsum(g, x, equation='...n,...k->nk'); bias: g",
     .in_field = true,
     .cases = linear_cases},
    {PRODUCT, .name = "dot",
     .doc = "Computes the dot product of two vectors: the sum of a[i] b[i].", .axes = "i,i->",
     .shape = dot_shape, .kernel = tsr__kernel_dot, .scratch = tsr__scratch_dot,
     .grad_expr = "a: mul(g, b); b: mul(g, a)", .cases = dot_cases},
    {PRODUCT, .name = "outer",
     .doc = "Computes the outer product of two vectors: c[m,n] = a[m] b[n].", .axes = "m,n->mn",
     .shape = outer_shape, .kernel = tsr__kernel_outer, .scratch = tsr__scratch_outer,
     .grad_expr = "a: einsum(g, b, equation='mn,n->m'); b: einsum(g, a, equation='mn,m->n')",
     .cases = outer_cases},
    {0},
};
