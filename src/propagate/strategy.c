/* SPDX-License-Identifier: Apache-2.0 */
/* strategy.c - what a strategy is worth: its specs, what partial outputs will cost, and the search
   that tries everything. The fast search is strategy_search.c. */
#include "propagate/strategy.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/reduce.h"
#include "layout/redist_plan.h"
#include "op/local_call.h"

static int mesh_ndim(const tsr_search_problem *q)
{
    return q->schema->in[0].mesh.ndim;
}

void tsr__strategy_set(const tsr_search_problem *q, const tsr_rule *const *rule, tsr_strategy *out)
{
    const tsr_schema *s = q->schema;

    for (int k = 0; k < s->n_in; k++)
        out->in[k] = s->in[k];
    for (int k = 0; k < s->n_out; k++)
        out->out[k] =
            (tsr_spec){.dtype = s->out_dtype[k], .shape = s->out_shape[k], .mesh = s->in[0].mesh};
    for (int m = 0; m < mesh_ndim(q); m++) {
        for (int k = 0; k < s->n_in; k++)
            out->in[k].place[m] = rule[m]->in[k].place;
        for (int k = 0; k < s->n_out; k++)
            out->out[k].place[m] = rule[m]->out[k].place;
    }
}

/* Terms of a float sum or product are added where their ranks are: not on every mesh in the same
   order. What only moves is as partial as it was. */
static bool sums_over_ranks(const tsr_schema *s, const tsr_spec *out)
{
    for (int k = 0; k < s->n_out && !s->op->permutes; k++)
        for (int m = 0; m < out[k].mesh.ndim; m++) {
            const tsr_placement *p = &out[k].place[m];

            if (tsr__schema_gives(s, k) && tsr__dtype_is_float(s->out_dtype[k]) &&
                out[k].mesh.size[m] > 1 && p->kind == TSR_PARTIAL && p->reduce != TSR_MAX &&
                p->reduce != TSR_MIN)
                return true;
        }
    return false;
}

static bool is_reproducible(const tsr_search_problem *q, const tsr_strategy *s)
{
    return !sums_over_ranks(q->schema, s->out) &&
           !(q->schema->op->cross_rank_reduction && s->algorithm.own_run);
}

bool tsr__strategy_decide(const tsr_search_problem *q, tsr_strategy *s)
{
    if (!tsr__op_feasible(q->schema, s->in, s->out))
        return false;
    s->algorithm = tsr__op_algorithm(q->schema, s->in, s->out, q->cost);
    return !q->cost->reproducible || is_reproducible(q, s);
}

/* Reduce-scatters over runs of partial dims of one kind, from the last one outwards. Which dim
   takes the shards does not matter for the bytes. */
static void add_resolution(const tsr_search_problem *q, const tsr_spec *out, tsr_price *price)
{
    tsr_layout layout = tsr__layout_of(out);
    tsr_move move = {.kind = TSR_STEP_REDUCE_SCATTER, .group = 1};
    double part = (double)tsr__layout_bytes(&layout);
    const tsr_placement *last = NULL;

    for (int m = out->mesh.ndim - 1; m >= -1; m--) {
        const tsr_placement *p = m < 0 ? NULL : &out->place[m];
        if (p && (p->kind != TSR_PARTIAL || out->mesh.size[m] == 1))
            continue;
        if (move.mdims && (!p || !tsr__reduce_same_kind(p->reduce, last->reduce))) {
            move.before = part;
            part /= move.group;
            move.after = part;
            move.key = tsr__spec_hash(out);
            price->seconds += tsr__move_seconds(q->cost, &move);
            price->bytes += tsr__move_bytes(&move);
            price->steps++;
            move.mdims = 0;
            move.group = 1;
        }
        if (p) {
            move.mdims |= 1u << m;
            move.group *= out->mesh.size[m];
            last = p;
        }
    }
}

/* The placements that output k shall have in the end, NULL: any. */
static const tsr_placement *wanted(const tsr_search_problem *q, int k)
{
    if (k == 0 && q->want)
        return q->want;
    return k < q->schema->op->inplace ? q->schema->in[k].place : NULL;
}

/* What the output's own placements, or the way to those that are wanted, will cost. */
static tsr_status price_output(tsr_heap *heap, const tsr_search_problem *q, const tsr_spec *out,
                               int k, tsr_price *price, tsr_error *err)
{
    const tsr_placement *want = wanted(q, k);
    tsr_spec to = *out;
    tsr_redist *plan = NULL;
    tsr_status st = TSR_OK;

    *price = (tsr_price){0};
    if (!want) {
        if (!q->cost->pending_free)
            add_resolution(q, out, price);
        return TSR_OK;
    }
    for (int m = 0; m < out->mesh.ndim; m++)
        to.place[m] = want[m];
    TSR_TRY(tsr__redist_plan_make(heap, out, &to, q->cost, 0, TSR_RIVAL_BEST, &plan, err));
    *price = (tsr_price){.seconds = plan->seconds, .steps = plan->n_steps};
    for (int i = 0; i < plan->n_steps; i++)
        price->bytes += (double)tsr__step_bytes_max(&plan->step[i]);
done:
    tsr_redist_free(plan);
    return st;
}

