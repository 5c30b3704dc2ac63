/* SPDX-License-Identifier: Apache-2.0 */
/* test_collective.c - every public collective against a naive reference that each rank computes for
   itself: all dtypes, reductions, 1 to 5 ranks, empty, small and large; requests in any order;
   and the sentences for wrong arguments. */
#include "support/test.h"
#include "support/harness.h"
#include "support/sampling.h"

/* The last is beyond one phase for three ranks and more, as f16 too; MOST_PAIR is for two. */
static const int64_t sizes[] = {0, 1, 7, 1000, 9001};
enum { N_SIZES = sizeof sizes / sizeof sizes[0], MOST = 9001, MOST_PAIR = 70001 };

/* Element i of rank `rank`: small numbers of both signs, not all exact in f16. */
static double value(tsr_dtype dtype, int rank, int64_t i)
{
    uint32_t h = ((uint32_t)i * 2654435761u) ^ ((uint32_t)rank * 40503u + 977u);

    h = (h ^ (h >> 15)) * 2246822519u;
    h ^= h >> 13;
    if (dtype == TSR_BOOL)
        return h % 2;
    if ((int)dtype == TSR__FIELD || (tsr__dtype_is_integer(dtype) && tsr__dtype_min(dtype) == 0))
        return h % 200;
    if (tsr__dtype_is_integer(dtype))
        return dtype == TSR_I8 ? (double)(int)(h % 200) - 100 : (double)(int)(h % 2000) - 1000;
    return ((double)h / 4294967296.0 - 0.5) * 3;
}

static void *data_of(tsr_dtype dtype, int rank, int64_t n)
{
    char *data = malloc((size_t)n * tsr_dtype_size(dtype) + 1);

    for (int64_t i = 0; i < n; i++)
        tsr__put(dtype, data, i, value(dtype, rank, i));
    return data;
}

/* The reduction of all ranks' data, by the reference. */
static void *reduced(tsr_dtype dtype, tsr_reduce op, int ranks, int64_t n)
{
    void *src[HARNESS_RANKS], *out = malloc((size_t)n * tsr_dtype_size(dtype) + 1);
    bool avg = op == TSR_AVG;

    for (int r = 0; r < ranks; r++)
        src[r] = data_of(dtype, r, n);
    tsr__reduce_ref(dtype, avg ? TSR_SUM : op, avg ? ranks : 1, ranks, (const void *const *)src, n,
                    out);
    for (int r = 0; r < ranks; r++)
        free(src[r]);
    return out;
}

static bool same(const void *a, const void *b, int64_t n, tsr_dtype dtype)
{
    return memcmp(a, b, (size_t)n * tsr_dtype_size(dtype)) == 0;
}

static void *at(void *data, tsr_dtype dtype, int64_t i)
{
    return (char *)data + (size_t)i * tsr_dtype_size(dtype);
}

/* ---- without reduction ----------------------------------------------------------------------- */

static tsr_status broadcast_job(tsr_mesh *mesh, tsr_dtype dtype, int64_t n)
{
    tsr_status st = TSR_OK;

    for (int root = 0; root < tsr_mesh_size(mesh); root++) {
        void *data = data_of(dtype, tsr_mesh_index(mesh), n), *want = data_of(dtype, root, n);
        TSR_TRY(tsr_broadcast(mesh, dtype, data, n, root));
        CHECK(same(data, want, n, dtype));
        free(data);
        free(want);
    }
done:
    return st;
}

static tsr_status all_gather_job(tsr_mesh *mesh, tsr_dtype dtype, int64_t n)
{
    int ranks = tsr_mesh_size(mesh), me = tsr_mesh_index(mesh);
    void *in = data_of(dtype, me, n), *out = data_of(dtype, 99, n * ranks);
    void *again = data_of(dtype, 98, n * ranks);
    tsr_status st;

    TSR_TRY(tsr_all_gather(mesh, dtype, in, n, out));
    memcpy(at(again, dtype, me * n), in, (size_t)n * tsr_dtype_size(dtype));
    TSR_TRY(tsr_all_gather(mesh, dtype, at(again, dtype, me * n), n, again)); /* in place */
    for (int r = 0; r < ranks; r++) {
        void *want = data_of(dtype, r, n);
        CHECK(same(at(out, dtype, r * n), want, n, dtype));
        free(want);
    }
    CHECK(same(again, out, n * ranks, dtype));
    free(in);
    free(out);
    free(again);
done:
    return st;
}

