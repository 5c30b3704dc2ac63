/* SPDX-License-Identifier: Apache-2.0 */
/* cached_call.c - the plan cache, a cache of calls: see cached_call.h. A call is dropped when there
   are too many (base/cache.h), but for those that run; it holds the local specs of its inputs,
   whose addresses are its key, and those of its strategy. Each rank drops as it likes: nothing is
   exchanged to make an op plan. Called by dispatch.c. */
#include "dispatch/cached_call.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "dispatch/rank_call.h"
#include "op/schema.h"

static void free_call(tsr_ctx *ctx, tsr_cached_call *c)
{
    for (int k = 0; k < c->n_given; k++)
        if (c->given[k])
            tsr__local_spec_release(tsr__local_spec_of(c->given[k]));
    for (int k = 0; k < c->n_in; k++)
        tsr__local_spec_release(c->in[k]);
    for (int k = 0; k < c->n_out; k++)
        tsr__local_spec_release(c->out[k]);
    tsr__rank_call_free(ctx, c->rank, c->attrs);
    tsr__free(&ctx->heap, c);
}

static void drop_call(tsr_cached *entry, void *arg)
{
    tsr__histories_forget(arg, entry);
    free_call(arg, (tsr_cached_call *)entry);
}

/* All ranks make the same plans; the first one tells. */
static void log_plan(const tsr_ctx *ctx, const tsr_op_plan_key *key, const tsr_op_plan_full *plan)
{
    const tsr_schema *s = &plan->schema;
    const tsr_price *price = &plan->strategy.price;
    char text[TSR_ERROR_LEN] = "", spec[TSR_TEXT_LEN];
    size_t used = 0;

    if (ctx->world->rank != 0 || !tsr__log_is_on(ctx, TSR_LOG_DEBUG))
        return;
    for (int k = 0; k < key->n_in && used < sizeof text; k++)
        used += (size_t)snprintf(text + used, sizeof text - used, " %s",
                                 key->in[k] ? tsr_spec_text(key->in[k], spec, sizeof spec) : "-");
    if (plan->why.code != TSR_OK) {
        tsr__log(ctx, TSR_LOG_DEBUG, "no plan for %s%s: %s", s->op->name, text, plan->why.text);
        return;
    }
    for (int k = 0; k < key->n_in && used < sizeof text; k++)
        if (!(plan->stays >> k & 1))
            used += (size_t)snprintf(text + used, sizeof text - used, ", input %d moved to %s", k,
                                     tsr_placements_text(&plan->strategy.in[k], spec, sizeof spec));
    for (int k = 0; k < s->n_out && used < sizeof text; k++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", k ? " " : " -> ",
                                 tsr_placements_text(&plan->strategy.out[k], spec, sizeof spec));
    tsr__log(ctx, TSR_LOG_DEBUG, "plan of %s%s: %.3g us predicted, %.0f bytes", s->op->name, text,
             1e6 * price->seconds, price->bytes);
}

/* ---- making one ---- */

/* Room for all that the call has, its arrays in place. */
static tsr_status alloc_call(tsr_ctx *ctx, const tsr_op_plan_key *key, const tsr_op_plan_full *plan,
                             tsr_cached_call **out)
{
    const tsr_schema *s = &plan->schema;
    const bool possible = plan->why.code == TSR_OK;
    const size_t specs = (size_t)key->n_in + (possible ? (size_t)s->n_in + (size_t)s->n_out : 0);
    const size_t attrs = (size_t)key->entry->n_attrs * sizeof *key->attrs;
    const size_t want = key->want ? (size_t)s->in[0].mesh.ndim * sizeof *key->want : 0;
    const size_t why = possible ? 0 : strlen(plan->why.text) + 1;
    tsr_cached_call *c;
    char *at;
    tsr_status st;

    TSR_TRY(tsr__alloc(&ctx->heap, 1, sizeof *c + specs * sizeof *c->in + attrs + want + why, &c,
                       &ctx->error));
    at = (char *)(c + 1);
    c->given = (const tsr_spec **)at;
    at += (size_t)key->n_in * sizeof *c->given;
    c->in = (tsr_local_spec **)at;
    c->out = c->in + (possible ? s->n_in : 0);
    at = (char *)(c + 1) + specs * sizeof *c->in;
    c->attrs = memcpy(at, key->attrs, attrs);
    c->want = key->want ? memcpy(at + attrs, key->want, want) : NULL;
    c->why = why ? memcpy(at + attrs + want, plan->why.text, why) : NULL;
    *out = c;
done:
    return st;
}

/* The one spec of this value, held. */
static tsr_status hold_spec(const tsr_mesh *mesh, const tsr_spec *spec, tsr_local_spec **out)
{
    tsr_status st;

    TSR_TRY(tsr__local_spec_get(mesh, spec, out));
    tsr__local_spec_hold(*out);
done:
    return st;
}

