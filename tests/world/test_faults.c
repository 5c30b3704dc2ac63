/* SPDX-License-Identifier: Apache-2.0 */
/* test_faults.c - no hang, no leak: a program in which at every allocation, and at every
   collective call, some rank fails, leaves, or does something else. All other ranks must return,
   in time, with a sentence that names the one to blame. On threads as cmocka tests; as
   "test_faults mpi WHAT STEP RANK" on the ranks of mpirun (tests/world/mpi_faults.sh goes through
   them). */
#include <stdatomic.h>
#include <time.h>

#include "support/test.h"
#include "support/fault_driver.h"
#include "dispatch/context.h"
#include "support/numbers.h"

typedef enum trouble {
    FAILS,      /* the call fails on this rank */
    LEAVES,     /* the job returns with success */
    RETURNS,    /* the job returns with an error */
    CALLS_OTHER /* another collective in place of this one */
} trouble;

static const char *const TROUBLE[] = {"fails", "leaves", "returns", "other"};

typedef struct plot {
    trouble what;
    int step, rank;
    atomic_int blamed;            /* ranks whose sentence names the culprit or both calls */
    atomic_int finished;          /* ranks that came back */
    atomic_int sound;             /* ranks that ended with an error, as they should */
    char sentence[TSR_ERROR_LEN]; /* one that does not */
} plot;

/* ---- the program: a step for every kind of call ---- */

enum { STEPS = 9 };

static tsr_status do_step(tsr_mesh *mesh, int step)
{
    int n = tsr_mesh_size(mesh);
    float a[64] = {1}, b[64];
    int64_t counts[16];
    tsr_tensor *x;

    switch (step) {
    case 0: return tsr_barrier(mesh);
    case 1: return tsr_all_gather(mesh, TSR_F32, a, 2, b);
    case 2: return tsr_all_reduce(mesh, TSR_F32, TSR_SUM, a, 5, b);
    case 3: return tsr_reduce_scatter(mesh, TSR_F32, TSR_MAX, a, 3, b);
    case 4: return tsr_broadcast(mesh, TSR_F32, a, 7, n - 1);
    case 5:
        for (int i = 0; i < n; i++)
            counts[i] = 2;
        return tsr_all_to_all(mesh, TSR_F32, a, counts, b, counts);
    case 6: /* all-gather */
        x = tsr_redistribute(tsr_arange(mesh, "f32[64,32]@[S(0)]", 0, 1), "[R]");
        return tsr_tensor_ok(x) ? TSR_OK : tsr_mesh_status(mesh);
    case 7: /* a large all-reduce: two calls */
        x = tsr_redistribute(tsr_arange(mesh, "f32[512,256]@[P(sum)]", 0, 1), "[R]");
        return tsr_tensor_ok(x) ? TSR_OK : tsr_mesh_status(mesh);
    default:
        x = tsr_redistribute(tsr_arange(mesh, "f32[4,16]@[S(0)]", 0, 1), "[S(1)]");
        return tsr_to_root(x, b, sizeof b, n - 1);
    }
}

static tsr_status do_other(tsr_mesh *mesh, int step)
{
    float a[64] = {1}, b[64];

    if (step == 2)
        return tsr_all_gather(mesh, TSR_F32, a, 3, b);
    return tsr_all_reduce(mesh, TSR_F32, TSR_PROD, a, 9, b);
}

static tsr_status run_program(tsr_mesh *mesh, plot *p)
{
    tsr_status st = TSR_OK;

    for (int step = 0; step < STEPS && st == TSR_OK; step++) {
        bool culprit = step == p->step && tsr_mesh_rank(mesh) == p->rank;
        if (culprit && p->what == LEAVES)
            return TSR_OK;
        if (culprit && p->what == RETURNS)
            return TSR_ERR_ARG;
        if (culprit && p->what == FAILS)
            tsr_fault_call(mesh, 1);
        st = culprit && p->what == CALLS_OTHER ? do_other(mesh, step) : do_step(mesh, step);
    }
    return st;
}

