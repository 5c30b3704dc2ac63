/* SPDX-License-Identifier: Apache-2.0 */
/* bench_mpi.c - calls of the message world against the MPI library's own functions, as ratios
   within one run: mpirun -n N bench_mpi [MIB..]. The best time of several, of the slowest rank. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/ctx.h"
#include "world/world.h"

enum { MAX_RANKS = 64, REPEATS = 30 };

typedef struct bench {
    tsr_ctx ctx;
    tsr_world *world;
    tsr_group *group;
    float *a, *b;
    int64_t n; /* floats in a and in b */
    tsr_piece piece[2][MAX_RANKS];
    tsr_msg msg[2][MAX_RANKS];
} bench;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(const bench *b, tsr_status st)
{
    if (st != TSR_OK) {
        fprintf(stderr, "bench_mpi: %s\n", b->ctx.error.text);
        exit(1);
    }
}

static void native(bench *b, tsr_collective c)
{
    must(b, b->world->ops->native(b->world, &c));
}

/* ---- our calls ------------------------------------------------------------------------------- */

static tsr_piece range(int64_t begin, int64_t n)
{
    return (tsr_piece){.offset = begin * 4, .n = 1, .count = {n}, .stride = {4}};
}

/* n floats as rows of `row` floats, `pitch` apart */
static tsr_piece rows(int64_t begin, int64_t n, int64_t row, int64_t pitch)
{
    return (tsr_piece){
        .offset = begin * 4, .n = 2, .count = {n / row, row}, .stride = {pitch * 4, 4}};
}

static void call(bench *b, int n_send, int n_recv, bool reduce)
{
    tsr_call c = {.group = b->group,
                  .fingerprint = 1,
                  .what = "bench",
                  .dtype = TSR_F32,
                  .send_base = b->a,
                  .recv_base = b->b,
                  .n_send = n_send,
                  .n_recv = n_recv,
                  .send = b->msg[0],
                  .recv = b->msg[1],
                  .reduce = reduce,
                  .op = TSR_SUM,
                  .divisor = 1};
    must(b, tsr__call(&c));
}

static void put(bench *b, int side, int i, int peer, tsr_piece piece)
{
    b->piece[side][i] = piece;
    b->msg[side][i] = (tsr_msg){.peer = peer, .n_pieces = 1, .piece = &b->piece[side][i]};
}

static void ours_exchange(bench *b, int64_t n)
{
    put(b, 0, 0, b->world->rank ^ 1, range(0, n));
    put(b, 1, 0, b->world->rank ^ 1, range(0, n));
    call(b, 1, 1, false);
}

static void ours_strided_out(bench *b, int64_t n)
{
    put(b, 0, 0, b->world->rank ^ 1, rows(0, n / 2, 64, 128));
    put(b, 1, 0, b->world->rank ^ 1, range(0, n / 2));
    call(b, 1, 1, false);
}

static void ours_strided(bench *b, int64_t n)
{
    put(b, 0, 0, b->world->rank ^ 1, rows(0, n / 2, 64, 128));
    put(b, 1, 0, b->world->rank ^ 1, rows(0, n / 2, 64, 128));
    call(b, 1, 1, false);
}

static void ours_all_gather(bench *b, int64_t n)
{
    int p = b->world->size;
    for (int i = 0; i < p; i++) {
        put(b, 0, i, i, range(0, n / p));
        put(b, 1, i, i, range(n / p * i, n / p));
    }
    call(b, p, p, false);
}

static void ours_all_to_all(bench *b, int64_t n)
{
    int p = b->world->size;
    for (int i = 0; i < p; i++) {
        put(b, 0, i, i, range(n / p * i, n / p));
        put(b, 1, i, i, range(n / p * i, n / p));
    }
    call(b, p, p, false);
}

static void ours_reduce_scatter(bench *b, int64_t n)
{
    int p = b->world->size;
    for (int i = 0; i < p; i++) {
        put(b, 0, i, i, range(n / p * i, n / p));
        put(b, 1, i, i, range(0, n / p));
    }
    call(b, p, p, true);
}

static void ours_all_reduce(bench *b, int64_t n)
{
    ours_reduce_scatter(b, n);
    ours_all_gather(b, n);
}

static void ours_broadcast(bench *b, int64_t n)
{
    int p = b->world->size, k = 0;
    for (int i = 1; b->world->rank == 0 && i < p; i++)
        put(b, 0, k++, i, range(0, n));
    put(b, 1, 0, 0, range(0, n));
    call(b, k, b->world->rank != 0, false);
}

static void ours_barrier(bench *b, int64_t n)
{
    int p = b->world->size, k = 0;
    (void)n;
    for (int i = 0; i < p; i++) {
        if (i == b->world->rank)
            continue;
        b->msg[0][k] = (tsr_msg){.peer = i};
        b->msg[1][k++] = (tsr_msg){.peer = i};
    }
    call(b, k, k, false);
}

/* ---- the library's --------------------------------------------------------------------------- */

static tsr_collective with(const bench *b, tsr_collective_kind kind, int64_t n)
{
    return (tsr_collective){
        .kind = kind, .dtype = TSR_F32, .op = TSR_SUM, .send = b->a, .recv = b->b, .n = n};
}

static void mpi_exchange(bench *b, int64_t n)
{
    tsr_collective c = with(b, TSR_COLL_SEND, n);
    c.peer = b->world->rank ^ 1;
    native(b, c);
}

