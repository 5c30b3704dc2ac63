/* SPDX-License-Identifier: Apache-2.0 */
/* search.c - shortest paths over the states of a redistribution, and the moves between states
   (listed in space.h). Ties go to fewer bytes, then fewer steps, then the move found first. Called
   by redist_plan.c for one pair and by redist_cost_table.c for one source to all targets. */
#include "layout/search.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"

/* ---- nodes ---- */

static unsigned slot_of(const tsr_search *s, const tsr_state *state)
{
    uint64_t h = tsr__hash_mix(tsr__hash_mix(0, state->word[0]), state->word[1]);
    return (unsigned)(h >> 20) & (unsigned)(s->n_slots - 1);
}

int tsr__search_find(const tsr_search *s, const tsr_state *state)
{
    for (unsigned i = slot_of(s, state); s->slot[i]; i = (i + 1) & (unsigned)(s->n_slots - 1))
        if (tsr__state_equal(&s->node[s->slot[i] - 1].state, state))
            return s->slot[i] - 1;
    return -1;
}

/* The node of a state, made if it is new; -1 when there is no room. */
static int node_of(tsr_search *s, const tsr_state *state)
{
    unsigned i = slot_of(s, state);

    for (; s->slot[i]; i = (i + 1) & (unsigned)(s->n_slots - 1))
        if (tsr__state_equal(&s->node[s->slot[i] - 1].state, state))
            return s->slot[i] - 1;
    if (s->n_nodes == s->cap) {
        s->overflow = true;
        return -1;
    }
    s->node[s->n_nodes] = (tsr_node){.state = *state,
                                     .seconds = INFINITY,
                                     .part = tsr__space_bytes(s->space, state),
                                     .parent = -1};
    s->slot[i] = (uint16_t)(s->n_nodes + 1);
    return s->n_nodes++;
}

/* ---- queue ---- */

static bool before(const tsr_queued *a, const tsr_queued *b)
{
    if (a->seconds != b->seconds)
        return a->seconds < b->seconds;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes;
    return a->steps < b->steps;
}

