/* SPDX-License-Identifier: Apache-2.0 */
/* form.c - what a spec means on this rank, computed once for every spec that the context meets.
   Plans compare the addresses of forms instead of specs. Called wherever a tensor is made. */
#include <string.h>

#include "tensor/tensor.h"

enum { BUCKETS = 512 };

struct tsr_forms {
    tsr_form *bucket[BUCKETS];
};

/* Names of mesh dims do not make another layout, but they are printed. */
static bool is_form_of(const tsr_form *form, uint64_t hash, const tsr_spec *spec)
{
    return form->hash == hash && tsr_spec_equal(&form->spec, spec) &&
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

tsr_status tsr__form_get(const tsr_mesh *mesh, const tsr_spec *spec, const tsr_form **out)
{
    tsr_ctx *ctx = mesh->ctx;
    uint64_t hash = tsr__spec_hash(spec);
    tsr_form **bucket, *form;
    tsr_status st = TSR_OK;

    if (!ctx->forms)
        TSR_TRY(tsr__alloc(&ctx->heap, 1, sizeof *ctx->forms, &ctx->forms, &ctx->error));
    bucket = &ctx->forms->bucket[hash % BUCKETS];
    for (form = *bucket; form && !is_form_of(form, hash, spec);)
        form = form->next;
    if (!form) {
        TSR_TRY(tsr__alloc(&ctx->heap, 1, sizeof *form, &form, &ctx->error));
        form->spec = *spec;
        form->hash = hash;
        fill(mesh, form);
        form->next = *bucket;
        *bucket = form;
    }
    *out = form;
done:
    return st;
}

void tsr__forms_free(tsr_ctx *ctx)
{
    for (int i = 0; ctx->forms && i < BUCKETS; i++)
        while (ctx->forms->bucket[i]) {
            tsr_form *form = ctx->forms->bucket[i];
            ctx->forms->bucket[i] = form->next;
            tsr__free(&ctx->heap, form);
        }
    tsr__free(&ctx->heap, ctx->forms);
    ctx->forms = NULL;
}
