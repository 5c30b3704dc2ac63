/* SPDX-License-Identifier: Apache-2.0 */
/* linalg_functions.c - printed by make ops from the rows: functions of
   tessera_ops.h that hand their arguments to dispatch. */
#include "dispatch/typed_attr.h"
#include "op/element_attr.h"
#include "ops/op_ids.h"
#include "tessera_ops.h"

tsr_tensor *tsr_matmul(tsr_tensor *a, tsr_tensor *b, tsr_tensor *bias)
{
    return tsr__dispatch_typed(TSR_ID_MATMUL, (tsr_tensor *[]){a, b, bias}, 3, NULL, NULL);
}

tsr_tensor *tsr_bmm(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed(TSR_ID_BMM, (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_linear(tsr_tensor *x, tsr_tensor *weight, tsr_tensor *bias)
{
    return tsr__dispatch_typed(TSR_ID_LINEAR, (tsr_tensor *[]){x, weight, bias}, 3, NULL, NULL);
}

tsr_tensor *tsr_dot(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed(TSR_ID_DOT, (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_outer(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed(TSR_ID_OUTER, (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}
