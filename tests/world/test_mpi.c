/* SPDX-License-Identifier: Apache-2.0 */
/* test_mpi.c - the cases of message_cases.c over MPI: mpirun -n 2 test_mpi. All ranks run all
   cases, each in a world of its own, and agree on the result; rank 0 prints. With the argument
   "kill" one rank kills itself in the middle of its calls (mpi_kill.sh); "leave": it exits there;
   "large": one message of more than 2^31 bytes, which needs 13 GiB on two ranks; "threads": jobs of
   several threads of a process at once (mpi_plugin.sh). */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "support/test.h"
#include "support/message_cases.h"

enum { REPORT_FD = 100 }; /* stderr; 2 is silent on all ranks but the first */

static rank_state *join(int timeout_ms)
{
    rank_state *r = calloc(1, sizeof *r);

    if (!r)
        abort();
    tsr__pool_open(&r->ctx.pool, &r->ctx.heap);
    if (tsr__mpi_join(&r->ctx, timeout_ms, &r->world) != TSR_OK) {
        fprintf(stderr, "test_mpi: %s\n", r->ctx.error.text);
        exit(1);
    }
    r->rank = r->world->rank;
    r->size = r->world->size;
    return r;
}

/* Does any rank say that it went wrong? By MPI's own reduction, in a fresh world. */
static bool any_wrong(bool mine)
{
    rank_state *r = join(30000);
    double in = mine, out = 1;
    tsr_collective max = {.kind = TSR_COLL_ALL_REDUCE,
                          .dtype = TSR_F64,
                          .op = TSR_MAX,
                          .send = &in,
                          .recv = &out,
                          .n = 1};

    if (r->world->ops->native(r->world, &max) != TSR_OK)
        out = 1;
    r->world->ops->close(r->world);
    free(r);
    return out != 0;
}

static void test_case(void **state)
{
    const message_case *c = *state;

    for (int64_t arg = 0, step = 1; arg < c->n_args; arg += step) {
        rank_state *r = join(c->timeout_ms);
        int size = r->size;
        if (arg == 0)
            arg = case_sample(c, size, &step);
        r->arg = arg;
        if (size < c->min_ranks) {
            r->world->ops->close(r->world);
            free(r);
            return;
        }
        case_run_joined(r, c);
        if (r->why[0])
            dprintf(REPORT_FD, "%s: %s\n", c->name, r->why);
        bool wrong = any_wrong(r->why[0] != 0);
        free(r);
        assert_false(wrong);
    }
}

/* One message of more than 2^31 bytes each way. */
static int move_large(rank_state *r)
{
    tsr_status st = case_shuffle(r, (INT64_C(1) << 31) + 12345, "shuffle");

    if (st != TSR_OK || r->why[0])
        fprintf(stderr, "rank %d: %s %s\n", r->rank, r->ctx.error.text, r->why);
    tsr__group_close(r->all);
    r->world->ops->close(r->world);
    return st != TSR_OK || r->why[0];
}

/* A rank goes in the middle: the others wait longer than anyone wants to. */
static int vanish(rank_state *r, bool killed)
{
    for (int i = 0; i < 20; i++) {
        if (i == 10 && r->rank == r->size / 2 && killed)
            kill(getpid(), SIGKILL);
        if (i == 10 && r->rank == r->size / 2)
            exit(0);
        if (case_shuffle(r, i % 2 ? 100 : 1000000, "shuffle") != TSR_OK) {
            fprintf(stderr, "test_mpi: %s\n", r->ctx.error.text);
            return 1;
        }
    }
    return 0;
}

static int special(const char *what)
{
    rank_state *r = join(60000);
    int ranks[CASE_RANKS];

    for (int i = 0; i < r->size; i++)
        ranks[i] = i;
    if (tsr__group_open(r->world, ranks, r->size, &r->all) != TSR_OK)
        return 1;
    return strcmp(what, "large") == 0 ? move_large(r) : vanish(r, strcmp(what, "kill") == 0);
}

/* ---- jobs of several threads ---- */

typedef struct thread_job {
    int64_t value;
    bool wrong;
    tsr_status status;
    tsr_error err;
} thread_job;

static tsr_status sum_job(tsr_mesh *mesh, void *arg)
{
    thread_job *j = arg;
    int64_t sum = 0;
    tsr_status st = TSR_OK;

    for (int i = 0; i < 200 && st == TSR_OK; i++) {
        st = tsr_all_reduce(mesh, TSR_I64, TSR_SUM, &j->value, 1, &sum);
        j->wrong = j->wrong || (st == TSR_OK && sum != j->value * tsr_mesh_size(mesh));
    }
    return st;
}

static void *thread_main(void *arg)
{
    thread_job *j = arg;

    j->status = tsr_run(&(tsr_run_opts)RUN_OPTS(.world = TSR_WORLD_MPI), sum_job, j, &j->err);
    return NULL;
}

static bool is_refused(const thread_job *j)
{
    if (j->status == TSR_ERR_STATE && strstr(j->err.text, "but this is another thread"))
        return true;
    fprintf(stderr, "a job of another thread: %d %s%s\n", (int)j->status, j->err.text,
            j->wrong ? ", wrong sums" : "");
    return false;
}

/* Two jobs on two threads, before MPI is initialised and after; those of the main thread are not
   harmed. */
static int jobs_of_threads(void)
{
    bool good = true;

    for (int round = 0; round < 4; round++) {
        thread_job job[3] = {{.value = 1}, {.value = 10}, {.value = 100}};
        pthread_t thread[2];
        for (int i = 0; i < 2; i++)
            if (pthread_create(&thread[i], NULL, thread_main, &job[i]) != 0)
                return 1;
        if (round > 0)
            thread_main(&job[2]);
        for (int i = 0; i < 2; i++) {
            pthread_join(thread[i], NULL);
            good = is_refused(&job[i]) && good;
        }
        if (job[2].status != TSR_OK || job[2].wrong)
            fprintf(stderr, "the main thread's job: %s\n", job[2].err.text);
        good = good && job[2].status == TSR_OK && !job[2].wrong;
    }
    return !good;
}

int main(int argc, char **argv)
{
    struct CMUnitTest tests[64];
    size_t n = 0;

    if (argc > 1)
        return strcmp(argv[1], "threads") == 0 ? jobs_of_threads() : special(argv[1]);
    rank_state *r = join(30000);
    int rank = r->rank;
    r->world->ops->close(r->world);
    free(r);
    if (fcntl(2, F_DUPFD, REPORT_FD) != REPORT_FD ||
        (rank > 0 && (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))))
        return 1;
    for (int i = 0; i < n_message_cases; i++)
        tests[n++] = (struct CMUnitTest){message_cases[i].name, test_case, NULL, NULL,
                                         (void *)(uintptr_t)&message_cases[i]};
    return _cmocka_run_group_tests("mpi", tests, n, NULL, NULL);
}
