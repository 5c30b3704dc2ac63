/* SPDX-License-Identifier: Apache-2.0 */
/* bench_train.c - a step of training, forward, backward and update, of three models on 1, 2 and 4
   thread ranks, and the share of it that is neither in kernels nor in moving data. */
#include "bench.h"
#include "bench_models.h"

#include <tessera_ext.h>

enum { WORLDS = 3 };

static const char *const meshes[WORLDS] = {"ranks=1", "ranks=2", "ranks=4"};

/* Under which names a peer's file has them on these ranks. */
static const char *const peer_ranks[WORLDS] = {"plain_1", "gloo_2", "gloo_4"};

static const struct {
    const char *name;
    bench_model_open *open;
    const char *peer;
} models[] = {
    {"DLRM, 8 tables of 100000x64, bags", bench_dlrm, "dlrm(rowwise->S0)"},
    {"CNN, 2 convolutions, 64x28x28", bench_cnn, "cnn"},
    {"transformer, 2 layers, 8x128 of 8192", bench_transformer, "transformer(loss_parallel)"},
};
enum { N_MODELS = sizeof models / sizeof models[0] };

typedef struct train_run {
    bench *b;
    int model, world;
} train_run;

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

static tsr_status measure(train_run *r, bench_model *m)
{
    measure_work work = {.run = run_step, .arg = m};
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
        st = bench_most(m->mesh, &bytes);
    if (st != TSR_OK || tsr_mesh_rank(m->mesh) != 0)
        return st;
    row = bench_row(r->b, "{s:s, s:i, s:f, s:I, s:I}", "model", models[r->model].name, "ranks",
                    tsr_mesh_size(m->mesh), "seconds", work.seconds, "bytes_in", (json_int_t)bytes,
                    "memory_bytes", (json_int_t)tsr_counters_get(m->mesh).memory_peak);
    if (r->world == 0) /* elsewhere ranks wait for each other in places that are no op's */
        json_object_set_new(row, "outside", json_real(share));
    bench_peer(r->b, row, "seconds", "*/%s/%s/median", models[r->model].peer, peer_ranks[r->world]);
    return st;
}

static tsr_status job(tsr_mesh *mesh, void *arg)
{
    train_run *r = arg;
    bench_model m = {0};
    tsr_status st = models[r->model].open(mesh, &m);

    if (st == TSR_OK)
        st = measure(r, &m);
    bench_model_close(&m);
    return st;
}

static int run_all(bench *b)
{
    train_run r = {.b = b};
    int status = CLI_OK;

    for (r.model = 0; r.model < N_MODELS; r.model++)
        for (r.world = 0; r.world < WORLDS && status == CLI_OK; r.world++) {
            cli_progress("%s on %s", models[r.model].name, meshes[r.world]);
            status = bench_on_mesh(TSR_WORLD_THREAD, meshes[r.world], job, &r);
        }
    return status;
}

const benchmark bench_train = {
    .name = "train",
    .synopsis = "",
    .help = "steps of training of three networks, on 1, 2 and 4 ranks",
    .run = run_all,
    .columns = {{"model", "model", TEXT},
                {"ranks", "ranks", COUNT},
                {"step", "seconds", SECONDS},
                {"outside", "outside", NUMBER},
                {"received", "bytes_in", BYTES},
                {"memory", "memory_bytes", BYTES},
                BENCH_PEER_COLUMNS},
    .note = "f32, plain SGD, one batch again and again: forward, backward and update. outside:\n"
            "the share of a step that is neither in a kernel nor in moving data. received: per\n"
            "step, by the rank that gets most. memory: of the first rank at the most."};
