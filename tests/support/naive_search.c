/* SPDX-License-Identifier: Apache-2.0 */
/* naive_search.c - all states, all moves, Bellman-Ford. Written from the list of moves in
   layout/space.h; of the library only tsr__move_seconds is used. */
#include "naive_search.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* ---- states ---- */

static bool active(const naive_graph *g, int m)
{
    return g->from->mesh.size[m] > 1;
}

static bool one_kind(tsr_reduce a, tsr_reduce b)
{
    bool sums = (a == TSR_SUM || a == TSR_AVG) && (b == TSR_SUM || b == TSR_AVG);
    return sums || a == b;
}

void naive_kept(const tsr_spec *from, const tsr_placement *to, bool *kept)
{
    unsigned best = 0, partial = 0, same = 0;
    int n = from->mesh.ndim;

    for (int m = 0; m < n; m++) {
        bool is = from->place[m].kind == TSR_PARTIAL && from->mesh.size[m] > 1;
        partial |= (unsigned)is << m;
        same |= (unsigned)(is && to[m].kind == TSR_PARTIAL && to[m].reduce == from->place[m].reduce)
                << m;
    }
    for (unsigned set = 0; set < 1u << n; set++) {
        bool fits = (set & ~same) == 0;
        for (int m = 0; m < n && fits; m++) /* m is resolved: all that stay to its right commute */
            for (int r = m + 1; r < n && (partial & ~set) >> m & 1; r++)
                if (set >> r & 1 && !one_kind(from->place[m].reduce, from->place[r].reduce))
                    fits = false;
        if (fits && __builtin_popcount(set) > __builtin_popcount(best))
            best = set;
    }
    for (int m = 0; m < n; m++)
        kept[m] = best >> m & 1;
}

static int length(const naive_state *s, int dim)
{
    int n = 0;
    for (int m = 0; m < TSR_MAX_MESH; m++)
        n += s->kind[m] == 'S' && s->dim[m] == dim;
    return n;
}

static int last(const naive_state *s, int dim)
{
    for (int m = 0; m < TSR_MAX_MESH; m++)
        if (s->kind[m] == 'S' && s->dim[m] == dim && s->place[m] == length(s, dim) - 1)
            return m;
    return -1;
}

static void clear(naive_state *s, int m)
{
    if (m < 0 || m >= TSR_MAX_MESH)
        return;
    s->kind[m] = 'R';
    s->dim[m] = s->place[m] = 0;
    s->factor[m] = 0;
}

static void append(naive_state *s, int m, int dim, int64_t factor)
{
    int n = length(s, dim);

    s->kind[m] = 'S';
    s->dim[m] = dim;
    s->place[m] = n;
    s->factor[m] = factor;
}

/* Partials of the placements: K where kept, else `other`. */
static naive_state state_of(const naive_graph *g, const tsr_placement *place, char other)
{
    naive_state s;

    memset(&s, 0, sizeof s);
    for (int m = 0; m < g->from->mesh.ndim; m++) {
        clear(&s, m);
        if (!active(g, m))
            continue;
        if (place[m].kind == TSR_SHARD || place[m].kind == TSR_STRIDED)
            append(&s, m, place[m].dim, place[m].kind == TSR_STRIDED ? place[m].factor : 1);
        else if (place[m].kind == TSR_PARTIAL)
            s.kind[m] = g->kept[m] ? 'K' : other;
    }
    return s;
}

tsr_layout naive_layout_of(const naive_graph *g, const naive_state *s)
{
    tsr_layout layout = {.dtype = g->from->dtype, .shape = g->from->shape, .mesh = g->from->mesh};

    for (int m = 0; m < g->from->mesh.ndim; m++)
        if (s->kind[m] == 'S') {
            tsr_dim_layout *dim = &layout.dim[s->dim[m]];
            dim->mdim[s->place[m]] = m;
            dim->factor[s->place[m]] = s->factor[m];
            dim->n++;
        } else if (s->kind[m] != 'R') {
            layout.partial[m] = true;
            layout.reduce[m] = g->from->place[m].reduce;
        }
    return layout;
}

