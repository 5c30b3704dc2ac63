/* SPDX-License-Identifier: Apache-2.0 */
/* run_task.h - what running a redistribution (cmd_run.c) and running an op (cmd_run_op.c) share: a
   job that loads or fills the inputs, runs, then saves or shows the results. */
#ifndef CLI_RUN_TASK_H
#define CLI_RUN_TASK_H

#include "op_problem.h"

typedef char run_file[4096];

/* What the first rank of the results' mesh knows, which need not be the one that prints. */
typedef struct run_answer {
    tsr_counters counters;
    tsr_spec spec[TSR_OP_OUTPUTS]; /* of the outputs that are there */
    int n_out;
} run_answer;

typedef struct run_task run_task;

/* A redistribution, or an op. */
typedef struct run_kind {
    /* Collective, on every rank of the world. Outputs that are not there stay NULL, as all do on
       ranks outside of their mesh. */
    tsr_status (*load)(const run_task *t, tsr_mesh *mesh, tsr_tensor **in);
    tsr_status (*call)(const run_task *t, tsr_mesh *mesh, tsr_mesh *to, tsr_tensor *const *in,
                       tsr_tensor **out);
    /* The text of the problem, what moves in lines of print, and more fields of the result. */
    const char *(*text)(const run_task *t, char *buf, size_t n);
    void (*print_moves)(const run_task *t);
    void (*add_json)(const run_task *t, json_t *result);
} run_kind;

struct run_task {
    const cli_args *args;
    const problem *set;   /* world, meshes, limit and seed */
    const char *name;     /* of what is run */
    const char *in, *out; /* lists of files, as given; NULL: filled by seed=, shown */
    const run_kind *kind;
    const void *what;                  /* the kind's */
    double predicted;                  /* seconds for moving data, below 0 if there is no plan */
    run_file out_file[TSR_OP_OUTPUTS]; /* of the first outputs that are there */
    int n_files;
    /* what the first rank of the world keeps: */
    run_answer answer;
    double load_time, run_time, save_time; /* seconds */
    int status;                            /* of printing */
};

/* A task with the options of the command line; gives an exit status. */
int run_task_open(const cli_args *args, run_task *t);
/* Run it, here or under mpirun, and print what became of it; gives the exit status. */
int run_task_go(run_task *t);

/* The tensor of a file, without placements. If `said` is not NULL, dtype and shape must be its.
   Gives an exit status. */
int run_file_spec(const char *file, const tsr_spec *said, tsr_spec *out);

#endif
