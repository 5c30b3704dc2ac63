/* SPDX-License-Identifier: Apache-2.0 */
/* bench_redistribute.c - times of redistributions as ratios to a
   yardstick that is measured in turns with them. Threads: the copying and adding that the busiest
   rank cannot avoid, by memcpy and a plain loop, on all ranks at once. MPI: the best of its own
   collectives. */
#include "bench.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tessera_ext.h>

/* Ways to move the same data by calls of MPI itself. */
typedef enum native {
    NONE,
    COPY,
    GATHER,
    SHUFFLE,
    SWAP,
    REDUCE,
    SHUFFLE_ADD_GATHER,
    SCATTER,
    SHUFFLE_ADD
} native;

static const char *const native_names[] = {"",
                                           "memcpy",
                                           "Allgather",
                                           "Alltoallv",
                                           "Sendrecv",
                                           "Allreduce",
                                           "Alltoallv+add+Allgather",
                                           "Reduce_scatter_block",
                                           "Alltoallv+add"};

enum { WAYS = 2 };

static const struct {
    const char *name, *from, *to;
    int ndim;    /* mesh dims */
    int n_terms; /* of each element; 0: as many as ranks */
    native mpi[WAYS];
    const char *peer; /* what it is called in a peer's file */
} cases[] = {
    {"S(0) -> R", "[S(0)]", "[R]", 1, 1, {GATHER}, "S0->R"},
    {"S(0) -> S(1)", "[S(0)]", "[S(1)]", 1, 1, {SHUFFLE}, "S0->S1"},
    {"P(sum) -> R", "[P(sum)]", "[R]", 1, 0, {REDUCE, SHUFFLE_ADD_GATHER}, "P->R"},
    {"P(sum) -> S(0)", "[P(sum)]", "[S(0)]", 1, 0, {SCATTER, SHUFFLE_ADD}, "P->S0"},
    {"R -> S(0)", "[R]", "[S(0)]", 1, 1, {COPY}, "R->S0"},
    {"S(0),S(1) -> S(1),S(0)", "[S(0),S(1)]", "[S(1),S(0)]", 2, 1, {SWAP}, "(S0,S1)->(S1,S0) 2x2"},
    {"S(0),S(0) -> R,S(1)", "[S(0),S(0)]", "[R,S(1)]", 2, 1, {SHUFFLE}, "(S0,S0)->(R,S1) 2x2"},
    {"P(sum),S(0) -> S(0),R", "[P(sum),S(0)]", "[S(0),R]", 2, 2, {SHUFFLE}, "(P,S0)->(S0,R) 2x2"},
};
enum { N_CASES = sizeof cases / sizeof cases[0] };

/* One case at one size, as one rank sees it. */
typedef struct run {
    tsr_mesh *world, *mesh;
    int c; /* case */
    tsr_tensor *x;
    int64_t part;             /* elements of the busiest rank's output */
    int64_t share;            /* of them it reduces itself, 0 if there is nothing to reduce */
    int n_terms;              /* terms per element */
    int64_t bytes_in;         /* the plan's, of the busiest rank */
    float *src, *dst, *other; /* for the yardstick */
    int64_t counts[64];       /* all-to-all: to and from each rank */
} run;

/* One way of MPI for a case. */
typedef struct native_run {
    run *r;
    native way;
} native_run;

/* ---- the work ---- */

static tsr_status run_ours(void *arg)
{
    run *r = arg;

    tsr_scope_push(r->world);
    tsr_redistribute(r->x, cases[r->c].to);
    tsr_scope_pop(r->world);
    return tsr_mesh_status(r->world);
}

/* dst[i] = sum over k of src[k * share + i], in blocks that stay in the nearest cache. */
static void add_terms(float *restrict dst, const float *restrict src, int64_t share, int n_terms)
{
    enum { BLOCK = 2048 };

    for (int64_t b = 0; b < share; b += BLOCK) {
        int64_t n = share - b < BLOCK ? share - b : BLOCK;

        for (int64_t i = 0; i < n; i++)
            dst[b + i] = src[b + i] + src[share + b + i];
        for (int k = 2; k < n_terms; k++)
            for (int64_t i = 0; i < n; i++)
                dst[b + i] += src[k * share + b + i];
    }
}

static tsr_status run_copy(void *arg)
{
    run *r = arg;

    if (r->share)
        add_terms(r->dst, r->src, r->share, r->n_terms);
    memcpy(r->dst + r->share, r->src + r->share, (size_t)(r->part - r->share) * sizeof *r->dst);
    return TSR_OK;
}

static tsr_status shuffle(run *r, float *to)
{
    return tsr_native(r->world, &(tsr_collective){.kind = TSR_COLL_ALL_TO_ALL,
                                                  .dtype = TSR_F32,
                                                  .send = r->src,
                                                  .recv = to,
                                                  .send_counts = r->counts,
                                                  .recv_counts = r->counts});
}

