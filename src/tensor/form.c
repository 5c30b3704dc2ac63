/* SPDX-License-Identifier: Apache-2.0 */
/* form.c - what a spec means on this rank, computed once for every spec that the context meets.
   Plans compare the addresses of forms instead of specs. Called wherever a tensor is made. */
#include <string.h>

#include "tensor/tensor.h"

/* Names of mesh dims do not make another layout, but they are printed. */
static bool is_form_of(const tsr_form *form, uint64_t hash, const tsr_spec *spec)
{
    return form->cached.hash == hash && tsr_spec_equal(&form->spec, spec) &&
           memcmp(form->spec.mesh.name, spec->mesh.name, sizeof spec->mesh.name) == 0;
}

static void fill(const tsr_mesh *mesh, tsr_form *form)
{
    form->local.ndim = form->spec.shape.ndim;
    if (mesh->index >= 0) {
        tsr_layout layout = tsr__layout_of(&form->spec);
        form->local = tsr__layout_local_shape(&layout, mesh->coord);
        form->bytes = (size_t)tsr_shape_count(&form->local) * tsr_dtype_size(form->spec.dtype);
    }
}

static void drop_form(tsr_cached *entry, void *arg)
{
    tsr_ctx *ctx = arg;

    tsr__histories_forget(ctx, entry);
    tsr__free(&ctx->heap, entry);
}

tsr_status tsr__form_get(const tsr_mesh *mesh, const tsr_spec *spec, tsr_form **out)
{
    tsr_ctx *ctx = mesh->ctx;
    const size_t before = ctx->heap.bytes;
    uint64_t hash = tsr__spec_hash(spec);
    tsr_form *form;
    tsr_status st;

    for (tsr_cached *c = tsr__cache_first(&ctx->forms, hash); c; c = c->next)
        if (is_form_of((tsr_form *)c, hash, spec)) {
            c->used = true;
            *out = (tsr_form *)c;
            return TSR_OK;
        }
    TSR_TRY(tsr__alloc(&ctx->heap, 1, sizeof *form, &form, &ctx->error));
    form->cached.hash = hash;
    form->spec = *spec;
    form->cached.bytes = ctx->heap.bytes - before;
    fill(mesh, form);
    tsr__cache_add(&ctx->caches, &ctx->forms, &form->cached, drop_form, ctx);
    *out = form;
done:
    return st;
}

void tsr__forms_free(tsr_ctx *ctx)
{
    tsr__cache_clear(&ctx->caches, &ctx->forms);
}
