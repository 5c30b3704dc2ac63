/* SPDX-License-Identifier: Apache-2.0 */
/* indexing.inc.h - moving elements of one size by indices of one type, where lines are alike: needs
   T, ID and FN, undefines them. `first` and n are the part of x along the dim that is here. */

/* One line, of which all is here. */
static void FN(pick)(const T *x, const ID *index, int64_t n, T *y)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = x[index[i]];
}

/* values[o,i,k] = x[o,index[o,i,k],k], 0 if that is elsewhere. */
static void FN(gather)(const tsr_lines *l)
{
    const int64_t first = l->x->first[l->dim], n = l->x->shape.size[l->dim];
    const int64_t along = l->count[l->dim], inner = l->inner;
    const ID *index = l->index->data;
    T *y = l->values->data;

    for (int64_t o = 0; o < l->outer; o++) {
        const T *x = (const T *)l->x->data + o * n * inner;

        if (l->list)
            index = l->index->data;
        if (inner == 1 && first == 0 && n == l->size) {
            FN(pick)(x, index, along, y);
            index += along;
            y += along;
            continue;
        }
        for (int64_t i = 0; i < along; i++)
            for (int64_t k = 0; k < inner; k++) {
                const uint64_t at = (uint64_t)((int64_t)(l->list ? index[i] : *index++) - first);

                *y++ = at < (uint64_t)n ? x[(int64_t)at * inner + k] : 0;
            }
    }
}

/* x[o,index[o,i,k],k] = values[o,i,k], in the order of i. */
static void FN(scatter)(const tsr_lines *l)
{
    const int64_t first = l->x->first[l->dim], n = l->x->shape.size[l->dim];
    const int64_t along = l->count[l->dim], inner = l->inner;
    const ID *index = l->index->data;

    for (int64_t o = 0; o < l->outer; o++) {
        const T *v = (const T *)l->values->data + o * l->values->shape.size[l->dim] * inner;
        T *x = (T *)l->x->data + o * n * inner;

        for (int64_t i = 0; i < along; i++)
            for (int64_t k = 0; k < inner; k++) {
                const uint64_t at = (uint64_t)((int64_t)*index++ - first);

                if (at < (uint64_t)n)
                    x[(int64_t)at * inner + k] = v[i * inner + k];
            }
    }
}

#undef T
#undef ID
#undef FN
