/* SPDX-License-Identifier: Apache-2.0 */
/* bench_kernel.c - the local kernels on one thread, each as a ratio to a bound measured in the same
   run: sgemm called directly, or memcpy and reading for the same traffic (1.00: as fast as the
   bound, less is slower). */
#include "kernel/blas.h"
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
#include <time.h>

enum { MIB = 1 << 20, REPEATS = 15 };

typedef struct resampling {
    const char *name;
    tsr_resample_kind kind;
    tsr_resample_shape shape;
} resampling;

typedef struct job {
    void (*run)(const struct job *job);
    tsr_kernel kernel;
    tsr_kernel_call call;
    size_t bytes;
    const resampling *resampling; /* of in[0] */
    bool back;
    tsr_pool *pool;
} job;

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* others may be busy */
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void run_kernel(const job *j)
{
    j->kernel(&j->call);
}

static void run_sgemm(const job *j)
{
    const int64_t n = j->call.out[0].shape.size[0];

    tsr__blas_gemm(TSR_F32, n, n, n, j->call.in[0].data, n, j->call.in[1].data, n, false,
                   j->call.out[0].data, n);
}

static void run_memcpy(const job *j)
{
    memcpy(j->call.out[0].data, j->call.in[0].data, j->bytes);
}

/* Eight independent sums are enough to wait for memory only. */
static void run_read(const job *j)
{
    const uint64_t *x = j->call.in[0].data;
    uint64_t sum[8] = {0};

    for (size_t i = 0; i < j->bytes / 8; i += 8)
        for (int k = 0; k < 8; k++)
            sum[k] += x[i + (size_t)k];
    *(uint64_t *)j->call.out[0].data =
        sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
}

static void run_resample(const job *j)
{
    const resampling *r = j->resampling;
    const tsr_dtype dtype = j->call.in[0].dtype;

    if (j->back)
        tsr__resample_grad(&r->shape, r->kind, dtype, false, j->pool, j->call.in[0].data,
                           j->call.out[0].data, NULL);
    else
        tsr__resample(&r->shape, r->kind, dtype, false, j->pool, j->call.in[0].data,
                      j->call.out[0].data, NULL);
}

/* The least time of several runs. */
static double least_time(const job *j)
{
    double least = 1e9;

    for (int i = 0; i < REPEATS; i++) {
        double start = seconds(), time;

        j->run(j);
        time = seconds() - start;
        least = time < least ? time : least;
    }
    return least;
}

static void *memory(size_t bytes)
{
    void *p = NULL;

    if (posix_memalign(&p, 4096, bytes)) {
        fprintf(stderr, "bench_kernel: out of memory\n");
        exit(1);
    }
    return p;
}

