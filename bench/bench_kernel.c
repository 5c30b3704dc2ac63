/* SPDX-License-Identifier: Apache-2.0 */
/* bench_kernel.c - local kernels on one thread, each in turns with sgemm called directly, or with
   reading and copying as many bytes (traffic.h). Those of lookups are bench_kernel_embedding.c. */
#include "bench_kernel.h"
#include "traffic.h"

#include "kernel/blas.h"
#include "kernel/kinds.h"
#include "ops/linalg/linalg_ops.h"
#include "ops/normalisation/normalisation_ops.h"
#include "ops/pointwise/pointwise_ops.h"
#include "ops/reduction/reduction_ops.h"
#include "kernel/reduce_dims.h"
#include "ops/normalisation/norm.h"
#include "ops/convolution/resample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MIB = 1 << 20 };

typedef struct resampling {
    const char *name;
    tsr_resample_kind kind;
    tsr_resample_shape shape;
} resampling;

typedef struct job {
    tsr_status (*run)(void *job);
    tsr_kernel kernel;
    tsr_kernel_call call;
    const resampling *resampling; /* of in[0] */
    bool back;
    tsr_pool *pool;
} job;

static tsr_status run_kernel(void *arg)
{
    const job *j = arg;

    j->kernel(&j->call);
    return TSR_OK;
}

static tsr_status run_sgemm(void *arg)
{
    const job *j = arg;
    const int64_t n = j->call.out[0].shape.size[0];

    tsr__blas_gemm(TSR_F32, n, n, n, j->call.in[0].data, n, j->call.in[1].data, n, false,
                   j->call.out[0].data, n);
    return TSR_OK;
}

static tsr_status run_resample(void *arg)
{
    const job *j = arg;
    const resampling *r = j->resampling;

    return tsr__resample(&r->shape, r->kind, j->back, j->call.in[0].dtype, TSR_VARIANT_AUTO,
                         j->pool, j->call.in[0].data, j->call.out[0].data, NULL);
}

static tsr_operand operand(tsr_dtype dtype, int64_t rows, int64_t columns)
{
    const int64_t n = rows * columns;
    tsr_operand x = {.dtype = dtype,
                     .shape = {2, {rows, columns}},
                     .data = traffic_memory((size_t)n * tsr_dtype_size(dtype))};

    for (int64_t i = 0; i < n; i++)
        tsr__put(dtype, x.data, i, (double)(i * 7919 % 1009) / 256 - 2);
    return x;
}

static job make(tsr_kernel kernel, int kind, int n_in, tsr_operand a, tsr_operand b,
                tsr_operand out)
{
    return (job){.run = run_kernel,
                 .kernel = kernel,
                 .call = {.kind = kind,
                          .n_in = n_in,
                          .n_out = 1,
                          .in = {a, b, {.shape = {.ndim = -1}}},
                          .out = {out},
                          .number = {1}}};
}

/* ---- rows ---- */

typedef struct kernel_run {
    bench *b;
    traffic traffic;
} kernel_run;

/* In turns with the work beside it. Frees what the job has. */
static tsr_status time_job(bench *b, const char *name, tsr_dtype dtype, job *j, const char *beside,
                           tsr_status (*work)(void *arg), void *arg)
{
    measure_work works[] = {{.run = j->run, .arg = j}, {.run = work, .arg = arg}};
    tsr_status st = measure_together(NULL, works, 2, 0.2);

    if (st == TSR_OK)
        bench_beside(bench_row(b, "{s:s, s:s, s:f}", "case", name, "dtype", tsr_dtype_name(dtype),
                               "seconds", works[0].seconds),
                     beside, works[1].seconds);
    for (int i = 0; i < j->call.n_in; i++)
        free(j->call.in[i].data);
    for (int i = 0; i < j->call.n_out; i++)
        free(j->call.out[i].data);
    free(j->call.scratch);
    return st;
}

static tsr_status beside_traffic(kernel_run *r, const char *name, job *j, double read, double copy)
{
    r->traffic.read = read;
    r->traffic.copy = copy;
    return time_job(r->b, name, j->call.in[0].dtype, j,
                    copy == 0   ? "reading"
                    : read == 0 ? "memcpy"
                                : "reading, memcpy",
                    traffic_run, &r->traffic);
}

static tsr_status bench_matmul(kernel_run *r)
{
    static const tsr_dtype dtypes[] = {TSR_F32, TSR_BF16, TSR_F16};
    const int64_t n = 1024;
    job direct =
        make(NULL, 0, 2, operand(TSR_F32, n, n), operand(TSR_F32, n, n), operand(TSR_F32, n, n));
    tsr_status st = TSR_OK;

    for (int d = 0; d < 3 && st == TSR_OK; d++) {
        job j = make(tsr__kernel_matmul, TSR_LINALG_MATMUL, 2, operand(dtypes[d], n, n),
                     operand(dtypes[d], n, n), operand(dtypes[d], n, n));

        st = time_job(r->b, "matmul 1024^3", dtypes[d], &j, "sgemm", run_sgemm, &direct);
    }
    free(direct.call.in[0].data);
    free(direct.call.in[1].data);
    free(direct.call.out[0].data);
    return st;
}

