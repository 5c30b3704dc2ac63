/* SPDX-License-Identifier: Apache-2.0 */
/* heap.c - counted allocation that can be told to fail. Tensor data comes from pool.c instead. */
#include "base/heap.h"

#include <assert.h>
#include <limits.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

bool tsr__heap_allows(tsr_heap *heap)
{
    return ++heap->calls != heap->fail_at;
}

tsr_status tsr__alloc(tsr_heap *heap, int64_t count, size_t size, void *out, tsr_error *err)
{
    size_t bytes = 0;
    void *p = NULL;

    if (tsr__heap_allows(heap) && count >= 0 && !__builtin_mul_overflow(count, size, &bytes))
        p = calloc(1, bytes ? bytes : 1);
    if (!p)
        return tsr__fail(err, TSR_ERR_MEMORY, "out of memory: %lld x %zu bytes", (long long)count,
                         size);
    heap->live++;
    heap->bytes += malloc_usable_size(p);
    memcpy(out, &p, sizeof p);
    return TSR_OK;
}

tsr_status tsr__grow(tsr_heap *heap, void *items, int *cap, int count, size_t size, tsr_error *err)
{
    enum { FIRST = 8 };
    void *from, *to = NULL;
    tsr_status st;

    if (count < *cap)
        return TSR_OK;
    if (*cap > INT_MAX / 2)
        return tsr__fail(err, TSR_ERR_MEMORY, "out of memory: more than %d items", *cap);
    int larger = *cap < FIRST ? FIRST : 2 * *cap;

    TSR_TRY(tsr__alloc(heap, larger, size, &to, err));
    memcpy(&from, items, sizeof from);
    if (from)
        memcpy(to, from, (size_t)*cap * size);
    tsr__free(heap, from);
    memcpy(items, &to, sizeof to);
    *cap = larger;
done:
    return st;
}

void tsr__free(tsr_heap *heap, void *p)
{
    if (!p)
        return;
    heap->live--;
    assert(heap->live >= 0);
    heap->bytes -= malloc_usable_size(p);
    free(p);
}

/* Spare objects count as freed; their first word links them. */
tsr_status tsr__take(tsr_heap *heap, tsr_spare *spare, size_t size, void *out, tsr_error *err)
{
    void *p = spare->first;

    if (!p)
        return tsr__alloc(heap, 1, size, out, err);
    if (!tsr__heap_allows(heap))
        return tsr__fail(err, TSR_ERR_MEMORY, "out of memory: %zu bytes", size);
    memcpy(&spare->first, p, sizeof spare->first);
    heap->live++;
    memcpy(out, &p, sizeof p);
    return TSR_OK;
}

void tsr__give(tsr_heap *heap, tsr_spare *spare, void *p)
{
    heap->live--;
    memcpy(p, &spare->first, sizeof spare->first);
    spare->first = p;
}

void tsr__spare_free(tsr_spare *spare)
{
    while (spare->first) {
        void *p = spare->first;
        memcpy(&spare->first, p, sizeof spare->first);
        free(p);
    }
}
