/* SPDX-License-Identifier: Apache-2.0 */
/* make.c - tensors from host arrays, from local parts, and from formulas. Nothing here moves data
   between ranks, except for asking the others whether their local part fits. */
#include <string.h>

#include "base/activity.h"
#include "base/args.h"
#include "base/dtype_range.h"
#include "exchange/exchange.h"
#include "tensor/partial.h"
#include "tensor/tensor.h"
#include "world/agree.h"

tsr_status tsr__tensor_of_text(tsr_mesh *mesh, const char *text, tsr_tensor **out)
{
    tsr_spec spec;
    tsr_status st;

    TSR_TRY(tsr_spec_parse(text, &mesh->shape, &spec, &mesh->ctx->error));
    TSR_TRY(tsr__tensor_make(mesh, &spec, out));
done:
    return st;
}

static void settle_partial(tsr_tensor *x)
{
    tsr_layout layout = tsr__layout_of(&x->local_spec->spec);

    tsr__make_partial(&layout, tsr__partial_mdims(&layout), x->mesh->coord, tsr__tensor_data(x),
                      tsr_shape_count(&x->local_spec->local));
}

static tsr_status null_data(tsr_mesh *mesh, const char *function)
{
    return tsr__fail(&mesh->ctx->error, TSR_ERR_ARG, "%s: data is NULL", function);
}

static tsr_status wrong_bytes(const char *function, const tsr_tensor *x, size_t bytes, size_t want,
                              tsr_error *err)
{
    char text[TSR_TEXT_LEN];

    return tsr__fail(err, TSR_ERR_ARG, "%s: data has %zu bytes on rank %d, but %s has %zu there",
                     function, bytes, x->mesh->ctx->world->rank,
                     tsr_spec_text(&x->local_spec->spec, text, sizeof text), want);
}

tsr_tensor *tsr_from_host(tsr_mesh *mesh, const char *text, const void *data, size_t bytes)
{
    TSR_NEED(NULL, NULL, mesh);

    tsr_ctx *ctx = mesh->ctx;
    tsr_tensor *x = NULL;
    const tsr_booking b = tsr__activity_begin(ctx);
    tsr_layout whole, part;
    tsr_spec replicated;
    tsr_status st;

    TSR_TRY(tsr__tensor_of_text(mesh, text, &x));
    if (data && bytes != tsr__spec_bytes(&x->local_spec->spec))
        TSR_TRY(wrong_bytes("tsr_from_host", x, bytes, tsr__spec_bytes(&x->local_spec->spec),
                            &ctx->error));
    if (!tsr__tensor_data(x))
        goto done;
    if (!data && tsr_shape_count(&x->local_spec->spec.shape) > 0)
        TSR_TRY(null_data(mesh, "tsr_from_host"));
    replicated = x->local_spec->spec;
    memset(replicated.place, 0, sizeof replicated.place);
    whole = tsr__layout_of(&replicated);
    part = tsr__layout_of(&x->local_spec->spec);
    TSR_TRY(tsr__exchange_own(&ctx->heap, &whole, data, &part, tsr__tensor_data(x),
                              ctx->world->rank, &ctx->error));
    settle_partial(x);
done:
    tsr__activity_end(ctx, &b, TSR_DO_HOST, 1);
    return tsr__tensor_or_error(ctx, st, x);
}

/* ---- from local parts ---- */

static tsr_status check_part(const tsr_tensor *x, const tsr_shape *got, const void *data,
                             size_t bytes, tsr_error *err)
{
    char spec[TSR_TEXT_LEN], want[TSR_TEXT_LEN], have[TSR_TEXT_LEN];
    bool same = got->ndim == x->local_spec->local.ndim;

    for (int d = 0; d < x->local_spec->local.ndim && same; d++)
        same = got->size[d] == x->local_spec->local.size[d];
    if (!same)
        return tsr__fail(err, TSR_ERR_SHAPE,
                         "tsr_from_local: rank %d passes local shape %s, but %s requires %s",
                         x->mesh->ctx->world->rank, tsr__shape_text(got, have, sizeof have),
                         tsr_spec_text(&x->local_spec->spec, spec, sizeof spec),
                         tsr__shape_text(&x->local_spec->local, want, sizeof want));
    if (!data && tsr_shape_count(&x->local_spec->local) > 0)
        return tsr__fail(err, TSR_ERR_ARG, "tsr_from_local: data is NULL on rank %d",
                         x->mesh->ctx->world->rank);
    if (bytes != x->local_spec->bytes)
        return wrong_bytes("tsr_from_local", x, bytes, x->local_spec->bytes, err);
    return TSR_OK;
}