static tsr_status set_strategy(const tsr_mesh *mesh, const tsr_op_plan_full *plan,
                               tsr_cached_call *c)
{
    const tsr_schema *s = &plan->schema;
    const tsr_strategy *strategy = &plan->strategy;
    tsr_status st = TSR_OK;

    c->n_in = (uint8_t)s->n_in;
    c->n_out = (uint8_t)s->n_out;
    for (int k = 0; k < s->n_in; k++)
        if (tsr__schema_has(s, k))
            TSR_TRY(hold_spec(mesh, &strategy->in[k], &c->in[k]));
    for (int k = 0; k < s->n_out; k++) {
        c->out_dtype[k] = (uint8_t)s->out_dtype[k];
        if (tsr__schema_gives(s, k))
            TSR_TRY(hold_spec(mesh, &strategy->out[k], &c->out[k]));
    }
    c->own_run = strategy->algorithm.own_run;
    c->reverse_halo = strategy->algorithm.reverse_halo;
    c->all_stay = plan->stays == (1u << s->n_in) - 1;
    c->stays = (uint16_t)plan->stays;
    c->direct = (uint16_t)plan->direct;
    c->comm = (tsr_comm){strategy->comm.seconds, strategy->comm.bytes};
    c->inputs = strategy->inputs.seconds;
done:
    return st;
}

tsr_status tsr__cached_call_make(tsr_ctx *ctx, const tsr_mesh *mesh, const tsr_op_plan_key *key,
                                 tsr_cached_call **out)
{
    tsr_op_plan_full plan;
    tsr_cached_call *c = NULL;
    size_t before;
    tsr_status st;

    ctx->counters.plan_misses++;
    TSR_TRY(tsr__propagate(&ctx->heap, key, &plan, &ctx->error));
    before = ctx->heap.bytes;
    TSR_TRY(alloc_call(ctx, key, &plan, &c));
    c->cached.hash = key->hash;
    c->cached.bytes = ctx->heap.bytes - before;
    c->entry = key->entry;
    c->cost_version = key->cost_version;
    c->why_code = plan.why.code;
    c->n_given = (uint8_t)key->n_in;
    for (int k = 0; k < key->n_in; k++) {
        c->given[k] = key->in[k];
        if (key->in[k])
            tsr__local_spec_hold(tsr__local_spec_of(key->in[k]));
    }
    if (!c->why)
        TSR_TRY(set_strategy(mesh, &plan, c));
    log_plan(ctx, key, &plan);
    tsr__cache_add(&ctx->caches, &ctx->calls, &c->cached, drop_call, ctx);
    *out = c;
    c = NULL;
done:
    if (c)
        free_call(ctx, c);
    return st;
}

/* ---- finding one ---- */

static bool wants_equal(const tsr_cached_call *c, const tsr_op_plan_key *key)
{
    if (!c->want || !key->want)
        return !c->want && !key->want;
    for (int m = 0; key->n_in && key->in[0] && m < key->in[0]->mesh.ndim; m++)
        if (!tsr__placement_equal(&c->want[m], &key->want[m]))
            return false;
    return true;
}

static bool is_of(const tsr_cached_call *c, const tsr_op_plan_key *key)
{
    if (c->cached.hash != key->hash || c->entry != key->entry || c->n_given != key->n_in ||
        c->cost_version != key->cost_version)
        return false;
    for (int k = 0; k < key->n_in; k++)
        if (c->given[k] != key->in[k])
            return false;
    return tsr__attrs_equal(c->attrs, key->attrs, key->entry->n_attrs, key->entry->numbers) &&
           wants_equal(c, key);
}

tsr_cached_call *tsr__cached_call_find(tsr_ctx *ctx, const tsr_op_plan_key *key)
{
    for (tsr_cached *c = tsr__cache_first(&ctx->calls, key->hash); c; c = c->next)
        if (is_of((tsr_cached_call *)c, key)) {
            ctx->counters.plan_hits++;
            c->used = true;
            return (tsr_cached_call *)c;
        }
    return NULL;
}

void tsr__cached_call_expand(const tsr_cached_call *c, const tsr_attr *attrs, tsr_call_in_full *out)
{
    static const tsr_spec absent = {.shape = {.ndim = -1}};
    tsr_schema *s = &out->schema;

    s->op = c->entry->op;
    s->n_in = c->why ? c->n_given : c->n_in;
    s->n_out = c->n_out;
    memcpy(s->attrs.value, attrs, (size_t)c->entry->n_attrs * sizeof *attrs);
    for (int k = 0; k < s->n_in; k++)
        s->in[k] = k < c->n_given && c->given[k] ? *c->given[k] : absent;
    for (int k = 0; k < c->n_in; k++)
        out->in[k] = c->in[k] ? c->in[k]->spec : absent;
    for (int k = 0; k < c->n_out; k++) {
        out->out[k] = c->out[k] ? c->out[k]->spec : absent;
        s->out_dtype[k] = (tsr_dtype)c->out_dtype[k];
        s->out_shape[k] = out->out[k].shape;
    }
}

void tsr__cached_calls_free(tsr_ctx *ctx)
{
    tsr__cache_clear(&ctx->caches, &ctx->calls);
}
