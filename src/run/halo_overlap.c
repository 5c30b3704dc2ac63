/* SPDX-License-Identifier: Apache-2.0 */
/* halo_overlap.c - see halo_overlap.h. Pieces are boxes of the anchor's part: the interior, and for
   every dim with windows one boundary box before it and one behind, as wide as what earlier dims
   left. Each is a kernel call of its own on operands that are cut out, and its results are pasted
   in. */
#include "run/halo_overlap.h"

#include <string.h>

#include "op/schema.h"
#include "run/compact_call.h"

enum { PIECES = 1 + 2 * TSR_MAX_DIM };

/* Seconds for every further call of a kernel: preparing, layouts of small operands. */
static const double PER_PIECE = 20e-6;

typedef struct box {
    int64_t begin[TSR_MAX_DIM], end[TSR_MAX_DIM]; /* of the whole tensor */
} box;

struct tsr_halo_overlap {
    const tsr_op *op;
    int n;
    tsr_compact_call *piece[PIECES]; /* the interior first */
    bool cut_in[TSR_MAX_IN], cut_out[TSR_MAX_OUT];
    tsr_operand own[]; /* of every input; the rank's parts of those that have windows */
};

/* ---- boxes ---- */

static box box_of(const tsr_operand *x)
{
    box b = {0};

    for (int d = 0; d < x->shape.ndim; d++) {
        b.begin[d] = x->first[d];
        b.end[d] = x->first[d] + x->shape.size[d];
    }
    return b;
}

static bool is_empty(const box *b, int ndim)
{
    for (int d = 0; d < ndim; d++)
        if (b->begin[d] >= b->end[d])
            return true;
    return false;
}

static tsr_dim_window window_of(const tsr_window *w, int64_t n)
{
    return (tsr_dim_window){
        .on = true, .n = n, .mul = w->mul, .lo = w->lo, .hi = w->hi, .div = w->div};
}

/* Leaves of [*begin, *end) what sees only [own_begin, own_end) of n indices. What sees nothing may
   lie between others that see something: it says nothing of them. */
static void shrink(const tsr_dim_window *w, int64_t n, int64_t own_begin, int64_t own_end,
                   int64_t *begin, int64_t *end)
{
    int64_t a, b;

    for (int64_t i = *begin; i < *end; i++) {
        tsr__window_see(w, n, i, i + 1, &a, &b);
        if (a < b && a >= own_begin)
            break;
        if (a < b)
            *begin = i + 1;
    }
    for (int64_t i = *end; i > *begin; i--) {
        tsr__window_see(w, n, i - 1, i, &a, &b);
        if (a < b && b <= own_end)
            break;
        if (a < b)
            *end = i - 1;
    }
}

/* The shape and place that an operand has in the call for a part of the anchor. */
static void cut_operand(const tsr_schema *s, const tsr_windows *w, int operand, const box *at,
                        tsr_operand *x)
{
    const tsr_shape *whole =
        operand < 0 ? &s->out_shape[TSR_OUTPUT(operand)] : &s->in[operand].shape;

    for (int i = 0; i < w->n; i++) {
        const int d = w->window[i].dim;
        int64_t begin = at->begin[d], end = at->end[d];

        if (w->window[i].operand == operand) {
            const tsr_dim_window seen = window_of(&w->window[i], 0);
            tsr__window_see(&seen, whole->size[d], at->begin[d], at->end[d], &begin, &end);
        } else if (operand >= 0) {
            continue;
        }
        x->first[d] = begin;
        x->shape.size[d] = end - begin;
    }
}

/* The memory of what `part` is of `whole`, both of the same tensor. */
static tsr_piece place_in(const tsr_operand *whole, const tsr_operand *part)
{
    int64_t stride = (int64_t)tsr_dtype_size(whole->dtype);
    tsr_piece p = {.n = whole->shape.ndim};

    for (int d = whole->shape.ndim - 1; d >= 0; d--) {
        p.offset += (part->first[d] < 0 ? 0 : part->first[d] - whole->first[d]) * stride;
        p.count[d] = part->shape.size[d];
        p.stride[d] = stride;
        stride *= whole->shape.size[d];
    }
    return p;
}

