/* SPDX-License-Identifier: Apache-2.0 */
/* expr_run.c - runs the steps of an expression of ops (op/expr.h). Called by composed.c for
   composite ops, and by grad/grad.c for gradients. */
#include "dispatch/expr_run.h"

#include <string.h>

#include "op/schema.h"
#include "tensor/scope.h"

/* What the steps of one call made. */
typedef struct run {
    tsr_ctx *ctx;
    const tsr_expr_call *call;
    tsr_expr_facts facts;
    uint64_t left_out; /* steps that depend on a gradient that is not there */
    tsr_tensor *made[TSR_EXPR_STEPS][TSR_MAX_OUT];
} run;

/* Zeros of x's shape where x is; replicated where x is partial. */
static tsr_status make_zeros(const tsr_tensor *x, tsr_tensor **out)
{
    tsr_spec spec = x->local_spec->spec;

    for (int m = 0; m < spec.mesh.ndim; m++)
        if (spec.place[m].kind == TSR_PARTIAL)
            spec.place[m] = (tsr_placement){0};
    *out = tsr_tensor_new(x->mesh, &spec);
    return tsr__tensor_check(x->mesh->ctx, *out, "zeros");
}

/* A value of the text; NULL: it is absent. */
static tsr_status value_of(const run *r, tsr_expr_value v, tsr_tensor **out)
{
    const tsr_expr_call *c = r->call;

    *out = NULL;
    switch (v.step) {
    case TSR_EXPR_INPUT: *out = v.k < c->n_in ? c->in[v.k] : NULL; return TSR_OK;
    case TSR_EXPR_OUTPUT: *out = v.k < c->n_out ? c->out[v.k] : NULL; return TSR_OK;
    case TSR_EXPR_GRAD: *out = v.k < c->n_out ? c->grad_out[v.k] : NULL; return TSR_OK;
    case TSR_EXPR_ZEROS: return c->in[v.k] ? make_zeros(c->in[v.k], out) : TSR_OK;
    default: *out = r->made[v.step][v.k];
    }
    if (!*out && !(r->left_out >> v.step & 1))
        return tsr__fail(&r->ctx->error, TSR_ERR_ARG, "%s: one of its parts has no output %d",
                         c->op->name, v.k);
    return TSR_OK;
}

/* It has no value because nothing depends on an output, and the step cannot do without it. */
static bool is_left_out(const tsr_expr_step *step, int k, tsr_expr_value v)
{
    return (v.step >= 0 || v.step == TSR_EXPR_GRAD) &&
           (tsr__op_takes_list(step->op) || !tsr__op_optional(step->op, k));
}

static tsr_status run_step(run *r, int i)
{
    tsr_expr_step *step = &r->call->expr->step[i];
    tsr_tensor *in[TSR_MAX_IN] = {NULL};
    tsr_op_call part = {.n_in = tsr__expr_inputs(step, r->call->n_in), .in = in};
    tsr_attrs attrs;
    tsr_status st = TSR_OK;

    for (int k = 0; k < part.n_in; k++) {
        const tsr_expr_value v = tsr__expr_input(step, k);

        TSR_TRY(value_of(r, v, &in[k]));
        if (!in[k] && is_left_out(step, k, v)) {
            r->left_out |= (uint64_t)1 << i;
            return TSR_OK;
        }
    }
    if (!step->entry)
        TSR_TRY(
            tsr__op_entry_of(&r->ctx->heap, &r->ctx->ops, step->op, &step->entry, &r->ctx->error));
    part.entry = step->entry;
    part.attrs = step->attrs.value;
    if (step->own) {
        tsr__expr_attrs(r->call->expr, step, &r->facts, &attrs);
        part.attrs = attrs.value;
    }
    TSR_TRY(tsr__dispatch(r->ctx, &part, r->made[i]));
done:
    return st;
}

/* Lets go of what no later step needs; a composed part may have handed on what it got. */
static void release_before(run *r, int now)
{
    for (int i = 0; i <= now; i++)
        for (int k = 0; k < TSR_MAX_OUT && r->call->expr->step[i].last == now; k++) {
            tsr_tensor *x = r->made[i][k];
            bool used = !x || x->scope != r->ctx->scope;

            r->made[i][k] = NULL;
            for (int j = 0; j <= now && !used; j++)
                for (int o = 0; o < TSR_MAX_OUT; o++)
                    used = used || r->made[j][o] == x;
            if (!used) {
                tsr__scope_remove(x);
                tsr_unref(x);
            }
        }
}

static void begin(run *r, tsr_ctx *ctx, const tsr_expr_call *c)
{
    r->ctx = ctx;
    r->call = c;
    r->left_out = 0;
    memset(r->made, 0, (size_t)c->expr->n * sizeof *r->made);
    r->facts = (tsr_expr_facts){.attrs = c->attrs, .wanted = c->wanted};
    for (int k = 0; k < c->n_in; k++)
        r->facts.in[k] = c->in[k] ? &c->in[k]->local_spec->spec.shape : NULL;
    for (int k = 0; k < c->n_out; k++)
        r->facts.out[k] = c->out[k] ? &c->out[k]->local_spec->spec.shape : NULL;
}

tsr_status tsr__expr_run(tsr_ctx *ctx, const tsr_expr_call *call, tsr_tensor **result)
{
    const tsr_expr *e = call->expr;
    uint64_t steps = 0;
    run r;
    tsr_status st = TSR_OK;

    begin(&r, ctx, call);
    for (int k = 0; k < e->n_out; k++)
        if (!call->wanted || call->wanted[e->out[k].of])
            steps |= e->out[k].steps;
    for (int i = 0; i < e->n; i++)
        if (steps >> i & 1) {
            TSR_TRY(run_step(&r, i));
            release_before(&r, i);
        }
    for (int k = 0; k < e->n_out; k++) {
        result[k] = NULL;
        if (!call->wanted || call->wanted[e->out[k].of])
            TSR_TRY(value_of(&r, e->out[k].value, &result[k]));
    }
done:
    return st;
}
