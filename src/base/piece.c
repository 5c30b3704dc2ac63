/* SPDX-License-Identifier: Apache-2.0 */
/* piece.c - copies between strided pieces: brings the loops of both sides into the best common
   order, joins those that are one run of memory on both sides, and hands the inner ones to
   piece_move.c or stream.c. Called by exchange, redist and tensor code for all that moves. */
#include "base/piece.h"

#include "base/piece_move.h"
#include "base/stream.h"

#include <string.h>

/* Two pieces walked together, without loops of one step: units of `unit` bytes. */
typedef struct walk {
    size_t unit;
    int n;
    bool stream;
    tsr_loop loop[TSR_PIECE_LOOPS];
} walk;

int64_t tsr__piece_count(const tsr_piece *piece)
{
    int64_t count = 1;

    for (int i = 0; i < piece->n; i++)
        count *= piece->count[i];
    return count;
}

bool tsr__piece_contiguous(size_t size, const tsr_piece *piece)
{
    int64_t next = (int64_t)size;

    if (tsr__piece_count(piece) == 0)
        return true;
    for (int i = piece->n - 1; i >= 0; i--) {
        if (piece->count[i] == 1)
            continue;
        if (piece->stride[i] != next)
            return false;
        next *= piece->count[i];
    }
    return true;
}

static int64_t magnitude(int64_t x)
{
    return x < 0 ? -x : x;
}

/* Is a to stand outside of b? The destination decides: a store that misses costs more. */
static bool is_outer(const tsr_loop *a, const tsr_loop *b)
{
    if (magnitude(a->to) != magnitude(b->to))
        return magnitude(a->to) > magnitude(b->to);
    return magnitude(a->from) >= magnitude(b->from);
}

static void add_sorted(walk *w, tsr_loop loop)
{
    int at = w->n++;

    for (; at > 0 && !is_outer(&w->loop[at - 1], &loop); at--)
        w->loop[at] = w->loop[at - 1];
    w->loop[at] = loop;
}

/* Join loops that are one on both sides; then the innermost ones that are a run of memory. */
static void coalesce(walk *w)
{
    int n = 0;

    for (int i = 0; i < w->n; i++) {
        tsr_loop *outer = n ? &w->loop[n - 1] : NULL, inner = w->loop[i];

        if (outer && outer->to == inner.to * inner.count &&
            outer->from == inner.from * inner.count) {
            inner.count *= outer->count;
            n--;
        }
        w->loop[n++] = inner;
    }
    if (n && w->loop[n - 1].to == (int64_t)w->unit && w->loop[n - 1].from == (int64_t)w->unit)
        w->unit *= (size_t)w->loop[--n].count;
    w->n = n;
}

/* False if there is nothing to move. `to` and `from` hold one stride per loop; `places` is the
   address of the destination. */
static bool walk_make(size_t size, int n, const int64_t *count, const int64_t *to,
                      const int64_t *from, uintptr_t places, walk *w)
{
    size_t total = size;

    w->unit = size;
    w->n = 0;
    for (int i = 0; i < n; i++) {
        if (count[i] == 0)
            return false;
        total *= (size_t)count[i];
        if (count[i] > 1)
            add_sorted(w, (tsr_loop){count[i], to[i], from[i]});
    }
    coalesce(w);
    for (int i = 0; i < w->n; i++)
        places |= (uintptr_t)w->loop[i].to;
    w->stream = tsr__move_has_unit(w->unit) ? tsr__stream_large(total)
                                            : tsr__stream_pays(total, w->unit, places);
    return true;
}

/* Where units are small, put the loop that runs along the source's memory next to the innermost
   one, which runs along the destination's: together they can be transposed in blocks. */
static void pair_loops(walk *w)
{
    for (int i = w->n - 3; i >= 0; i--)
        if (w->loop[i].from == (int64_t)w->unit) {
            tsr_loop found = w->loop[i];

            memmove(&w->loop[i], &w->loop[i + 1], (size_t)(w->n - 2 - i) * sizeof found);
            w->loop[w->n - 2] = found;
            return;
        }
}

static void leaf_rows(const walk *w, char *dst, const char *src, tsr_loop rows)
{
    if (w->stream)
        tsr__stream_rows(dst, rows.to, src, rows.from, w->unit, rows.count);
    else
        tsr__move_rows(w->unit, dst, src, rows);
}

static void run_rows(const walk *w, int depth, char *dst, const char *src)
{
    tsr_loop loop = w->loop[depth];

    if (depth == w->n - 1) {
        leaf_rows(w, dst, src, loop);
        return;
    }
    for (int64_t i = 0; i < loop.count; i++)
        run_rows(w, depth + 1, dst + i * loop.to, src + i * loop.from);
}