/* Rank a sends n * a / (b + 1) elements to rank b: uneven, nothing from rank 0. */
static tsr_status all_to_all_job(tsr_mesh *mesh, tsr_dtype dtype, int64_t n)
{
    int ranks = tsr_mesh_size(mesh), me = tsr_mesh_index(mesh);
    int64_t send[HARNESS_RANKS], recv[HARNESS_RANKS], n_send = 0, n_recv = 0, first = 0;
    tsr_status st;

    for (int r = 0; r < ranks; r++) {
        send[r] = n * me / (r + 1);
        recv[r] = n * r / (me + 1);
        n_send += send[r];
        n_recv += recv[r];
    }
    void *in = data_of(dtype, me, n_send), *out = data_of(dtype, 99, n_recv);
    TSR_TRY(tsr_all_to_all(mesh, dtype, in, send, out, recv));
    for (int r = 0; r < ranks; first += recv[r++]) {
        int64_t begin = 0;
        for (int b = 0; b < me; b++)
            begin += n * r / (b + 1);
        void *theirs = data_of(dtype, r, begin + recv[r]);
        CHECK(same(at(out, dtype, first), at(theirs, dtype, begin), recv[r], dtype));
        free(theirs);
    }
    free(in);
    free(out);
done:
    return st;
}

static tsr_status send_job(tsr_mesh *mesh, tsr_dtype dtype, int64_t n)
{
    int ranks = tsr_mesh_size(mesh), me = tsr_mesh_index(mesh);
    void *in = data_of(dtype, me, n);
    tsr_status st = TSR_OK;

    for (int from = 0; from < ranks; from++)
        for (int to = 0; to < ranks; to++) {
            void *out = data_of(dtype, 99, n), *want = data_of(dtype, from, n);
            if (from != to && me == from)
                TSR_TRY(tsr_send(mesh, dtype, in, n, to));
            if (from != to && me == to) {
                TSR_TRY(tsr_recv(mesh, dtype, out, n, from));
                CHECK(same(out, want, n, dtype));
            }
            free(out);
            free(want);
        }
    free(in);
done:
    return st;
}

static tsr_status move_job(tsr_mesh *mesh, void *arg)
{
    int number = tsr_mesh_size(mesh);
    tsr_status st = TSR_OK;

    (void)arg;
    for (int dtype = 0; dtype < TSR__DTYPES; dtype++)
        for (int s = 0; s < N_SIZES; s++) {
            if (!sample_has(number++, sample_quick()))
                continue;
            TSR_TRY(broadcast_job(mesh, dtype, sizes[s]));
            TSR_TRY(all_gather_job(mesh, dtype, sizes[s]));
            TSR_TRY(all_to_all_job(mesh, dtype, sizes[s]));
            TSR_TRY(send_job(mesh, dtype, sizes[s]));
        }
done:
    return st;
}

static void for_ranks(tsr_job job, void *arg)
{
    for (int n = 1; n <= 5; n++) {
        char mesh[16];
        snprintf(mesh, sizeof mesh, "%d", n);
        harness_pass(mesh, job, arg);
    }
}

static void test_moves(void **state)
{
    (void)state;
    for_ranks(move_job, NULL);
}

/* ---- reductions ------------------------------------------------------------------------------ */

