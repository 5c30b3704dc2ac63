/* SPDX-License-Identifier: Apache-2.0 */
/* bench_conv.c - convolution and its gradients. On one rank, from and to plain layout, in turns
   with oneDNN called bare on its own layouts (bare_onednn.c); sharded over ranks beside the share
   of one rank's time that each of them has to do. */
#include "bare_onednn.h"
#include "bench.h"
#include "ops/convolution/conv.h"

#include <inttypes.h>
#include <string.h>
#include <tessera_ops.h>
#include <unistd.h>

/* peer: what it is called in a peer's file, which has a bias in addition. */
static const struct {
    const char *name;
    bare_shape shape;
    const char *peer;
} cases[] = {
    {"8x64x56x56 k3p1", {2, 8, 64, 64, 1, 56, 3, 1, 1}, "conv2d 8x64x56x56 k3p1 o64"},
    {"8x3x224x224 k7s2p3", {2, 8, 3, 64, 1, 224, 7, 2, 3}, "conv2d 8x3x224x224 k7s2p3 o64"},
    {"8x256x14x14 k3p1", {2, 8, 256, 256, 1, 14, 3, 1, 1}, "conv2d 8x256x14x14 k3p1 o256"},
    {"8x64x56x56 to 256 k1", {2, 8, 64, 256, 1, 56, 1, 1, 0}, "conv2d 8x64x56x56 k1 o256"},
    {"8x256x14x14 to 1024 k1", {2, 8, 256, 1024, 1, 14, 1, 1, 0}, NULL},
    {"8x512x7x7 to 2048 k1", {2, 8, 512, 2048, 1, 7, 1, 1, 0}, NULL},
    {"8x128x28x28 depthwise k3p1",
     {2, 8, 128, 128, 128, 28, 3, 1, 1},
     "conv2d 8x128x28x28 k3p1 depthwise"},
    {"1x16x64x64x64 k3p1", {3, 1, 16, 16, 1, 64, 3, 1, 1}, "conv3d 1x16x64x64x64 k3p1 o16"},
};
enum { N_CASES = sizeof cases / sizeof cases[0] };

static const char *const peer_products[] = {"fw", "bw(input)", "bw(weight,bias)"};
static const char *const products[] = {"output", "gradient of x", "gradient of weight"};
enum { N_PRODUCTS = 3 };

/* Sharded: the first case, in f32. */
static const struct {
    const char *mesh, *place, *peer; /* of the output */
} ways[] = {
    {"2", "[S(0)]", "DTensor N-sharded fw"},
    {"2", "[S(2)]", NULL},
    {"2", "[S(3)]", "W-sharded halo (direct call) fw"},
    {"2x2", "[S(2),S(3)]", NULL},
    {"4", "[S(3)]", "W-sharded halo (direct call) fw"},
};
enum { N_WAYS = sizeof ways / sizeof ways[0] };

/* What one rank works on. */
typedef struct subject {
    tsr_mesh *mesh;
    const bare_shape *shape;
    tsr_conv_opts opts;
    tsr_tensor *x, *weight, *grad;
    bare_product what;
} subject;

typedef struct conv_run {
    bench *b;
    int way;
    double alone[N_PRODUCTS]; /* of the case that is sharded */
} conv_run;

/* ---- the calls ---- */

static tsr_status run_ours(void *arg)
{
    const subject *s = arg;
    int64_t size[BENCH_SPACE], kernel[BENCH_SPACE];

    for (int d = 0; d < BENCH_SPACE; d++) {
        size[d] = s->shape->size;
        kernel[d] = s->shape->kernel;
    }
    tsr_scope_push(s->mesh);
    if (s->what == BARE_OUTPUT)
        tsr_conv(s->x, s->weight, NULL, &s->opts);
    else if (s->what == BARE_GRAD_INPUT)
        tsr_conv_grad_input(s->grad, s->weight, size, &s->opts);
    else
        tsr_conv_grad_weight(s->grad, s->x, kernel, &s->opts);
    tsr_scope_pop(s->mesh);
    return tsr_mesh_status(s->mesh);
}

/* ---- preparing ---- */

static tsr_tensor *make(tsr_mesh *mesh, tsr_dtype dtype, int64_t a, int64_t b, int ndim, int64_t n,
                        const char *place)
{
    char text[TSR_TEXT_LEN];
    size_t used =
        (size_t)snprintf(text, sizeof text, "%s[%" PRId64 ",%" PRId64, tsr_dtype_name(dtype), a, b);

    for (int d = 0; d < ndim; d++)
        used += (size_t)snprintf(text + used, sizeof text - used, ",%" PRId64, n);
    snprintf(text + used, sizeof text - used, "]@%s", place);
    return tsr_full(mesh, text, 0.5);
}

