/* SPDX-License-Identifier: Apache-2.0 */
/* lines.c - which elements of x, of the index and of the values belong together, on parts that may
   be sharded differently. Called by indexing.c and indexing_add.c. */
#include "kernel/index.h"
#include "ops/indexing/indexing.h"
#include "kernel/positions.h"

static bool is_sharded(const tsr_lines *l, int operand, int d)
{
    return l->sharded[operand] >> d & 1;
}

static bool by_values(const tsr_lines *l, int d)
{
    return l->list && d != l->dim;
}

static int64_t guide_size(const tsr_lines *l, int d)
{
    return by_values(l, d) ? l->values->shape.size[d] : l->index->shape.size[l->list ? 0 : d];
}

static int64_t guide_position(const tsr_lines *l, int d, int64_t i)
{
    return by_values(l, d) ? tsr__position(l->values, d, i)
                           : tsr__position(l->index, l->list ? 0 : d, i);
}

/* Do operands count alike along d? Along the indexed dim that is asked of guide and values. */
static bool dim_alike(const tsr_lines *l, int d)
{
    const int64_t n = guide_size(l, d);
    const bool sharded = is_sharded(l, TSR_INDEXING_GUIDE, d);

    if (is_sharded(l, TSR_INDEXING_VALUES, d) != sharded || l->values->shape.size[d] < n)
        return false;
    return d == l->dim || (l->values->shape.size[d] == n && l->x->shape.size[d] == n &&
                           is_sharded(l, TSR_INDEXING_X, d) == sharded);
}

void tsr__lines_of(const tsr_kernel_call *call, const tsr_operand *x, const tsr_operand *index,
                   const tsr_operand *values, bool writes, tsr_lines *l)
{
    const int dim = tsr__operand_dim(x, call->attrs.value[0].i[0]), ndim = x->shape.ndim;
    const int64_t *size = x->shape.size;

    *l = (tsr_lines){.x = x,
                     .index = index,
                     .values = values,
                     .dim = dim,
                     .ndim = ndim,
                     .list = index->shape.ndim < ndim,
                     .writes = writes,
                     .size = call->number[TSR_INDEXING_SIZE],
                     .alike = true,
                     .outer = tsr__product(dim, size),
                     .inner = tsr__product(ndim - dim - 1, size + dim + 1)};
    for (int k = 0; k < 3; k++)
        l->sharded[k] = (unsigned)call->number[k];
    for (int d = 0; d < ndim; d++) {
        l->count[d] = guide_size(l, d);
        l->alike = l->alike && dim_alike(l, d);
    }
}

int64_t tsr__lines_count(const tsr_lines *l)
{
    return tsr__product(l->ndim, l->count);
}

/* Local indices along d of x, guide and values where the guide's is j; of x not along the indexed
   dim. False: a part has none, which happens only where the validator tries parts that do not fit.
   */
static bool along(const tsr_lines *l, int d, int64_t j, int64_t out[3])
{
    const int64_t global = guide_position(l, d, j);

    out[0] = out[1] = out[2] = j;
    if (!l->writes && !is_sharded(l, TSR_INDEXING_X, d))
        out[0] = global;
    if (l->writes && !is_sharded(l, TSR_INDEXING_VALUES, d))
        out[2] = global;
    if (out[2] >= l->values->shape.size[d] || (d != l->dim && out[0] >= l->x->shape.size[d]))
        return false;
    out[0] = d == l->dim ? 0 : out[0];
    return true;
}

bool tsr__lines_at(const tsr_lines *l, int64_t i, int64_t *x, int64_t *values)
{
    int64_t stride[3] = {1, 1, 1}, at[3] = {0}, id, x_stride = 1;

    for (int d = l->ndim - 1; d >= 0; d--) {
        int64_t own[3];

        if (!along(l, d, i % l->count[d], own))
            return false;
        i /= l->count[d];
        if (d == l->dim)
            x_stride = stride[0];
        if (by_values(l, d))
            own[1] = 0;
        for (int k = 0; k < 3; k++)
            at[k] += own[k] * stride[k];
        stride[0] *= l->x->shape.size[d];
        stride[1] *= by_values(l, d) ? 1 : guide_size(l, d);
        stride[2] *= l->values->shape.size[d];
    }
    id = tsr__index_at(l->index, at[1]) - l->x->first[l->dim];
    *x = id >= 0 && id < l->x->shape.size[l->dim] ? at[0] + id * x_stride : -1;
    *values = at[2];
    return true;
}