static int node_of(naive_graph *g, const naive_state *s)
{
    for (int i = 0; i < g->n; i++)
        if (memcmp(&g->state[i], s, sizeof *s) == 0)
            return i;
    if (g->n == g->state_cap) {
        g->state_cap = 2 * g->state_cap + 16;
        g->state = realloc(g->state, (size_t)g->state_cap * sizeof *g->state);
        g->part = realloc(g->part, (size_t)g->state_cap * sizeof *g->part);
        g->unrounded = realloc(g->unrounded, (size_t)g->state_cap * sizeof *g->unrounded);
    }
    tsr_layout layout = naive_layout_of(g, s);
    double whole = (double)tsr_dtype_size(g->from->dtype);
    g->part[g->n] = whole * naive_largest(&layout);
    for (int d = 0; d < g->from->shape.ndim; d++)
        whole *= (double)g->from->shape.size[d];
    for (int m = 0; m < g->from->mesh.ndim; m++)
        if (s->kind[m] == 'S')
            whole /= g->from->mesh.size[m];
    g->unrounded[g->n] = whole;
    g->state[g->n] = *s;
    return g->n++;
}

/* ---- moves ---- */

/* The documented key: 17, then for both states per active mesh dim where it is and its factor. */
static uint64_t hash_state(const naive_graph *g, const naive_state *s, uint64_t h)
{
    for (int m = 0; m < g->from->mesh.ndim; m++) {
        unsigned where =
            s->kind[m] == 'S' ? 0x8000u | (unsigned)(s->dim[m] << 8 | s->place[m] << 4) : 0;
        if (!active(g, m))
            continue;
        h = tsr__hash_mix(h, (uint64_t)m << 16 | where);
        h = tsr__hash_mix(h, s->kind[m] == 'S'   ? (uint64_t)s->factor[m]
                             : s->kind[m] == 'R' ? 0
                             : s->kind[m] == 'P' ? 1
                                                 : 2);
    }
    return h;
}

static void add_edge(naive_graph *g, int from, const naive_state *to, tsr_step_kind kind,
                     unsigned mdims, bool single)
{
    int node = node_of(g, to);

    if (g->n_edges == g->edge_cap) {
        g->edge_cap = 2 * g->edge_cap + 64;
        g->edge = realloc(g->edge, (size_t)g->edge_cap * sizeof *g->edge);
    }
    g->edge[g->n_edges++] =
        (naive_edge){.from = from,
                     .to = node,
                     .kind = kind,
                     .mdims = mdims,
                     .single = single,
                     .key = hash_state(g, to, hash_state(g, &g->state[from], 17))};
}

/* Append every dim in `left` to the end of some list, in every order and way. */
static void scatter(naive_graph *g, int from, naive_state s, unsigned all, unsigned left,
                    tsr_step_kind kind, bool single)
{
    if (!left) {
        if (memcmp(&s, &g->state[from], sizeof s) != 0)
            add_edge(g, from, &s, kind, all, single);
        return;
    }
    for (int m = 0; m < g->from->mesh.ndim; m++)
        for (int d = 0; d < g->from->shape.ndim && left >> m & 1; d++)
            for (int f = 1; f < 16; f++)
                if (g->allow[m][d][f]) {
                    naive_state to = s;
                    append(&to, m, d, f);
                    scatter(g, from, to, all, left & ~(1u << m), kind, single);
                }
}

static void reduce(naive_graph *g, int from, unsigned run, bool single)
{
    naive_state s = g->state[from];

    for (int m = 0; m < g->from->mesh.ndim; m++)
        if (run >> m & 1)
            clear(&s, m);
    add_edge(g, from, &s, TSR_STEP_ALL_REDUCE, run, single);
    scatter(g, from, s, run, run, TSR_STEP_REDUCE_SCATTER, single);
}

/* Pending dims from the last one outwards, as long as they are of one kind. */
static unsigned innermost(const naive_graph *g, const naive_state *s)
{
    unsigned run = 0;
    int first = -1;

    for (int m = g->from->mesh.ndim - 1; m >= 0; m--) {
        if (s->kind[m] != 'P')
            continue;
        if (first >= 0 && !one_kind(g->from->place[first].reduce, g->from->place[m].reduce))
            break;
        first = m;
        run |= 1u << m;
    }
    return run;
}

