/* SPDX-License-Identifier: Apache-2.0 */
/* expr_run.h - running what is given as an expression of ops. */
#ifndef TSR_DISPATCH_EXPR_RUN_H
#define TSR_DISPATCH_EXPR_RUN_H

#include "dispatch/dispatch.h"
#include "op/expr.h"

typedef struct tsr_expr_call {
    const tsr_op *op; /* whose expression it is */
    tsr_expr *expr;   /* of its entry in the context's table */
    const tsr_attrs *attrs;
    int n_in;
    tsr_tensor *const *in;
    /* of gradients: the outputs, their gradients, and which inputs' gradients are wanted */
    int n_out;
    tsr_tensor *const *out, *const *grad_out;
    const bool *wanted; /* NULL: everything is */
} tsr_expr_call;

/* Run the steps that wanted results need; result[k] gets expr->out[k], NULL where it is not wanted
   or depends on the gradient of an output that has none. What it makes stays in the scope, but for
   what no later step uses. Collective over the mesh of the inputs. */
tsr_status tsr__expr_run(tsr_ctx *ctx, const tsr_expr_call *call, tsr_tensor **result);

#endif
