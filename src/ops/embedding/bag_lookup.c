/* SPDX-License-Identifier: Apache-2.0 */
/* bag_lookup.c - bags of a table that others own, as row exchanges (row_exchange.h). The ids
   of a bag are sent to the owners of their rows; each owner pools its rows and returns one. For
   gradients the row of a bag is sent once to each owner that is hit. Lookups of single ids are
   lookup.c. */
#include <string.h>

#include "ops/embedding/lookups.h"
#include "ops/embedding/row_exchange.h"
#include "ops/embedding/local_bags.h"

/* Items of the first list are bags that hit an owner, of the second their ids. */
enum { BAGS = 0, IDS = 1 };
/* What goes: lengths of bags and ids, and what the kind adds. */
enum { LENGTHS = 0, ROWS_OF_IDS = 1, MORE = 2 };

/* ---- what goes to whom ---- */

/* Count ids and bags for each owner. */
static tsr_status bag_count(tsr_row_exchange *d, tsr_error *err)
{
    const tsr_ids *ids = &d->own.ids;
    int64_t *last, *rows;
    tsr_status st;

    (void)err;
    TSR_TRY(tsr__arena_alloc(&d->arena, (size_t)ids->n * sizeof *d->owner, &d->owner));
    TSR_TRY(tsr__arena_alloc(&d->arena, (size_t)ids->n * 8, &rows));
    TSR_TRY(tsr__arena_alloc(&d->arena, (size_t)d->comm->group->n * 8, &last));
    for (int i = 0; i < d->comm->group->n; i++)
        last[i] = -1;
    tsr__ids_rows(ids, 0, ids->n, rows);
    for (int64_t b = 0; b < d->own.n_bags; b++)
        for (int64_t i = tsr__bag_begin(&d->own, b); i < tsr__bag_begin(&d->own, b + 1); i++) {
            int o = d->owner[i] = rows[i] < 0 ? -1 : tsr__owner_of(&d->owners, rows[i]);
            if (o < 0)
                continue;
            d->sent[IDS][o]++;
            d->sent[BAGS][o] += last[o] != b;
            last[o] = b;
        }
    tsr__row_exchange_add(d, BAGS, sizeof(int64_t), false);
    tsr__row_exchange_add(d, IDS, sizeof(int64_t), false);
    if (d->weights)
        tsr__row_exchange_add(d, IDS, tsr_dtype_size(d->dtype), false);
done:
    return st;
}

/* Bags' lengths, ids and weights. item and position say which of ours they are. */
static tsr_status bag_request(tsr_row_exchange *d)
{
    const size_t size = tsr_dtype_size(d->dtype);
    int64_t *length = d->request[LENGTHS].out, *ids = d->request[ROWS_OF_IDS].out, *at, *at_bag,
            *last;
    char *weights = d->request[MORE].out;
    tsr_status st;

    TSR_TRY(tsr__arena_alloc(&d->arena, (size_t)d->n_sent[BAGS] * 8, &d->item));
    TSR_TRY(tsr__arena_alloc(&d->arena, (size_t)d->n_sent[IDS] * 8, &d->position));
    TSR_TRY(tsr__arena_alloc(&d->arena, (size_t)d->comm->group->n * 8, &last));
    TSR_TRY(tsr__row_exchange_first_items(d, IDS, &at));
    TSR_TRY(tsr__row_exchange_first_items(d, BAGS, &at_bag));
    for (int i = 0; i < d->comm->group->n; i++)
        last[i] = -1;
    for (int64_t b = 0; b < d->own.n_bags; b++)
        for (int64_t i = tsr__bag_begin(&d->own, b); i < tsr__bag_begin(&d->own, b + 1); i++) {
            int o = d->owner[i];
            int64_t to;
            if (o < 0)
                continue;
            to = at[o]++;
            if (last[o] != b) {
                last[o] = b;
                d->item[at_bag[o]] = b;
                length[at_bag[o]++] = 0;
            }
            length[at_bag[o] - 1]++;
            d->position[to] = i;
            ids[to] = tsr__ids_at(&d->own.ids, i);
            if (d->weights)
                memcpy(weights + (size_t)to * size, d->weights + (size_t)i * size, size);
        }
done:
    return st;
}

