/* SPDX-License-Identifier: Apache-2.0 */
/* attention_op.c - softmax(scale q k^T + mask) v, and its gradients. Batch and heads shard in all
   inputs; rows of queries, and columns of values, in those that have them. Where keys shard,
   numbers of every row are gathered and merged (.merge), and the outputs are terms of a sum. */
#include "ops/attention/attention.h"
#include "kernel/kinds.h"

#include <inttypes.h>

#include "layout/layout.h"
#include "ops/attention/attention_ops.h"
#include "op/infer.h"
#include "op/row_parts.h"
#include "op/schema.h"

enum { BATCH = 0, HEADS = 1, SEQUENCE = 2, WIDTH = 3, NDIM = 4 };
enum { GRAD_Q = 0, GRAD_K = 1, GRAD_V = 2, GRAD_MASK = 3 }; /* outputs of the gradients */

static bool is_backward(const tsr_schema *s)
{
    return s->op->kind == TSR_LINALG_ATTENTION_BACKWARD;
}

/* The inputs that both rows have, by what they are called in the forward one. */
static int input(const tsr_schema *s, int k)
{
    static const int backward[] = {TSR_ATT_GRAD_Q, TSR_ATT_GRAD_K, TSR_ATT_GRAD_V,
                                   TSR_ATT_GRAD_MASK};

    return is_backward(s) ? backward[k] : k;
}

static const tsr_spec *spec_of(const tsr_schema *s, int k)
{
    return &s->in[input(s, k)];
}

/* ---- shapes ---- */

/* Head h of queries reads head h / group of keys. */
static int64_t group_of(const tsr_schema *s)
{
    const int64_t keys = spec_of(s, TSR_ATT_K)->shape.size[HEADS];
    const int64_t heads = spec_of(s, TSR_ATT_Q)->shape.size[HEADS];
    const tsr_attr *group = tsr_schema_attr(s, "group");

    if (group->n > 0) /* a larger one has all heads of queries, too */
        return group->i[0] < heads || heads == 0 ? group->i[0] : heads;
    return keys > 0 ? heads / keys : 1;
}

/* As many heads of both, in pairs. */
static bool is_paired(const tsr_schema *s)
{
    return group_of(s) == 1 &&
           spec_of(s, TSR_ATT_Q)->shape.size[HEADS] == spec_of(s, TSR_ATT_K)->shape.size[HEADS];
}

static tsr_status check_heads(const tsr_schema *s, tsr_error *err)
{
    const int64_t heads = spec_of(s, TSR_ATT_Q)->shape.size[HEADS];
    const int64_t keys = spec_of(s, TSR_ATT_K)->shape.size[HEADS];
    const tsr_attr *group = tsr_schema_attr(s, "group");

    if (group->n > 0 && group->i[0] < 1)
        return tsr__fail(err, TSR_ERR_ARG, "%s: group must be at least 1, not %" PRId64,
                         s->op->name, group->i[0]);
    if (group->n > 0 ? heads <= group_of(s) * keys : heads == group_of(s) * keys)
        return TSR_OK;
    return tsr__fail(err, TSR_ERR_SHAPE,
                     "%s: %" PRId64 " query heads cannot share %" PRId64 " key heads", s->op->name,
                     heads, keys);
}

static tsr_status check_qkv(const tsr_schema *s, tsr_error *err)
{
    const tsr_spec *q = spec_of(s, TSR_ATT_Q), *k = spec_of(s, TSR_ATT_K);
    const tsr_spec *v = spec_of(s, TSR_ATT_V);
    char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN], c[TSR_TEXT_LEN];
    bool fits = q->shape.ndim == NDIM && k->shape.ndim == NDIM && v->shape.ndim == NDIM;

    if (!tsr__dtype_is_float(q->dtype) || k->dtype != q->dtype || v->dtype != q->dtype)
        return tsr__fail(
            err, TSR_ERR_DTYPE,
            "%s: q, k and v must have the same floating-point dtype, not %s, %s and %s",
            s->op->name, tsr_dtype_name(q->dtype), tsr_dtype_name(k->dtype),
            tsr_dtype_name(v->dtype));
    for (int d = BATCH; d <= SEQUENCE && fits; d++)
        fits = k->shape.size[d] == v->shape.size[d] &&
               (d != BATCH || q->shape.size[d] == k->shape.size[d]);
    if (!fits || q->shape.size[WIDTH] != k->shape.size[WIDTH])
        return tsr__fail(
            err, TSR_ERR_SHAPE,
            "%s: q must be [batch, heads, rows, dim], k [batch, heads, keys, dim] and v [batch, "
            "heads, keys, width], not %s, %s and %s",
            s->op->name, tsr_spec_text(q, a, sizeof a), tsr_spec_text(k, b, sizeof b),
            tsr_spec_text(v, c, sizeof c));
    return check_heads(s, err);
}

