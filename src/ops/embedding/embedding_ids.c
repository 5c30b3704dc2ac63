/* SPDX-License-Identifier: Apache-2.0 */
/* embedding_ids.c - what offsets mean, and counts of ids. Integers only; called by the other
   embedding files and by the ops that use them. */
#include "ops/embedding/embedding.h"

#include <inttypes.h>
#include <string.h>

#define ID int32_t
#define FN(name) name##_i32
#include "ops/embedding/embedding_ids.inc.h"

#define ID int64_t
#define FN(name) name##_i64
#include "ops/embedding/embedding_ids.inc.h"

void tsr__embedding_count(const tsr_ids *ids, tsr_dtype dtype, void *counts)
{
    enum { BLOCK = 512 };
    int64_t rows[BLOCK];

    for (int64_t i = 0; i < ids->n; i += BLOCK) {
        const int64_t n = ids->n - i < BLOCK ? ids->n - i : BLOCK;

        tsr__ids_rows(ids, i, n, rows);
        for (int64_t k = 0; k < n; k++) {
            if (rows[k] < 0)
                continue;
            if (dtype == TSR_I32)
                ((int32_t *)counts)[rows[k]]++;
            else
                ((int64_t *)counts)[rows[k]]++;
        }
    }
}

static tsr_status check_offsets(const tsr_offsets *o, tsr_error *err)
{
    const tsr_ids list = {.dtype = o->dtype, .data = o->data};
    int64_t before = 0;

    if (o->with_last && o->total == 0)
        return tsr__fail(err, TSR_ERR_ARG,
                         "embedding bags: no offsets, but include_last needs at least one");
    for (int64_t i = 0; i < o->n; i++) {
        const int64_t at = tsr__ids_at(&list, i);

        if (o->first + i == 0 && at != 0)
            return tsr__fail(err, TSR_ERR_ARG,
                             "embedding bags: offsets start at %" PRId64 " instead of 0", at);
        if (at < 0) /* said of each alike, whoever has the one before */
            return tsr__fail(err, TSR_ERR_ARG,
                             "embedding bags: offset %" PRId64 " is %" PRId64 ", below 0",
                             o->first + i, at);
        if (at < before)
            return tsr__fail(err, TSR_ERR_ARG,
                             "embedding bags: offset %" PRId64 " is %" PRId64
                             ", less than the %" PRId64 " before it",
                             o->first + i, at, before);
        if (at > o->n_ids)
            return tsr__fail(err, TSR_ERR_ARG,
                             "embedding bags: offset %" PRId64 " is %" PRId64
                             ", but there are only %" PRId64 " ids",
                             o->first + i, at, o->n_ids);
        before = at;
    }
    return TSR_OK;
}

tsr_status tsr__bag_offsets(const tsr_offsets *o, int64_t bag, int64_t n, int64_t *begin,
                            tsr_error *err)
{
    const tsr_ids list = {.dtype = o->dtype, .data = o->data};
    const int64_t end = bag + n < o->total ? bag + n : o->total - 1; /* the last one needed */
    tsr_status st = TSR_OK;

    TSR_TRY(check_offsets(o, err));
    begin[0] = 0;
    if (n == 0) /* without bags no id is in one */
        return TSR_OK;
    if (bag < o->first || end >= o->first + o->n)
        return tsr__fail(err, TSR_ERR_ARG,
                         "embedding bags: offsets %" PRId64 " to %" PRId64
                         " are needed, but those here are %" PRId64 " from %" PRId64 " on",
                         bag, end, o->n, o->first);
    for (int64_t i = 0; i <= n; i++)
        begin[i] = bag + i < o->total ? tsr__ids_at(&list, bag + i - o->first) : o->n_ids;
done:
    return st;
}

void tsr__bag_counts(const tsr_bags *bags, int64_t *counts)
{
    for (int64_t b = 0; b < bags->n_bags; b++) {
        const int64_t begin = tsr__bag_begin(bags, b), n = tsr__bag_begin(bags, b + 1) - begin;

        counts[b] = bags->ids.dtype == TSR_I32 ? count_i32(&bags->ids, begin, n)
                                               : count_i64(&bags->ids, begin, n);
    }
}

void tsr__bag_winners(const tsr_ids *ids, int64_t n, const int64_t *position, tsr_dtype dtype,
                      void *index)
{
    for (int64_t i = 0; i < n; i++) {
        const int64_t id = position[i] < 0 ? -1 : tsr__ids_at(ids, position[i]);

        if (dtype == TSR_I32)
            ((int32_t *)index)[i] = (int32_t)id;
        else
            ((int64_t *)index)[i] = id;
    }
}
