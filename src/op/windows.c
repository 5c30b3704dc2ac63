/* SPDX-License-Identifier: Apache-2.0 */
/* windows.c - what windows show, what it costs to fill them, exactly the bytes that arrive at the
   rank that gets most, per dim and multiplied, and in which direction the halo is cheaper: fetched
   before the kernel, or scattered back after it. Called by the search and by what runs windows. */
#include "op/windows.h"

#include <string.h>

#include "layout/cost.h"
#include "op/schema.h"

/* ---- which they are ---- */

const tsr_spec *tsr__operand_spec(const tsr_spec *in, const tsr_spec *out, int operand)
{
    return operand < 0 ? &out[TSR_OUTPUT(operand)] : &in[operand];
}

static bool is_there(const tsr_schema *s, int operand)
{
    return operand < 0 ? tsr__schema_gives(s, TSR_OUTPUT(operand)) : tsr__schema_has(s, operand);
}

static bool shards(const tsr_spec *spec, int m, int dim)
{
    const tsr_placement *p = &spec->place[m];

    return (p->kind == TSR_SHARD || p->kind == TSR_STRIDED) && p->dim == dim &&
           spec->mesh.size[m] > 1;
}

static unsigned sharding_mdims(const tsr_spec *spec, int dim)
{
    unsigned mdims = 0;

    for (int m = 0; m < spec->mesh.ndim; m++)
        mdims |= (unsigned)shards(spec, m, dim) << m;
    return mdims;
}

int tsr__windows_of(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out, bool reverse,
                    tsr_windows *w)
{
    int kept = 0;

    w->n = 0;
    if (!s->op->windows)
        return 0;
    s->op->windows(s, reverse, w);
    for (int i = 0; i < w->n; i++)
        if (is_there(s, w->window[i].operand) &&
            sharding_mdims(tsr__operand_spec(in, out, w->anchor), w->window[i].dim))
            w->window[kept++] = w->window[i];
    return w->n = kept;
}

tsr_layout tsr__windows_layout(const tsr_windows *w, const tsr_spec *in, const tsr_spec *out,
                               int operand)
{
    const tsr_spec *anchor = tsr__operand_spec(in, out, w->anchor);
    tsr_layout layout = tsr__layout_of(tsr__operand_spec(in, out, operand));
    tsr_layout by = {0};

    if (w->n > 0)
        by = tsr__layout_of(anchor);
    for (int i = 0; i < w->n; i++) {
        const tsr_window *x = &w->window[i];

        if (x->operand != operand)
            continue;
        layout.dim[x->dim] = by.dim[x->dim];
        layout.dim[x->dim].window = (tsr_dim_window){.on = true,
                                                     .n = anchor->shape.size[x->dim],
                                                     .mul = x->mul,
                                                     .lo = x->lo,
                                                     .hi = x->hi,
                                                     .div = x->div,
                                                     .circular = x->circular};
    }
    return layout;
}

unsigned tsr__windows_mdims(const tsr_windows *w, const tsr_spec *in, const tsr_spec *out,
                            int operand)
{
    unsigned mdims = 0;

    for (int i = 0; i < w->n; i++)
        if (w->window[i].operand == operand)
            mdims |= sharding_mdims(tsr__operand_spec(in, out, w->anchor), w->window[i].dim);
    return mdims;
}

/* Along the mesh dims that shard the anchor, the operand is sharded alike or not at all. */
static bool fits_along(const tsr_spec *anchor, const tsr_spec *operand, int dim, bool reverse)
{
    bool any = sharding_mdims(operand, dim) != 0;

    for (int m = 0; m < anchor->mesh.ndim; m++) {
        const bool guided = shards(anchor, m, dim), own = shards(operand, m, dim);

        if ((guided && anchor->place[m].kind == TSR_STRIDED) ||
            (own && operand->place[m].kind == TSR_STRIDED))
            return false;
        if (own != (guided && any) || (guided && reverse && !own) ||
            (guided && !own && operand->place[m].kind != TSR_REPLICATE))
            return false;
    }
    return true;
}

bool tsr__windows_feasible(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out)
{
    tsr_windows w;

    tsr__windows_of(s, in, out, false, &w);
    for (int i = 0; i < w.n; i++)
        if (!fits_along(tsr__operand_spec(in, out, w.anchor),
                        tsr__operand_spec(in, out, w.window[i].operand), w.window[i].dim, false))
            return false;
    return true;
}

/* ---- what they cost ---- */

/* Along one dim: how many indices a rank works with, and how many of them it has. */
typedef struct share {
    int64_t needs, has;
} share;

