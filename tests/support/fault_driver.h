/* SPDX-License-Identifier: Apache-2.0 */
/* fault_driver.h - a program in which each allocation, or each collective call, fails once on some
   rank: all ranks must end, in time, each with a sentence, and nothing may stay behind. Tests give
   the programs. What needs every rank's error is run by harness.h. */
#ifndef TSR_TESTS_FAULT_DRIVER_H
#define TSR_TESTS_FAULT_DRIVER_H

#include <tessera.h>

typedef struct fault_job {
    const char *name;
    const char *mesh; /* of at most 4 ranks */
    int ranks[2];     /* that fail, one after the other; equal: only that one */
    /* The program, one of the two, in a scope of its own: a call that gives a tensor, of inputs
       that are placed so; or anything else, whose status counts. */
    tsr_tensor *(*call)(tsr_mesh *mesh, const char *where);
    const char *where;
    tsr_status (*run)(tsr_mesh *mesh, const void *arg);
    const void *arg;
    int64_t least;      /* so many allocations or calls there are */
    int64_t most_bytes; /* into rank 0 without a fault, if not 0; some must come then */
    bool all;           /* no allocation is left out of samples: there are few */
} fault_job;

typedef enum fault_kind {
    FAULT_ALLOCATION,       /* in the first run, which plans and fills caches */
    FAULT_ALLOCATION_AGAIN, /* in the third run, which must leave the memory as it was */
    FAULT_CALL,             /* likewise */
    FAULT_FIRST_CALL,       /* in the first run */
} fault_kind;

/* The first, the second, and so on, until the program has no more; allocations on a sample. Fails
   the running test. */
void fault_each(const fault_job *job, fault_kind kind);
/* So many of them, evenly from the first to the last; all ranks of the mesh take turns. */
void fault_some(const fault_job *job, fault_kind kind, int64_t runs);

/* An input of a call: counts up from 0. */
tsr_tensor *fault_input(tsr_mesh *mesh, const char *what, const char *where, double step);

#endif
