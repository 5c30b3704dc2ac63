/* SPDX-License-Identifier: Apache-2.0 */
/* shape_functions.c - printed by make ops from the rows: functions of
   tessera_ops.h that hand their arguments to dispatch. */
#include "dispatch/typed_attr.h"
#include "op/element_attr.h"
#include "ops/op_ids.h"
#include "tessera_ops.h"

tsr_tensor *tsr_transpose(tsr_tensor *x, int dim0, int dim1)
{
    const tsr_attr attrs[] = {typed_int(dim0), typed_int(dim1)};

    return tsr__dispatch_typed(TSR_ID_TRANSPOSE, &x, 1, attrs, NULL);
}

tsr_tensor *tsr_permute(tsr_tensor *x, const int *dims, int n_dims)
{
    const tsr_attr attrs[] = {typed_dims(dims, n_dims)};

    return tsr__dispatch_lists(TSR_ID_PERMUTE, &x, 1, attrs, 1, NULL);
}

tsr_tensor *tsr_flip(tsr_tensor *x, const int *dims, int n_dims)
{
    const tsr_attr attrs[] = {typed_optional_dims(dims, n_dims)};

    return tsr__dispatch_lists(TSR_ID_FLIP, &x, 1, attrs, 1, NULL);
}

tsr_tensor *tsr_roll(tsr_tensor *x, const int64_t *shifts, int n_shifts, const int *dims,
                     int n_dims)
{
    const tsr_attr attrs[] = {typed_ints(shifts, n_shifts), typed_optional_dims(dims, n_dims)};

    return tsr__dispatch_lists(TSR_ID_ROLL, &x, 1, attrs, 2, NULL);
}

tsr_tensor *tsr_expand(tsr_tensor *x, const int64_t *sizes, int n_sizes)
{
    const tsr_attr attrs[] = {typed_ints(sizes, n_sizes)};

    return tsr__dispatch_lists(TSR_ID_EXPAND, &x, 1, attrs, 1, NULL);
}

tsr_tensor *tsr_tile(tsr_tensor *x, const int64_t *counts, int n_counts)
{
    const tsr_attr attrs[] = {typed_ints(counts, n_counts)};

    return tsr__dispatch_lists(TSR_ID_TILE, &x, 1, attrs, 1, NULL);
}

tsr_tensor *tsr_slice(tsr_tensor *x, int dim, int64_t start, int64_t stop, int64_t step)
{
    const tsr_attr attrs[] = {typed_int(dim), typed_int(start), typed_int(stop), typed_int(step)};

    return tsr__dispatch_typed(TSR_ID_SLICE, &x, 1, attrs, NULL);
}

tsr_tensor *tsr_narrow(tsr_tensor *x, int dim, int64_t start, int64_t length)
{
    const tsr_attr attrs[] = {typed_int(dim), typed_int(start), typed_int(length)};

    return tsr__dispatch_typed(TSR_ID_NARROW, &x, 1, attrs, NULL);
}

tsr_tensor *tsr_select(tsr_tensor *x, int dim, int64_t index)
{
    const tsr_attr attrs[] = {typed_int(dim), typed_int(index)};

    return tsr__dispatch_typed(TSR_ID_SELECT, &x, 1, attrs, NULL);
}

tsr_tensor *tsr_unfold(tsr_tensor *x, int dim, int64_t size, int64_t step)
{
    const tsr_attr attrs[] = {typed_int(dim), typed_int(size), typed_int(step)};

    return tsr__dispatch_typed(TSR_ID_UNFOLD, &x, 1, attrs, NULL);
}

tsr_tensor *tsr_diagonal(tsr_tensor *x, int64_t offset, int dim1, int dim2)
{
    const tsr_attr attrs[] = {typed_int(offset), typed_int(dim1), typed_int(dim2)};

    return tsr__dispatch_typed(TSR_ID_DIAGONAL, &x, 1, attrs, NULL);
}

tsr_tensor *tsr_pad(tsr_tensor *x, const int64_t *before, int n_before, const int64_t *after,
                    int n_after, double value)
{
    const tsr_attr attrs[] = {typed_ints(before, n_before), typed_ints(after, n_after),
                              tsr__element(value)};

    return tsr__dispatch_lists(TSR_ID_PAD, &x, 1, attrs, 3, NULL);
}

