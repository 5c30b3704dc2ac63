/* SPDX-License-Identifier: Apache-2.0 */
/* context.c - what a context holds above the world, and the public functions that look at it. */
#include "dispatch/context.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "base/args.h"
#include "dispatch/dispatch.h"
#include "layout/cost.h"
#include "redist/program.h"
#include "tape/tape.h"
#include "tensor/scope.h"
#include "tessera_ext.h"

tsr_status tsr__context_open(tsr_ctx *ctx, tsr_mesh *mesh)
{
    tsr_status st;

    TSR_TRY(tsr__alloc(&ctx->heap, 1, sizeof *ctx->error_tensor, &ctx->error_tensor, &ctx->error));
    ctx->invalidate = tsr__tensors_invalidate;
    ctx->error_tensor->failed = true;
    ctx->error_tensor->refs = 1;
    ctx->error_tensor->mesh = mesh; /* borrowed: the job's mesh outlives it */
    TSR_TRY(tsr__alloc(&ctx->heap, 1, sizeof *ctx->error_tensor->local_spec,
                       &ctx->error_tensor->local_spec, &ctx->error)); /* of no shape and no mesh */
    TSR_TRY(tsr__scope_push(ctx));
done:
    return st;
}

void tsr__context_close(tsr_ctx *ctx)
{
    while (ctx->tape)
        tsr__tape_pop(ctx);
    while (ctx->scope)
        tsr__scope_pop(ctx);
    if (ctx->error_tensor)
        tsr__statistics_print(ctx, &ctx->error_tensor->mesh->shape);
    tsr__dispatch_cache_free(ctx);
    tsr__programs_free(ctx);
    if (ctx->error_tensor)
        tsr__free(&ctx->heap, (void *)ctx->error_tensor->local_spec);
    tsr__free(&ctx->heap, ctx->error_tensor);
    ctx->error_tensor = NULL;
    /* kept tensors that were never released stay; what they return later is not kept */
    tsr__spare_free(&ctx->spare_tensors);
    tsr__spare_free(&ctx->spare_buffers);
}

tsr_status tsr_cost_get(const tsr_mesh *mesh, tsr_cost *out)
{
    TSR_NEED(TSR_ERR_ARG, tsr__mesh_error(mesh), mesh, out);

    tsr_status st;

    TSR_TRY(TSR_SIZE_CHECK("tsr_cost_get", out, "tsr_cost_default", &mesh->ctx->error));
    *out = mesh->ctx->cost;
done:
    return st;
}

/* The one that these costs had before, if that is remembered: plans made then hold again. */
static int version_of(tsr_ctx *ctx, const tsr_cost *cost)
{
    for (int i = 0; i < TSR_OLD_COSTS && i <= ctx->cost_versions; i++)
        if (tsr__cost_equal(&ctx->old_costs[i].cost, cost))
            return ctx->old_costs[i].version;
    return ++ctx->cost_versions;
}

tsr_status tsr_cost_set(tsr_mesh *mesh, const tsr_cost *cost)
{
    TSR_NEED(TSR_ERR_ARG, tsr__mesh_error(mesh), mesh, cost);

    tsr_ctx *ctx = mesh->ctx;
    const int old = ctx->cost_version % TSR_OLD_COSTS;
    tsr_status st;

    TSR_TRY(TSR_SIZE_CHECK("tsr_cost_set", cost, "tsr_cost_default", &ctx->error));
    if (tsr__cost_equal(&ctx->cost, cost))
        return TSR_OK;
    ctx->old_costs[old].cost = ctx->cost;
    ctx->old_costs[old].version = ctx->cost_version;
    ctx->cost = *cost;
    ctx->cost_version = version_of(ctx, cost);
done:
    return st;
}

tsr_status tsr_reproducible_set(tsr_mesh *mesh, bool on)
{
    TSR_NEED(TSR_ERR_ARG, NULL, mesh);

    tsr_cost cost = mesh->ctx->cost;

    cost.reproducible = on;
    return tsr_cost_set(mesh, &cost);
}

tsr_status tsr_memory_limit_set(tsr_mesh *mesh, size_t bytes)
{
    TSR_NEED(TSR_ERR_ARG, NULL, mesh);
    mesh->ctx->memory_limit = bytes;
    return TSR_OK;
}

/* A number that a setter takes: 0 to `most`. */
static tsr_status check_number(tsr_mesh *mesh, const char *function, int64_t value, int64_t most)
{
    if (value >= 0 && value <= most)
        return TSR_OK;
    return tsr__fail(&mesh->ctx->error, TSR_ERR_ARG, "%s: %" PRId64 " is not from 0 to %" PRId64,
                     function, value, most);
}

