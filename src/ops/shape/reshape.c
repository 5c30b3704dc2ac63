/* SPDX-License-Identifier: Apache-2.0 */
/* reshape.c - the same elements in another shape. Dims fall into groups with equal products, in
   which they are merged or split. A shard of a group's first dim stays one of the first dim, if
   the cuts fall on the same elements; a shard of a later dim becomes a strided shard of what it
   is merged into, and the other way round. Whether cuts agree depends on the mesh, so whole
   strategies are checked. */
#include <inttypes.h>

#include "ops/shape/rearrange.h"
#include "layout/layout.h"
#include "ops/shape/shape_ops.h"
#include "ops/shape/shape_attrs.h"
#include "op/infer.h"

/* Dims [in0, in1) of the input hold the same elements as dims [out0, out1) of the output. */
typedef struct group {
    int in0, in1, out0, out1;
} group;

static int groups_of(const tsr_shape *in, const tsr_shape *out, group *g)
{
    int n = 0, i = 0, j = 0;

    while (i < in->ndim || j < out->ndim) {
        int64_t a = i < in->ndim ? in->size[i] : 1, b = j < out->ndim ? out->size[j] : 1;
        g[n] = (group){i, i + (i < in->ndim), j, j + (j < out->ndim)};
        while (a != b) {
            if (a < b)
                a *= in->size[g[n].in1++];
            else
                b *= out->size[g[n].out1++];
        }
        i = g[n].in1;
        j = g[n].out1;
        n++;
    }
    return n;
}

static int64_t product(const tsr_shape *s, int from, int to)
{
    int64_t n = 1;
    for (int d = from; d < to; d++)
        n *= s->size[d];
    return n;
}

/* ---- shape ---- */

static tsr_status reshape_shape(tsr_schema *s, tsr_error *err)
{
    const tsr_attr *to = tsr_schema_attr(s, "shape");
    int64_t count = tsr_shape_count(&s->in[0].shape), known = 1;
    tsr_shape out = {.ndim = to->n < 0 ? 0 : to->n};
    char text[TSR_TEXT_LEN], want[TSR_TEXT_LEN];
    int open = -1;

    for (int d = 0; d < out.ndim; d++) {
        out.size[d] = to->i[d];
        if (to->i[d] == -1 && open < 0)
            open = d;
        else if (to->i[d] < 0 || __builtin_mul_overflow(known, to->i[d], &known))
            return tsr__fail(err, TSR_ERR_SHAPE, "reshape: size %" PRId64 " of dim %d is invalid",
                             to->i[d], d);
    }
    if (open >= 0 && known > 0 && count % known == 0)
        out.size[open] = count / known;
    tsr__shape_text(&out, want, sizeof want);
    if (open >= 0 ? out.size[open] < 0 : known != count)
        return tsr__fail(err, TSR_ERR_SHAPE,
                         "reshape: %s has %" PRId64 " elements, which do not fit %s",
                         tsr_spec_text(&s->in[0], text, sizeof text), count, want);
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0] = out;
    return TSR_OK;
}

/* The dims of size 1 among those given, or all; none of them where dims are left. */
static tsr_status squeezed(const tsr_schema *s, unsigned *mask, tsr_error *err)
{
    const tsr_shape *x = &s->in[0].shape;
    int dim[TSR_MAX_DIM], n;
    tsr_status st;

    TSR_TRY(tsr__dims_list(s, x->ndim, dim, &n, mask, err));
    if (tsr_schema_attr(s, "dims")->n < 0)
        *mask = (1u << x->ndim) - 1;
    for (int d = 0; d < x->ndim; d++)
        if (x->size[d] != 1)
            *mask &= ~(1u << d);
done:
    return st;
}

static tsr_status squeeze_shape(tsr_schema *s, tsr_error *err)
{
    const tsr_shape *x = &s->in[0].shape;
    tsr_shape out = {0};
    unsigned gone;
    tsr_status st;

    TSR_TRY(squeezed(s, &gone, err));
    for (int d = 0; d < x->ndim; d++)
        if (!(gone >> d & 1))
            out.size[out.ndim++] = x->size[d];
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0] = out;
done:
    return st;
}

