/* SPDX-License-Identifier: Apache-2.0 */
/* call_arena.h - the scratch buffers of one call, taken from the pool and returned together. */
#ifndef TSR_RUN_CALL_ARENA_H
#define TSR_RUN_CALL_ARENA_H

#include <assert.h>
#include <string.h>

#include "tensor/tensor.h"
#include "tessera_ext.h"

enum { TSR_ARENA_MOST = 24 };

typedef struct tsr_call_arena {
    tsr_ctx *ctx;
    int n;
    void *buffer[TSR_ARENA_MOST];
} tsr_call_arena;

/* Uninitialised memory, its address into the pointer at out. */
static inline tsr_status tsr__arena_alloc(tsr_call_arena *arena, size_t bytes, void *out)
{
    tsr_status st;

    assert(arena->n < TSR_ARENA_MOST);
    st = tsr__pool_get(&arena->ctx->pool, bytes, out, &arena->ctx->error);
    if (st == TSR_OK)
        memcpy(&arena->buffer[arena->n++], out, sizeof(void *));
    return st;
}

static inline void tsr__arena_release(tsr_call_arena *arena)
{
    while (arena->n > 0)
        tsr__pool_put(&arena->ctx->pool, arena->buffer[--arena->n]);
}

#endif
