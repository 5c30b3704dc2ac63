/* SPDX-License-Identifier: Apache-2.0 */
/* backward.h - going through a tape backwards. */
#ifndef TSR_GRAD_BACKWARD_H
#define TSR_GRAD_BACKWARD_H

#include "tape/tape.h"

/* The innermost tape, from the gradients that its nodes have; what is done with goes at once.
   Collective. */
tsr_status tsr__backward(tsr_ctx *ctx);
/* A gradient of x, NULL: ones, to where it goes. Collective. */
tsr_status tsr__backward_seed(tsr_ctx *ctx, tsr_tensor *x, tsr_tensor *g);
/* Add a gradient to what it is one of: a watched tensor, or an output of a node. Collective. */
tsr_status tsr__grad_give(tsr_ctx *ctx, const tsr_source *to, tsr_tensor *g);

/* What is run again for its gradients, and those of its outputs; NULL: none. */
typedef struct tsr_again {
    tsr_status (*run)(tsr_ctx *ctx, const void *arg, tsr_tensor *const *in, int n_in,
                      tsr_tensor **out);
    const void *arg;
    int n_in, n_out; /* at most TSR_OP_OUTPUTS */
    tsr_tensor *const *grad_out;
} tsr_again;

/* recompute.c: the inputs x as tensors of their own, watched where the gradient has somewhere to
   go; source may be NULL: none is. */
tsr_status tsr__again_inputs(tsr_tensor *const *x, const tsr_source *source, int n,
                             tsr_tensor **in);
/* Forward and back on an inner tape; gradients stay with the watched inputs. Collective. */
tsr_status tsr__again(tsr_ctx *ctx, const tsr_again *what, tsr_tensor *const *in);

/* recompute.c: a function that is run again. */
tsr_status tsr__back_function(tsr_ctx *ctx, tsr_taped *node);

#endif
