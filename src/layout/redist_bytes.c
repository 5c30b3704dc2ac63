/* SPDX-License-Identifier: Apache-2.0 */
/* redist_bytes.c - exactly what each rank receives and sends in the steps of a plan, per tensor dim
   and multiplied, without a loop over pairs of ranks. Also the public look at a plan. */
#include <string.h>

#include "base/args.h"
#include "layout/redist_plan.h"

#include "base/reduce.h"

static bool moves_nothing(const tsr_redist_plan_step *step)
{
    return step->kind == TSR_STEP_SLICE || step->kind == TSR_STEP_TO_PARTIAL;
}

void tsr__holder(const tsr_layout *from, int rank, const int *owner, int *coord)
{
    int index = tsr__mesh_find(&from->mesh, rank);
    int own[TSR_MAX_MESH];

    tsr__mesh_coords(&from->mesh, index >= 0 ? index : rank % tsr__mesh_size(&from->mesh), own);
    memcpy(coord, own, sizeof own);
    for (int d = 0; d < from->shape.ndim; d++)
        for (int i = 0; i < from->dim[d].n; i++)
            coord[from->dim[d].mdim[i]] = owner[from->dim[d].mdim[i]];
}

static int64_t meet_runs(const tsr_layout *a, const int *ca, const tsr_layout *b, const int *cb,
                         int dim)
{
    tsr_heap heap = {0};
    tsr_runs x = {0}, y = {0};
    int64_t n = 0;

    if (tsr__layout_runs(&heap, a, dim, ca, &x, NULL) == TSR_OK &&
        tsr__layout_runs(&heap, b, dim, cb, &y, NULL) == TSR_OK)
        n = tsr__runs_meet_count(&x, &y);
    tsr__runs_free(&heap, &x);
    tsr__runs_free(&heap, &y);
    return n;
}

/* How many indices of dim the part of `a` at ca shares with the part of `b` at cb. */
static int64_t meet(const tsr_layout *a, const int *ca, const tsr_layout *b, const int *cb, int dim)
{
    int64_t lo, hi, lo2, hi2;

    if (tsr__layout_interval(a, dim, ca, &lo, &hi) &&
        tsr__layout_interval(b, dim, cb, &lo2, &hi2)) {
        lo = lo > lo2 ? lo : lo2;
        hi = hi < hi2 ? hi : hi2;
        return hi > lo ? hi - lo : 0;
    }
    return meet_runs(a, ca, b, cb, dim);
}

static int64_t meet_all(const tsr_layout *a, const int *ca, const tsr_layout *b, const int *cb)
{
    int64_t n = 1;
    for (int d = 0; d < a->shape.ndim && n > 0; d++)
        n *= meet(a, ca, b, cb, d);
    return n;
}

static int group_size(const tsr_redist_plan_step *step)
{
    int n = 1;
    for (int m = 0; m < step->from.mesh.ndim; m++)
        if (step->mdims >> m & 1)
            n *= step->from.mesh.size[m];
    return n;
}

static int group_index(const tsr_redist_plan_step *step, const int *coord)
{
    int index = 0;
    for (int m = 0; m < step->from.mesh.ndim; m++)
        if (step->mdims >> m & 1)
            index = index * step->from.mesh.size[m] + coord[m];
    return index;
}

/* Flat chunks: receive the others' terms of the own chunk, then the others' chunks. */
static int64_t all_reduce_in(const tsr_redist_plan_step *step, int64_t n, int group, int index)
{
    int64_t begin, end;

    if (tsr__all_reduce_one_phase(step->from.dtype, n, group))
        return (group - 1) * n;
    tsr__chunk(n, group, index, &begin, &end);
    return (group - 1) * (end - begin) + n - (end - begin);
}