static void moves(naive_graph *g, int from)
{
    const naive_state now = g->state[from];
    unsigned run = innermost(g, &now);

    if (run)
        reduce(g, from, run, false);
    for (int m = 0; m < g->from->mesh.ndim && (run & (run - 1)); m++)
        if (run >> m & 1)
            reduce(g, from, 1u << m, true);
    for (int m = 0; m < g->from->mesh.ndim; m++)
        if (active(g, m) && now.kind[m] == 'R')
            scatter(g, from, now, 1u << m, 1u << m, TSR_STEP_SLICE, false);
    for (int d = 0; d < g->from->shape.ndim; d++) {
        naive_state s = now;
        int m = last(&now, d);
        if (m < 0)
            continue;
        clear(&s, m);
        add_edge(g, from, &s, TSR_STEP_ALL_GATHER, 1u << m, false);
        scatter(g, from, s, 1u << m, 1u << m, TSR_STEP_ALL_TO_ALL, false);
    }
}

void naive_open(naive_graph *g, const tsr_spec *from, const tsr_placement (*to)[TSR_MAX_MESH],
                int n, const bool *kept)
{
    memset(g, 0, sizeof *g);
    g->from = from;
    memcpy(g->kept, kept, sizeof g->kept);
    for (int i = -1; i < n; i++)
        for (int m = 0; m < from->mesh.ndim; m++) {
            const tsr_placement *p = i < 0 ? &from->place[m] : &to[i][m];
            if (!active(g, m) || p->kind == TSR_REPLICATE || p->kind == TSR_PARTIAL)
                continue;
            g->dims[p->dim] = true;
            if (p->kind == TSR_STRIDED)
                g->allow[m][p->dim][p->factor] = true;
        }
    for (int m = 0; m < from->mesh.ndim; m++)
        for (int d = 0; d < from->shape.ndim; d++)
            g->allow[m][d][1] = g->dims[d] && active(g, m); /* a plain shard is always allowed */
    naive_state source = state_of(g, from->place, 'P');
    node_of(g, &source);
    for (int i = 0; i < g->n; i++)
        moves(g, i);
}

void naive_close(naive_graph *g)
{
    free(g->state);
    free(g->part);
    free(g->unrounded);
    free(g->edge);
}

/* ---- the exchange ---- */

/* Where it may start: the source, each run of partials resolved to R or in order to one dim. */
static bool may_start(const naive_graph *g, const naive_state *now, const naive_state *s)
{
    unsigned run = innermost(g, now);

    if (!run)
        return memcmp(now, s, sizeof *s) == 0;
    for (int d = -1; d < g->from->shape.ndim; d++) {
        naive_state next = *now;
        if (d >= 0 && !g->dims[d])
            continue;
        for (int m = 0; m < g->from->mesh.ndim; m++)
            if (run >> m & 1) {
                clear(&next, m);
                if (d >= 0)
                    append(&next, m, d, 1);
            }
        if (may_start(g, &next, s))
            return true;
    }
    return false;
}

/* Longest part along one dim alone. */
static double longest(const naive_graph *g, const naive_state *s, int d)
{
    tsr_layout layout = naive_layout_of(g, s);

    layout.shape = (tsr_shape){.ndim = 1, .size = {layout.shape.size[d]}};
    layout.dim[0] = layout.dim[d];
    return naive_largest(&layout);
}

/* The closed formula of space.h. */
static void price_exchange(const naive_graph *g, naive_edge *e)
{
    const naive_state *a = &g->state[e->from], *b = &g->state[e->to];
    tsr_layout x = naive_layout_of(g, a), y = naive_layout_of(g, b);
    double shared = (double)tsr_dtype_size(g->from->dtype), peers = 1, group = 1;

    for (int d = 0; d < g->from->shape.ndim; d++) {
        const tsr_dim_layout *p = &x.dim[d], *q = &y.dim[d];
        double s = 1, t = 1;
        int same = 0;
        while (same < p->n && same < q->n && p->mdim[same] == q->mdim[same] &&
               p->factor[same] == q->factor[same])
            same++;
        for (int i = same; i < p->n; i++) {
            s *= g->from->mesh.size[p->mdim[i]];
            e->mdims |= 1u << p->mdim[i];
        }
        for (int i = same; i < q->n; i++) {
            t *= g->from->mesh.size[q->mdim[i]];
            e->mdims |= 1u << q->mdim[i];
        }
        shared *= s > 1 && t > 1 ? 0 : longest(g, s > 1 ? a : b, d);
        peers *= s > t ? s / t : 1;
    }
    for (int m = 0; m < g->from->mesh.ndim; m++)
        group *= e->mdims >> m & 1 ? g->from->mesh.size[m] : 1;
    e->bytes = fmax(0, g->part[e->to] - shared);
    e->peers = shared > 0 ? peers - 1 : peers;
    e->peers = fmin(group - 1, e->peers < 1 ? e->bytes > 0 : e->peers);
    e->key = hash_state(g, b, hash_state(g, a, 17));
}

