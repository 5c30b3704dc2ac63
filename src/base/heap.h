/* SPDX-License-Identifier: Apache-2.0 */
/* heap.h - all memory of one rank comes from its heap: counted, and able to fail on request, so
   that tests can make the n-th allocation fail for every n. Zero is a heap ready for use; pure
   functions without a context use one on their stack. Not for sharing between threads. */
#ifndef TSR_BASE_HEAP_H
#define TSR_BASE_HEAP_H

#include "base/error.h"

typedef struct tsr_heap {
    int64_t calls;   /* allocations so far */
    int64_t fail_at; /* the allocation with this number fails (counted from 1); 0: none */
    int64_t live;    /* blocks not yet freed */
    size_t bytes;    /* of them, as malloc rounds them; spare ones included */
} tsr_heap;

/* Zeroed memory of count * size bytes, never of 0. Writes *out only on success. */
tsr_status tsr__alloc(tsr_heap *heap, int64_t count, size_t size, void *out, tsr_error *err);
/* Make room for one more element in a growing array *items of *cap elements. */
tsr_status tsr__grow(tsr_heap *heap, void *items, int *cap, int count, size_t size, tsr_error *err);
void tsr__free(tsr_heap *heap, void *p); /* NULL is fine */

/* Objects of one size that come and go with every op: freed ones wait to be taken again, not
   zeroed. Zero is an empty list. */
typedef struct tsr_spare {
    void *first;
} tsr_spare;
tsr_status tsr__take(tsr_heap *heap, tsr_spare *spare, size_t size, void *out, tsr_error *err);
void tsr__give(tsr_heap *heap, tsr_spare *spare, void *p);
void tsr__spare_free(tsr_spare *spare);

/* For pool.c: counts an allocation that it makes by other means; false: it must fail now. */
bool tsr__heap_allows(tsr_heap *heap);

#endif