/* What came, as bags. */
static tsr_status bags_that_came(tsr_row_exchange *d, tsr_bags *out)
{
    const int64_t *length = d->request[LENGTHS].in, n = d->n_got[BAGS],
                  *ids = d->request[ROWS_OF_IDS].in;
    tsr_status st;

    TSR_TRY(tsr__arena_alloc(&d->arena, (size_t)(n + 1) * 8, &d->begin));
    TSR_TRY(tsr__row_exchange_check(d, "length of a bag", length, n, 1, d->n_got[IDS]));
    d->begin[0] = 0;
    for (int64_t i = 0; i < n; i++)
        d->begin[i + 1] = d->begin[i] + length[i];
    TSR_TRY(tsr__row_exchange_check(d, "length of all bags", &d->begin[n], 1, d->n_got[IDS],
                                    d->n_got[IDS]));
    TSR_TRY(tsr__row_exchange_check(d, "id", ids, d->n_got[IDS], d->owners.first,
                                    d->owners.first + d->owners.rows - 1));
    *out = (tsr_bags){.ids = {.dtype = TSR_I64,
                              .data = ids,
                              .n = d->n_got[IDS],
                              .vocab = d->own.ids.vocab,
                              .row_first = d->owners.first,
                              .n_rows = d->owners.rows,
                              .padding = -1},
                      .n_bags = n,
                      .begin = d->begin};
done:
    return st;
}

/* Rows of bags to the owners that they hit. */
static void copy_rows(const tsr_row_exchange *d, tsr_payload *payload, const void *rows)
{
    for (int64_t i = 0; i < d->n_sent[BAGS]; i++)
        memcpy((char *)payload->out + (size_t)i * payload->width,
               (const char *)rows + (size_t)d->item[i] * payload->width, payload->width);
}

static bool is_mean(const tsr_row_exchange *d)
{
    return tsr__lookup_is_mean(d->call->schema->op->kind);
}

/* Owners divide by the counts of whole bags while they add, so that sums of small types do not
   overflow. */
static tsr_status send_counts(tsr_row_exchange *d, tsr_payload *payload)
{
    int64_t *counts;
    tsr_status st;

    TSR_TRY(tsr__arena_alloc(&d->arena, (size_t)d->own.n_bags * 8, &counts));
    tsr__bag_counts(&d->own, counts);
    copy_rows(d, payload, counts);
done:
    return st;
}

/* ---- sums and means ---- */

static tsr_status sum_count(tsr_row_exchange *d, tsr_error *err)
{
    tsr_status st;

    tsr__row_exchange_add(d, BAGS, d->row, true);
    TSR_TRY(bag_count(d, err));
    if (is_mean(d)) /* it has no weights, so these stand in their place */
        tsr__row_exchange_add(d, BAGS, sizeof(int64_t), false);
done:
    return st;
}

static tsr_status sum_request(tsr_row_exchange *d)
{
    tsr_status st;

    TSR_TRY(bag_request(d));
    if (is_mean(d))
        TSR_TRY(send_counts(d, &d->request[MORE]));
done:
    return st;
}

/* Pool this rank's rows of the bags that came. */
static tsr_status pool_rows(tsr_row_exchange *d, int64_t *position)
{
    tsr_bag_pool pool = {.dtype = d->dtype,
                         .dim = d->dim,
                         .table = tsr__tensor_data(d->call->in[0]),
                         .weights = d->weights ? d->request[MORE].in : NULL,
                         .counts = is_mean(d) ? d->request[MORE].in : NULL,
                         .out = d->response[0].out,
                         .position = position};
    tsr_status st;

    TSR_TRY(bags_that_came(d, &pool.bags));
    TSR_TRY(tsr__arena_alloc(&d->arena, tsr__bag_bytes(&pool.bags), &pool.scratch));
    pool.last = tsr_schema_attr(d->call->schema, "last")->i[0];
    (position ? tsr__bag_max : is_mean(d) ? tsr__bag_mean : tsr__bag_sum)(&pool);
done:
    return st;
}

static tsr_status sum_response(tsr_row_exchange *d)
{
    return pool_rows(d, NULL);
}

