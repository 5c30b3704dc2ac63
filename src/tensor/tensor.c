/* SPDX-License-Identifier: Apache-2.0 */
/* tensor.c - the tensor handle: memory, references, and looking at the local part. */
#include "tensor/tensor.h"

#include <stdio.h>
#include <string.h>

#include "base/args.h"
#include "tensor/scope.h"
#include "world/verdict.h"

/* ---- making ---- */

/* A handle that was used before, or a new one, which joins the list of all. */
static tsr_status take_handle(tsr_ctx *ctx, tsr_tensor **out)
{
    const bool is_new = !ctx->spare_tensors.first;
    tsr_status st;

    TSR_TRY(tsr__take(&ctx->heap, &ctx->spare_tensors, sizeof **out, out, &ctx->error));
    if (is_new) {
        (*out)->other = ctx->tensors;
        ctx->tensors = *out;
    }
done:
    return st;
}

/* A handle with one reference, without memory. Every field is set: handles are used again. */
static tsr_status make_handle(tsr_mesh *mesh, tsr_local_spec *local_spec, tsr_tensor **out)
{
    tsr_ctx *ctx = mesh->ctx;
    tsr_tensor *x;
    tsr_status st;

    TSR_TRY(take_handle(ctx, &x));
    x->refs = 1;
    x->failed = x->released = x->invalid = false;
    x->version = 0;
    x->made = ctx->clock;
    x->mesh = tsr_mesh_ref(mesh);
    x->local_spec = tsr__local_spec_hold(local_spec);
    x->kept = NULL;
    x->buffer = NULL;
    x->scope = NULL;
    x->previous = x->next = NULL;
    x->leaf = NULL;
    x->node = 0;
    x->node_out = 0;
    x->no_grad_op = NULL;
    *out = x;
done:
    return st;
}

tsr_status tsr__tensor_shape_only(const tsr_tensor *x, tsr_tensor **out)
{
    tsr_status st = make_handle(x->mesh, x->local_spec, out);

    if (st == TSR_OK)
        (*out)->released = true;
    return st;
}

void tsr__leaf_clear(tsr_ctx *ctx, tsr_leaf *leaf)
{
    tsr_unref(leaf->grad);
    leaf->grad = NULL;
    if (leaf->clear_rows)
        leaf->clear_rows(ctx, leaf);
}

tsr_status tsr__buffer_make(tsr_ctx *ctx, size_t bytes, tsr_buffer **out)
{
    tsr_buffer *buffer;
    tsr_status st;

    TSR_TRY(tsr__take(&ctx->heap, &ctx->spare_buffers, sizeof *buffer, &buffer, &ctx->error));
    buffer->refs = 1;
    buffer->ctx = ctx;
    buffer->data = NULL;
    st = tsr__pool_get(&ctx->pool, bytes, &buffer->data, &ctx->error);
    if (st == TSR_OK)
        *out = buffer;
    else
        tsr__give(&ctx->heap, &ctx->spare_buffers, buffer);
done:
    return st;
}

tsr_status tsr__tensor_make_local_spec(tsr_mesh *mesh, tsr_local_spec *local_spec, tsr_tensor **out)
{
    tsr_ctx *ctx = mesh->ctx;
    tsr_tensor *x = NULL;
    tsr_status st;

    TSR_TRY(make_handle(mesh, local_spec, &x));
    if (mesh->index >= 0 && ctx->world->kind != TSR_WORLD_SIM)
        TSR_TRY(tsr__buffer_make(ctx, local_spec->bytes, &x->buffer));
    tsr__scope_add(ctx, tsr_ref(x));
    *out = x;
done:
    tsr_unref(x);
    return st;
}

tsr_status tsr__tensor_make(tsr_mesh *mesh, const tsr_spec *spec, tsr_tensor **out)
{
    tsr_local_spec *local_spec;
    tsr_status st;

    TSR_TRY(tsr__local_spec_get(mesh, spec, &local_spec));
    TSR_TRY(tsr__tensor_make_local_spec(mesh, local_spec, out));
done:
    return st;
}

