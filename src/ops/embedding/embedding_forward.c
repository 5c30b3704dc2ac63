/* SPDX-License-Identifier: Apache-2.0 */
/* embedding_forward.c - rows by ids, pooled by bags. Called by the embedding ops. */
#include "ops/embedding/embedding.h"

#include "ops/embedding/embedding_reference.h"
#include "ops/embedding/embedding_rows.h"

size_t tsr__bag_bytes(const tsr_bags *bags)
{
    return 2 * ((size_t)bags->ids.n + 1) * sizeof(int64_t);
}

/* The terms of all bags: rows in the scratch, and behind them the weights if they must be f32. */
static tsr_row_terms all_terms(const tsr_bag_pool *call)
{
    const int64_t n = tsr__bag_begin(&call->bags, call->bags.n_bags);
    tsr_row_terms t = {.x = call->table,
                       .dim = call->dim,
                       .row = call->scratch,
                       .weight = call->weights,
                       .n_ahead = n,
                       .ahead = tsr__rows_ahead((size_t)call->dim * tsr_dtype_size(call->dtype))};

    tsr__ids_rows(&call->bags.ids, 0, n, call->scratch);
    if (call->weights && tsr__weight_size(call->dtype) != tsr_dtype_size(call->dtype)) {
        float *weight = (float *)((int64_t *)call->scratch + n);

        tsr__convert(TSR_F32, weight, call->dtype, call->weights, n);
        t.weight = weight;
    }
    return t;
}

static tsr_row_terms bag_terms(const tsr_bag_pool *call, const tsr_row_terms *all, int64_t b)
{
    const int64_t begin = tsr__bag_begin(&call->bags, b);
    const size_t weight = tsr__weight_size(call->dtype);
    tsr_row_terms t = *all;

    t.row += begin;
    t.weight = t.weight ? (const char *)t.weight + (size_t)begin * weight : NULL;
    t.n = tsr__bag_begin(&call->bags, b + 1) - begin;
    t.n_ahead -= begin;
    return t;
}

void tsr__bag_sum(const tsr_bag_pool *call)
{
    const tsr_row_parts *parts = tsr__row_parts(call->dtype, call->variant);
    const size_t bytes = (size_t)call->dim * tsr_dtype_size(call->dtype);
    const tsr_row_terms all = all_terms(call);

    for (int64_t b = 0; b < call->bags.n_bags; b++) {
        const tsr_row_terms t = bag_terms(call, &all, b);

        parts->sum(&t, 0, (char *)call->out + (size_t)b * bytes);
    }
}

void tsr__bag_mean(const tsr_bag_pool *call)
{
    const tsr_row_parts *parts = tsr__row_parts(call->dtype, call->variant);
    const size_t bytes = (size_t)call->dim * tsr_dtype_size(call->dtype);
    tsr_bag_pool unweighted = *call;
    tsr_row_terms all;

    unweighted.weights = NULL;
    all = all_terms(&unweighted);
    for (int64_t b = 0; b < call->bags.n_bags; b++) {
        const tsr_row_terms t = bag_terms(&unweighted, &all, b);
        int64_t count;

        if (call->counts)
            count = call->counts[b];
        else {
            const int64_t begin[2] = {tsr__bag_begin(&call->bags, b),
                                      tsr__bag_begin(&call->bags, b + 1)};

            tsr__bag_counts(&(tsr_bags){.ids = call->bags.ids, .n_bags = 1, .begin = begin},
                            &count);
        }
        parts->sum(&t, count, (char *)call->out + (size_t)b * bytes);
    }
}

void tsr__bag_max(const tsr_bag_pool *call)
{
    const tsr_row_parts *parts = tsr__row_parts(call->dtype, call->variant);
    const size_t bytes = (size_t)call->dim * tsr_dtype_size(call->dtype);
    const tsr_row_terms all = all_terms(call);

    if (call->bags.ids.n > INT32_MAX) { /* places in a bag are counted in 32 bits */
        tsr__reference_bag_max(call);
        return;
    }
    for (int64_t b = 0; b < call->bags.n_bags; b++) {
        const tsr_row_terms t = bag_terms(call, &all, b);

        parts->max(&t, call->last, tsr__bag_begin(&call->bags, b),
                   (char *)call->out + (size_t)b * bytes, call->position + b * call->dim);
    }
}

void tsr__bag_max_merge(tsr_dtype dtype, int64_t n, bool last, const void *from,
                        const int64_t *from_position, void *out, int64_t *position)
{
    tsr__row_parts(dtype, TSR_VARIANT_AUTO)->merge(n, last, from, from_position, out, position);
}
