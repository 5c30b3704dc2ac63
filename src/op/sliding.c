/* SPDX-License-Identifier: Apache-2.0 */
/* sliding.c - see sliding.h. */
#include "op/sliding.h"

/* With E = (kernel - 1) dilation + 1, p of the narrow side meets [p * stride - pad,
   p * stride - pad + E) of the wide one; element i of that meets those from
   ceil((i + pad - E + 1) / stride) to floor((i + pad) / stride). */
tsr_window tsr__sliding_window(const tsr_sliding *s, int operand, int dim, bool wide)
{
    const int64_t extent = (s->kernel - 1) * s->dilation + 1;

    if (wide)
        return (tsr_window){.operand = operand,
                            .dim = dim,
                            .mul = s->stride,
                            .lo = -s->pad,
                            .hi = extent - s->pad,
                            .div = 1};
    return (tsr_window){.operand = operand,
                        .dim = dim,
                        .mul = 1,
                        .lo = s->pad - extent + s->stride,
                        .hi = s->pad + s->stride,
                        .div = s->stride};
}

tsr_rule_placement tsr__plain_shard(int dim)
{
    return (tsr_rule_placement){.place = {.kind = TSR_SHARD, .dim = dim}};
}

tsr_status tsr__spatial_sizes(const tsr_schema *s, const char *name, int ndim, int64_t *out,
                              tsr_error *err)
{
    const tsr_attr *attr = tsr_schema_attr(s, name);

    if (attr->n != ndim)
        return tsr__fail(err, TSR_ERR_SHAPE, "%s: %s needs %d sizes, one per spatial dim, not %d",
                         s->op->name, name, ndim, attr->n < 0 ? 0 : attr->n);
    for (int d = 0; d < ndim; d++)
        out[d] = attr->i[d];
    return TSR_OK;
}
