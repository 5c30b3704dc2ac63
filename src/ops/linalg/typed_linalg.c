/* SPDX-License-Identifier: Apache-2.0 */
/* typed_linalg.c - the linear algebra of tessera_ops.h: inputs and attributes, in the order of the
   rows (ops/linalg/linalg.c, ops/linalg/einsum_op.c), go to dispatch. */
#include <string.h>

#include "dispatch/dispatch.h"
#include "tessera_ops.h"

tsr_tensor *tsr_matmul(tsr_tensor *a, tsr_tensor *b, tsr_tensor *bias)
{
    return tsr__dispatch_typed("matmul", (tsr_tensor *[]){a, b, bias}, 3, NULL, NULL);
}

tsr_tensor *tsr_bmm(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed("bmm", (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_linear(tsr_tensor *x, tsr_tensor *weight, tsr_tensor *bias)
{
    return tsr__dispatch_typed("linear", (tsr_tensor *[]){x, weight, bias}, 3, NULL, NULL);
}

tsr_tensor *tsr_dot(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed("dot", (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_outer(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed("outer", (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_einsum(const char *equation, tsr_tensor *const *in, int n)
{
    const size_t length = equation ? strlen(equation) : 0;
    tsr_attr text = {.n = -1};

    if (length > TSR_ATTR_TEXT)
        return tsr__typed_refuse(in, n, NULL,
                                 "einsum: the equation has %zu characters, at most %d are possible",
                                 length, TSR_ATTR_TEXT);
    if (equation)
        text = tsr__attr_text(equation, length);
    return tsr__dispatch_typed("einsum", in, n, &text, NULL);
}
