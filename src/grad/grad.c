/* SPDX-License-Identifier: Apache-2.0 */
/* grad.c - the gradient of one call, by its row; and what gradient functions share. Called by
   programs, and by whoever goes through calls backwards. */
#include "grad/grad.h"

#include <string.h>

#include "base/args.h"
#include "dispatch/expr_run.h"
#include "grad/grad_row.h"
#include "op/schema.h"
#include "tensor/scope.h"

tsr_status tsr_grad_none(const tsr_grad_call *call)
{
    (void)call;
    return TSR_OK;
}

tsr_tensor *tsr__grad_fit(tsr_tensor *g, const tsr_tensor *like)
{
    const tsr_shape *have = &tsr_tensor_spec(g)->shape, *want = &tsr_tensor_spec(like)->shape;
    const int more = have->ndim - want->ndim;
    const tsr_op_uses *ops = tsr__op_uses();
    int dims[TSR_MAX_DIM], n = 0;

    if (more < 0) /* it is of something else */
        return g;
    for (int d = 0; d < want->ndim; d++)
        if (want->size[d] == 1 && have->size[more + d] != 1)
            dims[n++] = more + d;
    if (n > 0)
        g = ops->sum(g, dims, n, true);
    for (int d = 0; d < more; d++)
        dims[d] = d;
    return more > 0 ? ops->sum(g, dims, more, false) : g;
}

tsr_tensor *tsr__grad_as(tsr_tensor *x, const tsr_tensor *like)
{
    const tsr_dtype dtype = tsr_tensor_spec(like)->dtype;

    return tsr_tensor_spec(x)->dtype == dtype ? x : tsr__op_uses()->cast(x, dtype);
}

tsr_tensor *tsr__grad_scalar(const tsr_tensor *like, double value)
{
    const tsr_spec *x = tsr_tensor_spec(like);
    const tsr_spec spec = {.dtype = x->dtype, .mesh = x->mesh};
    char text[TSR_TEXT_LEN];

    return tsr_full(tsr_tensor_mesh(like), tsr_spec_text(&spec, text, sizeof text), value);
}

tsr_tensor *tsr__grad_added(tsr_tensor *a, tsr_tensor *b)
{
    return a && b ? tsr__op_uses()->add(a, b) : a ? a : b;
}

/* A gradient is of its input's dtype and shape, and none of it failed. */
static tsr_status check_gradients(tsr_ctx *ctx, const tsr_grad_call *call)
{
    char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN];
    tsr_status st = TSR_OK;

    for (int k = 0; k < call->n_in; k++) {
        if (!call->grad_in[k])
            continue;
        TSR_TRY(tsr__tensor_check(ctx, call->grad_in[k], call->op->name));
        const tsr_spec *x = tsr_tensor_spec(call->in[k]), *g = tsr_tensor_spec(call->grad_in[k]);
        if (g->dtype != x->dtype || !tsr_shape_equal(&g->shape, &x->shape))
            TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_SHAPE, "%s: the gradient of input %d, %s, is %s",
                              call->op->name, k, tsr_spec_text(x, a, sizeof a),
                              tsr_spec_text(g, b, sizeof b)));
    }
done:
    return st;
}

static tsr_status read_attrs(const tsr_op *op, const char *const *text, int n, tsr_attrs *out,
                             tsr_error *err)
{
    tsr_status st;

    TSR_TRY(tsr__attrs_default(op, out, err));
    TSR_TRY(tsr__attrs_parse(op, text, n, out, err));
done:
    return st;
}

/* The gradient of a row that gives it as an expression; broadcasting and conversions go back by
   themselves. */
static tsr_status by_expr(tsr_ctx *ctx, const tsr_grad_call *call)
{
    tsr_tensor *result[TSR_MAX_IN];
    tsr_expr_call run = {.op = call->op,
                         .attrs = call->attrs,
                         .n_in = call->n_in,
                         .in = call->in,
                         .n_out = call->n_out,
                         .out = call->out,
                         .grad_out = call->grad_out,
                         .wanted = call->wanted};
    tsr_op_entry *entry;
    tsr_status st;

    TSR_TRY(tsr__op_entry_of(&ctx->heap, &ctx->ops, call->op, &entry, &ctx->error));
    TSR_TRY(tsr__op_entry_grad(&ctx->heap, ctx->ops, entry, &ctx->error));
    run.expr = entry->grad;
    run.n_out = run.expr->n_named; /* the caller's lists are as long as the op has outputs */
    TSR_TRY(tsr__expr_run(ctx, &run, result));
    for (int k = 0; k < run.expr->n_out; k++) {
        const int of = run.expr->out[k].of;

        if (result[k])
            call->grad_in[of] = tsr__grad_as(tsr__grad_fit(result[k], call->in[of]), call->in[of]);
    }
done:
    return st;
}

