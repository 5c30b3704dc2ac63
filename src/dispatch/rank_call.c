/* SPDX-License-Identifier: Apache-2.0 */
/* rank_call.c - see rank_call.h. Called by dispatch.c. */
#include "dispatch/rank_call.h"

#include <string.h>

#include "op/local_call.h"
#include "run/bad_values.h"

void tsr__rank_call_free(tsr_ctx *ctx, tsr_rank_call *r, const tsr_attr *attrs)
{
    if (!r)
        return;
    tsr__compact_call_free(&ctx->heap, r->call, attrs, true);
    tsr__halo_overlap_free(ctx, r->overlap, attrs);
    tsr__halo_free(ctx, r->halo);
    tsr__free(&ctx->heap, r);
}

/* The others do not know that this rank failed to prepare, and would wait for it. */
static tsr_status broadcast_error(tsr_ctx *ctx, const tsr_op *op, tsr_status st)
{
    tsr_error err = {0};

    if (st == TSR_OK)
        return TSR_OK;
    tsr__fail(&err, st, "%s: preparing the kernel failed: %s", op->name,
              ctx->error.code == st ? ctx->error.text : tsr_status_text(st));
    ctx->world->ops->poison(ctx->world, &err);
    return tsr__fail(&ctx->error, st, "%s", err.text);
}

/* The kernel's call as the row's functions make it, kept. */
static tsr_status make_kernel_call(tsr_mesh *mesh, const tsr_call_in_full *full,
                                   double halo_seconds, tsr_rank_call *r)
{
    const tsr_schema *s = &full->schema;
    const tsr_windows *windows = tsr__halo_windows(r->halo);
    tsr_ctx *ctx = mesh->ctx;
    tsr_kernel_call call = {
        .memory = &ctx->memory, .reproducible = ctx->cost.reproducible, .attrs = s->attrs};
    tsr_status st;

    tsr__local_call(s, full->in, full->out, windows, mesh->coord, &call);
    TSR_TRY(broadcast_error(ctx, s->op,
                            tsr__positions_make(&ctx->heap, s, full->in, full->out, windows,
                                                mesh->coord, &call, &ctx->error)));
    if (s->op->prepare)
        TSR_TRY(broadcast_error(ctx, s->op, s->op->prepare(&call, &ctx->error)));
    r->overlap_pays = tsr__halo_communicates(r->halo) &&
                      tsr__halo_overlap_pays(&call, windows, halo_seconds, &ctx->cost);
    TSR_TRY(tsr__compact_call_make(&ctx->heap, s, &call, &r->call, &ctx->error));
done:
    if (st != TSR_OK) {
        if (s->op->release && call.state)
            s->op->release(&call);
        tsr__positions_free(&ctx->heap, &call);
    }
    return st;
}

tsr_status tsr__rank_call_make(tsr_mesh *mesh, tsr_cached_call *plan)
{
    tsr_ctx *ctx = mesh->ctx;
    const size_t before = ctx->heap.bytes;
    tsr_call_in_full full;
    tsr_rank_call *r = NULL;
    tsr_status st;

    tsr__cached_call_expand(plan, plan->attrs, &full);
    TSR_TRY(tsr__alloc(&ctx->heap, 1, sizeof *r, &r, &ctx->error));
    if (full.schema.op->windows)
        TSR_TRY(
            tsr__halo_make(mesh, &full.schema, full.in, full.out, plan->reverse_halo, &r->halo));
    TSR_TRY(make_kernel_call(mesh, &full, plan->comm.seconds, r));
    plan->rank = r;
    r = NULL;
    tsr__cache_grow(&ctx->caches, &plan->cached, ctx->heap.bytes - before);
done:
    tsr__rank_call_free(ctx, r, plan->attrs);
    return st;
}

/* The call in pieces, once; the others need not do the same. */
static tsr_status make_pieces(tsr_mesh *mesh, tsr_cached_call *plan, const tsr_kernel_call *call)
{
    tsr_ctx *ctx = mesh->ctx;
    const size_t before = ctx->heap.bytes;
    tsr_rank_call *r = plan->rank;
    tsr_call_in_full full;
    tsr_status st;

    tsr__cached_call_expand(plan, plan->attrs, &full);
    TSR_TRY(broadcast_error(ctx, plan->entry->op,
                            tsr__halo_overlap_make(mesh, &full.schema, full.in, full.out,
                                                   tsr__halo_windows(r->halo), call, &r->overlap)));
    r->overlap_tried = true;
    tsr__cache_grow(&ctx->caches, &plan->cached, ctx->heap.bytes - before);
done:
    return st;
}