static tsr_shape scores_shape(const tsr_schema *s)
{
    tsr_shape shape = spec_of(s, TSR_ATT_Q)->shape;

    shape.size[WIDTH] = spec_of(s, TSR_ATT_K)->shape.size[SEQUENCE];
    return shape;
}

static tsr_status check_mask(const tsr_schema *s, tsr_error *err)
{
    const tsr_spec *mask = spec_of(s, TSR_ATT_MASK);
    const tsr_dtype dtype = spec_of(s, TSR_ATT_Q)->dtype;
    const tsr_shape scores = scores_shape(s);
    char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN];
    bool fits = mask->shape.ndim <= NDIM;

    if (!tsr__schema_has(s, input(s, TSR_ATT_MASK)))
        return TSR_OK;
    if (mask->dtype != TSR_BOOL && mask->dtype != dtype)
        return tsr__fail(err, TSR_ERR_DTYPE, "%s: mask must be bool or of q's dtype %s, not %s",
                         s->op->name, tsr_dtype_name(dtype), tsr_dtype_name(mask->dtype));
    for (int d = 0; d < mask->shape.ndim && fits; d++)
        fits = mask->shape.size[d] == 1 ||
               mask->shape.size[d] == scores.size[d + NDIM - mask->shape.ndim];
    if (!fits)
        return tsr__fail(
            err, TSR_ERR_SHAPE, "%s: mask %s does not broadcast to [batch, heads, rows, keys], %s",
            s->op->name, tsr_spec_text(mask, a, sizeof a), tsr__shape_text(&scores, b, sizeof b));
    return TSR_OK;
}

static tsr_shape out_shape(const tsr_schema *s)
{
    tsr_shape shape = spec_of(s, TSR_ATT_Q)->shape;

    shape.size[WIDTH] = spec_of(s, TSR_ATT_V)->shape.size[WIDTH];
    return shape;
}

static tsr_shape lse_shape(const tsr_schema *s)
{
    tsr_shape shape = spec_of(s, TSR_ATT_Q)->shape;

    shape.ndim = NDIM - 1;
    shape.size[WIDTH] = 0;
    return shape;
}

static tsr_status attention_shape(tsr_schema *s, tsr_error *err)
{
    tsr_status st;

    TSR_TRY(check_qkv(s, err));
    TSR_TRY(check_mask(s, err));
    s->n_out = 2;
    s->out_dtype[TSR_ATT_OUT] = s->in[TSR_ATT_Q].dtype;
    s->out_shape[TSR_ATT_OUT] = out_shape(s);
    s->out_dtype[TSR_ATT_LSE] = tsr__dtype_fine(s->in[TSR_ATT_Q].dtype);
    s->out_shape[TSR_ATT_LSE] = lse_shape(s);
done:
    return st;
}

static tsr_status check_like(const tsr_schema *s, int k, const char *name, tsr_dtype dtype,
                             const tsr_shape *shape, tsr_error *err)
{
    char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN];

    if (!tsr__schema_has(s, k) ||
        (s->in[k].dtype == dtype && tsr_shape_equal(&s->in[k].shape, shape)))
        return TSR_OK;
    return tsr__fail(err, TSR_ERR_SHAPE, "%s: %s must be %s%s for these q and v, not %s",
                     s->op->name, name, tsr_dtype_name(dtype), tsr__shape_text(shape, a, sizeof a),
                     tsr_spec_text(&s->in[k], b, sizeof b));
}

