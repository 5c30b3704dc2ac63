/* SPDX-License-Identifier: Apache-2.0 */
/* test_verdict.c - indices, targets and offsets out of range that one rank sees: one sentence on
   every rank, in the same call, and a world that goes on afterwards. On threads, or under mpirun
   with the argument "mpi". And how the histories of ranks, and verdicts in them, are compared. */
#include <unistd.h>

#include "support/test.h"
#include "world/history.h"

enum { ROWS = 10, DIM = 4, IDS = 8 };

static const int64_t good[IDS] = {1, 2, 3, 4, 5, 6, 7, 0};

/* ---- the calls ---- */

typedef struct bad_call {
    const char *says;
    int64_t id[IDS];
    tsr_tensor *(*call)(tsr_mesh *mesh, const int64_t *id, const char *ids, const char *other);
} bad_call;

static const char *spec(char *buf, const char *type, const char *placements)
{
    snprintf(buf, 64, "%s@%s", type, placements);
    return buf;
}

static tsr_tensor *lookup(tsr_mesh *mesh, const int64_t *id, const char *ids, const char *other)
{
    char a[64], b[64];

    return tsr_embedding(tsr_arange(mesh, spec(a, "f32[10,4]", other), 0, 1),
                         from_host(mesh, spec(b, "i64[8]", ids), id), NULL);
}

static tsr_tensor *bag(tsr_mesh *mesh, const int64_t *id, const char *ids, const char *other)
{
    char a[64], b[64];

    return tsr_bag_sum(tsr_arange(mesh, spec(a, "f32[10,4]", other), 0, 1),
                       from_host(mesh, spec(b, "i64[4,2]", ids), id), NULL, NULL, NULL);
}

static tsr_tensor *bag_offsets(tsr_mesh *mesh, const int64_t *id, const char *ids,
                               const char *other)
{
    static const int64_t list[IDS] = {0, 1, 2, 3, 4, 5, 6, 7};
    char a[64], b[64];

    return tsr_bag_sum(tsr_arange(mesh, spec(a, "f32[10,4]", other), 0, 1),
                       from_host(mesh, "i64[8]", list), from_host(mesh, spec(b, "i64[8]", ids), id),
                       NULL, NULL);
}

static tsr_tensor *select_rows(tsr_mesh *mesh, const int64_t *id, const char *ids,
                               const char *other)
{
    char a[64], b[64];

    return tsr_index_select(tsr_arange(mesh, spec(a, "f32[10,4]", other), 0, 1), 0,
                            from_host(mesh, spec(b, "i64[8]", ids), id));
}

static tsr_tensor *loss(tsr_mesh *mesh, const int64_t *id, const char *ids, const char *other)
{
    char a[64], b[64];

    return tsr_cross_entropy(tsr_arange(mesh, spec(a, "f32[8,10]", other), 0, 1),
                             from_host(mesh, spec(b, "i64[8]", ids), id), NULL, NULL, NULL, NULL);
}

static tsr_tensor *hot(tsr_mesh *mesh, const int64_t *id, const char *ids, const char *other)
{
    char b[64];

    (void)other;
    return tsr_one_hot(from_host(mesh, spec(b, "i64[8]", ids), id), 10, TSR_F32);
}

/* Space is what is sharded here. */
static tsr_tensor *pool(tsr_mesh *mesh, const int64_t *id, const char *ids, const char *other)
{
    static const int64_t input[] = {16};
    char a[64], b[64], space[32];

    (void)other;
    snprintf(space, sizeof space, "%s", ids);
    for (char *p = space; (p = strchr(p, '0'));)
        *p = '2';
    return tsr_max_pool_backward(
        tsr_full(mesh, spec(a, "f32[1,1,8]", space), 1),
        from_host(mesh, spec(b, "i64[1,1,8]", space), id), input,
        &(tsr_pool_opts)POOL_OPTS(.kernel = {2}, .has_stride = true, .stride = {2}));
}