static tsr_status job(tsr_mesh *mesh, void *arg)
{
    plot *p = arg;
    tsr_status st = run_program(mesh, p);
    char name[32];

    atomic_fetch_add(&p->finished, 1);
    snprintf(name, sizeof name, "rank %d", p->rank);
    if (tsr_mesh_rank(mesh) == p->rank)
        return st;
    if (st != TSR_OK)
        atomic_fetch_add(&p->sound, 1);
    if (strstr(tsr_mesh_message(mesh), name))
        atomic_fetch_add(&p->blamed, 1);
    else
        snprintf(p->sentence, sizeof p->sentence, "%s", tsr_mesh_message(mesh));
    return st;
}

static void expect_clean_end(const char *mesh, int size, plot *p)
{
    tsr_run_opts opts =
        RUN_OPTS(.mesh = mesh, .world = TSR_WORLD_THREAD, .has_timeout = true, .timeout_ms = 20000);
    tsr_error err = {0};
    double begin = now();
    tsr_status st = tsr_run(&opts, job, p, &err);

    if (st == TSR_OK || p->finished != size || p->sound != size - 1 || p->blamed != size - 1 ||
        now() - begin > 5)
        fail_msg("rank %d %s at step %d of mesh %s: %d of %d ranks came back, %d with an error, %d "
                 "named the culprit, after %.1f s; one said: %s",
                 p->rank, TROUBLE[p->what], p->step, mesh, p->finished, size, p->sound, p->blamed,
                 now() - begin, p->sentence);
}

static void every_trouble(void **state)
{
    (void)state;
    for (int what = FAILS; what <= CALLS_OTHER; what++)
        for (int step = 0; step < STEPS; step++)
            for (int size = 2; size <= 3; size++)
                for (int rank = 0; rank < size; rank++) {
                    plot p = {.what = (trouble)what, .step = step, .rank = rank};
                    expect_clean_end(size == 2 ? "2" : "3", size, &p);
                }
}

/* ---- a rank that sleeps: the timeout ---- */

static tsr_status sleepy(tsr_mesh *mesh, void *arg)
{
    struct timespec long_time = {.tv_nsec = 600 * 1000 * 1000};
    (void)arg;

    if (tsr_mesh_rank(mesh) == 1)
        nanosleep(&long_time, NULL);
    return tsr_barrier(mesh);
}

static void timeout_names_the_peer(void **state)
{
    tsr_run_opts opts =
        RUN_OPTS(.mesh = "2", .world = TSR_WORLD_THREAD, .has_timeout = true, .timeout_ms = 100);
    tsr_error err = {0};
    (void)state;

    assert_int_equal(tsr_run(&opts, sleepy, NULL, &err), TSR_ERR_TIMEOUT);
    assert_non_null(strstr(err.text, "rank 1"));
    assert_non_null(strstr(err.text, "barrier"));
}

/* 0 is no timeout: longer than any that is set for one wait here, and told so by the text. */
static void no_timeout(void **state)
{
    tsr_run_opts opts =
        RUN_OPTS(.mesh = "2", .world = TSR_WORLD_THREAD, .has_timeout = true, .timeout_ms = -1);
    tsr_error err = {0};
    int ms;

    (void)state;
    assert_int_equal(tsr_run(&opts, sleepy, NULL, &err), TSR_OK);
    opts.has_timeout = false;
    setenv("TESSERA_TIMEOUT", "0.1", 1);
    assert_int_equal(tsr_run(&opts, sleepy, NULL, &err), TSR_ERR_TIMEOUT);
    setenv("TESSERA_TIMEOUT", "0", 1);
    assert_int_equal(tsr_run(&opts, sleepy, NULL, &err), TSR_OK);
    setenv("TESSERA_TIMEOUT", "1e7", 1);
    assert_int_equal(tsr_run(&opts, sleepy, NULL, &err), TSR_ERR_PARSE);
    assert_string_equal(err.text, "timeout \"1e7\": at most 1000000 seconds, or 0 for no timeout");
    unsetenv("TESSERA_TIMEOUT");
    assert_int_equal(tsr__timeout_parse("1000000", &ms, NULL), TSR_OK);
    assert_int_equal(ms, 1000000000);
    assert_int_equal(tsr__timeout_parse("-1", &ms, NULL), TSR_ERR_PARSE);
    assert_int_equal(tsr__timeout_parse("nan", &ms, NULL), TSR_ERR_PARSE);
}

