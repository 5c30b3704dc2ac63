/* SPDX-License-Identifier: Apache-2.0 */
/* indexing_add.inc.h - adding to a line's elements, for one dtype; see fast_types.inc.h. Sums are
   of type ACC: what x was is there already. */

/* `narrow` is a constant: the index is of i32. */
TSR__INLINE void FN(add_by)(const tsr_lines *l, bool narrow, void *sums)
{
    const int64_t first = l->x->first[l->dim], n = l->x->shape.size[l->dim];
    const int64_t along = l->count[l->dim], inner = l->inner;
    const T *values = l->values->data;

    for (int64_t o = 0; o < l->outer; o++) {
        const T *v = values + o * l->values->shape.size[l->dim] * inner;
        ACC *x = (ACC *)sums + o * n * inner;

        for (int64_t i = 0; i < along; i++, v += inner) {
            const int64_t row = l->list ? i : (o * along + i) * inner;

            if (l->list) {
                const int64_t at = id_at(narrow, l->index->data, row) - first;

                if (at < 0 || at >= n)
                    continue;
                for (int64_t k = 0; k < inner; k++)
                    x[at * inner + k] = ADD(x[at * inner + k], (ACC)LD(v[k]));
                continue;
            }
            for (int64_t k = 0; k < inner; k++) {
                const int64_t at = id_at(narrow, l->index->data, row + k) - first;

                if (at >= 0 && at < n)
                    x[at * inner + k] = ADD(x[at * inner + k], (ACC)LD(v[k]));
            }
        }
    }
}

static void FN(add)(const tsr_lines *l, void *sums)
{
    if (l->index->dtype == TSR_I32)
        FN(add_by)(l, true, sums);
    else
        FN(add_by)(l, false, sums);
}

/* The same where operands are sharded differently. */
static void FN(add_apart)(const tsr_lines *l, void *sums)
{
    const T *values = l->values->data;
    int64_t x, v;

    for (int64_t i = 0; i < tsr__lines_count(l); i++)
        if (tsr__lines_at(l, i, &x, &v) && x >= 0)
            ((ACC *)sums)[x] = ADD(((ACC *)sums)[x], (ACC)LD(values[v]));
}
