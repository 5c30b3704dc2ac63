/* SPDX-License-Identifier: Apache-2.0 */
/* test_message.c - the message world over a mock network, in threads of one process: the logic of
   message*.c under the sanitizers, with messages delayed, failing, and ranks lost. */
#include <unistd.h>

#include "support/test.h"
#include "support/message_cases.h"
#include "support/mock_net.h"
#include "support/sampling.h"

typedef struct thread_arg {
    mock_hub *hub;
    const message_case *c;
    int64_t arg;
    int rank;
    char why[600];
} thread_arg;

static void *rank_main(void *p)
{
    thread_arg *t = p;
    rank_state *r = calloc(1, sizeof *r);
    mock_arg arg = {.hub = t->hub, .rank = t->rank};

    if (!r)
        abort();
    tsr__pool_open(&r->ctx.pool, &r->ctx.heap);
    r->arg = t->arg;
    if (tsr__message_join(&mock_ops, &arg, &r->ctx, t->c->timeout_ms, &r->world) != TSR_OK)
        case_wrong(r, __LINE__, "%s", r->ctx.error.text);
    else
        case_run_joined(r, t->c);
    memcpy(t->why, r->why, sizeof t->why);
    free(r);
    return NULL;
}

static void run_case(mock_hub *hub, const message_case *c, int64_t arg)
{
    pthread_t thread[MOCK_RANKS];
    thread_arg t[MOCK_RANKS];
    bool good = true;

    mock_open(hub);
    for (int i = 0; i < hub->size; i++) {
        t[i] = (thread_arg){.hub = hub, .c = c, .arg = arg, .rank = i};
        if (pthread_create(&thread[i], NULL, rank_main, &t[i]) != 0)
            abort();
    }
    for (int i = 0; i < hub->size; i++)
        pthread_join(thread[i], NULL);
    mock_close(hub);
    for (int i = 0; i < hub->size; i++) {
        if (t[i].why[0])
            print_error("%s, %d ranks, delay %d: %s\n", c->name, hub->size, hub->delay, t[i].why);
        good = good && !t[i].why[0];
    }
    assert_true(good);
}

static void run_size(const message_case *c, int size, int delay)
{
    int64_t step, arg = case_sample(c, size, &step);

    for (; size >= c->min_ranks && arg < c->n_args; arg += step) {
        mock_hub hub = {.size = size, .delay = delay};
        run_case(&hub, c, arg);
        assert_int_equal(hub.aborted, 0);
    }
}

static void test_case(void **state)
{
    run_size(*state, 1, 0);
    run_size(*state, 2, 0);
    run_size(*state, 4, 0);
}

static void test_case_delayed(void **state)
{
    run_size(*state, 3, 50);
}

/* ---- trouble that only a mock can make ------------------------------------------------------- */

static void net_trouble(rank_state *r)
{
    tsr_status st = TSR_OK;

    for (int i = 0; i < 4 && st == TSR_OK; i++)
        st = case_shuffle(r, i % 2 ? 100 : 3 * TSR_CHUNK_RING, "shuffle");
    if (st != TSR_OK && st != TSR_ERR_PEER && st != TSR_ERR_TIMEOUT)
        CASE_CHECK(r, st == TSR_ERR_IO && strstr(r->ctx.error.text, "mock error 7"), "%s",
                   r->ctx.error.text);
}

/* The n-th send or receive fails, for several n. Telling the others may fail as well: then they see
   a timeout, and the job is ended. */
static void test_net_fails(void **state)
{
    const message_case c = {"net fails", net_trouble, 1, 1000, 2};

    (void)state;
    for (int at = 2, number = 0; at < 60; at += 5, number++) {
        if (!sample_has(number, sample_quick()))
            continue;
        mock_hub hub = {.size = 3, .fail_rank = 1, .fail_at = at};
        run_case(&hub, &c, 0);
    }
}

static void abort_and_close(tsr_net *net, int status)
{
    mock_ops.abort(net, status);
    mock_ops.close(net, false);
}

/* A rank that cannot join keeps nothing, and ends the job if others count on it already. */
static void test_join_fails(void **state)
{
    tsr_net_ops ops = mock_ops;

    (void)state;
    ops.abort = abort_and_close;
    for (int at = 0; at <= 3; at++) { /* the allocation that fails; 0: the first receive */
        mock_hub hub = {.size = 1, .fail_at = at ? 0 : 1}; /* alone: nobody is being told */
        mock_arg arg = {.hub = &hub};
        tsr_ctx *ctx = calloc(1, sizeof *ctx);
        tsr_world *world = NULL;
        tsr_status st;

        mock_open(&hub);
        ctx->heap.fail_at = at;
        st = tsr__message_join(&ops, &arg, ctx, 1000, &world);
        assert_int_equal(st, at ? TSR_ERR_MEMORY : TSR_ERR_IO);
        assert_true(ctx->error.code == st && !world);
        assert_int_equal(hub.aborted, at == 0 || at == 3);
        assert_int_equal(ctx->heap.live, 0);
        mock_close(&hub);
        free(ctx);
    }
}

