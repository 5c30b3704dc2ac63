/* SPDX-License-Identifier: Apache-2.0 */
/* local_plan.c - see local_plan.h. Called by dispatch.c. */
#include "dispatch/local_plan.h"

#include <string.h>

#include "dispatch/dispatch.h"
#include "op/local_call.h"
#include "op/schema.h"
#include "run/bad_values.h"

void tsr__local_plan_free(tsr_ctx *ctx, tsr_local_plan *p)
{
    if (!p)
        return;
    if (p->op->release && p->call.state)
        p->op->release(&p->call);
    tsr__positions_free(&ctx->heap, &p->call);
    for (int k = 0; k < TSR_MAX_OUT; k++)
        tsr__local_spec_release(p->out[k]);
    tsr__halo_free(ctx, p->halo);
    tsr__halo_overlap_free(ctx, p->overlap);
    tsr__free(&ctx->heap, p);
}

/* The others do not know that this rank failed to prepare, and would wait for it. */
static tsr_status broadcast_error(tsr_ctx *ctx, const tsr_op *op, tsr_status st)
{
    tsr_error err = {0};

    if (st == TSR_OK)
        return TSR_OK;
    tsr__fail(&err, st, "%s: it cannot be prepared: %s", op->name,
              ctx->error.code == st ? ctx->error.text : tsr_status_text(st));
    ctx->world->ops->poison(ctx->world, &err);
    return tsr__fail(&ctx->error, st, "%s", err.text);
}

/* The plan on this rank; without data (sim, outside the mesh) its outputs are all there is. */
static tsr_status prepare(tsr_mesh *mesh, const tsr_plan *plan, tsr_local_plan *p)
{
    const tsr_schema *s = &plan->schema;
    const tsr_strategy *way = &plan->strategy;
    tsr_ctx *ctx = mesh->ctx;
    tsr_status st = TSR_OK;

    p->memory = (tsr_memory){.heap = &ctx->heap, .pool = &ctx->pool};
    p->call.memory = &p->memory;
    for (int k = 0; k < s->n_out; k++)
        if (tsr__schema_gives(s, k)) {
            TSR_TRY(tsr__local_spec_get(mesh, &way->out[k], &p->out[k]));
            tsr__local_spec_hold(p->out[k]);
        }
    if (mesh->index < 0 || ctx->world->kind == TSR_WORLD_SIM)
        return TSR_OK;
    if (s->op->windows && !way->algorithm.own_run)
        TSR_TRY(tsr__halo_make(mesh, s, way->in, way->out, way->algorithm.reverse_halo, &p->halo));
    tsr__local_call(s, way->in, way->out, tsr__halo_windows(p->halo), mesh->coord, &p->call);
    p->call.reproducible = plan->cost.reproducible;
    TSR_TRY(broadcast_error(ctx, s->op,
                            tsr__positions_make(&ctx->heap, s, way->in, way->out,
                                                tsr__halo_windows(p->halo), mesh->coord, &p->call,
                                                &ctx->error)));
    if (s->op->prepare && !way->algorithm.own_run)
        TSR_TRY(broadcast_error(ctx, s->op, s->op->prepare(&p->call, &ctx->error)));
    p->overlap_pays = tsr__halo_communicates(p->halo) &&
                      tsr__halo_overlap_pays(&p->call, tsr__halo_windows(p->halo),
                                             way->comm.seconds, &plan->cost);
done:
    return st;
}

tsr_status tsr__local_plan_get(tsr_mesh *mesh, tsr_plan *plan, tsr_local_plan **out)
{
    tsr_ctx *ctx = mesh->ctx;
    /* local specs that are made meanwhile, or dropped, count for themselves */
    const size_t before = ctx->heap.bytes - ctx->caches.bytes;
    tsr_local_plan *p = NULL;
    tsr_status st = TSR_OK;

    if (!plan->local) {
        TSR_TRY(tsr__alloc(&ctx->heap, 1, sizeof *p, &p, &ctx->error));
        p->op = plan->schema.op;
        TSR_TRY(prepare(mesh, plan, p));
        plan->local = p;
        p = NULL;
        tsr__cache_grow(&ctx->caches, &plan->cached, ctx->heap.bytes - ctx->caches.bytes - before);
    }
    *out = plan->local;
done:
    tsr__local_plan_free(ctx, p);
    return st;
}

/* Shall the interior be computed while the halo is fetched? The others need not do the same. */
static tsr_status choose_pieces(tsr_mesh *mesh, const tsr_plan *plan, tsr_local_plan *p,
                                tsr_halo_overlap **out)
{
    const tsr_overlap_mode mode = mesh->ctx->overlap;
    tsr_status st = TSR_OK;

    *out = NULL;
    if (mode == TSR_OVERLAP_NEVER || (mode == TSR_OVERLAP_AUTO && !p->overlap_pays) ||
        !tsr__halo_communicates(p->halo) || tsr__halo_is_reverse(p->halo))
        return TSR_OK;
    if (!p->overlap_tried)
        TSR_TRY(broadcast_error(
            mesh->ctx, p->op,
            tsr__halo_overlap_make(mesh, &plan->schema, plan->strategy.in, plan->strategy.out,
                                   tsr__halo_windows(p->halo), &p->call, &p->overlap)));
    p->overlap_tried = true;
    *out = p->overlap;
done:
    return st;
}

