/* SPDX-License-Identifier: Apache-2.0 */
/* plan_cache.c - plans of the calls that a context has met. A plan is dropped when there are too
   many, but for those of calls that run; it holds the forms of its inputs, whose addresses are its
   key. Each rank drops as it likes: nothing is exchanged to make a plan. Called by dispatch.c. */
#include "dispatch/dispatch.h"
#include "dispatch/local_plan.h"

static void drop_plan(tsr_cached *entry, void *arg)
{
    tsr_plan *plan = (tsr_plan *)entry;
    tsr_ctx *ctx = arg;

    for (int k = 0; k < plan->key.n_in; k++)
        if (plan->key.in[k])
            tsr__form_of(plan->key.in[k])->cached.holds--;
    tsr__local_plan_free(ctx, plan->local);
    tsr__free(&ctx->heap, plan);
}

static tsr_status make_plan(tsr_ctx *ctx, const tsr_plan_key *key, tsr_plan **out)
{
    const size_t before = ctx->heap.bytes;
    tsr_status st;

    TSR_TRY(tsr__propagate(&ctx->heap, key, out, &ctx->error));
    (*out)->cached.bytes = ctx->heap.bytes - before;
    for (int k = 0; k < key->n_in; k++)
        if (key->in[k])
            tsr__form_of(key->in[k])->cached.holds++;
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
