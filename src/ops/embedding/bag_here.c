/* SPDX-License-Identifier: Apache-2.0 */
/* bag_here.c - bags by offsets, and their gradients, for which nothing of the table is sent, as row
   exchanges (row_exchange.h) that are computed on the spot once the ids of the bags are there. */
#include "ops/embedding/lookups.h"
#include "ops/embedding/row_exchange.h"

static tsr_status here_finish(tsr_row_exchange *d)
{
    const tsr_schema *s = d->call->schema;
    const int kind = s->op->kind;
    const bool max = kind == TSR_EMBEDDING_BAG_MAX;
    tsr_bag_pool pool = {.dtype = d->dtype,
                         .dim = d->dim,
                         .bags = d->own,
                         .table = tsr__tensor_data(d->call->in[0]),
                         .weights = d->weights,
                         .last = tsr_schema_attr(s, "last")->i[0],
                         .out = tsr__tensor_data(d->call->out[0])};
    const int64_t n = pool.bags.n_bags * d->dim;
    tsr_status st;

    pool.bags.ids.row_first = d->owners.first;
    pool.bags.ids.n_rows = d->owners.rows;
    TSR_TRY(tsr__arena_alloc(&d->arena, tsr__bag_bytes(&pool.bags), &pool.scratch));
    TSR_TRY(
        tsr__arena_alloc(&d->arena, max ? (size_t)n * sizeof *pool.position : 0, &pool.position));
    (max ? tsr__bag_max : tsr__lookup_is_mean(kind) ? tsr__bag_mean : tsr__bag_sum)(&pool);
    if (max && d->call->out[1])
        tsr__bag_winners(&d->own.ids, n, pool.position, TSR_I64, tsr__tensor_data(d->call->out[1]));
done:
    return st;
}

const tsr_row_exchange_kind tsr__row_exchange_bag_here = {.finish = here_finish};

static tsr_status grad_here_finish(tsr_row_exchange *d)
{
    tsr_table_grad fill = tsr__row_exchange_grad(d, tsr__tensor_data(d->call->in[0]));
    const int kind = d->call->schema->op->kind;
    tsr_bags bags = d->own;
    int64_t *counts = NULL;
    tsr_scattered scatter;
    void *scratch;
    tsr_status st;

    bags.ids.row_first = d->owners.first;
    bags.ids.n_rows = d->owners.rows;
    TSR_TRY(tsr__arena_alloc(&d->arena, tsr__scatter_bytes(bags.ids.n), &scratch));
    if (tsr__lookup_is_mean(kind)) {
        TSR_TRY(tsr__arena_alloc(&d->arena, (size_t)bags.n_bags * sizeof *counts, &counts));
        tsr__bag_counts(&bags, counts);
    }
    tsr__bag_scatter(&bags, d->dtype, d->weights, counts, scratch, &scatter);
    TSR_TRY(tsr__row_exchange_fill(d, &scatter, &fill));
done:
    return st;
}

const tsr_row_exchange_kind tsr__row_exchange_bag_backward_here = {.backward = true,
                                                                   .finish = grad_here_finish};
