/* SPDX-License-Identifier: Apache-2.0 */
/* op_check.h - what verify needs for ops: whole inputs and the result on one rank (op_reference.c),
   and placements of the inputs to try (op_placings.c). */
#ifndef CLI_OP_CHECK_H
#define CLI_OP_CHECK_H

#include "op_problem.h"

/* One output on one rank. */
typedef struct op_result {
    tsr_dtype dtype;
    tsr_shape shape;
    int64_t n;
    double *expected; /* NULL: there is no such output */
    double *scale;    /* the same with absolute values: a bound of the sum of absolute values */
    double *change;   /* squares of what relative changes of the inputs change; NULL: not known */
    bool whole;       /* the op maps integers to integers */
    int digits;       /* bits that it was computed with; 0: it is no float */
} op_result;

/* Inputs of small integers, and what the op makes of them on one rank. */
typedef struct op_reference {
    double *in[TSR_OP_INPUTS]; /* NULL: absent */
    op_result out[TSR_OP_OUTPUTS];
    int n_out; /* that are there */
} op_reference;

/* Runs one rank as a thread; gives an exit status. partials: any input may be placed so. */
int op_reference_make(const op_problem *p, bool partials, op_reference *out);
void op_reference_free(op_reference *ref);
/* By how much element i may differ; 0 where all sums on the way are exact. */
double op_result_tolerance(const op_result *result, int64_t i, int ranks);

/* Which placements to try. */
enum { OP_PLACINGS = 2000 };
typedef enum op_placing_kinds {
    OP_PLACE_AS_GIVEN, /* the problem's own, alone */
    OP_PLACE_PLAIN,    /* all combinations of R, P(sum) and S(d) */
    OP_PLACE_STRIDED,  /* and SS(d,2) */
} op_placing_kinds;

typedef struct op_placings {
    const op_problem *p;
    op_placing_kinds kinds;
    bool all;     /* more than the problem's own */
    double total; /* number of placings that there are */
    int n;        /* number of them to try: all of them, or OP_PLACINGS at random */
} op_placings;

op_placings op_placings_of(const op_problem *p, op_placing_kinds kinds);
/* The specs of placing i; false: a placement has no meaning for the dtype. */
bool op_placing(const op_placings *placings, int i, tsr_spec in[TSR_OP_INPUTS]);

#endif