static tsr_tensor *winners(tsr_mesh *mesh, const int64_t *id, const char *ids, const char *other)
{
    char a[64], b[64];

    (void)other;
    return tsr_bag_max_backward(tsr_full(mesh, spec(a, "f32[8,1]", ids), 1),
                                from_host(mesh, spec(b, "i64[8,1]", ids), id), ROWS);
}

static const bad_call calls[] = {
    {"embedding: id 77 at [6] is out of range 0 to 9", {1, 2, 3, 4, 5, 6, 77, 0}, lookup},
    {"embedding: id -1 at [7] is out of range 0 to 9", {1, 2, 3, 4, 5, 6, 7, -1}, lookup},
    {"bag_sum: id 10 at [3,1] is out of range 0 to 9", {1, 2, 3, 4, 5, 6, 7, 10}, bag},
    {"bag_sum: embedding bags: offset 7 is 9, but there are only 8 ids",
     {0, 1, 2, 3, 4, 5, 6, 9},
     bag_offsets},
    {"index_select: index 10 at [7] is out of range 0 to 9",
     {1, 2, 3, 4, 5, 6, 7, 10},
     select_rows},
    {"cross_entropy: target 12 at [7] is not one of the 10 classes, nor ignore_index -100",
     {1, 2, 3, 4, 5, 6, 7, 12},
     loss},
    {"one_hot: index 10 at [7] is out of range 0 to 9", {1, 2, 3, 4, 5, 6, 7, 10}, hot},
    {"bag_max_backward: index 10 at [7,0] is out of range -1 to 9",
     {-1, 2, 3, 4, 5, 6, 7, 10},
     winners},
    {"max_pool_backward: index 16 at [0,0,7] is out of range -1 to 15",
     {0, 2, 5, 6, 8, -1, 12, 16},
     pool},
    {"max_pool_backward: index 12 at [0,0,7] is not in the window of its output",
     {0, 2, 5, 6, 8, 10, 12, 12},
     pool},
};
enum { CALLS = sizeof calls / sizeof calls[0] };

/* ---- one bad call, and what comes after it ---- */

/* Does a good lookup give the rows of its ids? */
static tsr_status check_world(tsr_mesh *mesh, const char *ids, const char *table)
{
    tsr_tensor *y = lookup(mesh, good, ids, table);
    float out[IDS][DIM];
    tsr_status st = tsr_to_host(y, out, sizeof out);

    for (int i = 0; i < IDS && st == TSR_OK; i++)
        for (int j = 0; j < DIM; j++)
            CHECK(out[i][j] == (float)(good[i] * DIM + j));
    CHECK(st == TSR_OK);
    return st;
}

static tsr_status fail_and_go_on(tsr_mesh *mesh, const bad_call *c, const char *ids,
                                 const char *other)
{
    tsr_tensor *before = tsr_full(mesh, "f32[8]", 2), *changed = tsr_full(mesh, "f32[8]", 3);
    tsr_tensor *y, *z, *after;
    bool reported;

    y = c->call(mesh, c->id, ids, other);
    z = tsr_relu(y);                            /* it may exchange messages */
    reported = tsr_mesh_status(mesh) != TSR_OK; /* on all ranks, or on none */
    after = tsr_full(mesh, "f32[4]", 1);
    if (!reported)
        tsr_mul_inplace(changed, before);
    tsr_barrier(mesh);
    if (strcmp(tsr_mesh_message(mesh), c->says) != 0 || tsr_mesh_status(mesh) != TSR_ERR_ARG) {
        fprintf(stderr, "rank %d, %s %s: status %d, \"%s\", not \"%s\"\n", tsr_mesh_rank(mesh), ids,
                other, (int)tsr_mesh_status(mesh), tsr_mesh_message(mesh), c->says);
        return TSR_ERR_MISMATCH;
    }
    CHECK(!tsr_tensor_ok(y) && !tsr_tensor_ok(z) && tsr_tensor_ok(before));
    CHECK(tsr_tensor_ok(after) == reported && tsr_tensor_ok(changed) == reported);
    tsr_mesh_clear_error(mesh);
    CHECK(!tsr_tensor_ok(tsr_relu(z)));
    CHECK(tsr_mesh_status(mesh) == TSR_ERR_ARG);
    tsr_mesh_clear_error(mesh);
    return check_world(mesh, ids, other);
}

