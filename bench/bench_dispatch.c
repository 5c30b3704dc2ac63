/* SPDX-License-Identifier: Apache-2.0 */
/* bench_dispatch.c - what a call costs beyond its kernel when its plan
   is in the cache. One rank, small tensors, inputs that stay where they are; outputs come from the
   pool and go back to it. */
#include "bench.h"

#include <tessera_ext.h>
#include <tessera_ops.h>

enum { CALLS = 200, SCOPE = 50 };

typedef struct subject {
    tsr_mesh *mesh;
    tsr_tensor *a, *b, *y;
    int call;
} subject;

/* ---- the calls, typed, as a program makes them ---- */

static tsr_tensor *call_add(const subject *s)
{
    return tsr_add(s->a, s->b);
}

static tsr_tensor *call_matmul(const subject *s)
{
    return tsr_matmul(s->a, s->b, NULL);
}

static tsr_tensor *call_reshape(const subject *s)
{
    return tsr_reshape(s->a, (const int64_t[]){4, 16}, 2);
}

static tsr_tensor *call_cat(const subject *s)
{
    return tsr_cat((tsr_tensor *const[]){s->a, s->b}, 2, 1);
}

static tsr_tensor *call_sum(const subject *s)
{
    return tsr_sum(s->a, (const int[]){1}, 1, false);
}

static const struct {
    const char *name, *attr;
    int n_in;
    tsr_tensor *(*call)(const subject *s);
    const char *peer; /* what it is called in a peer's file */
} calls[] = {
    {"add", NULL, 2, call_add, "add"},
    {"matmul", NULL, 2, call_matmul, "mm"},
    {"reshape", "shape=4,16", 1, call_reshape, "view"},
    {"cat", "dim=1", 2, call_cat, "cat2_dim1"},
    {"sum", "dims=1", 1, call_sum, "sum_dim"},
};
enum { N_CALLS = sizeof calls / sizeof calls[0] };

/* ---- measuring ---- */

static tsr_status run_calls(void *arg)
{
    const subject *s = arg;

    for (int i = 0; i < CALLS; i += SCOPE) {
        tsr_scope_push(s->mesh);
        for (int k = 0; k < SCOPE; k++)
            calls[s->call].call(s);
        tsr_scope_pop(s->mesh);
    }
    return tsr_mesh_status(s->mesh);
}

static tsr_status run_kernel(void *arg)
{
    const subject *s = arg;
    const char *attr = calls[s->call].attr;
    tsr_tensor *in[2] = {s->a, s->b};

    return tsr_op_kernel(calls[s->call].name, in, calls[s->call].n_in, &attr, attr != NULL, s->y,
                         CALLS);
}

static tsr_status job(tsr_mesh *mesh, void *arg)
{
    bench *b = arg;
    subject s = {.mesh = mesh, .a = tsr_arange(mesh, "f32[8,8]@[S(0)]", 0, 1)};
    tsr_status st = TSR_OK;

    s.b = tsr_arange(mesh, "f32[8,8]@[S(0)]", 1, 1);
    for (s.call = 0; s.call < N_CALLS && st == TSR_OK; s.call++) {
        measure_work works[] = {{.run = run_calls, .arg = &s}, {.run = run_kernel, .arg = &s}};
        json_t *row;

        s.y = calls[s.call].call(&s);
        st = measure_together(NULL, works, 2, 0.1);
        if (st != TSR_OK)
            break;
        row = bench_row(b, "{s:s, s:f, s:f, s:f}", "op", calls[s.call].name, "seconds",
                        works[0].seconds / CALLS, "kernel_seconds", works[1].seconds / CALLS,
                        "dispatch_seconds", (works[0].seconds - works[1].seconds) / CALLS);
        bench_peer(b, row, "dispatch_seconds", "*gloo_1rank*/%s/no_grad/overhead_us_median",
                   calls[s.call].peer);
    }
    return st;
}

static int run_all(bench *b)
{
    return bench_on_ranks(TSR_WORLD_THREAD, 1, job, b);
}

const benchmark bench_dispatch = {
    .name = "dispatch",
    .synopsis = "",
    .help = "what a call costs beyond its kernel",
    .run = run_all,
    .columns = {{"op", "op", TEXT},
                {"call", "seconds", SECONDS},
                {"kernel", "kernel_seconds", SECONDS},
                {"dispatch", "dispatch_seconds", SECONDS},
                BENCH_PEER_COLUMNS},
    .note = "f32[8,8] on one rank, with the plan in the cache and the output from the pool.\n"
            "dispatch: the call without its kernel, which is measured in turns with it on an\n"
            "output that exists; peer: the same difference."};
