/* SPDX-License-Identifier: Apache-2.0 */
/* dispatch.c - one op on distributed tensors, from top to bottom: find the plan of the call, move
   the inputs there, make the outputs, compute locally, record the call. */
#include "dispatch/dispatch.h"

#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "base/hash.h"
#include "dispatch/composed.h"
#include "dispatch/rank_call.h"
#include "op/schema.h"
#include "redist/program.h"
#include "run/merged.h"
#include "tape/tape.h"
#include "world/verdict.h"

static tsr_status check_tape(tsr_ctx *ctx, const tsr_op_call *call);
static tsr_status find_plan(tsr_ctx *ctx, const tsr_op_call *call, tsr_op_plan_key *key,
                            tsr_cached_call **out);
static tsr_status check_overwritten(tsr_ctx *ctx, const tsr_op_call *call);
static void note_call(tsr_ctx *ctx, const tsr_op_call *call, uint64_t hash, tsr_cached_call *plan);
static void note_failure(tsr_ctx *ctx, const tsr_op_call *call);
static tsr_status move_inputs(tsr_ctx *ctx, const tsr_op_call *call, const tsr_cached_call *plan,
                              tsr_tensor **in);
static tsr_status prepare(tsr_mesh *mesh, tsr_cached_call *plan);
static tsr_status make_outputs(tsr_mesh *mesh, const tsr_cached_call *plan, tsr_tensor *const *in,
                               tsr_tensor **out);
static tsr_status move_output(tsr_ctx *ctx, const tsr_op_call *call, tsr_mesh *mesh,
                              tsr_tensor **out);
static tsr_status overwrite(tsr_ctx *ctx, const tsr_op_call *call, const tsr_cached_call *plan,
                            int k, tsr_tensor **out);

/* ---- the call ---- */

tsr_status tsr__dispatch(tsr_ctx *ctx, const tsr_op_call *call, tsr_tensor **out)
{
    const bool recorded = tsr__tape_is_on(ctx);
    tsr_opened o;
    tsr_status st;

    if (tsr_op_is_composed(call->entry->op))
        return tsr__compose(ctx, call, out);
    o.plan = NULL;
    if (recorded && call->entry->op->inplace)
        TSR_TRY(check_tape(ctx, call));
    TSR_TRY(tsr__dispatch_open(ctx, call, &o, out));
    TSR_TRY(tsr__dispatch_compute(call, &o, out));
    if (call->want)
        TSR_TRY(move_output(ctx, call, o.mesh, out));
    for (int k = 0; k < call->entry->op->inplace; k++)
        TSR_TRY(overwrite(ctx, call, o.plan, k, out));
    if (recorded)
        TSR_TRY(tsr__dispatch_record(ctx, call, out, o.plan->n_out));
done:
    tsr__dispatch_close(&o);
    return st == TSR_OK && ctx->verdict_ready ? tsr__verdict_report(ctx) : st;
}

tsr_status tsr__dispatch_open(tsr_ctx *ctx, const tsr_op_call *call, tsr_opened *o,
                              tsr_tensor **out)
{
    tsr_op_plan_key key;
    tsr_cached_call *plan;
    tsr_status st;

    st = find_plan(ctx, call, &key, &plan);
    if (st != TSR_OK) {
        note_failure(ctx, call);
        goto done;
    }
    note_call(ctx, call, key.hash, plan);
    plan->cached.holds++;
    o->plan = plan;
    if (call->entry->op->inplace > 1)
        TSR_TRY(check_overwritten(ctx, call));
    o->mesh = call->in[0]->mesh;
    for (int k = 0; k < plan->n_in; k++) /* optional ones need not be given */
        o->in[k] = k < call->n_in ? call->in[k] : NULL;
    if (!plan->all_stay)
        TSR_TRY(move_inputs(ctx, call, plan, o->in));
    if (!plan->prepared)
        TSR_TRY(prepare(o->mesh, plan));
    TSR_TRY(make_outputs(o->mesh, plan, o->in, out));
done:
    return st;
}

void tsr__dispatch_close(tsr_opened *o)
{
    if (o->plan)
        o->plan->cached.holds--;
    o->plan = NULL;
}

/* ---- steps ---- */

static tsr_status make_key(tsr_ctx *ctx, const tsr_op_call *call, tsr_op_plan_key *key)
{
    tsr_op_entry *entry = call->entry;
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
        if (!tsr__tensor_usable(call->in[k]))
            TSR_TRY(tsr__tensor_check(ctx, call->in[k], entry->op->name));
        key->in[k] = &call->in[k]->local_spec->spec;
        h = tsr__hash_mix(h, call->in[k]->local_spec->cached.hash);
    }
    for (int i = 0; i < entry->n_attrs; i++)
        for (int k = 0; k < call->attrs[i].n; k++)
            h = tsr__hash_mix(h, (uint64_t)call->attrs[i].i[k]);
    key->hash = h;
