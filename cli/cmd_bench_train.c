/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_bench_train.c - tessera bench train: a step of training, forward, backward and update, of
   three models on 1, 2 and 4 thread ranks, beside the peer's time in the same shapes; and the share
   of it that is neither in kernels nor in moving data. */
#include "bench_models.h"
#include "cmd_bench.h"
#include "measure.h"

#include <tessera_ext.h>

enum { WORLDS = 3 };

static const char *const meshes[WORLDS] = {"ranks=1", "ranks=2", "ranks=4"};

/* The peer's times on 1, 2 and 4 ranks of two processors, in ms, and what is aimed at on two. */
static const struct {
    const char *name;
    bench_model_open *open;
    double peer[WORLDS], goal;
} models[] = {
    {"DLRM, 8 tables of 100000x64, bags", bench_dlrm, {146, 204, 380}, 5},
    {"CNN, 2 convolutions, 64x28x28", bench_cnn, {112, 91, 147}, 2},
    {"transformer, 2 layers, 8x128 of 8192", bench_transformer, {377, 392, 426}, 2},
};
enum { N_MODELS = sizeof models / sizeof models[0] };

typedef struct bench {
    const bench_ask *ask;
    int model, world;
} bench;

static tsr_status run_step(void *arg)
{
    return bench_model_step(arg);
}

/* Seconds that ops spent so far, on this rank. */
static double in_ops(const tsr_mesh *mesh)
{
    double sum = 0;

    for (int i = 0; i < tsr_op_count(); i++) {
        const tsr_op_counters c = tsr_op_counters_get(mesh, tsr_op_row(i)->name);
        sum += c.moving + c.computing;
    }
    return sum;
}

/* The share of steps that is not in ops, on this rank; reading the clocks is part of it. */
static tsr_status time_outside(bench_model *m, double *share)
{
    enum { STEPS = 20 };
    tsr_status st = TSR_OK;
    double begin, ops, all;

    tsr_statistics_set(m->mesh, true);
    ops = in_ops(m->mesh);
    begin = measure_now();
    for (int i = 0; i < STEPS && st == TSR_OK; i++)
        st = bench_model_step(m);
    all = measure_now() - begin;
    *share = 1 - (in_ops(m->mesh) - ops) / all;
    tsr_statistics_set(m->mesh, false);
    return st;
}

static tsr_status measure(bench *b, bench_model *m)
{
    const double peer = models[b->model].peer[b->world] * 1e-3, goal = models[b->model].goal;
    measure_work work = {run_step, m, 0};
    double share = 0;
    int64_t bytes;
    json_t *row;
    tsr_status st = measure_together(m->mesh, &work, 1, 3);

    if (st == TSR_OK)
        st = time_outside(m, &share);
    tsr_counters_reset(m->mesh);
    if (st == TSR_OK)
        st = bench_model_step(m);
    bytes = tsr_counters_get(m->mesh).bytes_in;
    if (st == TSR_OK)
        st = tsr_all_reduce(m->mesh, TSR_I64, TSR_MAX, &bytes, 1, &bytes);
    if (st != TSR_OK || tsr_mesh_rank(m->mesh) != 0)
        return st;
    row = json_pack("{s:s, s:i, s:f, s:I, s:i, s:f, s:f}", "model", models[b->model].name, "ranks",
                    tsr_mesh_size(m->mesh), "seconds", work.seconds, "bytes_in", (json_int_t)bytes,
                    "memory_bytes", (int)tsr_counters_get(m->mesh).memory_peak, "peer_seconds",
                    peer, "speedup", peer / work.seconds);
    if (b->world == 0) /* elsewhere ranks wait for each other in places that are no op's */
        json_object_set_new(row, "outside", json_real(share));
    if (b->world == 1) {
        json_object_set_new(row, "goal_speedup", json_real(goal));
        json_object_set_new(row, "goal",
                            json_string(peer / work.seconds >= goal ? "ok" : "missed"));
    }
    json_array_append_new(b->ask->results, row);
    return st;
}

static tsr_status job(tsr_mesh *mesh, void *arg)
{
    bench *b = arg;
    bench_model m = {0};
    tsr_status st = models[b->model].open(mesh, &m);

    if (st == TSR_OK)
        st = measure(b, &m);
    bench_model_close(&m);
    return st;
}

int bench_train(const bench_ask *ask, int ranks)
{
    bench b = {.ask = ask};
    tsr_error err = {0};

    (void)ranks;
    for (b.model = 0; b.model < N_MODELS; b.model++)
        for (b.world = 0; b.world < WORLDS; b.world++) {
            const tsr_run_opts opts = {.mesh = meshes[b.world], .world = TSR_WORLD_THREAD};

            cli_progress("bench: %s on %s", models[b.model].name, meshes[b.world]);
            if (tsr_run(&opts, job, &b, &err) != TSR_OK)
                return cli_error(&err);
        }
    return CLI_OK;
}
