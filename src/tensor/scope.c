/* SPDX-License-Identifier: Apache-2.0 */
/* scope.c - scopes and keep. */
#include "tensor/scope.h"
#include "base/args.h"

#include <inttypes.h>

tsr_status tsr__scope_push(tsr_ctx *ctx)
{
    struct tsr_scope *scope;
    tsr_status st;

    TSR_TRY(tsr__alloc(&ctx->heap, 1, sizeof *scope, &scope, &ctx->error));
    scope->outer = ctx->scope;
    ctx->scope = scope;
done:
    return st;
}

void tsr__scope_pop(tsr_ctx *ctx)
{
    struct tsr_scope *scope = ctx->scope;

    if (!scope)
        return;
    while (scope->first) {
        tsr_tensor *x = scope->first;
        tsr__scope_remove(x);
        tsr_unref(x);
    }
    ctx->scope = scope->outer;
    tsr__free(&ctx->heap, scope);
}

void tsr__scope_pop_but(tsr_ctx *ctx, tsr_tensor *const *x, int n)
{
    for (int k = 0; k < n; k++)
        if (x[k] && !x[k]->failed && x[k]->scope == ctx->scope)
            tsr_keep(x[k]);
        else
            tsr_ref(x[k]); /* of an outer scope, or kept */
    tsr__scope_pop(ctx);
    for (int k = 0; k < n; k++)
        if (x[k] && !x[k]->failed && !x[k]->scope)
            tsr__scope_add(ctx, x[k]);
        else
            tsr_unref(x[k]);
}

void tsr__scope_add(tsr_ctx *ctx, tsr_tensor *x)
{
    x->scope = ctx->scope;
    x->next = ctx->scope->first;
    if (x->next)
        x->next->previous = x;
    ctx->scope->first = x;
}

void tsr__scope_remove(tsr_tensor *x)
{
    if (x->previous)
        x->previous->next = x->next;
    else
        x->scope->first = x->next;
    if (x->next)
        x->next->previous = x->previous;
    x->scope = NULL;
    x->previous = x->next = NULL;
}

bool tsr__scope_is_limited(const tsr_ctx *ctx)
{
    const struct tsr_scope *scope = ctx->scope;

    while (scope && !scope->limited)
        scope = scope->outer;
    return scope != NULL;
}

tsr_status tsr__scope_spend(tsr_ctx *ctx, int64_t bytes, const tsr_spec *from, const tsr_spec *to)
{
    char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN];

    for (struct tsr_scope *scope = ctx->scope; scope; scope = scope->outer)
        if (scope->limited && bytes > scope->budget)
            return tsr__fail(&ctx->error, TSR_ERR_LIMIT,
                             "redistributing %s to %s takes %" PRId64
                             " bytes per rank, but the scope's budget has %" PRId64 " left",
                             tsr_spec_text(from, a, sizeof a), tsr_placements_text(to, b, sizeof b),
                             bytes, scope->budget);
    for (struct tsr_scope *scope = ctx->scope; scope; scope = scope->outer)
        if (scope->limited)
            scope->budget -= bytes;
    return TSR_OK;
}

tsr_status tsr_scope_push(tsr_mesh *mesh)
{
    TSR_NEED(TSR_ERR_ARG, NULL, mesh);
    return tsr__poison_if_local(mesh->ctx, tsr__scope_push(mesh->ctx));
}

/* May the program pop the innermost scope? */
static tsr_status check_pop(tsr_ctx *ctx, const char *function)
{
    if (!ctx->scope->outer)
        return tsr__fail(&ctx->error, TSR_ERR_STATE, "%s: no pushed scope is left", function);
    if (ctx->scope->taped)
        return tsr__fail(&ctx->error, TSR_ERR_STATE,
                         "%s: this scope is the tape's, which tsr_backward or tsr_tape_drop ends",
                         function);
    return TSR_OK;
}

tsr_status tsr_scope_pop(tsr_mesh *mesh)
{
    TSR_NEED(TSR_ERR_ARG, NULL, mesh);

    tsr_status st = check_pop(mesh->ctx, "tsr_scope_pop");

    if (st == TSR_OK)
        tsr__scope_pop(mesh->ctx);
    return st;
}

tsr_tensor *tsr_scope_return(tsr_tensor *x)
{
    tsr_ctx *ctx;
    tsr_status st;

    if (!x)
        return NULL;
    ctx = x->mesh->ctx;
    st = check_pop(ctx, "tsr_scope_return");
    if (st == TSR_OK)
        tsr__scope_pop_but(ctx, &x, !x->failed);
    return tsr__tensor_or_error(ctx, st, x);
}

tsr_tensor *tsr_keep(tsr_tensor *x)
{
    if (!x || x->failed)
        return x;
    if (x->scope)
        tsr__scope_remove(x);
    else
        tsr_ref(x); /* kept once more: one more tsr_unref is owed */
    return x;
}
