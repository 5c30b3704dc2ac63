/* SPDX-License-Identifier: Apache-2.0 */
/* gradients.h - the gradient functions that rows name; they stand in src/grad/, by family. */
#ifndef TSR_OP_GRADIENTS_H
#define TSR_OP_GRADIENTS_H

#include "tessera_ext.h"

/* pointwise_grad.c */
tsr_status tsr__grad_add(const tsr_grad_call *call);
tsr_status tsr__grad_mul(const tsr_grad_call *call);
tsr_status tsr__grad_neg(const tsr_grad_call *call);

#endif
