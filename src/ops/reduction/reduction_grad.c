/* SPDX-License-Identifier: Apache-2.0 */
/* reduction_grad.c - gradients of reductions and scans. What belongs to a result broadcasts back to
   the elements that it is of; of an x that is sharded nothing but results is exchanged. */
#include <math.h>

#include "grad/grad.h"
#include "ops/reduction/reduction_ops.h"
#include "tessera_ops.h"

enum { DIMS = 0, KEEPDIM = 1, THIRD = 2 }; /* attributes of reductions */
enum { DIM = 0, REVERSE = 1 };             /* of scans */

/* The reduced dims, all if none are named. */
static int dims_of(const tsr_grad_call *c, int *dims)
{
    const tsr_attr *named = &c->attrs->value[DIMS];
    const int ndim = tsr_tensor_spec(c->in[0])->shape.ndim;
    int n = named->n > 0 ? named->n : ndim;

    for (int i = 0; i < n; i++) {
        int64_t d = named->n > 0 ? named->i[i] : i;
        dims[i] = (int)(d < 0 ? d + ndim : d);
    }
    return n;
}

/* A result, or its gradient, with the reduced dims as size 1. */
static tsr_tensor *kept(const tsr_grad_call *c, tsr_tensor *result)
{
    tsr_shape shape = tsr_tensor_spec(c->in[0])->shape;
    int dims[TSR_MAX_DIM], n = dims_of(c, dims);

    if (c->attrs->value[KEEPDIM].i[0])
        return result;
    for (int i = 0; i < n; i++)
        shape.size[dims[i]] = 1;
    return tsr_reshape(result, shape.size, shape.ndim);
}

/* To the shape of x. */
static tsr_tensor *spread(const tsr_grad_call *c, tsr_tensor *result)
{
    const tsr_shape *shape = &tsr_tensor_spec(c->in[0])->shape;

    return tsr_expand(result, shape->size, shape->ndim);
}

/* How many elements a result is of. */
static double elements_of(const tsr_grad_call *c)
{
    const tsr_shape *shape = &tsr_tensor_spec(c->in[0])->shape;
    int dims[TSR_MAX_DIM], n = dims_of(c, dims);
    double count = 1;

    for (int i = 0; i < n; i++)
        count *= (double)shape->size[dims[i]];
    return count;
}

/* 1 instead of 0, to divide what is 0 as well. */
static tsr_tensor *not_zero(tsr_tensor *x)
{
    return tsr_masked_fill(x, tsr_logical_not(x), 1);
}

tsr_status tsr__grad_total(const tsr_grad_call *c)
{
    if (c->wanted[0])
        c->grad_in[0] = spread(c, kept(c, c->grad_out[0]));
    return TSR_OK;
}

tsr_status tsr__grad_mean(const tsr_grad_call *c)
{
    const double n = elements_of(c);

    if (c->wanted[0])
        c->grad_in[0] = spread(c, tsr_affine(kept(c, c->grad_out[0]), n > 0 ? 1 / n : 0, 0));
    return TSR_OK;
}

/* In equal shares to the elements that the mask names. */
static tsr_tensor *shared(const tsr_grad_call *c, tsr_tensor *mask)
{
    tsr_tensor *ones = tsr_cast(mask, tsr_tensor_spec(c->in[0])->dtype);
    int dims[TSR_MAX_DIM], n = dims_of(c, dims);

    return tsr_mul(ones, tsr_div(kept(c, c->grad_out[0]), tsr_sum(ones, dims, n, true)));
}

tsr_status tsr__grad_extreme(const tsr_grad_call *c)
{
    if (c->wanted[0])
        c->grad_in[0] = shared(c, tsr_eq(c->in[0], kept(c, c->out[0])));
    return TSR_OK;
}

/* The product of the other elements: 0 if one of them is, else that of all but zeros, by x. */
tsr_status tsr__grad_prod(const tsr_grad_call *c)
{
    tsr_tensor *x = c->in[0], *zero, *zeros, *others, *product;
    int dims[TSR_MAX_DIM], n = dims_of(c, dims);

    if (!c->wanted[0])
        return TSR_OK;
    zero = tsr_cast(tsr_logical_not(x), tsr_tensor_spec(x)->dtype);
    zeros = tsr_sum(zero, dims, n, true);
    others = tsr_sub(zeros, zero);
    product = tsr_prod(not_zero(x), dims, n, true);
    c->grad_in[0] = tsr_masked_fill(tsr_div(tsr_mul(kept(c, c->grad_out[0]), product), not_zero(x)),
                                    tsr_cast(others, TSR_BOOL), 0);
    return TSR_OK;
}

