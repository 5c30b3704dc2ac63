/* SPDX-License-Identifier: Apache-2.0 */
/* einsum.h - products of 1 to 4 tensors, summed over axes: "bij,bjk->bik". What a text says of
   given shapes, for the op's shape and rules (ops/linalg/einsum_op.c) and for its kernels. */
#ifndef TSR_OPS_EINSUM_H
#define TSR_OPS_EINSUM_H

#include "kernel/kernel.h"

enum { TSR_EINSUM_IN = 4, TSR_EINSUM_OUT = TSR_EINSUM_IN, TSR_EINSUM_AXES = 26 };

/* An axis is a letter of the text, or a dim that `...` stands for: these come first, in their
   order, and broadcast. Tensors are the operands, and at TSR_EINSUM_OUT the output. */
typedef struct tsr_einsum_axes {
    int n; /* operands */
    int n_axes;
    int64_t size[TSR_EINSUM_AXES];               /* of each axis */
    int ndim[TSR_EINSUM_IN + 1];                 /* of each tensor */
    int8_t axis[TSR_EINSUM_IN + 1][TSR_MAX_DIM]; /* of each dim */
} tsr_einsum_axes;

/* What the text says of n operands of these shapes. Errors begin with `what`, the op. Pure. */
tsr_status tsr__einsum_parse(const char *what, const char *text, int n,
                             const tsr_shape *const *shape, tsr_einsum_axes *out, tsr_error *err);
tsr_shape tsr__einsum_shape(const tsr_einsum_axes *e);
/* The definition: the oracle. */
void tsr__reference_einsum(const tsr_einsum_axes *e, const tsr_kernel_call *call);

#endif