/* Parts may have dims of size 1 that the whole has not: those that go are named. */
static void squeeze_bind_rank(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                              const int *coord, tsr_kernel_call *call)
{
    tsr_attr *dims = &call->attrs.value[TSR_ATTR_SQUEEZE_DIMS];
    unsigned gone = 0;

    (void)in;
    (void)out;
    (void)coord;
    dims->n = 0;
    for (int d = 0; squeezed(s, &gone, NULL) == TSR_OK && d < s->in[0].shape.ndim; d++)
        if (gone >> d & 1)
            dims->i[dims->n++] = d;
}

static tsr_status unsqueeze_shape(tsr_schema *s, tsr_error *err)
{
    const tsr_attr *dims = tsr_schema_attr(s, "dims");
    const tsr_shape *x = &s->in[0].shape;
    tsr_shape out = {.ndim = x->ndim + (dims->n < 0 ? 0 : dims->n)};
    int dim[TSR_MAX_DIM], n, from = 0;
    char text[TSR_TEXT_LEN];
    unsigned new;
    tsr_status st;

    if (out.ndim > TSR_MAX_DIM)
        return tsr__fail(
            err, TSR_ERR_SHAPE,
            "unsqueeze: %s has %d dims, %d more are too many, at most %d are supported",
            tsr_spec_text(&s->in[0], text, sizeof text), x->ndim, dims->n, TSR_MAX_DIM);
    TSR_TRY(tsr__dims_list(s, out.ndim, dim, &n, &new, err));
    for (int d = 0; d < out.ndim; d++)
        out.size[d] = new >> d & 1 ? 1 : x->size[from++];
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0] = out;
done:
    return st;
}

static tsr_status flatten_shape(tsr_schema *s, tsr_error *err)
{
    const tsr_shape *x = &s->in[0].shape;
    const int ndim = x->ndim > 0 ? x->ndim : 1; /* a scalar becomes a vector */
    tsr_shape out = {0};
    int start, end;
    tsr_status st;

    TSR_TRY(tsr__dim_normalise(s, tsr_schema_attr(s, "start")->i[0], ndim, &start, err));
    TSR_TRY(tsr__dim_normalise(s, tsr_schema_attr(s, "end")->i[0], ndim, &end, err));
    if (start > end)
        return tsr__fail(err, TSR_ERR_ARG, "flatten: start, dim %d, is after end, dim %d", start,
                         end);
    for (int d = 0; d < start; d++)
        out.size[out.ndim++] = x->size[d];
    out.size[out.ndim++] = product(x, start, x->ndim > 0 ? end + 1 : 0);
    for (int d = end + 1; d < x->ndim; d++)
        out.size[out.ndim++] = x->size[d];
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0] = out;
done:
    return st;
}

/* ---- rules ---- */

static tsr_rule_placement strided(int dim, int64_t factor)
{
    return (tsr_rule_placement){.place = {.kind = factor > 1 ? TSR_STRIDED : TSR_SHARD,
                                          .dim = dim,
                                          .factor = factor > 1 ? factor : 0}};
}

static tsr_status add_pair(tsr_rules *rules, tsr_rule_placement in, tsr_rule_placement out,
                           tsr_error *err)
{
    return tsr_rule_add(rules, &(tsr_rule){.in = {in}, .out = {out}}, err);
}

/* Is such a strided shard among the input's? */
static bool has_factor(const tsr_spec *x, int dim, int64_t factor)
{
    for (int m = 0; m < x->mesh.ndim; m++)
        if (x->place[m].kind == TSR_STRIDED && x->place[m].dim == dim &&
            x->place[m].factor == factor)
            return true;
    return false;
}

/* A shard of input dim i, before which the group has before_in elements, as one of output dim j: it
   is strided by the elements that lie between. Outer mesh dims that shard those already leave fewer
   pieces; whether they do is seen in whole strategies. */
