/* SPDX-License-Identifier: Apache-2.0 */
/* bench_world.c - what a barrier and an all-reduce cost, large ones in turns with a memcpy of as
   many bytes on all ranks at once. */
#include "bench.h"

#include <inttypes.h>
#include <string.h>

enum { MANY = 200, MANY_BYTES = 64 << 10, LARGEST = 16 << 20 };

typedef struct call {
    tsr_mesh *world;
    int64_t n; /* f32 elements; 0: a barrier */
    float *send, *recv;
} call;

static tsr_status run_call(void *arg)
{
    const call *c = arg;

    return c->n ? tsr_all_reduce(c->world, TSR_F32, TSR_SUM, c->send, c->n, c->recv)
                : tsr_barrier(c->world);
}

static tsr_status run_copy(void *arg)
{
    const call *c = arg;

    memcpy(c->recv, c->send, (size_t)c->n * sizeof *c->send);
    return TSR_OK;
}

static float *buffer(tsr_mesh *world)
{
    char text[CLI_TEXT];
    tsr_local view;

    snprintf(text, sizeof text, "f32[%d]", LARGEST / 4);
    return tsr_local_view(tsr_zeros(world, text), &view) == TSR_OK ? view.data : NULL;
}

static tsr_status bench_call(bench *b, call *c)
{
    const bool large = c->n * 4 > MANY_BYTES;
    const int ranks = tsr_mesh_size(c->world), calls = large ? 1 : MANY;
    measure_work works[] = {{.run = run_call, .arg = c, .calls = calls},
                            {.run = run_copy, .arg = c}};
    tsr_status st = measure_together(c->world, works, large ? 2 : 1, 0.3);
    json_t *row;

    if (st != TSR_OK || tsr_mesh_rank(c->world) != 0)
        return st;
    row = bench_row(b, "{s:s, s:s, s:i, s:I, s:f}", "case", c->n ? "all-reduce" : "barrier",
                    "world", cli_world_name(b->world), "ranks", ranks, "bytes",
                    (json_int_t)(c->n * 4), "seconds", works[0].seconds);
    if (large)
        bench_beside(row, "memcpy", works[1].seconds);
    if (c->n == 1)
        bench_peer(b, row, "seconds", "*gloo_%d/*/all_reduce 4B latency/median", ranks);
    else if (c->n)
        bench_peer(b, row, "seconds", "*gloo_%d/*/all_reduce %" PRId64 "MiB/median", ranks,
                   c->n * 4 >> 20);
    return st;
}

static tsr_status job(tsr_mesh *world, void *arg)
{
    static const int64_t bytes[] = {0,          4,       256,     4 << 10, 16 << 10,
                                    MANY_BYTES, 1 << 20, 4 << 20, LARGEST};
    call c = {.world = world, .send = buffer(world), .recv = buffer(world)};
    tsr_status st = tsr_mesh_status(world);

    for (size_t i = 0; i < sizeof bytes / sizeof bytes[0] && st == TSR_OK; i++) {
        c.n = bytes[i] / 4;
        st = bench_call(arg, &c);
    }
    return st;
}

static int run_all(bench *b)
{
    return bench_on_each(b, job);
}

const benchmark bench_world = {
    .name = "world",
    .synopsis = "[--ranks LIST] [world=WORLD]",
    .help = "barriers and all-reduces, beside memcpy",
    .takes = BENCH_RANKS | BENCH_WORLD,
    .run = run_all,
    .columns = {{"ranks", "ranks", COUNT},
                {"call", "case", TEXT},
                {"bytes", "bytes", BYTES},
                {"time", "seconds", SECONDS},
                BENCH_YARDSTICK_COLUMNS,
                BENCH_PEER_COLUMNS},
    .note = "Up to 64 KiB each call's share of 200 in a row, as the slowest rank sees it. memcpy:\n"
            "of as many bytes, on all ranks at once. ratio: time divided by the yardstick's."};
