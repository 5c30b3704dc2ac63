/* SPDX-License-Identifier: Apache-2.0 */
/* redist_plan.c - the cheapest plan between two specs: sets up the space, searches, and turns the
   winning path into steps. What the moves are: space.h. What a step brings exactly:
   redist_bytes.c. */
#include "layout/redist_plan.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/args.h"
#include "layout/search.h"

/* ---- steps ---- */

static tsr_status add_step(tsr_redist *plan, const tsr_redist_plan_step *step, tsr_error *err)
{
    tsr_status st;

    /* slices in a row are one copy */
    if (plan->n_steps > 0 && step->kind == TSR_STEP_SLICE &&
        plan->step[plan->n_steps - 1].kind == TSR_STEP_SLICE) {
        tsr_redist_plan_step *last = &plan->step[plan->n_steps - 1];
        last->to = step->to;
        last->mdims |= step->mdims;
        last->seconds += step->seconds;
        last->bytes += step->bytes;
        return TSR_OK;
    }
    TSR_TRY(tsr__grow(plan->heap, &plan->step, &plan->cap, plan->n_steps, sizeof *plan->step, err));
    plan->step[plan->n_steps++] = *step;
done:
    return st;
}

/* What the reduction over these mesh dims is: averages are sums with a divisor. */
static void set_reduction(tsr_redist_plan_step *step)
{
    step->divisor = 1;
    for (int m = 0; m < step->from.mesh.ndim; m++) {
        if (!(step->mdims >> m & 1))
            continue;
        step->op = step->from.reduce[m];
        if (step->op == TSR_AVG) {
            step->op = TSR_SUM;
            step->divisor *= step->from.mesh.size[m];
        }
    }
}

/* The path from the source to `node`, as steps. */
static tsr_status add_path(tsr_redist *plan, const tsr_search *s, int node, tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (int n = s->node[node].steps - 1; n >= 0; n--) {
        int at = node;
        for (int i = 0; i < n; i++)
            at = s->node[at].parent;
        const tsr_node *to = &s->node[at], *from = &s->node[to->parent];
        tsr_redist_plan_step step = {.kind = (tsr_step_kind)to->kind,
                                     .mdims = to->mdims,
                                     .seconds = to->seconds - from->seconds,
                                     .bytes = to->bytes - from->bytes};
        step.from = tsr__space_layout(s->space, &from->state);
        step.to = tsr__space_layout(s->space, &to->state);
        set_reduction(&step);
        TSR_TRY(add_step(plan, &step, err));
    }
done:
    return st;
}

/* R -> P where the target is partial and the source did not keep it. */
static tsr_status add_to_partial(tsr_redist *plan, const tsr_cost *cost, const tsr_layout *now,
                                 tsr_error *err)
{
    tsr_redist_plan_step step = {.kind = TSR_STEP_TO_PARTIAL, .from = *now, .to = *now};
    tsr_move move = {.kind = TSR_STEP_TO_PARTIAL, .group = 1, .after = 0};

    for (int m = 0; m < plan->to.mesh.ndim; m++)
        if (plan->to.place[m].kind == TSR_PARTIAL && plan->to.mesh.size[m] > 1 &&
            !now->partial[m]) {
            step.mdims |= 1u << m;
            step.to.partial[m] = true;
            step.to.reduce[m] = plan->to.place[m].reduce;
        }
    if (!step.mdims)
        return TSR_OK;
    move.after = (double)tsr__layout_bytes(now);
    move.key = step.mdims;
    step.seconds = tsr__move_seconds(cost, &move);
    step.bytes = tsr__move_bytes(&move);
    return add_step(plan, &step, err);
}

static tsr_status no_plan(const tsr_redist *plan, size_t limit, tsr_error *err)
{
    char from[TSR_TEXT_LEN], to[TSR_TEXT_LEN];
    tsr_layout a = tsr__layout_of(&plan->from), b = tsr__layout_of(&plan->to);

    return tsr__fail(
        err, TSR_ERR_LIMIT,
        "redistributing %s to %s needs %zu bytes on a rank for input and output alone; "
        "no plan stays within the limit of %zu",
        tsr_spec_text(&plan->from, from, sizeof from),
        tsr_placements_text(&plan->to, to, sizeof to),
        tsr__layout_bytes(&a) + tsr__layout_bytes(&b), limit);
}

/* ---- on one mesh ---- */

/* Search with the small memory, if that is not enough with the large one, and if even that is not
   enough (seven mesh dims and more) narrowly. The caller closes. */
static tsr_status run_search(tsr_redist *plan, tsr_search *s, tsr_search_small *small,
                             const tsr_search *ask, tsr_error *err)
{
    tsr_search how = *ask;
    tsr_status st = TSR_OK;

    how.narrow = ask->narrow || !tsr__search_possible(ask->space);
    tsr__search_open_small(s, small, &how);
    tsr__search_run(s);
    if (s->overflow) {
        TSR_TRY(tsr__search_open_large(s, &how, plan->heap, err));
        tsr__search_run(s);
    }
    if (s->overflow) {
        how.narrow = true;
        tsr__search_close_large(s, plan->heap);
        TSR_TRY(tsr__search_open_large(s, &how, plan->heap, err));
        tsr__search_run(s);
    }
done:
    return st;
}