/* ---- worlds that cannot be ---- */

static tsr_status nothing(tsr_mesh *mesh, void *arg)
{
    (void)mesh;
    (void)arg;
    return TSR_OK;
}

static void impossible_worlds(void **state)
{
    tsr_run_opts opts = RUN_OPTS(.mesh = "2", .world = (tsr_world_kind)9);
    tsr_error err = {0};

    (void)state;
    assert_int_equal(tsr_run(&opts, nothing, NULL, &err), TSR_ERR_ARG);
    assert_string_equal(err.text, "9 is not a tsr_world_kind");
    assert_false(tsr_world_available((tsr_world_kind)9, &err));
    opts = (tsr_run_opts)RUN_OPTS(.mesh = "2147483647", .world = TSR_WORLD_SIM);
    assert_int_equal(tsr_run(&opts, nothing, NULL, &err), TSR_ERR_MESH);
    opts = (tsr_run_opts)RUN_OPTS(.mesh = "1025", .world = TSR_WORLD_THREAD);
    assert_int_equal(tsr_run(&opts, nothing, NULL, &err), TSR_ERR_MESH);
    assert_non_null(strstr(err.text, "the thread world supports at most 1024"));
    opts = (tsr_run_opts)RUN_OPTS(.mesh = "1025", .world = TSR_WORLD_SIM);
    assert_int_equal(tsr_run(&opts, nothing, NULL, &err), TSR_OK);
}

/* ---- allocations ---- */

static tsr_status move(tsr_mesh *mesh, const void *arg)
{
    const char *const *from_to = arg;
    float out[64];
    tsr_tensor *x = tsr_redistribute(tsr_arange(mesh, from_to[0], 0, 1), from_to[1]);

    return tsr_to_host(x, out, sizeof out);
}

static void every_allocation(void **state)
{
    static const char *const pairs[][2] = {
        {"f32[8,8]@[S(0)]", "[S(1)]"},
        {"f32[8,8]@[P(sum)]", "[S(0)]"},
        {"f32[8,8]@[S(0),P(avg)]", "[P(sum),SS(0,3)]"},
        {"f32[8,8]@[S(0),S(1)]", "[S(1),S(0)]"},
    };
    (void)state;

    for (int i = 0; i < 4; i++)
        fault_each(&(fault_job){.name = pairs[i][0],
                                .mesh = i < 2 ? "2" : "2x2",
                                .ranks = {0, i < 2 ? 1 : 2},
                                .run = move,
                                .arg = pairs[i],
                                .least = 1,
                                .all = true},
                   FAULT_ALLOCATION);
}

/* ---- mpi: one trouble per launch ---- */

static int run_on_mpi(char **argv)
{
    plot p = {.step = atoi(argv[1]), .rank = atoi(argv[2])};
    tsr_run_opts opts = RUN_OPTS(.world = TSR_WORLD_MPI, .has_timeout = true, .timeout_ms = 8000);
    tsr_error err = {0};
    double begin = now();
    const char *me = getenv("OMPI_COMM_WORLD_RANK");

    while (p.what < CALLS_OTHER && strcmp(argv[0], TROUBLE[p.what]) != 0)
        p.what++;
    tsr_status st = tsr_run(&opts, job, &p, &err);
    /* a rank that had left fails as the others do, which missed it */
    if (st == TSR_OK || !err.text[0] || (p.what == LEAVES && st != TSR_ERR_DIVERGED)) {
        fprintf(stderr, "rank %s: status %d: %s\n", me, (int)st, err.text);
        return 1;
    }
    if (p.finished != 1 || now() - begin > 6 ||
        (me && atoi(me) != p.rank && (p.sound != 1 || p.blamed != 1))) {
        fprintf(stderr, "rank %s: %d back, %d with an error, %d named rank %d, %.1f s: %s\n", me,
                p.finished, p.sound, p.blamed, p.rank, now() - begin, p.sentence);
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_trouble),    cmocka_unit_test(timeout_names_the_peer),
        cmocka_unit_test(no_timeout),       cmocka_unit_test(impossible_worlds),
        cmocka_unit_test(every_allocation),
    };

    if (argc == 5 && strcmp(argv[1], "mpi") == 0)
        return run_on_mpi(argv + 2);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