/* ---- making ---- */

static bool has_window(const tsr_windows *w, int operand, int dim)
{
    for (int i = 0; i < w->n; i++)
        if (w->window[i].operand == operand && (dim < 0 || w->window[i].dim == dim))
            return true;
    return false;
}

static bool is_sharded_along(const tsr_spec *spec, unsigned mdims)
{
    for (int m = 0; m < spec->mesh.ndim; m++)
        if ((mdims >> m & 1) &&
            (spec->place[m].kind == TSR_SHARD || spec->place[m].kind == TSR_STRIDED))
            return true;
    return false;
}

/* Inputs that are overwritten cannot be, for they are sent while the interior is computed; nor
   those of which a part is needed where another has windows; nor circular windows, which show two
   intervals and are of ops that only copy. */
static bool can_be_cut(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                       const tsr_windows *w, const tsr_kernel_call *call)
{
    if (w->anchor >= 0 || s->op->inplace)
        return false;
    for (int i = 0; i < w->n; i++) {
        const tsr_windows one = {.anchor = w->anchor, .n = 1, .window = {w->window[i]}};
        const unsigned mdims = tsr__windows_mdims(&one, in, out, w->window[i].operand);

        if (w->window[i].operand < 0 || w->window[i].circular)
            return false;
        for (int k = 0; k < s->n_in; k++)
            if (tsr__schema_has(s, k) && !has_window(w, k, w->window[i].dim) &&
                is_sharded_along(&in[k], mdims))
                return false;
    }
    for (int k = 0; k < s->n_out; k++)
        for (int i = 0; i < w->n && tsr__schema_gives(s, k); i++) {
            const int d = w->window[i].dim;
            const tsr_operand *anchor = &call->out[TSR_OUTPUT(w->anchor)];
            if (d >= call->out[k].shape.ndim || call->out[k].first[d] != anchor->first[d] ||
                call->out[k].shape.size[d] != anchor->shape.size[d])
                return false;
        }
    return true;
}

static void add_box(const box *b, int ndim, box *boxes, int *n)
{
    if (!is_empty(b, ndim))
        boxes[(*n)++] = *b;
}

/* What of the anchor's part needs only the own parts; then what is left around it. */
static int cut_anchor(const tsr_halo_overlap *p, const tsr_schema *s, const tsr_windows *w,
                      const tsr_operand *anchor, box *boxes)
{
    const int ndim = anchor->shape.ndim;
    box rest = box_of(anchor), inner = rest;
    int n = 0;

    for (int i = 0; i < w->n; i++) {
        const tsr_window *x = &w->window[i];
        const tsr_operand *own = &p->own[x->operand];
        const tsr_dim_window seen = window_of(x, 0);

        shrink(&seen, s->in[x->operand].shape.size[x->dim], own->first[x->dim],
               own->first[x->dim] + own->shape.size[x->dim], &inner.begin[x->dim],
               &inner.end[x->dim]);
    }
    if (is_empty(&inner, ndim))
        return 0;
    add_box(&inner, ndim, boxes, &n);
    for (int d = 0; d < ndim; d++) {
        box before = rest, behind = rest;

        before.end[d] = inner.begin[d];
        behind.begin[d] = inner.end[d];
        add_box(&before, ndim, boxes, &n);
        add_box(&behind, ndim, boxes, &n);
        rest.begin[d] = inner.begin[d];
        rest.end[d] = inner.end[d];
    }
    return n;
}

