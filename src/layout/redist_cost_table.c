/* SPDX-License-Identifier: Apache-2.0 */
/* redist_cost_table.c - costs of one source to many targets: passes over the space, made when the
   first target needs them. Also tsr_redist_costs. */
#include "layout/redist_cost_table.h"

#include <math.h>
#include <string.h>

#include "base/args.h"
#include "layout/redist_plan.h"

static const tsr_price IMPOSSIBLE = {.seconds = INFINITY};

/* Only what an operation may do without being asked: partial stays partial of the same kind, or is
   resolved; R may become partial; never S -> P, nor P -> other P. */
static bool implicit(const tsr_spec *from, const tsr_placement *to, const bool *kept)
{
    for (int m = 0; m < from->mesh.ndim; m++)
        if (to[m].kind == TSR_PARTIAL && from->mesh.size[m] > 1 &&
            from->place[m].kind != TSR_REPLICATE && !kept[m])
            return false;
    return true;
}

static void add(tsr_price *price, double seconds, double bytes)
{
    price->seconds += seconds;
    price->bytes += bytes;
    price->steps++;
}

/* ---- passes ---- */

/* Another pass wants the scratch: keep what the last one found, which is much less. Freshly got
   memory costs more than the search itself. */
static tsr_status leave_scratch(tsr_redist_cost_table *p, tsr_error *err)
{
    tsr_node *node = NULL;
    uint16_t *slot = NULL;
    tsr_search *s;
    tsr_status st;

    if (!p->in_scratch)
        return TSR_OK;
    s = &p->in_scratch->search;
    TSR_TRY(tsr__alloc(p->heap, s->n_nodes, sizeof *node, &node, err));
    TSR_TRY(tsr__alloc(p->heap, s->n_slots, sizeof *slot, &slot, err));
    s->node = memcpy(node, s->node, (size_t)s->n_nodes * sizeof *node);
    s->slot = memcpy(slot, s->slot, (size_t)s->n_slots * sizeof *slot);
    s->queue = NULL;
    p->in_scratch = NULL;
    return TSR_OK;
done:
    tsr__free(p->heap, node);
    return st;
}

static bool run_pass(tsr_redist_cost_table *p, tsr_pass *pass, const bool *kept)
{
    tsr_space *space = &pass->space;
    tsr_search ask = {.space = space};

    tsr__space_open(space, p->from, kept, p->cost, 0);
    for (int i = 0; i < p->n_admitted; i++)
        if (!tsr__space_admit(space, p->admitted[i]))
            return false;
    if (!tsr__search_possible(space))
        return false;
    tsr__search_open_small(&pass->search, &p->scratch, &ask);
    tsr__search_run(&pass->search);
    p->in_scratch = pass->search.overflow ? NULL : pass;
    if (!p->in_scratch) {
        if (tsr__search_open_large(&pass->search, &ask, p->heap, NULL) != TSR_OK)
            return false;
        tsr__search_run(&pass->search);
    }
    pass->n_fresh =
        p->cost->collectives_only ? 0 : tsr__search_fresh(space, pass->fresh, TSR_FRESH);
    return !pass->search.overflow;
}

static tsr_status find_pass(tsr_redist_cost_table *p, const bool *kept, tsr_pass **out,
                            tsr_error *err)
{
    unsigned mask = 0;
    tsr_pass *pass;
    tsr_status st = TSR_OK;

    for (int m = 0; m < p->from->mesh.ndim; m++)
        mask |= (unsigned)kept[m] << m;
    for (pass = p->passes; pass && pass->kept != mask; pass = pass->next)
        ;
    if (!pass) {
        TSR_TRY(leave_scratch(p, err));
        if (p->first_used)
            TSR_TRY(tsr__alloc(p->heap, 1, sizeof *pass, &pass, err));
        else
            pass = &p->first;
        p->first_used = true;
        pass->kept = mask;
        pass->next = p->passes;
        p->passes = pass;
        pass->search = (tsr_search){0}; /* nothing to close yet */
        pass->complete = run_pass(p, pass, kept);
    }
    *out = pass;
done:
    return st;
}

void tsr__redist_cost_table_open(tsr_redist_cost_table *p, tsr_heap *heap, const tsr_spec *from,
                                 const tsr_placement (*admitted)[TSR_MAX_MESH], int n,
                                 const tsr_cost *cost)
{
    p->heap = heap;
    p->from = from;
    p->cost = cost;
    p->admitted = admitted;
    p->n_admitted = n;
    p->passes = NULL;
    p->first_used = false;
    p->in_scratch = NULL;
}

void tsr__redist_cost_table_close(tsr_redist_cost_table *p)
{
    while (p->passes) {
        tsr_pass *pass = p->passes;
        p->passes = pass->next;
        if (pass != p->in_scratch)
            tsr__search_close_large(&pass->search, p->heap);
        if (pass != &p->first)
            tsr__free(p->heap, pass);
    }
}

/* ---- prices ---- */

/* Does the path to a node pass placements that neither the source nor the goal has? The plan of
   this target alone does not know them. */
