/* SPDX-License-Identifier: Apache-2.0 */
/* arg.h - where the largest or smallest element is. */
#ifndef TSR_OPS_ARG_H
#define TSR_OPS_ARG_H

#include "kernel/index.h"
#include "kernel/merge.h"
#include "ops/reduction/reduction_attrs.h"

/* The dim of attribute 0 as a mask; all dims if it is left out. */
static inline unsigned tsr__arg_dims(const tsr_kernel_call *call)
{
    const tsr_attr *dim = &call->attrs.value[TSR_ATTR_ARGMAX_DIM];

    return dim->n < 0 ? (1u << TSR_MAX_DIM) - 1 : 1u << tsr__operand_dim(&call->in[0], dim->i[0]);
}

void tsr__reference_arg(const tsr_kernel_call *call, bool min);

extern const tsr_merge_steps tsr__arg_steps;

#endif