static int exchanges(naive_graph *g, int goal, naive_edge *out)
{
    int n = 0;

    for (int i = 0; i < g->n; i++) {
        naive_edge e = {.from = i, .to = goal, .kind = TSR_STEP_EXCHANGE};
        int changed = 0;
        for (int m = 0; m < g->from->mesh.ndim; m++)
            changed += g->state[i].kind[m] != g->state[goal].kind[m] ||
                       g->state[i].dim[m] != g->state[goal].dim[m] ||
                       g->state[i].place[m] != g->state[goal].place[m] ||
                       g->state[i].factor[m] != g->state[goal].factor[m];
        if (changed < 2 || !may_start(g, &g->state[0], &g->state[i]))
            continue;
        price_exchange(g, &e);
        if (e.bytes > 0)
            out[n++] = e;
        assert(n < 256);
    }
    return n;
}

/* ---- the search ---- */

static double price(const naive_graph *g, const naive_edge *e, const tsr_cost *cost)
{
    const double *part = cost->unrounded ? g->unrounded : g->part;
    tsr_move move = {.kind = e->kind,
                     .mdims = e->mdims,
                     .group = 1,
                     .before = part[e->from],
                     .after = part[e->to],
                     .bytes = e->bytes,
                     .peers = e->peers,
                     .key = e->key};

    for (int m = 0; m < g->from->mesh.ndim; m++)
        move.group *= e->mdims >> m & 1 ? g->from->mesh.size[m] : 1;
    return tsr__move_seconds(cost, &move);
}

static bool relax(const naive_graph *g, const naive_edge *e, const tsr_cost *cost, size_t limit,
                  double *best)
{
    double memory = g->part[0] + (e->from == 0 ? 0 : g->part[e->from]) + g->part[e->to];
    double seconds;

    if (isinf(best[e->from]) || (e->single && !cost->collectives_only) ||
        (limit && memory > (double)limit))
        return false;
    seconds = best[e->from] + price(g, e, cost);
    if (seconds >= best[e->to])
        return false;
    best[e->to] = seconds;
    return true;
}

double naive_best(naive_graph *g, const tsr_placement *to, const tsr_cost *cost, size_t limit)
{
    naive_state goal_state = state_of(g, to, 'R');
    int goal = node_of(g, &goal_state), n = 0;
    naive_edge extra[256];
    double *best = malloc((size_t)g->n * sizeof *best), seconds;
    tsr_move move = {.kind = TSR_STEP_TO_PARTIAL, .group = 1};

    if (!cost->collectives_only)
        n = exchanges(g, goal, extra);
    for (int i = 0; i < g->n; i++)
        best[i] = i == 0 ? 0 : INFINITY;
    for (bool again = true; again;) {
        again = false;
        for (int i = 0; i < g->n_edges; i++)
            again = relax(g, &g->edge[i], cost, limit, best) || again;
        for (int i = 0; i < n; i++)
            again = relax(g, &extra[i], cost, limit, best) || again;
    }
    seconds = best[goal];
    free(best);
    for (int m = 0; m < g->from->mesh.ndim; m++)
        if (active(g, m) && to[m].kind == TSR_PARTIAL && !g->kept[m])
            move.key |= 1u << m;
    if (!move.key)
        return seconds;
    move.after = g->part[goal];
    if (limit && g->part[0] + (goal == 0 ? 0 : g->part[goal]) + g->part[goal] > (double)limit)
        return INFINITY;
    return seconds + tsr__move_seconds(cost, &move);
}

double naive_pair(const tsr_spec *from, const tsr_spec *to, const tsr_cost *cost, size_t limit)
{
    naive_graph graph;
    bool kept[TSR_MAX_MESH] = {false};
    double seconds;

    naive_kept(from, to->place, kept);
    naive_open(&graph, from, (const tsr_placement(*)[TSR_MAX_MESH]) & to->place, 1, kept);
    seconds = naive_best(&graph, to->place, cost, limit);
    naive_close(&graph);
    return seconds;
}
