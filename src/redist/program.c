/* SPDX-License-Identifier: Apache-2.0 */
/* program.c - prepares the messages of each step of a plan for this rank, and keeps programs in the
   context's cache. Running them is run_program.c. */
#include "redist/program.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "layout/cost.h"

/* ---- one step ---- */

/* Layouts for an all-reduce: the local part as a flat array over the group, whole or in chunks. */
static void flat_layouts(const tsr_redist_plan_step *step, int64_t n, int group, tsr_layout *whole,
                         tsr_layout *chunks)
{
    *whole = (tsr_layout){.dtype = step->from.dtype,
                          .shape = {.ndim = 1, .size = {n}},
                          .mesh = {.ndim = 1, .size = {group}, .stride = {1}}};
    *chunks = *whole;
    chunks->dim[0] = (tsr_dim_layout){.n = 1, .factor = {1}};
}

static tsr_status prepare_all_reduce(tsr_ctx *ctx, const tsr_group *group, tsr_program_step *s)
{
    int64_t size = (int64_t)tsr_dtype_size(s->plan->from.dtype), n = (int64_t)s->bytes / size, end;
    tsr_layout whole, chunks;
    tsr_exchange_ask ask = {
        .n = group->n, .me = group->me, .mode = TSR_EXCHANGE_REDUCE, .dense = true};
    int *index = NULL;
    tsr_status st;

    TSR_TRY(tsr__alloc(&ctx->heap, group->n, sizeof *index, &index, &ctx->error));
    for (int i = 0; i < group->n; i++)
        index[i] = i;
    flat_layouts(s->plan, n, group->n, &whole, &chunks);
    ask.ranks = index;
    ask.from = &whole;
    ask.to = &whole;
    if (tsr__all_reduce_one_phase(s->plan->from.dtype, n, group->n)) {
        TSR_TRY(tsr__exchange_make(&ctx->heap, &ask, &s->move, &ctx->error));
        goto done;
    }
    tsr__chunk(n, group->n, group->me, &s->part, &end);
    ask.to = &chunks;
    TSR_TRY(tsr__exchange_make(&ctx->heap, &ask, &s->move, &ctx->error));
    ask.mode = TSR_EXCHANGE_REPLACE;
    ask.from = &chunks;
    ask.to = &whole;
    ask.in_place = true;
    TSR_TRY(tsr__exchange_make(&ctx->heap, &ask, &s->all_gather, &ctx->error));
done:
    tsr__free(&ctx->heap, index);
    return st;
}

static tsr_status prepare_step(tsr_mesh *mesh, const tsr_program *program, tsr_program_step *s)
{
    const tsr_redist_plan_step *step = s->plan;
    tsr_ctx *ctx = mesh->ctx;
    tsr_group *group = program->both, *own = NULL;
    tsr_exchange_ask ask = {.from = &step->from, .to = &step->to};
    bool alone = step->kind == TSR_STEP_SLICE || step->kind == TSR_STEP_TO_PARTIAL;
    tsr_status st = TSR_OK;

    if (step->kind == TSR_STEP_TO_PARTIAL) /* a copy; run_program.c makes it partial */
        return TSR_OK;
    if (step->kind != TSR_STEP_EXCHANGE || !group) {
        TSR_TRY(tsr__mesh_group(mesh, step->mdims, &own));
        group = own;
    }
    if (step->kind == TSR_STEP_ALL_REDUCE) {
        TSR_TRY(prepare_all_reduce(ctx, group, s));
        goto done;
    }
    ask.ranks = alone ? &ctx->world->rank : group->rank;
    ask.n = alone ? 1 : group->n;
    ask.me = alone ? 0 : group->me;
    ask.dense = !alone && step->kind != TSR_STEP_EXCHANGE;
    if (step->kind == TSR_STEP_REDUCE_SCATTER)
        ask.mode = TSR_EXCHANGE_REDUCE;
    TSR_TRY(tsr__exchange_make(&ctx->heap, &ask, &s->move, &ctx->error));
done:
    return st;
}

