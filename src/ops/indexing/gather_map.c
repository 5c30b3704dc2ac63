/* SPDX-License-Identifier: Apache-2.0 */
/* gather_map.c - which elements of x, of the index and of the values belong together, on parts that
   may be sharded differently. Called by indexing.c and indexing_add.c. */
#include "kernel/index.h"
#include "ops/indexing/indexing.h"
#include "ops/indexing/indexing_attrs.h"
#include "kernel/positions.h"

static bool is_sharded(const tsr_gather_map *map, int operand, int d)
{
    return map->sharded[operand] >> d & 1;
}

static bool by_values(const tsr_gather_map *map, int d)
{
    return map->list && d != map->dim;
}

static int64_t guide_size(const tsr_gather_map *map, int d)
{
    return by_values(map, d) ? map->values->shape.size[d]
                             : map->index->shape.size[map->list ? 0 : d];
}

static int64_t guide_position(const tsr_gather_map *map, int d, int64_t i)
{
    return by_values(map, d) ? tsr__position(map->values, d, i)
                             : tsr__position(map->index, map->list ? 0 : d, i);
}

/* Do operands count alike along d? Along the indexed dim that is asked of anchor and values. */
static bool dim_alike(const tsr_gather_map *map, int d)
{
    const int64_t n = guide_size(map, d);
    const bool sharded = is_sharded(map, TSR_INDEXING_ANCHOR, d);

    if (is_sharded(map, TSR_INDEXING_VALUES, d) != sharded || map->values->shape.size[d] < n)
        return false;
    return d == map->dim || (map->values->shape.size[d] == n && map->x->shape.size[d] == n &&
                             is_sharded(map, TSR_INDEXING_X, d) == sharded);
}

void tsr__gather_map_make(const tsr_kernel_call *call, const tsr_operand *x,
                          const tsr_operand *index, const tsr_operand *values, bool writes,
                          tsr_gather_map *map)
{
    const int dim = tsr__operand_dim(x, call->attrs.value[TSR_ATTR_GATHER_DIM].i[0]),
              ndim = x->shape.ndim;
    const int64_t *size = x->shape.size;

    *map = (tsr_gather_map){.x = x,
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
        map->sharded[k] = (unsigned)call->number[k];
    for (int d = 0; d < ndim; d++) {
        map->count[d] = guide_size(map, d);
        map->alike = map->alike && dim_alike(map, d);
    }
}

int64_t tsr__gather_map_count(const tsr_gather_map *map)
{
    return tsr__product(map->ndim, map->count);
}

/* Local indices along d of x, anchor and values where the anchor's is j; of x not along the indexed
   dim. False: a part has none, which happens only where the validator tries parts that do not fit.
   */
static bool along(const tsr_gather_map *map, int d, int64_t j, int64_t out[3])
{
    const int64_t global = guide_position(map, d, j);

    out[0] = out[1] = out[2] = j;
    if (!map->writes && !is_sharded(map, TSR_INDEXING_X, d))
        out[0] = global;
    if (map->writes && !is_sharded(map, TSR_INDEXING_VALUES, d))
        out[2] = global;
    if (out[2] >= map->values->shape.size[d] || (d != map->dim && out[0] >= map->x->shape.size[d]))
        return false;
    out[0] = d == map->dim ? 0 : out[0];
    return true;
}

bool tsr__gather_map_at(const tsr_gather_map *map, int64_t i, int64_t *x, int64_t *values)
{
    int64_t stride[3] = {1, 1, 1}, at[3] = {0}, id, x_stride = 1;

    for (int d = map->ndim - 1; d >= 0; d--) {
        int64_t own[3];

        if (!along(map, d, i % map->count[d], own))
            return false;
        i /= map->count[d];
        if (d == map->dim)
            x_stride = stride[0];
        if (by_values(map, d))
            own[1] = 0;
        for (int k = 0; k < 3; k++)
            at[k] += own[k] * stride[k];
        stride[0] *= map->x->shape.size[d];
        stride[1] *= by_values(map, d) ? 1 : guide_size(map, d);
        stride[2] *= map->values->shape.size[d];
    }
    id = tsr__index_at(map->index, at[1]) - map->x->first[map->dim];
    *x = id >= 0 && id < map->x->shape.size[map->dim] ? at[0] + id * x_stride : -1;
    *values = at[2];
    return true;
}
