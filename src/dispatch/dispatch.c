/* SPDX-License-Identifier: Apache-2.0 */
/* dispatch.c - one op on distributed tensors, from top to bottom: check the call, find its plan,
   bring the inputs there, compute locally, hand the result out. */
#include "dispatch/dispatch.h"

#include "base/hash.h"
#include "redist/program.h"

/* ---- the call as planning sees it ---- */

tsr_op_call tsr__op_call(const char *name)
{
    tsr_op_call call = {.op = tsr__op_find(name)};

    tsr__attrs_default(call.op, &call.attrs, NULL); /* rows are checked by tests: cannot fail */
    if (!tsr__op_takes_list(call.op))
        call.n_in = tsr__op_inputs(call.op);
    return call;
}

static tsr_ctx *context_of(const tsr_op_call *call)
{
    for (int k = 0; k < call->n_in && k < TSR_MAX_IN; k++)
        if (call->in[k])
            return call->in[k]->mesh->ctx;
    return NULL;
}

static tsr_status make_key(tsr_ctx *ctx, const tsr_op_call *call, tsr_plan_key *key)
{
    uint64_t h = (uint64_t)call->n_in;
    tsr_status st = TSR_OK;

    if (call->n_in > TSR_MAX_IN)
        return tsr__fail(&ctx->error, TSR_ERR_ARG, "%s: takes 1 to %d inputs, not %d",
                         call->op->name, TSR_MAX_IN, call->n_in);
    key->op = call->op;
    key->attrs = &call->attrs;
    key->n_in = call->n_in;
    for (const char *p = call->op->name; *p; p++)
        h = tsr__hash_mix(h, (uint8_t)*p);
    for (int k = 0; k < call->n_in; k++) {
        key->in[k] = NULL;
        if (!call->in[k])
            continue;
        TSR_TRY(tsr__tensor_check(ctx, call->in[k], call->op->name));
        key->in[k] = &call->in[k]->spec;
        h = tsr__hash_mix(h, call->in[k]->hash);
    }
    for (int i = 0; i < TSR_MAX_ATTR; i++)
        for (int k = 0; k < call->attrs.value[i].n; k++)
            h = tsr__hash_mix(h, (uint64_t)call->attrs.value[i].i[k]);
    key->hash = h;
done:
    return st;
}

/* ---- steps ---- */

/* Inputs where the strategy wants them; those that move are the scope's. */
static tsr_status bring_inputs(const tsr_op_call *call, const tsr_plan *plan, tsr_tensor **in)
{
    tsr_status st = TSR_OK;

    for (int k = 0; k < call->n_in; k++) {
        in[k] = call->in[k];
        if (!plan->stays[k])
            TSR_TRY(
                tsr__redistribute(call->in[k], call->in[k]->mesh, &plan->strategy.in[k], &in[k]));
    }
done:
    return st;
}

static tsr_operand operand_of(const tsr_tensor *x)
{
    if (!x)
        return (tsr_operand){.shape = {.ndim = -1}};
    return (tsr_operand){x->spec.dtype, x->local, tsr__tensor_data(x)};
}

static void compute(const tsr_plan *plan, tsr_tensor *const *in, tsr_tensor *y)
{
    tsr_kernel_call call = {.n_in = plan->schema.n_in,
                            .n_out = 1,
                            .attrs = plan->schema.attrs,
                            .divisor = plan->divisor};

    if (!tsr__tensor_data(y)) /* sim, or outside the mesh */
        return;
    for (int k = 0; k < call.n_in; k++)
        call.in[k] = operand_of(in[k]);
    call.out[0] = operand_of(y);
    plan->schema.op->kernel(&call);
}

/* The output's form on this rank is the same for every call of the plan. */
static tsr_status make_output(tsr_mesh *mesh, tsr_plan *plan, tsr_tensor **out)
{
    tsr_form *form = plan->local;
    tsr_status st;

    if (!form) {
        TSR_TRY(tsr__alloc(&mesh->ctx->heap, 1, sizeof *form, &form, &mesh->ctx->error));
        *form = tsr__tensor_form(mesh, &plan->strategy.out[0]);
        plan->local = form;
    }
    TSR_TRY(tsr__tensor_make_form(mesh, form, out));
done:
    return st;
}

static tsr_status dispatch(tsr_ctx *ctx, const tsr_op_call *call, tsr_tensor **out)
{
    tsr_tensor *in[TSR_MAX_IN], *y;
    tsr_plan_key key;
    tsr_plan *plan;
    tsr_status st;

    TSR_TRY(make_key(ctx, call, &key));
    TSR_TRY(tsr__propagate(&ctx->heap, &ctx->plan_cache, &key, &ctx->cost, &ctx->counters, &plan,
                           &ctx->error));
    if (plan->why.code != TSR_OK)
        return tsr__fail(&ctx->error, plan->why.code, "%s", plan->why.text);
    TSR_TRY(bring_inputs(call, plan, in));
    TSR_TRY(make_output(call->in[0]->mesh, plan, &y));
    compute(plan, in, y);
    *out = y;
done:
    return st;
}

tsr_tensor *tsr__dispatch(const tsr_op_call *call)
{
    tsr_ctx *ctx = context_of(call);
    tsr_tensor *y = NULL;
    tsr_status st;

    if (!ctx)
        return NULL;
    st = dispatch(ctx, call, &y);
    return tsr__tensor_or_error(ctx, st, y);
}

void tsr__dispatch_cache_free(tsr_ctx *ctx)
{
    tsr__plan_cache_free(&ctx->heap, ctx->plan_cache);
    ctx->plan_cache = NULL;
}
