/* SPDX-License-Identifier: Apache-2.0 */
/* embedding_rows.h - arithmetic on rows of a table, by number type and variant: what the embedding
   kernels are made of. Only they include this. */
#ifndef TSR_KERNEL_EMBEDDING_ROWS_H
#define TSR_KERNEL_EMBEDDING_ROWS_H

#include "base/cpu.h"
#include "kernel/sku.h"

/* Rows stand anywhere in memory. They are fetched into the second cache, which can wait for many
   more lines at a time than the first one (a lookup is twice as fast), this many rows before they
   are needed: about 8 KiB. */
enum { TSR__ROWS_AHEAD = 64 };

static inline int64_t tsr__rows_ahead(size_t bytes)
{
    const int64_t n = bytes ? (int64_t)(8192 / bytes) : 0;

    return n < 4 ? 4 : n > TSR__ROWS_AHEAD ? TSR__ROWS_AHEAD : n;
}

TSR__INLINE void tsr__row_prefetch(const void *row, size_t bytes)
{
    const char *line = (const char *)row - (uintptr_t)row % 64; /* a row may start within one */

    for (; line < (const char *)row + bytes; line += 64)
        __builtin_prefetch(line, 0, 2);
}

/* Terms row[0 .. n) of a sum or maximum; those up to n_ahead are needed next and are fetched. */
typedef struct tsr_row_terms {
    const void *x; /* [.., dim] */
    int64_t dim;
    const int64_t *row; /* negative: no term */
    const void *weight; /* [n], see tsr__weight_size, or NULL */
    int64_t n, n_ahead;
    int64_t ahead; /* tsr__rows_ahead */
} tsr_row_terms;

/* Weights are f32 for f16 and bf16, and otherwise of the table's type. */
static inline size_t tsr__weight_size(tsr_dtype dtype)
{
    return dtype == TSR_F16 || dtype == TSR_BF16 ? sizeof(float) : tsr_dtype_size(dtype);
}

typedef struct tsr_row_parts {
    /* out[dim] = sum of weight * row, divided by divisor unless that is 0 */
    void (*sum)(const tsr_row_terms *terms, int64_t divisor, void *out);
    /* out[dim] = the largest, at[dim] = first_at + its place among the terms, or 0 and -1. NULL for
       the field, which has no order. */
    void (*max)(const tsr_row_terms *terms, bool last, int64_t first_at, void *out, int64_t *at);
    void (*merge)(int64_t n, bool last, const void *from, const int64_t *from_at, void *out,
                  int64_t *at);
    /* out[element % dim] += x[element] for n elements, from 0, then as in sum */
    void (*elements)(const void *x, int64_t dim, const int64_t *element, int64_t n, int64_t divisor,
                     void *out);
    void (*divide)(int64_t n, int64_t divisor, void *x);
    void (*dot)(const void *a, const void *b, int64_t n, void *out); /* one value */
    /* weight[i] = w[from[i]] / divisor[from_bag[i]] ; w, divisor may be NULL */
    void (*weigh)(int64_t n, const void *w, const int64_t *from, const int64_t *divisor,
                  const int64_t *bag, void *weight);
} tsr_row_parts;

/* out[i] = x[row[i]] for n rows of `bytes` bytes, zeros for negative ones; row[n .. n_ahead) are
   needed next. `total`: bytes of the whole result, which decides whether it goes past the caches:
   then tsr__stream_fence must follow. */
void tsr__rows_copy(tsr_kernel_variant variant, const void *x, size_t bytes, const int64_t *row,
                    int64_t n, int64_t n_ahead, size_t total, void *out);

const tsr_row_parts *tsr__row_parts(tsr_dtype dtype, tsr_kernel_variant variant);

#endif