static tsr_status all_reduce_job(tsr_mesh *mesh, tsr_dtype dtype, tsr_reduce op, int64_t n)
{
    int ranks = tsr_mesh_size(mesh), me = tsr_mesh_index(mesh);
    void *in = data_of(dtype, me, n), *out = data_of(dtype, 99, n);
    void *want = reduced(dtype, op, ranks, n);
    tsr_status st;

    TSR_TRY(tsr_all_reduce(mesh, dtype, op, in, n, out));
    CHECK(same(out, want, n, dtype));
    TSR_TRY(tsr_all_reduce(mesh, dtype, op, in, n, in)); /* in place */
    CHECK(same(in, want, n, dtype));
    free(in);
    free(out);
    free(want);
done:
    return st;
}

static tsr_status reduce_scatter_job(tsr_mesh *mesh, tsr_dtype dtype, tsr_reduce op, int64_t n)
{
    int ranks = tsr_mesh_size(mesh), me = tsr_mesh_index(mesh);
    void *in = data_of(dtype, me, n * ranks), *out = data_of(dtype, 99, n);
    void *want = reduced(dtype, op, ranks, n * ranks), *own = at(in, dtype, me * n);
    tsr_status st;

    TSR_TRY(tsr_reduce_scatter(mesh, dtype, op, in, n, out));
    CHECK(same(out, at(want, dtype, me * n), n, dtype));
    TSR_TRY(tsr_reduce_scatter(mesh, dtype, op, in, n, own)); /* in place */
    CHECK(same(own, out, n, dtype));
    free(in);
    free(out);
    free(want);
done:
    return st;
}

static tsr_status reduce_job(tsr_mesh *mesh, void *arg)
{
    int number = tsr_mesh_size(mesh);
    tsr_status st = TSR_OK;

    (void)arg;
    for (int dtype = 0; dtype < TSR__DTYPES; dtype++)
        for (int op = TSR_SUM; op <= TSR_PROD; op++)
            for (int s = 0; s < N_SIZES; s++) {
                if (dtype == TSR__FIELD && op != TSR_SUM && op != TSR_PROD)
                    continue; /* the field has no order */
                if (tsr__reduce_check(dtype, op, NULL) != TSR_OK ||
                    !sample_has(number++, sample_quick()))
                    continue;
                TSR_TRY(all_reduce_job(mesh, dtype, op, sizes[s]));
                TSR_TRY(reduce_scatter_job(mesh, dtype, op, sizes[s]));
            }
done:
    return st;
}

static tsr_status large_pair_job(tsr_mesh *mesh, void *arg)
{
    (void)arg;
    return all_reduce_job(mesh, TSR_F32, TSR_AVG, MOST_PAIR);
}

static void test_reductions(void **state)
{
    (void)state;
    for_ranks(reduce_job, NULL);
    harness_pass("2", large_pair_job, NULL);
}

/* ---- requests -------------------------------------------------------------------------------- */

/* Many under way, finished out of order; n is beyond one phase or not. */
typedef struct order {
    int64_t n;
    int step; /* 0: the same order on all ranks */
} order;

static tsr_status requests_job(tsr_mesh *mesh, void *arg)
{
    enum { K = 20 };
    const order *o = arg;
    int ranks = tsr_mesh_size(mesh), me = tsr_mesh_index(mesh);
    int64_t n = o->n;
    float *in = data_of(TSR_F32, me, n), *out[K], *want = reduced(TSR_F32, TSR_SUM, ranks, n);
    tsr_request *request[K];
    tsr_status st = TSR_OK;

    for (int i = 0; i < K; i++)
        out[i] = calloc((size_t)(ranks * n), sizeof **out);
    for (int round = 0; st == TSR_OK && round < 10; round++) {
        for (int i = 0; i < K; i++) {
            tsr_collective call = {.kind = i % 3 == 0 ? TSR_COLL_ALL_GATHER : TSR_COLL_ALL_REDUCE,
                                   .send = in,
                                   .recv = out[i],
                                   .n = n};
            CHECK(tsr_collective_start(mesh, &call, &request[i]) == TSR_OK);
        }
        for (int i = 0; i < K; i++) {
            int k = (i * 3 + round + me * o->step) % K;
            tsr_status one = tsr_request_finish_take(request[k]);
            st = st ? st : one;
            if (one == TSR_OK && k % 3 == 0)
                CHECK(same(out[k] + me * n, in, n, TSR_F32));
            if (one == TSR_OK && k % 3 != 0)
                CHECK(same(out[k], want, n, TSR_F32));
        }
    }
    for (int i = 0; i < K; i++)
        free(out[i]);
    free(in);
    free(want);
    return st;
}