static void run_units(const walk *w, int depth, char *dst, const char *src)
{
    tsr_loop loop = w->loop[depth];

    if (depth == w->n - 1) {
        tsr__move_units(w->unit, w->stream, dst, src, (tsr_loop){1, 0, 0}, loop);
        return;
    }
    if (depth == w->n - 2) {
        tsr__move_units(w->unit, w->stream, dst, src, loop, w->loop[depth + 1]);
        return;
    }
    for (int64_t i = 0; i < loop.count; i++)
        run_units(w, depth + 1, dst + i * loop.to, src + i * loop.from);
}

static void walk_run(walk *w, char *dst, const char *src)
{
    if (w->n == 0) {
        leaf_rows(w, dst, src, (tsr_loop){1, 0, 0});
    } else if (tsr__move_has_unit(w->unit)) {
        pair_loops(w);
        run_units(w, 0, dst, src);
    } else {
        run_rows(w, 0, dst, src);
    }
    if (w->stream)
        tsr__stream_fence();
}

void tsr__piece_copy(size_t size, void *dst, const tsr_piece *to, const void *src,
                     const tsr_piece *from)
{
    uintptr_t place = (uintptr_t)dst + (uintptr_t)to->offset;
    walk w;

    if (walk_make(size, to->n, to->count, to->stride, from->stride, place, &w))
        walk_run(&w, (char *)dst + to->offset, (const char *)src + from->offset);
}

/* ---- to and from contiguous memory ----------------------------------------------------------- */

/* Elements begin .. begin+n of a piece, in its order, beside contiguous memory. */
typedef struct packing {
    size_t size;
    bool unpack;
    int n;
    int64_t count[TSR_PIECE_LOOPS], stride[TSR_PIECE_LOOPS], packed[TSR_PIECE_LOOPS];
} packing;

static void packing_make(size_t size, const tsr_piece *piece, bool unpack, packing *p)
{
    int64_t next = (int64_t)size;

    *p = (packing){.size = size, .unpack = unpack, .n = piece->n};
    for (int i = piece->n - 1; i >= 0; i--) {
        p->count[i] = piece->count[i];
        p->stride[i] = piece->stride[i];
        p->packed[i] = next;
        next *= piece->count[i];
    }
}

/* `rows` steps of loop `depth` with all that is inside; depth n is a single element. */
static void pack_rows(const packing *p, int depth, int64_t rows, char *piece, char *packed)
{
    int64_t count[TSR_PIECE_LOOPS] = {rows};
    int n = p->n - depth;
    walk w;

    if (n > 1)
        memcpy(count + 1, p->count + depth + 1, (size_t)(n - 1) * sizeof *count);
    const int64_t *to = p->unpack ? p->stride : p->packed;
    const int64_t *from = p->unpack ? p->packed : p->stride;

    char *dst = p->unpack ? piece : packed;

    if (walk_make(p->size, n, count, to + depth, from + depth, (uintptr_t)dst, &w))
        walk_run(&w, dst, p->unpack ? packed : piece);
}

/* The range is a part of one step, then whole steps, then a part of one step; and so on inward. */
static void pack_range(const packing *p, int depth, int64_t begin, int64_t n, char *piece,
                       char *packed)
{
    if (n <= 0)
        return;
    if (depth == p->n) {
        pack_rows(p, depth, 1, piece, packed);
        return;
    }
    int64_t step = p->packed[depth] / (int64_t)p->size; /* elements inside one step */
    int64_t first = begin / step, inside = begin % step;
    int64_t head = inside == 0 ? 0 : step - inside < n ? step - inside : n;

    piece += first * p->stride[depth];
    if (head) {
        pack_range(p, depth + 1, inside, head, piece, packed);
        piece += p->stride[depth];
        packed += (size_t)head * p->size;
        n -= head;
    }
    int64_t rows = n / step, tail = n % step;

    if (rows)
        pack_rows(p, depth, rows, piece, packed);
    pack_range(p, depth + 1, 0, tail, piece + rows * p->stride[depth],
               packed + (size_t)(rows * step) * p->size);
}

void tsr__piece_pack(size_t size, void *dst, const void *src, const tsr_piece *from, int64_t begin,
                     int64_t n)
{
    packing p;

    if (n <= 0)
        return;
    packing_make(size, from, false, &p);
    pack_range(&p, 0, begin, n, (char *)(uintptr_t)src + from->offset, dst);
}

void tsr__piece_unpack(size_t size, void *dst, const tsr_piece *to, const void *src, int64_t begin,
                       int64_t n)
{
    packing p;

    if (n <= 0)
        return;
    packing_make(size, to, true, &p);
    pack_range(&p, 0, begin, n, (char *)dst + to->offset, (char *)(uintptr_t)src);
}