/* Every call, with indices and what they select from sharded in every way. */
static tsr_status every_call(tsr_mesh *mesh, void *arg)
{
    static const char *const one[] = {"[R]", "[S(0)]"}, *const other[] = {"[R]", "[S(0)]",
                                                                          "[S(1)]"};
    static const char *const two[] = {"[R,R]", "[S(0),R]", "[R,S(0)]", "[S(0),S(0)]"};
    const bool plane = tsr_mesh_shape_get(mesh)->ndim == 2;
    tsr_status st = TSR_OK;

    (void)arg;
    for (int c = 0; c < CALLS; c++)
        for (int i = 0; i < (plane ? 4 : 2); i++)
            for (int k = 0; k < (plane ? 4 : 3); k++) {
                st = fail_and_go_on(mesh, &calls[c], plane ? two[i] : one[i],
                                    plane ? two[k] : other[k]);
                if (st != TSR_OK)
                    return st;
            }
    return st;
}

/* Two ranks find something in different calls: the first call counts, on all of them. */
static tsr_status two_verdicts(tsr_mesh *mesh, void *arg)
{
    int64_t first[IDS] = {1, 2, 3, 4, 5, 6, 7, 50}, second[IDS] = {60, 2, 3, 4, 5, 6, 7, 0};

    (void)arg;
    for (int swap = 0; swap < 2; swap++) {
        lookup(mesh, swap ? second : first, "[S(0)]", "[R]");
        lookup(mesh, swap ? first : second, "[S(0)]", "[R]");
        tsr_barrier(mesh);
        CHECK(strcmp(tsr_mesh_message(mesh),
                     swap ? "embedding: id 60 at [0] is out of range 0 to 9"
                          : "embedding: id 50 at [7] is out of range 0 to 9") == 0);
        tsr_mesh_clear_error(mesh);
    }
    return check_world(mesh, "[S(0)]", "[S(0)]");
}

/* A verdict that no message has carried yet is not handed out as values. */
static tsr_status not_read(tsr_mesh *mesh, void *arg)
{
    int64_t id[IDS] = {1, 2, 3, 4, 5, 6, 7, 50};
    tsr_tensor *y = lookup(mesh, id, "[S(0)]", "[R]");
    const bool mine = tsr_mesh_index(mesh) == tsr_mesh_size(mesh) - 1;
    tsr_local view;

    (void)arg;
    CHECK((tsr_local_view(y, &view) == TSR_OK) != mine);
    tsr_mesh_clear_error(mesh);
    tsr_barrier(mesh);
    CHECK(tsr_mesh_status(mesh) == TSR_ERR_ARG && !tsr_tensor_ok(y));
    tsr_mesh_clear_error(mesh);
    return check_world(mesh, "[S(0)]", "[R]");
}

/* Along one mesh dim at a time: nobody reports it before everybody can. */
static tsr_status dim_by_dim(tsr_mesh *mesh, void *arg)
{
    int64_t id[IDS] = {50, 2, 3, 4, 5, 6, 7, 0};
    tsr_tensor *x = tsr_full(mesh, "f32[8]@[S(0),R]", 1), *z = tsr_full(mesh, "f32[8]@[R,S(0)]", 1);

    (void)arg;
    lookup(mesh, id, "[S(0),S(0)]", "[R,R]");
    tsr_redistribute(x, "[R,R]");
    CHECK(tsr_mesh_status(mesh) == TSR_OK);
    tsr_redistribute(z, "[R,R]");
    CHECK(tsr_mesh_status(mesh) == TSR_ERR_ARG);
    tsr_mesh_clear_error(mesh);
    return check_world(mesh, "[S(0),S(0)]", "[R,R]");
}