static tsr_status backward_shape(tsr_schema *s, tsr_error *err)
{
    const tsr_spec *mask = spec_of(s, TSR_ATT_MASK);
    const tsr_dtype dtype = s->in[TSR_ATT_GRAD_Q].dtype;
    tsr_shape out, lse;
    tsr_status st;

    TSR_TRY(check_qkv(s, err));
    TSR_TRY(check_mask(s, err));
    out = out_shape(s);
    lse = lse_shape(s);
    TSR_TRY(check_like(s, TSR_ATT_GRAD, "grad", dtype, &out, err));
    TSR_TRY(check_like(s, TSR_ATT_GRAD_OUT, "out", dtype, &out, err));
    TSR_TRY(check_like(s, TSR_ATT_GRAD_LSE, "lse", tsr__dtype_fine(dtype), &lse, err));
    TSR_TRY(check_like(s, TSR_ATT_GRAD_OF_LSE, "grad_lse", tsr__dtype_fine(dtype), &lse, err));
    s->n_out = 4;
    for (int k = 0; k < 3; k++) {
        s->out_dtype[k] = dtype;
        s->out_shape[k] = spec_of(s, k)->shape;
    }
    s->out_dtype[GRAD_MASK] = dtype;
    s->out_shape[GRAD_MASK] = (tsr_shape){.ndim = -1};
    if (tsr_schema_attr(s, "mask_grad")->i[0]) {
        if (!tsr__schema_has(s, TSR_ATT_GRAD_MASK) || mask->dtype == TSR_BOOL)
            TSR_TRY(tsr__fail(err, TSR_ERR_ARG, "%s: mask_grad=true needs a floating-point mask",
                              s->op->name));
        s->out_shape[GRAD_MASK] = mask->shape;
    }
done:
    return st;
}

/* ---- rules ---- */

/* The dim of the mask that is dim d of [batch, heads, rows, keys]; -1: it has none, or broadcasts.
   */
static int mask_dim(const tsr_schema *s, int d)
{
    const tsr_spec *mask = spec_of(s, TSR_ATT_MASK);
    int own = d - (NDIM - mask->shape.ndim);

    return tsr__schema_has(s, input(s, TSR_ATT_MASK)) && own >= 0 && mask->shape.size[own] != 1
               ? own
               : -1;
}

static tsr_rule_placement along(int dim, bool open)
{
    return (tsr_rule_placement){.place = {.kind = TSR_SHARD, .dim = dim}, .open = open};
}

/* What goes along with rows, heads or batches of queries: outputs, or what the gradients need. */
static void set_queries(const tsr_schema *s, tsr_rule *rule, int d, bool open)
{
    rule->in[input(s, TSR_ATT_Q)] = along(d, open);
    if (!is_backward(s)) {
        rule->out[TSR_ATT_OUT] = rule->out[TSR_ATT_LSE] = along(d, open);
        return;
    }
    rule->in[TSR_ATT_GRAD] = rule->in[TSR_ATT_GRAD_OUT] = rule->in[TSR_ATT_GRAD_LSE] =
        along(d, open);
    tsr__rule_in(s, rule, TSR_ATT_GRAD_OF_LSE, along(d, open));
    rule->out[GRAD_Q] = along(d, open);
}

/* Keys and values are along dim d too, or whole: then their gradients are sums over ranks. */
static void set_keys(const tsr_schema *s, tsr_rule *rule, int d, bool sharded, bool open)
{
    const tsr_rule_placement in = sharded ? along(d, open) : (tsr_rule_placement){0};
    const tsr_rule_placement out = sharded ? in : tsr_rule_partial(TSR_SUM);

    rule->in[input(s, TSR_ATT_K)] = rule->in[input(s, TSR_ATT_V)] = in;
    if (is_backward(s))
        rule->out[GRAD_K] = rule->out[GRAD_V] = out;
}

static void set_mask(const tsr_schema *s, tsr_rule *rule, int d, bool open)
{
    const int own = mask_dim(s, d);

    if (own >= 0)
        rule->in[input(s, TSR_ATT_MASK)] = along(own, open);
    if (is_backward(s))
        tsr__rule_out(s, rule, GRAD_MASK, own >= 0 ? along(own, open) : tsr_rule_partial(TSR_SUM));
}

static tsr_status add_queries(const tsr_schema *s, int d, bool keys, bool open, tsr_rules *out,
                              tsr_error *err)
{
    tsr_rule rule = {0};

    set_queries(s, &rule, d, open);
    set_keys(s, &rule, d, keys, open);
    set_mask(s, &rule, d, open);
    return tsr_rule_add(out, &rule, err);
}