static tsr_operand operand(tsr_dtype dtype, int64_t rows, int64_t columns)
{
    const int64_t n = rows * columns;
    tsr_operand x = {.dtype = dtype,
                     .shape = {2, {rows, columns}},
                     .data = memory((size_t)n * tsr_dtype_size(dtype))};

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

static void free_job(const job *j)
{
    free(j->call.in[0].data);
    free(j->call.in[1].data);
    free(j->call.out[0].data);
}

static void bench_matmul(int64_t n)
{
    static const tsr_dtype dtypes[] = {TSR_F32, TSR_BF16, TSR_F16};
    job direct =
        make(NULL, 0, 2, operand(TSR_F32, n, n), operand(TSR_F32, n, n), operand(TSR_F32, n, n));
    double bound;

    direct.run = run_sgemm;
    bound = least_time(&direct);
    printf("sgemm called directly, %d^3: %.1f Gflop/s\n", (int)n,
           2e-9 * (double)(n * n * n) / bound);
    for (int d = 0; d < 3; d++) {
        job j = make(tsr__kernel_matmul, TSR_LINALG_MATMUL, 2, operand(dtypes[d], n, n),
                     operand(dtypes[d], n, n), operand(dtypes[d], n, n));

        printf("  matmul %-4s                 %.2f of sgemm\n", tsr_dtype_name(dtypes[d]),
               bound / least_time(&j));
        free_job(&j);
    }
    free_job(&direct);
}

/* Seconds per byte. */
static void measure_memory(double *copy, double *read)
{
    job j =
        make(NULL, 0, 1, operand(TSR_F32, 16, MIB), (tsr_operand){0}, operand(TSR_F32, 16, MIB));

    j.bytes = 64 * MIB;
    j.run = run_memcpy;
    *copy = least_time(&j) / (2.0 * 64 * MIB);
    j.run = run_read;
    *read = least_time(&j) / (64.0 * MIB);
    printf("memcpy %.1f GB/s (read + written), reading %.1f GB/s\n", 1e-9 / *copy, 1e-9 / *read);
    free_job(&j);
}

static void report(const char *name, job *j, double bound)
{
    printf("  %-27s %.2f of the bound\n", name, bound / least_time(j));
    free_job(j);
}

static void bench_pointwise(tsr_dtype dtype, double copy)
{
    const int64_t n = 1024, m = 64 * MIB / (int64_t)tsr_dtype_size(dtype) / n;
    const double two = 2.0 * 64 * MIB * copy, three = 3.0 * 64 * MIB * copy;
    job j;

    printf("%s 64 MiB against memcpy for the same traffic\n", tsr_dtype_name(dtype));
    j = make(tsr__kernel_pointwise, TSR_POINTWISE_ADD, 2, operand(dtype, m, n),
             operand(dtype, m, n), operand(dtype, m, n));
    report("add equal shapes", &j, three);
    j = make(tsr__kernel_pointwise, TSR_POINTWISE_ADD, 2, operand(dtype, m, n),
             operand(dtype, 1, n), operand(dtype, m, n));
    report("add row vector", &j, two);
    j = make(tsr__kernel_pointwise, TSR_POINTWISE_ADD, 2, operand(dtype, m, n),
             operand(dtype, m, 1), operand(dtype, m, n));
    report("add column", &j, two);
    j = make(tsr__kernel_pointwise, TSR_POINTWISE_MUL, 2, operand(dtype, m, n),
             operand(dtype, 1, 1), operand(dtype, m, n));
    report("mul scalar", &j, two);
    j = make(tsr__kernel_pointwise, TSR_POINTWISE_ADD, 2, operand(dtype, m * 128, 8),
             operand(dtype, 1, 8), operand(dtype, m * 128, 8));
    report("add row vector of 8", &j, two);
    j = make(tsr__kernel_pointwise, TSR_POINTWISE_NEG, 1, operand(dtype, m, n), (tsr_operand){0},
             operand(dtype, m, n));
    report("neg", &j, two);
    j = make(tsr__kernel_pointwise, TSR_POINTWISE_RELU, 1, operand(dtype, m, n), (tsr_operand){0},
             operand(dtype, m, n));
    report("relu", &j, two);
}

static void bench_reduce(tsr_dtype dtype, double read)
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

    printf("%s 64 MiB against reading\n", tsr_dtype_name(dtype));
    for (size_t k = 0; k < 2 * sizeof cases / sizeof *cases; k++) {
        const int64_t n = cases[k / 2].columns;
        const int64_t m = 64 * MIB / (int64_t)tsr_dtype_size(dtype) / n;
        const int dim = cases[k / 2].dim;
        job j =
            make(tsr__kernel_reduce, k % 2 ? TSR_REDUCTION_MAX : TSR_REDUCTION_SUM, 1,
                 operand(dtype, m, n), (tsr_operand){0}, operand(dtype, dim ? m : 1, dim ? 1 : n));
        char name[64];

        j.call.attrs.value[0] = (tsr_attr){.n = 1, .i = {dim}};
        snprintf(name, sizeof name, "%s %s", k % 2 ? "max" : "sum", cases[k / 2].name);
        report(name, &j, 64.0 * MIB * read);
    }
}