static tsr_status bench_pointwise(kernel_run *r, tsr_dtype dtype)
{
    const int64_t n = 1024, m = 64 * MIB / (int64_t)tsr_dtype_size(dtype) / n;
    const struct {
        const char *name;
        int kind;
        int64_t rows, columns, b_rows, b_columns; /* 0: no second input */
    } cases[] = {{"add equal shapes", TSR_POINTWISE_ADD, m, n, m, n},
                 {"add row vector", TSR_POINTWISE_ADD, m, n, 1, n},
                 {"add column", TSR_POINTWISE_ADD, m, n, m, 1},
                 {"mul scalar", TSR_POINTWISE_MUL, m, n, 1, 1},
                 {"add row vector of 8", TSR_POINTWISE_ADD, m * 128, 8, 1, 8},
                 {"neg", TSR_POINTWISE_NEG, m, n, 0, 0},
                 {"relu", TSR_POINTWISE_RELU, m, n, 0, 0}};
    tsr_status st = TSR_OK;

    for (size_t i = 0; i < sizeof cases / sizeof *cases && st == TSR_OK; i++) {
        const bool two = cases[i].b_rows > 0;
        job j = make(tsr__kernel_pointwise, cases[i].kind, 1 + two,
                     operand(dtype, cases[i].rows, cases[i].columns),
                     two ? operand(dtype, cases[i].b_rows, cases[i].b_columns) : (tsr_operand){0},
                     operand(dtype, cases[i].rows, cases[i].columns));

        /* two large inputs and an output: three halves of a copy's traffic */
        st = beside_traffic(r, cases[i].name, &j, 0, (i == 0 ? 1.5 : 1.0) * 64 * MIB);
    }
    return st;
}

static tsr_status bench_reduce(kernel_run *r, tsr_dtype dtype)
{
    static const struct {
        const char *name;
        int64_t columns;
        int dim;
    } cases[] = {{"last dim of 1024", 1024, 1},
                 {"last dim of 16", 16, 1},
                 {"first dim, 1024 columns", 1024, 0},
                 {"first dim, 8 columns", 8, 0},
                 {"first dim, 100000 columns", 100000, 0}};

    tsr_status st = TSR_OK;

    for (size_t k = 0; k < 2 * sizeof cases / sizeof *cases && st == TSR_OK; k++) {
        const int64_t n = cases[k / 2].columns;
        const int64_t m = 64 * MIB / (int64_t)tsr_dtype_size(dtype) / n;
        const int dim = cases[k / 2].dim;
        job j =
            make(tsr__kernel_reduce, k % 2 ? TSR_REDUCTION_MAX : TSR_REDUCTION_SUM, 1,
                 operand(dtype, m, n), (tsr_operand){0}, operand(dtype, dim ? m : 1, dim ? 1 : n));
        char name[64];

        j.call.attrs.value[0] = (tsr_attr){.n = 1, .i = {dim}};
        snprintf(name, sizeof name, "%s %s", k % 2 ? "max" : "sum", cases[k / 2].name);
        st = beside_traffic(r, name, &j, 64.0 * MIB, 0);
    }
    return st;
}

static tsr_status bench_softmax(kernel_run *r)
{
    static const tsr_dtype dtypes[] = {TSR_F32, TSR_BF16, TSR_F64};
    tsr_status st = TSR_OK;

    for (int d = 0; d < 6 && st == TSR_OK; d++) {
        const tsr_dtype dtype = dtypes[d / 2];
        job j = make(tsr__kernel_softmax, TSR_SOFTMAX, 1, operand(dtype, 4096, 1024),
                     (tsr_operand){0}, operand(dtype, 4096, 1024));
        char name[64];

        j.call.attrs.value[0] = (tsr_attr){.n = 1, .i = {d % 2 ? 0 : 1}};
        snprintf(name, sizeof name, "softmax 4096x1024 dim %d", d % 2 ? 0 : 1);
        st = beside_traffic(r, name, &j, 0, 4096.0 * 1024 * (double)tsr_dtype_size(dtype));
    }
    return st;
}

static tsr_resample_shape square(int ndim, int64_t planes, int64_t in, int64_t out)
{
    tsr_resample_shape s = {.ndim = ndim, .planes = planes};

    for (int d = 0; d < ndim; d++) {
        s.whole_in[d] = s.in_count[d] = in;
        s.whole_out[d] = s.out_count[d] = out;
    }
    return s;
}

