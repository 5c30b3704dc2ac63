/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_bench_conv.c - tessera bench conv: convolution and its gradients. On one rank, from and to
   plain layout, in turns with oneDNN called bare on its own layouts (bench_onednn.c); sharded over
   ranks beside the share of one rank's time that each of them has to do. */
#include "bench_onednn.h"
#include "cmd_bench.h"
#include "measure.h"

#include <inttypes.h>
#include <string.h>
#include <tessera_ops.h>
#include <unistd.h>

/* The peer on one thread, forward f32, in Gflop/s. */
static const struct {
    const char *name;
    bare_shape shape;
    double peer;
} cases[] = {
    {"8x64x56x56 k3p1", {2, 8, 64, 64, 1, 56, 3, 1, 1}, 111},
    {"8x3x224x224 k7s2p3", {2, 8, 3, 64, 1, 224, 7, 2, 3}, 43},
    {"8x256x14x14 k3p1", {2, 8, 256, 256, 1, 14, 3, 1, 1}, 130},
    {"8x64x56x56 k1", {2, 8, 64, 256, 1, 56, 1, 1, 0}, 69},
    {"8x128x28x28 depthwise", {2, 8, 128, 128, 128, 28, 3, 1, 1}, 12},
    {"1x16x64x64x64 k3p1", {3, 1, 16, 16, 1, 64, 3, 1, 1}, 103},
};
enum { N_CASES = sizeof cases / sizeof cases[0] };

static const char *const products[] = {"output", "gradient of x", "gradient of weight"};
enum { N_PRODUCTS = 3 };

/* Sharded: the first case, in f32. */
static const struct {
    const char *mesh, *place;
} ways[] = {
    {"2", "[S(0)]"}, {"2", "[S(2)]"}, {"2", "[S(3)]"}, {"2x2", "[S(2),S(3)]"}, {"4", "[S(3)]"},
};
enum { N_WAYS = sizeof ways / sizeof ways[0] };

static const double GOAL = 1.1;

/* What one rank works on. */
typedef struct subject {
    tsr_mesh *mesh;
    const bare_shape *shape;
    tsr_conv_opts opts;
    tsr_tensor *x, *weight, *grad;
    bare_product what;
} subject;

typedef struct bench {
    const bench_ask *ask;
    int way;
    double alone[N_PRODUCTS]; /* of the case that is sharded */
} bench;

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
        tsr_conv_grad_weight(s->x, s->grad, kernel, &s->opts);
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

static json_t *make_row(const char *mesh, tsr_dtype dtype, const char *name, const char *place,
                        int product, double seconds)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:f}", "mesh", mesh, "dtype", tsr_dtype_name(dtype),
                     "case", name, "placements", place, "product", products[product], "seconds",
                     seconds);
}

static void set_ratio(json_t *row, double ratio)
{
    json_object_set_new(row, "ratio", json_real(ratio));
    json_object_set_new(row, "goal_ratio", json_real(GOAL));
    json_object_set_new(row, "goal", json_string(ratio <= GOAL ? "ok" : "missed"));
}

static tsr_status bench_product(bench *b, subject *s, int c, tsr_dtype dtype)
{
    bare_conv *bare = bare_conv_open(s->shape, dtype, s->what);
    measure_work works[2] = {{run_ours, s, 0}, {bare_conv_run, bare, 0}};
    tsr_status st = measure_together(s->mesh, works, bare ? 2 : 1, 0.4);
    json_t *row;

    bare_conv_close(bare);
    if (st != TSR_OK)
        return st;
    row = make_row("1", dtype, cases[c].name, "[R]", (int)s->what, works[0].seconds);
    json_object_set_new(row, "gflops", json_real(flops(s->shape) / works[0].seconds * 1e-9));
    if (bare) {
        json_object_set_new(row, "bare_seconds", json_real(works[1].seconds));
        set_ratio(row, works[0].seconds / works[1].seconds);
    }
    if (s->what == BARE_OUTPUT && dtype == TSR_F32)
        json_object_set_new(row, "peer_gflops", json_real(cases[c].peer));
    json_array_append_new(b->ask->results, row);
    if (c == 0 && dtype == TSR_F32)
        b->alone[s->what] = works[0].seconds;
    return st;
}

static tsr_status alone(tsr_mesh *mesh, void *arg)
{
    static const tsr_dtype dtypes[] = {TSR_F32, TSR_BF16};
    tsr_status st = TSR_OK;

    for (int c = 0; c < N_CASES; c++)
        for (int d = 0; d < 2; d++) {
            subject s = {.mesh = mesh, .shape = &cases[c].shape};

            cli_progress("bench: conv %s %s on one rank", cases[c].name, tsr_dtype_name(dtypes[d]));
            tsr_scope_push(mesh);
            st = prepare(&s, dtypes[d], "[R]", "[R]");
            for (int p = 0; p < N_PRODUCTS && st == TSR_OK; p++) {
                s.what = (bare_product)p;
                st = bench_product(arg, &s, c, dtypes[d]);
            }
            tsr_scope_pop(mesh);
            if (st != TSR_OK)
                return st;
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
    return st == TSR_OK ? tsr_all_reduce(s->mesh, TSR_I64, TSR_MAX, bytes, 1, bytes) : st;
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

/* How long windows take, and which share of that is hidden behind the interior: by the model's
   choice, and always. */
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
    json_object_set_new(row, "hidden", json_real(chosen < alone ? 1 - chosen / alone : 0));
    json_object_set_new(row, "hidden_always", json_real(always < alone ? 1 - always / alone : 0));
    return st;
}

static tsr_status together(tsr_mesh *mesh, void *arg)
{
    bench *b = arg;
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    const int ranks = tsr_mesh_size(mesh), workers = ranks < cpus ? ranks : (int)cpus;
    subject s = {.mesh = mesh, .shape = &cases[0].shape};
    const char *place = ways[b->way].place;
    tsr_status st = prepare(&s, TSR_F32, place, strchr(place, ',') ? "[R,R]" : "[R]");

    for (int p = 0; p < N_PRODUCTS && st == TSR_OK; p++) {
        measure_work work = {run_ours, &s, 0};
        int64_t bytes = 0;
        json_t *row = NULL;

        s.what = (bare_product)p;
        st = measure_together(mesh, &work, 1, 0.5);
        if (st == TSR_OK)
            st = count_bytes(&s, &bytes);
        if (st == TSR_OK && tsr_mesh_rank(mesh) == 0) {
            row = make_row(ways[b->way].mesh, TSR_F32, cases[0].name, place, p, work.seconds);
            json_object_set_new(row, "bytes_in", json_integer(bytes));
            set_ratio(row, work.seconds * workers / b->alone[p]);
            json_array_append_new(b->ask->results, row);
        }
        if (st == TSR_OK && bytes > 0)
            st = add_hidden(&s, row);
    }
    return st;
}

int bench_conv(const bench_ask *ask, int ranks)
{
    tsr_run_opts opts = {.mesh = "1", .world = TSR_WORLD_THREAD};
    bench b = {.ask = ask};
    tsr_error err = {0};

    (void)ranks;
    if (tsr_run(&opts, alone, &b, &err) != TSR_OK)
        return cli_error(&err);
    for (b.way = 0; b.way < N_WAYS; b.way++) {
        cli_progress("bench: conv %s on %s ranks", ways[b.way].place, ways[b.way].mesh);
        opts.mesh = ways[b.way].mesh;
        if (tsr_run(&opts, together, &b, &err) != TSR_OK)
            return cli_error(&err);
    }
    return CLI_OK;
}
