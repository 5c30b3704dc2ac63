/* SPDX-License-Identifier: Apache-2.0 */
/* composed.c - runs an op that is made of others: in a scope of its own, and what one of them moved
   the next does not move again. Called by dispatch.c. */
#include "dispatch/composed.h"

#include <string.h>

#include "op/expr.h"
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

/* ---- an expression of other ops ---- */

static tsr_status run_step(tsr_ctx *ctx, const tsr_op_call *call, const tsr_attrs *attrs,
                           const tsr_expr_step *step, tsr_tensor *(*made)[TSR_MAX_OUT],
                           tsr_tensor **out)
{
    const int n = tsr__expr_inputs(step, call->n_in);
    tsr_tensor *in[TSR_MAX_IN] = {NULL};
    tsr_attrs own;

    for (int k = 0; k < n; k++) {
        const tsr_expr_value v = tsr__expr_input(step, k);

        in[k] = v.step == TSR_EXPR_INPUT ? call->in[v.k] : made[v.step][v.k];
        if (!in[k] && v.step != TSR_EXPR_INPUT)
            return tsr__fail(&ctx->error, TSR_ERR_ARG, "%s: one of its parts has no output %d",
                             call->entry->op->name, v.k);
    }
    tsr__expr_attrs(step, attrs, &own);
    return tsr__dispatch_row(ctx, step->op, in, n, &own, out);
}

/* Lets go of what no later step needs; a composed part may have handed on what it got. */
static void release_before(tsr_ctx *ctx, const tsr_expr *m, int now,
                           tsr_tensor *(*made)[TSR_MAX_OUT])
{
    for (int i = 0; i <= now; i++)
        for (int k = 0; k < TSR_MAX_OUT && m->step[i].last == now; k++) {
            tsr_tensor *x = made[i][k];
            bool used = !x || x->scope != ctx->scope;

            made[i][k] = NULL;
            for (int j = 0; j <= now && !used; j++)
                for (int o = 0; o < TSR_MAX_OUT; o++)
                    used = used || made[j][o] == x;
            if (!used) {
                tsr__scope_remove(x);
                tsr_unref(x);
            }
        }
}

/* What compose is for rows that have one. */
static tsr_status run_expr(tsr_ctx *ctx, const tsr_op_call *call, const tsr_attrs *attrs,
                           tsr_tensor **out)
{
    const tsr_expr *m = call->entry->expr;
    tsr_tensor *made[TSR_EXPR_STEPS][TSR_MAX_OUT];
    tsr_status st = TSR_OK;

    for (int k = 0; k < call->entry->n_in && !call->entry->list; k++)
        if ((m->needed >> k & 1) && (k >= call->n_in || !call->in[k]))
            return tsr__input_missing(call->entry->op, k, &ctx->error);
    for (int i = 0; i < m->n; i++) {
        TSR_TRY(run_step(ctx, call, attrs, &m->step[i], made, made[i]));
        release_before(ctx, m, i, made);
    }
    for (int k = 0; k < m->n_out; k++)
        out[k] = made[m->out[k].step][m->out[k].k];
done:
    return st;
}

/* ---- running ---- */

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
    const bool whole = call->entry->op->grad && tsr__tape_is_on(ctx); /* else its parts are */
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
        tsr__fail(&ctx->error, st, "%s: it failed: %s", call->entry->op->name, tsr_status_text(st));
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