/* The job ends at once with the error: ranks that are late have it too, in their own call. */
static tsr_status leave_with_it(tsr_mesh *mesh, void *arg)
{
    int64_t id[IDS] = {50, 2, 3, 4, 5, 6, 7, 0};
    tsr_tensor *x = tsr_full(mesh, "f32[8]@[S(0),R]", 1), *z = tsr_full(mesh, "f32[8]@[R,S(0)]", 1);
    tsr_status *st = arg;

    lookup(mesh, id, "[S(0),S(0)]", "[R,R]");
    tsr_redistribute(x, "[R,R]");
    if (tsr_mesh_index(mesh) == 3)
        usleep(200000);
    tsr_redistribute(z, "[R,R]");
    st[tsr_mesh_index(mesh)] = tsr_mesh_status(mesh);
    if (!strstr(tsr_mesh_message(mesh), "embedding: id 50 at [0] is out of range 0 to 9") ||
        strstr(tsr_mesh_message(mesh), "failed"))
        st[tsr_mesh_index(mesh)] = TSR_ERR_MISMATCH;
    return tsr_mesh_status(mesh);
}

/* ---- ranks whose programs differ ---- */

typedef struct difference {
    int kind;
    const char *says[2]; /* of ranks 0 and 1 */
    bool told[2];        /* that rank got both */
} difference;

static tsr_status differ(tsr_mesh *mesh, void *arg)
{
    difference *d = arg;
    const bool odd = tsr_mesh_index(mesh) == 1;
    tsr_tensor *x = tsr_full(mesh, "f32[8]", 1);
    tsr_status st;

    for (int i = 0; i < 100; i++) /* more than are remembered */
        tsr_relu(x);
    switch (d->kind) {
    case 0: tsr_full(mesh, odd ? "f32[9]" : "f32[8]", 1); break;
    case 1: tsr_full(mesh, "f32[8]", odd ? 1 : 2); break;
    case 2: odd ? tsr_relu(x) : tsr_tanh(x); break;
    case 3: tsr_affine(x, odd ? 2 : 3, 0); break;
    case 4:
        if (odd)
            tsr_relu(x);
        break;
    case 5:
        odd ? tsr_relu(tsr_add(x, tsr_full(mesh, "f32[3]", 0))) : tsr_relu(tsr_add(x, x));
        break;
    default: break;
    }
    tsr_mesh_clear_error(mesh);
    st = tsr_barrier(mesh);
    if (st != TSR_ERR_DIVERGED || !strstr(tsr_mesh_message(mesh), d->says[0]) ||
        !strstr(tsr_mesh_message(mesh), d->says[1])) {
        fprintf(stderr, "difference %d: status %d, \"%s\"\n", d->kind, (int)st,
                tsr_mesh_message(mesh));
        return TSR_ERR_MISMATCH;
    }
    d->told[odd] = true;
    tsr_mesh_clear_error(mesh);
    return TSR_OK;
}

static difference differences[] = {
    {.kind = 0,
     .says = {"rank 0 called a function that makes f32[8]@[R",
              "rank 1 called a function that makes f32[9]"}},
    {.kind = 1,
     .says = {"rank 0 called a function that makes f32[8]@[R",
              "rank 1 called a function that makes f32[8]"}},
    {.kind = 2, .says = {"rank 0 called tanh f32[8]@[R", "rank 1 called relu f32[8]@[R"}},
    {.kind = 3, .says = {"rank 0 called affine f32[8]@[R", "rank 1 called affine f32[8]@[R"}},
    {.kind = 4, .says = {"rank 0 called no further op", "rank 1 called relu f32[8]@[R"}},
    {.kind = 5,
     .says = {"rank 0 called add f32[8]@[R", "rank 1 called a function that makes f32[3]@[R"}},
};
enum { DIFFERENCES = sizeof differences / sizeof differences[0] };