static bool is_detour(const tsr_pass *pass, int node, const tsr_state *goal)
{
    const tsr_state *source = &pass->space.source;
    unsigned dims = 0;

    for (int k = 0; k < pass->space.n_mdims; k++) {
        if (tsr__state_sharded(source->code[k]))
            dims |= 1u << tsr__state_dim(source->code[k]);
        if (tsr__state_sharded(goal->code[k]))
            dims |= 1u << tsr__state_dim(goal->code[k]);
    }
    for (; node >= 0; node = pass->search.node[node].parent)
        for (int k = 0; k < pass->space.n_mdims; k++) {
            uint16_t code = pass->search.node[node].state.code[k];
            int variant = tsr__state_variant(code);
            if (!tsr__state_sharded(code))
                continue;
            if (!(dims >> tsr__state_dim(code) & 1))
                return true;
            if (variant && variant != tsr__state_variant(source->code[k]) &&
                variant != tsr__state_variant(goal->code[k]))
                return true;
        }
    return false;
}

static tsr_price price_at(const tsr_node *node)
{
    return (tsr_price){.seconds = node->seconds, .bytes = node->bytes, .steps = node->steps};
}

/* The cheapest of the collectives, already found, and the exchange from where it may start. */
static tsr_price best_price(const tsr_pass *pass, const tsr_state *goal)
{
    const tsr_search *s = &pass->search;
    int node = tsr__search_find(s, goal), last = node;
    double part = node < 0 ? tsr__space_bytes(&pass->space, goal) : s->node[node].part;
    tsr_price best = node < 0 ? IMPOSSIBLE : price_at(&s->node[node]);

    for (int i = 0; i < pass->n_fresh; i++) {
        int changed = 0, from = tsr__search_find(s, &pass->fresh[i]);
        tsr_price path;
        for (int k = 0; k < pass->space.n_mdims; k++)
            changed += pass->fresh[i].code[k] != goal->code[k];
        if (from < 0 || changed < 2 || s->node[from].seconds >= best.seconds)
            continue;
        tsr_move move =
            tsr__space_exchange(&pass->space, &pass->fresh[i], goal, s->node[from].part, part);
        path = price_at(&s->node[from]);
        add(&path, tsr__move_seconds(pass->space.cost, &move), move.bytes);
        if (move.bytes > 0 && tsr__price_less(&path, &best)) {
            best = path;
            last = from;
        }
    }
    best.detour = is_detour(pass, last, goal);
    return best;
}

static void add_to_partial(const tsr_space *space, const tsr_placement *to, const tsr_state *goal,
                           tsr_price *price)
{
    tsr_move move = {.kind = TSR_STEP_TO_PARTIAL, .group = 1};

    for (int k = 0; k < space->n_mdims; k++)
        if (to[space->mdim[k]].kind == TSR_PARTIAL && goal->code[k] == TSR_STATE_R)
            move.key |= 1u << space->mdim[k];
    if (!move.key)
        return;
    move.after = tsr__space_bytes(space, goal);
    add(price, tsr__move_seconds(space->cost, &move), 0);
}

static tsr_status price_of_plan(tsr_redist_cost_table *p, const tsr_placement *to, tsr_price *out,
                                tsr_error *err)
{
    tsr_spec target = *p->from;
    tsr_redist *plan = NULL;
    tsr_status st;

    for (int m = 0; m < target.mesh.ndim; m++)
        target.place[m] = to[m];
    TSR_TRY(
        tsr__redist_plan_make(p->heap, p->from, &target, p->cost, 0, TSR_RIVAL_BEST, &plan, err));
    *out = (tsr_price){.seconds = plan->seconds, .steps = plan->n_steps};
    for (int i = 0; i < plan->n_steps; i++)
        out->bytes += plan->step[i].bytes;
done:
    tsr_redist_free(plan);
    return st;
}

tsr_status tsr__redist_cost_table_get(tsr_redist_cost_table *p, const tsr_placement *to,
                                      tsr_price *out, tsr_error *err)
{
    bool kept[TSR_MAX_MESH];
    tsr_pass *pass;
    tsr_state goal;
    tsr_status st;

    tsr__space_kept(p->from, to, kept);
    *out = IMPOSSIBLE;
    if (!implicit(p->from, to, kept))
        return TSR_OK;
    TSR_TRY(find_pass(p, kept, &pass, err));
    if (!pass->complete)
        return price_of_plan(p, to, out, err);
    goal = tsr__space_state(&pass->space, to);
    *out = best_price(pass, &goal);
    add_to_partial(&pass->space, to, &goal, out);
done:
    return st;
}

tsr_status tsr_redist_costs(const tsr_spec *from, const tsr_placement (*to)[TSR_MAX_MESH], int n,
                            const tsr_cost *cost, double *seconds, tsr_error *err)
{
    TSR_NEED(TSR_ERR_ARG, err, from, to, seconds);

    tsr_cost usual;
    tsr_heap heap = {0};
    tsr_redist_cost_table costs;
    tsr_price price;
    tsr_status st;

    st = tsr__cost_given("tsr_redist_costs", cost, &usual, &cost, err);
    if (st != TSR_OK)
        return st;
    tsr__redist_cost_table_open(&costs, &heap, from, to, n, cost);
    TSR_TRY(tsr_spec_check(from, err));
    for (int i = 0; i < n; i++)
        TSR_TRY(tsr__placements_check(from, to[i], err));
    for (int i = 0; i < n; i++) {
        TSR_TRY(tsr__redist_cost_table_get(&costs, to[i], &price, err));
        seconds[i] = price.seconds;
    }
done:
    tsr__redist_cost_table_close(&costs);
    return st;
}
