/* SPDX-License-Identifier: Apache-2.0 */
/* composed.c - runs an op that is made of others: in a scope of its own, and what one of them moved
   the next does not move again. Called by dispatch.c. */
#include "dispatch/composed.h"

#include <string.h>

#include "dispatch/expr_run.h"
#include "op/schema.h"
#include "tape/tape.h"
#include "tensor/scope.h"

/* ---- what was moved ---- */

enum { MOVED = 8 };

typedef struct tsr_moved {
    int n;
    struct {
        tsr_tensor *from, *to; /* referenced */
        unsigned version;      /* of from */
    } v[MOVED];
} tsr_moved;

tsr_tensor *tsr__moved_before(const tsr_ctx *ctx, const tsr_tensor *x, const tsr_spec *to)
{
    const tsr_moved *m = ctx->moved;

    for (int i = 0; m && i < m->n; i++)
        if (m->v[i].from == x && m->v[i].version == x->version &&
            tsr_spec_equal(&m->v[i].to->local_spec->spec, to))
            return m->v[i].to;
    return NULL;
}

void tsr__moved_add(tsr_ctx *ctx, tsr_tensor *from, tsr_tensor *to)
{
    tsr_moved *m = ctx->moved;

    if (!m || m->n == MOVED)
        return;
    m->v[m->n].from = tsr_ref(from);
    m->v[m->n].to = tsr_ref(to);
    m->v[m->n++].version = from->version;
}

static void forget_moves(const tsr_moved *m)
{
    for (int i = 0; i < m->n; i++) {
        tsr_unref(m->v[i].from);
        tsr_unref(m->v[i].to);
    }
}

/* ---- running ---- */

/* What compose is for rows that have one. */
static tsr_status run_expr(tsr_ctx *ctx, const tsr_op_call *call, const tsr_attrs *attrs,
                           tsr_tensor **out)
{
    const tsr_expr_call whole = {.op = call->entry->op,
                                 .expr = call->entry->expr,
                                 .attrs = attrs,
                                 .n_in = call->n_in,
                                 .in = call->in};

    for (int k = 0; k < call->entry->n_in && !call->entry->list; k++)
        if ((whole.expr->needed >> k & 1) && (k >= call->n_in || !call->in[k]))
            return tsr__input_missing(call->entry->op, k, &ctx->error);
    return tsr__expr_run(ctx, &whole, out);
}

/* What went wrong in a part, as an error of what the user called. */
static void name_error(tsr_ctx *ctx, const tsr_op_call *call)
{
    tsr_schema s = {.op = call->entry->op,
                    .n_in = call->n_in < TSR_MAX_IN ? call->n_in : TSR_MAX_IN};
    char text[TSR_ERROR_LEN];

    for (int k = 0; k < s.n_in; k++) {
        s.in[k].shape.ndim = -1;
        if (call->in[k])
            s.in[k] = call->in[k]->local_spec->spec;
    }
    tsr__part_error(s.op, tsr_schema_text(&s, text, sizeof text), &ctx->error);
}

/* An op that is made of others: what they leave behind goes, the results stay. */
tsr_status tsr__compose(tsr_ctx *ctx, const tsr_op_call *call, tsr_tensor **out)
{
    tsr_moved moved = {0}, *const outer = ctx->moved;
    const bool whole =
        tsr__op_own_grad(call->entry->op) && tsr__tape_is_on(ctx); /* else its parts are */
    const bool clean = ctx->error.code == TSR_OK;
    tsr_attrs attrs = {0};
    tsr_status st;

    memcpy(attrs.value, call->attrs, (size_t)call->entry->n_attrs * sizeof *call->attrs);
    for (int k = 0; k < TSR_MAX_OUT; k++)
        out[k] = NULL;
    for (int k = 0; k < call->n_in; k++)
        if (call->in[k])
            TSR_TRY(tsr__tensor_check(ctx, call->in[k], call->entry->op->name));
    for (int k = 0; !call->entry->expr && !call->entry->list && k < call->entry->n_in; k++)
        if ((k >= call->n_in || !call->in[k]) && !tsr__op_optional(call->entry->op, k))
            TSR_TRY(tsr__input_missing(call->entry->op, k, &ctx->error));
    TSR_TRY(tsr__scope_push(ctx));
    ctx->moved = &moved;
    ctx->unrecorded += whole;
    if (call->entry->expr)
        st = run_expr(ctx, call, &attrs, out);
    else
        st = call->entry->op->compose(call->in, call->n_in, &attrs, out, &ctx->error);
    ctx->moved = outer;
    ctx->unrecorded -= whole;
    forget_moves(&moved);
    if (st != TSR_OK)
        tsr__fail(&ctx->error, st, "%s: compose failed: %s", call->entry->op->name,
                  tsr_status_text(st));
    for (int k = 0; k < TSR_MAX_OUT && st == TSR_OK; k++)
        if (out[k])
            st = tsr__tensor_check(ctx, out[k], call->entry->op->name);
    if (st != TSR_OK && clean && ctx->error.code != TSR_OK)
        name_error(ctx, call);
    if (st == TSR_OK && whole)
        st = tsr__dispatch_record(ctx, call, out, TSR_MAX_OUT);
    for (int k = 0; k < TSR_MAX_OUT && st != TSR_OK; k++)
        out[k] = NULL;
    tsr__scope_pop_but(ctx, out, TSR_MAX_OUT);
    call->entry->counters.calls++;
done:
    return st;
}
