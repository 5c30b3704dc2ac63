/* SPDX-License-Identifier: Apache-2.0 */
/* dispatch.c - one op on distributed tensors, from top to bottom: find the plan of the call, bring
   the inputs there, make the outputs, compute locally. */
#include "dispatch/dispatch.h"

#include <string.h>

#include "base/hash.h"
#include "op/local_call.h"
#include "op/schema.h"
#include "redist/program.h"
#include "run/halo.h"
#include "tensor/scope.h"

/* What a plan is on this rank: the same for every call. */
typedef struct prepared {
    const tsr_op *op;
    const tsr_form *out[TSR_MAX_OUT];
    bool travels;         /* the op's own run runs */
    tsr_halo *halo;       /* operands that are seen through windows; NULL: none */
    tsr_kernel_call call; /* but for the data */
    tsr_memory memory;    /* the call's */
} prepared;

/* ---- steps ---- */

static tsr_status make_key(tsr_ctx *ctx, const tsr_op_call *call, tsr_plan_key *key)
{
    const tsr_op_entry *entry = call->entry;
    uint64_t h = entry->hash + (uint64_t)call->n_in;
    tsr_status st = TSR_OK;

    if (call->n_in > TSR_MAX_IN)
        return tsr__inputs_wrong(entry->op, call->n_in, &ctx->error);
    key->entry = entry;
    key->attrs = call->attrs;
    key->n_in = call->n_in;
    key->cost = &ctx->cost;
    key->cost_version = ctx->cost_version;
    key->want = call->want ? call->want->place : NULL;
    for (int k = 0; k < call->n_in; k++) {
        key->in[k] = NULL;
        if (!call->in[k])
            continue;
        TSR_TRY(tsr__tensor_check(ctx, call->in[k], entry->op->name));
        key->in[k] = &call->in[k]->form->spec;
        h = tsr__hash_mix(h, call->in[k]->form->hash);
    }
    for (int i = 0; i < entry->n_attrs; i++)
        for (int k = 0; k < call->attrs[i].n; k++)
            h = tsr__hash_mix(h, (uint64_t)call->attrs[i].i[k]);
    key->hash = h;
done:
    return st;
}

static tsr_status find_plan(tsr_ctx *ctx, const tsr_op_call *call, tsr_plan **out)
{
    tsr_plan_key key;
    tsr_status st;

    TSR_TRY(make_key(ctx, call, &key));
    TSR_TRY(tsr__propagate(&ctx->heap, &ctx->plan_cache, &key, &ctx->counters, out, &ctx->error));
    if ((*out)->why.code != TSR_OK)
        st = tsr__fail(&ctx->error, (*out)->why.code, "%s%s", call->part ? call->part : "",
                       (*out)->why.text);
done:
    return st;
}

/* What a call moves is counted as the op's. */
typedef struct moving {
    int64_t along[TSR_MAX_MESH + 1];
    double begin;
} moving;

static moving begin_moving(const tsr_ctx *ctx)
{
    moving m = {.begin = tsr__statistics_clock(ctx)};

    memcpy(m.along, ctx->counters.along, sizeof m.along);
    return m;
}

static void end_moving(const tsr_ctx *ctx, const moving *m, tsr_op_counters *counters)
{
    for (int i = 0; i <= TSR_MAX_MESH; i++)
        counters->along[i] += ctx->counters.along[i] - m->along[i];
    counters->moving += tsr__statistics_clock(ctx) - m->begin;
}

/* Inputs where the strategy wants them; those that move are the scope's. */
static tsr_status bring_inputs(tsr_ctx *ctx, const tsr_op_call *call, const tsr_plan *plan,
                               tsr_tensor **in)
{
    const moving m = begin_moving(ctx);
    tsr_status st = TSR_OK;

    for (int k = 0; k < call->n_in; k++) {
        if (plan->stays[k])
            continue;
        TSR_TRY(tsr__strict_check(ctx, plan->schema.op->name, &plan->schema.in[k],
                                  &plan->strategy.in[k], &ctx->error));
        TSR_TRY(tsr__redistribute(call->in[k], call->in[k]->mesh, &plan->strategy.in[k], &in[k]));
    }
    end_moving(ctx, &m, &call->entry->counters);
    call->entry->counters.predicted += plan->strategy.inputs.seconds;
done:
    return st;
}