static tsr_status simple(run *r, tsr_collective_kind kind, const float *from, float *to, int64_t n)
{
    return tsr_native(r->world, &(tsr_collective){.kind = kind,
                                                  .dtype = TSR_F32,
                                                  .op = TSR_SUM,
                                                  .send = from,
                                                  .recv = to,
                                                  .n = n,
                                                  .peer = 3 - tsr_mesh_rank(r->world)});
}

/* Whole tensors for the 1-D cases; on 2x2 as many bytes as the plan brings to a rank, in equal
   shares of all peers. Nothing is packed or unpacked: this is the call alone. */
static tsr_status run_native(void *arg)
{
    native_run *w = arg;
    run *r = w->r;
    int size = tsr_mesh_size(r->world), rank = tsr_mesh_rank(r->world);
    tsr_status st;

    switch (w->way) {
    case GATHER: return simple(r, TSR_COLL_ALL_GATHER, r->src, r->dst, r->part / size);
    case REDUCE: return simple(r, TSR_COLL_ALL_REDUCE, r->src, r->dst, r->part);
    case SCATTER: return simple(r, TSR_COLL_REDUCE_SCATTER, r->src, r->dst, r->part);
    case SHUFFLE: return shuffle(r, r->dst);
    case SWAP: /* ranks 1 and 2 of 2x2 trade places, 0 and 3 keep theirs */
        if (rank == 1 || rank == 2)
            return simple(r, TSR_COLL_SEND, r->src, r->dst, r->part);
        return run_copy(r);
    case SHUFFLE_ADD:
    case SHUFFLE_ADD_GATHER:
        st = shuffle(r, r->other);
        add_terms(r->dst, r->other, r->share, r->n_terms);
        if (st != TSR_OK || w->way == SHUFFLE_ADD)
            return st;
        return simple(r, TSR_COLL_ALL_GATHER, r->dst, r->other, r->share);
    case COPY: return run_copy(r);
    case NONE: break;
    }
    return TSR_OK;
}

/* ---- preparing ---- */

static const char *shape_of(int64_t bytes, char buf[CLI_TEXT])
{
    int64_t n = bytes / 4, cols = 1;

    while (cols * cols * 4 <= n)
        cols *= 2;
    snprintf(buf, CLI_TEXT, "f32[%" PRId64 ",%" PRId64 "]", n / cols, cols);
    return buf;
}

static float *buffer(tsr_mesh *world, int64_t n)
{
    char text[CLI_TEXT];
    tsr_local view;

    snprintf(text, sizeof text, "f32[%" PRId64 "]", n);
    return tsr_local_view(tsr_zeros(world, text), &view) == TSR_OK ? view.data : NULL;
}

/* What the yardstick needs to know of the plan. */
static tsr_status look(run *r, const tsr_spec *from)
{
    int n_ranks = tsr_mesh_size(r->mesh);
    tsr_cost cost = tsr_cost_default();
    tsr_redist *plan;
    tsr_error err = {0};
    tsr_shape part;
    tsr_spec to;
    tsr_status st = tsr_placements_parse(cases[r->c].to, from, &to, &err);

    if (st == TSR_OK)
        st = tsr_cost_get(r->mesh, &cost);
    if (st == TSR_OK)
        st = tsr_redist_plan(from, &to, &cost, 0, TSR_RIVAL_BEST, &plan, &err);
    if (st != TSR_OK)
        return st;
    r->bytes_in = tsr_redist_info_get(plan).bytes;
    tsr_redist_free(plan);
    tsr_spec_local_shape(&to, 0, &part, NULL);
    r->part = tsr_shape_count(&part);
    r->n_terms = cases[r->c].n_terms ? cases[r->c].n_terms : n_ranks;
    r->share = r->n_terms > 1 ? tsr_shape_count(&to.shape) / n_ranks : 0;
    for (int i = 0; i < n_ranks && i < 64; i++)
        r->counts[i] = cases[r->c].ndim == 2 ? r->bytes_in / 4 / (n_ranks - 1)
                       : r->share            ? r->share
                                             : r->part / n_ranks;
    if (cases[r->c].ndim == 2 && n_ranks <= 64)
        r->counts[tsr_mesh_rank(r->world)] = 0;
    return TSR_OK;
}

static tsr_status prepare(run *r, int64_t bytes, tsr_spec *from)
{
    char shape[CLI_TEXT], text[TSR_TEXT_LEN];
    int64_t whole, local, room;
    tsr_shape part;
    tsr_error err = {0};
    tsr_status st;

    snprintf(text, sizeof text, "%s@%s", shape_of(bytes, shape), cases[r->c].from);
    st = tsr_spec_parse(text, tsr_mesh_shape_get(r->mesh), from, &err);
    if (st == TSR_OK)
        st = look(r, from);
    if (st != TSR_OK)
        return st;
    r->x = tsr_zeros(r->mesh, text);
    tsr_spec_local_shape(from, 0, &part, NULL);
    whole = tsr_shape_count(&from->shape);
    local = tsr_shape_count(&part);
    room = r->part > local ? r->part : local;
    room = r->share ? whole : room;
    room = r->bytes_in / 4 > room ? r->bytes_in / 4 : room; /* the all-to-all on 2x2 */
    r->src = buffer(r->world, room);
    r->dst = buffer(r->world, room);
    r->other = cases[r->c].mpi[1] ? buffer(r->world, room) : NULL;
    return tsr_mesh_status(r->world);
}

