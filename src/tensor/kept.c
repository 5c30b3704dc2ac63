/* SPDX-License-Identifier: Apache-2.0 */
/* kept.c - windows that stay with their tensor. What is counted is the window of the rank whose is
   largest, and each mesh has its own count, for its ranks may be in other meshes that differ: so
   all ranks keep alike. Called where halos are fetched (run/halo.c). */
#include "tensor/tensor.h"

tsr_buffer *tsr__kept_find(const tsr_tensor *x, const tsr_layout *layout)
{
    const tsr_kept *k = x->kept;

    if (!k || k->version != x->version || !tsr__layout_equal(&k->layout, layout))
        return NULL;
    return k->window;
}

tsr_status tsr__kept_add(tsr_tensor *x, const tsr_layout *layout, tsr_buffer *window)
{
    tsr_ctx *ctx = x->mesh->ctx;
    const size_t bytes = tsr__layout_bytes(layout);
    tsr_status st = TSR_OK;

    tsr__kept_drop(x);
    if (x->mesh->kept + bytes > ctx->keep_limit)
        return TSR_OK;
    TSR_TRY(tsr__alloc(&ctx->heap, 1, sizeof *x->kept, &x->kept, &ctx->error));
    *x->kept =
        (tsr_kept){.layout = *layout, .version = x->version, .bytes = bytes, .window = window};
    window->refs++;
    x->mesh->kept += bytes;
done:
    return st;
}

void tsr__kept_drop(tsr_tensor *x)
{
    tsr_ctx *ctx = x->mesh->ctx;

    if (!x->kept)
        return;
    x->mesh->kept -= x->kept->bytes;
    tsr__buffer_release(x->kept->window);
    tsr__free(&ctx->heap, x->kept);
    x->kept = NULL;
}
