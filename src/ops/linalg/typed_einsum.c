/* SPDX-License-Identifier: Apache-2.0 */
/* typed_einsum.c - einsum of tessera_ops.h: its equation becomes an attribute, unless it is too
   long for one. */
#include <string.h>

#include "dispatch/dispatch.h"
#include "ops/op_ids.h"
#include "tessera_ops.h"

tsr_tensor *tsr_einsum(const char *equation, tsr_tensor *const *in, int n)
{
    const size_t length = equation ? strlen(equation) : 0;
    tsr_attr text = {.n = -1};

    if (length > TSR_ATTR_TEXT)
        return tsr__typed_refuse(in, n, NULL,
                                 "einsum: the equation has %zu characters, at most %d are allowed",
                                 length, TSR_ATTR_TEXT);
    if (equation)
        text = tsr__attr_text(equation, length);
    return tsr__dispatch_typed(TSR_ID_EINSUM, in, n, &text, NULL);
}
