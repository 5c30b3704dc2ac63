/* SPDX-License-Identifier: Apache-2.0 */
/* bench_piece.c - copies and reductions of strided pieces, on one and two threads, each as a ratio
   to the time memcpy takes in the same run for the same traffic (less is faster). */
#include "base/piece.h"
#include "base/pool.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    MIB = 1 << 20,
    BUFFER = 160 * MIB,
    SMALL = 32 * MIB,
    SOURCES = 8,
    REPEATS = 15,
    THREADS = 2
};

/* One thread's share of a case. */
typedef struct job {
    void (*run)(const struct job *job);
    size_t size, bytes;
    char *dst, *src[SOURCES];
    tsr_piece to, from;
    tsr_dtype dtype;
    tsr_reduce op;
    int n_src;
} job;

typedef struct crew {
    pthread_barrier_t barrier;
    const job *jobs;
} crew;

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void run_memcpy(const job *j)
{
    memcpy(j->dst, j->src[0], j->bytes);
}

static void run_copy(const job *j)
{
    tsr__piece_copy(j->size, j->dst, &j->to, j->src[0], &j->from);
}

static void run_reduce(const job *j)
{
    const void *src[SOURCES];
    const tsr_piece *from[SOURCES];

    for (int k = 0; k < j->n_src; k++) {
        src[k] = j->src[k];
        from[k] = &j->from;
    }
    tsr__piece_reduce(j->dtype, j->op, 1, j->n_src, j->dst, &j->to, src, from);
}

static void *second_thread(void *arg)
{
    crew *c = arg;

    for (int i = 0; i < REPEATS; i++) {
        pthread_barrier_wait(&c->barrier);
        c->jobs[1].run(&c->jobs[1]);
        pthread_barrier_wait(&c->barrier);
    }
    return NULL;
}

/* The least time of several runs. */
static double measure(const job *jobs, int threads)
{
    crew c = {.jobs = jobs};
    double best = 1e9;
    pthread_t thread;

    if (threads == 2) {
        pthread_barrier_init(&c.barrier, NULL, THREADS);
        pthread_create(&thread, NULL, second_thread, &c);
    }
    for (int i = 0; i < REPEATS; i++) {
        if (threads == 2)
            pthread_barrier_wait(&c.barrier);
        double t = seconds();

        jobs[0].run(&jobs[0]);
        if (threads == 2)
            pthread_barrier_wait(&c.barrier);
        t = seconds() - t;
        best = t < best ? t : best;
    }
    if (threads == 2) {
        pthread_join(thread, NULL);
        pthread_barrier_destroy(&c.barrier);
    }
    return best;
}

/* `traffic` is what memcpy would have to copy to read and write as much. */
static void report(const char *name, job model, int threads, int64_t to_half, int64_t from_half,
                   double traffic)
{
    job mine[THREADS], plain[THREADS];

    for (int t = 0; t < THREADS; t++) {
        mine[t] = plain[t] = model;
        mine[t].dst += t * to_half;
        for (int k = 0; k < SOURCES; k++)
            mine[t].src[k] += t * from_half;
        plain[t].run = run_memcpy;
        plain[t].bytes = (size_t)(traffic / threads);
        plain[t].dst += (size_t)t * plain[t].bytes;
        plain[t].src[0] += (size_t)t * plain[t].bytes;
    }
    double base = measure(plain, threads), time = measure(mine, threads);

    printf("%d thread%s %-44s %8.3f ms  memcpy %8.3f ms  ratio %.2f\n", threads,
           threads > 1 ? "s" : " ", name, 1e3 * time, 1e3 * base, time / base);
}

/* rows x row bytes, elements of `size`, between matrices with these row strides. */
static void bench_rows(const char *name, job model, size_t size, int64_t rows, int64_t row,
                       int64_t to, int64_t from)
{
    for (int threads = 1; threads <= THREADS; threads++) {
        int64_t part = rows / threads;

        model.run = run_copy;
        model.size = size;
        model.to = (tsr_piece){
            .n = 2, .count = {part, row / (int64_t)size}, .stride = {to, (int64_t)size}};
        model.from = (tsr_piece){
            .n = 2, .count = {part, row / (int64_t)size}, .stride = {from, (int64_t)size}};
        report(name, model, threads, part * to, part * from, (double)(rows * row));
    }
}

static void bench_transposed(const char *name, job model, size_t size, int64_t n)
{
    int64_t unit = (int64_t)size;

    for (int threads = 1; threads <= THREADS; threads++) {
        model.run = run_copy;
        model.size = size;
        model.to = (tsr_piece){.n = 2, .count = {n / threads, n}, .stride = {n * unit, unit}};
        model.from = (tsr_piece){.n = 2, .count = {n / threads, n}, .stride = {unit, n * unit}};
        report(name, model, threads, n / threads * n * unit, n / threads * unit,
               (double)(n * n * unit));
    }
}