done:
    return st;
}

/* Why there is no plan for a call; the kept sentence may be of one with other numbers. */
static tsr_status report_infeasible(tsr_ctx *ctx, const tsr_op_call *call,
                                    const tsr_op_plan_key *key, const tsr_cached_call *plan)
{
    const char *part = call->part ? call->part : "";
    tsr_op_plan_full own;

    if (call->entry->numbers && tsr__propagate(&ctx->heap, key, &own, NULL) == TSR_OK &&
        own.why.code != TSR_OK)
        return tsr__fail(&ctx->error, own.why.code, "%s%s", part, own.why.text);
    return tsr__fail(&ctx->error, plan->why_code, "%s%s", part, plan->why);
}

static tsr_status find_plan(tsr_ctx *ctx, const tsr_op_call *call, tsr_op_plan_key *key,
                            tsr_cached_call **out)
{
    tsr_status st;

    TSR_TRY(make_key(ctx, call, key));
    *out = tsr__cached_call_find(ctx, key);
    if (!*out)
        TSR_TRY(tsr__cached_call_make(ctx, call->n_in > 0 && call->in[0] ? call->in[0]->mesh : NULL,
                                      key, out));
    if ((*out)->why)
        st = report_infeasible(ctx, call, key, *out);
done:
    return st;
}

/* "matmul f32[8,4]@[S(0)] f32[4,2]@[R]" */
static void plan_text(const tsr_cached *subject, char *buf, size_t n)
{
    const tsr_cached_call *plan = (const tsr_cached_call *)subject;
    tsr_call_in_full full;
    char text[TSR_TEXT_LEN];

    tsr__cached_call_expand(plan, plan->attrs, &full);
    snprintf(buf, n, "%s %s", plan->entry->op->name,
             tsr_schema_text(&full.schema, text, sizeof text));
}

/* The call joins the history of its mesh, with the numbers that its plan does not know. */
static void note_call(tsr_ctx *ctx, const tsr_op_call *call, uint64_t hash, tsr_cached_call *plan)
{
    for (unsigned left = call->entry->numbers; left; left &= left - 1)
        hash = tsr__hash_mix(hash, tsr__bits_f64(call->attrs[__builtin_ctz(left)].f));
    tsr__history_add(&call->in[0]->mesh->history, ++ctx->clock, hash, &plan->cached, plan_text);
}

/* So does one that failed: the others may not have failed. */
static void note_failure(tsr_ctx *ctx, const tsr_op_call *call)
{
    if (call->n_in > 0 && tsr_tensor_ok(call->in[0]))
        tsr__history_add(&call->in[0]->mesh->history, ++ctx->clock, ~call->entry->hash, NULL, NULL);
}

/* Inputs where the strategy wants them; those that move are the scope's. */
static tsr_status move_inputs(tsr_ctx *ctx, const tsr_op_call *call, const tsr_cached_call *plan,
                              tsr_tensor **in)
{
    const tsr_booking b = tsr__book_begin(ctx);
    tsr_status st = TSR_OK;

    for (int k = 0; k < call->n_in; k++) {
        if (plan->stays >> k & 1)
            continue;
        in[k] = tsr__moved_before(ctx, call->in[k], &plan->in[k]->spec);
        if (in[k])
            continue;
        TSR_TRY(tsr__strict_check(ctx, plan->entry->op->name, plan->given[k], &plan->in[k]->spec,
                                  &ctx->error));
        TSR_TRY(tsr__redistribute(call->in[k], call->in[k]->mesh, &plan->in[k]->spec, &in[k]));
        tsr__moved_add(ctx, call->in[k], in[k]);
    }
    call->entry->counters.moving += tsr__book_end(ctx, &b, &call->entry->counters);
    call->entry->counters.predicted += plan->inputs;
done:
    return st;
}

/* The first time: what the call is on this rank, if a kernel computes it and there is data. */
static tsr_status prepare(tsr_mesh *mesh, tsr_cached_call *plan)
{
    const bool computes = mesh->index >= 0 && mesh->ctx->world->kind != TSR_WORLD_SIM;
    tsr_status st = TSR_OK;

    if (computes && !plan->own_run && !plan->entry->op->is_view)
        TSR_TRY(tsr__rank_call_make(mesh, plan));
    plan->prepared = true;
done:
    return st;
}

