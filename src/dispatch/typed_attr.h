/* SPDX-License-Identifier: Apache-2.0 */
/* typed_attr.h - values as attributes, for typed functions. Pure. */
#ifndef TSR_DISPATCH_TYPED_ATTR_H
#define TSR_DISPATCH_TYPED_ATTR_H

#include "dispatch/dispatch.h"
#include "kernel/seed.h"

static inline tsr_attr typed_none(void)
{
    return (tsr_attr){.n = -1};
}

static inline tsr_attr typed_int(int64_t value)
{
    return (tsr_attr){.n = 1, .i = {value}};
}

/* What is no dtype may be negative: the enum is unsigned. */
static inline tsr_attr typed_dtype(tsr_dtype value)
{
    return typed_int((int)value);
}

static inline tsr_attr typed_float(double value)
{
    return (tsr_attr){.n = 1, .f = value};
}

/* Optional ones: NULL leaves the attribute out. */
static inline tsr_attr typed_optional_int(const int64_t *value)
{
    return value ? typed_int(*value) : typed_none();
}

static inline tsr_attr typed_optional_dim(const int *value)
{
    return value ? typed_int(*value) : typed_none();
}

/* Lists. One that is NULL, or longer than any tensor has dims, is noted as such, for
   tsr__dispatch_lists to refuse: n is -1 less its length, or its length. */
static inline bool typed_list_fails(const void *value, int n, tsr_attr *attr)
{
    attr->n = !value && n > 0 ? -1 - n : n < 0 ? 0 : n;
    return attr->n < 0 || n > TSR_MAX_DIM;
}

static inline tsr_attr typed_ints(const int64_t *value, int n)
{
    tsr_attr attr = {0};

    if (!typed_list_fails(value, n, &attr))
        for (int i = 0; i < n; i++)
            attr.i[i] = value[i];
    return attr;
}

static inline tsr_attr typed_dims(const int *value, int n)
{
    tsr_attr attr = {0};

    if (!typed_list_fails(value, n, &attr))
        for (int i = 0; i < n; i++)
            attr.i[i] = value[i];
    return attr;
}

/* An empty list leaves the attribute out. */
static inline tsr_attr typed_optional_ints(const int64_t *value, int n)
{
    return n > 0 ? typed_ints(value, n) : typed_none();
}

static inline tsr_attr typed_optional_dims(const int *value, int n)
{
    return n > 0 ? typed_dims(value, n) : typed_none();
}

#endif
