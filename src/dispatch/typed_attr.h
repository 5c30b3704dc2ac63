/* SPDX-License-Identifier: Apache-2.0 */
/* typed_attr.h - single values as attributes, for typed functions. Pure. */
#ifndef TSR_DISPATCH_TYPED_ATTR_H
#define TSR_DISPATCH_TYPED_ATTR_H

#include "dispatch/dispatch.h"

static inline tsr_attr typed_int(int64_t value)
{
    return (tsr_attr){.n = 1, .i = {value}};
}

static inline tsr_attr typed_float(double value)
{
    return (tsr_attr){.n = 1, .f = value};
}

#endif