static tsr_status prepare(subject *s, tsr_dtype dtype, const char *place, const char *replicated)
{
    const bare_shape *z = s->shape;

    s->opts = tsr_conv_opts_default();
    for (int d = 0; d < z->ndim; d++) {
        s->opts.stride[d] = z->stride;
        s->opts.padding[d] = z->padding;
    }
    s->opts.groups = z->groups;
    s->x = make(s->mesh, dtype, z->batch, z->in_channels, z->ndim, z->size, place);
    s->grad = make(s->mesh, dtype, z->batch, z->out_channels, z->ndim, bare_out_size(z), place);
    s->weight = make(s->mesh, dtype, z->out_channels, z->in_channels / z->groups, z->ndim,
                     z->kernel, replicated);
    return tsr_mesh_status(s->mesh);
}

static double flops(const bare_shape *s)
{
    double n = 2.0 * (double)(s->batch * s->out_channels * (s->in_channels / s->groups));

    for (int d = 0; d < s->ndim; d++)
        n *= (double)(bare_out_size(s) * s->kernel);
    return n;
}

/* ---- one rank ---- */

static json_t *add_row(bench *b, const char *mesh, tsr_dtype dtype, const char *name,
                       const char *place, int product, double seconds)
{
    return bench_row(b, "{s:s, s:s, s:s, s:s, s:s, s:f}", "mesh", mesh, "dtype",
                     tsr_dtype_name(dtype), "case", name, "placements", place, "product",
                     products[product], "seconds", seconds);
}

/* By which algorithm the library computes it. */
static void set_algorithm(json_t *row, const bare_shape *z, tsr_dtype dtype, bare_product what)
{
    tsr_conv_shape s = {.ndim = z->ndim,
                        .batch = z->batch,
                        .in_channels = z->in_channels,
                        .out_channels = z->out_channels,
                        .groups = z->groups};
    tsr_heap heap = {0};
    tsr_conv_plan *plan;

    for (int d = 0; d < z->ndim; d++) {
        s.in[d] = z->size;
        s.kernel[d] = z->kernel;
        s.stride[d] = z->stride;
        s.dilation[d] = 1;
        s.pad_lo[d] = s.pad_hi[d] = z->padding;
    }
    if (tsr__conv_infer("conv", &s, NULL) != TSR_OK ||
        tsr__conv_plan_make(&heap, &s, dtype, (tsr_conv_product)what, false, false, false, &plan,
                            NULL) != TSR_OK)
        return;
    json_object_set_new(row, "algorithm", json_string(tsr__conv_plan_name(plan)));
    tsr__conv_plan_free(&heap, plan);
}

static tsr_status bench_product(conv_run *r, subject *s, int c, tsr_dtype dtype)
{
    const bool known = dtype == TSR_F32 || dtype == TSR_BF16; /* to oneDNN and to peers */
    bare_conv *bare = known ? bare_conv_open(s->shape, dtype, s->what) : NULL;
    measure_work works[2] = {{.run = run_ours, .arg = s}, {.run = bare_conv_run, .arg = bare}};
    tsr_status st = measure_together(s->mesh, works, bare ? 2 : 1, 0.4);
    json_t *row;

    bare_conv_close(bare);
    if (st != TSR_OK)
        return st;
    row = add_row(r->b, "1", dtype, cases[c].name, "[R]", (int)s->what, works[0].seconds);
    json_object_set_new(row, "gflops", json_real(flops(s->shape) / works[0].seconds * 1e-9));
    set_algorithm(row, s->shape, dtype, s->what);
    if (bare)
        bench_beside(row, "oneDNN", works[1].seconds);
    if (known && cases[c].peer)
        bench_peer(r->b, row, "seconds", "*/%s %s %s/median", cases[c].peer,
                   dtype == TSR_F32 ? "float32" : "bfloat16", peer_products[s->what]);
    if (c == 0 && dtype == TSR_F32)
        r->alone[s->what] = works[0].seconds;
    return st;
}

/* Of dtypes that oneDNN does not have, the output only. */
static tsr_status alone(tsr_mesh *mesh, void *arg)
{
    static const tsr_dtype dtypes[] = {TSR_F32, TSR_BF16, TSR_F64, TSR_F16};
    tsr_status st = TSR_OK;

    for (int i = 0; i < N_CASES * 4 && st == TSR_OK; i++) {
        const int c = i / 4, n_products = i % 4 < 2 ? N_PRODUCTS : 1;
        subject s = {.mesh = mesh, .shape = &cases[c].shape};

        cli_progress("conv %s %s on one rank", cases[c].name, tsr_dtype_name(dtypes[i % 4]));
        tsr_scope_push(mesh);
        st = prepare(&s, dtypes[i % 4], "[R]", "[R]");
        for (int p = 0; p < n_products && st == TSR_OK; p++) {
            s.what = (bare_product)p;
            st = bench_product(arg, &s, c, dtypes[i % 4]);
        }
        tsr_scope_pop(mesh);
    }
    return st;
}

/* ---- several ranks ---- */

/* The bytes of one call, on the rank that gets most. */
static tsr_status count_bytes(subject *s, int64_t *bytes)
{
    tsr_status st;

    tsr_counters_reset(s->mesh);
    st = run_ours(s);
    *bytes = tsr_counters_get(s->mesh).bytes_in;
    return st == TSR_OK ? bench_most(s->mesh, bytes) : st;
}

/* Seconds that one call shows of filling its windows, the least of some, on the rank where that is
   longest. */