/* The call of one piece, prepared. */
static tsr_status add_piece(tsr_mesh *mesh, tsr_halo_overlap *p, const tsr_schema *s,
                            const tsr_spec *in, const tsr_spec *out, const tsr_windows *w,
                            const tsr_kernel_call *call, const box *at)
{
    tsr_ctx *ctx = mesh->ctx;
    tsr_kernel_call sub = *call;
    tsr_status st = TSR_OK;

    sub.state = NULL;
    sub.attrs = s->attrs;
    for (int k = 0; k < s->n_in; k++)
        if (p->cut_in[k])
            cut_operand(s, w, k, at, &sub.in[k]);
    for (int k = 0; k < s->n_out; k++)
        if (p->cut_out[k])
            cut_operand(s, w, TSR_OUTPUT(k), at, &sub.out[k]);
    if (s->op->bind_rank) { /* it may go by where operands begin */
        memset(sub.number, 0, sizeof sub.number);
        s->op->bind_rank(s, in, out, mesh->coord, &sub);
    }
    if (s->op->prepare)
        TSR_TRY(s->op->prepare(&sub, &ctx->error));
    TSR_TRY(tsr__compact_call_make(&ctx->heap, s, &sub, &p->piece[p->n], &ctx->error));
    p->n++;
done:
    if (st != TSR_OK && s->op->release && sub.state)
        s->op->release(&sub);
    return st;
}

static void set_own(tsr_halo_overlap *p, int k, const tsr_spec *spec, const int *coord)
{
    tsr_layout layout = tsr__layout_of(spec);

    p->own[k] = (tsr_operand){.dtype = spec->dtype, .shape = {.ndim = spec->shape.ndim}};
    for (int d = 0; d < spec->shape.ndim; d++) {
        int64_t begin = -1, end;
        p->own[k].shape.size[d] = tsr__layout_extent(&layout, d, coord);
        if (!tsr__layout_interval(&layout, d, coord, &begin, &end))
            begin = -1;
        p->own[k].first[d] = begin;
    }
}

tsr_status tsr__halo_overlap_make(tsr_mesh *mesh, const tsr_schema *s, const tsr_spec *in,
                                  const tsr_spec *out, const tsr_windows *w,
                                  const tsr_kernel_call *call, tsr_halo_overlap **overlap)
{
    tsr_ctx *ctx = mesh->ctx;
    tsr_halo_overlap *p = NULL;
    box boxes[PIECES];
    int n;
    tsr_status st = TSR_OK;

    *overlap = NULL;
    if (!can_be_cut(s, in, out, w, call))
        return TSR_OK;
    TSR_TRY(
        tsr__alloc(&ctx->heap, 1, sizeof *p + (size_t)s->n_in * sizeof *p->own, &p, &ctx->error));
    p->op = s->op;
    for (int k = 0; k < s->n_in; k++) {
        p->cut_in[k] = tsr__schema_has(s, k) && has_window(w, k, -1);
        if (p->cut_in[k])
            set_own(p, k, &in[k], mesh->coord);
    }
    for (int k = 0; k < s->n_out; k++)
        p->cut_out[k] = tsr__schema_gives(s, k);
    n = cut_anchor(p, s, w, &call->out[TSR_OUTPUT(w->anchor)], boxes);
    for (int i = 0; i < n; i++)
        TSR_TRY(add_piece(mesh, p, s, in, out, w, call, &boxes[i]));
    if (n > 0)
        *overlap = p, p = NULL;
done:
    tsr__halo_overlap_free(ctx, p, s->attrs.value);
    return st;
}

void tsr__halo_overlap_free(tsr_ctx *ctx, tsr_halo_overlap *p, const tsr_attr *attrs)
{
    for (int i = 0; p && i < p->n; i++)
        tsr__compact_call_free(&ctx->heap, p->piece[i], attrs, false);
    tsr__free(&ctx->heap, p);
}

bool tsr__halo_overlap_pays(const tsr_kernel_call *call, const tsr_windows *w, double halo_seconds,
                            const tsr_cost *cost)
{
    double bytes = 0, pieces = 0;

    for (int k = 0; k < call->n_in; k++)
        if (has_window(w, k, -1))
            bytes += (double)tsr_shape_count(&call->in[k].shape) *
                     (double)tsr_dtype_size(call->in[k].dtype);
    for (int k = 0; k < call->n_out; k++)
        if (call->out[k].shape.ndim >= 0)
            bytes += (double)tsr_shape_count(&call->out[k].shape) *
                     (double)tsr_dtype_size(call->out[k].dtype);
    for (int d = 0; d < TSR_MAX_DIM; d++)
        for (int i = 0; i < w->n; i++)
            if (w->window[i].dim == d) {
                pieces += 2;
                break;
            }
    return halo_seconds > 2 * bytes * cost->memory + pieces * PER_PIECE;
}

