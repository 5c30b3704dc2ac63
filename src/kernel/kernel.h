/* SPDX-License-Identifier: Apache-2.0 */
/* kernel.h - what computes an op on one rank: local buffers and numbers in, local buffers out.
   Knows nothing of meshes. Every kernel has a naive reference beside it, which stays. */
#ifndef TSR_KERNEL_KERNEL_H
#define TSR_KERNEL_KERNEL_H

#include "base/dtype.h"
#include "base/heap.h"

enum { TSR_KERNEL_IN = 12, TSR_KERNEL_OUT = 2, TSR_KERNEL_ATTR = 4 };

/* The value of an attribute; the row says which of these it uses. */
typedef struct tsr_attr {
    int n;                  /* ints given; -1: the attribute was left out */
    int64_t i[TSR_MAX_DIM]; /* int and bool use the first */
    double f;
} tsr_attr;

typedef struct tsr_attrs {
    tsr_attr value[TSR_KERNEL_ATTR];
} tsr_attrs;

/* One local operand: row-major, contiguous. */
typedef struct tsr_operand {
    tsr_dtype dtype;
    tsr_shape shape;
    void *data;
} tsr_operand;

typedef struct tsr_kernel_call {
    int n_in, n_out;
    tsr_operand in[TSR_KERNEL_IN]; /* an absent optional input has data NULL and ndim -1 */
    tsr_operand out[TSR_KERNEL_OUT];
    tsr_attrs attrs;
    int64_t divisor; /* of a mean: elements that the whole result is divided by */
    bool reference;  /* use the naive version */
} tsr_kernel_call;

typedef void (*tsr_kernel_fn)(const tsr_kernel_call *call);

#endif
