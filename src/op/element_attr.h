/* SPDX-License-Identifier: Apache-2.0 */
/* element_attr.h - attributes of type element: numbers that become elements of a tensor. Planning
   sees what it sees of a number, and which integer dtypes have it. */
#ifndef TSR_OP_ELEMENT_ATTR_H
#define TSR_OP_ELEMENT_ATTR_H

#include "kernel/element.h"
#include "op/op.h"

/* attrs.c: the attribute with this value; tsr__attr_type calls it a number. */
tsr_attr tsr__element(double x);
tsr_attr tsr__element_integer(int64_t x); /* exact, where f64 is not */
bool tsr__attr_is_element(const tsr_op *op, int index);

#endif