/* Shares of the different ranks along one dim; of them only those that may be the most in the end,
   needs * N - has * H with N >= H. */
enum { SHARES = 16 };
typedef struct shares {
    int n;
    share v[SHARES];
    int peers; /* ranks met along this dim, oneself not counted */
} shares;

static bool is_less(const share *a, const share *b)
{
    return a->needs <= b->needs && a->needs - a->has <= b->needs - b->has;
}

static void add_share(shares *s, share x)
{
    int kept = 0;

    for (int i = 0; i < s->n; i++)
        if (is_less(&x, &s->v[i]))
            return;
    for (int i = 0; i < s->n; i++)
        if (!is_less(&s->v[i], &x))
            s->v[kept++] = s->v[i];
    if (kept == SHARES) { /* a bound instead */
        share *last = &s->v[kept - 1];
        int64_t missing = x.needs - x.has, other = last->needs - last->has;
        last->needs = x.needs > last->needs ? x.needs : last->needs;
        last->has = last->needs - (missing > other ? missing : other);
        s->n = kept;
        return;
    }
    s->v[kept++] = x;
    s->n = kept;
}

typedef struct interval {
    int64_t begin, end;
} interval;

/* What the rank with the given number among those along `mdims` sees of a dim. */
static interval interval_at(const tsr_layout *layout, int dim, unsigned mdims, int64_t number)
{
    int coord[TSR_MAX_MESH] = {0};
    interval x;

    for (int m = layout->mesh.ndim - 1; m >= 0; m--)
        if (mdims >> m & 1) {
            coord[m] = (int)(number % layout->mesh.size[m]);
            number /= layout->mesh.size[m];
        }
    tsr__layout_interval(layout, dim, coord, &x.begin, &x.end);
    return x;
}

/* What a rank sees of a dim: one interval, or two if its window goes around the end. */
typedef struct view {
    int n;
    interval v[2];
} view;

static view view_of(interval x, int64_t size)
{
    if (x.end <= size)
        return (view){1, {x}};
    return (view){2, {{0, x.end - size}, {x.begin, size}}};
}

static int64_t meet(interval a, interval b)
{
    int64_t begin = a.begin > b.begin ? a.begin : b.begin, end = a.end < b.end ? a.end : b.end;

    return end > begin ? end - begin : 0;
}

static int64_t meet_view(const view *x, interval y)
{
    return meet(x->v[0], y) + (x->n > 1 ? meet(x->v[1], y) : 0);
}

/* The last rank whose interval begins at or before `index`: they begin in the order of ranks. */
static int64_t rank_near(const tsr_layout *layout, int dim, unsigned mdims, int64_t n,
                         int64_t index)
{
    int64_t first = 0;

    while (n > 1) {
        const int64_t half = n / 2;

        if (interval_at(layout, dim, mdims, first + half).begin <= index)
            first += half;
        n -= half;
    }
    return first;
}

/* What others than r have of x. Parts and windows ascend with the rank's number, so that those
   which meet an interval are found by going away from where it begins until they are beyond it.
   Empty ones, which may lie between others, lie nowhere. */
static int64_t meet_others(const tsr_layout *layout, int dim, unsigned mdims, int64_t n, int64_t r,
                           const view *x, int *peers)
{
    int64_t sum = 0;

    for (int k = 0; k < x->n; k++) {
        const int64_t near = rank_near(layout, dim, mdims, n, x->v[k].begin);

        for (int step = -1; step <= 1; step += 2)
            for (int64_t i = step < 0 ? near : near + 1; i >= 0 && i < n; i += step) {
                interval y = interval_at(layout, dim, mdims, i);
                int64_t common = i == r ? 0 : meet(x->v[k], y);

                if (y.begin < y.end && (step < 0 ? y.end <= x->v[k].begin : y.begin >= x->v[k].end))
                    break;
                sum += common;
                *peers += common > 0 && (k == 0 || meet(x->v[0], y) == 0);
            }
    }
    return sum;
}

static shares shares_along(const tsr_layout *own, const tsr_layout *window, int dim, unsigned mdims,
                           bool reverse)
{
    shares all = {0};
    int64_t n = 1;

    for (int m = 0; m < own->mesh.ndim; m++)
        n *= mdims >> m & 1 ? own->mesh.size[m] : 1;
    for (int64_t r = 0; r < n; r++) {
        const interval part = interval_at(own, dim, mdims, r);
        const interval w = interval_at(window, dim, mdims, r);
        const view sees = view_of(w, own->shape.size[dim]), has = {1, {part}};
        share x = {w.end - w.begin, meet_view(&sees, part)};
        int peers = 0;

        if (reverse && part.begin == part.end)
            x.needs = 0; /* others need not be looked at */
        else if (reverse)
            x.needs = x.has + meet_others(window, dim, mdims, n, r, &has, &peers);
        else if (x.needs > x.has)
            meet_others(own, dim, mdims, n, r, &sees, &peers);
        all.peers = peers > all.peers ? peers : all.peers;
        add_share(&all, x);
    }
    return all;
}