/* The time to the goal, infinite if there is no way; with `add` also the steps. */
static tsr_status search(tsr_redist *plan, bool add, const tsr_search *ask, double *seconds,
                         tsr_error *err)
{
    tsr_search_small small;
    tsr_search s = {.node = small.node};
    int node;
    tsr_status st;

    TSR_TRY(run_search(plan, &s, &small, ask, err));
    node = tsr__search_find(&s, ask->goal);
    *seconds = node < 0 ? INFINITY : s.node[node].seconds;
    if (add && isinf(*seconds))
        TSR_TRY(no_plan(plan, ask->space->memory_limit, err));
    if (add)
        TSR_TRY(add_path(plan, &s, node, err));
done:
    if (s.node != small.node)
        tsr__search_close_large(&s, plan->heap);
    return st;
}

static tsr_status plan_search(tsr_redist *plan, tsr_space *space, const tsr_state *goal,
                              bool exchange, tsr_error *err)
{
    double seconds;

    return search(plan, true, &(tsr_search){.space = space, .goal = goal, .exchange = exchange},
                  &seconds, err);
}

/* The exchange from a state where it may start to the target's layout, on the same mesh (then
   `goal` is its state) or on another one (NULL). */
static tsr_redist_plan_step exchange_step(const tsr_redist *plan, const tsr_space *space,
                                          const tsr_state *start, const tsr_state *goal,
                                          const tsr_layout *to)
{
    tsr_redist_plan_step step = {.kind = TSR_STEP_EXCHANGE, .divisor = 1, .to = *to};
    tsr_move move = {.kind = TSR_STEP_EXCHANGE, .peers = 1, .mdims = ~0u};

    step.from = tsr__space_layout(space, start);
    if (goal)
        move = tsr__space_exchange(space, start, goal, tsr__space_bytes(space, start),
                                   tsr__space_bytes(space, goal));
    else
        move.bytes = (double)tsr__step_bytes_max(&step);
    step.mdims = move.mdims & ((1u << plan->from.mesh.ndim) - 1);
    step.seconds = tsr__move_seconds(space->cost, &move);
    step.bytes = tsr__move_bytes(&move);
    return step;
}

/* Does the exchange from `start` stay within the limit? */
static bool exchange_allowed(const tsr_space *space, const tsr_state *start,
                             const tsr_redist_plan_step *step)
{
    double memory = space->source_part + (double)tsr__layout_bytes(&step->to);

    if (!tsr__state_equal(start, &space->source))
        memory += tsr__space_part(space, start);
    return !space->memory_limit || memory <= (double)space->memory_limit;
}

/* The exchange as early as possible: of the states where it may start, the one with the cheapest
   sum of getting there and the exchange. */
static tsr_status plan_exchange(tsr_redist *plan, tsr_space *space, const tsr_state *goal,
                                const tsr_layout *to, tsr_error *err)
{
    tsr_state fresh[64];
    int n = tsr__search_fresh(space, fresh, 64), best = -1;
    double best_seconds = INFINITY, seconds;
    tsr_redist_plan_step winner = {.divisor = 1};
    bool needed = false;
    tsr_status st = TSR_OK;

    for (int i = 0; i < n; i++) {
        tsr_redist_plan_step step = exchange_step(plan, space, &fresh[i], goal, to);
        bool move = !goal || !tsr__state_equal(&fresh[i], goal);
        TSR_TRY(search(plan, false,
                       &(tsr_search){.space = space, .goal = &fresh[i], .narrow = true}, &seconds,
                       err));
        seconds += move ? step.seconds : 0;
        if (seconds < best_seconds && (!move || exchange_allowed(space, &fresh[i], &step))) {
            best_seconds = seconds;
            best = i;
            winner = step;
            needed = move;
        }
    }
    if (best < 0)
        TSR_TRY(no_plan(plan, space->memory_limit, err));
    TSR_TRY(search(plan, true, &(tsr_search){.space = space, .goal = &fresh[best], .narrow = true},
                   &seconds, err));
    if (needed)
        TSR_TRY(add_step(plan, &winner, err));
done:
    return st;
}

/* Everything to every rank, then cut: what a library without a planner would do. */
static tsr_status plan_replicate(tsr_redist *plan, tsr_space *space, const tsr_state *goal,
                                 tsr_error *err)
{
    tsr_state whole = space->source;
    tsr_space back = *space;
    tsr_status st;

    for (int k = 0; k < space->n_mdims; k++)
        if (whole.code[k] != TSR_STATE_KEPT)
            whole.code[k] = TSR_STATE_R;
    TSR_TRY(plan_search(plan, space, &whole, false, err));
    back.source = whole;
    back.source_part = tsr__space_part(space, &whole);
    TSR_TRY(plan_search(plan, &back, goal, false, err));
done:
    return st;
}

