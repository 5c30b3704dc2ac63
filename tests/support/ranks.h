/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.h - jobs on ranks through the public API: checks in a job, and runs that must succeed. What
   must fail is run by tsr_run itself; what needs faults or every rank's error by harness.h. */
#ifndef TSR_TESTS_RANKS_H
#define TSR_TESTS_RANKS_H

#include <stdio.h>

#include <tessera.h>

/* In a job that has its mesh as `mesh`: cmocka's own assertions work in the main thread only, so
   that a rank says what is wrong and its status fails the test. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: rank %d: %s (%s)\n", __FILE__, __LINE__, tsr_mesh_rank(mesh),  \
                    #condition, tsr_mesh_message(mesh));                                           \
            return TSR_ERR_MISMATCH;                                                               \
        }                                                                                          \
    } while (0)

/* Run the job on all ranks of a mesh of threads; the test fails if it fails on any. */
void pass_on(const char *mesh, tsr_job job, void *arg);
/* The same with other options; waits take 20 s at the most unless they say otherwise. */
void pass_with(tsr_run_opts opts, tsr_job job, void *arg);
/* Is the op to be tested? Those named in TESSERA_TEST_OPS="add,mul", all if that is not set. */
bool op_is_asked(const char *name);
/* For main: the job on the ranks that mpirun started, as this mesh (NULL: in one dim); returns the
   exit status. */
int run_under_mpi(const char *mesh, tsr_job job, void *arg);

#endif