/* Add the rows that came back: those of a bag in the order of their owners. */
static tsr_status sum_finish(tsr_row_exchange *d)
{
    int64_t *begin, *index, n = d->n_sent[BAGS];
    tsr_bag_pool pool = {.dtype = d->dtype,
                         .dim = d->dim,
                         .table = d->response[0].in,
                         .out = tsr__tensor_data(d->call->out[0])};
    tsr_status st;

    TSR_TRY(tsr__arena_alloc(&d->arena, (size_t)(d->own.n_bags + 2) * 8, &begin));
    TSR_TRY(tsr__arena_alloc(&d->arena, (size_t)n * 8, &index));
    memset(begin, 0, (size_t)(d->own.n_bags + 2) * 8);
    for (int64_t i = 0; i < n; i++)
        begin[d->item[i] + 2]++;
    for (int64_t b = 2; b < d->own.n_bags + 2; b++)
        begin[b] += begin[b - 1];
    for (int64_t i = 0; i < n; i++)
        index[begin[d->item[i] + 1]++] = i;
    pool.bags = (tsr_bags){
        .ids = {.dtype = TSR_I64, .data = index, .n = n, .vocab = n, .n_rows = n, .padding = -1},
        .n_bags = d->own.n_bags,
        .begin = begin};
    TSR_TRY(tsr__arena_alloc(&d->arena, tsr__bag_bytes(&pool.bags), &pool.scratch));
    tsr__bag_sum(&pool);
done:
    return st;
}

const tsr_row_exchange_kind tsr__row_exchange_bag = {.n_lists = 2,
                                                     .count = sum_count,
                                                     .fill_request = sum_request,
                                                     .fill_response = sum_response,
                                                     .finish = sum_finish};

/* ---- the largest ---- */

static tsr_status max_count(tsr_row_exchange *d, tsr_error *err)
{
    tsr__row_exchange_add(d, BAGS, d->row, true);
    tsr__row_exchange_add(d, BAGS, (size_t)d->dim * sizeof(int64_t), true);
    return bag_count(d, err);
}

/* Positions are counted among all that came; each asker counts from its own first id. */
static tsr_status max_response(tsr_row_exchange *d)
{
    int64_t *position = d->response[1].out, item = 0, first = 0;
    tsr_status st;

    TSR_TRY(pool_rows(d, position));
    for (int o = 0; o < d->comm->group->n; o++) {
        for (int64_t i = 0; i < d->got[BAGS][o] * d->dim; i++, item++)
            position[item] -= position[item] < 0 ? 0 : first;
        first += d->got[IDS][o];
    }
done:
    return st;
}

/* Nothing has won yet: zeros from nowhere. */
static tsr_status begin_contest(tsr_row_exchange *d, int64_t n_bags, int64_t **winner)
{
    tsr_status st;

    TSR_TRY(tsr__arena_alloc(&d->arena, (size_t)(n_bags * d->dim) * 8, winner));
    if (n_bags > 0)
        memset(tsr__tensor_data(d->call->out[0]), 0, (size_t)n_bags * d->row);
    for (int64_t i = 0; i < n_bags * d->dim; i++)
        (*winner)[i] = -1;
done:
    return st;
}

static void name_winners(tsr_row_exchange *d, int64_t n, const int64_t *winner)
{
    if (d->call->out[1])
        tsr__bag_winners(&d->own.ids, n, winner, TSR_I64, tsr__tensor_data(d->call->out[1]));
}

/* Compare the rows that came back, each with the positions of its elements among the ids that went
   to that owner. */
static tsr_status max_finish(tsr_row_exchange *d)
{
    bool last = tsr_schema_attr(d->call->schema, "last")->i[0];
    const char *rows = d->response[0].in;
    char *out = tsr__tensor_data(d->call->out[0]);
    int64_t *position = d->response[1].in, *winner, item = 0, first = 0;
    tsr_status st;

    TSR_TRY(begin_contest(d, d->own.n_bags, &winner));
    for (int o = 0; o < d->comm->group->n; o++) {
        TSR_TRY(tsr__row_exchange_check(d, "position of an id", position + item * d->dim,
                                        d->sent[BAGS][o] * d->dim, -1, d->sent[IDS][o] - 1));
        for (int64_t i = 0; i < d->sent[BAGS][o]; i++, item++) {
            int64_t *at = position + item * d->dim, bag = d->item[item];
            for (int64_t k = 0; k < d->dim; k++)
                at[k] = at[k] < 0 ? -1 : d->position[first + at[k]];
            tsr__bag_max_merge(d->dtype, d->dim, last, rows + (size_t)item * d->row, at,
                               out + (size_t)bag * d->row, winner + bag * d->dim);
        }
        first += d->sent[IDS][o];
    }
    name_winners(d, d->own.n_bags * d->dim, winner);
done:
    return st;
}

