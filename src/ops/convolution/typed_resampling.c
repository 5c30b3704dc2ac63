/* SPDX-License-Identifier: Apache-2.0 */
/* typed_resampling.c - resampling of tessera_ops.h. */
#include "ops/convolution/typed_space.h"
#include "ops/op_ids.h"
#include "tessera_ops.h"

/* Sizes are none if there are none to read. */
static tsr_tensor *run(int op, tsr_tensor *x, const int64_t *size, bool corners)
{
    const tsr_attr attrs[] = {typed_numbers(size, size ? typed_space(x) : 0), typed_bool(corners)};

    return tsr__dispatch_typed(op, &x, 1, attrs, NULL);
}

tsr_tensor *tsr_adaptive_avg_pool(tsr_tensor *x, const int64_t *size)
{
    return run(TSR_ID_ADAPTIVE_AVG_POOL, x, size, false);
}

tsr_tensor *tsr_adaptive_avg_pool_backward(tsr_tensor *grad, const int64_t *input)
{
    return run(TSR_ID_ADAPTIVE_AVG_POOL_BACKWARD, grad, input, false);
}

tsr_tensor *tsr_upsample(tsr_tensor *x, const int64_t *size, tsr_upsample_mode mode)
{
    return run(mode == TSR_UPSAMPLE_NEAREST ? TSR_ID_UPSAMPLE_NEAREST : TSR_ID_UPSAMPLE_LINEAR, x,
               size, mode == TSR_UPSAMPLE_LINEAR_CORNERS);
}

tsr_tensor *tsr_upsample_backward(tsr_tensor *grad, const int64_t *input, tsr_upsample_mode mode)
{
    return run(mode == TSR_UPSAMPLE_NEAREST ? TSR_ID_UPSAMPLE_NEAREST_BACKWARD
                                            : TSR_ID_UPSAMPLE_LINEAR_BACKWARD,
               grad, input, mode == TSR_UPSAMPLE_LINEAR_CORNERS);
}
