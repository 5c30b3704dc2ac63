/* SPDX-License-Identifier: Apache-2.0 */
/* index.h - counting and finding elements of local operands, for the kernels. Pure. */
#ifndef TSR_KERNEL_INDEX_H
#define TSR_KERNEL_INDEX_H

#include "kernel/kernel.h"

/* Product of the first n sizes. */
static inline int64_t tsr__product(int n, const int64_t *size)
{
    int64_t product = 1;

    for (int d = 0; d < n; d++)
        product *= size[d];
    return product;
}

static inline int64_t tsr__operand_count(const tsr_operand *x)
{
    return tsr__product(x->shape.ndim, x->shape.size);
}

/* A dim counted from the end if negative. */
static inline int tsr__operand_dim(const tsr_operand *x, int64_t dim)
{
    return (int)(dim < 0 ? dim + x->shape.ndim : dim);
}

/* Which element of a tensor of shape size[n] broadcasts to element i of out_size[out_n]. */
static inline int64_t tsr__broadcast_at(int n, const int64_t *size, int out_n,
                                        const int64_t *out_size, int64_t i)
{
    int64_t at = 0, stride = 1;

    for (int d = n - 1, e = out_n - 1; d >= 0; d--, e--) {
        if (size[d] != 1)
            at += i % out_size[e] * stride;
        stride *= size[d];
        i /= out_size[e];
    }
    return at;
}

/* The dims of the first input that an attribute names, as a mask; all of them if it is left out or
   empty. */
static inline unsigned tsr__call_dims(const tsr_kernel_call *call, int attr)
{
    const tsr_attr *dims = &call->attrs.value[attr];
    unsigned mask = 0;

    if (dims->n <= 0)
        return (1u << TSR_MAX_DIM) - 1;
    for (int k = 0; k < dims->n; k++)
        mask |= 1u << tsr__operand_dim(&call->in[0], dims->i[k]);
    return mask;
}

/* The same of `dims` of a reduction, whose rows have it in this place (ops/reduction/reduction.c
   sees to that). */
enum { TSR_REDUCED_DIMS = 0 };
static inline unsigned tsr__reduced_dims(const tsr_kernel_call *call)
{
    return tsr__call_dims(call, TSR_REDUCED_DIMS);
}

/* x modulo n, 0 to n - 1; 0 if n is 0. */
static inline int64_t tsr__modulo(int64_t x, int64_t n)
{
    const int64_t rest = n > 0 ? x % n : 0;

    return rest < 0 ? rest + n : rest;
}

/* The operand is there; an optional one may not be. */
static inline bool tsr__operand_given(const tsr_kernel_call *call, int k)
{
    return k < call->n_in && call->in[k].shape.ndim >= 0;
}

#endif
