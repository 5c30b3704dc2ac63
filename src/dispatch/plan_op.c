/* SPDX-License-Identifier: Apache-2.0 */
/* plan_op.c - the public functions that plan a call without running it. Pure. */
#include <math.h>
#include <string.h>

#include "base/args.h"
#include "layout/cost.h"
#include "op/local_call.h"
#include "op/schema.h"
#include "propagate/propagate.h"

static void set_strategy(const tsr_schema *schema, const tsr_strategy *s, tsr_op_strategy *out)
{
    memset(out, 0, sizeof *out);
    for (int k = 0; k < schema->n_in; k++)
        out->in[k] = s->in[k];
    for (int k = 0; k < schema->n_out; k++)
        out->out[k] = s->out[k];
    out->inputs = s->inputs.seconds;
    out->comm = s->comm.seconds;
    out->pending = s->pending.seconds;
    out->seconds = s->price.seconds;
}

tsr_status tsr_op_plan(const tsr_schema *schema, const tsr_cost *cost, const tsr_placement *want,
                       bool exhaustive, tsr_op_strategy *out, tsr_error *err)
{
    TSR_NEED(TSR_ERR_ARG, err, schema, out);

    tsr_cost usual;
    tsr_heap heap = {0};
    tsr_strategy best;
    tsr_status st;

    if (tsr_op_is_composed(schema->op))
        return tsr__fail(err, TSR_ERR_ARG, "%s is a composite op: it has no plan of its own",
                         schema->op->name);
    TSR_TRY(tsr__cost_given("tsr_op_plan", cost, &usual, &cost, err));
    TSR_TRY(tsr__op_plan_strategy(&heap, schema, cost, want, exhaustive, &best, err));
    set_strategy(schema, &best, out);
done:
    return st;
}

tsr_status tsr_op_price(const tsr_schema *schema, const tsr_cost *cost, const tsr_placement *want,
                        tsr_op_strategy *strategy, tsr_error *err)
{
    TSR_NEED(TSR_ERR_ARG, err, schema, strategy);

    tsr_cost usual;
    tsr_heap heap = {0};
    const tsr_schema effective = tsr__schema_effective(schema);
    tsr_strategy s;
    tsr_search_problem q = {.schema = &effective, .want = want};
    bool feasible;
    tsr_status st;

    if (tsr_op_is_composed(schema->op))
        return tsr__fail(err, TSR_ERR_ARG, "%s is a composite op: it has no cost of its own",
                         schema->op->name);
    TSR_TRY(tsr__cost_given("tsr_op_price", cost, &usual, &q.cost, err));
    for (int k = 0; k < schema->n_in; k++) {
        s.in[k] = schema->in[k];
        memcpy(s.in[k].place, strategy->in[k].place, sizeof s.in[k].place);
        if (tsr__schema_has(schema, k))
            TSR_TRY(tsr__placements_check(&schema->in[k], s.in[k].place, err));
        s.in[k] = tsr__spec_effective(&s.in[k]);
    }
    for (int k = 0; k < schema->n_out; k++) {
        s.out[k] = (tsr_spec){.dtype = schema->out_dtype[k],
                              .shape = schema->out_shape[k],
                              .mesh = schema->in[0].mesh};
        memcpy(s.out[k].place, strategy->out[k].place, sizeof s.out[k].place);
        if (tsr__schema_gives(schema, k))
            TSR_TRY(tsr__placements_check(&s.out[k], s.out[k].place, err));
        s.out[k] = tsr__spec_effective(&s.out[k]);
    }
    s.algorithm = (tsr_algorithm){0};
    feasible = tsr__strategy_decide(&q, &s);
    TSR_TRY(tsr__strategy_price_rest(&heap, &q, &s, err));
    TSR_TRY(tsr__strategy_price_inputs(&heap, &q, &s, err));
    if (!feasible)
        s.price.seconds = INFINITY;
    set_strategy(schema, &s, strategy);
done:
    return st;
}

tsr_status tsr_op_windows(const tsr_schema *schema, const tsr_cost *cost,
                          const tsr_op_strategy *strategy, tsr_windows *out, bool *reverse,
                          tsr_error *err)
{
    TSR_NEED(TSR_ERR_ARG, err, schema, strategy, out, reverse);

    tsr_cost usual;
    tsr_algorithm algorithm;
    tsr_status st = tsr__cost_given("tsr_op_windows", cost, &usual, &cost, err);

    if (st != TSR_OK)
        return st;
    out->n = 0;
    *reverse = false;
    if (tsr_op_is_composed(schema->op))
        return tsr__fail(err, TSR_ERR_ARG,
                         "%s is a composite op: it has no halo windows of its own",
                         schema->op->name);
    algorithm = tsr__op_algorithm(schema, strategy->in, strategy->out, cost);
    if (!schema->op->windows || algorithm.own_run)
        return TSR_OK;
    if (!tsr__windows_feasible(schema, strategy->in, strategy->out))
        return tsr__fail(err, TSR_ERR_ARG, "%s: its halo cannot be fetched under this strategy",
                         schema->op->name);
    *reverse = algorithm.reverse_halo;
    tsr__windows_of(schema, strategy->in, strategy->out, *reverse, out);
    return TSR_OK;
}

tsr_status tsr_window_at(const tsr_op_strategy *strategy, const tsr_windows *windows, int i,
                         int index, tsr_window_range *out, tsr_error *err)
{
    TSR_NEED(TSR_ERR_ARG, err, strategy, windows, out);

    const tsr_spec *anchor = tsr__operand_spec(strategy->in, strategy->out, windows->anchor);
    int coord[TSR_MAX_MESH] = {0};
    tsr_layout by, seen;
    int64_t begin, end;
    int dim;

    if (i < 0 || i >= windows->n)
        return tsr__fail(err, TSR_ERR_ARG, "window %d, but there are %d", i, windows->n);
    if (index < 0 || index >= tsr__mesh_size(&anchor->mesh))
        return tsr__fail(err, TSR_ERR_ARG, "mesh index %d is out of range for a mesh of %d ranks",
                         index, tsr__mesh_size(&anchor->mesh));
    dim = windows->window[i].dim;
    by = tsr__layout_of(anchor);
    seen = tsr__windows_layout(windows, strategy->in, strategy->out, windows->window[i].operand);
    tsr__mesh_coords(&anchor->mesh, index, coord);
    tsr__layout_interval(&seen, dim, coord, &out->begin, &out->end);
    tsr__layout_interval(&by, dim, coord, &begin, &end);
    tsr__window_reach(&seen.dim[dim].window, begin, end, &out->from, &out->to);
    if (windows->window[i].circular) {
        out->from = out->begin;
        out->to = out->end;
    }
    return TSR_OK;
}

tsr_status tsr_op_rules(const tsr_schema *schema, tsr_rule *out, int cap, int *n, tsr_error *err)
{
    TSR_NEED(TSR_ERR_ARG, err, schema, n);
    if (cap > 0)
        TSR_NEED(TSR_ERR_ARG, err, out);

    tsr_heap heap = {0};
    tsr_rules rules = {.heap = &heap};
    tsr_status st;

    TSR_TRY(tsr__rules_make(schema, &rules, err));
    *n = rules.whole ? 1 : rules.n;
    for (int i = 0; i < *n && i < cap; i++)
        out[i] = rules.rule[i];
done:
    tsr__rules_free(&rules);
    return st;
}
