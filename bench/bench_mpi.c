/* SPDX-License-Identifier: Apache-2.0 */
/* bench_mpi.c - calls of the message world in turns with the MPI library's own functions for the
   same data. */
#include "bench.h"
#include "traffic.h"
#include "world/mesh_handle.h"
#include <tessera_ext.h>

#include <stdlib.h>
#include <string.h>

enum { MAX_RANKS = 64, USUAL_SIZES = 7, MANY = 20, MANY_BYTES = 8 << 10 };

typedef struct mpi_run {
    bench *b;
    tsr_mesh *mesh;
    tsr_group *group;
    int rank, size, c; /* c: case */
    float *send, *recv;
    int64_t n; /* floats of the case that is measured */
    tsr_piece piece[2][MAX_RANKS];
    tsr_msg msg[2][MAX_RANKS];
} mpi_run;

/* ---- our calls ---- */

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

static tsr_status call(mpi_run *r, int n_send, int n_recv, bool reduce)
{
    tsr_call c = {.group = r->group,
                  .fingerprint = 1,
                  .what = "tessera_bench",
                  .dtype = TSR_F32,
                  .send_base = r->send,
                  .recv_base = r->recv,
                  .n_send = n_send,
                  .n_recv = n_recv,
                  .send = r->msg[0],
                  .recv = r->msg[1],
                  .reduce = reduce,
                  .op = TSR_SUM,
                  .divisor = 1};
    return tsr__call(&c);
}

static void put(mpi_run *r, int side, int i, int peer, tsr_piece piece)
{
    r->piece[side][i] = piece;
    r->msg[side][i] = (tsr_msg){.peer = peer, .n_pieces = 1, .piece = &r->piece[side][i]};
}

static tsr_status ours_exchange(mpi_run *r, int64_t n)
{
    put(r, 0, 0, r->rank ^ 1, range(0, n));
    put(r, 1, 0, r->rank ^ 1, range(0, n));
    return call(r, 1, 1, false);
}

static tsr_status ours_strided_out(mpi_run *r, int64_t n)
{
    put(r, 0, 0, r->rank ^ 1, rows(0, n / 2, 64, 128));
    put(r, 1, 0, r->rank ^ 1, range(0, n / 2));
    return call(r, 1, 1, false);
}

static tsr_status ours_strided(mpi_run *r, int64_t n)
{
    put(r, 0, 0, r->rank ^ 1, rows(0, n / 2, 64, 128));
    put(r, 1, 0, r->rank ^ 1, rows(0, n / 2, 64, 128));
    return call(r, 1, 1, false);
}

static tsr_status ours_all_gather(mpi_run *r, int64_t n)
{
    int p = r->size;
    for (int i = 0; i < p; i++) {
        put(r, 0, i, i, range(0, n / p));
        put(r, 1, i, i, range(n / p * i, n / p));
    }
    return call(r, p, p, false);
}

static tsr_status ours_all_to_all(mpi_run *r, int64_t n)
{
    int p = r->size;
    for (int i = 0; i < p; i++) {
        put(r, 0, i, i, range(n / p * i, n / p));
        put(r, 1, i, i, range(n / p * i, n / p));
    }
    return call(r, p, p, false);
}

static tsr_status ours_reduce_scatter(mpi_run *r, int64_t n)
{
    int p = r->size;
    for (int i = 0; i < p; i++) {
        put(r, 0, i, i, range(n / p * i, n / p));
        put(r, 1, i, i, range(0, n / p));
    }
    return call(r, p, p, true);
}

static tsr_status ours_all_reduce(mpi_run *r, int64_t n)
{
    tsr_status st = ours_reduce_scatter(r, n);

    return st == TSR_OK ? ours_all_gather(r, n) : st;
}

static tsr_status ours_broadcast(mpi_run *r, int64_t n)
{
    int p = r->size, k = 0;
    for (int i = 1; r->rank == 0 && i < p; i++)
        put(r, 0, k++, i, range(0, n));
    put(r, 1, 0, 0, range(0, n));
    return call(r, k, r->rank != 0, false);
}

