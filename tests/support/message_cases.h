/* SPDX-License-Identifier: Apache-2.0 */
/* message_cases.h - what every message world must do, as cases that run on all ranks at once: over
   a mock in test_message.c, over MPI in test_mpi.c. */
#ifndef TESTS_MESSAGE_CASES_H
#define TESTS_MESSAGE_CASES_H

#include "world/message.h"

enum { CASE_RANKS = 8 }; /* at most */

/* One rank of a case. The harness joins the world before and closes it after the case, unless the
   case did (world is NULL then). */
typedef struct rank_state {
    tsr_ctx ctx;
    tsr_world *world;
    int rank, size;
    tsr_group *all; /* group of all ranks */
    int64_t arg;    /* of the case */
    char why[600];  /* the first thing that was wrong; "" is good */
} rank_state;

typedef void case_run(rank_state *r);

typedef struct message_case {
    const char *name;
    case_run *run;
    int64_t n_args; /* it runs with arg 0 .. n_args - 1 */
    int timeout_ms; /* of the world */
    int min_ranks;
} message_case;

extern const message_case message_cases[];
extern const int n_message_cases;

/* Of the args of a case in a world of `size` ranks this is the first that runs, and *step leads to
   the next ones. */
int64_t case_sample(const message_case *c, int size, int64_t *step);

/* Note what was wrong, with a line number. */
void case_wrong(rank_state *r, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define CASE_CHECK(r, condition, ...)                                                              \
    do {                                                                                           \
        if (!(condition))                                                                          \
            case_wrong(r, __LINE__, __VA_ARGS__);                                                  \
    } while (0)

/* The harness's part that is alike everywhere: open the group, run, tidy up, look for leaks. */
void case_run_joined(rank_state *r, const message_case *c);

/* A call of all ranks in which each sends `bytes` to each other one. Buffers are allocated, and
   freed as soon as the call has ended, so that nobody may touch them later. */
tsr_status case_shuffle(rank_state *r, int64_t bytes, const char *what);

#endif
