/* SPDX-License-Identifier: Apache-2.0 */
/* harness.c - see harness.h. */
#include "harness.h"

#include <pthread.h>

#include "test.h"
#include "numbers.h"

typedef struct rank_run {
    harness *h;
    tsr_thread_hub *hub;
    tsr_mesh_shape shape;
    int rank;
    tsr_job job;
    void *arg;
    int64_t live;
    pthread_t thread;
} rank_run;

static tsr_status run_joined(rank_run *r, tsr_ctx *ctx)
{
    harness *h = r->h;
    tsr_mesh *mesh;
    tsr_status st;

    if (r->rank == h->fail_rank) {
        ctx->world->fail_call_at = h->fail_call_at;
        ctx->heap.fail_at = h->fail_alloc_at ? ctx->heap.calls + h->fail_alloc_at : 0;
    }
    int64_t before = ctx->heap.calls;
    TSR_TRY(tsr__mesh_open(ctx, &r->shape, &mesh));
    st = r->job(mesh, r->arg);
    tsr_mesh_unref(mesh);
    h->allocs[r->rank] = ctx->heap.calls - before;
done:
    return tsr__poison_if_local(ctx, st);
}

static void *rank_main(void *arg)
{
    rank_run *r = arg;
    tsr_ctx *ctx = calloc(1, sizeof *ctx);

    tsr__pool_open(&ctx->pool, &ctx->heap);
    r->h->status[r->rank] = tsr__thread_join(r->hub, r->rank, ctx, &ctx->world);
    if (r->h->status[r->rank] == TSR_OK) {
        r->h->status[r->rank] = run_joined(r, ctx);
        r->h->calls[r->rank] = ctx->world->calls;
        ctx->world->ops->close(ctx->world);
    }
    tsr__pool_trim(&ctx->pool);
    r->h->error[r->rank] = ctx->error;
    r->live = ctx->heap.live;
    free(ctx);
    return NULL;
}

void harness_run(harness *h, tsr_job job, void *arg)
{
    rank_run run[HARNESS_RANKS];
    tsr_heap heap = {0};
    tsr_thread_hub *hub;
    tsr_mesh_shape shape;

    assert_int_equal(tsr_mesh_parse(h->mesh, &shape, NULL), TSR_OK);
    int n = tsr__mesh_size(&shape);
    assert_true(n <= HARNESS_RANKS);
    assert_int_equal(
        tsr__thread_hub_open(&heap, n, h->timeout_ms ? h->timeout_ms : 20000, &hub, NULL), TSR_OK);
    double begin = now();
    for (int i = 0; i < n; i++) {
        run[i] = (rank_run){.h = h, .hub = hub, .shape = shape, .rank = i, .job = job, .arg = arg};
        assert_int_equal(pthread_create(&run[i].thread, NULL, rank_main, &run[i]), 0);
    }
    for (int i = 0; i < n; i++)
        pthread_join(run[i].thread, NULL);
    h->seconds = now() - begin;
    tsr__thread_hub_close(hub);
    for (int i = 0; i < n; i++) {
        if (run[i].live)
            print_error("mesh %s rank %d holds %d blocks: %s\n", h->mesh, i, (int)run[i].live,
                        h->error[i].text);
        assert_int_equal(run[i].live, 0);
    }
    assert_int_equal(heap.live, 0);
}

void harness_pass(const char *mesh, tsr_job job, void *arg)
{
    harness h = {.mesh = mesh};

    harness_run(&h, job, arg);
    for (int i = 0; i < HARNESS_RANKS; i++) {
        if (h.status[i] != TSR_OK)
            print_error("mesh %s rank %d: %s\n", mesh, i, h.error[i].text);
        assert_int_equal(h.status[i], TSR_OK);
        assert_int_equal(h.error[i].code, TSR_OK);
    }
}
