/* SPDX-License-Identifier: Apache-2.0 */
/* propagate.c - finds the plan of a call: the cache, else schema check, rules, search. */
#include "propagate/propagate.h"

enum { BUCKETS = 512 };

struct tsr_plan_cache {
    tsr_plan *bucket[BUCKETS];
};

/* A mean divides by the number of elements that the whole result stands for. */
static int64_t divisor_of(const tsr_schema *s)
{
    int64_t in = tsr_shape_count(&s->in[0].shape), out = tsr_shape_count(&s->out_shape[0]);
    return out > 0 && in > 0 ? in / out : 1;
}

/* Placements along mesh dims of one rank make no difference. */
static bool holds_the_same(const tsr_spec *a, const tsr_spec *b)
{
    for (int m = 0; m < a->mesh.ndim; m++)
        if (a->mesh.size[m] > 1 && !tsr__placement_equal(&a->place[m], &b->place[m]))
            return false;
    return true;
}

tsr_status tsr__propagate_once(tsr_heap *heap, const tsr_schema *call, const tsr_cost *cost,
                               const tsr_placement *want, tsr_plan *out, tsr_error *err)
{
    tsr_rules rules = {.heap = heap};
    tsr_question q = {.schema = &out->schema, .rules = &rules, .cost = cost, .want = want};
    tsr_status st;

    out->schema = *call;
    out->cost = *cost;
    TSR_TRY(tsr__schema_check(&out->schema, err));
    TSR_TRY(tsr__rules_make(&out->schema, &rules, err));
    TSR_TRY(tsr__strategy_search(heap, &q, &out->strategy, err));
    for (int k = 0; k < out->schema.n_in; k++)
        out->stays[k] = !tsr__schema_has(&out->schema, k) ||
                        holds_the_same(&out->schema.in[k], &out->strategy.in[k]);
    out->divisor = divisor_of(&out->schema);
done:
    tsr__rules_free(&rules);
    return st;
}

static bool is_plan_of(const tsr_plan *p, const tsr_plan_key *key)
{
    if (p->hash != key->hash || p->schema.op != key->op || p->schema.n_in != key->n_in ||
        !tsr__attrs_equal(&p->schema.attrs, key->attrs))
        return false;
    for (int k = 0; k < key->n_in; k++) {
        if (tsr__schema_has(&p->schema, k) != (key->in[k] != NULL))
            return false;
        if (key->in[k] && !tsr_spec_equal(&p->schema.in[k], key->in[k]))
            return false;
    }
    return true;
}

static tsr_schema schema_of(const tsr_plan_key *key)
{
    tsr_schema s = {.op = key->op, .n_in = key->n_in, .n_out = 1, .attrs = *key->attrs};

    for (int k = 0; k < key->n_in; k++) {
        if (key->in[k])
            s.in[k] = *key->in[k];
        else
            s.in[k].shape.ndim = -1;
    }
    return s;
}

tsr_status tsr__propagate(tsr_heap *heap, tsr_plan_cache **cache, const tsr_plan_key *key,
                          const tsr_cost *cost, tsr_counters *counters, tsr_plan **out,
                          tsr_error *err)
{
    tsr_plan *plan = NULL, **bucket;
    tsr_schema call;
    tsr_status st = TSR_OK;

    if (!*cache)
        TSR_TRY(tsr__alloc(heap, 1, sizeof **cache, cache, err));
    bucket = &(*cache)->bucket[key->hash % BUCKETS];
    for (plan = *bucket; plan; plan = plan->next)
        if (is_plan_of(plan, key) && tsr__cost_equal(&plan->cost, cost)) {
            counters->plan_hits++;
            *out = plan;
            return TSR_OK;
        }
    counters->plan_misses++;
    TSR_TRY(tsr__alloc(heap, 1, sizeof *plan, &plan, err));
    call = schema_of(key);
    plan->hash = key->hash;
    st = tsr__propagate_once(heap, &call, cost, NULL, plan, &plan->why);
    if (st == TSR_ERR_MEMORY) { /* not a property of the call */
        tsr__fail(err, st, "%s", plan->why.text);
        tsr__free(heap, plan);
        return st;
    }
    plan->next = *bucket;
    *bucket = plan;
    *out = plan;
    st = TSR_OK;
done:
    return st;
}

void tsr__plan_cache_free(tsr_heap *heap, tsr_plan_cache *cache)
{
    for (int i = 0; cache && i < BUCKETS; i++)
        while (cache->bucket[i]) {
            tsr_plan *p = cache->bucket[i];
            cache->bucket[i] = p->next;
            tsr__free(heap, p->local);
            tsr__free(heap, p);
        }
    tsr__free(heap, cache);
}
