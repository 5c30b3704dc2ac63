/* SPDX-License-Identifier: Apache-2.0 */
/* embedding_forward.c - rows by ids, copied or pooled by bags. Rows stand anywhere in a table, so
   the work is to have enough of them on their way from memory. Called by the embedding ops. */
#include "kernel/embedding.h"

#include "base/cpu.h"
#include "base/stream.h"
#include "kernel/embedding_reference.h"
#include "kernel/embedding_rows.h"

#include <string.h>
#ifdef TSR__X86
#include <immintrin.h>
#endif

enum {
    BLOCK = 512, /* ids that are turned into rows at a time */
    LINE = 64    /* of the cache */
};

/* ---- lookup ---- */

#ifdef TSR__X86
TSR__INLINE void stream_line(char *to, const char *from)
{
    for (int k = 0; k < LINE; k += 16)
        _mm_stream_si128((void *)(to + k),
                         from ? _mm_loadu_si128((const void *)(from + k)) : _mm_setzero_si128());
}

TSR__AVX2 static inline void stream_line_avx2(char *to, const char *from)
{
    __m256i a = _mm256_setzero_si256(), b = a;

    if (from) {
        a = _mm256_loadu_si256((const void *)from);
        b = _mm256_loadu_si256((const void *)(from + 32));
    }
    _mm256_stream_si256((void *)to, a);
    _mm256_stream_si256((void *)(to + 32), b);
}

#define SET TSR__AVX2
#define FN(name) name##_avx2
#define STREAM(to, from) stream_line_avx2(to, from)
#include "kernel/embedding_gather.inc.h"
#else
TSR__INLINE void stream_line(char *to, const char *from)
{
    if (from)
        memcpy(to, from, LINE);
    else
        memset(to, 0, LINE);
}
#endif

#define SET
#define FN(name) name##_plain
#define STREAM(to, from) stream_line(to, from)
#include "kernel/embedding_gather.inc.h"

/* Wider vectors than those of avx2 do not copy faster. */
void tsr__rows_copy(tsr_kernel_variant variant, const void *x, size_t bytes, const int64_t *row,
                    int64_t n, int64_t n_ahead, size_t total, void *out)
{
    const uintptr_t place = (uintptr_t)out;
    const bool stream =
        (bytes | place) % LINE == 0 && tsr__stream_pays(total, bytes, place | (uintptr_t)bytes);

#ifdef TSR__X86
    if (tsr__variant_best(TSR_CATEGORY_EMBEDDING, TSR_EMBEDDING, TSR_F32, variant) >
        TSR_VARIANT_PLAIN) { /* of any dtype: bytes */
        gather_avx2(x, bytes, row, n, n_ahead, stream, out);
        return;
    }
#endif
    (void)variant;
    gather_plain(x, bytes, row, n, n_ahead, stream, out);
}

void tsr__embedding_forward(const tsr_lookup *call)
{
    const size_t bytes = (size_t)call->dim * tsr_dtype_size(call->dtype);
    int64_t rows[BLOCK + TSR__ROWS_AHEAD];
    tsr_ids ids = call->ids;

    if (call->padding_keep)
        ids.padding = -1;
    for (int64_t i = 0; bytes && i < ids.n; i += BLOCK) {
        const int64_t left = ids.n - i;
        const int64_t n_ahead = left < BLOCK + TSR__ROWS_AHEAD ? left : BLOCK + TSR__ROWS_AHEAD;

        tsr__ids_rows(&ids, i, n_ahead, rows);
        tsr__rows_copy(call->variant, call->table, bytes, rows, left < BLOCK ? left : BLOCK,
                       n_ahead, (size_t)ids.n * bytes, (char *)call->out + (size_t)i * bytes);
    }
    tsr__stream_fence();
}

/* ---- bags ---- */

size_t tsr__bag_bytes(const tsr_bags *bags)
{
    return 2 * ((size_t)bags->ids.n + 1) * sizeof(int64_t);
}

