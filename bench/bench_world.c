/* SPDX-License-Identifier: Apache-2.0 */
/* bench_world.c - what calls among thread ranks cost: barriers in microseconds, all-reduces also as
   a multiple of one rank's memcpy of the same bytes, in the same run. No arguments. */
#include "world/mesh_handle.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_RANKS = 8 };

typedef struct rank_run {
    tsr_thread_hub *hub;
    int rank, size;
    pthread_t thread;
} rank_run;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

enum { ROUNDS = 9 };

/* Median over rounds of seconds per call. */
static double barrier_seconds(tsr_mesh *mesh, int repeat)
{
    double t[ROUNDS];

    for (int r = 0; r < ROUNDS; r++) {
        tsr_barrier(mesh);
        double t0 = now();
        for (int i = 0; i < repeat; i++)
            tsr_barrier(mesh);
        t[r] = (now() - t0) / repeat;
    }
    qsort(t, ROUNDS, sizeof t[0], by_value);
    return t[ROUNDS / 2];
}

static double reduce_seconds(tsr_mesh *mesh, const float *send, float *recv, int64_t n, int repeat)
{
    double t[ROUNDS];

    for (int r = 0; r < ROUNDS; r++) {
        tsr_barrier(mesh);
        double t0 = now();
        for (int i = 0; i < repeat; i++)
            tsr_all_reduce(mesh, TSR_F32, TSR_SUM, send, n, recv);
        t[r] = (now() - t0) / repeat;
    }
    qsort(t, ROUNDS, sizeof t[0], by_value);
    return t[ROUNDS / 2];
}

static double copy_seconds(float *to, const float *from, int64_t n, int repeat)
{
    double t[ROUNDS];

    for (int r = 0; r < ROUNDS; r++) {
        double t0 = now();
        for (int i = 0; i < repeat; i++) {
            memcpy(to, from, (size_t)n * sizeof *to);
            __asm__ volatile("" : : "r"(to) : "memory");
        }
        t[r] = (now() - t0) / repeat;
    }
    qsort(t, ROUNDS, sizeof t[0], by_value);
    return t[ROUNDS / 2];
}

static void measure(tsr_mesh *mesh)
{
    const int64_t largest = 4 << 20;
    int rank = tsr_mesh_rank(mesh), size = tsr_mesh_size(mesh);
    float *send = calloc((size_t)largest, sizeof *send);
    float *recv = calloc((size_t)largest, sizeof *recv);

    memset(send, 1, (size_t)largest * sizeof *send);
    memset(recv, 1, (size_t)largest * sizeof *recv);
    double s = barrier_seconds(mesh, 2000);
    if (rank == 0)
        printf("%d ranks  barrier               %9.2f us\n", size, s * 1e6);
    for (int64_t n = 16; n <= largest; n *= 4) {
        int repeat = n <= 65536 ? 500 : 10;
        double reduce = reduce_seconds(mesh, send, recv, n, repeat), copy = 0;
        tsr_barrier(mesh);
        if (rank == 0)
            copy = copy_seconds(recv, send, n, repeat);
        tsr_barrier(mesh);
        if (rank == 0)
            printf("%d ranks  all-reduce %8lld B %10.2f us  %8.2f x memcpy\n", size,
                   (long long)n * 4, reduce * 1e6, reduce / copy);
    }
    free(send);
    free(recv);
}

static void *rank_main(void *arg)
{
    rank_run *r = arg;
    tsr_ctx *ctx = calloc(1, sizeof *ctx);
    tsr_mesh_shape shape;
    tsr_mesh *mesh;

    tsr__pool_open(&ctx->pool, &ctx->heap);
    if (tsr__thread_join(r->hub, r->rank, ctx, &ctx->world) == TSR_OK &&
        tsr__mesh_shape_make(&r->size, 1, 0, &shape, NULL) == TSR_OK &&
        tsr__mesh_open(ctx, &shape, &mesh) == TSR_OK) {
        measure(mesh);
        tsr_mesh_unref(mesh);
        ctx->world->ops->close(ctx->world);
    }
    if (ctx->error.code)
        fprintf(stderr, "rank %d: %s\n", r->rank, ctx->error.text);
    free(ctx);
    return NULL;
}

int main(void)
{
    static const int sizes[] = {2, 4};

    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        rank_run run[MAX_RANKS];
        tsr_heap heap = {0};
        tsr_thread_hub *hub;
        if (tsr__thread_hub_open(&heap, sizes[s], 0, &hub, NULL) != TSR_OK)
            return 1;
        for (int i = 0; i < sizes[s]; i++) {
            run[i] = (rank_run){.hub = hub, .rank = i, .size = sizes[s]};
            if (pthread_create(&run[i].thread, NULL, rank_main, &run[i]) != 0)
                return 1;
        }
        for (int i = 0; i < sizes[s]; i++)
            pthread_join(run[i].thread, NULL);
        tsr__thread_hub_close(hub);
    }
    return 0;
}
