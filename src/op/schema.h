/* SPDX-License-Identifier: Apache-2.0 */
/* schema.h - inputs of an op by the row's text, and of a call. Pure. */
#ifndef TSR_OP_SCHEMA_H
#define TSR_OP_SCHEMA_H

#include "op/op.h"

int tsr__op_inputs(const tsr_op *op); /* as declared; a list counts as one */
bool tsr__op_takes_list(const tsr_op *op);
int tsr__op_input(const tsr_op *op, const char *name, size_t n); /* by name, -1 if none */

/* An optional input that was not given has ndim -1. */
static inline bool tsr__schema_has(const tsr_schema *s, int k)
{
    return k < s->n_in && s->in[k].shape.ndim >= 0;
}

bool tsr__attrs_equal(const tsr_attrs *a, const tsr_attrs *b);
/* "f32[64,128]@[S(0)] f32[64,32]@[R]", for messages. */
const char *tsr__schema_inputs_text(const tsr_schema *s, char *buf, size_t n);

#endif