tsr_status tsr__grad_norm(const tsr_grad_call *c)
{
    const double p = c->attrs->value[THIRD].f;
    tsr_tensor *x = c->in[0], *g = kept(c, c->grad_out[0]);

    if (!c->wanted[0])
        return TSR_OK;
    if (p == 2)
        c->grad_in[0] = tsr_mul(x, tsr_div(g, not_zero(kept(c, c->out[0]))));
    else if (p == 1)
        c->grad_in[0] = tsr_mul(tsr_sign(x), g);
    else
        c->grad_in[0] = tsr_mul(tsr_sign(x), shared(c, tsr_eq(tsr_abs(x), kept(c, c->out[0]))));
    return TSR_OK;
}

/* x less its mean, times so much of every result. */
static tsr_tensor *distances(const tsr_grad_call *c, tsr_tensor *times)
{
    int dims[TSR_MAX_DIM], n = dims_of(c, dims);

    return tsr_mul(tsr_sub(c->in[0], tsr_mean(c->in[0], dims, n, true)), times);
}

static double divisor_of(const tsr_grad_call *c)
{
    return fmax(elements_of(c) - (double)c->attrs->value[THIRD].i[0], 0);
}

tsr_status tsr__grad_var(const tsr_grad_call *c)
{
    if (c->wanted[0])
        c->grad_in[0] = distances(c, tsr_affine(kept(c, c->grad_out[0]), 2 / divisor_of(c), 0));
    return TSR_OK;
}

tsr_status tsr__grad_std(const tsr_grad_call *c)
{
    tsr_tensor *by;

    if (!c->wanted[0])
        return TSR_OK;
    by = tsr_div(kept(c, c->grad_out[0]), not_zero(kept(c, c->out[0])));
    c->grad_in[0] = distances(c, tsr_affine(by, 1 / divisor_of(c), 0));
    return TSR_OK;
}

/* exp(x - y); where y is -infinity, so is x, and its share is 0. */
tsr_status tsr__grad_logsumexp(const tsr_grad_call *c)
{
    tsr_tensor *y = kept(c, c->out[0]);

    if (!c->wanted[0])
        return TSR_OK;
    y = tsr_masked_fill(y, tsr_eq(y, tsr_fill(y, -INFINITY)), 0);
    c->grad_in[0] = tsr_mul(kept(c, c->grad_out[0]), tsr_exp(tsr_sub(c->in[0], y)));
    return TSR_OK;
}

/* ---- scans ---- */

/* Over all results that an element is in. */
static tsr_tensor *gathered(const tsr_grad_call *c, tsr_tensor *g)
{
    return tsr_cumsum(g, (int)c->attrs->value[DIM].i[0], !c->attrs->value[REVERSE].i[0]);
}

tsr_status tsr__grad_cumsum(const tsr_grad_call *c)
{
    if (c->wanted[0])
        c->grad_in[0] = gathered(c, c->grad_out[0]);
    return TSR_OK;
}

/* An element's share of a result is that result without it, result / x: so before the first zero.
   Behind it results are 0 whatever the element is. The zero itself: as if it were 1. */
tsr_status tsr__grad_cumprod(const tsr_grad_call *c)
{
    const int dim = (int)c->attrs->value[DIM].i[0];
    const bool reverse = c->attrs->value[REVERSE].i[0];
    const tsr_dtype dtype = tsr_tensor_spec(c->in[0])->dtype;
    tsr_tensor *x = c->in[0], *g = c->grad_out[0], *zero, *zeros, *first, *before, *without;

    if (!c->wanted[0])
        return TSR_OK;
    zero = tsr_logical_not(x);
    zeros = tsr_cumsum(tsr_cast(zero, dtype), dim, reverse);
    first = tsr_logical_and(zero, tsr_logical_not(tsr_affine(zeros, 1, -1)));
    without = tsr_cumprod(tsr_masked_fill(x, first, 1), dim, reverse);
    before = tsr_div(gathered(c, tsr_mul(g, c->out[0])), not_zero(x));
    before = tsr_masked_fill(before, tsr_cast(zeros, TSR_BOOL), 0);
    c->grad_in[0] = tsr_where(first, gathered(c, tsr_mul(g, without)), before);
    return TSR_OK;
}
