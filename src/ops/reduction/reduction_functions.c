/* SPDX-License-Identifier: Apache-2.0 */
/* reduction_functions.c - printed by make ops from the rows: functions of
   tessera_ops.h that hand their arguments to dispatch. */
#include "dispatch/typed_attr.h"
#include "op/element_attr.h"
#include "tessera_ops.h"

tsr_tensor *tsr_sum(tsr_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    const tsr_attr attrs[] = {typed_optional_dims(dims, n_dims), typed_int(keepdim)};

    return tsr__dispatch_lists("sum", &x, 1, attrs, 2, NULL);
}

tsr_tensor *tsr_mean(tsr_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    const tsr_attr attrs[] = {typed_optional_dims(dims, n_dims), typed_int(keepdim)};

    return tsr__dispatch_lists("mean", &x, 1, attrs, 2, NULL);
}

tsr_tensor *tsr_max(tsr_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    const tsr_attr attrs[] = {typed_optional_dims(dims, n_dims), typed_int(keepdim)};

    return tsr__dispatch_lists("max", &x, 1, attrs, 2, NULL);
}

tsr_tensor *tsr_min(tsr_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    const tsr_attr attrs[] = {typed_optional_dims(dims, n_dims), typed_int(keepdim)};

    return tsr__dispatch_lists("min", &x, 1, attrs, 2, NULL);
}

tsr_tensor *tsr_prod(tsr_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    const tsr_attr attrs[] = {typed_optional_dims(dims, n_dims), typed_int(keepdim)};

    return tsr__dispatch_lists("prod", &x, 1, attrs, 2, NULL);
}

tsr_tensor *tsr_norm(tsr_tensor *x, double p, const int *dims, int n_dims, bool keepdim)
{
    const tsr_attr attrs[] = {typed_optional_dims(dims, n_dims), typed_int(keepdim),
                              typed_float(p)};

    return tsr__dispatch_lists("norm", &x, 1, attrs, 3, NULL);
}

tsr_tensor *tsr_var(tsr_tensor *x, const int *dims, int n_dims, int64_t correction, bool keepdim)
{
    const tsr_attr attrs[] = {typed_optional_dims(dims, n_dims), typed_int(keepdim),
                              typed_int(correction)};

    return tsr__dispatch_lists("var", &x, 1, attrs, 3, NULL);
}

tsr_tensor *tsr_std(tsr_tensor *x, const int *dims, int n_dims, int64_t correction, bool keepdim)
{
    const tsr_attr attrs[] = {typed_optional_dims(dims, n_dims), typed_int(keepdim),
                              typed_int(correction)};

    return tsr__dispatch_lists("std", &x, 1, attrs, 3, NULL);
}

tsr_tensor *tsr_logsumexp(tsr_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    const tsr_attr attrs[] = {typed_optional_dims(dims, n_dims), typed_int(keepdim)};

    return tsr__dispatch_lists("logsumexp", &x, 1, attrs, 2, NULL);
}

tsr_tensor *tsr_any(tsr_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    const tsr_attr attrs[] = {typed_optional_dims(dims, n_dims), typed_int(keepdim)};

    return tsr__dispatch_lists("any", &x, 1, attrs, 2, NULL);
}

tsr_tensor *tsr_all(tsr_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    const tsr_attr attrs[] = {typed_optional_dims(dims, n_dims), typed_int(keepdim)};

    return tsr__dispatch_lists("all", &x, 1, attrs, 2, NULL);
}

tsr_tensor *tsr_argmax(tsr_tensor *x, const int *dim, bool keepdim)
{
    const tsr_attr attrs[] = {typed_optional_dim(dim), typed_int(keepdim)};

    return tsr__dispatch_typed("argmax", &x, 1, attrs, NULL);
}

tsr_tensor *tsr_argmin(tsr_tensor *x, const int *dim, bool keepdim)
{
    const tsr_attr attrs[] = {typed_optional_dim(dim), typed_int(keepdim)};

    return tsr__dispatch_typed("argmin", &x, 1, attrs, NULL);
}

tsr_tensor *tsr_cumsum(tsr_tensor *x, int dim, bool reverse)
{
    const tsr_attr attrs[] = {typed_int(dim), typed_int(reverse)};

    return tsr__dispatch_typed("cumsum", &x, 1, attrs, NULL);
}

tsr_tensor *tsr_cumprod(tsr_tensor *x, int dim, bool reverse)
{
    const tsr_attr attrs[] = {typed_int(dim), typed_int(reverse)};

    return tsr__dispatch_typed("cumprod", &x, 1, attrs, NULL);
}