/* Output and gradient, each reading one side and writing the other. */
static tsr_status bench_resample(kernel_run *r, tsr_dtype dtype)
{
    const resampling cases[] = {
        {"average 56^2 to 7^2", TSR_RESAMPLE_AVERAGE, square(2, 2048, 56, 7)},
        {"average 7^2 to 1", TSR_RESAMPLE_AVERAGE, square(2, 65536, 7, 1)},
        {"average 56^2 to 15^2", TSR_RESAMPLE_AVERAGE, square(2, 2048, 56, 15)},
        {"nearest 56^2 to 112^2", TSR_RESAMPLE_NEAREST, square(2, 512, 56, 112)},
        {"nearest 64^2 to 100^2", TSR_RESAMPLE_NEAREST, square(2, 512, 64, 100)},
        {"nearest 24^3 to 48^3", TSR_RESAMPLE_NEAREST, square(3, 64, 24, 48)},
        {"linear 2^16 to 2^17", TSR_RESAMPLE_LINEAR, square(1, 64, 65536, 131072)},
        {"linear 56^2 to 112^2", TSR_RESAMPLE_LINEAR, square(2, 512, 56, 112)},
        {"linear 512^2 to 1024^2", TSR_RESAMPLE_LINEAR, square(2, 8, 512, 1024)},
        {"linear 112^2 to 56^2", TSR_RESAMPLE_LINEAR, square(2, 512, 112, 56)},
        {"corners 64^2 to 100^2", TSR_RESAMPLE_CORNERS, square(2, 512, 64, 100)},
        {"linear 24^3 to 48^3", TSR_RESAMPLE_LINEAR, square(3, 64, 24, 48)},
    };
    tsr_heap heap = {0};
    tsr_pool pool;
    tsr_status st = TSR_OK;

    tsr__pool_open(&pool, &heap);
    for (size_t k = 0; k < 2 * sizeof cases / sizeof *cases && st == TSR_OK; k++) {
        const tsr_resample_shape *s = &cases[k / 2].shape;
        int64_t n = s->planes, m = s->planes;
        char name[64];
        job j;

        for (int d = 0; d < s->ndim; d++)
            n *= s->whole_in[d], m *= s->whole_out[d];
        j = make(NULL, 0, 1, operand(dtype, 1, k % 2 ? m : n), (tsr_operand){0},
                 operand(dtype, 1, k % 2 ? n : m));
        j.run = run_resample;
        j.resampling = &cases[k / 2];
        j.back = k % 2;
        j.pool = &pool;
        snprintf(name, sizeof name, "%s%s", cases[k / 2].name, k % 2 ? " grad" : "");
        st = beside_traffic(r, name, &j, 0, (double)(n + m) / 2 * (double)tsr_dtype_size(dtype));
    }
    tsr__pool_trim(&pool);
    return st;
}

/* x of 64 MiB as [n, channels, space], or as much of it as there is. */
static tsr_operand image(tsr_dtype dtype, int64_t channels, int64_t space)
{
    const int64_t n = 64 * MIB / (int64_t)tsr_dtype_size(dtype) / channels / space;
    tsr_operand x = operand(dtype, n, channels * space);

    x.shape = (tsr_shape){3, {n, channels, space}};
    return x;
}

static tsr_operand vector(tsr_dtype dtype, int ndim, int64_t n, int64_t channels)
{
    tsr_operand x = operand(dtype, ndim == 2 ? n : 1, channels);

    x.shape = ndim == 2 ? (tsr_shape){2, {n, channels}} : (tsr_shape){1, {channels}};
    return x;
}

/* Statistics need all of x before the first result: that is read twice, and gradients too. A group
   norm's x is in the cache the second time. */
