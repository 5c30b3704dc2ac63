/* SPDX-License-Identifier: Apache-2.0 */
/* gradients.h - the gradient functions that rows name; they stand in src/grad/, by family. */
#ifndef TSR_OP_GRADIENTS_H
#define TSR_OP_GRADIENTS_H

#include "tessera_ext.h"

/* pointwise_grad.c */
tsr_status tsr__grad_add(const tsr_grad_call *call);
tsr_status tsr__grad_mul(const tsr_grad_call *call);
tsr_status tsr__grad_neg(const tsr_grad_call *call);

/* softmax_grad.c */
tsr_status tsr__grad_softmax(const tsr_grad_call *call);
tsr_status tsr__grad_log_softmax(const tsr_grad_call *call);
tsr_status tsr__grad_layer_norm(const tsr_grad_call *call);
tsr_status tsr__grad_rms_norm(const tsr_grad_call *call);

/* loss_grad.c */
tsr_status tsr__grad_cross_entropy(const tsr_grad_call *call);
tsr_status tsr__grad_nll_loss(const tsr_grad_call *call);
tsr_status tsr__grad_mse_loss(const tsr_grad_call *call);
tsr_status tsr__grad_l1_loss(const tsr_grad_call *call);
tsr_status tsr__grad_bce_with_logits(const tsr_grad_call *call);

#endif
