/* SPDX-License-Identifier: Apache-2.0 */
/* element.h - attributes that become elements of a tensor, exact in integers too: i[0] is what
   planning sees of the number, and if i[2] is 1, i[1] is the number. */
#ifndef TSR_KERNEL_ELEMENT_H
#define TSR_KERNEL_ELEMENT_H

#include "kernel/kernel.h"

enum { TSR_ELEMENT_INTEGER = 1, TSR_ELEMENT_IS_INTEGER = 2 };

/* The value as an element of the dtype. The row's shape function has seen that an integer dtype has
   it; what is infinite becomes the end of the range. */
static inline void tsr__element_put(const tsr_attr *x, tsr_dtype dtype, void *out)
{
    if (tsr__dtype_is_float(dtype) || !x->i[TSR_ELEMENT_IS_INTEGER])
        tsr__put(dtype, out, 0, x->f);
    else
        tsr__convert(dtype, out, TSR_I64, &x->i[TSR_ELEMENT_INTEGER], 1);
}

#endif