static tsr_status add_strided(const tsr_schema *s, int i, int j, int64_t before_in,
                              int64_t before_out, tsr_rules *out, tsr_error *err)
{
    const tsr_mesh_shape *mesh = &s->in[0].mesh;
    bool merged = before_in > before_out;
    int64_t between = merged ? before_in / before_out : before_out / before_in;
    tsr_status st = TSR_OK;

    for (unsigned outer = 0; outer == 0 || outer < (1u << mesh->ndim) - 1; outer++) {
        int64_t ranks = 1, f;
        for (int m = 0; m < mesh->ndim; m++)
            ranks *= outer >> m & 1 ? mesh->size[m] : 1;
        f = between / ranks;
        if (between % ranks != 0 || (outer && !merged && !has_factor(&s->in[0], i, f)))
            continue;
        TSR_TRY(add_pair(out, strided(i, merged ? 1 : f), strided(j, merged ? f : 1), err));
    }
done:
    return st;
}

static tsr_status group_rules(const tsr_schema *s, const group *g, tsr_rules *out, tsr_error *err)
{
    const tsr_shape *a = &s->in[0].shape, *b = &s->out_shape[0];
    tsr_status st = TSR_OK;

    if (g->in1 - g->in0 == 1 && g->out1 - g->out0 == 1)
        return add_pair(out, tsr_rule_shard(g->in0), tsr_rule_shard(g->out0), err);
    /* the dims before a sharded one, as a factor: what lies before it is what it is strided by */
    for (int i = g->in0; i < g->in1; i++)
        for (int j = g->out0; j < g->out1; j++) {
            int64_t before_in = product(a, g->in0, i), before_out = product(b, g->out0, j);
            if (before_in % before_out == 0 || before_out % before_in == 0)
                TSR_TRY(add_strided(s, i, j, before_in, before_out, out, err));
        }
done:
    return st;
}

static tsr_status reshape_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    group g[2 * TSR_MAX_DIM];
    int n;
    tsr_status st = TSR_OK;

    if (tsr_shape_count(&s->in[0].shape) == 0)
        return TSR_OK;
    n = groups_of(&s->in[0].shape, &s->out_shape[0], g);
    for (int i = 0; i < n; i++)
        TSR_TRY(group_rules(s, &g[i], out, err));
done:
    return st;
}

/* ---- do the cuts agree? ---- */

/* What a rank holds of the dims [d0, d1) of a group. */
typedef struct held {
    const tsr_shape *shape;
    int d1, last; /* the last dim that is sharded, d0 - 1 if none is */
    tsr_runs of[TSR_MAX_DIM];
} held;

/* Its elements of dims [d, d1) from `base` on, numbered row-major within the group. */
static tsr_status flatten(tsr_heap *heap, const held *h, int d, int64_t base, tsr_runs *out)
{
    int64_t inner = product(h->shape, d + 1, h->d1);
    tsr_status st = TSR_OK;

    if (d > h->last)
        return tsr__runs_append(heap, out, (tsr_index_run){base, product(h->shape, d, h->d1), 0, 1},
                                NULL);
    for (int r = 0; r < h->of[d].n; r++) {
        const tsr_index_run *x = tsr__runs_at(&h->of[d], r);
        if (d == h->last)
            TSR_TRY(tsr__runs_append(
                heap, out,
                (tsr_index_run){base + x->begin * inner, x->len * inner, x->step * inner, x->count},
                NULL));
        for (int64_t j = 0; d < h->last && j < x->count; j++)
            for (int64_t i = x->begin + j * x->step; i < x->begin + j * x->step + x->len; i++)
                TSR_TRY(flatten(heap, h, d + 1, base + i * inner, out));
    }
done:
    return st;
}

static tsr_status held_elements(tsr_heap *heap, const tsr_layout *x, int d0, int d1,
                                const int *coord, tsr_runs *out)
{
    held h = {.shape = &x->shape, .d1 = d1, .last = d0 - 1};
    tsr_status st = TSR_OK;

    for (int d = d0; d < d1; d++) {
        h.last = x->dim[d].n > 0 ? d : h.last;
        TSR_TRY(tsr__layout_runs(heap, x, d, coord, &h.of[d], NULL));
    }
    TSR_TRY(flatten(heap, &h, d0, 0, out));
done:
    for (int d = d0; d < d1; d++)
        tsr__runs_free(heap, &h.of[d]);
    return st;
}