static void free_prepared(tsr_ctx *ctx, prepared *p)
{
    if (!p)
        return;
    if (p->op->release)
        p->op->release(&p->call);
    tsr__halo_free(ctx, p->halo);
    tsr__free(&ctx->heap, p);
}

/* The plan on this rank; without data (sim, outside the mesh) its outputs are all there is. */
static tsr_status prepare(tsr_mesh *mesh, const tsr_plan *plan, prepared *p)
{
    const tsr_schema *s = &plan->schema;
    const tsr_strategy *way = &plan->strategy;
    tsr_ctx *ctx = mesh->ctx;
    tsr_status st = TSR_OK;

    p->op = s->op;
    p->memory = (tsr_memory){.heap = &ctx->heap, .pool = &ctx->pool};
    p->call.memory = &p->memory;
    p->travels = tsr__op_travels(s, way->in, way->out, &plan->cost);
    for (int k = 0; k < s->n_out; k++)
        if (tsr__schema_gives(s, k))
            TSR_TRY(tsr__form_get(mesh, &way->out[k], &p->out[k]));
    if (mesh->index < 0 || ctx->world->kind == TSR_WORLD_SIM)
        return TSR_OK;
    if (s->op->windows && !p->travels)
        TSR_TRY(tsr__halo_make(mesh, s, way->in, way->out, &plan->cost, &p->halo));
    tsr__local_call(s, way->in, way->out, tsr__halo_windows(p->halo), mesh->coord, &p->call);
    if (s->op->prepare && !p->travels)
        TSR_TRY(s->op->prepare(&p->call, &ctx->error));
done:
    return st;
}

static tsr_status make_outputs(tsr_mesh *mesh, tsr_plan *plan, tsr_tensor *const *in,
                               tsr_tensor **out)
{
    prepared *p = plan->local;
    tsr_ctx *ctx = mesh->ctx;
    tsr_status st = TSR_OK;

    if (!p) {
        TSR_TRY(tsr__alloc(&ctx->heap, 1, sizeof *p, &p, &ctx->error));
        st = prepare(mesh, plan, p);
        if (st != TSR_OK)
            free_prepared(ctx, p);
        TSR_TRY(st);
        plan->local = p;
    }
    for (int k = 0; k < plan->schema.n_out; k++) {
        out[k] = NULL;
        if (plan->direct)
            out[k] = in[0];
        else if (p->out[k])
            TSR_TRY(tsr__tensor_make_form(mesh, p->out[k], &out[k]));
    }
done:
    return st;
}

static tsr_status run_kernel(tsr_mesh *mesh, const char *part, const tsr_plan *plan,
                             tsr_tensor *const *in, tsr_tensor *const *out)
{
    tsr_ctx *ctx = mesh->ctx;
    prepared *p = plan->local;
    tsr_kernel_call *call = &p->call;
    tsr_buffer *before = NULL;
    tsr_error trouble;
    tsr_status st = TSR_OK;

    trouble.code = TSR_OK;
    trouble.text[0] = 0;
    call->error = &trouble;
    for (int k = 0; k < call->n_in; k++)
        call->in[k].data = in[k] ? tsr__tensor_data(in[k]) : NULL;
    if (plan->direct) /* others may share the old values */
        TSR_TRY(tsr__tensor_own(out[0], &before));
    for (int k = 0; k < call->n_out; k++)
        call->out[k].data = out[k] ? tsr__tensor_data(out[k]) : NULL;
    if (p->halo)
        TSR_TRY(tsr__halo_bring(p->halo, mesh, call));
    if (p->op->scratch)
        TSR_TRY(tsr__pool_get(&ctx->pool, p->op->scratch(call), &call->scratch, &ctx->error));
    p->op->kernel(call);
    if (trouble.code != TSR_OK) { /* others need not see it */
        tsr_error named = {0};
        st = tsr__fail(&named, trouble.code, "%s%s: %s", part ? part : "", p->op->name,
                       trouble.text);
        tsr__fail(&ctx->error, st, "%s", named.text);
        ctx->world->ops->poison(ctx->world, &named);
    } else if (p->halo) {
        TSR_TRY(tsr__halo_spread(p->halo, mesh, call));
    }
done:
    tsr__halo_put(p->halo, ctx);
    tsr__pool_put(&ctx->pool, call->scratch);
    call->scratch = NULL;
    if (st != TSR_OK && before) { /* the old values are all there is */
        tsr_buffer *unset = out[0]->buffer;
        out[0]->buffer = before;
        before = unset;
    }
    tsr__buffer_release(before);
    return st;
}

