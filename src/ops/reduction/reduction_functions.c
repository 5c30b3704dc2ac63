/* SPDX-License-Identifier: Apache-2.0 */
/* reduction_functions.c - printed by make ops from the rows: functions of
   tessera_ops.h that hand their arguments to dispatch. */
#include "dispatch/typed_attr.h"
#include "op/element_attr.h"
#include "ops/op_ids.h"
#include "tessera_ops.h"

tsr_tensor *tsr_sum(tsr_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    const tsr_attr attrs[] = {typed_optional_dims(dims, n_dims), typed_int(keepdim)};

    return tsr__dispatch_lists(TSR_ID_SUM, &x, 1, attrs, 2, NULL);
}

tsr_tensor *tsr_mean(tsr_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    const tsr_attr attrs[] = {typed_optional_dims(dims, n_dims), typed_int(keepdim)};

    return tsr__dispatch_lists(TSR_ID_MEAN, &x, 1, attrs, 2, NULL);
}

tsr_tensor *tsr_max(tsr_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    const tsr_attr attrs[] = {typed_optional_dims(dims, n_dims), typed_int(keepdim)};

    return tsr__dispatch_lists(TSR_ID_MAX, &x, 1, attrs, 2, NULL);
}

tsr_tensor *tsr_min(tsr_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    const tsr_attr attrs[] = {typed_optional_dims(dims, n_dims), typed_int(keepdim)};

    return tsr__dispatch_lists(TSR_ID_MIN, &x, 1, attrs, 2, NULL);
}

tsr_tensor *tsr_prod(tsr_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    const tsr_attr attrs[] = {typed_optional_dims(dims, n_dims), typed_int(keepdim)};

    return tsr__dispatch_lists(TSR_ID_PROD, &x, 1, attrs, 2, NULL);
}

tsr_tensor *tsr_norm(tsr_tensor *x, double p, const int *dims, int n_dims, bool keepdim)
{
    const tsr_attr attrs[] = {typed_optional_dims(dims, n_dims), typed_int(keepdim),
                              typed_float(p)};

    return tsr__dispatch_lists(TSR_ID_NORM, &x, 1, attrs, 3, NULL);
}

tsr_tensor *tsr_var(tsr_tensor *x, const int *dims, int n_dims, int64_t correction, bool keepdim)
{
    const tsr_attr attrs[] = {typed_optional_dims(dims, n_dims), typed_int(keepdim),
                              typed_int(correction)};

    return tsr__dispatch_lists(TSR_ID_VAR, &x, 1, attrs, 3, NULL);
}

tsr_tensor *tsr_std(tsr_tensor *x, const int *dims, int n_dims, int64_t correction, bool keepdim)
{
    const tsr_attr attrs[] = {typed_optional_dims(dims, n_dims), typed_int(keepdim),
                              typed_int(correction)};

    return tsr__dispatch_lists(TSR_ID_STD, &x, 1, attrs, 3, NULL);
}

tsr_tensor *tsr_logsumexp(tsr_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    const tsr_attr attrs[] = {typed_optional_dims(dims, n_dims), typed_int(keepdim)};

    return tsr__dispatch_lists(TSR_ID_LOGSUMEXP, &x, 1, attrs, 2, NULL);
}

tsr_tensor *tsr_any(tsr_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    const tsr_attr attrs[] = {typed_optional_dims(dims, n_dims), typed_int(keepdim)};

    return tsr__dispatch_lists(TSR_ID_ANY, &x, 1, attrs, 2, NULL);
}

tsr_tensor *tsr_all(tsr_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    const tsr_attr attrs[] = {typed_optional_dims(dims, n_dims), typed_int(keepdim)};

    return tsr__dispatch_lists(TSR_ID_ALL, &x, 1, attrs, 2, NULL);
}

tsr_tensor *tsr_argmax(tsr_tensor *x, const int *dim, bool keepdim)
{
    const tsr_attr attrs[] = {typed_optional_dim(dim), typed_int(keepdim)};

    return tsr__dispatch_typed(TSR_ID_ARGMAX, &x, 1, attrs, NULL);
}

tsr_tensor *tsr_argmin(tsr_tensor *x, const int *dim, bool keepdim)
{
    const tsr_attr attrs[] = {typed_optional_dim(dim), typed_int(keepdim)};

    return tsr__dispatch_typed(TSR_ID_ARGMIN, &x, 1, attrs, NULL);
}

tsr_tensor *tsr_cumsum(tsr_tensor *x, int dim, bool reverse)
{
    const tsr_attr attrs[] = {typed_int(dim), typed_int(reverse)};

    return tsr__dispatch_typed(TSR_ID_CUMSUM, &x, 1, attrs, NULL);
}

tsr_tensor *tsr_cumprod(tsr_tensor *x, int dim, bool reverse)
{
    const tsr_attr attrs[] = {typed_int(dim), typed_int(reverse)};

    return tsr__dispatch_typed(TSR_ID_CUMPROD, &x, 1, attrs, NULL);
}