/* Every field of a head, and the word that lets a sender go on, changed on the way from rank 1. */
enum { HEAD_FIELDS = 6, ALTERED = HEAD_FIELDS + 4 };

static void alter(const mock_hub *hub, int from, int tag, void *data, size_t bytes)
{
    static const struct {
        size_t at, size;
    } field[HEAD_FIELDS] = {
#define FIELD(name) {offsetof(tsr_head, name), sizeof((tsr_head){0}.name)}
        FIELD(magic), FIELD(tag), FIELD(ask), FIELD(seq), FIELD(fingerprint), FIELD(bytes),
    };
    static const uint64_t go[] = {0, 1, TSR_CHUNK_RING + 1, UINT64_MAX};
    int64_t what = hub->alter_arg;

    if (from != 1)
        return;
    if (what < HEAD_FIELDS && tag < TSR_HEAD_TAGS)
        for (size_t i = 0; i < field[what].size; i++)
            ((char *)data)[field[what].at + i] ^= what == 3 ? i == 0 : 0x55;
    if (what >= HEAD_FIELDS && tag >= TSR_HEAD_TAGS + TSR_CHUNK_TAGS && bytes == sizeof *go)
        memcpy(data, &go[what - HEAD_FIELDS], sizeof *go);
}

static void altered(rank_state *r)
{
    static const char *const text[ALTERED] = {
        "received a damaged message from rank 1 in shuffle: its first word is",
        "received a damaged message from rank 1 in shuffle: its tag is",
        "received a damaged message from rank 1 in shuffle: its request for an answer is",
        "ranks diverged: rank ",
        "ranks diverged: rank ",
        "ranks diverged in shuffle: rank 1 sends",
        "received a damaged message from rank 1 in shuffle: its size of chunks is 0",
        "received a damaged message from rank 1 in shuffle: its size of chunks is 1",
        "received a damaged message from rank 1 in shuffle: its size of chunks is 524289",
        "received a damaged message from rank 1 in shuffle: its size of chunks is 18446744073709",
    };
    tsr_status st = case_shuffle(r, 3 * TSR_CHUNK_RING, "shuffle");

    CASE_CHECK(r, st == TSR_ERR_IO || st == TSR_ERR_PEER || st == TSR_ERR_DIVERGED, "status %d",
               (int)st);
    CASE_CHECK(r, strstr(r->ctx.error.text, text[r->arg]), "%s", r->ctx.error.text);
}

static void test_altered(void **state)
{
    const message_case c = {"altered messages", altered, 1, 2000, 2};

    (void)state;
    for (int64_t what = 0; what < ALTERED; what++) {
        mock_hub hub = {.size = 3, .alter = alter, .alter_arg = what};
        run_case(&hub, &c, what);
    }
}

/* One call waits for its peer while as many others as there are tags come and go: their chunks are
   not taken for those of the first. A sample has only those around the last tag, for the two ranks
   wait for each other in every one, which takes minutes where cores are busy. */
static void many_tags(rank_state *r)
{
    enum { BYTES = TSR_EAGER + 1000 };
    const int ranks[] = {0, 1};
    static char out[BYTES];
    char *in = calloc(1, BYTES);
    const tsr_piece piece = {.n = 1, .count = {BYTES}, .stride = {1}};
    const tsr_msg msg = {.peer = 1 - r->rank, .n_pieces = 1, .piece = &piece};
    tsr_call call = {.what = "early",
                     .dtype = TSR_U8,
                     .send_base = out,
                     .recv_base = in,
                     .n_send = 1,
                     .n_recv = 1,
                     .send = &msg,
                     .recv = &msg,
                     .divisor = 1};
    const int all = TSR_CHUNK_TAGS + 2, calls = sample_quick() > 1 ? 40 : all;
    tsr_pending *early = NULL;
    tsr_status st;

    CASE_CHECK(r, in && tsr__group_open_lane(r->world, ranks, 2, 1, &call.group) == TSR_OK, "%s",
               r->ctx.error.text);
    if (r->rank == 0)
        CASE_CHECK(r, tsr__call_start(&call, &early) == TSR_OK, "%s", r->ctx.error.text);
    ((tsr_msg_world *)r->world)->peer[1 - r->rank].next_tag += (unsigned)(all - calls);
    for (int i = 0; i < calls && !r->why[0]; i++) {
        st = case_shuffle(r, BYTES, "late");
        CASE_CHECK(r, st == TSR_OK, "%s", r->ctx.error.text);
    }
    if (r->rank == 1)
        CASE_CHECK(r, tsr__call_start(&call, &early) == TSR_OK, "%s", r->ctx.error.text);
    if (early)
        CASE_CHECK(r, tsr__call_finish_take(r->world, early) == TSR_OK, "%s", r->ctx.error.text);
    CASE_CHECK(r, memcmp(in, out, BYTES) == 0, "other bytes arrived");
    tsr__group_close(call.group);
    free(in);
}

