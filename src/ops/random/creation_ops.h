/* SPDX-License-Identifier: Apache-2.0 */
/* creation_ops.h - what rows share that fill a tensor by the places of its elements. Pure. */
#ifndef TSR_OP_CREATION_OPS_H
#define TSR_OP_CREATION_OPS_H

#include "op/op.h"

/* Slots that they share. */
#define TSR_FILLS                                                                                  \
    .inputs = "x", .rule = tsr__filled_rule, .positions = true, .grad = tsr_grad_none,             \
    .inplace = true

/* Every part is filled by itself. What was there before does not matter, so the terms of a partial
   tensor, which cost nothing, give it replicated. */
tsr_status tsr__filled_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err);

#endif