static tsr_status time_windows(subject *s, tsr_overlap_mode mode, double *seconds)
{
    static const char *const ops[] = {"conv", "conv_grad_input", "conv_grad_weight"};
    tsr_status st = TSR_OK;

    *seconds = 1e9;
    tsr_overlap_set(s->mesh, mode);
    tsr_statistics_set(s->mesh, true);
    for (int i = 0; i < 15 && st == TSR_OK; i++) {
        double before = tsr_op_counters_get(s->mesh, ops[s->what]).windows, one;

        st = run_ours(s);
        one = tsr_op_counters_get(s->mesh, ops[s->what]).windows - before;
        *seconds = i > 0 && one < *seconds ? one : *seconds;
    }
    tsr_statistics_set(s->mesh, false);
    tsr_overlap_set(s->mesh, TSR_OVERLAP_AUTO);
    return st == TSR_OK ? tsr_all_reduce(s->mesh, TSR_F64, TSR_MAX, seconds, 1, seconds) : st;
}

/* How long windows take, and which share of that is hidden behind the interior: always, and by the
   model's choice. */
static tsr_status add_hidden(subject *s, json_t *row)
{
    double alone, chosen, always;
    tsr_status st = time_windows(s, TSR_OVERLAP_NEVER, &alone);

    if (st == TSR_OK)
        st = time_windows(s, TSR_OVERLAP_AUTO, &chosen);
    if (st == TSR_OK)
        st = time_windows(s, TSR_OVERLAP_ALWAYS, &always);
    if (st != TSR_OK || !row || alone == 0)
        return st;
    json_object_set_new(row, "halo_seconds", json_real(alone));
    json_object_set_new(row, "hidden", json_real(always < alone ? 1 - always / alone : 0));
    json_object_set_new(row, "hidden_chosen", json_real(chosen < alone ? 1 - chosen / alone : 0));
    return st;
}

static tsr_status together(tsr_mesh *mesh, void *arg)
{
    conv_run *r = arg;
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    const int ranks = tsr_mesh_size(mesh), workers = ranks < cpus ? ranks : (int)cpus;
    subject s = {.mesh = mesh, .shape = &cases[0].shape};
    const char *place = ways[r->way].place;
    tsr_status st = prepare(&s, TSR_F32, place, strchr(place, ',') ? "[R,R]" : "[R]");

    for (int p = 0; p < N_PRODUCTS && st == TSR_OK; p++) {
        measure_work work = {.run = run_ours, .arg = &s};
        int64_t bytes = 0;
        json_t *row = NULL;

        s.what = (bare_product)p;
        st = measure_together(mesh, &work, 1, 0.5);
        if (st == TSR_OK)
            st = count_bytes(&s, &bytes);
        if (st == TSR_OK && tsr_mesh_rank(mesh) == 0) {
            row = add_row(r->b, ways[r->way].mesh, TSR_F32, cases[0].name, place, p, work.seconds);
            json_object_set_new(row, "bytes_in", json_integer(bytes));
            bench_beside(row, workers == 1 ? "1 rank" : "share of 1 rank", r->alone[p] / workers);
            if (p == 0 && ways[r->way].peer)
                bench_peer(r->b, row, "seconds", "*gloo_%d/conv 8x64x56x56 k3p1 o64 %s/median",
                           ranks, ways[r->way].peer);
        }
        if (st == TSR_OK && bytes > 0)
            st = add_hidden(&s, row);
    }
    return st;
}

static int run_all(bench *b)
{
    conv_run r = {.b = b};
    int status = bench_on_ranks(TSR_WORLD_THREAD, 1, alone, &r);

    for (r.way = 0; r.way < N_WAYS && status == CLI_OK; r.way++) {
        cli_progress("conv %s on mesh %s", ways[r.way].place, ways[r.way].mesh);
        status = bench_on_mesh(TSR_WORLD_THREAD, ways[r.way].mesh, together, &r);
    }
    return status;
}

const benchmark bench_conv = {
    .name = "conv",
    .synopsis = "",
    .help = "convolutions and their gradients beside oneDNN, on one rank and on several",
    .run = run_all,
    .columns = {{"mesh", "mesh", TEXT},
                {"dtype", "dtype", TEXT},
                {"x and weight", "case", TEXT},
                {"x", "placements", TEXT},
                {"what", "product", TEXT},
                {"time", "seconds", SECONDS},
                {"Gflop/s", "gflops", NUMBER},
                {"by", "algorithm", TEXT},
                BENCH_YARDSTICK_COLUMNS,
                {"received", "bytes_in", BYTES},
                {"halo", "halo_seconds", SECONDS},
                {"hidden", "hidden", NUMBER},
                BENCH_PEER_COLUMNS},
    .note = "From and to plain layout. oneDNN: called directly on layouts of its own choice, in\n"
            "turns with ours. share of 1 rank: its time divided by the ranks, or by the CPUs if\n"
            "there are fewer. received: by the rank that gets most. halo: fetching windows when\n"
            "nothing else is done; hidden: the share of it that passes behind the interior if\n"
            "that is always computed meanwhile. peer: with a bias, and its gradient beside that\n"
            "of the weight."};
