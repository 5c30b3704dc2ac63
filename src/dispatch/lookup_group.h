/* SPDX-License-Identifier: Apache-2.0 */
/* lookup_group.h - the call of an op that a table of a group makes. typed_embedding.c knows the
   order of attributes. */
#ifndef TSR_DISPATCH_LOOKUP_GROUP_H
#define TSR_DISPATCH_LOOKUP_GROUP_H

#include "dispatch/dispatch.h"
#include "tessera_ops.h"

/* Attributes of bags, in the order of the rows. */
typedef struct tsr_bag_attrs {
    tsr_attr value[5];
} tsr_bag_attrs;

typedef struct tsr_use_call {
    const tsr_op *op;
    int n_in;
    tsr_tensor *in[4];
    tsr_bag_attrs attrs;
} tsr_use_call;

tsr_use_call tsr__use_forward(const tsr_table_use *use);
tsr_use_call tsr__use_backward(const tsr_table_use *use, tsr_tensor *grad);

#endif
