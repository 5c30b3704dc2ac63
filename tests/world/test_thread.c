/* SPDX-License-Identifier: Apache-2.0 */
/* test_thread.c - the thread world: keeping step, groups that overlap, and above all what happens
   when a rank fails, diverges, leaves or sleeps: all ranks must return with the right sentence. */
#include <time.h>

#include "support/test.h"
#include "support/harness.h"
#include "world/thread.h"

static void sleep_ms(int ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, NULL);
}

static void assert_text(const tsr_error *err, const char *part)
{
    if (!strstr(err->text, part))
        print_error("\"%s\" does not contain \"%s\"\n", err->text, part);
    assert_non_null(strstr(err->text, part));
}

/* Every rank failed; at least one found the divergence, the others heard of it. */
static void assert_diverged(const harness *h, int n, const char *part)
{
    int found = 0;

    for (int i = 0; i < n; i++) {
        assert_true(h->status[i] == TSR_ERR_DIVERGED || h->status[i] == TSR_ERR_PEER);
        assert_text(&h->error[i], part);
        found += h->status[i] == TSR_ERR_DIVERGED;
    }
    assert_true(found > 0);
    assert_true(h->seconds < 5); /* the timeout is 20 s */
}

/* ---- keeping step ---------------------------------------------------------------------------- */

typedef struct steps {
    int n;
    _Atomic int at[HARNESS_RANKS];
} steps;

static tsr_status barrier_job(tsr_mesh *mesh, void *arg)
{
    steps *s = arg;
    int me = tsr_mesh_index(mesh), size = tsr_mesh_size(mesh);
    tsr_status st = TSR_OK;

    for (int i = 1; i <= s->n; i++) {
        s->at[me] = i;
        TSR_TRY(tsr_barrier(mesh));
        int other = s->at[(me + i) % size];
        CHECK(other == i || other == i + 1);
    }
done:
    return st;
}

static void test_barriers(void **state)
{
    (void)state;
    for (int n = 1; n <= 8; n++) {
        steps s = {.n = 500};
        char mesh[16];
        snprintf(mesh, sizeof mesh, "%d", n);
        harness_pass(mesh, barrier_job, &s);
    }
}

static void test_barriers_oversubscribed(void **state)
{
    steps s = {.n = 20000};

    (void)state;
    harness_pass("8", barrier_job, &s);
}

/* Rows, columns and the whole in an order that depends on the rank only as far as it must. */
static tsr_status groups_job(tsr_mesh *mesh, void *arg)
{
    int me = tsr_mesh_rank(mesh);
    tsr_mesh *row, *col;
    int64_t sum, rank = me;
    tsr_status st;

    (void)arg;
    TSR_TRY(tsr_mesh_sub(mesh, "1", &row));
    TSR_TRY(tsr_mesh_sub(mesh, "0", &col));
    for (int i = 0; i < 200; i++) {
        for (int k = 0; k < 1 + me / 3; k++) /* rows run independently of each other */
            TSR_TRY(tsr_all_reduce(row, TSR_I64, TSR_SUM, &rank, 1, &sum));
        CHECK(sum == (me < 3 ? 0 + 1 + 2 : 3 + 4 + 5));
        TSR_TRY(tsr_all_reduce(col, TSR_I64, TSR_SUM, &rank, 1, &sum));
        CHECK(sum == 2 * (me % 3) + 3);
        if (i % 10 == 0)
            TSR_TRY(tsr_all_reduce(mesh, TSR_I64, TSR_SUM, &rank, 1, &sum));
        CHECK(i % 10 || sum == 15);
    }
    tsr_mesh_unref(row);
    tsr_mesh_unref(col);
done:
    return st;
}

static void test_overlapping_groups(void **state)
{
    (void)state;
    harness_pass("2x3", groups_job, NULL);
}

/* A rank that only computes, for long, is no deadlock. */
static tsr_status slow_job(tsr_mesh *mesh, void *arg)
{
    int me = tsr_mesh_rank(mesh);
    tsr_mesh *row;
    tsr_status st;

    (void)arg;
    TSR_TRY(tsr_mesh_sub(mesh, "1", &row));
    for (int i = 0; i < 4; i++) {
        if (i == me)
            sleep_ms(170);
        TSR_TRY(tsr_barrier(row));
        TSR_TRY(tsr_barrier(mesh));
    }
    tsr_mesh_unref(row);
done:
    return st;
}