static void clear_outputs(const tsr_kernel_call *call)
{
    for (int k = 0; k < call->n_out; k++)
        if (call->out[k].data)
            memset(call->out[k].data, 0,
                   (size_t)tsr_shape_count(&call->out[k].shape) *
                       tsr_dtype_size(call->out[k].dtype));
}

/* The kernel on windows: what is missing comes first, or while the interior is computed. */
static tsr_status run_windows(tsr_mesh *mesh, const tsr_plan *plan, tsr_local_plan *p,
                              tsr_tensor *const *in)
{
    tsr_ctx *ctx = mesh->ctx;
    tsr_kernel_call *call = &p->call;
    tsr_halo_overlap *pieces;
    double begin = tsr__statistics_clock(ctx), computed;
    tsr_status st;

    TSR_TRY(choose_pieces(mesh, plan, p, &pieces));
    TSR_TRY(tsr__halo_start(p->halo, mesh, in, call));
    computed = -tsr__statistics_clock(ctx);
    if (pieces)
        TSR_TRY(tsr__halo_overlap_interior(pieces, ctx, call, in));
    computed += tsr__statistics_clock(ctx);
    TSR_TRY(tsr__halo_finish(p->halo, in));
    p->windows = tsr__statistics_clock(ctx) - begin - computed;
    p->hidden = pieces ? computed : 0;
    if (p->op->scratch && !pieces)
        TSR_TRY(tsr__pool_get(&ctx->pool, p->op->scratch(call), &call->scratch, &ctx->error));
    if (pieces)
        TSR_TRY(tsr__halo_overlap_boundary(pieces, ctx, call));
    else
        p->op->kernel(call);
    begin = tsr__statistics_clock(ctx);
    if (call->error->code == TSR_ERR_ARG) /* the others wait for what is added to theirs */
        clear_outputs(call);
    if (call->error->code == TSR_OK || call->error->code == TSR_ERR_ARG)
        TSR_TRY(tsr__halo_scatter_add(p->halo, mesh, call));
    p->windows += tsr__statistics_clock(ctx) - begin;
done:
    tsr__halo_put(p->halo);
    return st;
}

/* Values that this rank alone may have seen are a verdict, with zeros for a result; anything else
   (memory) ends the world. */
static tsr_status kernel_failed(tsr_mesh *mesh, const char *part, tsr_local_plan *p,
                                tsr_tensor *const *in, const tsr_error *error)
{
    tsr_ctx *ctx = mesh->ctx;
    tsr_error named = {0};

    tsr__fail(&named, error->code, "%s: %s", p->op->name, error->text);
    if (error->code == TSR_ERR_ARG) {
        if (!p->halo)
            clear_outputs(&p->call);
        return tsr__bad_values(mesh, in, p->call.n_in, part, &named);
    }
    tsr__fail(&ctx->error, named.code, "%s%s", part ? part : "", named.text);
    ctx->world->ops->poison(ctx->world, &ctx->error);
    return named.code;
}

tsr_status tsr__local_plan_run(tsr_mesh *mesh, const char *part, const tsr_plan *plan,
                               tsr_tensor *const *in, tsr_tensor *const *out)
{
    tsr_ctx *ctx = mesh->ctx;
    tsr_local_plan *p = plan->local;
    tsr_kernel_call *call = &p->call;
    tsr_buffer *before[TSR_MAX_OUT] = {NULL};
    tsr_error error;
    tsr_status st = TSR_OK;

    error.code = TSR_OK;
    error.text[0] = 0;
    call->error = &error;
    for (int k = 0; k < call->n_in; k++)
        call->in[k].data = in[k] ? tsr__tensor_data(in[k]) : NULL;
    for (int k = 0; k < p->op->inplace; k++) /* others may share the old values */
        if (plan->direct[k])
            TSR_TRY(tsr__tensor_own(out[k], &before[k]));
    for (int k = 0; k < call->n_out; k++)
        call->out[k].data = out[k] ? tsr__tensor_data(out[k]) : NULL;
    if (p->halo) {
        TSR_TRY(run_windows(mesh, plan, p, in));
    } else {
        if (p->op->scratch)
            TSR_TRY(tsr__pool_get(&ctx->pool, p->op->scratch(call), &call->scratch, &ctx->error));
        p->op->kernel(call);
    }
    if (error.code != TSR_OK)
        st = kernel_failed(mesh, part, p, in, &error);
done:
    tsr__pool_put(&ctx->pool, call->scratch);
    call->scratch = NULL;
    for (int k = 0; k < p->op->inplace; k++) {
        if (st != TSR_OK && before[k]) { /* the old values are all there is */
            tsr_buffer *unset = out[k]->buffer;
            out[k]->buffer = before[k];
            before[k] = unset;
        }
        tsr__buffer_release(before[k]);
    }
    return st;
}
