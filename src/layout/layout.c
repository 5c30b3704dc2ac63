/* SPDX-License-Identifier: Apache-2.0 */
/* layout.c - from placements to the indices that a rank holds. Nested shards apply the chunk rule
   to the current piece, outermost mesh dim first; this file is the only place that knows it. */
#include "layout/layout.h"
#include "base/args.h"

#include <stdio.h>

tsr_layout tsr__layout_of(const tsr_spec *spec)
{
    const tsr_spec effective = tsr__spec_effective(spec);
    tsr_layout layout = {.dtype = spec->dtype, .shape = spec->shape, .mesh = spec->mesh};

    for (int m = 0; m < spec->mesh.ndim; m++) {
        const tsr_placement *p = &effective.place[m];
        if (p->kind == TSR_PARTIAL) {
            layout.partial[m] = true;
            layout.reduce[m] = p->reduce;
        } else if (p->kind != TSR_REPLICATE) {
            tsr_dim_layout *dim = &layout.dim[p->dim];
            dim->mdim[dim->n] = m;
            dim->factor[dim->n] = p->kind == TSR_STRIDED ? p->factor : 1;
            dim->n++;
        }
    }
    return layout;
}

static bool dims_equal(const tsr_dim_layout *a, const tsr_dim_layout *b)
{
    const tsr_dim_window *v = &a->window, *w = &b->window;

    for (int i = 0; i < a->n && a->n == b->n; i++)
        if (a->mdim[i] != b->mdim[i] || a->factor[i] != b->factor[i])
            return false;
    return a->n == b->n && v->on == w->on &&
           (!v->on || (v->circular == w->circular && v->n == w->n && v->mul == w->mul &&
                       v->lo == w->lo && v->hi == w->hi && v->div == w->div));
}

bool tsr__layout_equal(const tsr_layout *a, const tsr_layout *b)
{
    if (a->dtype != b->dtype || a->shape.ndim != b->shape.ndim ||
        !tsr__mesh_equal(&a->mesh, &b->mesh))
        return false;
    for (int d = 0; d < a->shape.ndim; d++)
        if (a->shape.size[d] != b->shape.size[d] || !dims_equal(&a->dim[d], &b->dim[d]))
            return false;
    return true;
}

static bool left_to_right(const tsr_dim_layout *dim)
{
    for (int i = 1; i < dim->n; i++)
        if (dim->mdim[i] < dim->mdim[i - 1])
            return false;
    return true;
}

static size_t shard_text(const tsr_layout *layout, int d, int i, char *buf, size_t n)
{
    const tsr_dim_layout *dim = &layout->dim[d];
    tsr_placement place = {
        .kind = dim->factor[i] > 1 ? TSR_STRIDED : TSR_SHARD, .dim = d, .factor = dim->factor[i]};
    char one[48];
    size_t used = (size_t)snprintf(buf, n, "%s", tsr__placement_text(&place, one, sizeof one));

    for (int k = 0; k < dim->n && !left_to_right(dim) && used < n; k++)
        used += (size_t)snprintf(buf + used, n - used, "%s%d", k ? "," : "/", dim->mdim[k]);
    return used;
}

const char *tsr__layout_text(const tsr_layout *layout, char *buf, size_t n)
{
    size_t used = (size_t)snprintf(buf, n, "[");

    for (int m = 0; m < layout->mesh.ndim && used < n; m++) {
        bool sharded = false;
        if (m > 0)
            used += (size_t)snprintf(buf + used, n - used, ",");
        for (int d = 0; d < layout->shape.ndim && used < n; d++)
            for (int i = 0; i < layout->dim[d].n && used < n; i++)
                if (layout->dim[d].mdim[i] == m) {
                    used += shard_text(layout, d, i, buf + used, n - used);
                    sharded = true;
                }
        if (used < n && layout->partial[m])
            used +=
                (size_t)snprintf(buf + used, n - used, "P(%s)", tsr_reduce_name(layout->reduce[m]));
        else if (used < n && !sharded)
            used += (size_t)snprintf(buf + used, n - used, "R");
    }
    if (used < n)
        snprintf(buf + used, n - used, "]");
    return buf;
}

/* Of n indices cut into f pieces by the chunk rule: all but the last one have `piece` indices. */
static void pieces(int64_t n, int64_t f, int64_t *piece, int64_t *whole, int64_t *rest)
{
    *piece = n / f + (n % f != 0);
    *whole = *piece ? n / *piece : 0;
    *rest = *piece ? n % *piece : 0;
}

int64_t tsr__shard_extent(int64_t n, int p, int r, int64_t factor)
{
    int64_t piece, whole, rest, b, e, b2, e2;

    pieces(n, factor, &piece, &whole, &rest);
    tsr__chunk(piece, p, r, &b, &e);
    tsr__chunk(rest, p, r, &b2, &e2);
    return whole * (e - b) + (e2 - b2);
}

/* That is the first rank's part, unless a strided shard lies inside another shard: there fewer
   indices can give a longer part (SS(0,4) over 2 ranks: 3 of 5, but 4 of 4). */