static void test_requests_in_any_order(void **state)
{
    (void)state;
    for (int step = 0; step < 8; step++) {
        order o = {.n = 1000, .step = step};
        harness_pass("2", requests_job, &o);
        harness_pass("4", requests_job, &o);
    }
    harness_pass("2", requests_job, &(order){.n = MOST_PAIR});
    harness_pass("4", requests_job, &(order){.n = MOST});
}

/* All-reduces of two phases in different order are an error on all ranks, not a wrong result. */
static void test_all_reduces_out_of_order(void **state)
{
    harness h = {.mesh = "3"};

    (void)state;
    harness_run(&h, requests_job, &(order){.n = MOST, .step = 1});
    for (int i = 0; i < 3; i++)
        assert_true(h.status[i] == TSR_ERR_DIVERGED || h.status[i] == TSR_ERR_PEER);
}

/* One request stays open while blocking calls go on. */
static tsr_status overlap_job(tsr_mesh *mesh, void *arg)
{
    int64_t in[3] = {1, 2, 3}, out[3], one = 1, sum;
    tsr_collective call = {
        .kind = TSR_COLL_ALL_REDUCE, .dtype = TSR_I64, .send = in, .recv = out, .n = 3};
    tsr_request *request;
    tsr_status st = TSR_OK;

    (void)arg;
    for (int round = 0; round < 100; round++) {
        TSR_TRY(tsr_collective_start(mesh, &call, &request));
        for (int i = 0; i < 20; i++)
            TSR_TRY(tsr_all_reduce(mesh, TSR_I64, TSR_SUM, &one, 1, &sum));
        TSR_TRY(tsr_request_finish_take(request));
        CHECK(sum == tsr_mesh_size(mesh) && out[2] == 3 * sum);
    }
done:
    return st;
}

static void test_overlap(void **state)
{
    (void)state;
    for_ranks(overlap_job, NULL);
}

/* ---- agreement and counting ------------------------------------------------------------------ */

static tsr_status bits_job(tsr_mesh *mesh, void *arg)
{
    enum { N = 5000 };
    float *in = data_of(TSR_F32, tsr_mesh_index(mesh), N), *first = arg;
    float *out = malloc(N * sizeof *out), *all;
    int ranks = tsr_mesh_size(mesh);
    tsr_status st;

    all = malloc((size_t)ranks * N * sizeof *all);
    TSR_TRY(tsr_all_reduce(mesh, TSR_F32, TSR_SUM, in, N, out));
    TSR_TRY(tsr_all_gather(mesh, TSR_F32, out, N, all));
    for (int r = 0; r < ranks; r++)
        CHECK(same(all + (size_t)r * N, out, N, TSR_F32));
    if (tsr_mesh_index(mesh) == 0 && first[0] == 0)
        memcpy(first, out, N * sizeof *out);
    TSR_TRY(tsr_barrier(mesh));
    CHECK(same(first, out, N, TSR_F32)); /* also of an earlier run */
    free(in);
    free(out);
    free(all);
done:
    return st;
}

static void test_same_bits(void **state)
{
    float *first = calloc(5000, sizeof *first);

    (void)state;
    for (int i = 0; i < 20; i++)
        harness_pass("4", bits_job, first);
    free(first);
}