/* What one rank finds wrong the others cannot know. */
static tsr_status run_itself(tsr_ctx *ctx, const tsr_op *op, const tsr_run_call *run)
{
    tsr_error trouble = {0};
    tsr_status st = op->run(run, &trouble);

    if (st == TSR_OK)
        return TSR_OK;
    tsr__fail(&trouble, st, "%s: its run failed: %s", op->name, tsr_status_text(st));
    trouble.code = st;
    if (st != TSR_ERR_PEER)
        ctx->world->ops->poison(ctx->world, &trouble);
    return tsr__fail(&ctx->error, st, "%s", trouble.text);
}

bool tsr__dispatch_travels(const tsr_opened *o)
{
    return ((prepared *)o->plan->local)->travels;
}

/* The kernel, or the op's own run. Without data (sim, outside the mesh) costs are counted. */
tsr_status tsr__dispatch_compute(const tsr_op_call *call, const tsr_opened *o,
                                 tsr_tensor *const *out)
{
    const tsr_plan *plan = o->plan;
    const tsr_price *comm = &plan->strategy.comm;
    tsr_mesh *mesh = o->mesh;
    tsr_ctx *ctx = mesh->ctx;
    double begin = tsr__statistics_clock(ctx);
    tsr_status st = TSR_OK;

    if (ctx->world->kind == TSR_WORLD_SIM) {
        ctx->counters.seconds += comm->seconds;
        ctx->counters.bytes_in += (int64_t)comm->bytes;
        ctx->counters.bytes_out += (int64_t)comm->bytes;
    } else if (mesh->index >= 0) {
        tsr_run_call run = {.mesh = mesh, .schema = &plan->schema, .in = o->in, .out = out};
        if (tsr__dispatch_travels(o))
            st = run_itself(ctx, plan->schema.op, &run);
        else
            st = run_kernel(mesh, call->part, plan, o->in, out);
    }
    call->entry->counters.calls++;
    call->entry->counters.predicted += comm->seconds;
    call->entry->counters.computing += tsr__statistics_clock(ctx) - begin;
    return st;
}

/* The first input gets the result: it is there already, or it is moved to where that is. */
static tsr_status overwrite(tsr_ctx *ctx, const tsr_op_call *call, const tsr_plan *plan,
                            tsr_tensor **out)
{
    const moving m = begin_moving(ctx);
    tsr_tensor *x = call->in[0], *y = out[0];
    tsr_status st = TSR_OK;

    x->version++;
    if (plan->direct)
        return TSR_OK;
    TSR_TRY(
        tsr__strict_check(ctx, plan->schema.op->name, &y->form->spec, &x->form->spec, &ctx->error));
    TSR_TRY(tsr__redistribute(y, x->mesh, &x->form->spec, &y));
    end_moving(ctx, &m, &call->entry->counters);
    tsr__buffer_release(x->buffer);
    x->buffer = y->buffer;
    if (x->buffer)
        x->buffer->refs++;
    out[0] = x;
done:
    return st;
}

/* An op that is made of others: what they leave behind goes, the results stay. */
static tsr_status run_composed(tsr_ctx *ctx, const tsr_op_call *call, tsr_tensor **out)
{
    tsr_attrs attrs = {0};
    tsr_status st;

    memcpy(attrs.value, call->attrs, (size_t)call->entry->n_attrs * sizeof *call->attrs);
    for (int k = 0; k < TSR_MAX_OUT; k++)
        out[k] = NULL;
    for (int k = 0; k < call->n_in; k++)
        if (call->in[k])
            TSR_TRY(tsr__tensor_check(ctx, call->in[k], call->entry->op->name));
    TSR_TRY(tsr__scope_push(ctx));
    st = call->entry->op->compose(call->in, call->n_in, &attrs, out, &ctx->error);
    if (st != TSR_OK)
        tsr__fail(&ctx->error, st, "%s: it failed: %s", call->entry->op->name, tsr_status_text(st));
    for (int k = 0; k < TSR_MAX_OUT && st == TSR_OK; k++)
        if (out[k])
            st = tsr__tensor_check(ctx, out[k], call->entry->op->name);
    for (int k = 0; k < TSR_MAX_OUT; k++) {
        if (st != TSR_OK)
            out[k] = NULL;
        else if (out[k] && out[k]->scope == ctx->scope)
            tsr_keep(out[k]);
        else
            tsr_ref(out[k]); /* an input, say */
    }
    tsr__scope_pop(ctx);
    for (int k = 0; k < TSR_MAX_OUT; k++)
        if (out[k] && !out[k]->scope)
            tsr__scope_add(ctx, out[k]);
        else
            tsr_unref(out[k]);
    call->entry->counters.calls++;
done:
    return st;
}

