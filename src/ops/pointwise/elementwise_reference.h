/* SPDX-License-Identifier: Apache-2.0 */
/* elementwise_reference.h - the pointwise ops by their definitions, and what both versions of them
   read from a call. */
#ifndef TSR_OPS_ELEMENTWISE_REFERENCE_H
#define TSR_OPS_ELEMENTWISE_REFERENCE_H

#include "kernel/kernel.h"
#include "kernel/kinds.h"

/* op is a tsr_pointwise_kind, cast excluded. */
void tsr__pointwise_reference(const tsr_kernel_call *call, int op);
/* Does it give bool, whatever its inputs are? */
bool tsr__pointwise_is_predicate(int op);

/* The numbers among the attributes, in the order of the row, as elements of the dtype: affine's
   factor and summand, the ends of clamp (infinite where left out, or those of the range), or
   one. */
typedef struct tsr_pointwise_numbers {
    int64_t p, q; /* the bytes of an element */
} tsr_pointwise_numbers;
tsr_pointwise_numbers tsr__pointwise_numbers(const tsr_kernel_call *call, int op, tsr_dtype dtype);

#endif
