/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_bench_dispatch.c - tessera bench dispatch: what a call costs beyond its kernel when its plan
   is in the cache. One rank, small tensors, inputs that stay where they are; outputs come from the
   pool and go back to it. */
#include "cmd_bench.h"
#include "measure.h"

#include <tessera_ext.h>
#include <tessera_ops.h>

enum { ROUNDS = 15, CALLS = 200, SCOPE = 50 };

static const double GOAL = 100e-9;

typedef struct subject {
    tsr_mesh *mesh;
    tsr_tensor *a, *b;
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
    return tsr_cat((tsr_tensor *const[]){s->a, s->b}, 2, 0);
}

static tsr_tensor *call_sum(const subject *s)
{
    return tsr_sum(s->a, (const int[]){1}, 1, false);
}

static const struct {
    const char *name, *attr;
    int n_in;
    tsr_tensor *(*call)(const subject *s);
} calls[] = {
    {"add", NULL, 2, call_add},
    {"matmul", NULL, 2, call_matmul},
    {"reshape", "shape=4,16", 1, call_reshape},
    {"cat", "dim=0", 2, call_cat},
    {"sum", "dims=1", 1, call_sum},
};
enum { N_CALLS = sizeof calls / sizeof calls[0] };

/* ---- measuring ---- */

/* Seconds of one call and of its kernel alone, in turns; false on failure. */
static bool measure_call(const subject *s, int c, double *whole, double *kernel)
{
    tsr_tensor *in[2] = {s->a, s->b}, *y = calls[c].call(s);
    double of_call[ROUNDS], of_kernel[ROUNDS];

    for (int r = -1; r < ROUNDS && tsr_tensor_ok(y); r++) {
        double start = measure_now(), middle;

        for (int i = 0; i < CALLS; i += SCOPE) {
            tsr_scope_push(s->mesh);
            for (int k = 0; k < SCOPE; k++)
                calls[c].call(s);
            tsr_scope_pop(s->mesh);
        }
        middle = measure_now();
        if (tsr_op_kernel(calls[c].name, in, calls[c].n_in, &calls[c].attr, calls[c].attr != NULL,
                          y, CALLS) != TSR_OK)
            return false;
        if (r >= 0) {
            of_call[r] = (middle - start) / CALLS;
            of_kernel[r] = (measure_now() - middle) / CALLS;
        }
    }
    *whole = measure_median(of_call, ROUNDS);
    *kernel = measure_median(of_kernel, ROUNDS);
    return tsr_tensor_ok(y);
}

static tsr_status job(tsr_mesh *mesh, void *arg)
{
    const bench_ask *ask = arg;
    subject s = {.mesh = mesh, .a = tsr_arange(mesh, "f32[8,8]@[S(0)]", 0, 1)};

    s.b = tsr_arange(mesh, "f32[8,8]@[S(0)]", 1, 1);
    for (int c = 0; c < N_CALLS; c++) {
        double whole, kernel;

        if (!measure_call(&s, c, &whole, &kernel))
            return tsr_mesh_status(mesh);
        json_array_append_new(ask->results,
                              json_pack("{s:s, s:f, s:f, s:f, s:f, s:s}", "op", calls[c].name,
                                        "seconds", whole, "kernel_seconds", kernel,
                                        "dispatch_seconds", whole - kernel, "goal_seconds", GOAL,
                                        "goal", whole - kernel <= GOAL ? "ok" : "missed"));
    }
    return TSR_OK;
}

int bench_dispatch(const bench_ask *ask, int ranks)
{
    tsr_run_opts opts = {.mesh = "1", .world = TSR_WORLD_THREAD};
    tsr_error err = {0};

    (void)ranks;
    cli_progress("bench: dispatch");
    return tsr_run(&opts, job, (void *)ask, &err) == TSR_OK ? CLI_OK : cli_error(&err);
}
