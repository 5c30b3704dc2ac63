/* SPDX-License-Identifier: Apache-2.0 */
/* cast.c - the kernel that changes the dtype. Float-to-integer conversion truncates toward zero, as
   in C and PyTorch; else each value is rounded once, to nearest even. Called through the op's row.
   */
#include "ops/pointwise/pointwise_ops.h"

#include "base/stream.h"
#include "kernel/index.h"
#include "kernel/sku.h"

#include <math.h>

enum { BLOCK = 1024 };

/* n <= BLOCK elements. */
static void convert(const tsr_operand *in, const tsr_operand *out, const void *from, void *to,
                    int64_t n)
{
    double wide[BLOCK];

    if (!tsr__dtype_is_float(in->dtype) || tsr__dtype_is_float(out->dtype) ||
        out->dtype == TSR_BOOL) { /* anything but 0 is true, 0.5 as well */
        tsr__convert(out->dtype, to, in->dtype, from, n);
        return;
    }
    tsr__convert(TSR_F64, wide, in->dtype, from, n);
    for (int64_t i = 0; i < n; i++)
        wide[i] = trunc(wide[i]);
    tsr__convert(out->dtype, to, TSR_F64, wide, n);
}

void tsr__kernel_cast(const tsr_kernel_call *call)
{
    const tsr_operand *in = &call->in[0], *out = &call->out[0];
    const size_t from = tsr_dtype_size(in->dtype), to = tsr_dtype_size(out->dtype);
    const int64_t n = tsr__operand_count(out);
    const bool one_by_one = tsr__variant_asked(call) == TSR_VARIANT_REFERENCE;
    const bool stream = !one_by_one && tsr__stream_large((size_t)n * to);
    char buffer[BLOCK * 8] __attribute__((aligned(64)));

    for (int64_t i = 0, m; i < n; i += m) {
        char *result = (char *)out->data + (size_t)i * to;

        m = one_by_one ? 1 : n - i < BLOCK ? n - i : BLOCK;
        convert(in, out, (const char *)in->data + (size_t)i * from, stream ? buffer : result, m);
        if (stream)
            tsr__stream_copy(result, buffer, (size_t)m * to);
    }
    if (stream)
        tsr__stream_fence();
}
