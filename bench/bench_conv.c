/* SPDX-License-Identifier: Apache-2.0 */
/* bench_conv.c - convolution on one thread from and to plain layout, as a ratio to oneDNN called
   bare on its own layouts in the same run (1.00: as fast, more is slower); then our other ways
   against each other. No arguments. */
#include "../cli/bench_onednn.h"
#include "kernel/blas.h"
#include "ops/convolution/conv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LEAST_RUNS = 5, MOST_RUNS = 40 };

typedef struct shape_case {
    const char *name;
    tsr_conv_shape shape;
} shape_case;

#define PLANE(n, c, o, g, size, k, s, p)                                                           \
    {                                                                                              \
        .ndim = 2, .batch = n, .in_channels = c, .out_channels = o, .groups = g,                   \
        .in = {size, size}, .kernel = {k, k}, .stride = {s, s}, .dilation = {1, 1},                \
        .pad_lo = {p, p}, .pad_hi = {                                                              \
            p,                                                                                     \
            p                                                                                      \
        }                                                                                          \
    }

static const shape_case cases[] = {
    {"8x64x56x56 k3p1", PLANE(8, 64, 64, 1, 56, 3, 1, 1)},
    {"8x3x224x224 k7s2p3", PLANE(8, 3, 64, 1, 224, 7, 2, 3)},
    {"8x256x14x14 k3p1", PLANE(8, 256, 256, 1, 14, 3, 1, 1)},
    {"8x64x56x56 to 256 k1", PLANE(8, 64, 256, 1, 56, 1, 1, 0)},
    {"8x256x14x14 to 1024 k1", PLANE(8, 256, 1024, 1, 14, 1, 1, 0)},
    {"8x512x7x7 to 2048 k1", PLANE(8, 512, 2048, 1, 7, 1, 1, 0)},
    {"8x128x28x28 depthwise k3p1", PLANE(8, 128, 128, 128, 28, 3, 1, 1)},
    {"1x16x64x64x64 k3p1",
     {.ndim = 3,
      .batch = 1,
      .in_channels = 16,
      .out_channels = 16,
      .groups = 1,
      .in = {64, 64, 64},
      .kernel = {3, 3, 3},
      .stride = {1, 1, 1},
      .dilation = {1, 1, 1},
      .pad_lo = {1, 1, 1},
      .pad_hi = {1, 1, 1}}},
};

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* others may be busy */
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void need(bool ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "bench_conv: %s failed\n", what);
        exit(1);
    }
}

static void *filled(tsr_dtype dtype, int64_t n)
{
    void *p = NULL;

    need(posix_memalign(&p, 4096, (size_t)n * tsr_dtype_size(dtype) + 64) == 0, "memory");
    for (int64_t i = 0; i < n; i++)
        tsr__put(dtype, p, i, (double)(i * 7919 % 1009) / 256 - 2);
    return p;
}

static int64_t product_of(int n, const int64_t *size)
{
    int64_t all = 1;

    for (int d = 0; d < n; d++)
        all *= size[d];
    return all;
}

/* ---- oneDNN on its own layouts; NULL in builds without it ---- */

static bare_conv *bare_open(const tsr_conv_shape *s, tsr_dtype dtype, tsr_conv_product what)
{
    /* the cases are as wide in all of their dims */
    const bare_shape shape = {s->ndim,  s->batch,     s->in_channels, s->out_channels, s->groups,
                              s->in[0], s->kernel[0], s->stride[0],   s->pad_lo[0]};
    bare_conv *b = bare_conv_open(&shape, dtype, (bare_product)what);

    need(b || !bare_available(), "oneDNN");
    return b;
}

/* ---- ours ---- */

typedef struct ours {
    tsr_heap heap;
    tsr_pool pool;
    tsr_conv_plan *plan;
    void *a, *b, *out;
} ours;

static void ours_make(const tsr_conv_shape *s, tsr_dtype dtype, tsr_conv_product what,
                      bool reference, ours *o)
{
    const int64_t in = s->batch * s->in_channels * product_of(s->ndim, s->in);
    const int64_t out = s->batch * s->out_channels * product_of(s->ndim, s->out);
    const int64_t weight =
        s->out_channels * (s->in_channels / s->groups) * product_of(s->ndim, s->kernel);

    *o = (ours){0};
    tsr__pool_open(&o->pool, &o->heap);
    need(!tsr__conv_plan_make(&o->heap, s, dtype, what, false, false, reference, &o->plan, NULL),
         "plan");
    o->a = filled(dtype, what == TSR_CONV_GRAD_INPUT ? out : in);
    o->b = filled(dtype, what == TSR_CONV_GRAD_WEIGHT ? out : weight);
    o->out = filled(dtype, what == TSR_CONV_OUTPUT       ? out
                           : what == TSR_CONV_GRAD_INPUT ? in
                                                         : weight);
}

