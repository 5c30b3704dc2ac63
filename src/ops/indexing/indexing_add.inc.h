/* SPDX-License-Identifier: Apache-2.0 */
/* indexing_add.inc.h - adding to a line's elements, for one dtype; see kernel_types.inc.h. Sums are
   of type ACC: what x was is there already. `narrow` is a constant: the index is of i32. */

/* Values as they are summed: f16 and bf16 are widened. */
TSR__INLINE const ACC *FN(wide)(tsr_dtype dtype, const T *v, int64_t n, void *room)
{
    if (sizeof(T) == sizeof(ACC))
        return (const void *)v;
    tsr__half_widen(dtype, v, n, room);
    return room;
}

/* x[at + k] += v[k] */
TSR__INLINE void FN(add_row)(const ACC *v, int64_t n, ACC *x)
{
    TSR__INDEPENDENT
    for (int64_t k = 0; k < n; k++)
        x[k] = ADD(x[k], v[k]);
}

/* x[id[k], k] += v[k], where `across` are the elements of x from one k to the next, and inner from
   one id to the next. */
TSR__INLINE void FN(add_each)(const tsr_gather_map *map, bool narrow, int64_t id, const ACC *v,
                              int64_t n, int64_t across, ACC *x)
{
    const int64_t first = map->x->first[map->dim];
    const uint64_t here = (uint64_t)map->x->shape.size[map->dim];

    for (int64_t k = 0; k < n; k++) {
        const uint64_t at = (uint64_t)(id_at(narrow, map->index->data, id + k) - first);

        if (at < here) {
            ACC *to = x + (int64_t)at * map->inner + k * across;

            *to = ADD(*to, v[k]);
        }
    }
}

/* One o of all lines [o, along the dim, inner]: rows, or one row if there is one inner element. */
TSR__INLINE void FN(add_by)(const tsr_gather_map *map, bool narrow, int64_t o, ACC *x)
{
    const int64_t along = map->count[map->dim], inner = map->inner;
    const int64_t row = inner == 1 ? along : inner, rows = inner == 1 ? 1 : along;
    const T *v = (const T *)map->values->data + o * map->values->shape.size[map->dim] * inner;
    ACC room[BLOCK];

    for (int64_t i = 0; i < rows; i++, v += row) {
        const int64_t id = map->list ? i : (o * rows + i) * row;

        for (int64_t k = 0; k < row; k += BLOCK) {
            const int64_t n = row - k < BLOCK ? row - k : BLOCK;
            const ACC *wide = FN(wide)(map->values->dtype, v + k, n, room);
            const int64_t at = id_at(narrow, map->index->data, id) - map->x->first[map->dim];

            if (inner == 1)
                FN(add_each)(map, narrow, id + k, wide, n, 0, x);
            else if (!map->list)
                FN(add_each)(map, narrow, id + k, wide, n, 1, x + k);
            else if (at >= 0 && at < map->x->shape.size[map->dim])
                FN(add_row)(wide, n, x + at * inner + k);
        }
    }
}

static void FN(add)(const tsr_gather_map *map, int64_t o, void *sums)
{
    if (map->index->dtype == TSR_I32)
        FN(add_by)(map, true, o, sums);
    else
        FN(add_by)(map, false, o, sums);
}

/* The same where operands are sharded differently, for all lines. */
static void FN(add_apart)(const tsr_gather_map *map, void *sums)
{
    const T *values = map->values->data;
    int64_t x, v;

    for (int64_t i = 0; i < tsr__gather_map_count(map); i++)
        if (tsr__gather_map_at(map, i, &x, &v) && x >= 0)
            ((ACC *)sums)[x] = ADD(((ACC *)sums)[x], (ACC)LD(values[v]));
}

static const bodies FN(entry) = {FN(add), FN(add_apart)};
