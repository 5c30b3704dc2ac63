/* SPDX-License-Identifier: Apache-2.0 */
/* loss_grad.h - what the gradients of losses and of normalisations share. */
#ifndef TSR_GRAD_LOSS_GRAD_H
#define TSR_GRAD_LOSS_GRAD_H

#include "tessera_ops.h"

/* A number of the type of a tensor, on its mesh. Local. */
tsr_tensor *tsr__grad_scalar(const tsr_tensor *like, double value);
/* a + b, of which one may be NULL, and then both. Collective. */
tsr_tensor *tsr__grad_sum(tsr_tensor *a, tsr_tensor *b);

#endif
