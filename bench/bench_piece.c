/* SPDX-License-Identifier: Apache-2.0 */
/* bench_piece.c - copies and reductions of strided pieces, on one and two threads at once, in turns
   with memcpy for the same traffic. */
#include "base/piece.h"
#include "bench.h"
#include "traffic.h"

#include <stdlib.h>
#include <string.h>

enum { MIB = 1 << 20, BUFFER = 160 * MIB, SMALL = 32 * MIB, SOURCES = 8, THREADS = 2 };

/* rows of `row` bytes, `to` and `from` bytes apart; or a square matrix to be transposed */
static const struct {
    const char *name;
    size_t size; /* of an element */
    int64_t rows, row, to, from;
} copies[] = {
    {"32 MiB contiguous", 4, 2, 16 * MIB, 16 * MIB, 16 * MIB},
    {"32 MiB, rows 8K of 16K -> packed", 4, 4096, 8192, 8192, 16384},
    {"32 MiB, packed -> rows 8K of 16K", 4, 4096, 8192, 16384, 8192},
    {"32 MiB, rows 8K of 16K -> rows 8K of 16K", 4, 4096, 8192, 16384, 16384},
    {"32 MiB, rows 1K of 2K -> packed", 4, 32768, 1024, 1024, 2048},
    {"32 MiB, rows 1000 of 2000 -> packed", 4, 32768, 1000, 1000, 2000},
    {"32 MiB, rows 256 of 512 -> packed", 4, 131072, 256, 256, 512},
    {"32 MiB, packed -> rows 256 of 512", 4, 131072, 256, 512, 256},
    {"4 MiB, rows 8K of 16K -> packed", 4, 512, 8192, 8192, 16384},
    {"512 KiB, rows 512 of 1K -> packed", 4, 1024, 512, 512, 1024},
    {"512 KiB, rows 48 of 96 -> packed", 4, 10922, 48, 48, 96},
    {"512 KiB, rows 4 of 8 -> packed", 4, 131072, 4, 4, 8},
    {"f32[2048,2048] transposed", 4, 2048, 0, 0, 0},
    {"f64[2048,2048] transposed", 8, 2048, 0, 0, 0},
    {"f16[4096,4096] transposed", 2, 4096, 0, 0, 0},
    {"u8[4096,4096] transposed", 1, 4096, 0, 0, 0},
    {"f32[300,300] transposed", 4, 300, 0, 0, 0},
};

static const struct {
    const char *name;
    tsr_dtype dtype;
    tsr_reduce op;
    int n_src;
    int64_t bytes;
} reductions[] = {
    {"sum of 2 x 32 MiB f32", TSR_F32, TSR_SUM, 2, 32 * MIB},
    {"sum of 4 x 32 MiB f32", TSR_F32, TSR_SUM, 4, 32 * MIB},
    {"sum of 8 x 32 MiB f32", TSR_F32, TSR_SUM, 8, 32 * MIB},
    {"max of 2 x 32 MiB f64", TSR_F64, TSR_MAX, 2, 32 * MIB},
    {"max of 2 x 32 MiB i64", TSR_I64, TSR_MAX, 2, 32 * MIB},
    {"sum of 2 x 32 MiB bf16", TSR_BF16, TSR_SUM, 2, 32 * MIB},
    {"sum of 2 x 32 MiB f16", TSR_F16, TSR_SUM, 2, 32 * MIB},
    {"sum of 2 x 32 MiB field", (tsr_dtype)TSR__FIELD, TSR_SUM, 2, 32 * MIB},
    {"sum of 2 x 256 KiB f32", TSR_F32, TSR_SUM, 2, MIB / 4},
    {"sum of 8 x 64 KiB f32", TSR_F32, TSR_SUM, 8, MIB / 16},
    {"max of 4 x 64 KiB i32", TSR_I32, TSR_MAX, 4, MIB / 16},
    {"sum of 4 x 64 KiB bf16", TSR_BF16, TSR_SUM, 4, MIB / 16},
    {"sum of 4 x 64 KiB f16", TSR_F16, TSR_SUM, 4, MIB / 16},
};

/* One thread's share of a case; the buffers are all threads'. */
typedef struct piece_job {
    tsr_status (*run)(void *job);
    size_t size, plain; /* of an element; what memcpy copies to read and write as much */
    char *dst, *src[SOURCES];
    tsr_piece to, from;
    tsr_dtype dtype;
    tsr_reduce op;
    int n_src;
} piece_job;

typedef struct piece_run {
    bench *b;
    char *dst, *src[SOURCES];
} piece_run;

static tsr_status run_memcpy(void *arg)
{
    const piece_job *j = arg;

    memcpy(j->dst, j->src[0], j->plain);
    return TSR_OK;
}

