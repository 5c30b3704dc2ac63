/* SPDX-License-Identifier: Apache-2.0 */
/* naive_lookups.h - lookups, bags and gradients as anyone would write them first: what
   bench_embedding.c compares with. */
#ifndef BENCH_NAIVE_LOOKUPS_H
#define BENCH_NAIVE_LOOKUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lookups before bags. */
typedef enum naive_kind {
    NAIVE_LOOKUP,
    NAIVE_LOOKUP_DENSE,
    NAIVE_LOOKUP_SPARSE,
    NAIVE_SUM,
    NAIVE_MEAN,
    NAIVE_MAX,
    NAIVE_SUM_DENSE,
    NAIVE_MEAN_DENSE,
    NAIVE_MAX_DENSE,
    NAIVE_SUM_SPARSE,
    NAIVE_MEAN_SPARSE
} naive_kind;

typedef struct naive_job {
    int64_t rows, columns, n, bags, length;
    size_t row_bytes;
    bool floats; /* f32: sums are written for that alone */
    const void *table, *grad, *bag_grad;
    const void *from; /* as large as `to` */
    const int64_t *ids, *index;
    void *to; /* as large as the larger of table and lookups */
} naive_job;

bool naive_exists(const naive_job *job, naive_kind kind);
void naive_run(const naive_job *job, naive_kind kind);
/* Bytes that are read or written at least, whichever is more: memcpy of these is the yardstick. */
size_t naive_bytes(const naive_job *job, naive_kind kind);

#endif
