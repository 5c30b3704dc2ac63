/* SPDX-License-Identifier: Apache-2.0 */
/* propagate.c - makes the plan of a call: schema check, rules, search. */
#include "propagate/propagate.h"

#include "layout/cost.h"

/* Placements along mesh dims of one rank make no difference. */
static bool holds_the_same(const tsr_spec *a, const tsr_spec *b)
{
    for (int m = 0; m < a->mesh.ndim; m++)
        if (a->mesh.size[m] > 1 && !tsr__placement_equal(&a->place[m], &b->place[m]))
            return false;
    return true;
}

tsr_status tsr__plan_strategy(tsr_heap *heap, const tsr_schema *schema, const tsr_cost *cost,
                              const tsr_placement *want, bool exhaustive, tsr_strategy *out,
                              tsr_error *err)
{
    const tsr_schema effective = tsr__schema_effective(schema);
    tsr_rules rules = {.heap = heap};
    tsr_search_problem q = {.schema = &effective, .rules = &rules, .cost = cost, .want = want};
    tsr_status st;

    TSR_TRY(tsr__rules_make(&effective, &rules, err));
    TSR_TRY((exhaustive ? tsr__strategy_enumerate : tsr__strategy_search)(heap, &q, out, err));
done:
    tsr__rules_free(&rules);
    return st;
}

static tsr_status make_plan(tsr_heap *heap, tsr_plan *plan, tsr_error *err)
{
    tsr_schema *s = &plan->schema;
    tsr_status st;

    TSR_TRY(tsr__schema_check(s, err));
    TSR_TRY(tsr__plan_strategy(heap, s, &plan->cost, plan->key.want, false, &plan->strategy, err));
    plan->all_stay = true;
    for (int k = 0; k < s->n_in; k++) {
        plan->stays[k] = !tsr__schema_has(s, k) || holds_the_same(&s->in[k], &plan->strategy.in[k]);
        plan->all_stay = plan->all_stay && plan->stays[k];
    }
    for (int k = 0; k < s->op->inplace; k++)
        plan->direct[k] = plan->stays[k] && holds_the_same(&s->in[k], &plan->strategy.out[k]);
done:
    return st;
}

static bool wants_equal(const tsr_plan *p, const tsr_plan_key *key)
{
    if (!p->key.want || !key->want)
        return !p->key.want && !key->want;
    for (int m = 0; m < p->schema.in[0].mesh.ndim; m++)
        if (!tsr__placement_equal(&p->want[m], &key->want[m]))
            return false;
    return true;
}

bool tsr__plan_is_of(tsr_plan *p, const tsr_plan_key *key)
{
    if (p->key.hash != key->hash || p->key.entry != key->entry || p->key.n_in != key->n_in)
        return false;
    for (int k = 0; k < key->n_in; k++)
        if (p->key.in[k] != key->in[k])
            return false;
    if (!tsr__attrs_equal(p->schema.attrs.value, key->attrs, key->entry->n_attrs,
                          key->entry->numbers) ||
        !wants_equal(p, key))
        return false;
    if (p->key.cost_version != key->cost_version) {
        if (!tsr__cost_equal(&p->cost, key->cost))
            return false;
        p->key.cost_version = key->cost_version; /* known as equal from now on */
    }
    return true;
}

static void set_call(tsr_plan *plan, const tsr_plan_key *key)
{
    tsr_schema *s = &plan->schema;

    plan->cached.hash = key->hash;
    plan->key = *key;
    plan->cost = *key->cost;
    s->op = key->entry->op;
    s->n_in = key->n_in;
    for (int i = 0; i < key->entry->n_attrs; i++)
        s->attrs.value[i] = key->attrs[i];
    for (int k = 0; k < key->n_in; k++) {
        if (key->in[k])
            s->in[k] = *key->in[k];
        else
            s->in[k].shape.ndim = -1;
    }
    plan->key.attrs = s->attrs.value;
    plan->key.cost = &plan->cost;
    for (int m = 0; key->want && m < s->in[0].mesh.ndim; m++)
        plan->want[m] = key->want[m];
    plan->key.want = key->want ? plan->want : NULL;
}

tsr_status tsr__propagate(tsr_heap *heap, const tsr_plan_key *key, tsr_plan **out, tsr_error *err)
{
    tsr_plan *plan = NULL;
    tsr_status st;

    TSR_TRY(tsr__alloc(heap, 1, sizeof *plan, &plan, err));
    set_call(plan, key);
    st = make_plan(heap, plan, &plan->why);
    if (st != TSR_OK) /* a row's function may have left it at that */
        tsr__fail(&plan->why, st, "%s: its rules failed: %s", key->entry->op->name,
                  tsr_status_text(st));
    if (st == TSR_ERR_MEMORY) { /* not a property of the call */
        tsr__fail(err, st, "%s", plan->why.text);
        tsr__free(heap, plan);
        return st;
    }
    *out = plan;
    st = TSR_OK;
done:
    return st;
}
