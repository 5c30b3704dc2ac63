/* SPDX-License-Identifier: Apache-2.0 */
/* piece_reduce.c - reduces strided pieces of several buffers into one: the walk of piece.c with
   fold.c on the inner rows. Sources may be any number, so nothing is stored per source: the loops
   of all pieces are put into one order, and strides are looked up there. */
#include "base/piece.h"

#include "base/fold.h"
#include "base/stream.h"

/* Rows of at least 32 elements are reduced in place, of up to 64 sources at once. */
enum { SHORT_ROW = 32, ROW_SOURCES = 64 };

/* Loop j of the walk goes over loop which[j] of every piece, count[j] steps. The last loop is the
   row; loops that all pieces can join were joined. */
typedef struct reduction {
    tsr_dtype dtype;
    tsr_reduce op;
    int64_t divisor;
    size_t size;
    int n_src;
    const tsr_piece *to;
    const void *const *src;
    const tsr_piece *const *from;
    bool stream;
    int n;
    int which[TSR_PIECE_LOOPS];
    int64_t count[TSR_PIECE_LOOPS];
} reduction;

static int64_t magnitude(int64_t x)
{
    return x < 0 ? -x : x;
}

/* Do the steps of loop a start where the `count` steps of loop b end? */
static bool joins(const tsr_piece *piece, int a, int b, int64_t count)
{
    return piece->stride[a] == piece->stride[b] * count;
}

static bool all_join(const reduction *r, int a, int b, int64_t count)
{
    if (!joins(r->to, a, b, count))
        return false;
    for (int k = 0; k < r->n_src; k++)
        if (!joins(r->from[k], a, b, count))
            return false;
    return true;
}

/* False if there is nothing to do. */
static bool order_loops(reduction *r)
{
    const tsr_piece *to = r->to;
    int n = 0;

    for (int i = 0; i < to->n; i++) {
        int at = r->n;

        if (to->count[i] == 0)
            return false;
        if (to->count[i] == 1)
            continue;
        for (; at > 0 && magnitude(to->stride[r->which[at - 1]]) < magnitude(to->stride[i]); at--)
            r->which[at] = r->which[at - 1];
        r->which[at] = i;
        r->n++;
    }
    for (int j = 0; j < r->n; j++) {
        int loop = r->which[j];
        int64_t count = to->count[loop];

        if (n && all_join(r, r->which[n - 1], loop, count)) {
            count *= r->count[n - 1];
            n--;
        }
        r->which[n] = loop;
        r->count[n++] = count;
    }
    r->n = n;
    return true;
}

/* Byte offset of the place with these indices. */
static int64_t offset_at(const reduction *r, const tsr_piece *piece, const int64_t *index)
{
    int64_t offset = piece->offset;

    for (int j = 0; j < r->n; j++)
        offset += index[j] * piece->stride[r->which[j]];
    return offset;
}

/* Do all pieces hold the row's elements side by side? */
static bool rows_contiguous(const reduction *r)
{
    int row = r->which[r->n - 1];
    int64_t size = (int64_t)r->size;

    for (int k = 0; k < r->n_src; k++)
        if (r->from[k]->stride[row] != size)
            return false;
    return r->to->stride[row] == size;
}

/* n elements of a row that starts at index. */
static void reduce_part(const reduction *r, const int64_t *index, int64_t n, char *dst)
{
    char block[TSR__FOLD_BYTES] __attribute__((aligned(64)));
    const void *at[ROW_SOURCES];

    for (int k = 0; k < r->n_src; k++)
        at[k] = (const char *)r->src[k] + offset_at(r, r->from[k], index);
    tsr__fold(r->dtype, r->op, r->divisor, r->n_src, at, n, r->stream ? block : dst);
    if (r->stream)
        tsr__stream_copy(dst, block, (size_t)n * r->size);
}

static void reduce_rows(const reduction *r, char *dst)
{
    const int row = r->n - 1;
    int64_t index[TSR_PIECE_LOOPS] = {0}, n;
    int j;

    do {
        for (index[row] = 0; index[row] < r->count[row]; index[row] += n) {
            n = r->count[row] - index[row];
            if (n > TSR__FOLD_BLOCK && (r->stream || r->divisor != 1))
                n = TSR__FOLD_BLOCK;
            reduce_part(r, index, n, dst + offset_at(r, r->to, index));
        }
        for (j = row - 1; j >= 0 && ++index[j] == r->count[j]; j--)
            index[j] = 0;
    } while (j >= 0);
}

/* Averages whose sums overflowed, n from element i on, are summed up anew. */
static void mend_gathered(const reduction *r, int64_t i, int64_t n, void *result)
{
    char acc[TSR__FOLD_BYTES] __attribute__((aligned(64)));
    char block[TSR__FOLD_BYTES] __attribute__((aligned(64)));
    const double scale = tsr__reduce_scale(r->divisor, r->n_src);

    for (int k = 0; k < r->n_src; k++) {
        tsr__piece_pack(r->size, block, r->src[k], r->from[k], i, n);
        tsr__fold_add_scaled(r->dtype, scale, k == 0, block, n, acc);
    }
    tsr__fold_mend(r->dtype, scale * (double)r->divisor, acc, n, result);
}

/* Short rows or elements apart from each other: gather a block of every source, and scatter. */
static void reduce_gathered(const reduction *r, void *dst)
{
    char acc[TSR__FOLD_BYTES] __attribute__((aligned(64)));
    char block[TSR__FOLD_BYTES] __attribute__((aligned(64)));
    int64_t total = tsr__piece_count(r->to), n;

    for (int64_t i = 0; i < total; i += n) {
        n = total - i < TSR__FOLD_BLOCK ? total - i : TSR__FOLD_BLOCK;
        for (int k = 0; k < r->n_src; k++) {
            tsr__piece_pack(r->size, block, r->src[k], r->from[k], i, n);
            tsr__fold_add(r->dtype, r->op, k == 0, block, n, acc);
        }
        tsr__fold_finish(r->dtype, r->divisor, acc, n, block);
        if (tsr__fold_overflowed(r->dtype, r->divisor, block, n))
            mend_gathered(r, i, n, block);
        tsr__piece_unpack(r->size, dst, r->to, block, i, n);
    }
}

void tsr__piece_reduce(tsr_dtype dtype, tsr_reduce op, int64_t divisor, int n_src, void *dst,
                       const tsr_piece *to, const void *const *src, const tsr_piece *const *from)
{
    reduction r = {.dtype = dtype,
                   .op = op,
                   .divisor = divisor,
                   .size = tsr_dtype_size(dtype),
                   .n_src = n_src,
                   .to = to,
                   .src = src,
                   .from = from};

    if (!order_loops(&r))
        return;
    if (r.n == 0 || !rows_contiguous(&r) || r.count[r.n - 1] < SHORT_ROW || n_src > ROW_SOURCES) {
        reduce_gathered(&r, dst);
        return;
    }
    r.stream = tsr__stream_pays((size_t)tsr__piece_count(to) * r.size,
                                (size_t)r.count[r.n - 1] * r.size, 1);
    reduce_rows(&r, dst);
    if (r.stream)
        tsr__stream_fence();
}
