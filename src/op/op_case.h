/* SPDX-License-Identifier: Apache-2.0 */
/* op_case.h - the cases of a row, "f64[4,6] f64[6,2] - dim=1" or "f64[10,4] i64[7]<10 i64[4]/7": as
   schemas, what values their inputs take, and as lines that the tool can run. Pure. */
#ifndef TSR_OP_OP_CASE_H
#define TSR_OP_OP_CASE_H

#include "op/op.h"

/* What an input holds: anything, indices "i64[7]<10" of 0 to 9, offsets "i64[4]/12", from 0 on,
   never falling, at most 12, or positive numbers "f64[6]+". */
typedef enum tsr_range_kind {
    TSR_RANGE_NONE,
    TSR_RANGE_BELOW,
    TSR_RANGE_OFFSETS,
    TSR_RANGE_POSITIVE
} tsr_range_kind;
typedef struct tsr_range {
    tsr_range_kind kind;
    int64_t limit;
} tsr_range;

/* Are its values of one kind only, given by tsr__range_value? */
static inline bool tsr__range_is_integer(const tsr_range *range)
{
    return range->kind == TSR_RANGE_BELOW || range->kind == TSR_RANGE_OFFSETS;
}

/* The range of input k of a case that can be read. */
tsr_range tsr__case_range(const char *text, int k);

/* The call with all inputs replicated on the mesh. */
tsr_status tsr__case_read(const tsr_op *op, const char *text, const tsr_mesh_shape *mesh,
                          tsr_schema *out, tsr_error *err);
/* The same call in another dtype in place of f64; false if it has no f64, or the op refuses. */
bool tsr__case_in_dtype(const tsr_schema *schema, tsr_dtype dtype, tsr_schema *out);
/* A mesh of one dim. */
tsr_mesh_shape tsr__case_mesh(int ranks);
/* Do two calls differ in sizes only? */
bool tsr__case_alike(const tsr_schema *a, const tsr_schema *b);
/* The case with the dtypes of the schema. */
const char *tsr__case_text(const tsr_schema *schema, const char *text, char *buf, size_t n);
/* tessera verify "matmul f64[4,6]@[S(0)] f64[6,2]@[R] mesh=2 world=thread cost=torch", with the
   inputs' placements as in the schema. Under the costs of torch inputs stay where they are if a
   rule has them there, even if the output is partial then: that rule is what runs. */
const char *tsr__case_line(const tsr_schema *schema, const char *text, const char *cost, char *buf,
                           size_t n);

#endif