/* Pipeline stages may differ: ranks of different sub-meshes make different calls. */
static tsr_status stages_may_differ(tsr_mesh *mesh, void *arg)
{
    tsr_mesh *own;
    tsr_tensor *x;
    tsr_status st;

    (void)arg;
    if (tsr_mesh_sub(mesh, "1", &own) != TSR_OK)
        return tsr_mesh_status(mesh);
    x = tsr_full(own, tsr_mesh_coord(mesh, 0) ? "f32[6]@[S(0)]" : "f32[4]@[S(0)]", 1);
    for (int i = 0; i <= tsr_mesh_coord(mesh, 0); i++)
        x = tsr_relu(x);
    CHECK(tsr_tensor_ok(tsr_redistribute(x, "[R]")));
    st = tsr_barrier(mesh);
    CHECK(st == TSR_OK);
    tsr_mesh_unref(own);
    return st;
}

/* ---- running them ---- */

static tsr_world_kind world = TSR_WORLD_THREAD;
static const char *only;

static void run(const char *mesh, tsr_job job, void *arg)
{
    tsr_run_opts opts =
        RUN_OPTS(.mesh = mesh, .world = world, .has_timeout = true, .timeout_ms = 20000);
    tsr_error err = {0};

    if (only && strcmp(only, mesh) != 0)
        return;
    if (tsr_run(&opts, job, arg, &err) != TSR_OK)
        fail_msg("mesh %s: %s", mesh, err.text);
}

static void bad_values_are_reported_by_all(void **state)
{
    static const char *const meshes[] = {"1", "2", "3", "4", "2x2"};

    (void)state;
    for (int m = 0; m < 5; m++)
        run(meshes[m], every_call, NULL);
}

static void the_first_verdict_counts(void **state)
{
    (void)state;
    run("2", two_verdicts, NULL);
    run("4", two_verdicts, NULL);
}

static void a_verdict_is_not_read(void **state)
{
    (void)state;
    run("2", not_read, NULL);
    run("4", not_read, NULL);
}

static void a_verdict_spreads_by_dims(void **state)
{
    (void)state;
    run("2x2", dim_by_dim, NULL);
}

static void late_ranks_have_the_same_error(void **state)
{
    tsr_run_opts opts =
        RUN_OPTS(.mesh = "2x2", .world = world, .has_timeout = true, .timeout_ms = 20000);
    tsr_status st[4] = {TSR_ERR_ARG, TSR_ERR_ARG, TSR_ERR_ARG, TSR_ERR_ARG};

    (void)state;
    if (only && strcmp(only, "2x2") != 0)
        return;
    assert_int_equal(tsr_run(&opts, leave_with_it, st, NULL), TSR_ERR_ARG);
    for (int i = 0; i < 4; i++) /* under MPI a process knows of its own rank */
        assert_int_equal(st[i], TSR_ERR_ARG);
}

/* The world is gone after each of them; under MPI a process knows of its own rank. */
static void ranks_that_differ_are_told(void **state)
{
    tsr_run_opts opts =
        RUN_OPTS(.mesh = "2", .world = world, .has_timeout = true, .timeout_ms = 20000);

    (void)state;
    for (int i = 0; i < DIFFERENCES && (!only || strcmp(only, "2") == 0); i++) {
        difference *d = &differences[i];

        tsr_run(&opts, differ, d, NULL);
        assert_true(only ? d->told[0] || d->told[1] : d->told[0] && d->told[1]);
    }
}

static void stages_are_not_compared(void **state)
{
    (void)state;
    run("2x2", stages_may_differ, NULL);
}

/* ---- histories ---- */

static void call_name(const tsr_cached *subject, char *buf, size_t n)
{
    (void)subject;
    snprintf(buf, n, "a call");
}

