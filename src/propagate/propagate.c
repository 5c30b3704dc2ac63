/* SPDX-License-Identifier: Apache-2.0 */
/* propagate.c - makes the op plan of a call: schema check, rules, search. */
#include "propagate/propagate.h"

#include <string.h>

/* Placements along mesh dims of one rank make no difference. */
static bool holds_the_same(const tsr_spec *a, const tsr_spec *b)
{
    for (int m = 0; m < a->mesh.ndim; m++)
        if (a->mesh.size[m] > 1 && !tsr__placement_equal(&a->place[m], &b->place[m]))
            return false;
    return true;
}

tsr_status tsr__op_plan_strategy(tsr_heap *heap, const tsr_schema *schema, const tsr_cost *cost,
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

static tsr_status make_op_plan(tsr_heap *heap, const tsr_op_plan_key *key, tsr_op_plan_full *plan,
                               tsr_error *err)
{
    tsr_schema *s = &plan->schema;
    tsr_status st;

    TSR_TRY(tsr__schema_check(s, err));
    TSR_TRY(tsr__op_plan_strategy(heap, s, key->cost, key->want, false, &plan->strategy, err));
    for (int k = 0; k < s->n_in; k++)
        if (!tsr__schema_has(s, k) || holds_the_same(&s->in[k], &plan->strategy.in[k]))
            plan->stays |= 1u << k;
    for (int k = 0; k < s->op->inplace; k++)
        if ((plan->stays >> k & 1) && holds_the_same(&s->in[k], &plan->strategy.out[k]))
            plan->direct |= 1u << k;
done:
    return st;
}

static void set_call(const tsr_op_plan_key *key, tsr_schema *s)
{
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
}

tsr_status tsr__propagate(tsr_heap *heap, const tsr_op_plan_key *key, tsr_op_plan_full *plan,
                          tsr_error *err)
{
    tsr_status st;

    memset(plan, 0, sizeof *plan);
    set_call(key, &plan->schema);
    st = make_op_plan(heap, key, plan, &plan->why);
    if (st != TSR_OK) /* a row's function may have left it at that */
        tsr__fail(&plan->why, st, "%s: its rules failed: %s", key->entry->op->name,
                  tsr_status_text(st));
    if (st == TSR_ERR_MEMORY) /* not a property of the call */
        return tsr__fail(err, st, "%s", plan->why.text);
    return TSR_OK;
}
