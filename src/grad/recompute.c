/* SPDX-License-Identifier: Apache-2.0 */
/* recompute.c - activation checkpointing: a function whose activations are not kept runs
   unrecorded, and on the way back again, on a tape of its own. So does what is run for its
   gradients alone (expr_grad.c). */
#include "grad/backward.h"
#include "tensor/scope.h"
#include "tessera_train.h"

tsr_status tsr__again_inputs(tsr_tensor *const *x, const tsr_source *source, int n, tsr_tensor **in)
{
    tsr_status st = TSR_OK;

    for (int k = 0; k < n; k++) {
        if (!x[k])
            continue;
        TSR_TRY(tsr__tensor_share_local_spec(x[k]->mesh, x[k]->local_spec, x[k], &in[k]));
        if (source && (source[k].leaf || source[k].node))
            TSR_TRY(tsr__leaf_make(in[k], false));
    }
done:
    return st;
}

/* Nothing is recorded, but what the tape knows the function may only get as an input: it is gone
   when the function is run again. */
static tsr_status run_first(tsr_ctx *ctx, const tsr_record *call, tsr_tensor **out)
{
    tsr_tensor **in = NULL;
    tsr_status st;

    TSR_TRY(tsr__alloc(&ctx->heap, call->n_in, sizeof *in, &in, &ctx->error));
    TSR_TRY(tsr__tape_push(ctx));
    ctx->tape->recording_off = true;
    st = tsr__again_inputs(call->in, NULL, call->n_in, in);
    if (st == TSR_OK) {
        *out = call->function(in, call->n_in, call->arg);
        st = tsr__tensor_check(ctx, *out, "tsr_recompute");
    }
    tsr__tape_close_scope(ctx, out, st == TSR_OK);
    tsr__tape_pop(ctx);
done:
    tsr__free(&ctx->heap, in);
    return st;
}

tsr_tensor *tsr_recompute(tsr_function function, tsr_tensor *const *in, int n_in, void *arg)
{
    tsr_tensor *y = NULL;
    const tsr_record record = {.kind = TSR_TAPED_FUNCTION,
                               .n_in = n_in,
                               .n_out = 1,
                               .in = in,
                               .out = &y,
                               .saves_in = ~0u,
                               .function = function,
                               .arg = arg};
    tsr_ctx *ctx;
    tsr_status st = TSR_OK;

    if (n_in < 1 || !in || !in[0])
        return NULL;
    ctx = in[0]->mesh->ctx;
    if (!function)
        TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_ARG, "tsr_recompute: function is NULL"));
    for (int k = 0; k < n_in; k++)
        TSR_TRY(tsr__tensor_check(ctx, in[k], "tsr_recompute"));
    if (!tsr__tape_is_on(ctx))
        return function(in, n_in, arg);
    TSR_TRY(run_first(ctx, &record, &y));
    TSR_TRY(tsr__tape_record(ctx, &record));
done:
    return tsr__tensor_or_error(ctx, st, y);
}

tsr_status tsr__again(tsr_ctx *ctx, const tsr_again *what, tsr_tensor *const *in)
{
    const int unrecorded = ctx->unrecorded;
    tsr_tensor *out[TSR_OP_OUTPUTS] = {NULL};
    tsr_status st;

    TSR_TRY(tsr__tape_push(ctx));
    ctx->unrecorded = 0;
    st = what->run(ctx, what->arg, in, what->n_in, out);
    ctx->unrecorded = unrecorded;
    for (int k = 0; k < what->n_out && st == TSR_OK; k++)
        if (out[k] && what->grad_out[k] && tsr__tape_has(ctx, out[k]))
            st = tsr__backward_seed(ctx, out[k], what->grad_out[k]);
    tsr__tape_close_scope(ctx, NULL, 0);
    if (st == TSR_OK)
        st = tsr__backward(ctx);
    tsr__tape_pop(ctx);
done:
    return st;
}

static tsr_status run_function(tsr_ctx *ctx, const void *arg, tsr_tensor *const *in, int n_in,
                               tsr_tensor **out)
{
    const tsr_taped *node = arg;

    out[0] = node->function(in, n_in, node->arg);
    return tsr__tensor_check(ctx, out[0], "tsr_recompute");
}

tsr_status tsr__back_function(tsr_ctx *ctx, tsr_taped *node)
{
    const tsr_again again = {run_function, node, node->n_in, 1, node->grad};
    tsr_tensor **in = NULL, **saved;
    tsr_status st;

    TSR_TRY(tsr__alloc(&ctx->heap, 2 * node->n_in, sizeof *in, &in, &ctx->error));
    saved = in + node->n_in;
    for (int k = 0; k < node->n_in; k++)
        saved[k] = node->in[k].x;
    TSR_TRY(tsr__again_inputs(saved, node->source, node->n_in, in));
    TSR_TRY(tsr__again(ctx, &again, in));
    for (int k = 0; k < node->n_in; k++)
        if (tsr_grad(in[k]))
            TSR_TRY(tsr__grad_give(ctx, &node->source[k], tsr_grad(in[k])));
done:
    tsr__free(&ctx->heap, in);
    return st;
}
