/* SPDX-License-Identifier: Apache-2.0 */
/* problem.h - one redistribution (or one tensor, for draw) as a text:
     [redistribute] f32[5,3]@[S(0),S(0)] -> [R,R] mesh=2x2 cost=random:17 world=thread
   Read by problem.c only. */
#ifndef CLI_PROBLEM_H
#define CLI_PROBLEM_H

#include "cli.h"

/* What a command wants to see in the text. */
typedef enum problem_form {
    PROBLEM_TENSOR, /* a tensor and its mesh */
    PROBLEM_MOVE,   /* a tensor, -> and placements */
    PROBLEM_FILE,   /* the same, but dtype and shape may be left out */
    PROBLEM_MESH    /* options only; mesh may be left out */
} problem_form;

typedef struct problem {
    tsr_spec from, to;                                   /* complete if has_tensor */
    bool has_tensor;                                     /* dtype and shape were given */
    bool has_mesh;                                       /* mesh= was given */
    bool other_mesh;                                     /* to= was given */
    char from_text[TSR_TEXT_LEN], to_text[TSR_TEXT_LEN]; /* placements, "" if not given */
    tsr_world_kind world;
    char cost_text[TSR_TEXT_LEN]; /* what cost= or TESSERA_COST says, or "default" */
    tsr_cost cost;
    int64_t limit; /* bytes, 0: none */
    uint64_t seed;
} problem;

/* Read a text; false: a sentence was printed. */
bool problem_read(const char *command, problem_form form, const char *text, problem *out);
/* Give a problem without a tensor its dtype and shape. */
bool problem_complete(problem *p, tsr_dtype dtype, const tsr_shape *shape);
/* Ranks that the problem needs: 0 to this minus 1. */
int problem_ranks(const problem *p);
/* The text that gives this problem again. */
const char *problem_text(const problem *p, char *buf, size_t n);
/* Its settings only, " mesh=2x2 cost=default". */
void problem_settings_text(const problem *p, char *buf, size_t n);
/* The mesh text of tsr_run. */
const char *problem_world_mesh(const problem *p, char buf[TSR_TEXT_LEN]);
/* What a rank does, with its handles of both meshes; of an op's problem they are the same. */
typedef tsr_status problem_job(tsr_mesh *world, tsr_mesh *from, tsr_mesh *to, void *arg);
/* Run it on the ranks of the problem, in its world and within its limit. */
tsr_status problem_run(const problem *p, tsr_world_kind world, problem_job *job, void *arg,
                       tsr_error *err);
/* The line "mesh 2x2, 4 ranks; cost default". */
void problem_print_settings(const problem *p);
/* What tsr_redistribute will choose within the limit; gives an exit status. */
int problem_plan(const problem *p, tsr_redist **out);

#endif