static void push(tsr_search *s, const tsr_queued *path)
{
    int i = s->n_queue;

    if (i == s->queue_cap) {
        s->overflow = true;
        return;
    }
    s->n_queue++;
    while (i > 0 && before(path, &s->queue[(i - 1) / 2])) {
        s->queue[i] = s->queue[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    s->queue[i] = *path;
}

static int pop(tsr_search *s)
{
    int top = s->queue[0].node, i = 0;
    tsr_queued last = s->queue[--s->n_queue];

    for (;;) {
        int child = 2 * i + 1;
        if (child >= s->n_queue)
            break;
        if (child + 1 < s->n_queue && before(&s->queue[child + 1], &s->queue[child]))
            child++;
        if (!before(&s->queue[child], &last))
            break;
        s->queue[i] = s->queue[child];
        i = child;
    }
    s->queue[i] = last;
    return top;
}

/* ---- moves ---- */

/* Bytes that a rank holds of a node's state. */
static double held(const tsr_search *s, int node)
{
    return s->space->cost->unrounded ? tsr__space_part(s->space, &s->node[node].state)
                                     : s->node[node].part;
}

/* Is this a better path to node `to`? */
static void improve(tsr_search *s, int from, int to, const tsr_move *move)
{
    tsr_node *a = &s->node[from], *b = &s->node[to];
    tsr_queued known = {b->seconds, b->bytes, b->steps, to};
    tsr_queued path = {a->seconds + tsr__move_seconds(s->space->cost, move),
                       a->bytes + tsr__move_bytes(move), a->steps + 1, to};

    if (b->settled || !before(&path, &known))
        return;
    if (s->space->memory_limit &&
        s->space->source_part + (from == 0 ? 0 : held(s, from)) + held(s, to) >
            (double)s->space->memory_limit)
        return;
    b->seconds = path.seconds;
    b->bytes = path.bytes;
    b->steps = path.steps;
    b->parent = from;
    b->kind = (uint8_t)move->kind;
    b->mdims = (uint8_t)move->mdims;
    push(s, &path);
}

static void relax(tsr_search *s, int from, const tsr_state *to, tsr_step_kind kind, unsigned active)
{
    int node = node_of(s, to);
    tsr_move move = {.kind = kind, .group = 1};

    if (node < 0)
        return;
    move.before = s->node[from].part;
    move.after = s->node[node].part;
    move.mdims = tsr__space_mdims(s->space, active);
    for (int k = 0; k < s->space->n_mdims; k++)
        if (active >> k & 1)
            move.group *= s->space->size[k];
    if (s->space->cost->randomise)
        move.key = tsr__space_key(s->space, &s->node[from].state, to);
    improve(s, from, node, &move);
}

/* May active dim k take this code? A strided variant is for one tensor dim only. */
static bool fits(const tsr_search *s, int k, uint16_t code)
{
    int v = code & 15;

    if (v > 0 && s->space->factor_dim[k][v] != tsr__state_dim(code))
        return false;
    return !s->narrow || code == s->goal->code[k];
}

/* Append active dim k to the list of every tensor dim, in every variant that fits. */
static void append_everywhere(tsr_search *s, int from, const tsr_state *state,
                              const tsr_lists *lists, int k, tsr_step_kind kind)
{
    for (int d = 0; d < s->space->from->shape.ndim; d++) {
        if (!s->space->dims[d])
            continue;
        for (int v = 0; v < s->space->n_variants[k]; v++) {
            tsr_state to = *state;
            to.code[k] = (uint16_t)(TSR_STATE_SHARD | d << 8 | lists->n[d] << 4 | v);
            if (fits(s, k, to.code[k]) && !tsr__state_equal(&to, &s->node[from].state))
                relax(s, from, &to, kind, 1u << k);
        }
    }
}

/* Reduce-scatter over the dims in `run`: each goes to the end of some list, in any order. */
static void scatter(tsr_search *s, int from, const tsr_state *state, unsigned run, unsigned left)
{
    tsr_lists lists;

    if (!left) {
        relax(s, from, state, TSR_STEP_REDUCE_SCATTER, run);
        return;
    }
    tsr__space_lists(state, s->space->n_mdims, &lists);
    for (int k = 0; k < s->space->n_mdims && !s->overflow; k++) {
        if (!(left >> k & 1))
            continue;
        for (int d = 0; d < s->space->from->shape.ndim; d++) {
            if (!s->space->dims[d])
                continue;
            for (int v = 0; v < s->space->n_variants[k]; v++) {
                tsr_state to = *state;
                to.code[k] = (uint16_t)(TSR_STATE_SHARD | d << 8 | lists.n[d] << 4 | v);
                if (fits(s, k, to.code[k]))
                    scatter(s, from, &to, run, left & ~(1u << k));
            }
        }
    }
}

static void reduce(tsr_search *s, int from, unsigned run)
{
    tsr_state to = s->node[from].state;

    for (int k = 0; k < s->space->n_mdims; k++)
        if (run >> k & 1)
            to.code[k] = TSR_STATE_R;
    relax(s, from, &to, TSR_STEP_ALL_REDUCE, run);
    scatter(s, from, &to, run, run);
}

static void reductions(tsr_search *s, int from, const tsr_state *state)
{
    unsigned run = tsr__space_pending(s->space, state);

    if (!run)
        return;
    reduce(s, from, run);
    if (s->space->cost->collectives_only && (run & (run - 1)))
        for (int k = 0; k < s->space->n_mdims; k++)
            if (run >> k & 1)
                reduce(s, from, 1u << k);
}

static void expand(tsr_search *s, int from)
{
    const tsr_state state = s->node[from].state;
    tsr_lists lists;

    reductions(s, from, &state);
    tsr__space_lists(&state, s->space->n_mdims, &lists);
    for (int k = 0; k < s->space->n_mdims; k++)
        if (state.code[k] == TSR_STATE_R)
            append_everywhere(s, from, &state, &lists, k, TSR_STEP_SLICE);
    for (int d = 0; d < s->space->from->shape.ndim; d++) {
        tsr_state to = state;
        if (lists.n[d] == 0)
            continue;
        int k = lists.k[d][lists.n[d] - 1];
        to.code[k] = TSR_STATE_R;
        relax(s, from, &to, TSR_STEP_ALL_GATHER, 1u << k);
        lists.n[d]--;
        append_everywhere(s, from, &to, &lists, k, TSR_STEP_ALL_TO_ALL);
        lists.n[d]++;
    }
}

/* A single mesh dim that changes is what the collectives are for. */
static void relax_exchange(tsr_search *s, int from)
{
    int to = node_of(s, s->goal), changed = 0;
    tsr_move move;

    if (to < 0)
        return;
    for (int k = 0; k < s->space->n_mdims; k++)
        changed += s->node[from].state.code[k] != s->goal->code[k];
    if (changed < 2)
        return;
    move = tsr__space_exchange(s->space, &s->node[from].state, s->goal, s->node[from].part,
                               s->node[to].part);
    if (move.bytes > 0)
        improve(s, from, to, &move);
}

int tsr__search_fresh(const tsr_space *space, tsr_state *out, int cap)
{
    int n = 0;
    unsigned run = tsr__space_pending(space, &space->source);

    out[n++] = space->source;
    /* one run after the other, from the innermost; each to R, or all of it to one tensor dim */
    while (run) {
        int had = n, kept = 0;
        for (int i = 0; i < had; i++)
            for (int d = -1; d < space->from->shape.ndim && n < cap; d++) {
                tsr_state to = out[i];
                tsr_lists lists;
                if (d >= 0 && !space->dims[d])
                    continue;
                tsr__space_lists(&to, space->n_mdims, &lists);
                for (int k = 0; k < space->n_mdims; k++)
                    if (run >> k & 1)
                        to.code[k] = d < 0
                                         ? TSR_STATE_R
                                         : (uint16_t)(TSR_STATE_SHARD | d << 8 | lists.n[d]++ << 4);
                out[n++] = to;
            }
        kept = n - had;
        memmove(out, out + had, (size_t)kept * sizeof *out);
        n = kept;
        run = n ? tsr__space_pending(space, &out[0]) : 0;
    }
    return n;
}

void tsr__search_run(tsr_search *s)
{
    tsr_state fresh[64];
    int n_fresh = s->exchange ? tsr__search_fresh(s->space, fresh, 64) : 0;
    int start = node_of(s, &s->space->source);

    s->node[start].seconds = 0;
    push(s, &(tsr_queued){.node = start});
    for (int i = 0; i < n_fresh; i++) {
        int node = node_of(s, &fresh[i]);
        if (node >= 0)
            s->node[node].fresh = true;
    }
    while (s->n_queue > 0 && !s->overflow) {
        int node = pop(s);
        if (s->node[node].settled)
            continue;
        s->node[node].settled = true;
        if (s->goal && tsr__state_equal(&s->node[node].state, s->goal))
            return;
        expand(s, node);
        if (s->node[node].fresh)
            relax_exchange(s, node);
    }
}

/* j of n mesh dims in order, cut into D lists: n! / (n-j)! * C(j + D - 1, j). */
bool tsr__search_possible(const tsr_space *space)
{
    double states = 0, ways = 1;
    int dims = 0;

    for (int d = 0; d < space->from->shape.ndim; d++)
        dims += space->dims[d];
    for (int j = 0; j <= space->n_mdims; j++) {
        states += ways;
        ways *= (double)(space->n_mdims - j) * (j + dims) / (j + 1);
    }
    return states < TSR_SEARCH_LARGE;
}

void tsr__search_open_small(tsr_search *s, tsr_search_small *memory, const tsr_search *ask)
{
    memset(memory->slot, 0, sizeof memory->slot);
    *s = *ask;
    s->node = memory->node;
    s->cap = TSR_SEARCH_SMALL;
    s->slot = memory->slot;
    s->n_slots = TSR_SEARCH_SLOTS;
    s->queue = memory->queue;
    s->queue_cap = 4 * TSR_SEARCH_SMALL;
}

tsr_status tsr__search_open_large(tsr_search *s, const tsr_search *ask, tsr_heap *heap,
                                  tsr_error *err)
{
    tsr_status st;

    *s = *ask;
    s->cap = TSR_SEARCH_LARGE - 1; /* slots hold node numbers + 1 */
    s->n_slots = 4 * TSR_SEARCH_LARGE;
    s->queue_cap = 16 * TSR_SEARCH_LARGE;
    TSR_TRY(tsr__alloc(heap, s->cap, sizeof *s->node, &s->node, err));
    TSR_TRY(tsr__alloc(heap, s->n_slots, sizeof *s->slot, &s->slot, err));
    TSR_TRY(tsr__alloc(heap, s->queue_cap, sizeof *s->queue, &s->queue, err));
done:
    if (st != TSR_OK)
        tsr__search_close_large(s, heap);
    return st;
}

void tsr__search_close_large(tsr_search *s, tsr_heap *heap)
{
    tsr__free(heap, s->node);
    tsr__free(heap, s->slot);
    tsr__free(heap, s->queue);
    s->node = NULL;
    s->slot = NULL;
    s->queue = NULL;
}