/* A partial v passes to what is linear in it. The same holds for its columns, if they are cut. */
static tsr_status add_values(const tsr_schema *s, tsr_rule_placement v, tsr_rule_placement sum,
                             tsr_rules *out, tsr_error *err)
{
    tsr_rule rule = {0};

    rule.in[input(s, TSR_ATT_V)] = v;
    if (!is_backward(s)) {
        rule.out[TSR_ATT_OUT] = v;
        return tsr_rule_add(out, &rule, err);
    }
    rule.in[TSR_ATT_GRAD_OUT] = v;
    if (v.place.kind == TSR_SHARD)
        rule.in[TSR_ATT_GRAD] = rule.out[GRAD_V] = v;
    tsr__rule_in(s, &rule, TSR_ATT_GRAD_OF_LSE, sum);
    rule.out[GRAD_Q] = rule.out[GRAD_K] = sum;
    tsr__rule_out(s, &rule, GRAD_MASK, sum);
    return tsr_rule_add(out, &rule, err);
}

/* All gradients are linear in those of the outputs. */
static tsr_status add_gradients(const tsr_schema *s, tsr_rule_placement partial, tsr_rules *out,
                                tsr_error *err)
{
    tsr_rule rule = {.in = {[TSR_ATT_GRAD] = partial}};

    tsr__rule_in(s, &rule, TSR_ATT_GRAD_OF_LSE, partial);
    for (int k = 0; k < s->n_out; k++)
        tsr__rule_out(s, &rule, k, partial);
    return tsr_rule_add(out, &rule, err);
}

/* What the ranks have of keys gives terms of the output, and is all that they need for the keys'
   gradients; the output may still be those terms there. */
static tsr_status add_key_sequence(const tsr_schema *s, bool terms, tsr_rules *out, tsr_error *err)
{
    tsr_rule rule = {.out = {tsr_rule_partial(TSR_SUM)}}; /* of q's gradient too */

    set_keys(s, &rule, SEQUENCE, true, true);
    set_mask(s, &rule, WIDTH, true);
    if (terms)
        rule.in[TSR_ATT_GRAD_OUT] = tsr_rule_partial(TSR_SUM);
    return tsr_rule_add(out, &rule, err);
}

static tsr_status attention_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    static const tsr_reduce additive[] = {TSR_SUM, TSR_AVG};
    const bool paired = is_paired(s);
    tsr_status st;

    for (int i = 0; i < 2; i++) {
        const tsr_rule_placement partial = tsr_rule_partial(additive[i]);

        TSR_TRY(add_values(s, partial, partial, out, err));
        if (is_backward(s))
            TSR_TRY(add_gradients(s, partial, out, err));
    }
    TSR_TRY(add_queries(s, BATCH, true, true, out, err));
    TSR_TRY(add_queries(s, HEADS, true, paired, out, err));
    if (!paired) /* ranks that have not the same share of both: see heads_fit */
        TSR_TRY(add_queries(s, HEADS, false, true, out, err));
    TSR_TRY(add_queries(s, SEQUENCE, false, true, out, err));
    TSR_TRY(add_values(s, along(WIDTH, true), tsr_rule_partial(TSR_SUM), out, err));
    TSR_TRY(add_key_sequence(s, false, out, err));
    if (is_backward(s))
        TSR_TRY(add_key_sequence(s, true, out, err));
done:
    return st;
}

/* ---- communication ---- */

/* Backward: along which ranks have terms of the output. */
static unsigned attention_mdims(const tsr_schema *s, const tsr_spec *in)
{
    unsigned mdims = tsr__sharded_mdims(&in[input(s, TSR_ATT_K)], 1u << SEQUENCE);

    for (int m = 0; m < in[0].mesh.ndim && is_backward(s); m++)
        if (in[TSR_ATT_GRAD_OUT].place[m].kind != TSR_PARTIAL)
            mdims &= ~(1u << m);
    return mdims;
}

/* Every rank has the heads of keys that its heads of queries read. */
static bool heads_fit(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out)
{
    const tsr_layout q = tsr__layout_of(&in[input(s, TSR_ATT_Q)]);
    const tsr_layout k = tsr__layout_of(&in[input(s, TSR_ATT_K)]);
    const tsr_mesh_shape *mesh = &in[input(s, TSR_ATT_Q)].mesh;
    const int64_t group = group_of(s);
    const bool paired = is_paired(s);
    bool fit = true;

    (void)out;
    for (int r = 0; r < tsr__mesh_size(mesh) && !paired && fit; r++) {
        int coord[TSR_MAX_MESH];
        int64_t begin, end, first, last;

        tsr__mesh_coords(mesh, r, coord);
        if (!tsr__layout_interval(&k, HEADS, coord, &first, &last))
            return false;
        if (!tsr__layout_interval(&q, HEADS, coord, &begin, &end)) /* strides: keys are whole */
            fit = first == 0 && last == k.shape.size[HEADS];
        else
            fit = begin == end || (first * group <= begin && end <= last * group);
    }
    return fit;
}

