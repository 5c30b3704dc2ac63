/* SPDX-License-Identifier: Apache-2.0 */
/* plan_checks.c - checks a plan step by step, from the definitions of the moves and, for small
   tensors, element by element. */
#include "plan_checks.h"

#include "test.h"
#include "naive_layout.h"
#include "numbers.h"

tsr_placement random_placement(uint64_t *seed, int ndim)
{
    static const tsr_reduce ops[] = {TSR_SUM, TSR_AVG, TSR_MAX};
    tsr_placement place = {.kind = (tsr_placement_kind)below(seed, 4)};

    if (place.kind == TSR_PARTIAL)
        place.reduce = ops[below(seed, 3)];
    else if (place.kind != TSR_REPLICATE)
        place.dim = below(seed, ndim);
    if (place.kind == TSR_STRIDED)
        place.factor = 1 + below(seed, 3);
    return place;
}

static void illegal(const tsr_redist *plan, int i, const char *why)
{
    char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN], c[TSR_TEXT_LEN], d[TSR_TEXT_LEN];
    const tsr_redist_plan_step *s = &plan->step[i];

    fail_msg("%s -> %s, step %d (%s of %s to %s): %s", tsr_spec_text(&plan->from, a, sizeof a),
             tsr_placements_text(&plan->to, b, sizeof b), i,
             i < plan->n_steps ? tsr_step_name(s->kind) : "",
             i < plan->n_steps ? tsr__layout_text(&s->from, c, sizeof c) : "",
             i < plan->n_steps ? tsr__layout_text(&s->to, d, sizeof d) : "", why);
}

static bool is_prefix(const tsr_dim_layout *a, const tsr_dim_layout *b)
{
    bool same = a->n <= b->n;

    for (int i = 0; i < a->n && same; i++)
        same = a->mdim[i] == b->mdim[i] && a->factor[i] == b->factor[i];
    return same;
}

/* The mesh dims in the lists of `longer` beyond those of `shorter`; ~0: not an extension. */
static unsigned beyond(const tsr_layout *shorter, const tsr_layout *longer)
{
    unsigned more = 0;

    for (int d = 0; d < shorter->shape.ndim; d++) {
        if (!is_prefix(&shorter->dim[d], &longer->dim[d]))
            return ~0u;
        for (int i = shorter->dim[d].n; i < longer->dim[d].n; i++)
            more |= 1u << longer->dim[d].mdim[i];
    }
    return more;
}

static unsigned partials(const tsr_layout *layout)
{
    unsigned mask = 0;
    for (int m = 0; m < layout->mesh.ndim; m++)
        mask |= (unsigned)(layout->partial[m] && layout->mesh.size[m] > 1) << m;
    return mask;
}

static unsigned shards(const tsr_layout *layout)
{
    unsigned mask = 0;
    for (int d = 0; d < layout->shape.ndim; d++)
        for (int i = 0; i < layout->dim[d].n; i++)
            mask |= 1u << layout->dim[d].mdim[i];
    return mask;
}

static bool sums(tsr_reduce op)
{
    return op == TSR_SUM || op == TSR_AVG;
}

/* The value is the reduction of the last mesh dim first, then outwards: only what commutes with all
   that stays to the right may go. */
static const char *reduction_fault(const tsr_redist_plan_step *s)
{
    int64_t divisor = 1;

    for (int m = 0; m < s->from.mesh.ndim; m++) {
        if (!(s->mdims >> m & 1))
            continue;
        if (!s->from.partial[m])
            return "reduces a dim that is not partial";
        divisor *= s->from.reduce[m] == TSR_AVG ? s->from.mesh.size[m] : 1;
        if (sums(s->from.reduce[m]) ? s->op != TSR_SUM : s->op != s->from.reduce[m])
            return "has another op than the dim";
        for (int r = m + 1; r < s->from.mesh.ndim; r++)
            if (partials(&s->from) >> r & 1 && !(s->mdims >> r & 1) &&
                !(s->from.reduce[r] == s->from.reduce[m] ||
                  (sums(s->from.reduce[r]) && sums(s->from.reduce[m]))))
                return "passes over an inner partial of another kind";
    }
    if (divisor != s->divisor)
        return "has the wrong divisor";
    if (partials(&s->to) != (partials(&s->from) & ~s->mdims))
        return "resolves other dims than its own";
    unsigned more = beyond(&s->from, &s->to);
    return more == (s->kind == TSR_STEP_ALL_REDUCE ? 0 : s->mdims) ? NULL : "scatters wrongly";
}

/* all-to-all: one mesh dim leaves the end of a list for the end of one */
static const char *shuffle_fault(const tsr_redist_plan_step *s)
{
    tsr_layout a = s->from, b = s->to;
    int m = __builtin_ctz(s->mdims);

    if (s->mdims & (s->mdims - 1))
        return "runs over several mesh dims";
    for (int d = 0; d < a.shape.ndim; d++) {
        if (a.dim[d].n && a.dim[d].mdim[a.dim[d].n - 1] == m)
            a.dim[d].n--;
        if (b.dim[d].n && b.dim[d].mdim[b.dim[d].n - 1] == m)
            b.dim[d].n--;
    }
    if ((shards(&a) | shards(&b)) >> m & 1)
        return "moves a mesh dim that is not the last of a list";
    return beyond(&a, &b) == 0 && beyond(&b, &a) == 0 ? NULL : "changes more than one mesh dim";
}

