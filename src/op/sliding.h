/* SPDX-License-Identifier: Apache-2.0 */
/* sliding.h - what convolution and pooling share: position p of the narrow side meets the wide side
   from p * stride - pad on, `kernel` taps that are `dilation` apart. Pure. */
#ifndef TSR_OP_SLIDING_H
#define TSR_OP_SLIDING_H

#include "op/op.h"

/* One spatial dim. */
typedef struct tsr_sliding {
    int64_t kernel, stride, dilation, pad;
} tsr_sliding;

/* The window along `dim` of an operand that is the wide side, whose anchor is the narrow one; or
   the other way round. */
tsr_window tsr__sliding_window(const tsr_sliding *s, int operand, int dim, bool wide);

/* A step along a dim of this length, or a shorter one that takes the same elements: after steps
   beyond its end nothing comes, however long they are. */
static inline int64_t tsr__step_within(int64_t step, int64_t length)
{
    return step <= length ? step : length > 0 ? length : 1;
}

/* A plain shard: windows are of no others. */
tsr_rule_placement tsr__plain_shard(int dim);

/* Attribute `name` as sizes of all spatial dims. */
tsr_status tsr__spatial_sizes(const tsr_schema *s, const char *name, int ndim, int64_t *out,
                              tsr_error *err);

#endif
