/* SPDX-License-Identifier: Apache-2.0 */
/* grad.h - for functions that write an op's gradient in ops. */
#ifndef TSR_GRAD_GRAD_H
#define TSR_GRAD_GRAD_H

#include "tessera_ext.h"

/* g, summed over the dims along which `like` was broadcast to g's shape: the gradient of `like`.
   Collective. */
tsr_tensor *tsr__grad_fit(tsr_tensor *g, const tsr_tensor *like);
/* x in the dtype of `like`. Collective. */
tsr_tensor *tsr__grad_as(tsr_tensor *x, const tsr_tensor *like);

/* A number of the type of a tensor, on its mesh. Local. */
tsr_tensor *tsr__grad_scalar(const tsr_tensor *like, double value);
/* a + b, of which one may be NULL, and then both. Collective. */
tsr_tensor *tsr__grad_added(tsr_tensor *a, tsr_tensor *b);

#endif
