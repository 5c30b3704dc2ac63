/* SPDX-License-Identifier: Apache-2.0 */
/* loss_functions.c - printed by make ops from the rows: functions of
   tessera_ops.h that hand their arguments to dispatch. */
#include "dispatch/typed_attr.h"
#include "op/element_attr.h"
#include "tessera_ops.h"

tsr_tensor *tsr_mse_loss(tsr_tensor *x, tsr_tensor *target, tsr_loss_reduction reduction)
{
    const tsr_attr attrs[] = {typed_int(reduction)};

    return tsr__dispatch_typed("mse_loss", (tsr_tensor *[]){x, target}, 2, attrs, NULL);
}

tsr_tensor *tsr_mse_loss_backward(tsr_tensor *grad, tsr_tensor *x, tsr_tensor *target,
                                  tsr_loss_reduction reduction)
{
    const tsr_attr attrs[] = {typed_int(reduction)};

    return tsr__dispatch_typed("mse_loss_backward", (tsr_tensor *[]){grad, x, target}, 3, attrs,
                               NULL);
}

tsr_tensor *tsr_l1_loss(tsr_tensor *x, tsr_tensor *target, tsr_loss_reduction reduction)
{
    const tsr_attr attrs[] = {typed_int(reduction)};

    return tsr__dispatch_typed("l1_loss", (tsr_tensor *[]){x, target}, 2, attrs, NULL);
}

tsr_tensor *tsr_l1_loss_backward(tsr_tensor *grad, tsr_tensor *x, tsr_tensor *target,
                                 tsr_loss_reduction reduction)
{
    const tsr_attr attrs[] = {typed_int(reduction)};

    return tsr__dispatch_typed("l1_loss_backward", (tsr_tensor *[]){grad, x, target}, 3, attrs,
                               NULL);
}

tsr_tensor *tsr_bce_with_logits(tsr_tensor *x, tsr_tensor *target, tsr_tensor *weight,
                                tsr_tensor *pos_weight, tsr_loss_reduction reduction)
{
    const tsr_attr attrs[] = {typed_int(reduction)};

    return tsr__dispatch_typed("bce_with_logits", (tsr_tensor *[]){x, target, weight, pos_weight},
                               4, attrs, NULL);
}
