/* SPDX-License-Identifier: Apache-2.0 */
/* op_case.h - the cases of a row, "f64[4,6] f64[6,2] - dim=1": as schemas, and as lines that the
   tool can run. Pure. */
#ifndef TSR_OP_OP_CASE_H
#define TSR_OP_OP_CASE_H

#include "op/op.h"

/* The call with all inputs replicated on the mesh. */
tsr_status tsr__case_read(const tsr_op *op, const char *text, const tsr_mesh_shape *mesh,
                          tsr_schema *out, tsr_error *err);
/* A mesh of one dim. */
tsr_mesh_shape tsr__case_mesh(int ranks);
/* Do two calls differ in sizes only? */
bool tsr__case_alike(const tsr_schema *a, const tsr_schema *b);
/* tessera verify "matmul f64[4,6]@[S(0)] f64[6,2]@[R] mesh=2 world=thread cost=torch", with the
   inputs' placements as in the schema. Under the costs of torch inputs stay where they are if a
   rule has them there, even if the output is partial then: that rule is what runs. */
const char *tsr__case_line(const tsr_schema *schema, const char *text, const char *cost, char *buf,
                           size_t n);

#endif
