/* SPDX-License-Identifier: Apache-2.0 */
/* job.c - runs a job on every rank of a world: makes the contexts, joins the world, calls the job,
   takes everything down again, and picks the error to report. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/args.h"
#include "base/log.h"
#include "base/text.h"
#include "dispatch/context.h"
#include "kernel/blas.h"
#include "kernel/job_blas.h"
#include "layout/cost.h"
#include "world/verdict.h"

enum { DEFAULT_TIMEOUT_MS = 60000, MOST_SECONDS = 1000000 };
enum { MOST_THREADS = 1024 };
enum { STACK_BYTES = 16 << 20 };

/* What all ranks are started with. */
typedef struct job_setup {
    tsr_mesh_shape mesh;
    bool whole_world; /* no mesh was given: all ranks, as one dim */
    tsr_world_kind world;
    int timeout_ms;
    tsr_cost cost;
    tsr_log_level log_level;
    tsr_log_function log;
    void *log_arg;
    bool strict, validating;
    tsr_report report;
    tsr_job job;
    void *arg;
} job_setup;

/* ---- settings ---- */

static tsr_status pick_world(tsr_world_kind asked, tsr_world_kind *out, tsr_error *err)
{
    const char *text = getenv("TESSERA_WORLD");

    if ((unsigned)asked > TSR_WORLD_SIM)
        return tsr__fail(err, TSR_ERR_ARG, "%d is not a tsr_world_kind", (int)asked);
    if (asked != TSR_WORLD_AUTO)
        *out = asked;
    else if (!text || !*text || strcmp(text, "auto") == 0)
        *out = tsr__mpi_launched() ? TSR_WORLD_MPI : TSR_WORLD_THREAD;
    else
        return tsr__world_parse(text, out, err);
    return TSR_OK;
}

tsr_status tsr__world_parse(const char *text, tsr_world_kind *out, tsr_error *err)
{
    static const char *const name[] = {"auto", "thread", "mpi", "sim"};

    for (int i = 0; i < 4; i++)
        if (strcmp(text, name[i]) == 0) {
            *out = (tsr_world_kind)i;
            return TSR_OK;
        }
    return tsr__fail(err, TSR_ERR_PARSE, "unknown world \"%s\"; expected auto, thread, mpi or sim",
                     text);
}

tsr_status tsr__timeout_parse(const char *text, int *out, tsr_error *err)
{
    char *end;
    double seconds = tsr__parse_double(text, &end);

    if (end == text || *end || !(seconds >= 0))
        return tsr__fail(err, TSR_ERR_PARSE,
                         "timeout \"%s\": expected a number of seconds, or 0 for none", text);
    if (seconds > MOST_SECONDS)
        return tsr__fail(err, TSR_ERR_PARSE,
                         "timeout \"%s\": at most %d seconds, or 0 for no timeout", text,
                         MOST_SECONDS);
    *out = seconds == 0 ? -1 : seconds < 0.001 ? 1 : (int)(seconds * 1000);
    return TSR_OK;
}

static bool is_on(const char *variable)
{
    const char *text = getenv(variable);
    return text && *text && strcmp(text, "0") != 0;
}

/* TESSERA_STATS: off, a table, or JSON. */
static tsr_report report_wanted(void)
{
    const char *text = getenv("TESSERA_STATS");

    if (!is_on("TESSERA_STATS"))
        return TSR_REPORT_NONE;
    return strcmp(text, "json") == 0 ? TSR_REPORT_JSON : TSR_REPORT_TABLE;
}