tsr_status tsr__tensor_share(tsr_mesh *mesh, const tsr_spec *spec, const tsr_tensor *part,
                             tsr_tensor **out)
{
    tsr_local_spec *local_spec;
    tsr_status st;

    TSR_TRY(tsr__local_spec_get(mesh, spec, &local_spec));
    TSR_TRY(tsr__tensor_share_local_spec(mesh, local_spec, part, out));
done:
    return st;
}

tsr_status tsr__tensor_share_local_spec(tsr_mesh *mesh, tsr_local_spec *local_spec,
                                        const tsr_tensor *part, tsr_tensor **out)
{
    tsr_tensor *x;
    tsr_status st;

    TSR_TRY(make_handle(mesh, local_spec, &x));
    x->buffer = part->buffer;
    if (x->buffer)
        x->buffer->refs++;
    tsr__scope_add(mesh->ctx, x);
    *out = x;
done:
    return st;
}

tsr_tensor *tsr_ref(tsr_tensor *x)
{
    if (x)
        x->refs++;
    return x;
}

void tsr__buffer_release(tsr_buffer *buffer)
{
    if (!buffer || --buffer->refs > 0)
        return;
    tsr__pool_put(&buffer->ctx->pool, buffer->data);
    tsr__give(&buffer->ctx->heap, &buffer->ctx->spare_buffers, buffer);
}

/* Let go of the last reference, which is the caller's unless a scope has it. */
static void free_tensor(tsr_tensor *x)
{
    tsr_ctx *ctx = x->mesh->ctx;
    char text[TSR_TEXT_LEN];

    if (x->scope) {
        tsr__fail(&ctx->error, TSR_ERR_STATE,
                  "tsr_unref: %s belongs to its scope, which frees it; only what tsr_keep or "
                  "tsr_ref gave is the caller's to release",
                  tsr_spec_text(&x->local_spec->spec, text, sizeof text));
        return;
    }
    if (x->kept)
        tsr__kept_drop(x);
    if (x->leaf) {
        tsr__leaf_clear(ctx, x->leaf);
        tsr__local_spec_release(x->leaf->stepped);
        tsr__free(&ctx->heap, x->leaf);
    }
    tsr__buffer_release(x->buffer);
    tsr__local_spec_release(x->local_spec);
    tsr_mesh_unref(x->mesh);
    tsr__give(&ctx->heap, &ctx->spare_tensors, x);
}

void tsr_unref(tsr_tensor *x)
{
    if (!x || x->failed) /* what failed is one tensor for all calls */
        return;
    if (x->refs > 1)
        x->refs--;
    else
        free_tensor(x);
}

tsr_status tsr__tensor_own(tsr_tensor *x, tsr_buffer **before)
{
    tsr_buffer *old = x->buffer;
    tsr_status st = TSR_OK;

    *before = NULL;
    if (!old || old->refs == 1)
        return TSR_OK;
    TSR_TRY(tsr__buffer_make(x->mesh->ctx, x->local_spec->bytes, &x->buffer));
    *before = old;
done:
    return st;
}

/* ---- errors ---- */

static void note_text(const tsr_cached *subject, char *buf, size_t n)
{
    char spec[TSR_TEXT_LEN];

    snprintf(buf, n, "a function that makes %s",
             tsr_spec_text(&((const tsr_local_spec *)subject)->spec, spec, sizeof spec));
}

void tsr__tensor_note(tsr_tensor *x, uint64_t salt)
{
    x->made = ++x->mesh->ctx->clock;
    tsr__history_add(&x->mesh->history, x->made, tsr__hash_mix(x->local_spec->cached.hash, salt),
                     &x->local_spec->cached, note_text);
}

tsr_tensor *tsr__tensor_or_error(tsr_ctx *ctx, tsr_status st, tsr_tensor *x)
{
    if (st == TSR_OK && x && !x->failed)
        tsr__tensor_note(x, 0);
    st = tsr__poison_if_local(ctx, st);
    return st == TSR_OK ? x : tsr__tensor_failed(ctx, st);
}

tsr_tensor *tsr__tensor_failed(tsr_ctx *ctx, tsr_status st)
{
    ctx->failed = st;
    return ctx->error_tensor;
}