const tsr_row_exchange_kind tsr__row_exchange_bag_max = {.n_lists = 2,
                                                         .count = max_count,
                                                         .fill_request = bag_request,
                                                         .fill_response = max_response,
                                                         .finish = max_finish};

/* ---- the largest of bags by offsets, which all ranks have: each finds its rows' winners of all
   bags, then every rank compares those of its bags ---- */

static tsr_status contest_count(tsr_row_exchange *d, tsr_error *err)
{
    const tsr_run_call *call = d->call;
    const tsr_spec *out = &call->out_spec[0];
    const tsr_offsets offsets = tsr__offsets_of(call);
    const int64_t n_bags = out->shape.size[0];
    int64_t *begin;
    tsr_owners bags = {0};
    tsr_status st;

    TSR_TRY(tsr__bag_bounds(call, &offsets, 0, n_bags, &d->arena, &begin, err));
    d->own.n_bags = n_bags;
    d->own.begin = begin;
    TSR_TRY(tsr__owners_open(call->mesh, out, d->mdims, d->among, &bags));
    for (int i = 0; i < bags.n; i++)
        d->sent[BAGS][bags.member[i]] = bags.begin[2 * i + 1] - bags.begin[2 * i];
    tsr__row_exchange_add(d, BAGS, d->row, false);
    tsr__row_exchange_add(d, BAGS, (size_t)d->dim * sizeof(int64_t), false);
done:
    tsr__owners_close(d->ctx, &bags);
    return st;
}

static tsr_status contest_request(tsr_row_exchange *d)
{
    tsr_bag_pool pool = {.dtype = d->dtype,
                         .dim = d->dim,
                         .bags = d->own,
                         .table = tsr__tensor_data(d->call->in[0]),
                         .out = d->request[0].out,
                         .position = d->request[1].out};
    tsr_status st;

    pool.bags.ids.row_first = d->owners.first;
    pool.bags.ids.n_rows = d->owners.rows;
    pool.last = tsr_schema_attr(d->call->schema, "last")->i[0];
    TSR_TRY(tsr__arena_alloc(&d->arena, tsr__bag_bytes(&pool.bags), &pool.scratch));
    tsr__bag_max(&pool);
done:
    return st;
}

static tsr_status contest_finish(tsr_row_exchange *d)
{
    const int64_t bags = d->call->out[0]->local_spec->local.size[0], n = bags * d->dim;
    bool last = tsr_schema_attr(d->call->schema, "last")->i[0];
    const char *rows = d->request[0].in;
    const int64_t *position = d->request[1].in;
    int64_t *winner;
    tsr_status st;

    TSR_TRY(tsr__row_exchange_check(d, "position of an id", position, d->owners.n * n, -1,
                                    d->own.ids.n - 1));
    TSR_TRY(begin_contest(d, bags, &winner));
    for (int i = 0; i < d->owners.n; i++)
        tsr__bag_max_merge(d->dtype, n, last, rows + (size_t)(i * bags) * d->row, position + i * n,
                           tsr__tensor_data(d->call->out[0]), winner);
    name_winners(d, n, winner);
done:
    return st;
}

const tsr_row_exchange_kind tsr__row_exchange_bag_max_offsets = {.n_lists = 1,
                                                                 .count = contest_count,
                                                                 .fill_request = contest_request,
                                                                 .finish = contest_finish};

/* ---- gradients ---- */

/* The last payloads of the request: rows of bags, then, of means, their counts. */
static tsr_status grad_count(tsr_row_exchange *d, tsr_error *err)
{
    tsr_status st;

    TSR_TRY(bag_count(d, err));
    tsr__row_exchange_add(d, BAGS, d->row, false);
    if (is_mean(d))
        tsr__row_exchange_add(d, BAGS, sizeof(int64_t), false);
done:
    return st;
}