static tsr_status read_setup(const tsr_run_opts *opts, job_setup *setup, tsr_error *err)
{
    const char *timeout = getenv("TESSERA_TIMEOUT"), *cost = getenv("TESSERA_COST");
    tsr_status st;

    setup->timeout_ms = DEFAULT_TIMEOUT_MS;
    setup->log = opts->log;
    setup->log_arg = opts->log_arg;
    setup->strict = is_on("TESSERA_STRICT");
    setup->validating = is_on("TESSERA_VALIDATE");
    setup->report = report_wanted();
    TSR_TRY(tsr__log_level_parse(getenv("TESSERA_LOG"), &setup->log_level, err));
    TSR_TRY(pick_world(opts->world, &setup->world, err));
    if (opts->has_timeout)
        setup->timeout_ms = opts->timeout_ms;
    else if (timeout && *timeout)
        TSR_TRY(tsr__timeout_parse(timeout, &setup->timeout_ms, err));
    if (opts->cost)
        cost = opts->cost;
    TSR_TRY(tsr_cost_parse(cost && *cost ? cost : "default", &setup->cost, err));
    setup->whole_world = !opts->mesh;
    TSR_TRY(tsr_mesh_parse(opts->mesh ? opts->mesh : "1", &setup->mesh, err));
done:
    return st;
}

/* ---- one rank ---- */

static void open_context(tsr_ctx *ctx, const job_setup *setup)
{
    memset(ctx, 0, sizeof *ctx);
    tsr__pool_open(&ctx->pool, &ctx->heap);
    ctx->memory = (struct tsr_memory){.heap = &ctx->heap, .pool = &ctx->pool};
    ctx->caches.limit = TSR_PLAN_LIMIT;
    ctx->caches.limit_bytes = TSR_PLAN_BYTES;
    ctx->cost = setup->cost;
    ctx->log_level = setup->log_level;
    ctx->log = setup->log;
    ctx->log_arg = setup->log_arg;
    ctx->strict = setup->strict;
    ctx->validating = setup->validating;
    ctx->report = setup->report;
    ctx->statistics = setup->report != TSR_REPORT_NONE;
}

/* The mesh over all ranks of the world. */
static tsr_status open_mesh(tsr_ctx *ctx, const job_setup *setup, tsr_mesh **out)
{
    tsr_mesh_shape shape = setup->mesh;
    char text[TSR_TEXT_LEN];
    tsr_status st;

    if (setup->whole_world)
        TSR_TRY(tsr__mesh_shape_make(&ctx->world->size, 1, 0, &shape, &ctx->error));
    if (tsr__mesh_size(&shape) != ctx->world->size)
        TSR_TRY(tsr__fail(
            &ctx->error, TSR_ERR_MESH, "mesh %s has %d ranks, but the world was started with %d",
            tsr_mesh_text(&shape, text, sizeof text), tsr__mesh_size(&shape), ctx->world->size));
    TSR_TRY(tsr__mesh_open(ctx, &shape, out));
done:
    return st;
}

static void log_start(const tsr_ctx *ctx, const job_setup *setup, const tsr_mesh *mesh)
{
    static const char *const kind[] = {[TSR_WORLD_AUTO] = "nothing",
                                       [TSR_WORLD_THREAD] = "threads of one process",
                                       [TSR_WORLD_MPI] = "MPI processes",
                                       [TSR_WORLD_SIM] = "a simulation without data"};
    char text[TSR_TEXT_LEN];

    if (ctx->world->rank != 0 || !tsr__log_is_on(ctx, TSR_LOG_INFO))
        return;
    tsr__log(ctx, TSR_LOG_INFO, "mesh %s: %d ranks as %s; timeout %g s",
             tsr_mesh_text(&mesh->shape, text, sizeof text), ctx->world->size,
             kind[ctx->world->kind], 1e-3 * setup->timeout_ms);
    tsr__log(ctx, TSR_LOG_INFO,
             "costs: %g s a message, %g bytes/s between ranks, %g s a step, %g bytes/s of local "
             "copies%s",
             ctx->cost.latency[0], 1 / ctx->cost.per_byte[0], ctx->cost.per_step,
             1 / ctx->cost.memory, ctx->cost.reproducible ? "; reproducible" : "");
}

/* Of the first rank; of all with TSR_LOG_DEBUG. */
static void log_end(const tsr_ctx *ctx, const tsr_mesh *mesh)
{
    const tsr_log_level level = ctx->world->rank == 0 ? TSR_LOG_INFO : TSR_LOG_DEBUG;
    tsr_counters c;

    if (!mesh || !tsr__log_is_on(ctx, level))
        return;
    c = tsr_counters_get(mesh);
    tsr__log(ctx, level,
             "rank %d received %" PRId64 " bytes and sent %" PRId64 "; plan cache: %" PRId64
             " misses, %" PRId64 " hits; peak memory %zu bytes",
             ctx->world->rank, c.bytes_in, c.bytes_out, c.plan_misses, c.plan_hits, c.memory_peak);
}