/* The most of needs - has over all combinations. */
static double most_missing(const shares *dims, int n, double needs, double has)
{
    double most = 0;

    if (n == 0)
        return needs - has;
    for (int i = 0; i < dims->n; i++) {
        double x = most_missing(dims + 1, n - 1, needs * (double)dims->v[i].needs,
                                has * (double)dims->v[i].has);
        most = x > most ? x : most;
    }
    return most;
}

/* The exchange of one operand's halo; bytes 0: no rank needs anything of another. */
static tsr_move halo_move(const tsr_windows *w, const tsr_spec *in, const tsr_spec *out,
                          int operand, bool reverse)
{
    const tsr_spec *spec = tsr__operand_spec(in, out, operand);
    const tsr_spec *anchor = tsr__operand_spec(in, out, w->anchor);
    tsr_layout own = tsr__layout_of(spec), window = tsr__windows_layout(w, in, out, operand);
    tsr_move move = {.kind = TSR_STEP_EXCHANGE, .group = 1, .peers = 1};
    shares dims[TSR_MAX_DIM];
    double rest = (double)tsr_dtype_size(spec->dtype);
    int n = 0;

    for (int d = 0; d < spec->shape.ndim; d++) {
        const tsr_dim_layout *by = &own.dim[d];
        int size[TSR_MAX_MESH];

        if (window.dim[d].window.on) {
            dims[n] = shares_along(&own, &window, d, sharding_mdims(anchor, d), reverse);
            move.peers *= 1 + dims[n++].peers;
            continue;
        }
        for (int i = 0; i < by->n; i++)
            size[i] = own.mesh.size[by->mdim[i]];
        rest *= (double)tsr__shard_longest(spec->shape.size[d], by->n, size, by->factor);
    }
    move.bytes = rest * most_missing(dims, n, 1, 1);
    move.peers -= 1;
    move.mdims = tsr__windows_mdims(w, in, out, operand);
    for (int m = 0; m < spec->mesh.ndim; m++)
        move.group *= move.mdims >> m & 1 ? spec->mesh.size[m] : 1;
    move.key = tsr__spec_hash(spec) ^ tsr__spec_hash(anchor) ^ (uint64_t)reverse;
    return move;
}

double tsr__window_bytes(const tsr_windows *w, const tsr_spec *in, const tsr_spec *out, int operand,
                         bool reverse)
{
    return halo_move(w, in, out, operand, reverse).bytes;
}

/* Operands are counted once, whatever the number of their windows. */
static tsr_comm halo_comm(const tsr_windows *w, const tsr_spec *in, const tsr_spec *out,
                          bool reverse, const tsr_cost *cost)
{
    tsr_comm sum = {0};

    for (int i = 0; i < w->n; i++) {
        bool seen = false;
        for (int k = 0; k < i; k++)
            seen = seen || w->window[k].operand == w->window[i].operand;
        if (seen)
            continue;
        const tsr_move move = halo_move(w, in, out, w->window[i].operand, reverse);
        sum.seconds += move.bytes > 0 ? tsr__move_seconds(cost, &move) : 0;
        sum.bytes += move.bytes;
    }
    return sum;
}

tsr_comm tsr__windows_comm(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                           const tsr_cost *cost, bool *reverse)
{
    tsr_windows w;
    tsr_comm fetch = {0}, back;

    *reverse = false;
    if (tsr__windows_of(s, in, out, false, &w) == 0)
        return fetch;
    fetch = halo_comm(&w, in, out, false, cost);
    /* a reverse halo is added up in an order that depends on the mesh */
    if (fetch.bytes == 0 || cost->reproducible || tsr__windows_of(s, in, out, true, &w) == 0)
        return fetch;
    for (int i = 0; i < w.n; i++)
        if (!fits_along(tsr__operand_spec(in, out, w.anchor),
                        tsr__operand_spec(in, out, w.window[i].operand), w.window[i].dim, true))
            return fetch;
    back = halo_comm(&w, in, out, true, cost);
    *reverse = back.seconds < fetch.seconds;
    return *reverse ? back : fetch;
}