static tsr_status ours_barrier(mpi_run *r, int64_t n)
{
    int p = r->size, k = 0;
    (void)n;
    for (int i = 0; i < p; i++) {
        if (i == r->rank)
            continue;
        r->msg[0][k] = (tsr_msg){.peer = i};
        r->msg[1][k++] = (tsr_msg){.peer = i};
    }
    return call(r, k, k, false);
}

/* ---- the library's ---- */

static tsr_collective with(const mpi_run *r, tsr_collective_kind kind, int64_t n)
{
    return (tsr_collective){
        .kind = kind, .dtype = TSR_F32, .op = TSR_SUM, .send = r->send, .recv = r->recv, .n = n};
}

static tsr_status native(mpi_run *r, tsr_collective_kind kind, int64_t n)
{
    const tsr_collective c = with(r, kind, n);

    return tsr_native(r->mesh, &c);
}

static tsr_status mpi_exchange(mpi_run *r, int64_t n)
{
    tsr_collective c = with(r, TSR_COLL_SEND, n);
    c.peer = r->rank ^ 1;
    return tsr_native(r->mesh, &c);
}

/* what a program would do: pack, exchange */
static tsr_status mpi_strided_out(mpi_run *r, int64_t n)
{
    float *mid = r->recv + n / 2;
    for (int64_t i = 0; i < n / 128; i++)
        memcpy(mid + i * 64, r->send + i * 128, 64 * sizeof(float));
    tsr_collective c = with(r, TSR_COLL_SEND, n / 2);
    c.peer = r->rank ^ 1;
    c.send = mid;
    return tsr_native(r->mesh, &c);
}

static tsr_status mpi_strided(mpi_run *r, int64_t n)
{
    tsr_status st = mpi_strided_out(r, n);

    for (int64_t i = 0; i < n / 128; i++)
        memcpy(r->send + i * 128, r->recv + i * 64, 64 * sizeof(float));
    return st;
}

static tsr_status mpi_all_gather(mpi_run *r, int64_t n)
{
    return native(r, TSR_COLL_ALL_GATHER, n / r->size);
}

static tsr_status mpi_all_to_all(mpi_run *r, int64_t n)
{
    int64_t counts[MAX_RANKS];
    for (int i = 0; i < r->size; i++)
        counts[i] = n / r->size;
    tsr_collective c = with(r, TSR_COLL_ALL_TO_ALL, 0);
    c.send_counts = c.recv_counts = counts;
    return tsr_native(r->mesh, &c);
}

static tsr_status mpi_reduce_scatter(mpi_run *r, int64_t n)
{
    return native(r, TSR_COLL_REDUCE_SCATTER, n / r->size);
}

static tsr_status mpi_all_reduce(mpi_run *r, int64_t n)
{
    return native(r, TSR_COLL_ALL_REDUCE, n);
}

static tsr_status mpi_broadcast(mpi_run *r, int64_t n)
{
    return native(r, TSR_COLL_BROADCAST, n);
}

static tsr_status mpi_barrier(mpi_run *r, int64_t n)
{
    (void)n;
    return native(r, TSR_COLL_BARRIER, 0);
}

/* ---- measuring ---- */

static const struct {
    const char *name;
    tsr_status (*ours)(mpi_run *r, int64_t n);
    const char *call;
    tsr_status (*mpi)(mpi_run *r, int64_t n);
} cases[] = {
    {"barrier", ours_barrier, "Barrier", mpi_barrier},
    {"exchange", ours_exchange, "Sendrecv", mpi_exchange},
    {"strided send", ours_strided_out, "pack, Sendrecv", mpi_strided_out},
    {"strided both", ours_strided, "pack, Sendrecv, unpack", mpi_strided},
    {"all-gather", ours_all_gather, "Allgather", mpi_all_gather},
    {"all-to-all", ours_all_to_all, "Alltoallv", mpi_all_to_all},
    {"reduce-scatter", ours_reduce_scatter, "Reduce_scatter_block", mpi_reduce_scatter},
    {"all-reduce", ours_all_reduce, "Allreduce", mpi_all_reduce},
    {"broadcast", ours_broadcast, "Bcast", mpi_broadcast},
};
enum { N_CASES = sizeof cases / sizeof cases[0] };

