/* SPDX-License-Identifier: Apache-2.0 */
/* plan_cache.c - plans of the calls that a context has met. A plan is dropped when there are too
   many, but for those of calls that run; it holds the local specs of its inputs, whose addresses
   are its key. Each rank drops as it likes: nothing is exchanged to make a plan. Called by
   dispatch.c. */
#include "dispatch/dispatch.h"

#include <stdio.h>

#include "base/log.h"
#include "dispatch/local_plan.h"

static void drop_plan(tsr_cached *entry, void *arg)
{
    tsr_plan *plan = (tsr_plan *)entry;
    tsr_ctx *ctx = arg;

    tsr__histories_forget(ctx, entry);
    for (int k = 0; k < plan->key.n_in; k++)
        if (plan->key.in[k])
            tsr__local_spec_of(plan->key.in[k])->cached.holds--;
    tsr__local_plan_free(ctx, plan->local);
    tsr__free(&ctx->heap, plan);
}

/* All ranks make the same plans; the first one tells. */
static void log_plan(const tsr_ctx *ctx, const tsr_plan *plan)
{
    const tsr_schema *s = &plan->schema;
    const tsr_price *price = &plan->strategy.price;
    char text[TSR_ERROR_LEN] = "", spec[TSR_TEXT_LEN];
    size_t used = 0;

    if (ctx->world->rank != 0 || !tsr__log_is_on(ctx, TSR_LOG_DEBUG))
        return;
    for (int k = 0; k < plan->key.n_in && used < sizeof text; k++)
        used += (size_t)snprintf(text + used, sizeof text - used, " %s",
                                 plan->key.in[k] ? tsr_spec_text(plan->key.in[k], spec, sizeof spec)
                                                 : "-");
    if (plan->why.code != TSR_OK) {
        tsr__log(ctx, TSR_LOG_DEBUG, "no plan for %s%s: %s", plan->key.entry->op->name, text,
                 plan->why.text);
        return;
    }
    for (int k = 0; k < plan->key.n_in && used < sizeof text; k++)
        if (plan->key.in[k] && !plan->stays[k])
            used += (size_t)snprintf(text + used, sizeof text - used, ", input %d moved to %s", k,
                                     tsr_placements_text(&plan->strategy.in[k], spec, sizeof spec));
    for (int k = 0; k < s->n_out && used < sizeof text; k++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", k ? " " : " -> ",
                                 tsr_placements_text(&plan->strategy.out[k], spec, sizeof spec));
    tsr__log(ctx, TSR_LOG_DEBUG, "plan of %s%s: %.3g us predicted, %.0f bytes", s->op->name, text,
             1e6 * price->seconds, price->bytes);
}

static tsr_status make_plan(tsr_ctx *ctx, const tsr_plan_key *key, tsr_plan **out)
{
    const size_t before = ctx->heap.bytes;
    tsr_status st;

    TSR_TRY(tsr__propagate(&ctx->heap, key, out, &ctx->error));
    (*out)->cached.bytes = ctx->heap.bytes - before;
    for (int k = 0; k < key->n_in; k++)
        if (key->in[k])
            tsr__local_spec_of(key->in[k])->cached.holds++;
    log_plan(ctx, *out);
    tsr__cache_add(&ctx->caches, &ctx->plans, &(*out)->cached, drop_plan, ctx);
done:
    return st;
}

tsr_status tsr__plan_get(tsr_ctx *ctx, const tsr_plan_key *key, tsr_plan **out)
{
    for (tsr_cached *c = tsr__cache_first(&ctx->plans, key->hash); c; c = c->next)
        if (tsr__plan_is_of((tsr_plan *)c, key)) {
            ctx->counters.plan_hits++;
            c->used = true;
            *out = (tsr_plan *)c;
            return TSR_OK;
        }
    ctx->counters.plan_misses++;
    return make_plan(ctx, key, out);
}

void tsr__plans_free(tsr_ctx *ctx)
{
    tsr__cache_clear(&ctx->caches, &ctx->plans);
}