/* Shall the interior be computed while the halo is fetched? */
static bool overlaps(const tsr_ctx *ctx, const tsr_rank_call *r)
{
    return ctx->overlap != TSR_OVERLAP_NEVER &&
           (ctx->overlap != TSR_OVERLAP_AUTO || r->overlap_pays) &&
           tsr__halo_communicates(r->halo) && !tsr__halo_is_reverse(r->halo);
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
static tsr_status run_windows(tsr_mesh *mesh, tsr_cached_call *plan, const tsr_attr *attrs,
                              tsr_kernel_call *call, tsr_tensor *const *in)
{
    tsr_ctx *ctx = mesh->ctx;
    tsr_halo *halo = plan->rank->halo;
    const tsr_op *op = plan->entry->op;
    tsr_op_counters *counters = &plan->entry->counters;
    const bool cut = overlaps(ctx, plan->rank);
    tsr_halo_overlap *pieces = NULL;
    double begin = tsr__statistics_clock(ctx), computed;
    tsr_status st;

    if (cut && !plan->rank->overlap_tried)
        TSR_TRY(make_pieces(mesh, plan, call));
    if (cut)
        pieces = plan->rank->overlap;
    TSR_TRY(tsr__halo_start(halo, mesh, in, call));
    computed = -tsr__statistics_clock(ctx);
    if (pieces)
        TSR_TRY(tsr__halo_overlap_interior(pieces, ctx, call, attrs, in));
    computed += tsr__statistics_clock(ctx);
    TSR_TRY(tsr__halo_finish(halo, in));
    counters->windows += tsr__statistics_clock(ctx) - begin - computed;
    counters->hidden += pieces ? computed : 0;
    if (op->scratch && !pieces)
        TSR_TRY(tsr__pool_get(&ctx->pool, op->scratch(call), &call->scratch, &ctx->error));
    if (pieces)
        TSR_TRY(tsr__halo_overlap_boundary(pieces, ctx, call, attrs));
    else
        op->kernel(call);
    begin = tsr__statistics_clock(ctx);
    if (call->error->code == TSR_ERR_ARG) /* the others wait for what is added to theirs */
        clear_outputs(call);
    if (call->error->code == TSR_OK || call->error->code == TSR_ERR_ARG)
        TSR_TRY(tsr__halo_scatter_add(halo, mesh, call));
    counters->windows += tsr__statistics_clock(ctx) - begin;
done:
    tsr__halo_put(halo);
    return st;
}

/* Values that this rank alone may have seen are a verdict, with zeros for a result; anything else
   (memory) ends the world. */
static tsr_status kernel_failed(tsr_mesh *mesh, const tsr_op_call *call, bool windows,
                                const tsr_kernel_call *kernel, tsr_tensor *const *in)
{
    const tsr_error *error = kernel->error;
    tsr_ctx *ctx = mesh->ctx;
    tsr_error named = {0};

    tsr__fail(&named, error->code, "%s: %s", call->entry->op->name, error->text);
    if (error->code == TSR_ERR_ARG) {
        if (!windows)
            clear_outputs(kernel);
        return tsr__bad_values(mesh, in, kernel->n_in, call->part, &named);
    }
    tsr__fail(&ctx->error, named.code, "%s%s", call->part ? call->part : "", named.text);
    ctx->world->ops->poison(ctx->world, &ctx->error);
    return named.code;
}

/* The old values are all there is of what failed to be overwritten. */
static void release_before(tsr_status st, int n, tsr_tensor *const *out, tsr_buffer **before)
{
    for (int k = 0; k < n; k++) {
        if (st != TSR_OK && before[k]) {
            tsr_buffer *unset = out[k]->buffer;
            out[k]->buffer = before[k];
            before[k] = unset;
        }
        tsr__buffer_release(before[k]);
    }
}

tsr_status tsr__rank_call_run(tsr_mesh *mesh, const tsr_op_call *call, tsr_cached_call *plan,
                              tsr_tensor *const *in, tsr_tensor *const *out)
{
    const tsr_rank_call *r = plan->rank;
    const tsr_op *op = plan->entry->op;
    tsr_ctx *ctx = mesh->ctx;
    tsr_buffer *before[TSR_MAX_OUT] = {NULL};
    tsr_kernel_call kernel;
    tsr_error error;
    tsr_status st = TSR_OK;

    error.code = TSR_OK;
    error.text[0] = 0;
    tsr__compact_call_expand(r->call, call->attrs, plan->entry->numbers, in, out, &kernel);
    kernel.error = &error;
    for (int k = 0; k < op->inplace; k++) /* others may share the old values */
        if (plan->direct >> k & 1) {
            TSR_TRY(tsr__tensor_own(out[k], &before[k]));
            kernel.out[k].data = tsr__tensor_data(out[k]);
        }
    if (r->halo) {
        TSR_TRY(run_windows(mesh, plan, call->attrs, &kernel, in));
    } else {
        if (op->scratch)
            TSR_TRY(tsr__pool_get(&ctx->pool, op->scratch(&kernel), &kernel.scratch, &ctx->error));
        op->kernel(&kernel);
    }
    if (error.code != TSR_OK)
        st = kernel_failed(mesh, call, r->halo != NULL, &kernel, in);
done:
    if (kernel.scratch)
        tsr__pool_put(&ctx->pool, kernel.scratch);
    release_before(st, op->inplace, out, before);
    return st;
}