/* Steps before an exchange onto another mesh concern the ranks of the source's mesh only, and steps
   after it those of the target's. */
static tsr_mesh *mesh_of_step(const tsr_program *program, int i, tsr_mesh *mesh, tsr_mesh *other)
{
    const tsr_redist_plan_step *step = &program->plan->step[i];
    return tsr__mesh_equal(&step->from.mesh, &mesh->shape) ? mesh : other;
}

static tsr_status prepare(tsr_program *program, tsr_mesh *mesh, tsr_mesh *other, int i)
{
    tsr_program_step *s = &program->step[i];
    const tsr_redist_plan_step *step = &program->plan->step[i];
    char dims[TSR_TEXT_LEN], shape[TSR_TEXT_LEN];
    tsr_mesh *on = mesh_of_step(program, i, mesh, other);
    int index = tsr__mesh_find(&step->to.mesh, mesh->ctx->world->rank), coord[TSR_MAX_MESH];

    s->plan = step;
    s->fingerprint = tsr__hash_final(tsr__hash_mix(program->cached.hash, (uint64_t)i));
    snprintf(s->what, sizeof s->what, "%s of %s%s over %s", tsr_step_name(step->kind),
             tsr_dtype_name(step->from.dtype),
             tsr__shape_text(&step->from.shape, shape, sizeof shape),
             tsr__mesh_dims_text(&step->from.mesh, step->mdims, dims, sizeof dims));
    if (index >= 0) {
        tsr__mesh_coords(&step->to.mesh, index, coord);
        tsr_shape local = tsr__layout_local_shape(&step->to, coord);
        s->bytes = (size_t)tsr_shape_count(&local) * tsr_dtype_size(step->to.dtype);
    }
    if (on->index < 0 && !(program->both && step->kind == TSR_STEP_EXCHANGE))
        return TSR_OK;
    return prepare_step(on, program, s);
}

/* ---- the program ---- */

static void free_program(tsr_ctx *ctx, tsr_program *program)
{
    if (!program)
        return;
    for (int i = 0; program->step && i < program->plan->n_steps; i++) {
        tsr__exchange_free(&ctx->heap, &program->step[i].move);
        tsr__exchange_free(&ctx->heap, &program->step[i].all_gather);
    }
    tsr__free(&ctx->heap, program->step);
    tsr__group_close(program->both);
    tsr_redist_free(program->plan);
    tsr__free(&ctx->heap, program);
}

