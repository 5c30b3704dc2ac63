/* SPDX-License-Identifier: Apache-2.0 */
/* idx.h - reads IDX files, as MNIST and its successors are distributed: plain or as gz. Local. */
#ifndef TSR_IO_IDX_H
#define TSR_IO_IDX_H

#include "base/heap.h"

typedef struct tsr_idx {
    tsr_dtype dtype;
    tsr_shape shape;
    int64_t bytes;
    void *data; /* row-major, in this machine's order of bytes; tsr__free */
} tsr_idx;

tsr_status tsr__idx_read(tsr_heap *heap, const char *path, tsr_idx *out, tsr_error *err);

#endif