tsr_status tsr__grad_row(tsr_ctx *ctx, const tsr_grad_call *call)
{
    const char *name = call->op->name;
    tsr_status st = TSR_OK;

    for (int k = 0; k < call->n_in; k++)
        call->grad_in[k] = NULL;
    if (!tsr__op_own_grad(call->op) && !call->op->expr)
        TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_UNAVAILABLE, "%s: no gradient is defined", name));
    TSR_TRY(tsr__scope_push(ctx));
    st = call->op->grad        ? call->op->grad(call)
         : call->op->grad_expr ? by_expr(ctx, call)
                               : tsr__grad_expr(ctx, call);
    if (st == TSR_OK)
        st = check_gradients(ctx, call);
    for (int k = 0; k < call->n_in && st != TSR_OK; k++)
        call->grad_in[k] = NULL;
    tsr__scope_pop_but(ctx, call->grad_in, call->n_in);
done:
    return st;
}

/* Are the outputs and their gradients fit for use, and is there any gradient? Ops that are made of
   others have no outputs of their own here: their parts are asked. */
static tsr_status check_outputs(tsr_ctx *ctx, tsr_grad_call *call, int n_in, bool *reached)
{
    tsr_schema s = {.op = call->op, .n_in = n_in, .attrs = *call->attrs};
    tsr_status st = TSR_OK;

    *reached = tsr_op_is_composed(call->op);
    if (*reached)
        return TSR_OK;
    for (int k = 0; k < n_in; k++)
        if (call->in[k])
            s.in[k] = *tsr_tensor_spec(call->in[k]);
        else
            s.in[k].shape.ndim = -1;
    TSR_TRY(tsr__schema_check(&s, &ctx->error));
    call->n_out = s.n_out; /* so long are the caller's lists */
    for (int k = 0; k < s.n_out; k++) {
        if (call->out[k])
            TSR_TRY(tsr__tensor_check(ctx, call->out[k], call->op->name));
        if (call->grad_out[k])
            TSR_TRY(tsr__tensor_check(ctx, call->grad_out[k], call->op->name));
        *reached = *reached || call->grad_out[k];
    }
done:
    return st;
}

tsr_status tsr_op_grad(tsr_mesh *mesh, const char *name, tsr_tensor *const *in, int n_in,
                       const char *const *attrs, int n_attrs, tsr_tensor *const *out,
                       tsr_tensor *const *grad_out, const bool *wanted, tsr_tensor **grad_in)
{
    TSR_NEED(TSR_ERR_ARG, tsr__mesh_error(mesh), mesh, name, in, grad_out, grad_in);

    tsr_ctx *ctx = mesh->ctx;
    tsr_tensor *const none[TSR_MAX_OUT] = {NULL};
    tsr_grad_lists l = {0};
    tsr_grad_call call = tsr__grad_call_of(tsr_op_find(mesh, name), &l);
    bool reached;
    tsr_status st;

    call.out = out ? out : none; /* not every gradient reads them */
    call.grad_out = grad_out;
    if (!call.op || n_in < 1 || n_in > TSR_MAX_IN)
        TSR_TRY(
            tsr__fail(&ctx->error, TSR_ERR_ARG, "unknown op \"%s\" with %d inputs", name, n_in));
    if (!in[0])
        TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_ARG, "%s: its first input is NULL", name));
    for (int k = 0; k < n_in; k++) {
        l.in[k] = in[k];
        if (in[k])
            TSR_TRY(tsr__tensor_check(ctx, in[k], name));
        l.wanted[k] =
            in[k] && tsr__dtype_is_float(tsr_tensor_spec(in[k])->dtype) && (!wanted || wanted[k]);
    }
    if (call.op->inplace)
        TSR_TRY(tsr__fail(
            &ctx->error, TSR_ERR_ARG,
            "%s: an in-place op has no gradient; use the gradient of the out-of-place op", name));
    TSR_TRY(read_attrs(call.op, attrs, n_attrs, &l.attrs, &ctx->error));
    TSR_TRY(check_outputs(ctx, &call, n_in, &reached));
    if (reached)
        TSR_TRY(tsr__grad_row(ctx, &call));
done:
    for (int k = 0; k < n_in && k < TSR_MAX_IN; k++)
        grad_in[k] = l.grad_in[k];
    return tsr__poison_if_local(ctx, st);
}
