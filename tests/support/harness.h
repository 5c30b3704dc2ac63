/* SPDX-License-Identifier: Apache-2.0 */
/* harness.h - runs a job on thread ranks below the level of tsr_run: with small timeouts, faults,
   and the error of every rank. Checks that nothing leaks. */
#ifndef TSR_TESTS_HARNESS_H
#define TSR_TESTS_HARNESS_H

#include "ranks.h"
#include "world/mesh_handle.h"

enum { HARNESS_RANKS = 16 };

typedef struct harness {
    const char *mesh; /* "2x2"; the world has its ranks and no others */
    int timeout_ms;   /* 0: 20 s */
    int64_t fail_call_at, fail_alloc_at;
    int fail_rank; /* of both */

    /* what came of it, per rank */
    tsr_status status[HARNESS_RANKS];
    tsr_error error[HARNESS_RANKS];
    int64_t calls[HARNESS_RANKS];
    int64_t allocs[HARNESS_RANKS];
    double seconds; /* from before the first rank's start to after the last one's end */
} harness;

/* Run the job on all ranks; the results are in h. Fails the test if a rank leaks. */
void harness_run(harness *h, tsr_job job, void *arg);
/* The same, for jobs that must succeed on every rank. */
void harness_pass(const char *mesh, tsr_job job, void *arg);

#endif