static void test_many_tags(void **state)
{
    const message_case c = {"many tags", many_tags, 1, 5000, 2};
    mock_hub hub = {.size = 2};

    (void)state;
    run_case(&hub, &c, 0);
}

/* The last rank never makes the call, and never leaves. */
static void lost_peer(rank_state *r)
{
    if (r->rank == r->size - 1) {
        usleep(2500 * 1000);
        return;
    }
    tsr_status st = case_shuffle(r, r->arg ? 3 * TSR_CHUNK_RING : 10, "shuffle");
    CASE_CHECK(r, st == TSR_ERR_TIMEOUT || st == TSR_ERR_PEER, "%d: %s", (int)st,
               r->ctx.error.text);
    CASE_CHECK(r, strstr(r->ctx.error.text, "waited 0.2 s in shuffle for rank"), "%s",
               r->ctx.error.text);
}

static void test_lost_peer(void **state)
{
    const message_case c = {"lost peer", lost_peer, 2, 200, 2};

    (void)state;
    for (int64_t arg = 0; arg < 2; arg++) {
        mock_hub hub = {.size = 3};
        run_case(&hub, &c, arg);
    }
}

/* The message world says what it cannot do. */
static void no_native(rank_state *r)
{
    tsr_collective call = {.kind = TSR_COLL_BARRIER};
    tsr_status st = r->world->ops->native(r->world, &call);

    CASE_CHECK(r, st == TSR_ERR_UNAVAILABLE, "status %d", (int)st);
}

static void test_no_native(void **state)
{
    const message_case c = {"no native", no_native, 1, 1000, 2};
    mock_hub hub = {.size = 2};

    (void)state;
    run_case(&hub, &c, 0);
}

static void test_plugin_missing(void **state)
{
    const tsr_net_ops *ops;
    tsr_error err = {0};

    (void)state;
    assert_int_equal(tsr__plugin_load("nonesuch", &ops, &err), TSR_ERR_UNAVAILABLE);
    assert_non_null(strstr(err.text, "libtessera_nonesuch.so"));
    assert_non_null(strstr(err.text, "install"));
}

static void test_launched(void **state)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"};

    (void)state;
    for (int i = 0; i < 3; i++)
        unsetenv(names[i]);
    assert_false(tsr__mpi_launched());
    for (int i = 0; i < 3; i++) {
        setenv(names[i], "1", 1);
        assert_true(tsr__mpi_launched());
        unsetenv(names[i]);
    }
}

static const struct CMUnitTest extra[] = {
    cmocka_unit_test(test_net_fails), cmocka_unit_test(test_altered),
    cmocka_unit_test(test_many_tags), cmocka_unit_test(test_lost_peer),
    cmocka_unit_test(test_no_native), cmocka_unit_test(test_plugin_missing),
    cmocka_unit_test(test_launched),  cmocka_unit_test(test_join_fails),
};
enum { N_EXTRA = sizeof extra / sizeof extra[0], MAX_TESTS = 64 };

int main(void)
{
    struct CMUnitTest tests[MAX_TESTS];
    size_t n = 0;

    for (int i = 0; i < n_message_cases; i++) {
        void *c = (void *)(uintptr_t)&message_cases[i];
        tests[n++] = (struct CMUnitTest){message_cases[i].name, test_case, NULL, NULL, c};
        tests[n++] = (struct CMUnitTest){"the same, delayed", test_case_delayed, NULL, NULL, c};
    }
    for (int i = 0; i < N_EXTRA; i++)
        tests[n++] = extra[i];
    return _cmocka_run_group_tests("message", tests, n, NULL, NULL);
}
