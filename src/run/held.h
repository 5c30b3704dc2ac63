/* SPDX-License-Identifier: Apache-2.0 */
/* held.h - buffers of one run, from the pool, that go back together. */
#ifndef TSR_RUN_HELD_H
#define TSR_RUN_HELD_H

#include <assert.h>
#include <string.h>

#include "tensor/tensor.h"
#include "tessera_ext.h"

enum { TSR_HELD_MOST = 24 };

typedef struct tsr_held {
    tsr_ctx *ctx;
    int n;
    void *buffer[TSR_HELD_MOST];
} tsr_held;

/* Memory that is not set, into the pointer at out. */
static inline tsr_status tsr__hold(tsr_held *held, size_t bytes, void *out)
{
    tsr_status st;

    assert(held->n < TSR_HELD_MOST);
    st = tsr__pool_get(&held->ctx->pool, bytes, out, &held->ctx->error);
    if (st == TSR_OK)
        memcpy(&held->buffer[held->n++], out, sizeof(void *));
    return st;
}

static inline void tsr__held_release(tsr_held *held)
{
    while (held->n > 0)
        tsr__pool_put(&held->ctx->pool, held->buffer[--held->n]);
}

#endif