/* what a program would do: pack, exchange */
static void mpi_strided_out(bench *b, int64_t n)
{
    float *mid = b->b + n / 2;
    for (int64_t i = 0; i < n / 128; i++)
        memcpy(mid + i * 64, b->a + i * 128, 64 * sizeof(float));
    tsr_collective c = with(b, TSR_COLL_SEND, n / 2);
    c.peer = b->world->rank ^ 1;
    c.send = mid;
    native(b, c);
}

static void mpi_strided(bench *b, int64_t n)
{
    mpi_strided_out(b, n);
    for (int64_t i = 0; i < n / 128; i++)
        memcpy(b->a + i * 128, b->b + i * 64, 64 * sizeof(float));
}

static void mpi_all_gather(bench *b, int64_t n)
{
    native(b, with(b, TSR_COLL_ALL_GATHER, n / b->world->size));
}

static void mpi_all_to_all(bench *b, int64_t n)
{
    int64_t counts[MAX_RANKS];
    for (int i = 0; i < b->world->size; i++)
        counts[i] = n / b->world->size;
    tsr_collective c = with(b, TSR_COLL_ALL_TO_ALL, 0);
    c.send_counts = c.recv_counts = counts;
    native(b, c);
}

static void mpi_reduce_scatter(bench *b, int64_t n)
{
    native(b, with(b, TSR_COLL_REDUCE_SCATTER, n / b->world->size));
}

static void mpi_all_reduce(bench *b, int64_t n)
{
    native(b, with(b, TSR_COLL_ALL_REDUCE, n));
}

static void mpi_broadcast(bench *b, int64_t n)
{
    native(b, with(b, TSR_COLL_BROADCAST, n));
}

static void mpi_barrier(bench *b, int64_t n)
{
    (void)n;
    native(b, with(b, TSR_COLL_BARRIER, 0));
}

/* ---- measuring ------------------------------------------------------------------------------- */

typedef void run(bench *b, int64_t n);

/* Seconds of the slowest rank. */
static double measure(bench *b, run *f, int64_t n)
{
    double mine, slowest;
    tsr_collective max = {.kind = TSR_COLL_ALL_REDUCE,
                          .dtype = TSR_F64,
                          .op = TSR_MAX,
                          .send = &mine,
                          .recv = &slowest,
                          .n = 1};
    mpi_barrier(b, 0);
    mine = now();
    f(b, n);
    mine = now() - mine;
    native(b, max);
    return slowest;
}

/* In turns, so that a busy machine is busy for both; the best of each. */
static void compare(bench *b, const char *name, run *ours, run *theirs, int64_t n)
{
    double t = 1e9, s = 1e9;

    for (int i = 0; i < REPEATS; i++) {
        double x = measure(b, theirs, n), y = measure(b, ours, n);
        t = x < t ? x : t;
        s = y < s ? y : s;
    }
    if (b->world->rank == 0)
        printf("%10" PRId64 " KiB  %-15s mpi %10.1f us   ours %10.1f us   ratio %.2f\n",
               n * 4 / 1024, name, t * 1e6, s * 1e6, s / t);
}

static void compare_all(bench *b, int64_t n)
{
    compare(b, "exchange", ours_exchange, mpi_exchange, n);
    compare(b, "strided send", ours_strided_out, mpi_strided_out, n);
    compare(b, "strided both", ours_strided, mpi_strided, n);
    compare(b, "all-gather", ours_all_gather, mpi_all_gather, n);
    compare(b, "all-to-all", ours_all_to_all, mpi_all_to_all, n);
    compare(b, "reduce-scatter", ours_reduce_scatter, mpi_reduce_scatter, n);
    compare(b, "all-reduce", ours_all_reduce, mpi_all_reduce, n);
    compare(b, "broadcast", ours_broadcast, mpi_broadcast, n);
}

int main(int argc, char **argv)
{
    static const double sizes[] = {0.001, 0.0039, 0.008, 0.0625, 1, 4, 64};
    bench *b = calloc(1, sizeof *b);
    int ranks[MAX_RANKS], n_sizes = argc > 1 ? argc - 1 : (int)(sizeof sizes / sizeof sizes[0]);
    double most = 0;

    if (!b)
        return 1;
    tsr__pool_open(&b->ctx.pool, &b->ctx.heap);
    must(b, tsr__mpi_join(&b->ctx, 0, &b->world));
    if (b->world->size % 2 != 0 || b->world->size > MAX_RANKS) {
        fprintf(stderr, "bench_mpi: needs an even number of ranks, %d at most\n", MAX_RANKS);
        return 1;
    }
    for (int i = 0; i < b->world->size; i++)
        ranks[i] = i;
    must(b, tsr__group_open(b->world, ranks, b->world->size, &b->group));
    for (int i = 0; i < n_sizes; i++) {
        double mib = argc > 1 ? atof(argv[i + 1]) : sizes[i];
        most = mib > most ? mib : most;
    }
    size_t bytes = (size_t)(most * 1048576) + 4096;
    must(b, tsr__pool_get(&b->ctx.pool, bytes, &b->a, &b->ctx.error));
    must(b, tsr__pool_get(&b->ctx.pool, bytes, &b->b, &b->ctx.error));
    memset(b->a, 0, bytes);
    memset(b->b, 0, bytes);
    compare(b, "barrier", ours_barrier, mpi_barrier, 0);
    for (int i = 0; i < n_sizes; i++)
        compare_all(b,
                    (int64_t)((argc > 1 ? atof(argv[i + 1]) : sizes[i]) * 1048576 / 4) / 128 * 128);
    tsr__pool_put(&b->ctx.pool, b->a);
    tsr__pool_put(&b->ctx.pool, b->b);
    tsr__group_close(b->group);
    b->world->ops->close(b->world);
    tsr__pool_trim(&b->ctx.pool);
    free(b);
    return 0;
}
