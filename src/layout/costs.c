/* SPDX-License-Identifier: Apache-2.0 */
/* costs.c - one source to many targets, costs only: one pass over the space answers them all. For
   the search over strategies, which asks this for every input. */
#include <math.h>

#include "layout/plan.h"
#include "layout/search.h"

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

static double to_partial_seconds(const tsr_space *space, const tsr_placement *to,
                                 const tsr_state *goal)
{
    tsr_move move = {.kind = TSR_STEP_TO_PARTIAL, .group = 1};

    for (int k = 0; k < space->n_mdims; k++)
        if (to[space->mdim[k]].kind == TSR_PARTIAL && goal->code[k] == TSR_STATE_R)
            move.key |= 1u << space->mdim[k];
    if (!move.key)
        return 0;
    move.after = tsr__space_bytes(space, goal);
    return tsr__move_seconds(space->cost, &move);
}

/* The cheapest of the collectives, already found, and the exchange from where it may start. */
static double best_seconds(const tsr_search *s, const tsr_state *fresh, int n_fresh,
                           const tsr_state *goal)
{
    int node = tsr__search_find(s, goal);
    double best = node < 0 ? INFINITY : s->node[node].seconds;
    double part = node < 0 ? tsr__space_bytes(s->space, goal) : s->node[node].part;

    for (int i = 0; i < n_fresh; i++) {
        int changed = 0, from = tsr__search_find(s, &fresh[i]);
        for (int k = 0; k < s->space->n_mdims; k++)
            changed += fresh[i].code[k] != goal->code[k];
        if (from < 0 || changed < 2 || s->node[from].seconds >= best)
            continue;
        tsr_move move = tsr__space_exchange(s->space, &fresh[i], goal, s->node[from].part, part);
        double seconds = s->node[from].seconds + tsr__move_seconds(s->space->cost, &move);
        best = move.bytes > 0 && seconds < best ? seconds : best;
    }
    return best;
}

/* The chosen targets, which all keep the same partial dims, in one pass. False: the space is too
   large for that. */
static bool costs_together(const tsr_spec *from, const tsr_placement (*to)[TSR_MAX_MESH], int n,
                           const bool *chosen, const bool *kept, const tsr_cost *cost,
                           double *seconds)
{
    tsr_search_small small;
    tsr_heap heap = {0};
    tsr_state fresh[64];
    tsr_space space;
    tsr_search s;
    int n_fresh;
    bool complete;

    tsr__space_open(&space, from, kept, cost, 0);
    for (int i = 0; i < n; i++)
        if (chosen[i] && !tsr__space_admit(&space, to[i]))
            return false;
    if (!tsr__search_possible(&space))
        return false;
    tsr__search_open_small(&s, &small, &(tsr_search){.space = &space});
    tsr__search_run(&s);
    if (s.overflow) {
        if (tsr__search_open_large(&s, &(tsr_search){.space = &space}, &heap, NULL) != TSR_OK)
            return false;
        tsr__search_run(&s);
    }
    complete = !s.overflow;
    n_fresh = cost->collectives_only ? 0 : tsr__search_fresh(&space, fresh, 64);
    for (int i = 0; i < n && complete; i++)
        if (chosen[i]) {
            tsr_state goal = tsr__space_state(&space, to[i]);
            seconds[i] =
                best_seconds(&s, fresh, n_fresh, &goal) + to_partial_seconds(&space, to[i], &goal);
        }
    if (s.node != small.node)
        tsr__search_close_large(&s, &heap);
    return complete;
}

static tsr_status costs_one_by_one(const tsr_spec *from, const tsr_placement *to,
                                   const tsr_cost *cost, double *seconds, tsr_error *err)
{
    tsr_spec target = *from;
    tsr_redist *plan = NULL;
    tsr_status st;

    for (int m = 0; m < from->mesh.ndim; m++)
        target.place[m] = to[m];
    TSR_TRY(tsr_redist_plan(from, &target, cost, 0, TSR_RIVAL_BEST, &plan, err));
    *seconds = plan->seconds;
done:
    tsr_redist_free(plan);
    return st;
}

static unsigned mask_of(const tsr_spec *from, const tsr_placement *to, bool *kept)
{
    unsigned mask = 0;

    tsr__space_kept(from, to, kept);
    for (int m = 0; m < from->mesh.ndim; m++)
        mask |= (unsigned)kept[m] << m;
    return mask;
}

/* Up to COSTS_CHUNK targets: grouped by the partial dims that they keep, a pass for each group. */
enum { COSTS_CHUNK = 256 };

static tsr_status costs_chunk(const tsr_spec *from, const tsr_placement (*to)[TSR_MAX_MESH], int n,
                              const tsr_cost *cost, double *seconds, tsr_error *err)
{
    unsigned group[COSTS_CHUNK];
    bool open[COSTS_CHUNK], chosen[COSTS_CHUNK], kept[TSR_MAX_MESH];
    tsr_status st = TSR_OK;

    for (int i = 0; i < n; i++) {
        group[i] = mask_of(from, to[i], kept);
        open[i] = implicit(from, to[i], kept);
        seconds[i] = INFINITY;
    }
    for (int i = 0; i < n; i++) {
        if (!open[i])
            continue;
        for (int j = 0; j < n; j++) {
            chosen[j] = open[j] && group[j] == group[i];
            open[j] = open[j] && !chosen[j];
        }
        mask_of(from, to[i], kept);
        if (costs_together(from, to, n, chosen, kept, cost, seconds))
            continue;
        for (int j = 0; j < n; j++)
            if (chosen[j])
                TSR_TRY(costs_one_by_one(from, to[j], cost, &seconds[j], err));
    }
done:
    return st;
}

tsr_status tsr_redist_costs(const tsr_spec *from, const tsr_placement (*to)[TSR_MAX_MESH], int n,
                            const tsr_cost *cost, double *seconds, tsr_error *err)
{
    tsr_cost usual = tsr__cost_default();
    tsr_status st;

    TSR_TRY(tsr_spec_check(from, err));
    for (int i = 0; i < n; i++)
        TSR_TRY(tsr__placements_check(from, to[i], err));
    for (int i = 0; i < n; i += COSTS_CHUNK)
        TSR_TRY(costs_chunk(from, to + i, n - i < COSTS_CHUNK ? n - i : COSTS_CHUNK,
                            cost ? cost : &usual, seconds + i, err));
done:
    return st;
}