static tsr_status bench_norm(kernel_run *r, tsr_dtype dtype, int64_t channels, int64_t space)
{
    const tsr_dtype fine = dtype == TSR_BF16 ? TSR_F32 : dtype;
    const int64_t groups = channels / 8;
    static const char *const names[] = {"batch_norm", "batch_norm_backward", "group_norm",
                                        "group_norm_backward"};
    static const int kinds[] = {TSR_NORM_BATCH, TSR_NORM_BATCH_BACKWARD, TSR_NORM_GROUP,
                                TSR_NORM_GROUP_BACKWARD};

    tsr_status st = TSR_OK;

    for (int k = 0; k < 4 && st == TSR_OK; k++) {
        const bool grouped = k >= 2, back = k % 2;
        job j = make(tsr__kernel_channel_norm, kinds[k], 5, image(dtype, channels, space),
                     (tsr_operand){0}, image(dtype, channels, space));
        const double once = 64.0 * MIB, read = back ? 3 : grouped ? 0 : 1;
        const int64_t n = j.call.in[0].shape.size[0];
        char name[64];

        for (int i = 1; i < 5; i++)
            j.call.in[i] = (tsr_operand){.shape = {.ndim = -1}};
        j.call.in[back ? 2 : 1] = vector(fine, 1, n, channels);
        if (back)
            j.call.in[1] = image(dtype, channels, space);
        for (int i = 1; i < 3; i++)
            j.call.out[i] = back ? vector(fine, 1, n, channels)
                                 : vector(fine, grouped ? 2 : 1, n, grouped ? groups : channels);
        for (int i = 3; i < 5 && back; i++)
            j.call.in[i] = vector(fine, grouped ? 2 : 1, n, grouped ? groups : channels);
        j.call.n_out = 3;
        j.call.attrs.value[0] = (tsr_attr){.n = 1, .i = {grouped ? groups : 1}};
        j.call.attrs.value[1].f = 1e-5;
        j.call.number[0] = grouped ? 8 * space : n * space;
        j.call.scratch = traffic_memory(tsr__scratch_channel_norm(&j.call));
        snprintf(name, sizeof name, "%s %d x %d", names[k], (int)channels, (int)space);
        st = beside_traffic(r, name, &j, read * once, once);
    }
    return st;
}

static tsr_status bench_norms(kernel_run *r)
{
    static const struct {
        tsr_dtype dtype;
        int64_t channels, space;
    } cases[] = {{TSR_F32, 64, 56 * 56},
                 {TSR_F32, 512, 7 * 7},
                 {TSR_F32, 1024, 1},
                 {TSR_BF16, 64, 56 * 56},
                 {TSR_F64, 64, 56 * 56}};
    tsr_status st = TSR_OK;

    for (size_t i = 0; i < sizeof cases / sizeof *cases && st == TSR_OK; i++)
        st = bench_norm(r, cases[i].dtype, cases[i].channels, cases[i].space);
    return st;
}

/* ---- groups of kernels ---- */

static tsr_status bench_pointwise_all(kernel_run *r)
{
    tsr_status st = bench_pointwise(r, TSR_F32);

    return st == TSR_OK ? bench_pointwise(r, TSR_BF16) : st;
}

static tsr_status bench_reduce_all(kernel_run *r)
{
    tsr_status st = bench_reduce(r, TSR_F32);

    return st == TSR_OK ? bench_reduce(r, TSR_BF16) : st;
}

static tsr_status bench_resample_all(kernel_run *r)
{
    tsr_status st = bench_resample(r, TSR_F32);

    return st == TSR_OK ? bench_resample(r, TSR_BF16) : st;
}

static tsr_status bench_lookups(kernel_run *r)
{
    return bench_kernel_embedding(r->b, &r->traffic);
}

static const struct {
    const char *name;
    tsr_status (*run)(kernel_run *r);
} groups[] = {
    {"matmul", bench_matmul},         {"pointwise", bench_pointwise_all},
    {"reduction", bench_reduce_all},  {"softmax", bench_softmax},
    {"resample", bench_resample_all}, {"norm", bench_norms},
    {"embedding", bench_lookups},
};
enum { N_GROUPS = sizeof groups / sizeof groups[0] };

static int run_all(bench *b)
{
    kernel_run r = {.b = b};
    int chosen = -1;
    tsr_status st = TSR_OK;

    for (int i = 0; i < N_GROUPS; i++)
        if (strcmp(groups[i].name, b->words) == 0)
            chosen = i;
    if (chosen < 0 && *b->words)
        return cli_bad("kernel: unknown group \"%s\"; expected matmul, pointwise, reduction, "
                       "softmax, resample, norm or embedding",
                       b->words);
    tsr__blas_setup();
    traffic_open(&r.traffic);
    for (int i = 0; i < N_GROUPS && st == TSR_OK; i++)
        if (chosen < 0 || chosen == i) {
            cli_progress("kernels: %s", groups[i].name);
            st = groups[i].run(&r);
        }
    traffic_close(&r.traffic);
    return st == TSR_OK ? CLI_OK : cli_failed("kernel: %s", tsr_status_text(st));
}

const benchmark bench_kernel = {
    .name = "kernel",
    .synopsis = "[matmul|pointwise|reduction|softmax|resample|norm|embedding]",
    .help = "local kernels on one thread, beside sgemm or the memory they move",
    .takes = BENCH_WORDS,
    .run = run_all,
    .columns = {{"kernel", "case", TEXT},
                {"dtype", "dtype", TEXT},
                {"time", "seconds", SECONDS},
                BENCH_YARDSTICK_COLUMNS},
    .note = "Operands of 64 MiB where no shape is given. reading, memcpy: of as many bytes as the\n"
            "kernel needs to read and write, in memory that is not in the caches; normalisation\n"
            "reads what it needs twice. ratio: time divided by the yardstick's."};