static void bench_reduce(const char *name, job model, tsr_dtype dtype, tsr_reduce op, int n_src,
                         int64_t bytes)
{
    int64_t size = (int64_t)tsr_dtype_size(dtype);

    for (int threads = 1; threads <= THREADS; threads++) {
        model.run = run_reduce;
        model.dtype = dtype;
        model.op = op;
        model.n_src = n_src;
        model.to = (tsr_piece){.n = 1, .count = {bytes / size / threads}, .stride = {size}};
        model.from = model.to;
        report(name, model, threads, bytes / threads, bytes / threads,
               (double)bytes * (n_src + 1) / 2);
    }
}

int main(void)
{
    tsr_heap heap = {0};
    tsr_pool pool;
    job model = {0};

    tsr__pool_open(&pool, &heap);
    for (int k = -1; k < SOURCES; k++) {
        void *p;

        if (tsr__pool_get(&pool, k < 1 ? BUFFER : SMALL, &p, NULL) != TSR_OK)
            return 1;
        memset(p, 0, k < 1 ? BUFFER : SMALL);
        *(k < 0 ? &model.dst : &model.src[k]) = p;
    }
    bench_rows("32 MiB contiguous", model, 4, 2, 16 * MIB, 16 * MIB, 16 * MIB);
    bench_rows("32 MiB, rows 8K of 16K -> packed", model, 4, 4096, 8192, 8192, 16384);
    bench_rows("32 MiB, packed -> rows 8K of 16K", model, 4, 4096, 8192, 16384, 8192);
    bench_rows("32 MiB, rows 8K of 16K -> rows 8K of 16K", model, 4, 4096, 8192, 16384, 16384);
    bench_rows("32 MiB, rows 1K of 2K -> packed", model, 4, 32768, 1024, 1024, 2048);
    bench_rows("32 MiB, rows 1000 of 2000 -> packed", model, 4, 32768, 1000, 1000, 2000);
    bench_rows("32 MiB, rows 256 of 512 -> packed", model, 4, 131072, 256, 256, 512);
    bench_rows("32 MiB, packed -> rows 256 of 512", model, 4, 131072, 256, 512, 256);
    bench_rows("4 MiB, rows 8K of 16K -> packed", model, 4, 512, 8192, 8192, 16384);
    bench_rows("512 KiB, rows 512 of 1K -> packed", model, 4, 1024, 512, 512, 1024);
    bench_rows("512 KiB, rows 48 of 96 -> packed", model, 4, 10922, 48, 48, 96);
    bench_rows("512 KiB, rows 4 of 8 -> packed", model, 4, 131072, 4, 4, 8);
    bench_transposed("f32[2048,2048] transposed", model, 4, 2048);
    bench_transposed("f64[2048,2048] transposed", model, 8, 2048);
    bench_transposed("f16[4096,4096] transposed", model, 2, 4096);
    bench_transposed("u8[4096,4096] transposed", model, 1, 4096);
    bench_transposed("f32[300,300] transposed", model, 4, 300);
    bench_reduce("sum of 2 x 32 MiB f32", model, TSR_F32, TSR_SUM, 2, 32 * MIB);
    bench_reduce("sum of 4 x 32 MiB f32", model, TSR_F32, TSR_SUM, 4, 32 * MIB);
    bench_reduce("sum of 8 x 32 MiB f32", model, TSR_F32, TSR_SUM, 8, 32 * MIB);
    bench_reduce("max of 2 x 32 MiB f64", model, TSR_F64, TSR_MAX, 2, 32 * MIB);
    bench_reduce("max of 2 x 32 MiB i64", model, TSR_I64, TSR_MAX, 2, 32 * MIB);
    bench_reduce("sum of 2 x 32 MiB bf16", model, TSR_BF16, TSR_SUM, 2, 32 * MIB);
    bench_reduce("sum of 2 x 32 MiB f16", model, TSR_F16, TSR_SUM, 2, 32 * MIB);
    bench_reduce("sum of 2 x 32 MiB field", model, (tsr_dtype)TSR__FIELD, TSR_SUM, 2, 32 * MIB);
    bench_reduce("sum of 2 x 256 KiB f32", model, TSR_F32, TSR_SUM, 2, MIB / 4);
    bench_reduce("sum of 8 x 64 KiB f32", model, TSR_F32, TSR_SUM, 8, MIB / 16);
    bench_reduce("max of 4 x 64 KiB i32", model, TSR_I32, TSR_MAX, 4, MIB / 16);
    bench_reduce("sum of 4 x 64 KiB bf16", model, TSR_BF16, TSR_SUM, 4, MIB / 16);
    bench_reduce("sum of 4 x 64 KiB f16", model, TSR_F16, TSR_SUM, 4, MIB / 16);
    tsr__pool_put(&pool, model.dst);
    for (int k = 0; k < SOURCES; k++)
        tsr__pool_put(&pool, model.src[k]);
    tsr__pool_trim(&pool);
    return 0;
}
