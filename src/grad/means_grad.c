/* SPDX-License-Identifier: Apache-2.0 */
/* means_grad.c - the gradient of an op that is a text of others: its steps are run again, then
   their gradients from the last to the first, and what reaches a value on several ways is added
   up. Called by grad.c. */
#include "dispatch/composed.h"
#include "grad/grad_row.h"
#include "op/means.h"
#include "tessera_ops.h"

/* What is known of the steps while going back. */
typedef struct backward {
    const tsr_grad_call *call;
    tsr_op_call forward;
    tsr_tensor *made[TSR_MEANS_STEPS][TSR_MAX_OUT];
    tsr_tensor *grad[TSR_MEANS_STEPS][TSR_MAX_OUT];
    bool wanted[TSR_MEANS_STEPS]; /* does an input depend on it whose gradient is wanted? */
} backward;

static void add_to(tsr_tensor **sum, tsr_tensor *g)
{
    *sum = *sum ? tsr_add(*sum, g) : g;
}

static tsr_tensor *value_of(const backward *b, tsr_means_value v)
{
    return v.step == TSR_MEANS_INPUT ? b->forward.in[v.k] : b->made[v.step][v.k];
}

static bool is_wanted(const backward *b, tsr_means_value v)
{
    const tsr_tensor *x = value_of(b, v);

    return x && tsr__dtype_is_float(tsr_tensor_spec(x)->dtype) &&
           (v.step == TSR_MEANS_INPUT ? b->call->wanted[v.k] : b->wanted[v.step]);
}

static tsr_status step_back(tsr_ctx *ctx, backward *b, int i)
{
    const tsr_means_step *step = &b->forward.entry->means->step[i];
    const int n = tsr__means_inputs(step, b->forward.n_in);
    tsr_tensor *in[TSR_MAX_IN] = {NULL}, *grad_in[TSR_MAX_IN];
    bool wanted[TSR_MAX_IN] = {false};
    tsr_attrs attrs;
    const tsr_grad_call part = {.op = step->op,
                                .attrs = &attrs,
                                .n_in = TSR_MAX_IN,
                                .n_out = TSR_MAX_OUT,
                                .in = in,
                                .out = b->made[i],
                                .grad_out = b->grad[i],
                                .wanted = wanted,
                                .grad_in = grad_in};
    tsr_status st;

    tsr__means_attrs(step, b->call->attrs, &attrs);
    for (int k = 0; k < n; k++) {
        in[k] = value_of(b, tsr__means_input(step, k));
        wanted[k] = is_wanted(b, tsr__means_input(step, k));
    }
    TSR_TRY(tsr__grad_row(ctx, &part));
    for (int k = 0; k < n; k++) {
        const tsr_means_value v = tsr__means_input(step, k);

        if (grad_in[k])
            add_to(v.step == TSR_MEANS_INPUT ? &b->call->grad_in[v.k] : &b->grad[v.step][v.k],
                   grad_in[k]);
    }
done:
    return st;
}

static bool is_reached(tsr_tensor *const *grad)
{
    bool reached = false;

    for (int k = 0; k < TSR_MAX_OUT; k++)
        reached = reached || grad[k];
    return reached;
}

tsr_status tsr__grad_means(tsr_ctx *ctx, const tsr_grad_call *call)
{
    backward b = {.call = call, .forward = {.in = call->in, .attrs = call->attrs->value}};
    const tsr_means *m;
    tsr_status st;

    TSR_TRY(tsr__op_entry_of(&ctx->heap, &ctx->ops, call->op, &b.forward.entry, &ctx->error));
    m = b.forward.entry->means;
    while (b.forward.n_in < call->n_in && (call->in[b.forward.n_in] || !b.forward.entry->list))
        b.forward.n_in++;
    TSR_TRY(tsr__means_run(ctx, &b.forward, call->attrs, true, b.made));
    for (int i = 0; i < m->n; i++)
        for (int k = 0; k < tsr__means_inputs(&m->step[i], b.forward.n_in); k++)
            b.wanted[i] = b.wanted[i] || is_wanted(&b, tsr__means_input(&m->step[i], k));
    for (int k = 0; k < m->n_out && k < call->n_out; k++)
        if (call->grad_out[k])
            add_to(&b.grad[m->out[k].step][m->out[k].k], call->grad_out[k]);
    for (int i = m->n - 1; i >= 0; i--)
        if (b.wanted[i] && is_reached(b.grad[i]))
            TSR_TRY(step_back(ctx, &b, i));
done:
    return st;
}
