/* SPDX-License-Identifier: Apache-2.0 */
/* tessera_train.h - training: gradients of whole programs, optimizers, data, and where the parts of
   a model live. Beside tessera.h and tessera_ops.h, whose words it uses. */
#ifndef TESSERA_TRAIN_H
#define TESSERA_TRAIN_H

#include <tessera_ops.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- gradients ------------------------------------------------------------------------------- */

/* A watched tensor is one whose gradient is wanted: a weight. While a tape is on, calls whose inputs
   depend on watched tensors are written down; tsr_backward goes through them from the last to the
   first, by ops that are propagated and sharded like any other, and adds to the gradients of the
   watched tensors. A gradient is a tensor of the same shape and dtype as its tensor and of any
   placements: one that is P(sum) has not been reduced, and nothing needs to be reduced by hand.

       tsr_tape_begin(mesh);
       loss = model(batch);
       tsr_backward(loss);
       ... tsr_grad(weight) ...
*/

/* Watch x from now on; no-op if it is. Floating point only. Returns x. Local. */
TSR_API tsr_tensor *tsr_watch(tsr_tensor *x);
/* The same for a table whose gradient is wanted as the rows that lookups touched, wherever they can
   say so (tsr_embedding, tsr_bag_sum, tsr_bag_mean, alone or in groups); what comes in other ways
   is dense. Returns x. Local. */
TSR_API tsr_tensor *tsr_watch_rows(tsr_tensor *table);
TSR_API bool tsr_is_watched(const tsr_tensor *x); /* Local. */

/* Begin a tape, and a scope with it. There is one at a time. Local. */
TSR_API tsr_status tsr_tape_begin(tsr_mesh *mesh);
/* The gradient of loss, one number, with respect to all watched tensors that it depends on, added
   to the gradients that they have; with n tensors and their gradients (NULL: ones), of their sum.
   This ends the tape and its scope: tensors made since its begin are gone but for the given ones,
   which are the outer scope's, and kept ones; each goes as soon as no gradient needs it. An error
   if a tensor that a gradient needs was overwritten meanwhile. Collective. */
TSR_API tsr_status tsr_backward(tsr_tensor *loss);
TSR_API tsr_status tsr_backward_from(tsr_tensor *const *x, tsr_tensor *const *grads, int n);
/* End the tape and its scope without going back; no-op if there is none. Local. */
TSR_API void tsr_tape_drop(tsr_mesh *mesh);

/* Between these two nothing is recorded; they nest. Local. */
TSR_API void tsr_tape_pause(tsr_mesh *mesh);
TSR_API void tsr_tape_resume(tsr_mesh *mesh);
/* x as a tensor of its own, through which no gradient flows. Local. */
TSR_API tsr_tensor *tsr_detach(tsr_tensor *x);

/* The gradient of a watched tensor so far, borrowed: NULL if there is none. Local. */
TSR_API tsr_tensor *tsr_grad(const tsr_tensor *x);
/* What came as touched rows, one for every lookup, borrowed; *n is how many. Local. */
TSR_API const tsr_touched *tsr_grad_rows(const tsr_tensor *table, int *n);
TSR_API void tsr_grad_clear(tsr_tensor *x); /* Local. */
/* Make g the gradient of x. Local. */
TSR_API tsr_status tsr_grad_set(tsr_tensor *x, tsr_tensor *g);

/* function(in), of which the tape keeps the inputs alone: on the way back it is run again. It may
   use its inputs, watched tensors and what no gradient flows through, gives one tensor, and does
   the same when it is run again; arg stays until then. Collective. */
typedef tsr_tensor *(*tsr_function)(tsr_tensor *const *in, int n_in, void *arg);
TSR_API tsr_tensor *tsr_recompute(tsr_function function, tsr_tensor *const *in, int n_in,
                                  void *arg);

/* ---- optimizers ------------------------------------------------------------------------------ */

/* ---- data ------------------------------------------------------------------------------------ */

/* ---- models: parameters and their placements ------------------------------------------------- */

#ifdef __cplusplus
}
#endif

#endif