static tsr_status plan_same_mesh(tsr_redist *plan, const tsr_cost *cost, size_t limit,
                                 tsr_redist_rival rival, tsr_error *err)
{
    bool kept[TSR_MAX_MESH];
    tsr_space space;
    tsr_state goal;
    tsr_layout there;
    tsr_status st;

    tsr__space_kept(&plan->from, plan->to.place, kept);
    tsr__space_open(&space, &plan->from, kept, cost, limit);
    tsr__space_admit(&space, plan->to.place);
    goal = tsr__space_state(&space, plan->to.place);
    there = tsr__space_layout(&space, &goal);
    if (rival == TSR_RIVAL_EXCHANGE)
        TSR_TRY(plan_exchange(plan, &space, &goal, &there, err));
    else if (rival == TSR_RIVAL_REPLICATE)
        TSR_TRY(plan_replicate(plan, &space, &goal, err));
    else
        TSR_TRY(plan_search(plan, &space, &goal, rival == TSR_RIVAL_BEST && !cost->collectives_only,
                            err));
    TSR_TRY(add_to_partial(plan, cost, &there, err));
done:
    return st;
}

/* ---- onto another mesh: resolve partials here, exchange, make partials there ---- */

static tsr_status plan_across(tsr_redist *plan, const tsr_cost *cost, size_t limit, tsr_error *err)
{
    const bool none[TSR_MAX_MESH] = {false};
    tsr_spec target = plan->to;
    tsr_space space;
    tsr_layout there;
    tsr_status st;

    tsr__space_open(&space, &plan->from, none, cost, limit);
    for (int m = 0; m < target.mesh.ndim; m++) {
        if (target.place[m].kind == TSR_PARTIAL)
            target.place[m] = tsr__replicate();
        else if (target.place[m].kind != TSR_REPLICATE)
            space.dims[target.place[m].dim] = true; /* reductions may scatter along these */
    }
    there = tsr__layout_of(&target);
    TSR_TRY(plan_exchange(plan, &space, NULL, &there, err));
    TSR_TRY(add_to_partial(plan, cost, &there, err));
done:
    return st;
}

/* ---- the plan ---- */

static tsr_status check_pair(const tsr_spec *from, const tsr_spec *to, tsr_error *err)
{
    char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN];
    bool same = from->dtype == to->dtype && from->shape.ndim == to->shape.ndim;
    tsr_status st;

    TSR_TRY(tsr_spec_check(from, err));
    TSR_TRY(tsr_spec_check(to, err));
    for (int d = 0; d < from->shape.ndim && same; d++)
        same = from->shape.size[d] == to->shape.size[d];
    if (!same)
        st = tsr__fail(err, TSR_ERR_SHAPE, "cannot redistribute %s to %s: the tensors differ",
                       tsr_spec_text(from, a, sizeof a), tsr_spec_text(to, b, sizeof b));
done:
    return st;
}

tsr_status tsr__redist_plan_make(tsr_heap *heap, const tsr_spec *from, const tsr_spec *to,
                                 const tsr_cost *cost, size_t memory_limit, tsr_redist_rival rival,
                                 tsr_redist **out, tsr_error *err)
{
    tsr_redist *plan = NULL;
    tsr_status st;

    TSR_TRY(check_pair(from, to, err));
    TSR_TRY(tsr__alloc(heap, 1, sizeof *plan, &plan, err));
    plan->heap = heap;
    plan->from = *from;
    plan->to = *to;
    if (tsr__mesh_equal(&from->mesh, &to->mesh))
        TSR_TRY(plan_same_mesh(plan, cost, memory_limit, rival, err));
    else
        TSR_TRY(plan_across(plan, cost, memory_limit, err));
    for (int i = 0; i < plan->n_steps; i++)
        plan->seconds += plan->step[i].seconds;
    if (memory_limit && plan->n_steps > 0 && tsr__redist_plan_peak(plan) > memory_limit)
        TSR_TRY(no_plan(plan, memory_limit, err));
    *out = plan;
    plan = NULL;
done:
    tsr_redist_free(plan);
    return st;
}

tsr_status tsr_redist_plan(const tsr_spec *from, const tsr_spec *to, const tsr_cost *cost,
                           size_t memory_limit, tsr_redist_rival rival, tsr_redist **out,
                           tsr_error *err)
{
    TSR_NEED(TSR_ERR_ARG, err, from, to, out);

    tsr_heap heap = {0};
    tsr_cost usual;
    tsr_status st;

    TSR_TRY(tsr__cost_given("tsr_redist_plan", cost, &usual, &cost, err));
    TSR_TRY(tsr__redist_plan_make(&heap, from, to, cost, memory_limit, rival, out, err));
    (*out)->own = heap;
    (*out)->heap = &(*out)->own;
done:
    return st;
}

void tsr_redist_free(tsr_redist *plan)
{
    tsr_heap own, *heap;

    if (!plan)
        return;
    own = plan->own; /* the plan may hold the heap that it is freed from */
    heap = plan->heap == &plan->own ? &own : plan->heap;
    tsr__free(heap, plan->step);
    tsr__free(heap, plan);
}