static void test_slow_rank_is_waited_for(void **state)
{
    (void)state;
    harness_pass("2x2", slow_job, NULL);
}

/* Three waits in a circle, as others see them: rank 0 for rank 1 in the first call, rank 1 for rank
   2 in the second, rank 2 for rank 0 in the third. */
static tsr_status look_at_circle(bool for_done, bool left, int me, tsr_error *err)
{
    static int ranks[3][2] = {{0, 1}, {1, 2}, {0, 2}};
    tsr_channel channel[3] = {
        {.n = 2, .rank = ranks[0]}, {.n = 2, .rank = ranks[1]}, {.n = 2, .rank = ranks[2]}};
    tsr_seat seat[3][2] = {0};
    tsr_slot slot[3] = {0};
    tsr_rank_view view[3];
    tsr_heap heap = {0};
    tsr_thread_world world = {.base = {.rank = me}, .view = view};
    tsr_status st;

    assert_int_equal(tsr__thread_hub_open(&heap, 3, 1000, &world.hub, err), TSR_OK);
    for (int i = 0; i < 3; i++) {
        slot[i].channel = &channel[i];
        slot[i].seat = seat[i];
        atomic_store(&seat[i][i == 2].stage, 1);
        atomic_store(&world.hub->rank[i].slot, &slot[i]);
        atomic_store(&world.hub->rank[i].epoch, 1);
    }
    atomic_store(&seat[0][0].stage, for_done ? 2 : 1);
    atomic_store(&seat[0][1].stage, for_done ? 1 : 0);
    atomic_store(&world.hub->rank[0].for_done, for_done);
    atomic_store(&world.hub->rank[1].left, left);
    st = tsr__thread_deadlock(&world, err);
    tsr__thread_hub_close(world.hub);
    return st;
}

/* A rank that waits still takes what it has started: others that wait for that are not stuck. */
static void test_circle(void **state)
{
    (void)state;
    for (int me = 0; me < 3; me++) {
        tsr_error err = {0};

        assert_int_equal(look_at_circle(true, false, me, &err), TSR_OK);
        assert_int_equal(look_at_circle(false, false, me, &err), TSR_ERR_DIVERGED);
        err = (tsr_error){0};
        if (me != 1)
            assert_int_equal(look_at_circle(true, true, me, &err), TSR_ERR_DIVERGED);
    }
}

/* Each finishes its send first, which ends only when the neighbour has taken it. */
static tsr_status ring_job(tsr_mesh *mesh, void *arg)
{
    int me = tsr_mesh_index(mesh), n = tsr_mesh_size(mesh);
    int64_t out[100], in[100];
    tsr_request *send, *recv;
    tsr_status st = TSR_OK;

    (void)arg;
    for (int i = 0; i < 200; i++) {
        for (int k = 0; k < 100; k++)
            out[k] = me * 1000 + i + k;
        TSR_TRY(tsr_collective_start(mesh,
                                     &(tsr_collective){.kind = TSR_COLL_SEND,
                                                       .dtype = TSR_I64,
                                                       .send = out,
                                                       .n = 100,
                                                       .peer = (me + 1) % n},
                                     &send));
        TSR_TRY(tsr_collective_start(mesh,
                                     &(tsr_collective){.kind = TSR_COLL_RECV,
                                                       .dtype = TSR_I64,
                                                       .recv = in,
                                                       .n = 100,
                                                       .peer = (me + n - 1) % n},
                                     &recv));
        TSR_TRY(tsr_request_finish_take(send));
        TSR_TRY(tsr_request_finish_take(recv));
        CHECK(in[99] == (me + n - 1) % n * 1000 + i + 99);
    }
done:
    return st;
}

static void test_ring_of_sends(void **state)
{
    (void)state;
    harness_pass("2", ring_job, NULL);
    harness_pass("3", ring_job, NULL);
    harness_pass("5", ring_job, NULL);
}

/* Rank 0 starts many calls on the mesh before one on its half, the others the other way round: a
   start never waits for other ranks, or they would wait for each other here. Again and again, so
   that the rings of slots go through all sizes with calls of the round before still open. */
