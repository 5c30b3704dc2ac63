/* SPDX-License-Identifier: Apache-2.0 */
/* pool.c - buffers by size class, eight classes per power of two, so that at most an eighth is
   wasted. A 64-byte header before the buffer remembers the class. Freed buffers wait in their
   class's list until trimmed. Called by tensor and exchange code, one pool per rank. */
#include "base/pool.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define POISONED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POISONED 1
#endif
#endif

#ifdef POISONED
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#endif

enum { ALIGN = 64, HUGE_PAGE = 2 << 20 };

struct tsr_pool_block {
    tsr_pool_block *next;
    size_t held; /* bytes from the system, this header included */
    int cls;
    bool mapped; /* by mmap; else by malloc */
    bool in_use;
};
_Static_assert(sizeof(tsr_pool_block) <= ALIGN, "the header must fit before the buffer");

/* Class c of the first eight holds 64 (c + 1) bytes; then group g = c / 8 covers the sizes above
   2^(g+8) up to 2^(g+9) in eight equal steps. */
static int class_of(size_t bytes)
{
    if (bytes <= 8 * ALIGN)
        return bytes ? (int)((bytes - 1) / ALIGN) : 0;
    int log2 = 63 - __builtin_clzll((unsigned long long)(bytes - 1));

    return 8 * (log2 - 8) + (int)(((bytes - 1) >> (log2 - 3)) & 7);
}

static size_t class_bytes(int cls)
{
    size_t step = cls < 8 ? ALIGN : (size_t)1 << (cls / 8 + 5);

    return cls < 8 ? step * (size_t)(cls + 1) : step * (size_t)(9 + cls % 8);
}

static void *map_aligned(size_t bytes)
{
    size_t span = bytes + HUGE_PAGE;
    char *p = mmap(NULL, span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return NULL;
    size_t before = (size_t)(-(uintptr_t)p & (HUGE_PAGE - 1));
    size_t after = span - before - bytes;

    if (before)
        munmap(p, before);
    if (after)
        munmap(p + before + bytes, after);
    madvise(p + before, bytes, MADV_HUGEPAGE); /* a wish: without it all works, slower */
    return p + before;
}

static tsr_pool_block *block_new(int cls)
{
    size_t bytes = ALIGN + class_bytes(cls);
    bool mapped = bytes > HUGE_PAGE;
    tsr_pool_block *block;

    if (mapped)
        bytes = (bytes + 4095) & ~(size_t)4095;
    block = mapped ? map_aligned(bytes) : aligned_alloc(ALIGN, bytes);
    if (block)
        *block = (tsr_pool_block){.held = bytes, .cls = cls, .mapped = mapped};
    return block;
}

static void block_free(tsr_pool_block *block)
{
    ASAN_UNPOISON_MEMORY_REGION(block, block->held);
    if (block->mapped)
        munmap(block, block->held);
    else
        free(block);
}

void tsr__pool_open(tsr_pool *pool, tsr_heap *heap)
{
    *pool = (tsr_pool){.heap = heap};
}

tsr_status tsr__pool_get(tsr_pool *pool, size_t bytes, void *out, tsr_error *err)
{
    tsr_pool_block *block = NULL;
    int cls = class_of(bytes);

    if (tsr__heap_allows(pool->heap) && cls < TSR_POOL_CLASSES) {
        block = pool->free[cls];
        if (block) {
            pool->free[cls] = block->next;
        } else {
            block = block_new(cls);
            if (!block) { /* what other classes keep may be just what is missing */
                tsr__pool_trim(pool);
                block = block_new(cls);
            }
            pool->held += block ? block->held : 0;
        }
    }
    if (!block)
        return tsr__fail(err, TSR_ERR_MEMORY,
                         "out of memory: a buffer of %zu bytes, %zu bytes in use", bytes,
                         pool->used);
    block->in_use = true;
    pool->heap->live++;
    pool->used += block->held;
    if (pool->peak < pool->used)
        pool->peak = pool->used;

    char *data = (char *)block + ALIGN;

    ASAN_UNPOISON_MEMORY_REGION(data, bytes);
    ASAN_POISON_MEMORY_REGION(data + bytes, class_bytes(cls) - bytes);
    memcpy(out, &data, sizeof data);
    return TSR_OK;
}

void tsr__pool_put(tsr_pool *pool, void *p)
{
    if (!p)
        return;
    tsr_pool_block *block = (tsr_pool_block *)((char *)p - ALIGN);

    assert(block->in_use);
    block->in_use = false;
    pool->heap->live--;
    pool->used -= block->held;
    ASAN_POISON_MEMORY_REGION(p, class_bytes(block->cls));
    block->next = pool->free[block->cls];
    pool->free[block->cls] = block;
}

void tsr__pool_trim(tsr_pool *pool)
{
    for (int cls = 0; cls < TSR_POOL_CLASSES; cls++) {
        tsr_pool_block *next;

        for (tsr_pool_block *block = pool->free[cls]; block; block = next) {
            next = block->next;
            pool->held -= block->held;
            block_free(block);
        }
        pool->free[cls] = NULL;
    }
}
