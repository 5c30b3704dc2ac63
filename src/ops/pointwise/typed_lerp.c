/* SPDX-License-Identifier: Apache-2.0 */
/* typed_lerp.c - lerp of tessera_ops.h, whose weight is a tensor or a number: two functions of one
   row. */
#include "dispatch/dispatch.h"
#include "ops/op_ids.h"
#include "tessera_ops.h"

/* Without a tensor the row would take the number that lerp_by gives it. */
static tsr_tensor *lerp(int op, tsr_tensor *a, tsr_tensor *b, tsr_tensor *weight)
{
    if (!weight)
        return tsr__typed_refuse((tsr_tensor *[]){a, b}, 2, NULL, "%s: weight is NULL",
                                 tsr__op_by_id(op)->name);
    return tsr__dispatch_typed(op, (tsr_tensor *[]){a, b, weight}, 3, NULL, NULL);
}

static tsr_tensor *lerp_by(int op, tsr_tensor *a, tsr_tensor *b, double weight)
{
    const tsr_attr attr = tsr__number(weight);

    return tsr__dispatch_typed(op, (tsr_tensor *[]){a, b, NULL}, 3, &attr, NULL);
}

tsr_tensor *tsr_lerp(tsr_tensor *a, tsr_tensor *b, tsr_tensor *weight)
{
    return lerp(TSR_ID_LERP, a, b, weight);
}

tsr_tensor *tsr_lerp_inplace(tsr_tensor *a, tsr_tensor *b, tsr_tensor *weight)
{
    return lerp(TSR_ID_LERP_INPLACE, a, b, weight);
}

tsr_tensor *tsr_lerp_by(tsr_tensor *a, tsr_tensor *b, double weight)
{
    return lerp_by(TSR_ID_LERP, a, b, weight);
}

tsr_tensor *tsr_lerp_by_inplace(tsr_tensor *a, tsr_tensor *b, double weight)
{
    return lerp_by(TSR_ID_LERP_INPLACE, a, b, weight);
}
