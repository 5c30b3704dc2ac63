/* SPDX-License-Identifier: Apache-2.0 */
/* watch.c - watched tensors, their gradients, and tapes as programs see them (tessera_train.h). */
#include "base/args.h"
#include "tape/tape.h"
#include "tensor/scope.h"
#include "tessera_train.h"

tsr_status tsr__leaf_make(tsr_tensor *x, bool by_rows)
{
    tsr_ctx *ctx = x->mesh->ctx;
    tsr_status st = TSR_OK;

    if (!x->leaf)
        TSR_TRY(tsr__alloc(&ctx->heap, 1, sizeof *x->leaf, &x->leaf, &ctx->error));
    x->leaf->by_rows = by_rows;
done:
    return st;
}

static tsr_tensor *watch(tsr_tensor *x, bool by_rows)
{
    char text[TSR_TEXT_LEN];
    tsr_ctx *ctx;
    tsr_status st;

    if (!x)
        return NULL;
    ctx = x->mesh->ctx;
    TSR_TRY(tsr__tensor_check(ctx, x, "tsr_watch"));
    if (!tsr__dtype_is_float(x->local_spec->spec.dtype))
        TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_DTYPE,
                          "tsr_watch: %s has no floating-point dtype, so it has no gradient",
                          tsr_spec_text(&x->local_spec->spec, text, sizeof text)));
    for (int m = 0; m < x->local_spec->spec.mesh.ndim; m++)
        if (x->local_spec->spec.place[m].kind == TSR_PARTIAL)
            TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_SPEC,
                              "tsr_watch: %s is partial; redistribute it first",
                              tsr_spec_text(&x->local_spec->spec, text, sizeof text)));
    if (ctx->tape && tsr__tape_node(ctx->tape, x->node))
        TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_STATE,
                          "tsr_watch: %s depends on watched tensors already",
                          tsr_spec_text(&x->local_spec->spec, text, sizeof text)));
    TSR_TRY(tsr__leaf_make(x, by_rows));
done:
    return tsr__tensor_or_error(ctx, st, x);
}

tsr_tensor *tsr_watch(tsr_tensor *x)
{
    return watch(x, false);
}

tsr_tensor *tsr_watch_sparse(tsr_tensor *table)
{
    return watch(table, true);
}

bool tsr_is_watched(const tsr_tensor *x)
{
    return x && x->leaf;
}

tsr_tensor *tsr_grad(const tsr_tensor *x)
{
    return x && x->leaf ? x->leaf->grad : NULL;
}

void tsr_grad_clear(tsr_tensor *x)
{
    if (x && x->leaf)
        tsr__leaf_clear(x->mesh->ctx, x->leaf);
}

tsr_status tsr_grad_set(tsr_tensor *x, tsr_tensor *g)
{
    TSR_NEED(TSR_ERR_ARG, tsr__tensor_error(x ? x : g), x, g);

    char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN];
    const tsr_spec *of, *is;
    tsr_ctx *ctx;
    tsr_status st;

    ctx = x->mesh->ctx;
    TSR_TRY(tsr__tensor_check(ctx, x, "tsr_grad_set"));
    TSR_TRY(tsr__tensor_check(ctx, g, "tsr_grad_set"));
    if (x == g)
        TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_ARG,
                          "tsr_grad_set: a tensor cannot be its own gradient"));
    of = &x->local_spec->spec;
    is = &g->local_spec->spec;
    if (!x->leaf)
        TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_STATE, "tsr_grad_set: %s is not watched",
                          tsr_spec_text(of, a, sizeof a)));
    if (of->dtype != is->dtype || !tsr_shape_equal(&of->shape, &is->shape))
        TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_SHAPE,
                          "tsr_grad_set: gradient %s does not match tensor %s",
                          tsr_spec_text(is, b, sizeof b), tsr_spec_text(of, a, sizeof a)));
    tsr_ref(g);
    tsr_unref(x->leaf->grad);
    x->leaf->grad = g;
done:
    return st;
}

/* ---- tapes ---- */

tsr_status tsr_tape_begin(tsr_mesh *mesh)
{
    TSR_NEED(TSR_ERR_ARG, NULL, mesh);

    tsr_ctx *ctx = mesh->ctx;
    tsr_status st;

    if (ctx->tape)
        TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_STATE,
                          "tsr_tape_begin: a tape is already active; tsr_backward ends it"));
    TSR_TRY(tsr__tape_push(ctx));
done:
    return tsr__poison_if_local(ctx, st);
}

void tsr_tape_drop(tsr_mesh *mesh)
{
    TSR_NEED(, NULL, mesh);

    tsr_ctx *ctx = mesh->ctx;

    if (!ctx->tape)
        return;
    tsr__tape_close_scope(ctx, NULL, 0);
    tsr__tape_pop(ctx);
}

void tsr_tape_pause(tsr_mesh *mesh)
{
    TSR_NEED(, NULL, mesh);
    mesh->ctx->unrecorded++;
}

void tsr_tape_resume(tsr_mesh *mesh)
{
    TSR_NEED(, NULL, mesh);
    if (mesh->ctx->unrecorded > 0)
        mesh->ctx->unrecorded--;
}

tsr_tensor *tsr_detach(tsr_tensor *x)
{
    tsr_tensor *y = NULL;
    tsr_status st;

    if (!x)
        return NULL;
    TSR_TRY(tsr__tensor_check(x->mesh->ctx, x, "tsr_detach"));
    TSR_TRY(tsr__tensor_share_local_spec(x->mesh, x->local_spec, x, &y));
done:
    return tsr__tensor_or_error(x->mesh->ctx, st, y);
}