static tsr_status count_job(tsr_mesh *mesh, void *arg)
{
    double in[400] = {0}, out[400];
    const tsr_counters *c = &mesh->ctx->counters;
    tsr_status st;

    (void)arg;
    TSR_TRY(tsr_all_gather(mesh, TSR_F64, in, 100, out));
    CHECK(c->calls == 1 && c->bytes_in == 3 * 800 && c->bytes_out == 3 * 800);
    TSR_TRY(tsr_reduce_scatter(mesh, TSR_F64, TSR_SUM, in, 100, out));
    CHECK(c->calls == 2 && c->bytes_in == 6 * 800 && c->bytes_out == 6 * 800);
    TSR_TRY(tsr_broadcast(mesh, TSR_F64, in, 100, 2));
    CHECK(c->bytes_in == 6 * 800 + (tsr_mesh_index(mesh) == 2 ? 0 : 800));
    CHECK(c->bytes_out == 6 * 800 + (tsr_mesh_index(mesh) == 2 ? 3 * 800 : 0));
done:
    return st;
}

static void test_counters(void **state)
{
    (void)state;
    harness_pass("4", count_job, NULL);
}

/* ---- mistakes -------------------------------------------------------------------------------- */

static tsr_status bad_counts_job(tsr_mesh *mesh, void *arg)
{
    int me = tsr_mesh_index(mesh);
    int64_t send[2] = {0, 0}, recv[2] = {0, 0}, expected = *(const int64_t *)arg;
    int *in = calloc(16, sizeof *in), *out = calloc(16, sizeof *out);

    send[1] = me == 0 ? 5 : 0;
    recv[0] = me == 1 ? expected : 0;
    tsr_status st = tsr_all_to_all(mesh, TSR_I32, in, send, out, recv);
    free(in);
    free(out);
    return st;
}

static void test_counts_that_differ(void **state)
{
    static const int64_t expected[] = {4, 6, 0};
    harness h = {.mesh = "2"};

    (void)state;
    for (int i = 0; i < 3; i++) {
        char text[100];
        harness_run(&h, bad_counts_job, (void *)(uintptr_t)&expected[i]);
        snprintf(text, sizeof text, "rank 0 sends 5 elements to rank 1, which expects %d",
                 (int)expected[i]);
        assert_int_equal(h.status[1], TSR_ERR_DIVERGED);
        assert_non_null(strstr(h.error[1].text, text));
        assert_int_equal(h.status[0], TSR_ERR_DIVERGED);
        assert_non_null(strstr(h.error[0].text, text));
    }
}

typedef struct mistake {
    tsr_collective call;
    tsr_status status;
    const char *text;
} mistake;