static tsr_status grad_request(tsr_row_exchange *d)
{
    tsr_payload *rows = &d->request[d->n_requests - 1 - is_mean(d)];
    tsr_status st;

    TSR_TRY(bag_request(d));
    copy_rows(d, rows, tsr__tensor_data(d->call->in[0]));
    if (is_mean(d))
        TSR_TRY(send_counts(d, rows + 1));
done:
    return st;
}

static tsr_status grad_finish(tsr_row_exchange *d)
{
    const tsr_payload *rows = &d->request[d->n_requests - 1 - is_mean(d)];
    tsr_table_grad fill = tsr__row_exchange_grad(d, rows->in);
    tsr_scattered scatter;
    tsr_bags bags;
    void *scratch;
    tsr_status st;

    TSR_TRY(bags_that_came(d, &bags));
    TSR_TRY(tsr__arena_alloc(&d->arena, tsr__scatter_bytes(bags.ids.n), &scratch));
    tsr__bag_scatter(&bags, d->dtype, d->weights ? d->request[MORE].in : NULL,
                     is_mean(d) ? rows[1].in : NULL, scratch, &scatter);
    TSR_TRY(tsr__row_exchange_fill(d, &scatter, &fill));
done:
    return st;
}

const tsr_row_exchange_kind tsr__row_exchange_bag_backward = {.backward = true,
                                                              .n_lists = 2,
                                                              .count = grad_count,
                                                              .fill_request = grad_request,
                                                              .finish = grad_finish};

/* An element of the gradient belongs to the row that won: a bag's row is sent, with its winners, to
   all owners of them. */
static tsr_status winners_count(tsr_row_exchange *d, tsr_error *err)
{
    tsr_status st;

    TSR_TRY(bag_count(d, err));
    d->n_requests = 0; /* winners are the ids of a bag; how many each owner has is of no interest */
    tsr__row_exchange_add(d, BAGS, d->row, false);
    tsr__row_exchange_add(d, BAGS, (size_t)d->dim * sizeof(int64_t), false);
done:
    return st;
}

static tsr_status winners_request(tsr_row_exchange *d)
{
    const int64_t dim = d->dim;
    int64_t *at, *last, *winner = d->request[1].out;
    tsr_status st;

    TSR_TRY(tsr__arena_alloc(&d->arena, (size_t)d->n_sent[BAGS] * 8, &d->item));
    TSR_TRY(tsr__arena_alloc(&d->arena, (size_t)d->comm->group->n * 8, &last));
    TSR_TRY(tsr__row_exchange_first_items(d, BAGS, &at));
    for (int i = 0; i < d->comm->group->n; i++)
        last[i] = -1;
    for (int64_t i = 0; i < d->own.n_bags * dim; i++) {
        int o = d->owner[i];
        if (o >= 0 && last[o] != i / dim)
            d->item[at[o]++] = last[o] = i / dim;
    }
    copy_rows(d, &d->request[0], tsr__tensor_data(d->call->in[0]));
    for (int64_t i = 0; i < d->n_sent[BAGS] * dim; i++)
        winner[i] = tsr__ids_at(&d->own.ids, d->item[i / dim] * dim + i % dim);
done:
    return st;
}

static tsr_status winners_finish(tsr_row_exchange *d)
{
    tsr_table_grad fill = tsr__row_exchange_grad(d, d->request[0].in);
    tsr_ids winners = {.dtype = TSR_I64,
                       .data = d->request[1].in,
                       .n = d->n_got[BAGS] * d->dim,
                       .vocab = d->own.ids.vocab,
                       .row_first = d->owners.first,
                       .n_rows = d->owners.rows,
                       .padding = d->own.ids.padding};
    tsr_scattered scatter;
    void *scratch;
    tsr_status st;

    TSR_TRY(tsr__arena_alloc(&d->arena, tsr__scatter_bytes(winners.n), &scratch));
    tsr__bag_max_scatter(&winners, scratch, &scatter);
    TSR_TRY(tsr__row_exchange_fill(d, &scatter, &fill));
done:
    return st;
}

const tsr_row_exchange_kind tsr__row_exchange_bag_max_backward = {.backward = true,
                                                                  .n_lists = 2,
                                                                  .count = winners_count,
                                                                  .fill_request = winners_request,
                                                                  .finish = winners_finish};