int64_t tsr__step_bytes_in(const tsr_redist_plan_step *step, int rank)
{
    int index = tsr__mesh_find(&step->to.mesh, rank), source;
    int coord[TSR_MAX_MESH], source_coord[TSR_MAX_MESH];
    int64_t size = (int64_t)tsr_dtype_size(step->from.dtype), n;
    tsr_shape part;

    if (index < 0 || moves_nothing(step))
        return 0;
    tsr__mesh_coords(&step->to.mesh, index, coord);
    part = tsr__layout_local_shape(&step->to, coord);
    n = tsr_shape_count(&part);
    if (step->kind == TSR_STEP_REDUCE_SCATTER)
        return (group_size(step) - 1) * n * size;
    if (step->kind == TSR_STEP_ALL_REDUCE)
        return all_reduce_in(step, n, group_size(step), group_index(step, coord)) * size;
    source = tsr__mesh_find(&step->from.mesh, rank);
    if (source < 0)
        return n * size;
    tsr__mesh_coords(&step->from.mesh, source, source_coord);
    return (n - meet_all(&step->from, source_coord, &step->to, coord)) * size;
}

/* What an exchange makes this rank give to all ranks that take from it. */
static int64_t exchange_out(const tsr_redist_plan_step *step, int rank)
{
    int source = tsr__mesh_find(&step->from.mesh, rank), n_to = tsr__mesh_size(&step->to.mesh);
    int own[TSR_MAX_MESH], coord[TSR_MAX_MESH], giver[TSR_MAX_MESH];
    int64_t n = 0;

    if (source < 0)
        return 0;
    tsr__mesh_coords(&step->from.mesh, source, own);
    for (int i = 0; i < n_to; i++) {
        int taker = tsr__mesh_rank_of(&step->to.mesh, i);
        if (taker == rank)
            continue;
        tsr__holder(&step->from, taker, own, giver);
        if (memcmp(giver, own, (size_t)step->from.mesh.ndim * sizeof *own) != 0)
            continue;
        tsr__mesh_coords(&step->to.mesh, i, coord);
        n += meet_all(&step->from, own, &step->to, coord);
    }
    return n * (int64_t)tsr_dtype_size(step->from.dtype);
}

/* A reduction sends every other member its part of the own terms. */
static int64_t reduce_out(const tsr_redist_plan_step *step, int rank)
{
    int index = tsr__mesh_find(&step->from.mesh, rank), group = group_size(step), me;
    int64_t size = (int64_t)tsr_dtype_size(step->from.dtype), n, begin, end, out = 0;
    int coord[TSR_MAX_MESH];
    tsr_shape part;

    if (index < 0)
        return 0;
    tsr__mesh_coords(&step->from.mesh, index, coord);
    part = tsr__layout_local_shape(&step->from, coord);
    n = tsr_shape_count(&part);
    me = group_index(step, coord);
    if (step->kind == TSR_STEP_ALL_REDUCE) {
        if (tsr__all_reduce_one_phase(step->from.dtype, n, group))
            return (group - 1) * n * size;
        tsr__chunk(n, group, me, &begin, &end);
        return (n - (end - begin) + (group - 1) * (end - begin)) * size;
    }
    for (int i = 0; i < group; i++) {
        int rest = i, peer[TSR_MAX_MESH];
        memcpy(peer, coord, sizeof peer);
        for (int m = step->from.mesh.ndim - 1; m >= 0; m--)
            if (step->mdims >> m & 1) {
                peer[m] = rest % step->from.mesh.size[m];
                rest /= step->from.mesh.size[m];
            }
        part = tsr__layout_local_shape(&step->to, peer);
        out += i == me ? 0 : tsr_shape_count(&part);
    }
    return out * size;
}

int64_t tsr__step_bytes_out(const tsr_redist_plan_step *step, int rank)
{
    if (moves_nothing(step))
        return 0;
    if (step->kind == TSR_STEP_REDUCE_SCATTER || step->kind == TSR_STEP_ALL_REDUCE)
        return reduce_out(step, rank);
    return exchange_out(step, rank);
}