static void ours_free(ours *o)
{
    tsr__conv_plan_free(&o->heap, o->plan);
    tsr__pool_trim(&o->pool);
    free(o->a);
    free(o->b);
    free(o->out);
}

static double ours_time(ours *o)
{
    double start = seconds();

    need(!tsr__conv_plan_run(o->plan, &o->pool, o->a, o->b, NULL, o->out, NULL), "run");
    return seconds() - start;
}

static double bare_time(bare_conv *b)
{
    double start = seconds();

    need(!bare_conv_run(b), "oneDNN");
    return seconds() - start;
}

/* ---- comparing ---- */

static double flops(const tsr_conv_shape *s)
{
    return 2.0 * (double)(s->batch * s->out_channels * product_of(s->ndim, s->out) *
                          (s->in_channels / s->groups) * product_of(s->ndim, s->kernel));
}

static double less(double a, double b)
{
    return a < b ? a : b;
}

/* Taken in turns, so that whatever else the machine does meets both. */
static void compare(const tsr_conv_shape *s, tsr_dtype dtype, tsr_conv_product what)
{
    static const char *const names[] = {"output", "grad_input", "grad_weight"};
    bare_conv *b = bare_open(s, dtype, what);
    double best_bare = 1e9, best_ours = 1e9, start = seconds();
    ours o;

    ours_make(s, dtype, what, false, &o);
    for (int i = 0; i < MOST_RUNS && (i < LEAST_RUNS || seconds() - start < 0.5); i++) {
        if (b)
            best_bare = less(best_bare, bare_time(b));
        best_ours = less(best_ours, ours_time(&o));
    }
    printf("    %-5s %-12s %8.2f ms %6.0f Gflop/s", tsr_dtype_name(dtype), names[what],
           best_ours * 1e3, flops(s) / best_ours * 1e-9);
    if (b)
        printf("  %.2f of bare", best_ours / best_bare);
    printf("  (%s)\n", tsr__conv_plan_name(o.plan));
    ours_free(&o);
    bare_conv_close(b);
}

/* f64 and f16, which oneDNN does not have; by definition on one image, scaled up. */
static void other_ways(const shape_case *c, const tsr_conv_shape *s)
{
    static const tsr_dtype dtypes[] = {TSR_F64, TSR_F16};
    tsr_conv_shape one = *s;

    one.batch = 1;
    printf("%s\n", c->name);
    for (int d = 0; d < 2; d++) {
        double fast = 1e9, naive;
        ours o;

        ours_make(s, dtypes[d], TSR_CONV_OUTPUT, false, &o);
        for (int i = 0; i < LEAST_RUNS; i++)
            fast = less(fast, ours_time(&o));
        printf("    %-5s output by %-8s %8.2f ms %6.1f Gflop/s", tsr_dtype_name(dtypes[d]),
               tsr__conv_plan_name(o.plan), fast * 1e3, flops(s) / fast * 1e-9);
        ours_free(&o);
        ours_make(&one, dtypes[d], TSR_CONV_OUTPUT, true, &o);
        naive = ours_time(&o) * (double)s->batch;
        printf("  the definition takes %.0f times as long\n", naive / fast);
        ours_free(&o);
    }
}

int main(void)
{
    tsr__blas_setup();
    printf("from and to plain layout, against oneDNN bare on its own layouts\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tsr_conv_shape s = cases[i].shape;

        need(!tsr__conv_infer("conv", &s, NULL), "shape");
        printf("%s\n", cases[i].name);
        for (int k = 0; k < 6; k++)
            compare(&s, k < 3 ? TSR_F32 : TSR_BF16, (tsr_conv_product)(k % 3));
    }
    printf("f64 and f16 against the definition\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i += 2) {
        tsr_conv_shape s = cases[i].shape;

        need(!tsr__conv_infer("conv", &s, NULL), "shape");
        other_ways(&cases[i], &s);
    }
    return 0;
}