/* The job itself, with all that it stands on. Takes down everything but the world. */
static tsr_status run_job(tsr_ctx *ctx, const job_setup *setup)
{
    tsr_mesh *mesh = NULL;
    tsr_status st;

    ctx->log_rank = ctx->world->rank;
    TSR_TRY(open_mesh(ctx, setup, &mesh));
    mesh->of_job = true;
    log_start(ctx, setup, mesh);
    TSR_TRY(tsr__context_open(ctx, mesh));
    TSR_TRY(setup->job(mesh, setup->arg));
    TSR_TRY(tsr__verdict_before_read(ctx));
done:
    /* a job may return a status of its own without having recorded anything */
    if (st != TSR_OK)
        tsr__fail(&ctx->error, st, "the job returned: %s", tsr_status_text(st));
    log_end(ctx, mesh);
    tsr__context_close(ctx);
    if (mesh)
        mesh->of_job = false;
    tsr_mesh_unref(mesh);
    return st;
}

/* From joining the world to leaving it. The error is left in ctx. */
static tsr_status run_rank(tsr_ctx *ctx, const job_setup *setup)
{
    tsr_status st = run_job(ctx, setup);

    /* what every rank is told in its own call need not interrupt those that are not there yet */
    if (st != TSR_OK && !(ctx->error_everywhere && ctx->error.code == st)) {
        tsr_error err = ctx->error;
        err.code = st;
        ctx->world->ops->poison(ctx->world, &err);
    }
    ctx->world->ops->close(ctx->world);
    ctx->world = NULL;
    tsr__pool_trim(&ctx->pool);
    if (ctx->heap.live != 0)
        tsr__log(ctx, TSR_LOG_WARN,
                 "%lld memory blocks were not released; does every tsr_keep have its tsr_unref?",
                 (long long)ctx->heap.live);
    return st;
}

/* ---- worlds ---- */

typedef struct rank_thread {
    pthread_t thread;
    bool started;
    int rank;
    tsr_thread_hub *hub;
    const job_setup *setup;
    tsr_ctx ctx;
    tsr_status st;
} rank_thread;

static void *thread_main(void *arg)
{
    rank_thread *r = arg;

    open_context(&r->ctx, r->setup);
    r->st = tsr__thread_join(r->hub, r->rank, &r->ctx, &r->ctx.world);
    if (r->st == TSR_OK)
        r->st = run_rank(&r->ctx, r->setup);
    return NULL;
}

/* The error to report: that of the first rank which failed by itself, not because of a peer. */
static tsr_status first_error(const rank_thread *rank, int n, tsr_error *err)
{
    const rank_thread *first = NULL;

    for (int i = 0; i < n; i++)
        if (rank[i].st != TSR_OK &&
            (!first || (first->st == TSR_ERR_PEER && rank[i].st != TSR_ERR_PEER)))
            first = &rank[i];
    if (!first)
        return TSR_OK;
    return tsr__fail(err, first->st, "%s", first->ctx.error.text);
}

/* A rank whose thread cannot be made would be waited for: it fails in its place. */
static void fail_unstarted(rank_thread *r, const job_setup *setup, int code)
{
    open_context(&r->ctx, setup);
    r->st = tsr__fail(&r->ctx.error, TSR_ERR_UNAVAILABLE, "rank %d: cannot start a thread: %s",
                      r->rank, tsr__errno_text(code));
    if (tsr__thread_join(r->hub, r->rank, &r->ctx, &r->ctx.world) != TSR_OK)
        return;
    r->ctx.world->ops->poison(r->ctx.world, &r->ctx.error);
    r->ctx.world->ops->close(r->ctx.world);
}