static tsr_status many_job(tsr_mesh *mesh, void *arg)
{
    enum { N = 100, ROUNDS = 5 };
    const int *width = arg;
    int me = tsr_mesh_index(mesh);
    tsr_request *request[N], *half;
    int64_t in[N], out[N], own = me, sum = -1;
    tsr_mesh *pair = NULL;
    tsr_status st = TSR_OK;

    TSR_TRY(tsr_mesh_part(mesh, "2", 0, &pair));
    for (int round = 0; round < ROUNDS; round++) {
        tsr_collective of_half = {
            .kind = TSR_COLL_ALL_REDUCE, .dtype = TSR_I64, .send = &own, .recv = &sum, .n = 1};
        int n = *width + round;
        if (me == 1) {
            TSR_TRY(tsr_collective_start(pair, &of_half, &half));
            TSR_TRY(tsr_request_finish_take(half));
        }
        for (int i = 0; i < n; i++) {
            tsr_collective all = {.kind = TSR_COLL_ALL_REDUCE,
                                  .dtype = TSR_I64,
                                  .send = &in[i],
                                  .recv = &out[i],
                                  .n = 1};
            in[i] = 10 * i + me;
            TSR_TRY(tsr_collective_start(mesh, &all, &request[i]));
        }
        if (me == 0) {
            TSR_TRY(tsr_collective_start(pair, &of_half, &half));
            TSR_TRY(tsr_request_finish_take(half));
        }
        for (int i = 0; i < n; i++) {
            int k = n - 1 - (i + me) % n;
            TSR_TRY(tsr_request_finish_take(request[k]));
            CHECK(out[k] == 30 * k + 3);
        }
        CHECK(me == 2 || sum == 1);
    }
done:
    tsr_mesh_unref(pair);
    return st;
}

static void test_many_started(void **state)
{
    (void)state;
    for (int width = 5; width < 96; width += 6)
        harness_pass("3", many_job, &width);
}

/* ---- divergence ------------------------------------------------------------------------------ */

static tsr_status other_call_job(tsr_mesh *mesh, void *arg)
{
    float in[8] = {0}, out[32];

    (void)arg;
    if (tsr_mesh_rank(mesh) == 0)
        return tsr_all_gather(mesh, TSR_F32, in, 8, out);
    return tsr_barrier(mesh);
}

static void test_other_call(void **state)
{
    harness h = {.mesh = "data=3"};

    (void)state;
    harness_run(&h, other_call_job, NULL);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(h.status[i], TSR_ERR_DIVERGED);
        assert_string_equal(h.error[i].text,
                            "ranks diverged: rank 0 called all-gather f32[8] over data, rank 1 "
                            "called barrier over data");
    }
}

static tsr_status other_size_job(tsr_mesh *mesh, void *arg)
{
    int64_t n = tsr_mesh_rank(mesh) == 2 ? 5 : 4;
    double *in = calloc(5, sizeof *in), *out = calloc(5, sizeof *out);
    tsr_status st = tsr_all_reduce(mesh, TSR_F64, TSR_SUM, in, n, out);

    (void)arg;
    free(in);
    free(out);
    return st;
}

static void test_other_size(void **state)
{
    harness h = {.mesh = "4"};

    (void)state;
    harness_run(&h, other_size_job, NULL);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(h.status[i], TSR_ERR_DIVERGED);
        assert_string_equal(h.error[i].text,
                            "ranks diverged: rank 0 called all-reduce sum f64[4], rank 2 called "
                            "all-reduce sum f64[5]");
    }
}

static tsr_status other_group_job(tsr_mesh *mesh, void *arg)
{
    tsr_mesh *row;
    tsr_status st;

    (void)arg;
    TSR_TRY(tsr_mesh_sub(mesh, "model", &row));
    st = tsr_barrier(tsr_mesh_rank(mesh) == 0 ? row : mesh);
    tsr_mesh_unref(row);
done:
    return st;
}

static void test_other_group(void **state)
{
    harness h = {.mesh = "data=2,model=2"};

    (void)state;
    harness_run(&h, other_group_job, NULL);
    assert_diverged(&h, 4, "ranks diverged: rank");
    assert_diverged(&h, 4, "waits in barrier over");
}

