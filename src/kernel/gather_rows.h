/* SPDX-License-Identifier: Apache-2.0 */
/* gather_rows.h - rows of a table by ids, copied. */
#ifndef TSR_KERNEL_GATHER_ROWS_H
#define TSR_KERNEL_GATHER_ROWS_H

#include "base/cpu.h"
#include "kernel/ids.h"
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

/* out[i] = x[row[i]] for n rows of `bytes` bytes, zeros for negative ones; row[n .. n_ahead) are
   needed next. `total`: bytes of the whole result, which decides whether it goes past the caches:
   then tsr__stream_fence must follow. */
void tsr__rows_copy(tsr_kernel_variant variant, const void *x, size_t bytes, const int64_t *row,
                    int64_t n, int64_t n_ahead, size_t total, void *out);

/* out[i] = table[ids[i]], zeros for local row -1 */
typedef struct tsr_lookup {
    tsr_dtype dtype; /* any, the prime field included */
    int64_t dim;
    tsr_ids ids;
    bool padding_keep; /* the padding's row is read like others, as PyTorch does */
    tsr_kernel_variant variant;
    const void *table; /* [n_rows, dim] */
    void *out;         /* [n, dim] */
} tsr_lookup;

void tsr__embedding_forward(const tsr_lookup *call);

#endif