/* ---- the call ---- */

tsr_status tsr__dispatch_open(tsr_ctx *ctx, const tsr_op_call *call, tsr_opened *o,
                              tsr_tensor **out)
{
    tsr_status st;

    TSR_TRY(find_plan(ctx, call, &o->plan));
    o->mesh = call->in[0]->mesh;
    for (int k = 0; k < o->plan->schema.n_in; k++) /* optional ones need not be given */
        o->in[k] = k < call->n_in ? call->in[k] : NULL;
    if (!o->plan->all_stay)
        TSR_TRY(bring_inputs(ctx, call, o->plan, o->in));
    TSR_TRY(make_outputs(o->mesh, o->plan, o->in, out));
done:
    return st;
}

tsr_status tsr__dispatch(tsr_ctx *ctx, const tsr_op_call *call, tsr_tensor **out)
{
    tsr_opened o;
    tsr_status st;

    if (call->entry->op->compose)
        return run_composed(ctx, call, out);
    TSR_TRY(tsr__dispatch_open(ctx, call, &o, out));
    TSR_TRY(tsr__dispatch_compute(call, &o, out));
    if (call->want)
        TSR_TRY(tsr__redistribute(out[0], o.mesh, call->want, &out[0]));
    if (o.plan->schema.op->inplace)
        TSR_TRY(overwrite(ctx, call, o.plan, out));
done:
    return st;
}

tsr_status tsr__dispatch_kernel(tsr_ctx *ctx, const tsr_op_call *call, tsr_tensor *out, int64_t n)
{
    tsr_plan *plan;
    prepared *p;
    tsr_status st;

    TSR_TRY(tsr__tensor_needs_data(out, call->entry->op->name));
    TSR_TRY(find_plan(ctx, call, &plan));
    if (out->mesh->index < 0)
        return TSR_OK;
    p = plan->local;
    if (!plan->all_stay || !p || p->travels || tsr__halo_travels(p->halo) ||
        plan->schema.n_out != 1 || p->out[0] != out->form)
        TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_STATE,
                          "%s: only a kernel whose inputs stay and that ran before can be repeated",
                          call->entry->op->name));
    for (int64_t i = 0; i < n; i++)
        TSR_TRY(run_kernel(out->mesh, NULL, plan, call->in, &out));
done:
    return st;
}

tsr_status tsr__dispatch_row(tsr_ctx *ctx, const tsr_op *op, tsr_tensor *const *in, int n_in,
                             const tsr_attrs *attrs, tsr_tensor **out)
{
    tsr_op_call call = {.n_in = n_in, .in = in, .attrs = attrs->value};
    tsr_status st;

    for (int k = 0; k < TSR_MAX_OUT; k++)
        out[k] = NULL;
    TSR_TRY(tsr__op_entry_of(&ctx->heap, &ctx->ops, op, &call.entry, &ctx->error));
    TSR_TRY(tsr__dispatch(ctx, &call, out));
done:
    return tsr__settle(ctx, st);
}

static void free_local(void *local, void *ctx)
{
    free_prepared(ctx, local);
}

void tsr__dispatch_cache_free(tsr_ctx *ctx)
{
    tsr__plan_cache_free(&ctx->heap, ctx->plan_cache, free_local, ctx);
    tsr__op_table_free(&ctx->heap, ctx->ops);
    tsr__forms_free(ctx);
    ctx->plan_cache = NULL;
    ctx->ops = NULL;
}
