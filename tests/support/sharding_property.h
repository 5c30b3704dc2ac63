/* SPDX-License-Identifier: Apache-2.0 */
/* sharding_property.h - the sharding property, that an op on sharded inputs equals the op on whole
   ones: one call of a row's case with placed inputs, what every
   rank holds of them, and what the op gives for whole inputs, computed in f64. By naive.h and the
   rows' reference kernels, not by the layouts and plans under test. */
#ifndef TSR_TESTS_SHARDING_PROPERTY_H
#define TSR_TESTS_SHARDING_PROPERTY_H

#include "op/op_case.h"

enum { PROPERTY_ELEMENTS = 512 }; /* of a tensor, at most */

typedef struct property_call {
    const char *text;  /* the case */
    tsr_schema schema; /* with the inputs' placements and the dtypes of the run */
    uint64_t seed;     /* of the values */
    char cost[TSR_NAME_LEN];
} property_call;

/* Read a case and choose dtypes, placements and costs by `sample`. False: it cannot be read. */
bool property_choose(const tsr_op *op, const char *text, const tsr_mesh_shape *mesh,
                     uint64_t sample, property_call *out);
/* A placement by random bits: any kind that the dtype has. */
tsr_placement property_placement(uint64_t h, const tsr_spec *spec);

/* The part of input k of the rank at mesh index `index`, as terms where it is partial. */
void property_part(const property_call *c, int k, int index, double *out, tsr_shape *shape);

/* An output as it should be, and by how much an element may differ: 0 where the op maps integers to
   integers and none on the way is too large for the dtype. */
typedef struct property_output {
    int64_t n; /* elements, -1: switched off */
    double value[PROPERTY_ELEMENTS];
    double tolerance;
} property_output;

/* Sets the schema's outputs too, for rows that have no shape function. */
tsr_status property_expect(property_call *c, property_output out[TSR_MAX_OUT], tsr_error *err);

#endif