tsr_status tsr__strategy_price_rest(tsr_heap *heap, const tsr_search_problem *q, tsr_strategy *s,
                                    tsr_error *err)
{
    const tsr_schema *schema = q->schema;
    const tsr_comm comm = s->algorithm.comm;
    tsr_price one;
    tsr_status st = TSR_OK;

    s->pending = (tsr_price){0};
    s->comm = (tsr_price){.seconds = comm.seconds, .bytes = comm.bytes, .steps = comm.bytes > 0};
    for (int k = 0; k < schema->n_out; k++)
        if (tsr__schema_gives(schema, k)) {
            TSR_TRY(price_output(heap, q, &s->out[k], k, &one, err));
            tsr__price_add(&s->pending, &one);
        }
done:
    return st;
}

tsr_status tsr__strategy_price_input(tsr_heap *heap, const tsr_search_problem *q, int k,
                                     const tsr_placement *to, tsr_price *out, tsr_error *err)
{
    const tsr_spec *from = &q->schema->in[k];
    tsr_redist_cost_table costs;
    tsr_status st;
    int m = 0;

    while (m < from->mesh.ndim &&
           (from->mesh.size[m] == 1 || tsr__placement_equal(&from->place[m], &to[m])))
        m++;
    if (m == from->mesh.ndim) {
        *out = (tsr_price){0};
        return TSR_OK;
    }
    tsr__redist_cost_table_open(&costs, heap, from, (const tsr_placement(*)[TSR_MAX_MESH])to, 1,
                                q->cost);
    st = tsr__redist_cost_table_get(&costs, to, out, err);
    tsr__redist_cost_table_close(&costs);
    return st;
}

tsr_status tsr__strategy_price_inputs(tsr_heap *heap, const tsr_search_problem *q, tsr_strategy *s,
                                      tsr_error *err)
{
    tsr_price one;
    tsr_status st = TSR_OK;

    s->inputs = (tsr_price){0};
    for (int k = 0; k < q->schema->n_in; k++)
        if (tsr__schema_has(q->schema, k)) {
            TSR_TRY(tsr__strategy_price_input(heap, q, k, s->in[k].place, &one, err));
            tsr__price_add(&s->inputs, &one);
        }
    tsr__strategy_price_sum(s);
done:
    return st;
}

void tsr__strategy_price_sum(tsr_strategy *s)
{
    s->price = s->inputs;
    tsr__price_add(&s->price, &s->comm);
    tsr__price_add(&s->price, &s->pending);
}

void tsr__strategy_keep(const tsr_strategy *s, tsr_strategy *best, bool *found)
{
    if (isinf(s->price.seconds) || (*found && !tsr__price_less(&s->price, &best->price)))
        return;
    *best = *s;
    *found = true;
}

tsr_status tsr__strategy_none(const tsr_search_problem *q, tsr_error *err)
{
    char text[4 * TSR_TEXT_LEN];

    return tsr__fail(err, TSR_ERR_SPEC,
                     "%s: no valid sharding strategy for %s (it would need an implicit conversion "
                     "to a partial placement)",
                     q->schema->op->name, tsr_schema_text(q->schema, text, sizeof text));
}

/* ---- the reference ---- */

static tsr_status consider(tsr_heap *heap, const tsr_search_problem *q, const tsr_rule *const *rule,
                           tsr_strategy *best, bool *found, tsr_error *err)
{
    tsr_strategy s;
    tsr_status st = TSR_OK;

    tsr__strategy_set(q, rule, &s);
    if (!tsr__strategy_decide(q, &s))
        return TSR_OK;
    TSR_TRY(tsr__strategy_price_rest(heap, q, &s, err));
    TSR_TRY(tsr__strategy_price_inputs(heap, q, &s, err));
    tsr__strategy_keep(&s, best, found);
done:
    return st;
}

/* Strategies for the whole mesh. */
static tsr_status try_whole(tsr_heap *heap, const tsr_search_problem *q, tsr_strategy *out,
                            bool *found, tsr_error *err)
{
    const tsr_rule *rule[TSR_MAX_MESH];
    int ndim = mesh_ndim(q);
    tsr_status st = TSR_OK;

    for (int i = 0; i < q->rules->n; i += ndim) {
        for (int m = 0; m < ndim; m++)
            rule[m] = &q->rules->rule[i + m];
        TSR_TRY(consider(heap, q, rule, out, found, err));
    }
done:
    return st;
}

/* Every rule on every mesh dim. */
static tsr_status try_combinations(tsr_heap *heap, const tsr_search_problem *q, tsr_strategy *out,
                                   bool *found, tsr_error *err)
{
    const tsr_rule *rule[TSR_MAX_MESH], *first = q->rules->rule;
    int ndim = mesh_ndim(q), m;
    tsr_status st = TSR_OK;

    for (m = 0; m < ndim; m++)
        rule[m] = first;
    do {
        TSR_TRY(consider(heap, q, rule, out, found, err));
        for (m = ndim - 1; m >= 0; m--) {
            /* along a mesh dim of one rank all rules are alike: the first will do */
            if (q->schema->in[0].mesh.size[m] > 1 && ++rule[m] < first + q->rules->n)
                break;
            rule[m] = first;
        }
    } while (m >= 0);
done:
    return st;
}

tsr_status tsr__strategy_enumerate(tsr_heap *heap, const tsr_search_problem *q, tsr_strategy *out,
                                   tsr_error *err)
{
    bool found = false;
    tsr_status st = (q->rules->whole ? try_whole : try_combinations)(heap, q, out, &found, err);

    return st == TSR_OK && !found ? tsr__strategy_none(q, err) : st;
}
