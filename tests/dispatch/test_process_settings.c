/* SPDX-License-Identifier: Apache-2.0 */
/* What jobs do to the process that runs them: settings of OpenBLAS and OpenMP are the program's
   again afterwards, also if jobs overlap; too little memory for OpenBLAS is an error, not an
   endless wait. */
#include <pthread.h>
#include <semaphore.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"
#include "kernel/blas.h"

/* of libgomp, if oneDNN brought it */
int omp_get_max_threads(void) __attribute__((weak));
void omp_set_num_threads(int n) __attribute__((weak));

static int blas_threads(void)
{
    int n = tsr__blas_threads_set(1);

    tsr__blas_threads_set(n);
    return n;
}

static int omp_threads(void)
{
    return omp_get_max_threads ? omp_get_max_threads() : 0;
}

static tsr_status compute(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *x = tsr_full(mesh, "f32[64,64]@[S(0)]", 1), *y = tsr_full(mesh, "f32[64,64]", 1);

    (void)arg;
    CHECK(tsr_tensor_ok(tsr_matmul(x, y, NULL)));
    CHECK(tsr_tensor_ok(tsr_conv(tsr_full(mesh, "f32[2,8,16,16]@[S(0)]", 1),
                                 tsr_full(mesh, "f32[8,8,3,3]", 1), NULL, NULL)));
    CHECK(blas_threads() == 1);
    return TSR_OK;
}

/* Several threads, if this OpenBLAS can. */
static int set_threads(int n)
{
    tsr__blas_threads_set(n);
    if (omp_set_num_threads)
        omp_set_num_threads(n);
    return blas_threads();
}

static void settings_are_restored(void **state)
{
    const int blas = set_threads(2), omp = omp_threads();
    tsr_error err;
    (void)state;

    pass_on("2", compute, NULL);
    assert_int_equal(blas_threads(), blas);
    assert_int_equal(omp_threads(), omp);
    pass_with((tsr_run_opts)RUN_OPTS(.mesh = "1", .world = TSR_WORLD_THREAD), compute, NULL);
    pass_with((tsr_run_opts)RUN_OPTS(.mesh = "4", .world = TSR_WORLD_SIM), compute, NULL);
    assert_int_equal(blas_threads(), blas);
    assert_int_equal(omp_threads(), omp);
    assert_int_equal(tsr_run(&(tsr_run_opts)RUN_OPTS(.mesh = "none"), compute, NULL, &err),
                     TSR_ERR_PARSE);
    assert_int_equal(blas_threads(), blas);
}

/* Jobs that begin and end in this order: a, b, b, a. */
typedef struct overlap {
    sem_t begun, end;
} overlap;

static tsr_status wait_for_end(tsr_mesh *mesh, void *arg)
{
    overlap *o = arg;

    sem_post(&o->begun);
    sem_wait(&o->end);
    CHECK(blas_threads() == 1);
    return TSR_OK;
}

static void *run_outer(void *arg)
{
    pass_on("1", wait_for_end, arg);
    return NULL;
}

static void overlapping_jobs(void **state)
{
    const int blas = set_threads(2);
    overlap o;
    pthread_t thread;
    (void)state;

    sem_init(&o.begun, 0, 0);
    sem_init(&o.end, 0, 0);
    assert_int_equal(pthread_create(&thread, NULL, run_outer, &o), 0);
    sem_wait(&o.begun);
    pass_on("2", compute, NULL);
    assert_int_equal(blas_threads(), 1); /* the other one runs */
    sem_post(&o.end);
    pthread_join(thread, NULL);
    assert_int_equal(blas_threads(), blas);
}

#if defined(__has_feature)
#define HAS(feature) __has_feature(feature)
#else
#define HAS(feature) 0
#endif
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !HAS(address_sanitizer) &&  \
    !HAS(thread_sanitizer)

static size_t address_space(void)
{
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%zu", &pages), 1);
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* In a child: a limit that leaves room for stacks and tensors, but not for buffers of 8 ranks. */
static int compute_with_little(size_t more)
{
    const struct rlimit limit = {address_space() + more, RLIM_INFINITY};
    tsr_run_opts opts = RUN_OPTS(.mesh = "8", .world = TSR_WORLD_THREAD);
    tsr_error err = {0};
    tsr_status st;

    alarm(60); /* for ever would be longer */
    if (setrlimit(RLIMIT_AS, &limit) != 0)
        return 1;
    st = tsr_run(&opts, compute, NULL, &err);
    if (st != TSR_ERR_MEMORY || !strstr(err.text, "OpenBLAS needs 128 MiB")) {
        fprintf(stderr, "status %d: %s\n", (int)st, err.text);
        return 1;
    }
    opts.world = TSR_WORLD_SIM; /* needs none */
    return tsr_run(&opts, compute, NULL, &err) == TSR_OK ? 0 : 1;
}

static void little_memory(void **state)
{
    (void)state;
    if (!tsr__blas_buffer_bytes())
        return; /* a build without OpenBLAS */
    for (size_t more = 300; more <= 500; more += 100) {
        pid_t child = fork();
        int status;

        assert_true(child >= 0);
        if (child == 0)
            _exit(compute_with_little(more << 20));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

#else

static void little_memory(void **state)
{
    (void)state; /* sanitizers need more address space than any limit leaves */
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(little_memory),
        cmocka_unit_test(settings_are_restored),
        cmocka_unit_test(overlapping_jobs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
