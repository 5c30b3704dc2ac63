/* SPDX-License-Identifier: Apache-2.0 */
/* typed_space.h - attributes of ops with spatial dims from options, for the typed functions. */
#ifndef TSR_OPS_TYPED_SPACE_H
#define TSR_OPS_TYPED_SPACE_H

#include "dispatch/dispatch.h"
#include "ops/convolution/conv.h"

/* n numbers. NULL: the attribute is left out. */
static inline tsr_attr typed_numbers(const int64_t *value, int n)
{
    tsr_attr attr = {.n = value ? n : -1};

    for (int i = 0; i < attr.n; i++)
        attr.i[i] = value[i];
    return attr;
}

static inline tsr_attr typed_bool(bool value)
{
    return (tsr_attr){.n = 1, .i = {value}};
}

/* Padding before all dims, then behind: as much, and more. */
static inline tsr_attr typed_padding(const int64_t *padding, const int64_t *more, int n)
{
    tsr_attr attr = typed_numbers(padding, n);

    for (int d = 0; d < n; d++)
        if (__builtin_add_overflow(padding[d], more[d], &attr.i[n + d]))
            attr.i[n + d] = INT64_MAX; /* too large, and so it will say */
    attr.n = 2 * n;
    return attr;
}

/* Spatial dims of a tensor, as many as can be. */
static inline int typed_space(const tsr_tensor *x)
{
    int n = x && !x->failed ? x->local_spec->spec.shape.ndim - 2 : 0;

    return n < 0 ? 0 : n > TSR_CONV_DIMS ? TSR_CONV_DIMS : n;
}

/* Their sizes. */
static inline tsr_attr typed_sizes(const tsr_tensor *x, int n)
{
    return typed_numbers(n ? &x->local_spec->spec.shape.size[2] : NULL, n);
}

#endif