tsr_tensor *tsr_from_local(tsr_mesh *mesh, const char *text, const void *data, size_t bytes,
                           const tsr_shape *local_shape)
{
    TSR_NEED(NULL, NULL, mesh);

    const tsr_booking b = tsr__activity_begin(mesh->ctx);
    tsr_tensor *x = NULL;
    tsr_error err = {0};
    tsr_status st;

    TSR_TRY(tsr__tensor_of_text(mesh, text, &x));
    if (!tsr__tensor_data(x))
        goto done;
    if (local_shape)
        st = check_part(x, local_shape, data, bytes, &err);
    else
        st = tsr__fail(&err, TSR_ERR_ARG, "tsr_from_local: local_shape is NULL on rank %d",
                       mesh->ctx->world->rank);
    TSR_TRY(tsr__agree(mesh, st, &err));
    if (x->local_spec->bytes)
        memcpy(tsr__tensor_data(x), data, x->local_spec->bytes);
done:
    tsr__activity_end(mesh->ctx, &b, TSR_DO_HOST, 1);
    return tsr__tensor_or_error(mesh->ctx, st, x);
}

/* ---- from formulas ---- */

tsr_tensor *tsr_tensor_new(tsr_mesh *mesh, const tsr_spec *spec)
{
    TSR_NEED(tsr__error_tensor(mesh), tsr__mesh_error(mesh), mesh, spec);

    tsr_ctx *ctx = mesh->ctx;
    tsr_tensor *x = NULL;
    char own[TSR_TEXT_LEN], other[TSR_TEXT_LEN];
    tsr_status st;

    if (!spec)
        TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_ARG, "tsr_tensor_new: the spec is NULL"));
    TSR_TRY(tsr_spec_check(spec, &ctx->error));
    if (!tsr__mesh_equal(&spec->mesh, &mesh->shape))
        TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_MESH,
                          "tsr_tensor_new: the spec is for mesh %s, not for mesh %s",
                          tsr_mesh_text(&spec->mesh, other, sizeof other),
                          tsr_mesh_text(&mesh->shape, own, sizeof own)));
    TSR_TRY(tsr__tensor_make(mesh, spec, &x));
    if (tsr__tensor_data(x)) {
        memset(tsr__tensor_data(x), 0, x->local_spec->bytes);
        settle_partial(x);
    }
done:
    return tsr__tensor_or_error(ctx, st, x);
}

tsr_tensor *tsr_full(tsr_mesh *mesh, const char *text, double value)
{
    TSR_NEED(NULL, NULL, mesh);

    tsr_tensor *x = NULL;
    uint64_t salt;
    int64_t n;
    tsr_status st;

    TSR_TRY(tsr__tensor_of_text(mesh, text, &x));
    TSR_TRY(
        tsr__dtype_check(x->local_spec->spec.dtype, value, "tsr_full: value", &mesh->ctx->error));
    if (!tsr__tensor_data(x))
        goto done;
    memcpy(&salt, &value, sizeof salt);
    tsr__tensor_note(x, salt);
    n = tsr_shape_count(&x->local_spec->local);
    if (n > 0)
        tsr__put(x->local_spec->spec.dtype, tsr__tensor_data(x), 0, value);
    tsr__repeat(tsr_dtype_size(x->local_spec->spec.dtype), tsr__tensor_data(x), n);
    settle_partial(x);
done:
    return tsr__tensor_or_error(mesh->ctx, st, x);
}

tsr_tensor *tsr_zeros(tsr_mesh *mesh, const char *text)
{
    TSR_NEED(NULL, NULL, mesh);

    tsr_spec spec;
    tsr_status st = tsr_spec_parse(text, &mesh->shape, &spec, &mesh->ctx->error);

    return st == TSR_OK ? tsr_tensor_new(mesh, &spec) : tsr__tensor_failed(mesh->ctx, st);
}