tsr_status tsr_plan_limit_set(tsr_mesh *mesh, int plans)
{
    TSR_NEED(TSR_ERR_ARG, NULL, mesh);

    tsr_status st;

    TSR_TRY(check_number(mesh, "tsr_plan_limit_set", plans, INT_MAX));
    mesh->ctx->caches.limit = plans;
done:
    return st;
}

tsr_status tsr_plan_bytes_set(tsr_mesh *mesh, size_t bytes)
{
    TSR_NEED(TSR_ERR_ARG, NULL, mesh);
    mesh->ctx->caches.limit_bytes = bytes;
    return TSR_OK;
}

tsr_status tsr_scope_budget_set(tsr_mesh *mesh, int64_t bytes)
{
    TSR_NEED(TSR_ERR_ARG, NULL, mesh);

    tsr_status st;

    TSR_TRY(check_number(mesh, "tsr_scope_budget_set", bytes, INT64_MAX));
    mesh->ctx->scope->limited = true;
    mesh->ctx->scope->budget = bytes;
done:
    return st;
}

tsr_counters tsr_counters_get(const tsr_mesh *mesh)
{
    TSR_NEED((tsr_counters){0}, NULL, mesh);

    tsr_counters counters = mesh->ctx->counters;

    counters.plan_bytes = mesh->ctx->caches.bytes;
    if (mesh->ctx->world->kind != TSR_WORLD_SIM) {
        counters.memory = mesh->ctx->pool.used;
        counters.memory_peak = mesh->ctx->pool.peak;
    }
    return counters;
}

void tsr_counters_reset(tsr_mesh *mesh)
{
    TSR_NEED(, NULL, mesh);

    tsr_op_table *ops = mesh->ctx->ops;

    for (tsr_op_entry *e = ops ? ops->first : NULL; e; e = e->later)
        e->counters = (tsr_op_counters){0};
    memset(mesh->ctx->activity, 0, sizeof mesh->ctx->activity);
    mesh->ctx->counters = (tsr_counters){0};
    mesh->ctx->pool.peak = mesh->ctx->pool.used;
}

void tsr_memory_trim(tsr_mesh *mesh)
{
    TSR_NEED(, NULL, mesh);
    tsr__pool_trim(&mesh->ctx->pool);
}

void tsr_fault_alloc(tsr_mesh *mesh, int64_t n)
{
    TSR_NEED(, NULL, mesh);

    tsr_heap *heap = &mesh->ctx->heap;
    heap->fail_at = n > 0 ? heap->calls + n : 0;
}

void tsr_fault_call(tsr_mesh *mesh, int64_t n)
{
    TSR_NEED(, NULL, mesh);

    tsr_world *world = mesh->ctx->world;
    world->fail_call_at = n > 0 ? world->calls + n : 0;
}

int64_t tsr_allocations(const tsr_mesh *mesh)
{
    return mesh ? mesh->ctx->heap.calls : 0;
}

int64_t tsr_allocations_live(const tsr_mesh *mesh)
{
    return mesh ? mesh->ctx->heap.live : 0;
}

tsr_status tsr_native(tsr_mesh *mesh, const tsr_collective *call)
{
    TSR_NEED(TSR_ERR_ARG, tsr__mesh_error(mesh), mesh, call);

    tsr_world *world = mesh->ctx->world;

    if (!world->ops->native)
        return tsr__fail(&mesh->ctx->error, TSR_ERR_UNAVAILABLE,
                         "the %s world has no native collectives", world->ops->name);
    return world->ops->native(world, call);
}

tsr_status tsr_overlap_set(tsr_mesh *mesh, tsr_overlap_mode mode)
{
    TSR_NEED(TSR_ERR_ARG, NULL, mesh);

    tsr_status st;

    TSR_TRY(check_number(mesh, "tsr_overlap_set", (int64_t)mode, TSR_OVERLAP_ALWAYS));
    mesh->ctx->overlap = mode;
done:
    return st;
}

tsr_status tsr_keep_windows_set(tsr_mesh *mesh, int64_t bytes)
{
    TSR_NEED(TSR_ERR_ARG, NULL, mesh);

    tsr_status st;

    TSR_TRY(check_number(mesh, "tsr_keep_windows_set", bytes, INT64_MAX));
    mesh->ctx->keep_limit = (size_t)bytes;
done:
    return st;
}

tsr_status tsr_log_set(tsr_mesh *mesh, tsr_log_level level, tsr_log_function log, void *arg)
{
    TSR_NEED(TSR_ERR_ARG, NULL, mesh);

    tsr_status st;

    TSR_TRY(check_number(mesh, "tsr_log_set", (int64_t)level, TSR_LOG_DEBUG));
    mesh->ctx->log_level = level;
    mesh->ctx->log = log;
    mesh->ctx->log_arg = arg;
done:
    return st;
}