static bool group_agrees(const tsr_layout *in, const tsr_layout *out, const group *g,
                         const int *coord)
{
    tsr_heap heap = {0};
    tsr_runs a = {0}, b = {0};
    bool same = false;

    if (held_elements(&heap, in, g->in0, g->in1, coord, &a) == TSR_OK &&
        held_elements(&heap, out, g->out0, g->out1, coord, &b) == TSR_OK) {
        int64_t n = tsr__runs_count(&a);
        same = n == tsr__runs_count(&b) && n == tsr__runs_meet_count(&a, &b);
    }
    tsr__runs_free(&heap, &a);
    tsr__runs_free(&heap, &b);
    return same;
}

static bool reshape_feasible(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out)
{
    tsr_layout a = tsr__layout_of(&in[0]), b = tsr__layout_of(&out[0]);
    group g[2 * TSR_MAX_DIM];
    int n, coord[TSR_MAX_MESH];

    if (tsr_shape_count(&s->in[0].shape) == 0)
        return true;
    n = groups_of(&s->in[0].shape, &s->out_shape[0], g);
    for (int r = 0; r < tsr__mesh_size(&in[0].mesh); r++) {
        tsr__mesh_coords(&in[0].mesh, r, coord);
        for (int i = 0; i < n; i++)
            if (!group_agrees(&a, &b, &g[i], coord))
                return false;
    }
    return true;
}

static void reshape_bind_rank(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                              const int *coord, tsr_kernel_call *call)
{
    tsr_layout layout = tsr__layout_of(&out[0]);
    tsr_shape local = tsr__layout_local_shape(&layout, coord);

    (void)s;
    (void)in;
    call->attrs.value[TSR_ATTR_RESHAPE_SHAPE].n = local.ndim;
    for (int d = 0; d < local.ndim; d++)
        call->attrs.value[TSR_ATTR_RESHAPE_SHAPE].i[d] = local.size[d];
}

static const char *const reshape_cases[] = {
    "f64[4,6] shape=24",     "f64[5,3] shape=15",
    "f64[24] shape=4,6",     "f64[15] shape=5,3",
    "f64[4,6,2] shape=8,-1", "f64[6,4,5] shape=24,5",
    "f64[5,12] shape=5,3,4", "f64[7,4] shape=2,14",
    "f64[5,3] shape=3,5",    NULL,
};

static const char *const squeeze_cases[] = {
    "f64[4,1,6]", "f64[5,1,3]", "f64[1,4,6] dims=0,1", "f64[1,5,3] dims=0,1", NULL,
};
static const char *const unsqueeze_cases[] = {
    "f64[4,6] dims=1", "f64[5,3] dims=1", "f64[4,6] dims=0,-1", "f64[5,7] dims=0,-1", NULL,
};
static const char *const flatten_cases[] = {
    "f64[4,6]", "f64[5,3]", "f64[4,2,6] start=1", "f64[5,3,4] end=-2", NULL,
};

/* What rows have in common. */
#define RESHAPE                                                                                    \
    TSR_MOVES, .inputs = "x", .rule = reshape_rule, .feasible = reshape_feasible,                  \
        .kernel = tsr__kernel_reshape, .is_view = true,                                            \
        .grad_expr = "x: reshape(g, shape=x.shape)"

const tsr_op tsr__ops_reshape[] = {
    {RESHAPE, .name = "reshape", .attrs = "shape:ints",
     .doc = "Reshapes x in row-major order; one size may be -1.", .shape = reshape_shape,
     .bind_rank = reshape_bind_rank, .cases = reshape_cases},
    {RESHAPE, .name = "squeeze", .attrs = "dims:dims?",
     .doc = "Removes those of the given dims that have size 1, or all dims of size 1.",
     .shape = squeeze_shape, .bind_rank = squeeze_bind_rank, .cases = squeeze_cases},
    {RESHAPE, .name = "unsqueeze", .attrs = "dims:dims",
     .doc = "Inserts dims of size 1 at the given positions of the output.",
     .shape = unsqueeze_shape, .cases = unsqueeze_cases},
    {RESHAPE, .name = "flatten", .attrs = "start:dim=0,end:dim=-1",
     .doc = "Flattens dims start to end, both included, into one.", .shape = flatten_shape,
     .cases = flatten_cases},
    {0},
};