static tsr_status left_job(tsr_mesh *mesh, void *arg)
{
    (void)arg;
    return tsr_mesh_rank(mesh) == 1 ? TSR_OK : tsr_barrier(mesh);
}

static void test_rank_that_left(void **state)
{
    harness h = {.mesh = "3"};

    (void)state;
    harness_run(&h, left_job, NULL);
    assert_int_equal(h.status[1], TSR_OK);
    assert_text(&h.error[0], "waits in barrier for rank 1, which has left the world");
    assert_text(&h.error[2], "waits in barrier for rank 1, which has left the world");
    assert_true(h.seconds < 5);
}

static tsr_status sleepy_job(tsr_mesh *mesh, void *arg)
{
    (void)arg;
    if (tsr_mesh_rank(mesh) == 1)
        sleep_ms(700);
    return tsr_barrier(mesh);
}

static void test_timeout(void **state)
{
    harness h = {.mesh = "2", .timeout_ms = 200};

    (void)state;
    harness_run(&h, sleepy_job, NULL);
    assert_int_equal(h.status[0], TSR_ERR_TIMEOUT);
    assert_text(&h.error[0], "rank 0 waited 0.2 s in barrier for rank 1, which is not in any call");
    assert_int_equal(h.status[1], TSR_ERR_PEER);
    assert_text(&h.error[1], "rank 0 failed: rank 0 waited 0.2 s in barrier");
}

/* ---- failure --------------------------------------------------------------------------------- */

/* Every kind of call; memory is freed as soon as a call has returned, also on failure. */
static tsr_status mixed_job(tsr_mesh *mesh, void *arg)
{
    enum { N = 5000 };
    int me = tsr_mesh_index(mesh), n = tsr_mesh_size(mesh);
    int64_t *counts = malloc((size_t)n * sizeof *counts);
    float *a = calloc((size_t)n * N, sizeof *a), *b = calloc((size_t)n * N, sizeof *b);
    tsr_request *request[3] = {NULL};
    tsr_mesh *sub = NULL;
    tsr_status st, other;

    (void)arg;
    for (int i = 0; i < n; i++)
        counts[i] = N / 2;
    TSR_TRY(tsr_barrier(mesh));
    TSR_TRY(tsr_broadcast(mesh, TSR_F32, a, N, n - 1));
    TSR_TRY(tsr_all_gather(mesh, TSR_F32, a, N, b));
    TSR_TRY(tsr_reduce_scatter(mesh, TSR_F32, TSR_SUM, a, N, b));
    TSR_TRY(tsr_all_reduce(mesh, TSR_F32, TSR_AVG, a, N, b)); /* two calls */
    TSR_TRY(tsr_all_reduce(mesh, TSR_F32, TSR_MAX, a, 8, a));
    TSR_TRY(tsr_all_to_all(mesh, TSR_F32, a, counts, b, counts));
    TSR_TRY(tsr_mesh_sub(mesh, "1", &sub));
    TSR_TRY(tsr_all_gather(sub, TSR_F32, a, N, b));
    tsr_collective call = {.kind = TSR_COLL_ALL_REDUCE, .send = a, .recv = b, .n = N};
    TSR_TRY(tsr_collective_start(mesh, &call, &request[0]));
    call = (tsr_collective){.kind = TSR_COLL_SEND, .send = a, .n = N, .peer = (me + 1) % n};
    TSR_TRY(tsr_collective_start(mesh, &call, &request[1]));
    call = (tsr_collective){.kind = TSR_COLL_RECV, .recv = b + N, .n = N, .peer = (me + n - 1) % n};
    TSR_TRY(tsr_collective_start(mesh, &call, &request[2]));
    TSR_TRY(tsr_barrier(mesh));
done:
    for (int i = 0; i < 3; i++) {
        other = request[i] ? tsr_request_finish_take(request[i]) : TSR_OK;
        st = st ? st : other;
    }
    tsr_mesh_unref(sub);
    free(a);
    free(b);
    free(counts);
    return st;
}

