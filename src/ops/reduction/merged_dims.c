/* SPDX-License-Identifier: Apache-2.0 */
/* merged_dims.c - see merged_dims.h. For the rows of merging_reductions.c and scan_ops.c. */
#include "ops/reduction/merged_dims.h"

#include "op/infer.h"
#include "op/row_parts.h"

tsr_status tsr__merged_dims(const tsr_schema *s, unsigned *out, tsr_error *err)
{
    const tsr_attr *dim;
    int d;
    tsr_status st = TSR_OK;

    if (tsr__attr_index(s->op, "dims") >= 0)
        return tsr__dims_mask(s, out, err);
    dim = tsr_schema_attr(s, "dim");
    *out = (1u << s->in[0].shape.ndim) - 1;
    if (dim->n >= 0) {
        TSR_TRY(tsr__dim_normalise(s, dim->i[0], s->in[0].shape.ndim, &d, err));
        *out = 1u << d;
    }
done:
    return st;
}

/* Sums and maxima of absolute values stay partial. */
static bool is_merged(const tsr_schema *s)
{
    return tsr__attr_index(s->op, "p") < 0 || tsr_schema_attr(s, "p")->f == 2;
}

unsigned tsr__merged_mdims(const tsr_schema *s, const tsr_spec *in)
{
    unsigned dims;

    if (!is_merged(s) || tsr__merged_dims(s, &dims, NULL) != TSR_OK)
        return 0;
    return tsr__sharded_mdims(&in[0], dims);
}
