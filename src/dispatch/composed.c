/* SPDX-License-Identifier: Apache-2.0 */
/* composed.c - runs an op that is made of others: in a scope of its own, and what one of them moved
   the next does not move again. Called by dispatch.c. */
#include "dispatch/composed.h"

#include <string.h>

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
            tsr_spec_equal(&m->v[i].to->form->spec, to))
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

/* An op that is made of others: what they leave behind goes, the results stay. */
tsr_status tsr__compose(tsr_ctx *ctx, const tsr_op_call *call, tsr_tensor **out)
{
    tsr_moved moved = {0}, *const outer = ctx->moved;
    tsr_attrs attrs = {0};
    tsr_status st;

    memcpy(attrs.value, call->attrs, (size_t)call->entry->n_attrs * sizeof *call->attrs);
    for (int k = 0; k < TSR_MAX_OUT; k++)
        out[k] = NULL;
    for (int k = 0; k < call->n_in; k++)
        if (call->in[k])
            TSR_TRY(tsr__tensor_check(ctx, call->in[k], call->entry->op->name));
    TSR_TRY(tsr__scope_push(ctx));
    ctx->moved = &moved;
    st = call->entry->op->compose(call->in, call->n_in, &attrs, out, &ctx->error);
    ctx->moved = outer;
    forget_moves(&moved);
    if (st != TSR_OK)
        tsr__fail(&ctx->error, st, "%s: it failed: %s", call->entry->op->name, tsr_status_text(st));
    for (int k = 0; k < TSR_MAX_OUT && st == TSR_OK; k++)
        if (out[k])
            st = tsr__tensor_check(ctx, out[k], call->entry->op->name);
    for (int k = 0; k < TSR_MAX_OUT && st != TSR_OK; k++)
        out[k] = NULL;
    tsr__scope_pop_but(ctx, out, TSR_MAX_OUT);
    call->entry->counters.calls++;
done:
    return st;
}
