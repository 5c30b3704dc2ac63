/* SPDX-License-Identifier: Apache-2.0 */
/* embedding_rows.h - arithmetic on rows of a table, by number type and variant: what the embedding
   kernels are made of. Only they include this. */
#ifndef TSR_OPS_EMBEDDING_ROWS_H
#define TSR_OPS_EMBEDDING_ROWS_H

#include "kernel/gather_rows.h"

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
    void (*dot)(const void *a, const void *b, int64_t n, void *out); /* one value */
    /* weight[i] = w[from[i]] / divisor[from_bag[i]] ; w, divisor may be NULL */
    void (*weigh)(int64_t n, const void *w, const int64_t *from, const int64_t *divisor,
                  const int64_t *bag, void *weight);
} tsr_row_parts;

const tsr_row_parts *tsr__row_parts(tsr_dtype dtype, tsr_kernel_variant variant);

#endif