static void add_row(bench *b, const run *r, const tsr_spec *from, double ours, native way,
                    double yard)
{
    int64_t bytes = tsr_shape_count(&from->shape) * 4;
    char text[TSR_TEXT_LEN], mesh[TSR_TEXT_LEN];
    const char *name = way         ? native_names[way]
                       : !r->share ? "memcpy"
                                   : (r->share < r->part ? "add, memcpy" : "add");

    json_t *row = bench_row(
        b, "{s:s, s:s, s:s, s:i, s:I, s:s, s:s, s:I, s:I, s:f, s:f}", "case", cases[r->c].name,
        "world", cli_world_name(b->world), "mesh", tsr_mesh_text(&from->mesh, mesh, sizeof mesh),
        "ranks", tsr_mesh_size(r->world), "bytes", (json_int_t)bytes, "from",
        tsr_spec_text(from, text, sizeof text), "to", cases[r->c].to, "bytes_in",
        (json_int_t)r->bytes_in, "bytes_written", (json_int_t)(r->part * 4), "seconds", ours,
        "gb_per_s", (double)r->part * 4 / ours * 1e-9);

    bench_beside(row, name, yard);
    bench_peer(b, row, "seconds", "*gloo_%d/*/%s %" PRId64 "MiB/median", tsr_mesh_size(r->world),
               cases[r->c].peer, bytes >> 20);
}

static tsr_status bench_case(bench *b, tsr_mesh *world, tsr_mesh *mesh, int c, int64_t bytes)
{
    run r = {.world = world, .mesh = mesh, .c = c};
    native_run ways[WAYS] = {{&r, cases[c].mpi[0]}, {&r, cases[c].mpi[1]}};
    measure_work works[1 + WAYS] = {{.run = run_ours, .arg = &r},
                                    {.run = run_copy, .arg = &r},
                                    {.run = run_native, .arg = &ways[1]}};
    bool mpi = b->world == TSR_WORLD_MPI;
    int n = mpi && cases[c].mpi[1] ? 3 : 2, best = 1;
    tsr_spec from;
    tsr_status st;

    if (mpi)
        works[1] = (measure_work){.run = run_native, .arg = &ways[0]};
    if (tsr_mesh_rank(world) == 0)
        cli_progress("%s, %" PRId64 " MiB on %d ranks", cases[c].name, bytes >> 20,
                     tsr_mesh_size(world));
    tsr_scope_push(world);
    st = prepare(&r, bytes, &from);
    if (st == TSR_OK)
        st = measure_together(world, works, n, 0.3);
    if (n == 3 && works[2].seconds < works[1].seconds)
        best = 2;
    if (st == TSR_OK && tsr_mesh_rank(world) == 0)
        add_row(b, &r, &from, works[0].seconds, mpi ? cases[c].mpi[best - 1] : NONE,
                works[best].seconds);
    tsr_scope_pop(world);
    tsr_memory_trim(world);
    return st;
}

static tsr_status job(tsr_mesh *world, void *arg)
{
    static const int64_t usual[] = {4 << 20, 64 << 20};
    bench *b = arg;
    tsr_mesh *square = NULL;
    tsr_status st = TSR_OK;

    if (tsr_mesh_size(world) == 4)
        st = tsr_mesh_part(world, "2x2", 0, &square);
    for (int s = 0; s < (b->n_sizes ? b->n_sizes : 2) && st == TSR_OK; s++)
        for (int c = 0; c < N_CASES && st == TSR_OK; c++)
            if (cases[c].ndim == 1 || square)
                st = bench_case(b, world, cases[c].ndim == 1 ? world : square, c,
                                b->n_sizes ? b->size[s] : usual[s]);
    tsr_mesh_unref(square);
    return st;
}

static int run_all(bench *b)
{
    return bench_on_each(b, job);
}

const benchmark bench_redistribute = {
    .name = "redistribute",
    .synopsis = "[--size LIST] [--ranks LIST] [world=WORLD]",
    .help = "moves of data, beside the copying that cannot be avoided, or raw MPI calls",
    .takes = BENCH_SIZES | BENCH_RANKS | BENCH_WORLD,
    .sizes = "bytes of the whole tensor, 4MiB,64MiB when not given",
    .run = run_all,
    .columns = {{"ranks", "ranks", COUNT},
                {"tensor", "bytes", BYTES},
                {"redistribute", "case", TEXT},
                {"time", "seconds", SECONDS},
                {"GB/s", "gb_per_s", NUMBER},
                BENCH_YARDSTICK_COLUMNS,
                BENCH_PEER_COLUMNS},
    .note = "GB/s: bytes that the busiest rank writes into its output. ratio: time divided by the\n"
            "yardstick's. speed-up: the peer's time divided by ours."};