static tsr_status run_copy(void *arg)
{
    const piece_job *j = arg;

    tsr__piece_copy(j->size, j->dst, &j->to, j->src[0], &j->from);
    return TSR_OK;
}

static tsr_status run_reduce(void *arg)
{
    const piece_job *j = arg;
    const void *src[SOURCES];
    const tsr_piece *from[SOURCES];

    for (int k = 0; k < j->n_src; k++) {
        src[k] = j->src[k];
        from[k] = &j->from;
    }
    tsr__piece_reduce(j->dtype, j->op, 1, j->n_src, j->dst, &j->to, src, from);
    return TSR_OK;
}

/* Bytes from the parts of the first thread to those of this one. */
static tsr_status time_piece(piece_run *r, tsr_mesh *mesh, const char *name, piece_job mine,
                             int64_t to, int64_t from)
{
    const int me = tsr_mesh_rank(mesh);
    piece_job plain = mine;
    measure_work works[] = {{.run = mine.run, .arg = &mine}, {.run = run_memcpy, .arg = &plain}};
    tsr_status st;

    mine.dst = r->dst + me * to;
    for (int k = 0; k < SOURCES; k++)
        mine.src[k] = r->src[k] + me * from;
    plain.dst = r->dst + (size_t)me * plain.plain;
    plain.src[0] = r->src[0] + (size_t)me * plain.plain;
    st = measure_together(mesh, works, 2, 0.1);
    if (st == TSR_OK && me == 0)
        bench_beside(bench_row(r->b, "{s:i, s:s, s:f}", "threads", tsr_mesh_size(mesh), "case",
                               name, "seconds", works[0].seconds),
                     "memcpy", works[1].seconds);
    return st;
}

static tsr_status bench_copy(piece_run *r, tsr_mesh *mesh, int c)
{
    const int64_t unit = (int64_t)copies[c].size, part = copies[c].rows / tsr_mesh_size(mesh);
    const bool turn = copies[c].row == 0; /* to be transposed */
    const int64_t width = turn ? copies[c].rows : copies[c].row / unit;
    piece_job j = {.run = run_copy, .size = copies[c].size};

    j.to = (tsr_piece){
        .n = 2, .count = {part, width}, .stride = {turn ? width * unit : copies[c].to, unit}};
    j.from = (tsr_piece){.n = 2,
                         .count = {part, width},
                         .stride = {turn ? unit : copies[c].from, turn ? width * unit : unit}};
    j.plain = (size_t)(part * width * unit);
    return time_piece(r, mesh, copies[c].name, j, part * j.to.stride[0], part * j.from.stride[0]);
}

static tsr_status bench_reduction(piece_run *r, tsr_mesh *mesh, int c)
{
    const int64_t size = (int64_t)tsr_dtype_size(reductions[c].dtype);
    const int64_t part = reductions[c].bytes / tsr_mesh_size(mesh);
    piece_job j = {.run = run_reduce,
                   .dtype = reductions[c].dtype,
                   .op = reductions[c].op,
                   .n_src = reductions[c].n_src,
                   .plain = (size_t)(part * (reductions[c].n_src + 1) / 2)};

    j.to = (tsr_piece){.n = 1, .count = {part / size}, .stride = {size}};
    j.from = j.to;
    return time_piece(r, mesh, reductions[c].name, j, part, part);
}

static tsr_status job(tsr_mesh *mesh, void *arg)
{
    piece_run *r = arg;
    tsr_status st = TSR_OK;

    for (size_t c = 0; c < sizeof copies / sizeof *copies && st == TSR_OK; c++)
        st = bench_copy(r, mesh, (int)c);
    for (size_t c = 0; c < sizeof reductions / sizeof *reductions && st == TSR_OK; c++)
        st = bench_reduction(r, mesh, (int)c);
    return st;
}

static int run_all(bench *b)
{
    piece_run r = {.b = b, .dst = traffic_memory(BUFFER)};
    int status = CLI_OK;

    for (int k = 0; k < SOURCES; k++)
        r.src[k] = traffic_memory(k == 0 ? BUFFER : SMALL);
    for (int threads = 1; threads <= THREADS && status == CLI_OK; threads++) {
        cli_progress("pieces on %d threads", threads);
        status = bench_on_ranks(TSR_WORLD_THREAD, threads, job, &r);
    }
    free(r.dst);
    for (int k = 0; k < SOURCES; k++)
        free(r.src[k]);
    return status;
}

const benchmark bench_piece = {
    .name = "piece",
    .synopsis = "",
    .help = "copies and reductions of strided memory, beside memcpy",
    .run = run_all,
    .columns = {{"threads", "threads", COUNT},
                {"what", "case", TEXT},
                {"time", "seconds", SECONDS},
                BENCH_YARDSTICK_COLUMNS},
    .note = "memcpy: of contiguous memory, reading and writing as many bytes. Threads share the\n"
            "work. ratio: time divided by the yardstick's."};