static void test_failure_at_every_call(void **state)
{
    enum { RANKS = 4 };
    harness first = {.mesh = "2x2"};

    (void)state;
    harness_run(&first, mixed_job, NULL);
    for (int rank = 0; rank < RANKS; rank++) {
        assert_int_equal(first.status[rank], TSR_OK);
        assert_int_equal(first.calls[rank], 14);
        for (int64_t call = 1; call <= first.calls[rank]; call++) {
            harness h = {.mesh = "2x2", .fail_rank = rank, .fail_call_at = call};
            char text[64];
            snprintf(text, sizeof text, "rank %d failed: fault injected at call %d", rank,
                     (int)call);
            harness_run(&h, mixed_job, NULL);
            for (int i = 0; i < RANKS; i++) {
                /* one that needs nothing more of the rank may have ended before */
                if (i != rank && h.status[i] == TSR_OK && call == first.calls[rank])
                    continue;
                assert_int_equal(h.status[i], i == rank ? TSR_ERR_STATE : TSR_ERR_PEER);
                assert_text(&h.error[i], i == rank ? text + strlen("rank 0 failed: ") : text);
            }
        }
    }
}

static void test_failure_of_every_allocation(void **state)
{
    harness first = {.mesh = "2x2"};

    (void)state;
    harness_run(&first, mixed_job, NULL);
    assert_true(first.allocs[1] > 10);
    for (int64_t n = 1; n <= first.allocs[1]; n++) {
        harness h = {.mesh = "2x2", .fail_rank = 1, .fail_alloc_at = n};
        harness_run(&h, mixed_job, NULL);
        assert_int_equal(h.status[1], TSR_ERR_MEMORY);
        for (int i = 0; i < 4; i++)
            if (i != 1 && h.status[i] != TSR_OK) {
                assert_int_equal(h.status[i], TSR_ERR_PEER);
                assert_text(&h.error[i], "rank 1 failed: out of memory");
            }
    }
}

static tsr_status poisoned_job(tsr_mesh *mesh, void *arg)
{
    tsr_request *request;

    (void)arg;
    if (tsr_mesh_rank(mesh) == 1) {
        tsr__fail(&mesh->ctx->error, TSR_ERR_IO, "disk on fire");
        tsr__poison_if_local(mesh->ctx, TSR_ERR_IO);
        tsr_mesh_clear_error(mesh);
        CHECK(tsr_barrier(mesh) == TSR_ERR_IO);
        return TSR_OK;
    }
    CHECK(tsr_barrier(mesh) == TSR_ERR_PEER);
    CHECK(strcmp(tsr_mesh_message(mesh), "rank 1 failed: disk on fire") == 0);
    tsr_mesh_clear_error(mesh);
    CHECK(tsr_collective_start(mesh, &(tsr_collective){.kind = TSR_COLL_BARRIER}, &request) ==
          TSR_ERR_PEER);
    CHECK(strcmp(tsr_mesh_message(mesh), "rank 1 failed: disk on fire") == 0);
    return TSR_OK;
}

/* A rank still has an older error when it runs out of memory: that is not what it tells others. */
static tsr_status older_error_job(tsr_mesh *mesh, void *arg)
{
    (void)arg;
    if (tsr_mesh_rank(mesh) == 1) {
        tsr__fail(&mesh->ctx->error, TSR_ERR_SHAPE, "shapes do not fit");
        return tsr__poison_if_local(mesh->ctx, TSR_ERR_MEMORY) == TSR_ERR_MEMORY ? TSR_OK
                                                                                 : TSR_ERR_STATE;
    }
    CHECK(tsr_barrier(mesh) == TSR_ERR_PEER);
    CHECK(strcmp(tsr_mesh_message(mesh), "rank 1 failed: out of memory") == 0);
    return TSR_OK;
}

static void test_poison_stays(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        harness h = {.mesh = "3"};
        harness_run(&h, k ? older_error_job : poisoned_job, NULL);
        for (int i = 0; i < 3; i++)
            assert_int_equal(h.status[i], TSR_OK);
        assert_true(h.seconds < 5);
    }
}

/* Two ranks read each other's memory, and free it at once, while the third fails. */
static tsr_status busy_job(tsr_mesh *mesh, void *arg)
{
    const int64_t n = 1 << 18;
    int rank = tsr_mesh_rank(mesh);
    tsr_mesh *pair;
    tsr_status st;

    TSR_TRY(tsr_mesh_part(mesh, "2", 0, &pair));
    if (rank == 2) {
        sleep_ms(2 + *(const int *)arg % 5);
        st = tsr__poison_if_local(mesh->ctx,
                                  tsr__fail(&mesh->ctx->error, TSR_ERR_MEMORY, "no memory"));
    }
    while (st == TSR_OK) {
        float *in = malloc((size_t)n * sizeof *in), *out = malloc((size_t)(2 * n) * sizeof *out);
        memset(in, rank, (size_t)n * sizeof *in);
        st = tsr_all_gather(pair, TSR_F32, in, n, out);
        free(in);
        free(out);
    }
    tsr_mesh_unref(pair);
done:
    return st;
}