static void attention_bind_rank(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                                const int *coord, tsr_kernel_call *call)
{
    (void)in;
    (void)out;
    (void)coord;
    call->attrs.value[TSR_ATT_GROUP] = (tsr_attr){.n = 1, .i = {group_of(s)}};
}

/* ---- rows ---- */

static const char *const attention_cases[] = {
    "f64[2,2,4,2] f64[2,2,6,2] f64[2,2,6,4]",
    "f64[3,3,5,3] f64[3,3,3,3] f64[3,3,3,5]",
    "f64[2,4,6,2] f64[2,2,6,2] f64[2,2,6,2] f64[2,1,6,6] causal=true",
    "f64[3,6,5,3] f64[3,3,5,3] f64[3,3,5,2] f64[3,1,5,5] causal=true",
    /* with that many keys every row sees at least one */
    "f64[2,2,4,2] f64[2,2,16,2] f64[2,2,16,2] bool[16] scale=0.5",
    "f64[3,2,3,2] f64[3,2,15,2] f64[3,2,15,3] bool[15] scale=0.5",
    NULL,
};
static const char *const backward_cases[] = {
    "f64[2,2,4,4] f64[2,2,4,2] f64[2,2,6,2] f64[2,2,6,4] f64[2,2,4,4] f64[2,2,4]+ scale=0.125",
    "f64[3,3,5,2] f64[3,3,5,3] f64[3,3,3,3] f64[3,3,3,2] f64[3,3,5,2] f64[3,3,5]+ scale=0.125",
    "f64[2,4,6,2] f64[2,4,6,2] f64[2,2,6,2] f64[2,2,6,2] f64[2,4,6,2] f64[2,4,6]+ f64[2,4,6] "
    "f64[2,1,6,6] scale=0.125 causal=true mask_grad=true",
    "f64[3,6,5,2] f64[3,6,5,3] f64[3,3,5,3] f64[3,3,5,2] f64[3,6,5,2] f64[3,6,5]+ f64[3,6,5] "
    "f64[3,1,5,5] scale=0.125 causal=true mask_grad=true",
    NULL,
};

/* What rows have in common. */
#define ATTENTION                                                                                  \
    .rule = attention_rule, .feasible = heads_fit, .kernel = tsr__kernel_attention,                \
    .scratch = tsr__scratch_attention, .bind_rank = attention_bind_rank,                           \
    .cross_rank_reduction = true, .positions = true

const tsr_op tsr__ops_attention[] = {
    {ATTENTION, .name = "attention", .inputs = "q,k,v,mask?",
     .attrs = "causal:bool=false,scale:float,group:int",
     .doc =
         "Computes softmax(scale q k^T + mask) v without storing the scores, and the log-sum-exp "
         "of each row. q is [batch, heads, rows, dim]; head h of q reads head h / group of k and "
         "v, where group is by default the ratio of their head counts. A bool mask says which "
         "keys a row attends to; any other mask is added to the scores. A row without visible "
         "keys gives zeros.",
     .shape = attention_shape, .kind = TSR_LINALG_ATTENTION,
     .merge = &(const tsr_merge){&tsr__attention_steps, attention_mdims},
     .grad = tsr__grad_attention, .saves = "q,k,v,mask,out,out1", .cases = attention_cases},
    {ATTENTION, .name = "attention_backward", .inputs = "grad,q,k,v,out,lse,grad_lse?,mask?",
     .attrs = "causal:bool=false,scale:float,group:int,mask_grad:bool=false",
     .doc = "Computes the gradients of attention's q, k, v and mask from those of its outputs.",
     .shape = backward_shape, .kind = TSR_LINALG_ATTENTION_BACKWARD,
     .merge = &(const tsr_merge){&tsr__attention_backward_steps, attention_mdims},
     .cases = backward_cases},
    {0},
};