/* Ranks that differ only along mesh dims which shard neither layout receive alike. */
int64_t tsr__step_bytes_max(const tsr_redist_plan_step *step)
{
    const tsr_mesh_shape *mesh = &step->to.mesh;
    bool same_mesh = tsr__mesh_equal(&step->from.mesh, mesh);
    unsigned matters = same_mesh ? step->mdims : ~0u;
    int n = tsr__mesh_size(mesh), coord[TSR_MAX_MESH];
    int64_t most = 0;

    for (int d = 0; d < step->from.shape.ndim; d++) {
        for (int i = 0; i < step->from.dim[d].n; i++)
            matters |= 1u << step->from.dim[d].mdim[i];
        for (int i = 0; i < step->to.dim[d].n; i++)
            matters |= 1u << step->to.dim[d].mdim[i];
    }
    for (int i = 0; i < n && !moves_nothing(step); i++) {
        bool first = true;
        tsr__mesh_coords(mesh, i, coord);
        for (int m = 0; m < mesh->ndim; m++)
            first = first && (coord[m] == 0 || (matters >> m & 1));
        if (!first)
            continue;
        int64_t bytes = tsr__step_bytes_in(step, tsr__mesh_rank_at(mesh, coord));
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* ---- the public look at a plan ---- */

static size_t step_memory(const tsr_redist *plan, int i)
{
    size_t memory = tsr__layout_bytes(&plan->step[0].from) + tsr__layout_bytes(&plan->step[i].to);
    return i == 0 ? memory : memory + tsr__layout_bytes(&plan->step[i].from);
}

size_t tsr__redist_plan_peak(const tsr_redist *plan)
{
    tsr_layout from = tsr__layout_of(&plan->from);
    size_t peak = tsr__layout_bytes(&from);

    for (int i = 0; i < plan->n_steps; i++) {
        size_t memory = step_memory(plan, i);
        peak = memory > peak ? memory : peak;
    }
    return peak;
}

/* Bytes received over all steps by the rank of `mesh` that receives most. */
static int64_t most_bytes(const tsr_redist *plan, const tsr_mesh_shape *mesh)
{
    int64_t most = 0;

    for (int i = 0; i < tsr__mesh_size(mesh); i++) {
        int64_t bytes = tsr_redist_bytes_in(plan, tsr__mesh_rank_of(mesh, i));
        most = bytes > most ? bytes : most;
    }
    return most;
}

tsr_redist_info tsr_redist_info_get(const tsr_redist *plan)
{
    TSR_NEED((tsr_redist_info){0}, NULL, plan);

    tsr_redist_info info = {.n_steps = plan->n_steps, .seconds = plan->seconds};

    info.peak = tsr__redist_plan_peak(plan);
    if (plan->n_steps == 1)
        info.bytes = tsr__step_bytes_max(&plan->step[0]);
    if (plan->n_steps > 1)
        info.bytes = most_bytes(plan, &plan->to.mesh);
    if (plan->n_steps > 1 && !tsr__mesh_equal(&plan->from.mesh, &plan->to.mesh)) {
        int64_t before = most_bytes(plan, &plan->from.mesh);
        info.bytes = before > info.bytes ? before : info.bytes;
    }
    return info;
}

tsr_status tsr_redist_step(const tsr_redist *plan, int i, tsr_step *out)
{
    TSR_NEED(TSR_ERR_ARG, NULL, plan, out);

    const tsr_redist_plan_step *step;

    if (i < 0 || i >= plan->n_steps)
        return TSR_ERR_ARG;
    step = &plan->step[i];
    memset(out, 0, sizeof *out);
    out->kind = step->kind;
    for (int m = 0; m < TSR_MAX_MESH; m++)
        out->mdims[m] = step->mdims >> m & 1;
    out->bytes = tsr__step_bytes_max(step);
    out->memory = step_memory(plan, i);
    out->seconds = step->seconds;
    tsr__layout_text(&step->from, out->from, sizeof out->from);
    tsr__layout_text(&step->to, out->to, sizeof out->to);
    return TSR_OK;
}

int64_t tsr_redist_bytes_in(const tsr_redist *plan, int rank)
{
    TSR_NEED(0, NULL, plan);

    int64_t bytes = 0;
    for (int i = 0; i < plan->n_steps; i++)
        bytes += tsr__step_bytes_in(&plan->step[i], rank);
    return bytes;
}

int64_t tsr_redist_bytes_out(const tsr_redist *plan, int rank)
{
    TSR_NEED(0, NULL, plan);

    int64_t bytes = 0;
    for (int i = 0; i < plan->n_steps; i++)
        bytes += tsr__step_bytes_out(&plan->step[i], rank);
    return bytes;
}

const char *tsr_step_name(tsr_step_kind kind)
{
    static const char *const name[] = {"slice",      "all-gather", "all-to-all", "reduce-scatter",
                                       "all-reduce", "exchange",   "to-partial"};
    return kind >= TSR_STEP_SLICE && kind <= TSR_STEP_TO_PARTIAL ? name[kind] : "unknown step";
}
