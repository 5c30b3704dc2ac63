/* SPDX-License-Identifier: Apache-2.0 */
/* typed_resampling.c - resampling of tessera_ops.h. */
#include "ops/convolution/typed_space.h"
#include "ops/op_ids.h"
#include "tessera_ops.h"

/* The sizes of an attribute, none if there are none to read. */
static tsr_attr sizes_of(const int64_t *size, const tsr_tensor *x)
{
    return typed_numbers(size, size ? typed_space(x) : 0);
}

tsr_tensor *tsr_adaptive_avg_pool(tsr_tensor *x, const int64_t *size)
{
    return tsr__dispatch_typed(TSR_ID_ADAPTIVE_AVG_POOL, &x, 1, (tsr_attr[]){sizes_of(size, x)},
                               NULL);
}

tsr_tensor *tsr_adaptive_avg_pool_backward(tsr_tensor *grad, const int64_t *input)
{
    return tsr__dispatch_typed(TSR_ID_ADAPTIVE_AVG_POOL_BACKWARD, &grad, 1,
                               (tsr_attr[]){sizes_of(input, grad)}, NULL);
}

tsr_tensor *tsr_upsample(tsr_tensor *x, const int64_t *size, tsr_upsample_mode mode)
{
    const tsr_attr attrs[] = {sizes_of(size, x), typed_bool(mode == TSR_UPSAMPLE_LINEAR_CORNERS)};

    return tsr__dispatch_typed(mode == TSR_UPSAMPLE_NEAREST ? TSR_ID_UPSAMPLE_NEAREST
                                                            : TSR_ID_UPSAMPLE_LINEAR,
                               &x, 1, attrs, NULL);
}

tsr_tensor *tsr_upsample_backward(tsr_tensor *grad, const int64_t *input, tsr_upsample_mode mode)
{
    const tsr_attr attrs[] = {sizes_of(input, grad),
                              typed_bool(mode == TSR_UPSAMPLE_LINEAR_CORNERS)};

    return tsr__dispatch_typed(mode == TSR_UPSAMPLE_NEAREST ? TSR_ID_UPSAMPLE_NEAREST_BACKWARD
                                                            : TSR_ID_UPSAMPLE_LINEAR_BACKWARD,
                               &grad, 1, attrs, NULL);
}