tsr_tensor *tsr_pad_reflect(tsr_tensor *x, const int64_t *before, int n_before,
                            const int64_t *after, int n_after)
{
    const tsr_attr attrs[] = {typed_ints(before, n_before), typed_ints(after, n_after)};

    return tsr__dispatch_lists(TSR_ID_PAD_REFLECT, &x, 1, attrs, 2, NULL);
}

tsr_tensor *tsr_pad_replicate(tsr_tensor *x, const int64_t *before, int n_before,
                              const int64_t *after, int n_after)
{
    const tsr_attr attrs[] = {typed_ints(before, n_before), typed_ints(after, n_after)};

    return tsr__dispatch_lists(TSR_ID_PAD_REPLICATE, &x, 1, attrs, 2, NULL);
}

tsr_tensor *tsr_pad_circular(tsr_tensor *x, const int64_t *before, int n_before,
                             const int64_t *after, int n_after)
{
    const tsr_attr attrs[] = {typed_ints(before, n_before), typed_ints(after, n_after)};

    return tsr__dispatch_lists(TSR_ID_PAD_CIRCULAR, &x, 1, attrs, 2, NULL);
}

tsr_tensor *tsr_slice_backward(tsr_tensor *grad, int dim, int64_t start, int64_t step,
                               int64_t length)
{
    const tsr_attr attrs[] = {typed_int(dim), typed_int(start), typed_int(step), typed_int(length)};

    return tsr__dispatch_typed(TSR_ID_SLICE_BACKWARD, &grad, 1, attrs, NULL);
}

tsr_tensor *tsr_unfold_backward(tsr_tensor *grad, int dim, int64_t size, int64_t step,
                                int64_t length)
{
    const tsr_attr attrs[] = {typed_int(dim), typed_int(size), typed_int(step), typed_int(length)};

    return tsr__dispatch_typed(TSR_ID_UNFOLD_BACKWARD, &grad, 1, attrs, NULL);
}

tsr_tensor *tsr_tril(tsr_tensor *x, int64_t diagonal)
{
    const tsr_attr attrs[] = {typed_int(diagonal)};

    return tsr__dispatch_typed(TSR_ID_TRIL, &x, 1, attrs, NULL);
}

tsr_tensor *tsr_triu(tsr_tensor *x, int64_t diagonal)
{
    const tsr_attr attrs[] = {typed_int(diagonal)};

    return tsr__dispatch_typed(TSR_ID_TRIU, &x, 1, attrs, NULL);
}

tsr_tensor *tsr_depth_to_space(tsr_tensor *x, int64_t block, bool crd)
{
    const tsr_attr attrs[] = {typed_int(block), typed_int(crd)};

    return tsr__dispatch_typed(TSR_ID_DEPTH_TO_SPACE, &x, 1, attrs, NULL);
}

tsr_tensor *tsr_space_to_depth(tsr_tensor *x, int64_t block, bool crd)
{
    const tsr_attr attrs[] = {typed_int(block), typed_int(crd)};

    return tsr__dispatch_typed(TSR_ID_SPACE_TO_DEPTH, &x, 1, attrs, NULL);
}

tsr_tensor *tsr_reshape(tsr_tensor *x, const int64_t *shape, int n_shape)
{
    const tsr_attr attrs[] = {typed_ints(shape, n_shape)};

    return tsr__dispatch_lists(TSR_ID_RESHAPE, &x, 1, attrs, 1, NULL);
}

tsr_tensor *tsr_squeeze(tsr_tensor *x, const int *dims, int n_dims)
{
    const tsr_attr attrs[] = {typed_optional_dims(dims, n_dims)};

    return tsr__dispatch_lists(TSR_ID_SQUEEZE, &x, 1, attrs, 1, NULL);
}

tsr_tensor *tsr_unsqueeze(tsr_tensor *x, const int *dims, int n_dims)
{
    const tsr_attr attrs[] = {typed_dims(dims, n_dims)};

    return tsr__dispatch_lists(TSR_ID_UNSQUEEZE, &x, 1, attrs, 1, NULL);
}

tsr_tensor *tsr_flatten(tsr_tensor *x, int start, int end)
{
    const tsr_attr attrs[] = {typed_int(start), typed_int(end)};

    return tsr__dispatch_typed(TSR_ID_FLATTEN, &x, 1, attrs, NULL);
}
