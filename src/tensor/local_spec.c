/* SPDX-License-Identifier: Apache-2.0 */
/* local_spec.c - interned specs with what follows from them on this rank (local shape, bytes),
   computed once for every spec that the context meets.
   Plans compare the addresses of local specs instead of specs. Called wherever a tensor is made. */
#include <string.h>

#include "tensor/tensor.h"

/* Names of mesh dims do not make another layout, but they are printed. */
static bool is_local_spec_of(const tsr_local_spec *local_spec, uint64_t hash, const tsr_spec *spec)
{
    return local_spec->cached.hash == hash && tsr_spec_equal(&local_spec->spec, spec) &&
           memcmp(local_spec->spec.mesh.name, spec->mesh.name, sizeof spec->mesh.name) == 0;
}

static void fill(const tsr_mesh *mesh, tsr_local_spec *local_spec)
{
    local_spec->local.ndim = local_spec->spec.shape.ndim;
    if (mesh->index >= 0) {
        tsr_layout layout = tsr__layout_of(&local_spec->spec);
        local_spec->local = tsr__layout_local_shape(&layout, mesh->coord);
        local_spec->bytes =
            (size_t)tsr_shape_count(&local_spec->local) * tsr_dtype_size(local_spec->spec.dtype);
    }
}

static void drop_local_spec(tsr_cached *entry, void *arg)
{
    tsr_ctx *ctx = arg;

    tsr__histories_forget(ctx, entry);
    tsr__free(&ctx->heap, entry);
}

tsr_status tsr__local_spec_get(const tsr_mesh *mesh, const tsr_spec *spec, tsr_local_spec **out)
{
    tsr_ctx *ctx = mesh->ctx;
    const size_t before = ctx->heap.bytes;
    uint64_t hash = tsr__spec_hash(spec);
    tsr_local_spec *local_spec;
    tsr_status st;

    for (tsr_cached *c = tsr__cache_first(&ctx->local_specs, hash); c; c = c->next)
        if (is_local_spec_of((tsr_local_spec *)c, hash, spec)) {
            c->used = true;
            *out = (tsr_local_spec *)c;
            return TSR_OK;
        }
    TSR_TRY(tsr__alloc(&ctx->heap, 1, sizeof *local_spec, &local_spec, &ctx->error));
    local_spec->cached.hash = hash;
    local_spec->spec = *spec;
    local_spec->cached.bytes = ctx->heap.bytes - before;
    fill(mesh, local_spec);
    tsr__cache_add(&ctx->caches, &ctx->local_specs, &local_spec->cached, drop_local_spec, ctx);
    *out = local_spec;
done:
    return st;
}

void tsr__local_specs_free(tsr_ctx *ctx)
{
    tsr__cache_clear(&ctx->caches, &ctx->local_specs);
}