static tsr_status make_outputs(tsr_mesh *mesh, const tsr_cached_call *plan, tsr_tensor *const *in,
                               tsr_tensor **out)
{
    tsr_status st = TSR_OK;

    for (int k = 0; k < plan->n_out; k++) {
        out[k] = NULL;
        if (plan->direct >> k & 1)
            out[k] = in[k];
        else if (plan->entry->op->is_view)
            TSR_TRY(tsr__tensor_share_local_spec(mesh, plan->out[k], in[0], &out[k]));
        else if (plan->out[k])
            TSR_TRY(tsr__tensor_make_local_spec(mesh, plan->out[k], &out[k]));
    }
done:
    return st;
}

/* What one rank finds wrong the others cannot know. */
static tsr_status run_itself(tsr_ctx *ctx, const tsr_op_call *call, const tsr_opened *o,
                             tsr_tensor *const *out)
{
    const tsr_booking b = tsr__book_begin(ctx);
    const tsr_op *op = call->entry->op;
    tsr_call_in_full full;
    const tsr_run_call run = tsr__dispatch_run_call(call, o, out, &full);
    tsr_error error = {0};
    tsr_status st;

    ctx->unrecorded++; /* what it calls is part of it */
    ctx->activities++;
    st = op->merge ? tsr__run_merged(&run, op->merge) : op->run(&run, &error);
    ctx->activities--;
    ctx->unrecorded--;
    tsr__book_end(ctx, &b, &call->entry->counters);
    if (st == TSR_OK || tsr__verdict_shared(o->mesh))
        return st;
    tsr__fail(&error, st, "%s: its run failed: %s", op->name, tsr_status_text(st));
    error.code = st;
    if (st != TSR_ERR_PEER)
        ctx->world->ops->poison(ctx->world, &error);
    return tsr__fail(&ctx->error, st, "%s", error.text);
}

/* What windows bring is the op's too. */
static tsr_status run_kernel(tsr_mesh *mesh, const tsr_op_call *call, const tsr_opened *o,
                             tsr_tensor *const *out)
{
    tsr_booking b;
    tsr_status st;

    if (call->entry->op->is_view) /* it is there */
        return TSR_OK;
    if (!o->plan->rank->halo)
        return tsr__rank_call_run(mesh, call, o->plan, o->in, out);
    b = tsr__book_begin(mesh->ctx);
    st = tsr__rank_call_run(mesh, call, o->plan, o->in, out);
    tsr__book_end(mesh->ctx, &b, &call->entry->counters);
    return st;
}

bool tsr__dispatch_communicates(const tsr_opened *o)
{
    return o->plan->own_run;
}

tsr_run_call tsr__dispatch_run_call(const tsr_op_call *call, const tsr_opened *o,
                                    tsr_tensor *const *out, tsr_call_in_full *full)
{
    tsr__cached_call_expand(o->plan, call->attrs, full);
    return (tsr_run_call){.mesh = o->mesh,
                          .schema = &full->schema,
                          .in = o->in,
                          .out = out,
                          .in_spec = full->in,
                          .out_spec = full->out};
}

/* The kernel, or the op's own run. Without data (sim, outside the mesh) costs are counted. */
tsr_status tsr__dispatch_compute(const tsr_op_call *call, const tsr_opened *o,
                                 tsr_tensor *const *out)
{
    const tsr_comm *comm = &o->plan->comm;
    tsr_mesh *mesh = o->mesh;
    tsr_ctx *ctx = mesh->ctx;
    double begin = tsr__statistics_clock(ctx);
    int along;
    tsr_status st = TSR_OK;

    if (ctx->world->kind == TSR_WORLD_SIM) {
        ctx->counters.seconds += comm->seconds;
        ctx->counters.bytes_in += (int64_t)comm->bytes;
        ctx->counters.bytes_out += (int64_t)comm->bytes;
        along = tsr__along((1u << mesh->shape.ndim) - 1); /* which dims is not known */
        ctx->counters.along[along] += (int64_t)comm->bytes;
        call->entry->counters.along[along] += (int64_t)comm->bytes;
    } else if (mesh->index >= 0) {
        st = o->plan->own_run ? run_itself(ctx, call, o, out) : run_kernel(mesh, call, o, out);
    }
    call->entry->counters.calls++;
    call->entry->counters.predicted += comm->seconds;
    call->entry->counters.computing += tsr__statistics_clock(ctx) - begin;
    return st;
}

/* The first output to the placements that were asked for. */
static tsr_status move_output(tsr_ctx *ctx, const tsr_op_call *call, tsr_mesh *mesh,
                              tsr_tensor **out)
{
    const tsr_booking b = tsr__book_begin(ctx);
    tsr_status st;

    TSR_TRY(tsr__redistribute(out[0], mesh, call->want, &out[0]));
    call->entry->counters.moving += tsr__book_end(ctx, &b, &call->entry->counters);
done:
    return st;
}

