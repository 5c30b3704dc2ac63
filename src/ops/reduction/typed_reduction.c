/* SPDX-License-Identifier: Apache-2.0 */
/* typed_reduction.c - the typed functions of reductions and scans. */
#include "dispatch/dispatch.h"
#include "tessera_ops.h"

static tsr_attr integer(int64_t value)
{
    return (tsr_attr){.n = 1, .i = {value}};
}

static tsr_attr integers(const int *value, int n)
{
    tsr_attr attr = {.n = n < 0 || !value ? 0 : n};

    for (int i = 0; i < attr.n; i++)
        attr.i[i] = value[i];
    return attr;
}

/* Attributes that all reductions begin with, and one more. */
static tsr_tensor *reduction(const char *name, tsr_tensor *x, const int *dims, int n, bool keepdim,
                             tsr_attr more)
{
    if (!dims && n > 0)
        return tsr__typed_no_list(name, x, n);
    if (n > TSR_MAX_DIM)
        return tsr__typed_long_list(name, x, n);
    return tsr__dispatch_typed(name, &x, 1,
                               (const tsr_attr[]){integers(dims, n), integer(keepdim), more}, NULL);
}

tsr_tensor *tsr_sum(tsr_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    return reduction("sum", x, dims, n_dims, keepdim, (tsr_attr){0});
}

tsr_tensor *tsr_mean(tsr_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    return reduction("mean", x, dims, n_dims, keepdim, (tsr_attr){0});
}

tsr_tensor *tsr_prod(tsr_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    return reduction("prod", x, dims, n_dims, keepdim, (tsr_attr){0});
}

tsr_tensor *tsr_max(tsr_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    return reduction("max", x, dims, n_dims, keepdim, (tsr_attr){0});
}

tsr_tensor *tsr_min(tsr_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    return reduction("min", x, dims, n_dims, keepdim, (tsr_attr){0});
}

tsr_tensor *tsr_any(tsr_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    return reduction("any", x, dims, n_dims, keepdim, (tsr_attr){0});
}

tsr_tensor *tsr_all(tsr_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    return reduction("all", x, dims, n_dims, keepdim, (tsr_attr){0});
}

tsr_tensor *tsr_logsumexp(tsr_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    return reduction("logsumexp", x, dims, n_dims, keepdim, (tsr_attr){0});
}

tsr_tensor *tsr_norm(tsr_tensor *x, double p, const int *dims, int n_dims, bool keepdim)
{
    return reduction("norm", x, dims, n_dims, keepdim, (tsr_attr){.n = 1, .f = p});
}

tsr_tensor *tsr_var(tsr_tensor *x, const int *dims, int n_dims, int correction, bool keepdim)
{
    return reduction("var", x, dims, n_dims, keepdim, integer(correction));
}

tsr_tensor *tsr_std(tsr_tensor *x, const int *dims, int n_dims, int correction, bool keepdim)
{
    return reduction("std", x, dims, n_dims, keepdim, integer(correction));
}

static tsr_tensor *along(const char *name, tsr_tensor *x, tsr_attr dim, bool flag)
{
    return tsr__dispatch_typed(name, &x, 1, (const tsr_attr[]){dim, integer(flag)}, NULL);
}

tsr_tensor *tsr_argmax(tsr_tensor *x, const int *dim, bool keepdim)
{
    return along("argmax", x, dim ? integer(*dim) : (tsr_attr){.n = -1}, keepdim);
}

tsr_tensor *tsr_argmin(tsr_tensor *x, const int *dim, bool keepdim)
{
    return along("argmin", x, dim ? integer(*dim) : (tsr_attr){.n = -1}, keepdim);
}

tsr_tensor *tsr_cumsum(tsr_tensor *x, int dim, bool reverse)
{
    return along("cumsum", x, integer(dim), reverse);
}

tsr_tensor *tsr_cumprod(tsr_tensor *x, int dim, bool reverse)
{
    return along("cumprod", x, integer(dim), reverse);
}