static void bench_softmax(double copy)
{
    static const tsr_dtype dtypes[] = {TSR_F32, TSR_BF16, TSR_F64};

    printf("softmax against memcpy\n");
    for (int d = 0; d < 6; d++) {
        const tsr_dtype dtype = dtypes[d / 2];
        const double traffic = 2.0 * 4096 * 1024 * (double)tsr_dtype_size(dtype);
        job j = make(tsr__kernel_softmax, TSR_SOFTMAX, 1, operand(dtype, 4096, 1024),
                     (tsr_operand){0}, operand(dtype, 4096, 1024));
        char name[64];

        j.call.attrs.value[0] = (tsr_attr){.n = 1, .i = {d % 2 ? 0 : 1}};
        snprintf(name, sizeof name, "%s 4096x1024 dim %d", tsr_dtype_name(dtype), d % 2 ? 0 : 1);
        report(name, &j, traffic * copy);
    }
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
static void bench_resample(tsr_dtype dtype, double copy)
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

    tsr__pool_open(&pool, &heap);
    printf("%s resampling against memcpy for the same traffic\n", tsr_dtype_name(dtype));
    for (size_t k = 0; k < 2 * sizeof cases / sizeof *cases; k++) {
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
        report(name, &j, (double)(n + m) * (double)tsr_dtype_size(dtype) * copy);
    }
    tsr__pool_trim(&pool);
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
static void bench_norm(tsr_dtype dtype, int64_t channels, int64_t space, double copy, double read)
{
    const tsr_dtype fine = dtype == TSR_BF16 ? TSR_F32 : dtype;
    const int64_t groups = channels / 8;
    static const char *const names[] = {"batch_norm", "batch_norm_backward", "group_norm",
                                        "group_norm_backward"};
    static const int kinds[] = {TSR_NORM_BATCH, TSR_NORM_BATCH_BACKWARD, TSR_NORM_GROUP,
                                TSR_NORM_GROUP_BACKWARD};

    for (int k = 0; k < 4; k++) {
        const bool grouped = k >= 2, back = k % 2;
        job j = make(tsr__kernel_channel_norm, kinds[k], 5, image(dtype, channels, space),
                     (tsr_operand){0}, image(dtype, channels, space));
        const double once = 64.0 * MIB;
        const int64_t n = j.call.in[0].shape.size[0];
        const double bound = back      ? 2 * once * read + 2 * once * copy + once * read
                             : grouped ? 2 * once * copy
                                       : once * read + 2 * once * copy;
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
        j.call.scratch = memory(tsr__scratch_channel_norm(&j.call));
        snprintf(name, sizeof name, "%s %s, %d x %d", names[k], tsr_dtype_name(dtype),
                 (int)channels, (int)space);
        printf("  %-40s %.2f of the bound\n", name, bound / least_time(&j));
        for (int i = 0; i < 5; i++)
            free(j.call.in[i].data);
        for (int i = 0; i < 3; i++)
            free(j.call.out[i].data);
        free(j.call.scratch);
    }
}

static void bench_norms(double copy, double read)
{
    printf("normalisation of 64 MiB, channels x space, against copying and reading as often\n");
    bench_norm(TSR_F32, 64, 56 * 56, copy, read);
    bench_norm(TSR_F32, 512, 7 * 7, copy, read);
    bench_norm(TSR_F32, 1024, 1, copy, read);
    bench_norm(TSR_BF16, 64, 56 * 56, copy, read);
    bench_norm(TSR_F64, 64, 56 * 56, copy, read);
}

int main(void)
{
    double copy, read;

    tsr__blas_setup();
    bench_matmul(1024);
    measure_memory(&copy, &read);
    bench_pointwise(TSR_F32, copy);
    bench_pointwise(TSR_BF16, copy);
    bench_reduce(TSR_F32, read);
    bench_reduce(TSR_BF16, read);
    bench_softmax(copy);
    bench_resample(TSR_F32, copy);
    bench_resample(TSR_BF16, copy);
    bench_norms(copy, read);
    return 0;
}
