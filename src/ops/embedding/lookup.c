/* SPDX-License-Identifier: Apache-2.0 */
/* lookup.c - lookups in a table that others own, as row exchanges (row_exchange.h): unique
   ids are sent to the owners of their rows, which return the rows. The gradient: ids and rows go to
   the owners, which add them in the order of the whole, so that the result does not depend on how
   many ranks there are. Bags are bag_lookup.c. */
#include <string.h>

#include "ops/embedding/row_exchange.h"

/* Ids that came, each of a row that this rank has. */
static tsr_status ids_that_came(const tsr_row_exchange *d, tsr_ids *out)
{
    *out = (tsr_ids){.dtype = TSR_I64,
                     .data = d->request[0].in,
                     .n = d->n_got[0],
                     .vocab = d->own.ids.vocab,
                     .row_first = d->owners.first,
                     .n_rows = d->owners.rows,
                     .padding = -1};
    return tsr__row_exchange_check(d, "id", out->data, out->n, d->owners.first,
                                   d->owners.first + d->owners.rows - 1);
}

/* ---- rows for ids ---- */

/* The rows that are wanted, each once, ascending and so by owner, become the items; position is
   which of them each id wants, -1 if none. */
static tsr_status lookup_count(tsr_row_exchange *d, tsr_error *err)
{
    tsr_ids *ids = &d->own.ids;
    tsr_scattered s;
    void *scratch;
    int64_t n = 0;
    tsr_status st;

    (void)err;
    if (tsr_schema_attr(d->call->schema, "keep_padding")->i[0])
        ids->padding = -1;
    TSR_TRY(tsr__arena_alloc(&d->arena, (size_t)ids->n * 8, &d->position));
    TSR_TRY(tsr__arena_alloc(&d->arena, (size_t)ids->n * 8, &d->item));
    TSR_TRY(tsr__arena_alloc(&d->arena, tsr__scatter_bytes(ids->n), &scratch));
    tsr__embedding_scatter(ids, scratch, &s);
    for (int64_t i = 0; i < ids->n; i++)
        d->position[i] = -1;
    for (int64_t i = 0; i < s.n_distinct; i++) {
        int owner = tsr__owner_of(&d->owners, s.row[i]);
        if (owner < 0) /* it is another group's: theirs is the other term of a partial sum */
            continue;
        d->sent[0][owner]++;
        d->item[n] = s.row[i];
        for (int64_t k = s.begin[i]; k < s.begin[i + 1]; k++)
            d->position[s.from[k]] = n;
        n++;
    }
    tsr__row_exchange_add(d, 0, sizeof *d->item, false);
    tsr__row_exchange_add(d, 0, d->row, true);
done:
    return st;
}

static tsr_status lookup_request(tsr_row_exchange *d)
{
    memcpy(d->request[0].out, d->item, (size_t)d->n_sent[0] * sizeof *d->item);
    return TSR_OK;
}

static tsr_status lookup_response(tsr_row_exchange *d)
{
    tsr_lookup rows = {.dtype = d->dtype,
                       .dim = d->dim,
                       .table = tsr__tensor_data(d->call->in[0]),
                       .out = d->response[0].out};
    tsr_status st;

    TSR_TRY(ids_that_came(d, &rows.ids));
    tsr__embedding_forward(&rows);
done:
    return st;
}

static tsr_status lookup_finish(tsr_row_exchange *d)
{
    tsr__embedding_forward(&(tsr_lookup){.dtype = d->dtype,
                                         .dim = d->dim,
                                         .ids = {.dtype = TSR_I64,
                                                 .data = d->position,
                                                 .n = d->own.ids.n,
                                                 .vocab = d->n_sent[0],
                                                 .n_rows = d->n_sent[0],
                                                 .padding = -1},
                                         .table = d->response[0].in,
                                         .out = tsr__tensor_data(d->call->out[0])});
    return TSR_OK;
}

const tsr_row_exchange_kind tsr__row_exchange_lookup = {.n_lists = 1,
                                                        .count = lookup_count,
                                                        .fill_request = lookup_request,
                                                        .fill_response = lookup_response,
                                                        .finish = lookup_finish};

/* ---- gradients to owners ---- */

static tsr_status terms_count(tsr_row_exchange *d, tsr_error *err)
{
    const tsr_ids *ids = &d->own.ids;
    tsr_status st;

    (void)err;
    TSR_TRY(tsr__arena_alloc(&d->arena, (size_t)ids->n * sizeof *d->owner, &d->owner));
    for (int64_t i = 0; i < ids->n; i++) {
        int64_t id = tsr__ids_at(ids, i);
        bool none = id == ids->padding || id < 0 || id >= ids->vocab;
        d->owner[i] = none ? -1 : tsr__owner_of(&d->owners, id);
        if (d->owner[i] >= 0)
            d->sent[0][d->owner[i]]++;
    }
    tsr__row_exchange_add(d, 0, sizeof(int64_t), false);
    tsr__row_exchange_add(d, 0, d->row, false);
done:
    return st;
}

/* Ids by owner, in their order, and the rows of the gradient that go with them. */
static tsr_status terms_request(tsr_row_exchange *d)
{
    const char *grad = tsr__tensor_data(d->call->in[0]);
    int64_t *at, *ids = d->request[0].out;
    char *rows = d->request[1].out;
    tsr_status st;

    TSR_TRY(tsr__row_exchange_first_items(d, 0, &at));
    for (int64_t i = 0; i < d->own.ids.n; i++)
        if (d->owner[i] >= 0) {
            int64_t to = at[d->owner[i]]++;
            ids[to] = tsr__ids_at(&d->own.ids, i);
            memcpy(rows + (size_t)to * d->row, grad + (size_t)i * d->row, d->row);
        }
done:
    return st;
}

static tsr_status terms_finish(tsr_row_exchange *d)
{
    tsr_ids ids;
    tsr_table_grad grad = tsr__row_exchange_grad(d, d->request[1].in);
    tsr_scattered s;
    void *scratch;
    tsr_status st;

    TSR_TRY(ids_that_came(d, &ids));
    TSR_TRY(tsr__arena_alloc(&d->arena, tsr__scatter_bytes(ids.n), &scratch));
    tsr__embedding_scatter(&ids, scratch, &s);
    TSR_TRY(tsr__row_exchange_fill(d, &s, &grad));
done:
    return st;
}

const tsr_row_exchange_kind tsr__row_exchange_lookup_backward = {.backward = true,
                                                                 .n_lists = 1,
                                                                 .count = terms_count,
                                                                 .fill_request = terms_request,
                                                                 .finish = terms_finish};