static tsr_status run_threads(const job_setup *setup, tsr_error *err)
{
    int n = tsr__mesh_size(&setup->mesh);
    tsr_heap heap = {0};
    rank_thread *rank = NULL;
    tsr_thread_hub *hub = NULL;
    pthread_attr_t attr;
    tsr_status st;

    if (n > 1 && !tsr__blas_usable())
        return tsr__fail(err, TSR_ERR_UNAVAILABLE,
                         "thread ranks need an OpenBLAS that was built with threads, this one was "
                         "not; install libopenblas0-pthread, or use world=mpi");
    if (n > MOST_THREADS)
        return tsr__fail(
            err, TSR_ERR_MESH,
            "the mesh has %d ranks, but the thread world supports at most %d; world=sim counts "
            "costs for more",
            n, MOST_THREADS);
    TSR_TRY(tsr__alloc(&heap, n, sizeof *rank, &rank, err));
    TSR_TRY(tsr__thread_hub_open(&heap, n, setup->timeout_ms, &hub, err));
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    for (int i = 0; i < n; i++) {
        int code;
        rank[i].rank = i;
        rank[i].hub = hub;
        rank[i].setup = setup;
        code = pthread_create(&rank[i].thread, &attr, thread_main, &rank[i]);
        rank[i].started = code == 0;
        if (code != 0)
            fail_unstarted(&rank[i], setup, code);
    }
    pthread_attr_destroy(&attr);
    for (int i = 0; i < n; i++)
        if (rank[i].started)
            pthread_join(rank[i].thread, NULL);
    st = first_error(rank, n, err);
done:
    tsr__thread_hub_close(hub);
    tsr__free(&heap, rank);
    return st;
}

/* MPI and sim: this process is one rank, or stands for all of them. */
static tsr_status run_here(const job_setup *setup, bool *known, tsr_error *err)
{
    tsr_ctx ctx;
    tsr_status st;

    open_context(&ctx, setup);
    if (setup->world == TSR_WORLD_MPI)
        TSR_TRY(tsr__mpi_join(&ctx, setup->timeout_ms, &ctx.world));
    else
        TSR_TRY(tsr__sim_join(&ctx, tsr__mesh_size(&setup->mesh), &ctx.world));
    st = run_rank(&ctx, setup);
    /* As among threads: what counts is the failure, not that this rank only heard of it, or had
       left before. All have said goodbye by now, so all know. */
    if ((st == TSR_ERR_PEER || st == TSR_OK) && ctx.peer_code) {
        st = ctx.peer_code;
        ctx.error_known = true;
    }
done:
    if (st != TSR_OK)
        tsr__fail(err, st, "%s", ctx.error.text);
    *known = ctx.error_known;
    return st;
}

/* Ranks of this process that compute. */
static int ranks_here(const job_setup *setup)
{
    return setup->world == TSR_WORLD_THREAD ? tsr__mesh_size(&setup->mesh)
           : setup->world == TSR_WORLD_SIM  ? 0
                                            : 1;
}

tsr_status tsr__run(const tsr_run_opts *opts, tsr_job job, void *arg, bool *known, tsr_error *err)
{
    const tsr_run_opts usual = tsr_run_opts_default();
    job_setup setup = {.cost = tsr_cost_default(), .job = job, .arg = arg};
    int ranks;
    tsr_status st;

    *known = false;
    *err = (tsr_error){0};
    if (!job)
        return tsr__fail(err, TSR_ERR_ARG, "tsr_run: the job is NULL");
    if (opts)
        TSR_TRY(TSR_SIZE_CHECK("tsr_run", opts, "tsr_run_opts_default", err));
    TSR_TRY(read_setup(opts ? opts : &usual, &setup, err));
    ranks = ranks_here(&setup);
    TSR_TRY(tsr__job_blas_begin(ranks, err));
    if (setup.world == TSR_WORLD_THREAD)
        st = run_threads(&setup, err);
    else
        st = run_here(&setup, known, err);
    tsr__job_blas_end(ranks);
done:
    return st;
}

tsr_status tsr_run(const tsr_run_opts *opts, tsr_job job, void *arg, tsr_error *err)
{
    tsr_error own;
    bool known;

    return tsr__run(opts, job, arg, &known, err ? err : &own);
}
