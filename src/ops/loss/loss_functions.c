/* SPDX-License-Identifier: Apache-2.0 */
/* loss_functions.c - printed by make ops from the rows: functions of
   tessera_ops.h that hand their arguments to dispatch. */
#include "dispatch/typed_attr.h"
#include "op/element_attr.h"
#include "ops/op_ids.h"
#include "tessera_ops.h"

tsr_tensor *tsr_mse_loss(tsr_tensor *x, tsr_tensor *target, tsr_loss_reduction reduction)
{
    const tsr_attr attrs[] = {typed_int(reduction)};

    return tsr__dispatch_typed(TSR_ID_MSE_LOSS, (tsr_tensor *[]){x, target}, 2, attrs, NULL);
}

tsr_tensor *tsr_mse_loss_backward(tsr_tensor *grad, tsr_tensor *x, tsr_tensor *target,
                                  tsr_loss_reduction reduction)
{
    const tsr_attr attrs[] = {typed_int(reduction)};

    return tsr__dispatch_typed(TSR_ID_MSE_LOSS_BACKWARD, (tsr_tensor *[]){grad, x, target}, 3,
                               attrs, NULL);
}

tsr_tensor *tsr_l1_loss(tsr_tensor *x, tsr_tensor *target, tsr_loss_reduction reduction)
{
    const tsr_attr attrs[] = {typed_int(reduction)};

    return tsr__dispatch_typed(TSR_ID_L1_LOSS, (tsr_tensor *[]){x, target}, 2, attrs, NULL);
}

tsr_tensor *tsr_l1_loss_backward(tsr_tensor *grad, tsr_tensor *x, tsr_tensor *target,
                                 tsr_loss_reduction reduction)
{
    const tsr_attr attrs[] = {typed_int(reduction)};

    return tsr__dispatch_typed(TSR_ID_L1_LOSS_BACKWARD, (tsr_tensor *[]){grad, x, target}, 3, attrs,
                               NULL);
}

tsr_tensor *tsr_bce_with_logits(tsr_tensor *x, tsr_tensor *target, tsr_tensor *weight,
                                tsr_tensor *pos_weight, tsr_loss_reduction reduction)
{
    const tsr_attr attrs[] = {typed_int(reduction)};

    return tsr__dispatch_typed(TSR_ID_BCE_WITH_LOGITS,
                               (tsr_tensor *[]){x, target, weight, pos_weight}, 4, attrs, NULL);
}