static void test_failure_while_reading(void **state)
{
    (void)state;
    for (int i = 0; i < 40; i++) {
        harness h = {.mesh = "3"};
        harness_run(&h, busy_job, &i);
        assert_int_equal(h.status[2], TSR_ERR_MEMORY);
        assert_string_equal(h.error[0].text, "rank 2 failed: no memory");
        assert_string_equal(h.error[1].text, "rank 2 failed: no memory");
    }
}

/* A rank leaves without finishing a call; its peers may be reading its memory. */
typedef struct abandoned {
    tsr_call call;
    tsr_msg msg;
    tsr_piece piece;
    float in[1 << 14], out[1 << 14];
} abandoned;

static tsr_status abandon_job(tsr_mesh *mesh, void *arg)
{
    abandoned *a = (abandoned *)arg + tsr_mesh_rank(mesh);
    tsr_pending *pending;
    tsr_status st;

    a->piece = (tsr_piece){.n = 1, .count = {1 << 14}, .stride = {sizeof(float)}};
    a->msg = (tsr_msg){.peer = 1 - tsr_mesh_rank(mesh), .n_pieces = 1, .piece = &a->piece};
    a->call = (tsr_call){.what = "swap",
                         .send_base = a->in,
                         .recv_base = a->out,
                         .n_send = 1,
                         .n_recv = 1,
                         .send = &a->msg,
                         .recv = &a->msg};
    TSR_TRY(tsr__mesh_group(mesh, 1, &a->call.group));
    TSR_TRY(tsr__call_start(&a->call, &pending));
    if (tsr_mesh_rank(mesh) == 0)
        TSR_TRY(tsr__call_finish_take(mesh->ctx->world, pending));
done:
    return st;
}

static void test_abandoned_call(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++) {
        harness h = {.mesh = "2"};
        abandoned *a = calloc(2, sizeof *a);
        harness_run(&h, abandon_job, a);
        free(a);
        assert_int_equal(h.status[1], TSR_OK);
        assert_int_equal(h.status[0], TSR_ERR_PEER);
        assert_text(&h.error[0], "rank 1 left the world without finishing swap");
    }
}

/* ---- strided messages, and worlds ------------------------------------------------------------ */

/* Rank 0 sends 3 x 4 elements; `arg` says how rank 1 takes them. */
static tsr_status strided_job(tsr_mesh *mesh, void *arg)
{
    const tsr_piece *to = arg;
    tsr_piece from = {.n = 2, .count = {3, 4}, .stride = {10 * sizeof(int), sizeof(int)}};
    int me = tsr_mesh_rank(mesh), data[30], got[30] = {0};
    tsr_msg msg = {.peer = 1 - me, .n_pieces = 1, .piece = me ? to : &from};
    tsr_call call = {.what = "strided",
                     .dtype = TSR_I32,
                     .send_base = data,
                     .recv_base = got,
                     .n_send = me == 0,
                     .n_recv = me == 1,
                     .send = &msg,
                     .recv = &msg};
    tsr_status st;

    for (int i = 0; i < 30; i++)
        data[i] = i;
    TSR_TRY(tsr__mesh_group(mesh, 1, &call.group));
    TSR_TRY(tsr__call(&call));
    for (int i = 0; me && i < 12; i++)
        CHECK(got[i] == 10 * (i / 4) + i % 4);
done:
    return st;
}

