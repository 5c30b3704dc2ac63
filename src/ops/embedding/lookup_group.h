/* SPDX-License-Identifier: Apache-2.0 */
/* lookup_group.h - the call of an op that a table of a group makes (typed_embedding.c). */
#ifndef TSR_OPS_LOOKUP_GROUP_H
#define TSR_OPS_LOOKUP_GROUP_H

#include "dispatch/dispatch.h"
#include "ops/embedding/lookups.h"

typedef struct tsr_use_call {
    const tsr_op *op;
    int n_in;
    tsr_tensor *in[4];
    tsr_attr attrs[TSR__LOOKUP_ATTRS];
} tsr_use_call;

tsr_use_call tsr__use_forward(const tsr_table_use *use);
tsr_use_call tsr__use_backward(const tsr_table_use *use, tsr_tensor *grad);

#endif