void tsr__tensors_invalidate(tsr_ctx *ctx, uint64_t clock)
{
    for (tsr_tensor *x = ctx->tensors; x; x = x->other)
        x->invalid = x->invalid || x->made >= clock;
}

tsr_status tsr__tensor_check(tsr_ctx *ctx, const tsr_tensor *x, const char *function)
{
    if (!x)
        return tsr__fail(&ctx->error, TSR_ERR_ARG, "%s: the tensor is NULL", function);
    if (x->released)
        return tsr__fail(
            &ctx->error, TSR_ERR_STATE,
            "%s: the tape has released the tensor's values; the op's row must list in saves what "
            "its gradient reads",
            function);
    if (x->failed || x->invalid) /* if the first error was cleared, say at least this much */
        return ctx->error.code
                   ? ctx->error.code
                   : tsr__fail(&ctx->error, TSR_ERR_ARG,
                               "%s: the tensor is the result of an earlier error", function);
    return TSR_OK;
}

tsr_status tsr__tensor_needs_data(const tsr_tensor *x, const char *function)
{
    char text[TSR_TEXT_LEN];

    if (x->mesh->ctx->world->kind == TSR_WORLD_SIM)
        return tsr__fail(&x->mesh->ctx->error, TSR_ERR_NO_DATA,
                         "%s: %s has no data in the sim world, which only counts costs", function,
                         tsr_spec_text(&x->local_spec->spec, text, sizeof text));
    return TSR_OK;
}

/* ---- looking ---- */

const tsr_spec *tsr_tensor_spec(const tsr_tensor *x)
{
    return x ? &x->local_spec->spec : NULL;
}

tsr_mesh *tsr_tensor_mesh(const tsr_tensor *x)
{
    return x ? x->mesh : NULL;
}

bool tsr_tensor_ok(const tsr_tensor *x)
{
    return x && !x->failed && !x->invalid; /* of one that is gone the spec is there */
}

tsr_status tsr_local_view(tsr_tensor *x, tsr_local *out)
{
    TSR_NEED(TSR_ERR_ARG, tsr__tensor_error(x), x, out);

    tsr_local view = {0};
    tsr_layout layout;
    tsr_ctx *ctx;
    tsr_status st;

    ctx = x->mesh->ctx;
    TSR_TRY(tsr__tensor_check(ctx, x, "tsr_local_view"));
    TSR_TRY(tsr__tensor_needs_data(x, "tsr_local_view"));
    TSR_TRY(tsr__verdict_before_read(ctx));
    view.data = tsr__tensor_data(x);
    view.shape = x->local_spec->local;
    layout = tsr__layout_of(&x->local_spec->spec);
    for (int d = 0; d < x->local_spec->spec.shape.ndim; d++) {
        tsr_runs runs = {0};
        view.first[d] = -1;
        view.whole[d] = true;
        if (x->mesh->index < 0)
            continue;
        TSR_TRY(tsr__layout_runs(&ctx->heap, &layout, d, x->mesh->coord, &runs, &ctx->error));
        view.first[d] = tsr__runs_index(&runs, 0);
        view.whole[d] = runs.n == 0 || (runs.n == 1 && tsr__runs_at(&runs, 0)->count == 1);
        tsr__runs_free(&ctx->heap, &runs);
    }
    *out = view;
done:
    return tsr__poison_if_local(ctx, st);
}

int64_t tsr_local_index(const tsr_tensor *x, int dim, int64_t i)
{
    TSR_NEED(-1, NULL, x);

    tsr_ctx *ctx = x->mesh->ctx;
    tsr_runs runs = {0};
    tsr_layout layout;
    int64_t index = -1;

    if (!tsr_tensor_ok(x) || dim < 0 || dim >= x->local_spec->spec.shape.ndim ||
        x->mesh->index < 0 || i < 0)
        return -1;
    layout = tsr__layout_of(&x->local_spec->spec);
    if (tsr__layout_runs(&ctx->heap, &layout, dim, x->mesh->coord, &runs, &ctx->error) == TSR_OK)
        index = tsr__runs_index(&runs, i);
    tsr__runs_free(&ctx->heap, &runs);
    return index;
}