static const char *step_fault(const tsr_redist_plan_step *s)
{
    unsigned gone = partials(&s->from) & ~partials(&s->to);
    unsigned came = partials(&s->to) & ~partials(&s->from);

    for (int m = 0; m < s->from.mesh.ndim; m++)
        if (s->mdims >> m & 1 && s->from.mesh.size[m] == 1 && s->kind != TSR_STEP_EXCHANGE)
            return "runs over a mesh dim of one rank";
    if (s->kind != TSR_STEP_EXCHANGE && !tsr__mesh_equal(&s->from.mesh, &s->to.mesh))
        return "changes the mesh";
    if (s->kind != TSR_STEP_EXCHANGE && s->mdims == 0)
        return "runs over no mesh dim";
    switch (s->kind) {
    case TSR_STEP_ALL_REDUCE:
    case TSR_STEP_REDUCE_SCATTER: return came ? "makes partials" : reduction_fault(s);
    case TSR_STEP_TO_PARTIAL:
        if (gone || came != s->mdims || beyond(&s->from, &s->to) || beyond(&s->to, &s->from))
            return "does something else";
        return shards(&s->from) & s->mdims ? "makes a shard partial" : NULL;
    case TSR_STEP_SLICE:
        return gone | came ? "changes partials"
               : beyond(&s->from, &s->to) == s->mdims && !(partials(&s->from) & s->mdims)
                   ? NULL
                   : "appends other dims than its own";
    case TSR_STEP_ALL_GATHER:
        return gone | came || beyond(&s->to, &s->from) != s->mdims || s->mdims & (s->mdims - 1)
                   ? "drops other dims than its own"
                   : NULL;
    case TSR_STEP_ALL_TO_ALL: return gone | came ? "changes partials" : shuffle_fault(s);
    case TSR_STEP_EXCHANGE:
        if (tsr__mesh_equal(&s->from.mesh, &s->to.mesh))
            return gone | came ? "changes partials" : NULL;
        return partials(&s->from) | partials(&s->to) ? "meets partials" : NULL;
    }
    return "is of unknown kind";
}

/* Every element that a rank lacks is held by a rank that differs along the step's mesh dims only.
   Slices find everything at home. */
static const char *reach_fault(const tsr_redist_plan_step *s)
{
    static bool want[NAIVE_MAX], have[NAIVE_MAX], some[NAIVE_MAX];
    int n = tsr__mesh_size(&s->from.mesh), coord[TSR_MAX_MESH], other[TSR_MAX_MESH];
    int64_t count = tsr_shape_count(&s->from.shape);
    unsigned group = s->kind == TSR_STEP_SLICE ? 0 : s->mdims;

    if (!tsr__mesh_equal(&s->from.mesh, &s->to.mesh) || count > NAIVE_MAX || n > 16)
        return NULL;
    for (int r = 0; r < n; r++) {
        tsr__mesh_coords(&s->from.mesh, r, coord);
        memset(have, 0, sizeof have);
        naive_elements(&s->to, coord, want);
        for (int q = 0; q < n; q++) {
            bool near = true;
            tsr__mesh_coords(&s->from.mesh, q, other);
            for (int m = 0; m < s->from.mesh.ndim; m++)
                near = near && (coord[m] == other[m] || group >> m & 1);
            if (near)
                naive_elements(&s->from, other, some);
            for (int64_t e = 0; e < count && near; e++)
                have[e] = have[e] || some[e];
        }
        for (int64_t e = 0; e < count; e++)
            if (want[e] && !have[e])
                return "an element is out of reach";
    }
    return NULL;
}

/* Equal in all that matters: by elements where the tensor is small, else by text. */
static bool same_layout(const tsr_layout *a, const tsr_layout *b)
{
    char x[TSR_TEXT_LEN], y[TSR_TEXT_LEN];
    bool small = tsr_shape_count(&a->shape) <= NAIVE_MAX && tsr__mesh_size(&a->mesh) <= 16;

    if (!tsr__mesh_equal(&a->mesh, &b->mesh))
        return false;
    tsr__layout_text(a, x, sizeof x);
    tsr__layout_text(b, y, sizeof y);
    return strcmp(x, y) == 0 || (small && naive_same(a, b));
}

void check_plan(const tsr_redist *plan)
{
    tsr_layout now = tsr__layout_of(&plan->from), goal = tsr__layout_of(&plan->to);
    double seconds = 0;

    for (int i = 0; i < plan->n_steps; i++) {
        const tsr_redist_plan_step *s = &plan->step[i];
        const char *fault = step_fault(s);
        if (!same_layout(&now, &s->from))
            illegal(plan, i, "does not begin where the step before ended");
        if (!fault)
            fault = s->kind == TSR_STEP_EXCHANGE && !tsr__mesh_equal(&s->from.mesh, &s->to.mesh)
                        ? NULL
                        : reach_fault(s);
        if (fault)
            illegal(plan, i, fault);
        if (!(s->seconds >= -1e-18))
            illegal(plan, i, "takes negative time");
        seconds += s->seconds;
        now = s->to;
    }
    if (!same_layout(&now, &goal))
        illegal(plan, plan->n_steps, "the last step does not end at the target");
    if (fabs(seconds - plan->seconds) > 1e-9 * seconds)
        illegal(plan, plan->n_steps, "the seconds do not add up");
}
