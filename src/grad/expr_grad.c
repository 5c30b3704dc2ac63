/* SPDX-License-Identifier: Apache-2.0 */
/* expr_grad.c - the gradient of one call of a composite op, an expression of others: it runs again
   on a tape of its own. Called by grad.c; on a program's tape its parts are written down instead.
   */
#include "grad/backward.h"
#include "grad/grad_row.h"
#include "op/expr.h"
#include "tessera_train.h"

static bool is_taped(const tsr_ctx *ctx, const tsr_tensor *x)
{
    return x && tsr__dtype_is_float(x->local_spec->spec.dtype) && tsr__tape_has(ctx, x);
}

/* A program's tape would know nothing of this gradient, and tsr_backward leave out what goes
   through it. */
static tsr_status check_tape(tsr_ctx *ctx, const tsr_grad_call *call, int n_in)
{
    tsr_op_entry *entry;
    bool taped = false;
    tsr_status st = TSR_OK;

    if (!tsr__tape_is_on(ctx))
        return TSR_OK;
    TSR_TRY(tsr__op_entry_of(&ctx->heap, &ctx->ops, call->op, &entry, &ctx->error));
    for (int k = 0; k < n_in; k++)
        taped = taped || is_taped(ctx, call->in[k]);
    for (int k = 0; k < entry->expr->n_out; k++) /* the caller's list is as long */
        taped = taped || is_taped(ctx, call->grad_out[k]);
    if (taped)
        st = tsr__fail(
            &ctx->error, TSR_ERR_STATE,
            "%s: gradients of gradients are not recorded: pause the tape with tsr_tape_pause, or "
            "detach the tensors with tsr_detach",
            call->op->name);
done:
    return st;
}

static tsr_status run_row(tsr_ctx *ctx, const void *arg, tsr_tensor *const *in, int n_in,
                          tsr_tensor **out)
{
    const tsr_grad_call *call = arg;

    return tsr__dispatch_row(ctx, call->op, in, n_in, call->attrs, out);
}

tsr_status tsr__grad_expr(tsr_ctx *ctx, const tsr_grad_call *call)
{
    tsr_again again = {run_row, call, call->n_in, call->n_out, call->grad_out};
    tsr_tensor *in[TSR_MAX_IN] = {NULL};
    tsr_source source[TSR_MAX_IN] = {0};
    tsr_status st;

    while (again.n_in > 0 && !call->in[again.n_in - 1])
        again.n_in--;
    TSR_TRY(check_tape(ctx, call, again.n_in));
    for (int k = 0; k < again.n_in; k++)
        source[k].leaf = call->wanted[k] ? call->in[k] : NULL;
    TSR_TRY(tsr__again_inputs(call->in, source, again.n_in, in));
    TSR_TRY(tsr__again(ctx, &again, in));
    for (int k = 0; k < again.n_in; k++) {
        tsr_tensor *g = in[k] ? tsr_grad(in[k]) : NULL;

        if (g)
            TSR_TRY(tsr__tensor_share_local_spec(g->mesh, g->local_spec, g, &call->grad_in[k]));
    }
done:
    return st;
}