static tsr_status mistake_job(tsr_mesh *mesh, void *arg)
{
    static float a[64];
    static const int64_t fine[] = {1, 1}, negative[] = {1, -1};
    static const int64_t uneven[2][2] = {{2, 1}, {1, 2}};
    const int64_t huge = INT64_MAX / 2;
    int me = tsr_mesh_index(mesh);
    const mistake mistakes[] = {
        {{.kind = 12}, TSR_ERR_ARG, "12 is not a kind of collective"},
        {{.kind = TSR_COLL_ALL_GATHER, .dtype = 42}, TSR_ERR_DTYPE, "all-gather: 42 is not"},
        {{.kind = TSR_COLL_ALL_GATHER, .send = a, .recv = a + 8, .n = -3},
         TSR_ERR_ARG,
         "all-gather: -3 elements: a count cannot be negative"},
        {{.kind = TSR_COLL_ALL_GATHER, .send = a, .recv = a + 8, .n = huge},
         TSR_ERR_ARG,
         "elements are more than memory can hold"},
        {{.kind = TSR_COLL_ALL_GATHER, .send = a, .n = 3},
         TSR_ERR_ARG,
         "all-gather: recv is NULL for 6 elements"},
        {{.kind = TSR_COLL_ALL_REDUCE, .recv = a, .n = 3},
         TSR_ERR_ARG,
         "all-reduce: send is NULL for 3 elements"},
        {{.kind = TSR_COLL_ALL_REDUCE, .send = a, .recv = a + 1, .n = 3},
         TSR_ERR_ARG,
         "all-reduce: send and recv overlap"},
        {{.kind = TSR_COLL_REDUCE_SCATTER, .send = a, .recv = a + 1, .n = 3},
         TSR_ERR_ARG,
         "reduce-scatter: send and recv overlap"},
        {{.kind = TSR_COLL_ALL_REDUCE, .op = 9, .send = a, .recv = a, .n = 3},
         TSR_ERR_ARG,
         "all-reduce: 9 is not a reduction"},
        {{.kind = TSR_COLL_ALL_REDUCE, .dtype = TSR_BOOL, .send = a, .recv = a, .n = 3},
         TSR_ERR_DTYPE,
         "bool"},
        {{.kind = TSR_COLL_ALL_REDUCE,
          .dtype = TSR_I32,
          .op = TSR_AVG,
          .send = a,
          .recv = a,
          .n = 3},
         TSR_ERR_DTYPE,
         "i32"},
        {{.kind = TSR_COLL_BROADCAST, .recv = a, .n = 3, .peer = 2},
         TSR_ERR_ARG,
         "broadcast: index 2 is not in a mesh of 2 ranks"},
        {{.kind = TSR_COLL_SEND, .send = a, .n = 3, .peer = -1},
         TSR_ERR_ARG,
         "send: index -1 is not in a mesh of 2 ranks"},
        {{.kind = TSR_COLL_SEND, .send = a, .n = 3, .peer = me},
         TSR_ERR_ARG,
         "is the calling rank itself"},
        {{.kind = TSR_COLL_ALL_TO_ALL, .send = a, .recv = a + 8, .send_counts = fine},
         TSR_ERR_ARG,
         "all-to-all: recv_counts is NULL"},
        {{.kind = TSR_COLL_ALL_TO_ALL,
          .send = a,
          .recv = a + 8,
          .send_counts = fine,
          .recv_counts = negative},
         TSR_ERR_ARG,
         "all-to-all: recv_counts[1] is -1"},
        {{.kind = TSR_COLL_ALL_TO_ALL,
          .send = a,
          .recv = a + 8,
          .send_counts = fine,
          .recv_counts = uneven[me]},
         TSR_ERR_ARG,
         "to itself and expects 2"},
    };
    tsr_request *request;

    (void)arg;
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        CHECK(tsr_collective_start(mesh, &mistakes[i].call, &request) == mistakes[i].status);
        if (!strstr(tsr_mesh_message(mesh), mistakes[i].text))
            print_error("\"%s\" lacks \"%s\"\n", tsr_mesh_message(mesh), mistakes[i].text);
        CHECK(strstr(tsr_mesh_message(mesh), mistakes[i].text));
        tsr_mesh_clear_error(mesh);
    }
    CHECK(tsr_barrier(NULL) == TSR_ERR_ARG);
    CHECK(tsr_request_finish_take(NULL) == TSR_ERR_ARG);
    return tsr_barrier(mesh); /* the world is as good as before */
}

static void test_mistakes(void **state)
{
    (void)state;
    harness_pass("2", mistake_job, NULL);
}

static tsr_status outside_job(tsr_mesh *mesh, void *arg)
{
    tsr_mesh *part;
    tsr_status st;

    (void)arg;
    TSR_TRY(tsr_mesh_part(mesh, "2", 1, &part));
    if (tsr_mesh_rank(mesh) == 0) {
        CHECK(tsr_barrier(part) == TSR_ERR_OUTSIDE);
        tsr_mesh_clear_error(mesh);
    } else {
        TSR_TRY(tsr_barrier(part));
    }
    tsr_mesh_unref(part);
    TSR_TRY(tsr_barrier(mesh));
done:
    return st;
}

static void test_outside(void **state)
{
    (void)state;
    harness_pass("3", outside_job, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moves),
        cmocka_unit_test(test_reductions),
        cmocka_unit_test(test_requests_in_any_order),
        cmocka_unit_test(test_all_reduces_out_of_order),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_counters),
        cmocka_unit_test(test_counts_that_differ),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_outside),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