static tsr_status run_ours(void *arg)
{
    mpi_run *r = arg;

    return cases[r->c].ours(r, r->n);
}

static tsr_status run_native(void *arg)
{
    mpi_run *r = arg;

    return cases[r->c].mpi(r, r->n);
}

static tsr_status bench_case(mpi_run *r)
{
    measure_work works[] = {{.run = run_ours, .arg = r}, {.run = run_native, .arg = r}};
    tsr_status st;

    works[0].calls = works[1].calls = r->n * 4 <= MANY_BYTES ? MANY : 1;
    st = measure_together(r->mesh, works, 2, 0.2);
    if (st == TSR_OK && r->rank == 0)
        bench_beside(bench_row(r->b, "{s:i, s:I, s:s, s:f}", "ranks", r->size, "bytes",
                               (json_int_t)(r->n * 4), "case", cases[r->c].name, "seconds",
                               works[0].seconds),
                     cases[r->c].call, works[1].seconds);
    return st;
}

static tsr_status job(tsr_mesh *mesh, void *arg)
{
    static const int64_t usual[USUAL_SIZES] = {1 << 10, 4 << 10, 8 << 10, 64 << 10,
                                               1 << 20, 4 << 20, 64 << 20};
    mpi_run *r = arg;
    const int n_sizes = r->b->n_sizes ? r->b->n_sizes : USUAL_SIZES;
    const int64_t *size = r->b->n_sizes ? r->b->size : usual;
    size_t most = 0;
    tsr_status st;

    for (int i = 0; i < n_sizes; i++)
        most = (size_t)size[i] > most ? (size_t)size[i] : most;
    r->mesh = mesh;
    r->rank = tsr_mesh_rank(mesh);
    r->size = tsr_mesh_size(mesh);
    st = tsr__mesh_group(mesh, 1, &r->group);
    if (r->size % 2 != 0)
        return TSR_ERR_MESH; /* ranks exchange in pairs */
    r->send = traffic_memory(most + 512);
    r->recv = traffic_memory(most + 512);
    for (r->c = 0; r->c < 1 && st == TSR_OK; r->c++)
        st = bench_case(r);
    for (int i = 0; i < n_sizes && st == TSR_OK; i++)
        for (r->c = 1; r->c < N_CASES && st == TSR_OK; r->c++) {
            r->n = (size[i] / 4 + 127) / 128 * 128; /* rows of 128, of which half are sent */
            st = bench_case(r);
        }
    free(r->send);
    free(r->recv);
    return st;
}

static int run_all(bench *b)
{
    mpi_run *r = calloc(1, sizeof *r);
    int status;

    if (!r)
        return cli_failed("out of memory");
    r->b = b;
    status = bench_on_ranks(TSR_WORLD_MPI, b->ranks[0], job, r);
    free(r);
    return status;
}

const benchmark bench_mpi = {
    .name = "mpi",
    .synopsis = "[--size LIST] [--ranks N]",
    .help = "calls of the message world, beside MPI's own functions",
    .takes = BENCH_SIZES | BENCH_RANKS,
    .sizes = "bytes of a buffer, 1KiB to 64MiB when not given",
    .mpi_only = true,
    .run = run_all,
    .columns = {{"ranks", "ranks", COUNT},
                {"bytes", "bytes", BYTES},
                {"call", "case", TEXT},
                {"time", "seconds", SECONDS},
                BENCH_YARDSTICK_COLUMNS},
    .note = "An even number of ranks. bytes: of each rank's larger buffer. Up to 8 KiB each\n"
            "call's share of 20 in a row, as the slowest rank sees it. ratio: time divided by\n"
            "that of MPI's function."};
