/* SPDX-License-Identifier: Apache-2.0 */
/* recompute.c - a function whose activations are not kept: it runs unrecorded, and on the way back
   again, on a tape of its own. */
#include "grad/backward.h"
#include "tensor/scope.h"

tsr_tensor *tsr_recompute(tsr_function function, tsr_tensor *const *in, int n_in, void *arg)
{
    tsr_record record = {.kind = TSR_TAPED_FUNCTION,
                         .n_in = n_in,
                         .n_out = 1,
                         .in = in,
                         .saves_in = ~0u,
                         .function = function,
                         .arg = arg};
    tsr_tensor *y = NULL;
    tsr_ctx *ctx;
    tsr_status st = TSR_OK;

    if (n_in < 1 || !in[0])
        return NULL;
    ctx = in[0]->mesh->ctx;
    for (int k = 0; k < n_in; k++)
        TSR_TRY(tsr__tensor_check(ctx, in[k], "tsr_recompute"));
    TSR_TRY(tsr__scope_push(ctx));
    ctx->unrecorded++;
    y = function(in, n_in, arg);
    ctx->unrecorded--;
    st = tsr__tensor_check(ctx, y, "tsr_recompute");
    tsr__scope_pop_but(ctx, &y, st == TSR_OK);
    record.out = &y;
    if (st == TSR_OK && tsr__tape_is_on(ctx))
        st = tsr__tape_record(ctx, &record);
done:
    return tsr__tensor_or_error(ctx, st, y);
}

/* The inputs as tensors of their own, watched where a gradient is wanted. */
static tsr_status share_inputs(const tsr_taped *node, tsr_tensor **in)
{
    tsr_status st = TSR_OK;

    for (int k = 0; k < node->n_in; k++) {
        const tsr_tensor *x = node->in[k].x;

        TSR_TRY(tsr__tensor_share_form(x->mesh, x->form, x, &in[k]));
        if (node->source[k].leaf || node->source[k].node)
            TSR_TRY(tsr__leaf_make(in[k], false));
    }
done:
    return st;
}

/* Forward and back on an inner tape; gradients stay with the inputs. */
static tsr_status run_again(tsr_ctx *ctx, const tsr_taped *node, tsr_tensor **in)
{
    const int unrecorded = ctx->unrecorded;
    tsr_tensor *y;
    tsr_status st;

    TSR_TRY(tsr__tape_push(ctx));
    ctx->unrecorded = 0;
    y = node->function(in, node->n_in, node->arg);
    ctx->unrecorded = unrecorded;
    st = tsr__tensor_check(ctx, y, "tsr_recompute");
    if (st == TSR_OK && tsr__tape_has(ctx, y))
        st = tsr__backward_seed(ctx, y, node->grad[0]);
    tsr__tape_close_scope(ctx, NULL, 0);
    if (st == TSR_OK)
        st = tsr__backward(ctx);
    tsr__tape_pop(ctx);
done:
    return st;
}

tsr_status tsr__back_function(tsr_ctx *ctx, tsr_taped *node)
{
    tsr_tensor **in = NULL;
    tsr_status st;

    TSR_TRY(tsr__alloc(&ctx->heap, node->n_in, sizeof *in, &in, &ctx->error));
    TSR_TRY(share_inputs(node, in));
    TSR_TRY(run_again(ctx, node, in));
    for (int k = 0; k < node->n_in; k++)
        if (tsr_grad(in[k]))
            TSR_TRY(tsr__grad_give(ctx, &node->source[k], tsr_grad(in[k])));
done:
    tsr__free(&ctx->heap, in);
    return st;
}