/* The terms of all bags: rows in the scratch, and behind them the weights if they must be f32. */
static tsr_row_terms all_terms(const tsr_bag_pool *call)
{
    const int64_t n = tsr__bag_begin(&call->bags, call->bags.n_bags);
    tsr_row_terms t = {.x = call->table,
                       .dim = call->dim,
                       .row = call->scratch,
                       .weight = call->weights,
                       .n_ahead = n,
                       .ahead = tsr__rows_ahead((size_t)call->dim * tsr_dtype_size(call->dtype))};

    tsr__ids_rows(&call->bags.ids, 0, n, call->scratch);
    if (call->weights && tsr__weight_size(call->dtype) != tsr_dtype_size(call->dtype)) {
        float *weight = (float *)((int64_t *)call->scratch + n);

        tsr__convert(TSR_F32, weight, call->dtype, call->weights, n);
        t.weight = weight;
    }
    return t;
}

static tsr_row_terms bag_terms(const tsr_bag_pool *call, const tsr_row_terms *all, int64_t b)
{
    const int64_t begin = tsr__bag_begin(&call->bags, b);
    const size_t weight = tsr__weight_size(call->dtype);
    tsr_row_terms t = *all;

    t.row += begin;
    t.weight = t.weight ? (const char *)t.weight + (size_t)begin * weight : NULL;
    t.n = tsr__bag_begin(&call->bags, b + 1) - begin;
    t.n_ahead -= begin;
    return t;
}

void tsr__bag_sum(const tsr_bag_pool *call)
{
    const tsr_row_parts *parts = tsr__row_parts(call->dtype, call->variant);
    const size_t bytes = (size_t)call->dim * tsr_dtype_size(call->dtype);
    const tsr_row_terms all = all_terms(call);

    for (int64_t b = 0; b < call->bags.n_bags; b++) {
        const tsr_row_terms t = bag_terms(call, &all, b);

        parts->sum(&t, 0, (char *)call->out + (size_t)b * bytes);
    }
}

void tsr__bag_mean(const tsr_bag_pool *call)
{
    const tsr_row_parts *parts = tsr__row_parts(call->dtype, call->variant);
    const size_t bytes = (size_t)call->dim * tsr_dtype_size(call->dtype);
    tsr_bag_pool unweighted = *call;
    tsr_row_terms all;

    unweighted.weights = NULL;
    all = all_terms(&unweighted);
    for (int64_t b = 0; b < call->bags.n_bags; b++) {
        const tsr_row_terms t = bag_terms(&unweighted, &all, b);
        int64_t count;

        if (call->counts)
            count = call->counts[b];
        else {
            const int64_t begin[2] = {tsr__bag_begin(&call->bags, b),
                                      tsr__bag_begin(&call->bags, b + 1)};

            tsr__bag_counts(&(tsr_bags){.ids = call->bags.ids, .n_bags = 1, .begin = begin},
                            &count);
        }
        parts->sum(&t, count, (char *)call->out + (size_t)b * bytes);
    }
}

void tsr__bag_max(const tsr_bag_pool *call)
{
    const tsr_row_parts *parts = tsr__row_parts(call->dtype, call->variant);
    const size_t bytes = (size_t)call->dim * tsr_dtype_size(call->dtype);
    const tsr_row_terms all = all_terms(call);

    if (call->bags.ids.n > INT32_MAX) { /* places in a bag are counted in 32 bits */
        tsr__reference_bag_max(call);
        return;
    }
    for (int64_t b = 0; b < call->bags.n_bags; b++) {
        const tsr_row_terms t = bag_terms(call, &all, b);

        parts->max(&t, call->last, tsr__bag_begin(&call->bags, b),
                   (char *)call->out + (size_t)b * bytes, call->position + b * call->dim);
    }
}

void tsr__bag_divide(tsr_dtype dtype, int64_t dim, int64_t n_bags, const int64_t *counts,
                     tsr_kernel_variant variant, void *rows)
{
    const tsr_row_parts *parts = tsr__row_parts(dtype, variant);
    const size_t bytes = (size_t)dim * tsr_dtype_size(dtype);

    for (int64_t b = 0; b < n_bags; b++)
        parts->divide(dim, counts[b], (char *)rows + (size_t)b * bytes);
}

void tsr__bag_max_merge(tsr_dtype dtype, int64_t n, bool last, const void *from,
                        const int64_t *from_position, void *out, int64_t *position)
{
    tsr__row_parts(dtype, TSR_VARIANT_AUTO)->merge(n, last, from, from_position, out, position);
}
