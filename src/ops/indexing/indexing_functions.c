/* SPDX-License-Identifier: Apache-2.0 */
/* indexing_functions.c - printed by make ops from the rows: functions of
   tessera_ops.h that hand their arguments to dispatch. */
#include "dispatch/typed_attr.h"
#include "op/element_attr.h"
#include "ops/op_ids.h"
#include "tessera_ops.h"

tsr_tensor *tsr_gather(tsr_tensor *x, int dim, tsr_tensor *index)
{
    const tsr_attr attrs[] = {typed_int(dim)};

    return tsr__dispatch_typed(TSR_ID_GATHER, (tsr_tensor *[]){x, index}, 2, attrs, NULL);
}

tsr_tensor *tsr_index_select(tsr_tensor *x, int dim, tsr_tensor *index)
{
    const tsr_attr attrs[] = {typed_int(dim)};

    return tsr__dispatch_typed(TSR_ID_INDEX_SELECT, (tsr_tensor *[]){x, index}, 2, attrs, NULL);
}

tsr_tensor *tsr_take(tsr_tensor *x, tsr_tensor *index)
{
    return tsr__dispatch_typed(TSR_ID_TAKE, (tsr_tensor *[]){x, index}, 2, NULL, NULL);
}

tsr_tensor *tsr_scatter(tsr_tensor *x, int dim, tsr_tensor *index, tsr_tensor *src)
{
    const tsr_attr attrs[] = {typed_int(dim)};

    return tsr__dispatch_typed(TSR_ID_SCATTER, (tsr_tensor *[]){x, index, src}, 3, attrs, NULL);
}

tsr_tensor *tsr_scatter_add(tsr_tensor *x, int dim, tsr_tensor *index, tsr_tensor *src)
{
    const tsr_attr attrs[] = {typed_int(dim)};

    return tsr__dispatch_typed(TSR_ID_SCATTER_ADD, (tsr_tensor *[]){x, index, src}, 3, attrs, NULL);
}

tsr_tensor *tsr_index_add(tsr_tensor *x, int dim, tsr_tensor *index, tsr_tensor *src)
{
    const tsr_attr attrs[] = {typed_int(dim)};

    return tsr__dispatch_typed(TSR_ID_INDEX_ADD, (tsr_tensor *[]){x, index, src}, 3, attrs, NULL);
}

tsr_tensor *tsr_scatter_backward(tsr_tensor *grad, int dim, tsr_tensor *index)
{
    const tsr_attr attrs[] = {typed_int(dim)};

    return tsr__dispatch_typed(TSR_ID_SCATTER_BACKWARD, (tsr_tensor *[]){grad, index}, 2, attrs,
                               NULL);
}

tsr_tensor *tsr_one_hot(tsr_tensor *ids, int64_t classes, tsr_dtype dtype)
{
    const tsr_attr attrs[] = {typed_int(classes), typed_dtype(dtype)};

    return tsr__dispatch_typed(TSR_ID_ONE_HOT, &ids, 1, attrs, NULL);
}

tsr_tensor *tsr_sort(tsr_tensor *x, int dim, bool descending, tsr_tensor **index)
{
    tsr_tensor *out[TSR_MAX_OUT] = {NULL};
    const tsr_attr attrs[] = {typed_int(dim), typed_int(descending), typed_int(true)};

    tsr__dispatch_typed(TSR_ID_SORT, &x, 1, attrs, out);
    if (index)
        *index = out[1];
    return out[0];
}

tsr_tensor *tsr_topk(tsr_tensor *x, int64_t k, int dim, bool largest, tsr_tensor **index)
{
    tsr_tensor *out[TSR_MAX_OUT] = {NULL};
    const tsr_attr attrs[] = {typed_int(k), typed_int(dim), typed_int(largest), typed_int(true)};

    tsr__dispatch_typed(TSR_ID_TOPK, &x, 1, attrs, out);
    if (index)
        *index = out[1];
    return out[0];
}
