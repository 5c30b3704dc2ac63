/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_bench_world.c - tessera bench world: what a barrier and a small all-reduce cost. */
#include "cmd_bench.h"
#include "measure.h"

#include <stdlib.h>

enum { BATCH = 200 };

typedef struct call {
    tsr_mesh *world;
    int64_t n; /* f32 elements; 0: a barrier */
    float send[4096], recv[4096];
} call;

static tsr_status run_call(void *arg)
{
    call *c = arg;
    tsr_status st = TSR_OK;

    for (int i = 0; i < BATCH && st == TSR_OK; i++)
        st = c->n ? tsr_all_reduce(c->world, TSR_F32, TSR_SUM, c->send, c->n, c->recv)
                  : tsr_barrier(c->world);
    return st;
}

static tsr_status job(tsr_mesh *world, void *arg)
{
    static const int64_t sizes[] = {0, 1, 64, 1024, 4096};
    const bench_ask *ask = arg;
    call *c = calloc(1, sizeof *c);
    tsr_status st = c ? TSR_OK : TSR_ERR_MEMORY;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0] && st == TSR_OK; i++) {
        measure_work work = {run_call, c, 0};

        c->world = world;
        c->n = sizes[i];
        st = measure_together(world, &work, 1, 0.3);
        if (st == TSR_OK && tsr_mesh_rank(world) == 0)
            json_array_append_new(
                ask->results,
                json_pack("{s:s, s:s, s:i, s:I, s:f}", "case", sizes[i] ? "all-reduce" : "barrier",
                          "world", cli_world_name(ask->world), "ranks", tsr_mesh_size(world),
                          "bytes", (json_int_t)(sizes[i] * 4), "seconds", work.seconds / BATCH));
    }
    free(c);
    return st;
}

int bench_latency(const bench_ask *ask, int ranks)
{
    char mesh[16];
    tsr_run_opts opts = {.mesh = mesh, .world = ask->world};
    tsr_error err = {0};

    snprintf(mesh, sizeof mesh, "%d", ranks);
    if (tsr_run(&opts, job, (void *)ask, &err) != TSR_OK)
        return cli_error(&err);
    return CLI_OK;
}