static int compare_ranks(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* All ranks of two meshes, ascending. */
static tsr_status open_both(tsr_ctx *ctx, const tsr_mesh_shape *a, const tsr_mesh_shape *b,
                            tsr_group **out)
{
    int n_a = tsr__mesh_size(a), n_b = tsr__mesh_size(b), n = 0;
    int *ranks = NULL;
    tsr_status st;

    TSR_TRY(tsr__alloc(&ctx->heap, (int64_t)n_a + n_b, sizeof *ranks, &ranks, &ctx->error));
    for (int i = 0; i < n_a; i++)
        ranks[n++] = tsr__mesh_rank_of(a, i);
    for (int i = 0; i < n_b; i++)
        if (tsr__mesh_find(a, tsr__mesh_rank_of(b, i)) < 0)
            ranks[n++] = tsr__mesh_rank_of(b, i);
    qsort(ranks, (size_t)n, sizeof *ranks, compare_ranks);
    TSR_TRY(tsr__group_open(ctx->world, ranks, n, out));
done:
    tsr__free(&ctx->heap, ranks);
    return st;
}

/* All ranks make the same plans; the first one tells. */
static void log_plan(const tsr_ctx *ctx, const tsr_redist *plan)
{
    const tsr_redist_info info = tsr_redist_info_get(plan);
    char steps[TSR_TEXT_LEN] = "", from[TSR_TEXT_LEN], to[TSR_TEXT_LEN], dims[TSR_TEXT_LEN];
    size_t used = 0;

    if (ctx->world->rank != 0 || !tsr__log_is_on(ctx, TSR_LOG_DEBUG))
        return;
    for (int i = 0; i < plan->n_steps && used < sizeof steps; i++)
        used += (size_t)snprintf(
            steps + used, sizeof steps - used, "%s%s over %s", i ? ", " : "",
            tsr_step_name(plan->step[i].kind),
            tsr__mesh_dims_text(&plan->step[i].from.mesh, plan->step[i].mdims, dims, sizeof dims));
    tsr__log(ctx, TSR_LOG_DEBUG,
             "redistribution of %s to %s: %s; %.3g us predicted, %" PRId64
             " bytes, memory peak %zu bytes",
             tsr_spec_text(&plan->from, from, sizeof from),
             tsr_placements_text(&plan->to, to, sizeof to), used ? steps : "nothing to do",
             1e6 * info.seconds, info.bytes, info.peak);
}

static tsr_status make_program(tsr_mesh *mesh, tsr_mesh *other, const tsr_spec *from,
                               const tsr_spec *to, uint64_t hash, tsr_program **out)
{
    tsr_ctx *ctx = mesh->ctx;
    tsr_program *program = NULL;
    tsr_status st;

    TSR_TRY(tsr__alloc(&ctx->heap, 1, sizeof *program, &program, &ctx->error));
    program->cached.hash = hash;
    program->cost_version = ctx->cost_version;
    program->memory_limit = ctx->memory_limit;
    TSR_TRY(tsr__redist_plan_make(&ctx->heap, from, to, &ctx->cost, ctx->memory_limit,
                                  TSR_RIVAL_BEST, &program->plan, &ctx->error));
    log_plan(ctx, program->plan);
    if (ctx->world->kind == TSR_WORLD_SIM) {
        program->info = tsr_redist_info_get(program->plan);
    } else {
        TSR_TRY(tsr__alloc(&ctx->heap, program->plan->n_steps, sizeof *program->step,
                           &program->step, &ctx->error));
        if (!tsr__mesh_equal(&from->mesh, &to->mesh))
            TSR_TRY(open_both(ctx, &from->mesh, &to->mesh, &program->both));
        for (int i = 0; i < program->plan->n_steps; i++)
            TSR_TRY(prepare(program, mesh, other, i));
    }
    *out = program;
    program = NULL;
done:
    free_program(ctx, program);
    return st;
}

static void drop_program(tsr_cached *entry, void *arg)
{
    free_program(arg, (tsr_program *)entry);
}

static bool is_program_of(const tsr_ctx *ctx, const tsr_program *p, uint64_t hash,
                          const tsr_spec *from, const tsr_spec *to)
{
    return p->cached.hash == hash && tsr_spec_equal(&p->plan->from, from) &&
           tsr_spec_equal(&p->plan->to, to) && p->memory_limit == ctx->memory_limit &&
           p->cost_version == ctx->cost_version;
}

tsr_status tsr__program_get(tsr_mesh *mesh, tsr_mesh *other, const tsr_spec *from,
                            uint64_t from_hash, const tsr_spec *to, tsr_program **out)
{
    tsr_ctx *ctx = mesh->ctx;
    /* the seed, for costs that differ are most often random ones */
    uint64_t hash = tsr__hash_mix(tsr__hash_mix(from_hash, tsr__spec_hash(to)), ctx->cost.seed);
    const size_t before = ctx->heap.bytes;
    tsr_status st;

    for (tsr_cached *c = tsr__cache_first(&ctx->programs, hash); c; c = c->next)
        if (is_program_of(ctx, (tsr_program *)c, hash, from, to)) {
            ctx->counters.plan_hits++;
            c->used = true;
            *out = (tsr_program *)c;
            return TSR_OK;
        }
    ctx->counters.plan_misses++;
    TSR_TRY(make_program(mesh, other, from, to, hash, out));
    (*out)->cached.bytes = ctx->heap.bytes - before;
    tsr__cache_add(&ctx->caches, &ctx->programs, &(*out)->cached, drop_program, ctx);
done:
    return st;
}

void tsr__programs_free(tsr_ctx *ctx)
{
    tsr__cache_clear(&ctx->caches, &ctx->programs);
}
