/* SPDX-License-Identifier: Apache-2.0 */
/* dispatch.h - running one op on distributed tensors. */
#ifndef TSR_DISPATCH_DISPATCH_H
#define TSR_DISPATCH_DISPATCH_H

#include "propagate/propagate.h"
#include "tensor/tensor.h"

/* A call as the typed functions make it: absent optional inputs are NULL. */
typedef struct tsr_op_call {
    const tsr_op *op;
    tsr_tensor *in[TSR_MAX_IN];
    int n_in;
    tsr_attrs attrs;
} tsr_op_call;

/* Begin a call of the op with that name, all attributes at their defaults. */
tsr_op_call tsr__op_call(const char *name);

/* Run it. On failure the error tensor. Collective over the mesh of the inputs. */
tsr_tensor *tsr__dispatch(const tsr_op_call *call);

void tsr__dispatch_cache_free(tsr_ctx *ctx);

#endif
