/* SPDX-License-Identifier: Apache-2.0 */
/* op_problem.h - one op as a text, for draw, explain, verify and run:
     matmul f32[64,128]@[S(0),R] f32[128,32]@[R,S(1)] - -> [S(0),R] mesh=2x2 dim=1 cost=random:17
   A - is an absent optional input; what is no setting (mesh, cost, ...) is an attribute. Behind a
   shape may stand what verify shall fill it with, as in the cases of ops' rows:
   i64[7]<10 are indices below 10, i64[4]/12 offsets from 0 to at most 12; f32[4]+ positive
   numbers. */
#ifndef CLI_OP_PROBLEM_H
#define CLI_OP_PROBLEM_H

#include "problem.h"

#include <tessera_ext.h>

enum { OP_ATTRS = TSR_OP_ATTRS, OP_TEXT = (TSR_OP_INPUTS + OP_ATTRS + 4) * TSR_TEXT_LEN };

typedef struct op_problem {
    problem set; /* mesh (in set.from), world, cost, limit, seed; no tensor */
    const tsr_op *op;
    int n_in;
    tsr_spec in[TSR_OP_INPUTS];              /* ndim -1: absent */
    char range[TSR_OP_INPUTS];               /* '<': below the limit, '/': offsets, '+': above 0 */
    int64_t limit[TSR_OP_INPUTS];            /* of the range */
    bool bare[TSR_OP_INPUTS];                /* its dtype and shape are left to a file */
    char place[TSR_OP_INPUTS][TSR_TEXT_LEN]; /* its placements, "" if not given */
    const char *attr[OP_ATTRS];              /* "dim=1" */
    char attr_text[OP_ATTRS][TSR_TEXT_LEN];
    int n_attrs;
    char want_text[TSR_TEXT_LEN]; /* placements asked for, "" if none are */
    /* when complete: */
    tsr_schema schema;
    tsr_spec want;            /* the output as asked for */
    tsr_op_strategy strategy; /* what the library will do; a composed op has none */
} op_problem;

/* Whether a text is about an op, not a redistribution. */
bool op_problem_is(const char *text);
/* Read a text; gives an exit status, and if that is not CLI_OK, a sentence was printed. In files,
   dtypes and shapes may be left out: the caller completes the inputs, then the problem. */
int op_problem_read(const char *command, bool files, const char *text, op_problem *out);
int op_problem_set_input(op_problem *p, int k, tsr_dtype dtype, const tsr_shape *shape);
int op_problem_complete(op_problem *p);

bool op_problem_has(const op_problem *p, int k); /* input k is there */
/* The placements asked for, NULL if none are. */
const tsr_placement *op_problem_want(const op_problem *p);
/* The name of input k: "a", or "x0" in a list. */
const char *op_problem_input_name(const op_problem *p, int k, char buf[CLI_TEXT]);
/* The op with these inputs, "matmul f32[4,4]@[S(0)] f32[4,4]@[R] dim=1 -> [R]". */
const char *op_problem_call_text(const op_problem *p, const tsr_spec *in, char *buf, size_t n);
/* The text that gives this problem again. */
const char *op_problem_text(const op_problem *p, char *buf, size_t n);

/* Run the op on these inputs; all its outputs, or the first one in the placements asked for.
   Collective. */
tsr_status op_problem_run(const op_problem *p, tsr_mesh *mesh, tsr_tensor *const *in,
                          tsr_tensor *out[TSR_OP_OUTPUTS]);

/* The first case of an op that has any, on two ranks, every input sharded by its first dim, and a
   line to try it; give an exit status. */
int op_problem_case(const tsr_op *op, op_problem *out);
int op_problem_example(const tsr_op *op, char *buf, size_t n);

/* Says that there is no such op, and which one may be meant; gives the exit status. */
int op_unknown(const char *command, const char *name);

int cli_draw_op(const cli_args *args);
int cli_explain_op(const cli_args *args);
/* tessera ops --markdown; gives the exit status. */
int ops_markdown(bool as_json);
/* How partial inputs pass (NULL: as the rules of a call say), and whether a gradient flows, in
   words. */
const char *ops_partials(const tsr_op *op, char buf[TSR_TEXT_LEN]);
const char *ops_gradient(const tsr_op *op);
/* Of an op that is composed of others; gives the exit status. */
int explain_composed(const op_problem *p, bool rules_only, bool as_json);
int cli_verify_op(const cli_args *args);
int cli_run_op(const cli_args *args);

#endif
