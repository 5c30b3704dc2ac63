/* SPDX-License-Identifier: Apache-2.0 */
/* naive_layout.c - the chunk rule applied to arrays of indices, one by one. */
#include "naive_layout.h"

#include <assert.h>
#include <string.h>

/* n elements over p: c = ceil(n/p), part r has offset min(rc, n) and size max(0, min(c, n - rc)) */
static int chunk(int n, int64_t p, int64_t r, int *offset)
{
    int64_t c = (n + p - 1) / p, o = r * c < n ? r * c : n, size = c < n - r * c ? c : n - r * c;

    *offset = (int)o;
    return size < 0 ? 0 : (int)size;
}

int naive_shard(int64_t *index, int n, int p, int r, int64_t factor)
{
    int64_t old[NAIVE_MAX];
    int count = 0;

    memcpy(old, index, (size_t)n * sizeof *old);
    for (int64_t piece = 0; piece < factor && piece < n; piece++) {
        int piece_at, at, size = chunk(n, factor, piece, &piece_at);
        int part = chunk(size, p, r, &at);
        for (int i = 0; i < part; i++)
            index[count++] = old[piece_at + at + i];
    }
    return count;
}

enum { REACH = 200 }; /* of circular windows, on both sides of 0 */

int naive_indices(const tsr_layout *layout, int dim, const int *coord, int64_t *out)
{
    const tsr_dim_layout *by = &layout->dim[dim];
    const tsr_dim_window *w = &by->window;
    int64_t whole = layout->shape.size[dim];
    int n = (int)(w->on ? w->n : whole), seen = 0;
    bool in[NAIVE_MAX];

    assert(n <= NAIVE_MAX && whole <= NAIVE_MAX);
    for (int i = 0; i < n; i++)
        out[i] = i;
    for (int i = 0; i < by->n; i++)
        n = naive_shard(out, n, layout->mesh.size[by->mdim[i]], coord[by->mdim[i]], by->factor[i]);
    if (!w->on)
        return n;
    memset(in, 0, sizeof in);
    /* a coarse index q sees [q * mul + lo, q * mul + hi) in units of 1 / div, and so all between
       the first and last: x is cut off at its end, (x + 1) * div */
    assert(!w->circular || n == 0 || (w->lo > -REACH && out[n - 1] * w->mul + w->hi < REACH));
    for (int i = 0; i < n && w->circular; i++)
        for (int64_t x = -REACH, div = w->div ? w->div : 1; whole > 0 && x < REACH; x++)
            if ((x + 1) * div > out[0] * w->mul + w->lo && (x + 1) * div <= out[i] * w->mul + w->hi)
                in[(x % whole + whole) % whole] = true;
    for (int i = 0; i < n && !w->circular; i++)
        for (int64_t x = 0, div = w->div ? w->div : 1; x < whole; x++)
            if ((x + 1) * div > out[0] * w->mul + w->lo && (x + 1) * div <= out[i] * w->mul + w->hi)
                in[x] = true;
    for (int x = 0; x < whole; x++)
        if (in[x])
            out[seen++] = x;
    return seen;
}

int naive_elements(const tsr_layout *layout, const int *coord, bool *held)
{
    int64_t count = 1, index[NAIVE_MAX];
    int n = 0;

    for (int d = 0; d < layout->shape.ndim; d++)
        count *= layout->shape.size[d];
    assert(count <= NAIVE_MAX);
    for (int64_t e = 0; e < count; e++)
        held[e] = true;
    int64_t inner = count;
    for (int d = 0; d < layout->shape.ndim; d++) {
        bool in[NAIVE_MAX];
        memset(in, 0, (size_t)layout->shape.size[d]);
        int some = naive_indices(layout, d, coord, index);
        for (int i = 0; i < some; i++)
            in[index[i]] = true;
        inner = layout->shape.size[d] ? inner / layout->shape.size[d] : 0;
        for (int64_t e = 0; e < count; e++)
            held[e] = held[e] && in[e / inner % layout->shape.size[d]];
    }
    for (int64_t e = 0; e < count; e++)
        n += held[e];
    return n;
}

int naive_largest(const tsr_layout *layout)
{
    int64_t index[NAIVE_MAX];
    int ranks = 1, most = 0, coord[TSR_MAX_MESH];

    for (int m = 0; m < layout->mesh.ndim; m++)
        ranks *= layout->mesh.size[m];
    for (int r = 0; r < ranks; r++) {
        int rest = r, n = 1;
        for (int m = layout->mesh.ndim - 1; m >= 0; m--) {
            coord[m] = rest % layout->mesh.size[m];
            rest /= layout->mesh.size[m];
        }
        for (int d = 0; d < layout->shape.ndim; d++)
            n *= naive_indices(layout, d, coord, index);
        most = n > most ? n : most;
    }
    return most;
}

bool naive_same(const tsr_layout *a, const tsr_layout *b)
{
    static bool x[NAIVE_MAX], y[NAIVE_MAX];
    int ranks = 1, coord[TSR_MAX_MESH];

    for (int d = 0; d < a->shape.ndim && d < b->shape.ndim; d++)
        if (a->shape.size[d] != b->shape.size[d])
            return false;
    if (a->mesh.ndim != b->mesh.ndim || a->shape.ndim != b->shape.ndim || a->dtype != b->dtype)
        return false;
    for (int m = 0; m < a->mesh.ndim; m++) {
        ranks *= a->mesh.size[m];
        if (a->mesh.size[m] != b->mesh.size[m])
            return false;
        if (a->mesh.size[m] > 1 &&
            (a->partial[m] != b->partial[m] || (a->partial[m] && a->reduce[m] != b->reduce[m])))
            return false;
    }
    for (int r = 0; r < ranks; r++) {
        int rest = r;
        for (int m = a->mesh.ndim - 1; m >= 0; m--) {
            coord[m] = rest % a->mesh.size[m];
            rest /= a->mesh.size[m];
        }
        if (naive_elements(a, coord, x) != naive_elements(b, coord, y) ||
            memcmp(x, y, (size_t)tsr_shape_count(&a->shape)) != 0)
            return false;
    }
    return true;
}
