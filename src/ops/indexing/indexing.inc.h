/* SPDX-License-Identifier: Apache-2.0 */
/* indexing.inc.h - moving elements of one size by indices of one type, where lines are alike: needs
   T, ID and BY (a name for them), undefines the last two. `first` and n are the part of x along the
   dim that is here. Negative indices become huge as unsigned ones: a range is one comparison. */

/* One line, of which all n > 0 are here; `ahead` is what will be read next, or NULL. False: an
   index is out of range. `known` is a constant: none is. */
TSR__INLINE bool BY(pick)(bool known, const T *x, int64_t n, const T *ahead, const ID *index,
                          int64_t count, bool stream, T *y)
{
    enum { EACH = 64 / sizeof(T) }; /* elements of a line of the cache */
    const uint64_t size = (uint64_t)n;
    bool bad = false;

    for (int64_t i = 0; i < count; i += BLOCK) {
        const int64_t end = count - i < BLOCK ? count - i : BLOCK;
        T near[BLOCK], *to = stream ? near : y + i;

        for (int64_t k = 0; ahead && k < end && i + k < n; k += EACH)
            __builtin_prefetch(ahead + i + k);
        for (int64_t k = 0; k < end; k++) {
            const uint64_t at = (uint64_t)(int64_t)index[i + k];

            bad |= at >= size;
            to[k] = x[known || at < size ? at : 0];
        }
        if (stream)
            tsr__stream_copy(y + i, near, (size_t)end * sizeof(T));
    }
    return known || !bad;
}

/* values[o,i,k] = x[o,index[o,i,k],k], 0 if that is elsewhere. */
static bool BY(gather)(const tsr_gather_map *map)
{
    const int64_t first = map->x->first[map->dim], n = map->x->shape.size[map->dim];
    const int64_t along = map->count[map->dim], inner = map->inner;
    const bool stream = tsr__stream_pays((size_t)(map->outer * along * inner) * sizeof(T),
                                         (size_t)along * sizeof(T), (uintptr_t)map->values->data);
    const ID *index = map->index->data;
    T *y = map->values->data;
    bool good = true;

    for (int64_t o = 0; o < map->outer; o++) {
        const T *x = (const T *)map->x->data + o * n * inner;

        if (map->list)
            index = map->index->data;
        if (inner == 1 && first == 0 && n == map->size && n > 0) {
            const T *ahead = o + 1 < map->outer ? x + n : NULL;

            good &= map->list && o > 0 && good
                        ? BY(pick)(true, x, n, ahead, index, along, stream, y)
                        : BY(pick)(false, x, n, ahead, index, along, stream, y);
            index += along;
            y += along;
            continue;
        }
        for (int64_t i = 0; i < along; i++)
            for (int64_t k = 0; k < inner; k++) {
                const int64_t id = (int64_t)(map->list ? index[i] : *index++);
                const uint64_t at = (uint64_t)id - (uint64_t)first; /* not checked yet: may wrap */

                good &= (uint64_t)id < (uint64_t)map->size;
                *y++ = at < (uint64_t)n ? x[(int64_t)at * inner + k] : 0;
            }
    }
    if (stream && inner == 1)
        tsr__stream_fence();
    return good;
}

/* x[o,index[o,i,k],k] = values[o,i,k], in the order of i; else x is as `old`, if that is there. */
static void BY(scatter)(const tsr_gather_map *map, const void *old)
{
    const int64_t first = map->x->first[map->dim], n = map->x->shape.size[map->dim];
    const int64_t along = map->count[map->dim], inner = map->inner;
    const ID *index = map->index->data;

    for (int64_t o = 0; o < map->outer; o++) {
        const T *v = (const T *)map->values->data + o * map->values->shape.size[map->dim] * inner;
        T *x = (T *)map->x->data + o * n * inner;

        if (old && n * inner > 0)
            memcpy(x, (const T *)old + o * n * inner, (size_t)(n * inner) * sizeof(T));
        for (int64_t i = 0; i < along; i++)
            for (int64_t k = 0; k < inner; k++) {
                const uint64_t at = (uint64_t)((int64_t)*index++ - first);

                if (at < (uint64_t)n)
                    x[(int64_t)at * inner + k] = v[i * inner + k];
            }
    }
}

/* values[o,i,k] = x[o,index[o,i,k],k] if no later i has the same index, else 0: who is the last one
   is found first, for one o. */
static void BY(last)(const tsr_gather_map *map, int64_t *last)
{
    const int64_t first = map->x->first[map->dim], n = map->x->shape.size[map->dim];
    const int64_t along = map->count[map->dim], inner = map->inner;
    const ID *index = map->index->data;

    for (int64_t o = 0; o < map->outer; o++, index += along * inner) {
        const T *x = (const T *)map->x->data + o * n * inner;
        T *v = (T *)map->values->data + o * map->values->shape.size[map->dim] * inner;

        for (int64_t i = 0; i < along; i++)
            for (int64_t k = 0; k < inner; k++) {
                const uint64_t at = (uint64_t)((int64_t)index[i * inner + k] - first);

                if (at < (uint64_t)n)
                    last[(int64_t)at * inner + k] = i;
            }
        for (int64_t i = 0; i < along; i++)
            for (int64_t k = 0; k < inner; k++) {
                const uint64_t at = (uint64_t)((int64_t)index[i * inner + k] - first);
                const int64_t e = (int64_t)at * inner + k;
                const T all = (T)-1;

                /* which one is the last is hard to predict: no branch */
                v[i * inner + k] = at < (uint64_t)n ? x[e] & (T)(all * (last[e] == i)) : 0;
            }
    }
}

#undef ID
#undef BY
