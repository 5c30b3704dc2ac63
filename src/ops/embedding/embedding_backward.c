/* SPDX-License-Identifier: Apache-2.0 */
/* embedding_backward.c - gradients of a table and of the samples' weights, from terms that
   embedding_sort.c ordered by row. Called by the embedding ops. */
#include "ops/embedding/embedding.h"

#include "base/stream.h"
#include "ops/embedding/embedding_rows.h"

#include <string.h>

static int64_t divisor_of(const tsr_table_grad *call, int64_t row)
{
    if (!call->freq)
        return 0;
    return call->freq_dtype == TSR_I32 ? ((const int32_t *)call->freq)[row]
                                       : ((const int64_t *)call->freq)[row];
}

/* Rows that occur once, which most rows of a large table do. */
static void copy_term(const tsr_row_terms *t, size_t size, void *out)
{
    const size_t bytes = (size_t)t->dim * size;
    const char *x = t->x;

    if (t->ahead < t->n_ahead)
        tsr__row_prefetch(x + (size_t)t->row[t->ahead] * bytes, bytes);
    memcpy(out, x + (size_t)t->row[0] * bytes, bytes);
}

/* The gradient of the k-th row of a row-sparse gradient. */
static void fill_row(const tsr_row_parts *parts, const tsr_scattered *s, const tsr_table_grad *call,
                     int64_t k, void *out)
{
    const int64_t begin = s->begin[k], n = s->begin[k + 1] - begin;
    const int64_t divisor = divisor_of(call, s->row[k]);
    const size_t weight = tsr__weight_size(call->dtype);
    const tsr_row_terms t = {
        .x = call->grad_out,
        .dim = call->dim,
        .row = s->from + begin,
        .weight = s->weight ? (const char *)s->weight + (size_t)begin * weight : NULL,
        .n = n,
        .n_ahead = s->n_terms - begin,
        .ahead = tsr__rows_ahead((size_t)call->dim * tsr_dtype_size(call->dtype))};

    if (s->by_element)
        parts->elements(call->grad_out, call->dim, t.row, n, divisor, out);
    else if (n == 1 && divisor <= 1 && !t.weight)
        copy_term(&t, tsr_dtype_size(call->dtype), out);
    else
        parts->sum(&t, divisor, out);
}

/* Rows k, k + 1, .. that have one term each. */
static int64_t count_single(const tsr_scattered *s, int64_t k)
{
    int64_t n = 0;

    while (k + n < s->n_distinct && s->begin[k + n + 1] == s->begin[k] + n + 1)
        n++;
    return n;
}

void tsr__row_sparse_scatter(const tsr_scattered *scatter, const tsr_table_grad *call)
{
    const tsr_row_parts *parts = tsr__row_parts(call->dtype, call->variant);
    const size_t bytes = (size_t)call->dim * tsr_dtype_size(call->dtype);
    const bool copies = !scatter->by_element && !scatter->weight && !call->freq;
    char *out = call->out;

    for (int64_t k = 0, n; k < scatter->n_distinct; k += n) {
        n = copies ? count_single(scatter, k) : 0;
        if (n)
            tsr__rows_copy(call->variant, call->grad_out, bytes, scatter->from + scatter->begin[k],
                           n, scatter->n_terms - scatter->begin[k],
                           (size_t)scatter->n_distinct * bytes, out + (size_t)k * bytes);
        else {
            fill_row(parts, scatter, call, k, out + (size_t)k * bytes);
            n = 1;
        }
    }
    tsr__stream_fence();
}

/* Zeros first and in one go: that is three times as fast as copying, and gap by gap is not. */
void tsr__scatter_dense(const tsr_scattered *scatter, const tsr_table_grad *call)
{
    const tsr_row_parts *parts = tsr__row_parts(call->dtype, call->variant);
    const size_t bytes = (size_t)call->dim * tsr_dtype_size(call->dtype);
    const int64_t ahead = tsr__rows_ahead(bytes);
    char *out = call->out;

    if (call->n_rows && bytes)
        memset(out, 0, (size_t)call->n_rows * bytes);
    for (int64_t k = 0; k < scatter->n_distinct; k++) {
        if (k + ahead < scatter->n_distinct)
            tsr__row_prefetch(out + (size_t)scatter->row[k + ahead] * bytes, bytes);
        fill_row(parts, scatter, call, k, out + (size_t)scatter->row[k] * bytes);
    }
}

void tsr__bag_weights_backward(const tsr_bag_pool *call, const void *grad_out, void *out)
{
    enum { BLOCK = 512 };
    const tsr_row_parts *parts = tsr__row_parts(call->dtype, call->variant);
    const size_t size = tsr_dtype_size(call->dtype), bytes = (size_t)call->dim * size;
    const int64_t n = tsr__bag_begin(&call->bags, call->bags.n_bags);
    const char *table = call->table, *grad = grad_out;
    char *to = out;
    const int64_t most = BLOCK + TSR__ROWS_AHEAD, ahead = tsr__rows_ahead(bytes);
    int64_t rows[BLOCK + TSR__ROWS_AHEAD], bag = 0;

    for (int64_t i = 0; i < n; i++) {
        const int64_t k = i % BLOCK, left = n - i;

        if (k == 0)
            tsr__ids_rows(&call->bags.ids, i, left < most ? left : most, rows);
        while (i >= tsr__bag_begin(&call->bags, bag + 1))
            bag++;
        if (left > ahead && rows[k + ahead] >= 0)
            tsr__row_prefetch(table + (size_t)rows[k + ahead] * bytes, bytes);
        if (rows[k] < 0)
            memset(to + (size_t)i * size, 0, size);
        else
            parts->dot(grad + (size_t)bag * bytes, table + (size_t)rows[k] * bytes, call->dim,
                       to + (size_t)i * size);
    }
    if (n < call->bags.ids.n) /* ids after the last bag */
        memset(to + (size_t)n * size, 0, (size_t)(call->bags.ids.n - n) * size);
}