/* An input that is overwritten gets its result: it is there already, or it is moved to where that
   is. */
static tsr_status overwrite(tsr_ctx *ctx, const tsr_op_call *call, const tsr_cached_call *plan,
                            int k, tsr_tensor **out)
{
    const tsr_booking b = tsr__book_begin(ctx);
    tsr_tensor *x = call->in[k], *y = out[k];
    tsr_status st = TSR_OK;

    x->version++;
    x->made = ctx->clock;
    if (plan->direct >> k & 1)
        return TSR_OK;
    TSR_TRY(tsr__strict_check(ctx, plan->entry->op->name, &y->local_spec->spec,
                              &x->local_spec->spec, &ctx->error));
    TSR_TRY(tsr__redistribute(y, x->mesh, &x->local_spec->spec, &y));
    call->entry->counters.moving += tsr__book_end(ctx, &b, &call->entry->counters);
    tsr__buffer_release(x->buffer);
    x->buffer = y->buffer;
    if (x->buffer)
        x->buffer->refs++;
    out[k] = x;
done:
    return st;
}

static tsr_record record_of(const tsr_op_call *call, tsr_tensor *const *out, int n_out)
{
    return (tsr_record){.kind = TSR_TAPED_OP,
                        .n_in = call->n_in,
                        .n_out = n_out,
                        .in = call->in,
                        .out = out,
                        .saves_in = call->entry->saves_in,
                        .saves_out = call->entry->saves_out,
                        .op = call->entry->op,
                        .attrs = call->attrs,
                        .n_attrs = call->entry->n_attrs};
}

/* Before an op in place runs: may it, as far as the tape is concerned? */
static tsr_status check_tape(tsr_ctx *ctx, const tsr_op_call *call)
{
    tsr_record record;
    tsr_status st;

    TSR_TRY(tsr__op_entry_grad(&ctx->heap, ctx->ops, call->entry, &ctx->error));
    record = record_of(call, NULL, 0);
    TSR_TRY(tsr__tape_check_inplace(ctx, &record));
done:
    return st;
}

tsr_status tsr__dispatch_record(tsr_ctx *ctx, const tsr_op_call *call, tsr_tensor *const *out,
                                int n_out)
{
    tsr_record record;
    tsr_status st;

    TSR_TRY(tsr__op_entry_grad(&ctx->heap, ctx->ops, call->entry, &ctx->error));
    record = record_of(call, out, n_out);
    if (record.op->grad == tsr_grad_none)
        tsr__tape_cut(ctx, &record);
    else
        TSR_TRY(tsr__tape_record(ctx, &record));
done:
    return st;
}

/* Two results in one tensor would be none. Which tensors there are no plan knows. */
static tsr_status check_overwritten(tsr_ctx *ctx, const tsr_op_call *call)
{
    const tsr_op *op = call->entry->op;

    for (int k = 1; k < op->inplace; k++)
        for (int i = 0; i < k; i++)
            if (call->in[i] == call->in[k])
                return tsr__fail(
                    &ctx->error, TSR_ERR_ARG,
                    "%s: inputs %d and %d are the same tensor, but both are overwritten", op->name,
                    i, k);
    return TSR_OK;
}

tsr_status tsr__dispatch_kernel(tsr_ctx *ctx, const tsr_op_call *call, tsr_tensor *out, int64_t n)
{
    tsr_op_plan_key key;
    tsr_cached_call *plan;
    tsr_status st;

    TSR_TRY(tsr__tensor_needs_data(out, call->entry->op->name));
    TSR_TRY(find_plan(ctx, call, &key, &plan));
    if (out->mesh->index < 0)
        return TSR_OK;
    if (call->entry->op->is_view && !plan->rank)
        TSR_TRY(tsr__rank_call_make(out->mesh, plan));
    if (!plan->all_stay || !plan->rank || tsr__halo_communicates(plan->rank->halo) ||
        plan->n_out != 1 || plan->out[0] != out->local_spec)
        TSR_TRY(tsr__fail(
            &ctx->error, TSR_ERR_STATE,
            "%s: only a kernel that ran before and whose inputs do not move can be repeated",
            call->entry->op->name));
    for (int64_t i = 0; i < n; i++)
        TSR_TRY(tsr__rank_call_run(out->mesh, call, plan, call->in, &out));
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
    return tsr__poison_if_local(ctx, st);
}

void tsr__dispatch_cache_free(tsr_ctx *ctx)
{
    tsr__cached_calls_free(ctx);
    tsr__op_table_free(&ctx->heap, ctx->ops);
    tsr__local_specs_free(ctx);
    ctx->ops = NULL;
}
