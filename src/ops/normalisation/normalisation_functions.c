/* SPDX-License-Identifier: Apache-2.0 */
/* normalisation_functions.c - printed by make ops from the rows: functions of
   tessera_ops.h that hand their arguments to dispatch. */
#include "dispatch/typed_attr.h"
#include "op/element_attr.h"
#include "ops/op_ids.h"
#include "tessera_ops.h"

tsr_tensor *tsr_softmax(tsr_tensor *x, int dim)
{
    const tsr_attr attrs[] = {typed_int(dim)};

    return tsr__dispatch_typed(TSR_ID_SOFTMAX, &x, 1, attrs, NULL);
}

tsr_tensor *tsr_log_softmax(tsr_tensor *x, int dim)
{
    const tsr_attr attrs[] = {typed_int(dim)};

    return tsr__dispatch_typed(TSR_ID_LOG_SOFTMAX, &x, 1, attrs, NULL);
}

tsr_tensor *tsr_softmax_backward(tsr_tensor *grad, tsr_tensor *y, int dim)
{
    const tsr_attr attrs[] = {typed_int(dim)};

    return tsr__dispatch_typed(TSR_ID_SOFTMAX_BACKWARD, (tsr_tensor *[]){grad, y}, 2, attrs, NULL);
}

tsr_tensor *tsr_log_softmax_backward(tsr_tensor *grad, tsr_tensor *y, int dim)
{
    const tsr_attr attrs[] = {typed_int(dim)};

    return tsr__dispatch_typed(TSR_ID_LOG_SOFTMAX_BACKWARD, (tsr_tensor *[]){grad, y}, 2, attrs,
                               NULL);
}
