/* SPDX-License-Identifier: Apache-2.0 */
/* run_program.c - runs a prepared redistribution step by step: slices, all-gathers, all-to-alls,
   reduce-scatters, all-reduces. Intermediate parts come from the pool and go back as soon as the
   next step has read them. */
#include <string.h>

#include "redist/program.h"
#include "tensor/partial.h"

static tsr_status run_exchange(const tsr_exchange *exchange, const tsr_program_step *s,
                               tsr_group *group, uint64_t salt, const void *src, void *dst)
{
    tsr_exchange_run run = {.call = {.group = group,
                                     .fingerprint = s->fingerprint + salt,
                                     .dtype = s->plan->from.dtype,
                                     .send_base = src,
                                     .recv_base = dst,
                                     .op = s->plan->op,
                                     .divisor = s->plan->divisor}};
    tsr_status st;

    memcpy(run.call.what, s->what, sizeof s->what);
    TSR_TRY(tsr__exchange_start(exchange, &run));
    TSR_TRY(tsr__exchange_finish(&run));
done:
    return st;
}

/* Each rank reduces its chunk of the flat part into its place in dst, then takes the others'. */
static tsr_status run_all_reduce(const tsr_program_step *s, tsr_group *group, const void *src,
                                 void *dst)
{
    char *chunk = (char *)dst + s->part * (int64_t)tsr_dtype_size(s->plan->from.dtype);
    tsr_status st;

    TSR_TRY(run_exchange(&s->move, s, group, 0, src, chunk));
    if (s->all_gather.send || s->all_gather.recv)
        TSR_TRY(run_exchange(&s->all_gather, s, group, 1, chunk, dst));
done:
    return st;
}

static void run_slice(const tsr_program_step *s, const void *src, void *dst)
{
    size_t size = tsr_dtype_size(s->plan->from.dtype);

    for (int i = 0; s->move.n_send && i < s->move.send[0].n_pieces; i++)
        tsr__piece_copy(size, dst, &s->move.recv[0].piece[i], src, &s->move.send[0].piece[i]);
}

static void run_to_partial(const tsr_program_step *s, const tsr_mesh *mesh, const void *src,
                           void *dst)
{
    size_t size = tsr_dtype_size(s->plan->from.dtype);

    if (s->bytes)
        memcpy(dst, src, s->bytes);
    tsr__make_partial(&s->plan->to, s->plan->mdims, mesh->coord, dst, (int64_t)(s->bytes / size));
}

static tsr_status run_step(const tsr_program *program, const tsr_program_step *s, tsr_mesh *mesh,
                           const void *src, void *dst)
{
    tsr_group *group = program->both;
    tsr_status st = TSR_OK;

    switch (s->plan->kind) {
    case TSR_STEP_SLICE: run_slice(s, src, dst); break;
    case TSR_STEP_TO_PARTIAL: run_to_partial(s, mesh, src, dst); break;
    case TSR_STEP_ALL_REDUCE:
        TSR_TRY(tsr__mesh_group(mesh, s->plan->mdims, &group));
        TSR_TRY(run_all_reduce(s, group, src, dst));
        break;
    case TSR_STEP_ALL_GATHER:
    case TSR_STEP_ALL_TO_ALL:
    case TSR_STEP_REDUCE_SCATTER:
    case TSR_STEP_EXCHANGE:
        if (!group || s->plan->kind != TSR_STEP_EXCHANGE)
            TSR_TRY(tsr__mesh_group(mesh, s->plan->mdims, &group));
        TSR_TRY(run_exchange(&s->move, s, group, 0, src, dst));
        break;
    }
done:
    return st;
}

tsr_status tsr__program_run(const tsr_program *program, tsr_mesh *mesh, tsr_mesh *other,
                            const void *src, void *dst)
{
    tsr_ctx *ctx = mesh->ctx;
    void *part = NULL, *next = NULL; /* intermediate parts */
    int n = program->plan->n_steps;
    tsr_status st = TSR_OK;

    for (int i = 0; i < n; i++) {
        const tsr_program_step *s = &program->step[i];
        bool across = program->both && s->plan->kind == TSR_STEP_EXCHANGE;
        tsr_mesh *on = tsr__mesh_equal(&s->plan->from.mesh, &mesh->shape) ? mesh : other;
        bool takes_part = across || on->index >= 0;

        if (!takes_part)
            continue;
        if (i + 1 < n)
            TSR_TRY(tsr__pool_get(&ctx->pool, s->bytes, &next, &ctx->error));
        TSR_TRY(run_step(program, s, on, part ? part : src, next ? next : dst));
        tsr__pool_put(&ctx->pool, part);
        part = next;
        next = NULL;
    }
done:
    tsr__pool_put(&ctx->pool, part);
    tsr__pool_put(&ctx->pool, next);
    return st;
}

void tsr__program_count(tsr_ctx *ctx, const tsr_program *program)
{
    size_t peak = program->info.peak;

    for (int i = 0; i < program->plan->n_steps; i++) {
        const tsr_redist_plan_step *step = &program->plan->step[i];
        const bool across = !tsr__mesh_equal(&step->from.mesh, &step->to.mesh);

        ctx->counters.along[across ? TSR_MAX_MESH : tsr__along(step->mdims)] +=
            tsr__step_bytes_max(step);
    }
    ctx->counters.calls += program->info.n_steps;
    ctx->counters.bytes_in += program->info.bytes;
    ctx->counters.bytes_out += program->info.bytes;
    ctx->counters.seconds += program->info.seconds;
    if (peak > ctx->counters.memory_peak)
        ctx->counters.memory_peak = peak;
}
