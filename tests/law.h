/* SPDX-License-Identifier: Apache-2.0 */
/* law.h - what the law of ops is about: one call of a row's case with placed inputs, what every
   rank holds of them, and what the op gives for whole inputs, computed in f64. By naive.h and the
   rows' reference kernels, not by the layouts and plans under test. */
#ifndef TSR_TESTS_LAW_H
#define TSR_TESTS_LAW_H

#include "op/op_case.h"

enum { LAW_ELEMENTS = 512 }; /* of a tensor, at most */

typedef struct law_call {
    const char *text;  /* the case */
    tsr_schema schema; /* with the inputs' placements and the dtypes of the run */
    uint64_t seed;     /* of the values */
    char cost[TSR_NAME_LEN];
} law_call;

/* Read a case and choose dtypes, placements and costs by `sample`. False: it cannot be read. */
bool law_choose(const tsr_op *op, const char *text, const tsr_mesh_shape *mesh, uint64_t sample,
                law_call *out);
/* A placement by random bits: any kind that the dtype has. */
tsr_placement law_placement(uint64_t h, const tsr_spec *spec);

/* The part of input k of the rank at mesh index `index`, as terms where it is partial. */
void law_part(const law_call *c, int k, int index, double *out, tsr_shape *shape);

/* An output as it should be, and by how much an element may differ: 0 where the op makes whole
   numbers of whole numbers and none on the way is too large for the dtype. */
typedef struct law_output {
    int64_t n; /* elements, -1: switched off */
    double value[LAW_ELEMENTS];
    double tolerance;
} law_output;

/* Sets the schema's outputs too, for rows that have no shape function. */
tsr_status law_expect(law_call *c, law_output out[TSR_MAX_OUT], tsr_error *err);

#endif