/* So many calls, one of which is another. */
static tsr_history history_of(uint64_t n, uint64_t other)
{
    static const tsr_cached subject = {0};
    tsr_history h = {0};

    for (uint64_t i = 1; i <= n; i++)
        tsr__history_add(&h, 100 + i, i == other ? 999 : i, &subject, call_name);
    return h;
}

static void histories_are_compared(void **state)
{
    static const struct {
        uint64_t calls, calls_there, other, differs;
    } all[] = {
        {5, 5, 0, 6},   {5, 5, 3, 3},   {5, 5, 1, 1},   {5, 4, 0, 5},
        {4, 5, 0, 5},   {64, 64, 1, 1}, {65, 65, 2, 0}, /* it may have been call 1 */
        {65, 65, 3, 3}, {70, 6, 0, 7},  {70, 5, 0, 0},  /* what came next is not known */
        {5, 70, 0, 0},
    };
    char text[64];
    tsr_history h;
    (void)state;

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const tsr_history there = history_of(all[i].calls_there, all[i].other);
        uint64_t hash[TSR_HISTORY_LEN];

        h = history_of(all[i].calls, 0);
        for (int k = 0; k < TSR_HISTORY_LEN; k++)
            hash[k] = there.past[k].hash;
        assert_int_equal(tsr__history_differs(&h, all[i].calls_there, hash), all[i].differs);
    }
    h = history_of(70, 0);
    assert_string_equal(tsr__history_text(&h, 71, text, sizeof text), "no further op");
    assert_string_equal(tsr__history_text(&h, 70, text, sizeof text), "a call");
    assert_string_equal(tsr__history_text(&h, 7, text, sizeof text), "a call");
    assert_string_equal(tsr__history_text(&h, 6, text, sizeof text),
                        "an op more than 64 calls ago");
    assert_true(tsr__history_clock(&h, 7) == 107 && tsr__history_clock(&h, 70) == 170);
    assert_true(tsr__history_clock(&h, 6) == 0 && tsr__history_clock(&h, 71) == 0);
    tsr__history_forget(&h, h.past[0].subject);
    assert_string_equal(tsr__history_text(&h, 70, text, sizeof text),
                        "an op whose plan was dropped");
    tsr__history_add(&h, 171, 1, NULL, NULL);
    assert_string_equal(tsr__history_text(&h, 71, text, sizeof text), "an op that failed");
}

static void of_verdicts_the_earliest(void **state)
{
    const tsr_verdict none = {0}, early = {.number = 3, .rank = 2, .known = 1},
                      low = {.number = 3, .rank = 1, .known = 2}, late = {.number = 4, .rank = 0};
    tsr_verdict v = none;
    (void)state;

    tsr__verdict_merge(&v, &none);
    assert_true(v.number == 0);
    tsr__verdict_merge(&v, &late);
    assert_true(v.number == 4);
    tsr__verdict_merge(&v, &early);
    tsr__verdict_merge(&v, &none);
    tsr__verdict_merge(&v, &late);
    assert_true(v.number == 3 && v.rank == 2 && v.known == 1);
    tsr__verdict_merge(&v, &low);
    tsr__verdict_merge(&v, &early);
    assert_true(v.rank == 1 && v.known == 2);
    tsr__verdict_merge(&v, &(tsr_verdict){.number = 3, .rank = 1, .known = 4});
    assert_true(v.known == 6);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_values_are_reported_by_all),
        cmocka_unit_test(the_first_verdict_counts),
        cmocka_unit_test(a_verdict_is_not_read),
        cmocka_unit_test(a_verdict_spreads_by_dims),
        cmocka_unit_test(late_ranks_have_the_same_error),
        cmocka_unit_test(ranks_that_differ_are_told),
        cmocka_unit_test(stages_are_not_compared),
        cmocka_unit_test(histories_are_compared),
        cmocka_unit_test(of_verdicts_the_earliest),
    };

    if (argc > 2 && strcmp(argv[1], "mpi") == 0) { /* the mesh follows */
        world = TSR_WORLD_MPI;
        only = argv[2];
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