/* ---- running ---- */

/* Cut inputs out of what is in `from`, run, paste outputs. */
static tsr_status run_piece(const tsr_halo_overlap *p, int i, tsr_ctx *ctx,
                            const tsr_kernel_call *call, const tsr_attr *attrs,
                            const tsr_operand *from)
{
    tsr_tensor *none[TSR_MAX_IN] = {NULL};
    void *in[TSR_MAX_IN] = {NULL}, *out[TSR_MAX_OUT] = {NULL};
    tsr_kernel_call sub;
    tsr_status st = TSR_OK;

    tsr__compact_call_expand(p->piece[i], attrs, 0, none, none, &sub);
    sub.error = call->error;
    for (int k = 0; k < sub.n_in; k++) {
        tsr_operand packed = sub.in[k];
        size_t size = tsr_dtype_size(packed.dtype);

        sub.in[k].data = call->in[k].data;
        if (!p->cut_in[k])
            continue;
        TSR_TRY(tsr__pool_get(&ctx->pool, (size_t)tsr_shape_count(&packed.shape) * size, &in[k],
                              &ctx->error));
        const tsr_piece to = place_in(&packed, &packed), at = place_in(&from[k], &packed);
        tsr__piece_copy(size, in[k], &to, from[k].data, &at);
        sub.in[k].data = in[k];
    }
    for (int k = 0; k < sub.n_out; k++) {
        sub.out[k].data = NULL;
        if (!p->cut_out[k])
            continue;
        TSR_TRY(tsr__pool_get(&ctx->pool,
                              (size_t)tsr_shape_count(&sub.out[k].shape) *
                                  tsr_dtype_size(sub.out[k].dtype),
                              &out[k], &ctx->error));
        sub.out[k].data = out[k];
    }
    if (p->op->scratch)
        TSR_TRY(tsr__pool_get(&ctx->pool, p->op->scratch(&sub), &sub.scratch, &ctx->error));
    p->op->kernel(&sub);
    for (int k = 0; k < sub.n_out; k++)
        if (p->cut_out[k]) {
            const tsr_piece from_piece = place_in(&sub.out[k], &sub.out[k]);
            const tsr_piece to = place_in(&call->out[k], &sub.out[k]);
            tsr__piece_copy(tsr_dtype_size(sub.out[k].dtype), call->out[k].data, &to, out[k],
                            &from_piece);
        }
done:
    for (int k = 0; k < TSR_MAX_IN; k++)
        tsr__pool_put(&ctx->pool, in[k]);
    for (int k = 0; k < TSR_MAX_OUT; k++)
        tsr__pool_put(&ctx->pool, out[k]);
    tsr__pool_put(&ctx->pool, sub.scratch);
    return st;
}

tsr_status tsr__halo_overlap_interior(tsr_halo_overlap *p, tsr_ctx *ctx,
                                      const tsr_kernel_call *call, const tsr_attr *attrs,
                                      tsr_tensor *const *in)
{
    for (int k = 0; k < call->n_in; k++)
        p->own[k].data = p->cut_in[k] ? tsr__tensor_data(in[k]) : NULL;
    return run_piece(p, 0, ctx, call, attrs, p->own);
}

tsr_status tsr__halo_overlap_boundary(tsr_halo_overlap *p, tsr_ctx *ctx,
                                      const tsr_kernel_call *call, const tsr_attr *attrs)
{
    tsr_status st = TSR_OK;

    for (int i = 1; i < p->n && call->error->code == TSR_OK; i++)
        TSR_TRY(run_piece(p, i, ctx, call, attrs, call->in));
done:
    return st;
}