int64_t tsr__shard_longest(int64_t n, int count, const int *p, const int64_t *factor)
{
    bool strided = false;
    int64_t longest = 0, last = -1;

    for (int i = 1; i < count; i++)
        strided = strided || factor[i] > 1;
    if (!strided) {
        for (int i = 0; i < count; i++)
            n = tsr__shard_extent(n, p[i], 0, factor[i]);
        return n;
    }
    for (int r = 0; r < p[0]; r++) {
        int64_t part = tsr__shard_extent(n, p[0], r, factor[0]), inner;
        if (part == last)
            continue;
        last = part;
        inner = tsr__shard_longest(part, count - 1, p + 1, factor + 1);
        longest = inner > longest ? inner : longest;
    }
    return longest;
}

/* Replace the indices in `runs` by part r of p of them. */
static tsr_status shard(tsr_heap *heap, tsr_runs *runs, int p, int r, int64_t factor,
                        tsr_error *err)
{
    tsr_runs part = {0};
    int64_t piece, whole, rest, b, e, b2, e2;
    tsr_status st = TSR_OK;

    pieces(tsr__runs_count(runs), factor, &piece, &whole, &rest);
    tsr__chunk(piece, p, r, &b, &e);
    tsr__chunk(rest, p, r, &b2, &e2);
    if (runs->n == 1 && tsr__runs_at(runs, 0)->count == 1) {
        int64_t begin = tsr__runs_at(runs, 0)->begin;
        TSR_TRY(
            tsr__runs_append(heap, &part, (tsr_index_run){begin + b, e - b, piece, whole}, err));
        TSR_TRY(tsr__runs_append(heap, &part,
                                 (tsr_index_run){begin + whole * piece + b2, e2 - b2, 0, 1}, err));
    } else {
        /* a strided shard of a strided shard: in general as many runs as pieces */
        if (whole > TSR_RUNS_MAX)
            TSR_TRY(tsr__fail(
                err, TSR_ERR_SPEC,
                "a strided shard within another one has %lld pieces, at most %d are supported",
                (long long)whole, TSR_RUNS_MAX));
        for (int64_t k = 0; k < whole && e > b; k++)
            TSR_TRY(tsr__runs_slice(heap, runs, k * piece + b, k * piece + e, &part, err));
        TSR_TRY(tsr__runs_slice(heap, runs, whole * piece + b2, whole * piece + e2, &part, err));
    }
    tsr__runs_free(heap, runs);
    *runs = part;
    part = (tsr_runs){0};
done:
    tsr__runs_free(heap, &part);
    return st;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

void tsr__window_reach(const tsr_dim_window *w, int64_t b, int64_t e, int64_t *from, int64_t *to)
{
    const int64_t div = w->div ? w->div : 1;

    *from = floor_div(b * w->mul + w->lo, div);
    *to = floor_div((e - 1) * w->mul + w->hi, div);
    if (b >= e || *to < *from)
        *to = *from;
}

void tsr__window_see(const tsr_dim_window *w, int64_t n, int64_t b, int64_t e, int64_t *begin,
                     int64_t *end)
{
    int64_t lo, hi;

    tsr__window_reach(w, b, e, &lo, &hi);
    if (w->circular) {
        const bool all = hi - lo >= n;

        *begin = all ? 0 : lo - floor_div(lo, n) * n;
        *end = all ? n : *begin + (hi - lo);
        return;
    }
    *begin = lo < 0 ? 0 : lo > n ? n : lo;
    *end = hi < *begin || b >= e ? *begin : hi > n ? n : hi;
}

bool tsr__layout_interval(const tsr_layout *layout, int dim, const int *coord, int64_t *begin,
                          int64_t *end)
{
    const tsr_dim_layout *by = &layout->dim[dim];

    *begin = 0;
    *end = by->window.on ? by->window.n : layout->shape.size[dim];
    for (int i = 0; i < by->n; i++) {
        int64_t b, e;
        if (by->factor[i] != 1)
            return false;
        tsr__chunk(*end - *begin, layout->mesh.size[by->mdim[i]], coord[by->mdim[i]], &b, &e);
        *end = *begin + e;
        *begin += b;
    }
    if (by->window.on)
        tsr__window_see(&by->window, layout->shape.size[dim], *begin, *end, begin, end);
    return true;
}

tsr_status tsr__layout_runs(tsr_heap *heap, const tsr_layout *layout, int dim, const int *coord,
                            tsr_runs *out, tsr_error *err)
{
    const tsr_dim_layout *by = &layout->dim[dim];
    const tsr_dim_window *w = &by->window;
    int64_t n = w->on ? w->n : layout->shape.size[dim];
    tsr_runs runs = {0};
    tsr_status st;

    TSR_TRY(tsr__runs_append(heap, &runs, (tsr_index_run){0, n, 0, 1}, err));
    for (int i = 0; i < by->n; i++) {
        int m = by->mdim[i];
        TSR_TRY(shard(heap, &runs, layout->mesh.size[m], coord[m], by->factor[i], err));
    }
    if (w->on && runs.n > 0) {
        /* windows are for plain shards: one interval */
        tsr_index_run *run = &runs.fixed[0];
        int64_t begin, end;
        tsr__window_see(w, layout->shape.size[dim], run->begin, run->begin + run->len, &begin,
                        &end);
        const int64_t whole = layout->shape.size[dim], around = end > whole ? end - whole : 0;
        runs.n = 0;
        TSR_TRY(tsr__runs_append(heap, &runs, (tsr_index_run){0, around, 0, 1}, err));
        TSR_TRY(
            tsr__runs_append(heap, &runs, (tsr_index_run){begin, end - around - begin, 0, 1}, err));
    }
    *out = runs;
    runs = (tsr_runs){0};
done:
    tsr__runs_free(heap, &runs);
    return st;
}

int64_t tsr__layout_extent(const tsr_layout *layout, int dim, const int *coord)
{
    const tsr_dim_layout *by = &layout->dim[dim];
    int64_t n = layout->shape.size[dim], begin, end;

    if (by->window.on) /* for plain shards */
        return tsr__layout_interval(layout, dim, coord, &begin, &end) ? end - begin : 0;
    for (int i = 0; i < by->n; i++)
        n = tsr__shard_extent(n, layout->mesh.size[by->mdim[i]], coord[by->mdim[i]], by->factor[i]);
    return n;
}

tsr_shape tsr__layout_local_shape(const tsr_layout *layout, const int *coord)
{
    tsr_shape shape = {.ndim = layout->shape.ndim};

    for (int d = 0; d < shape.ndim; d++)
        shape.size[d] = tsr__layout_extent(layout, d, coord);
    return shape;
}

/* The longest part that a window shows: mostly one without a border, so all of them are tried. */
static int64_t window_longest(const tsr_layout *layout, int dim, int i, int *coord)
{
    const tsr_dim_layout *by = &layout->dim[dim];
    int64_t longest = 0;

    if (i == by->n)
        return tsr__layout_extent(layout, dim, coord);
    for (int r = 0; r < layout->mesh.size[by->mdim[i]]; r++) {
        coord[by->mdim[i]] = r;
        int64_t n = window_longest(layout, dim, i + 1, coord);
        longest = n > longest ? n : longest;
    }
    return longest;
}

size_t tsr__layout_bytes(const tsr_layout *layout)
{
    size_t bytes = tsr_dtype_size(layout->dtype);

    for (int d = 0; d < layout->shape.ndim; d++) {
        const tsr_dim_layout *by = &layout->dim[d];
        int p[TSR_MAX_MESH], coord[TSR_MAX_MESH] = {0};
        for (int i = 0; i < by->n; i++)
            p[i] = layout->mesh.size[by->mdim[i]];
        bytes *= (size_t)(by->window.on
                              ? window_longest(layout, d, 0, coord)
                              : tsr__shard_longest(layout->shape.size[d], by->n, p, by->factor));
    }
    return bytes;
}

/* ---- the public look at a spec ---- */

static tsr_status check_index(const tsr_spec *spec, int index, tsr_error *err)
{
    tsr_status st;

    TSR_TRY(tsr_spec_check(spec, err));
    if (index < 0 || index >= tsr__mesh_size(&spec->mesh))
        st = tsr__fail(err, TSR_ERR_ARG, "mesh index %d is out of range 0 to %d", index,
                       tsr__mesh_size(&spec->mesh) - 1);
done:
    return st;
}

tsr_status tsr_spec_local_shape(const tsr_spec *spec, int index, tsr_shape *out, tsr_error *err)
{
    TSR_NEED(TSR_ERR_ARG, err, spec, out);

    int coord[TSR_MAX_MESH];
    tsr_layout layout;
    tsr_status st;

    TSR_TRY(check_index(spec, index, err));
    layout = tsr__layout_of(spec);
    tsr__mesh_coords(&spec->mesh, index, coord);
    *out = tsr__layout_local_shape(&layout, coord);
done:
    return st;
}

tsr_status tsr_spec_runs(const tsr_spec *spec, int index, int dim, tsr_index_run *runs, int cap,
                         int *n, tsr_error *err)
{
    TSR_NEED(TSR_ERR_ARG, err, spec, n);
    if (cap > 0)
        TSR_NEED(TSR_ERR_ARG, err, runs);

    tsr_heap heap = {0};
    tsr_runs all = {0};
    int coord[TSR_MAX_MESH];
    tsr_layout layout;
    tsr_status st;

    TSR_TRY(check_index(spec, index, err));
    if (dim < 0 || dim >= spec->shape.ndim)
        return tsr__fail(err, TSR_ERR_ARG, "dim %d is out of range 0 to %d", dim,
                         spec->shape.ndim - 1);
    layout = tsr__layout_of(spec);
    tsr__mesh_coords(&spec->mesh, index, coord);
    TSR_TRY(tsr__layout_runs(&heap, &layout, dim, coord, &all, err));
    for (int i = 0; i < all.n && i < cap; i++)
        runs[i] = *tsr__runs_at(&all, i);
    *n = all.n;
done:
    tsr__runs_free(&heap, &all);
    return st;
}
