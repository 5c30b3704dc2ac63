/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h - buffers for tensor data, kept by size class when released: fresh pages cost several
   times a copy. One pool per rank; buffers are 64-byte aligned, above 2 MiB on huge pages. */
#ifndef TSR_BASE_POOL_H
#define TSR_BASE_POOL_H

#include "base/heap.h"

enum { TSR_POOL_CLASSES = 320 }; /* 8 per power of two, up to 2^48 bytes */

typedef struct tsr_pool_block tsr_pool_block;

typedef struct tsr_pool {
    tsr_heap *heap;
    tsr_pool_block *free[TSR_POOL_CLASSES];
    size_t held; /* bytes from the system, in use or free */
    size_t used; /* those in use */
    size_t peak; /* most in use at once */
} tsr_pool;

/* Where kernels get what they keep, and scratch that depends on more than shapes (tsr_memory). */
struct tsr_memory {
    tsr_heap *heap;
    tsr_pool *pool;
};

void tsr__pool_open(tsr_pool *pool, tsr_heap *heap);
tsr_status tsr__pool_get(tsr_pool *pool, size_t bytes, void *out, tsr_error *err);
void tsr__pool_put(tsr_pool *pool, void *p); /* NULL is fine */
void tsr__pool_trim(tsr_pool *pool);         /* gives all free buffers back to the system */

#endif