static void test_strided(void **state)
{
    tsr_piece fits = {.n = 2, .count = {3, 4}, .stride = {4 * sizeof(int), sizeof(int)}};
    tsr_piece more = {.n = 2, .count = {3, 5}, .stride = {4 * sizeof(int), sizeof(int)}};
    tsr_piece other = {.n = 2, .count = {4, 3}, .stride = {3 * sizeof(int), sizeof(int)}};
    harness h = {.mesh = "2"};

    (void)state;
    harness_pass("2", strided_job, &fits);
    harness_run(&h, strided_job, &more);
    assert_int_equal(h.status[1], TSR_ERR_DIVERGED);
    assert_text(&h.error[1], "rank 0 sends 12 elements to rank 1, which expects 15");
    assert_int_equal(h.status[0], TSR_ERR_DIVERGED);
    harness_run(&h, strided_job, &other);
    assert_int_equal(h.status[1], TSR_ERR_DIVERGED);
    assert_text(&h.error[1], "which expects them in 1 other ones");
}

static void test_joining(void **state)
{
    tsr_heap heap = {0};
    tsr_error err = {0};
    tsr_thread_hub *hub;
    tsr_ctx ctx = {0};
    tsr_world *world, *again;

    (void)state;
    assert_int_equal(tsr__thread_hub_open(&heap, 0, 0, &hub, &err), TSR_ERR_ARG);
    heap.fail_at = 1;
    assert_int_equal(tsr__thread_hub_open(&heap, 1, 0, &hub, &err), TSR_ERR_MEMORY);
    assert_int_equal(tsr__thread_hub_open(&heap, 2, 0, &hub, &err), TSR_OK);
    assert_int_equal(tsr__thread_join(hub, 2, &ctx, &world), TSR_ERR_ARG);
    assert_int_equal(tsr__thread_join(hub, 1, &ctx, &world), TSR_OK);
    assert_int_equal(world->timeout_ms, 60000);
    assert_int_equal(tsr__thread_join(hub, 1, &ctx, &again), TSR_ERR_STATE);
    assert_int_equal(tsr__group_open(world, (int[]){0, 2}, 2, &(tsr_group *){0}), TSR_ERR_ARG);
    assert_int_equal(tsr__group_open(world, (int[]){0}, 1, &(tsr_group *){0}), TSR_ERR_OUTSIDE);
    assert_int_equal(tsr__group_open(world, NULL, 0, &(tsr_group *){0}), TSR_ERR_ARG);
    world->ops->close(world);
    tsr__thread_hub_close(hub);
    tsr__thread_hub_close(NULL);
    assert_int_equal(heap.live, 0);
    assert_int_equal(ctx.heap.live, 0);
}

static void test_sim_has_no_data(void **state)
{
    tsr_ctx ctx = {0};
    tsr_mesh_shape shape;
    tsr_mesh *mesh;

    (void)state;
    assert_int_equal(tsr__sim_join(&ctx, 0, &ctx.world), TSR_ERR_ARG);
    ctx.error = (tsr_error){0};
    assert_int_equal(tsr__sim_join(&ctx, 1000, &ctx.world), TSR_OK);
    assert_int_equal(tsr_mesh_parse("10x100", &shape, NULL), TSR_OK);
    assert_int_equal(tsr__mesh_open(&ctx, &shape, &mesh), TSR_OK);
    assert_int_equal(tsr_barrier(mesh), TSR_ERR_NO_DATA);
    assert_string_equal(tsr_mesh_message(mesh),
                        "barrier: the sim world holds no data, only specs and costs");
    tsr_mesh_unref(mesh);
    ctx.world->ops->close(ctx.world);
    assert_int_equal(ctx.heap.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_barriers),
        cmocka_unit_test(test_barriers_oversubscribed),
        cmocka_unit_test(test_overlapping_groups),
        cmocka_unit_test(test_circle),
        cmocka_unit_test(test_slow_rank_is_waited_for),
        cmocka_unit_test(test_ring_of_sends),
        cmocka_unit_test(test_many_started),
        cmocka_unit_test(test_other_call),
        cmocka_unit_test(test_other_size),
        cmocka_unit_test(test_other_group),
        cmocka_unit_test(test_rank_that_left),
        cmocka_unit_test(test_timeout),
        cmocka_unit_test(test_failure_at_every_call),
        cmocka_unit_test(test_failure_of_every_allocation),
        cmocka_unit_test(test_poison_stays),
        cmocka_unit_test(test_failure_while_reading),
        cmocka_unit_test(test_abandoned_call),
        cmocka_unit_test(test_strided),
        cmocka_unit_test(test_joining),
        cmocka_unit_test(test_sim_has_no_data),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
