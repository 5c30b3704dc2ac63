/* SPDX-License-Identifier: Apache-2.0 */
/* row_exchange.c - runs the row exchanges of several tables in one ragged all-to-all, for single
   ops and for groups of lookups: counts, requests and responses take one message each, however
   many tables there are. */
#include <stdio.h>
#include <string.h>

#include "ops/embedding/embedding_ops.h"
#include "ops/embedding/lookups.h"
#include "op/schema.h"
#include "run/bad_values.h"
#include "ops/embedding/row_exchange.h"
#include "ops/embedding/local_bags.h"
#include "ops/embedding/row_sparse.h"

/* ---- one row exchange ---- */

static const tsr_row_exchange_kind *kind_of(const tsr_row_exchange *d)
{
    const tsr_schema *s = d->call->schema;

    switch (s->op->kind) {
    case TSR_EMBEDDING: return &tsr__row_exchange_lookup;
    case TSR_EMBEDDING_BACKWARD: return &tsr__row_exchange_lookup_backward;
    case TSR_EMBEDDING_BAG_SUM_BACKWARD:
    case TSR_EMBEDDING_BAG_MEAN_BACKWARD:
        return d->mdims ? &tsr__row_exchange_bag_backward : &tsr__row_exchange_bag_backward_here;
    case TSR_EMBEDDING_BAG_MAX_BACKWARD: return &tsr__row_exchange_bag_max_backward;
    case TSR_EMBEDDING_BAG_MAX:
        if (tsr__schema_has(s, TSR__OFFSETS) && !d->part.on_one_rank &&
            !tsr__list_mdims(&d->call->in_spec[TSR__OFFSETS]))
            return &tsr__row_exchange_bag_max_offsets;
        return d->mdims ? &tsr__row_exchange_bag_max : &tsr__row_exchange_bag_here;
    default: return d->mdims ? &tsr__row_exchange_bag : &tsr__row_exchange_bag_here;
    }
}

static void begin_exchange(tsr_row_exchange *d, const tsr_part *part)
{
    const tsr_run_call *call = part->call;

    d->part = *part;
    d->call = call;
    d->ctx = d->arena.ctx = call->mesh->ctx;
    d->mdims = part->on_one_rank ? (1u << call->mesh->shape.ndim) - 1
                                 : tsr__lookup_mdims(call->schema, call->in_spec, call->out_spec);
    d->kind = kind_of(d);
    d->table = d->kind->backward ? &call->out_spec[0] : &call->in_spec[0];
}

static void end_exchange(tsr_row_exchange *d)
{
    if (!d->ctx)
        return;
    tsr__arena_release(&d->arena);
    tsr__owners_close(d->ctx, &d->owners);
}

/* Of equal parts of a gradient, just one rank's counts. */
static bool is_copy(const tsr_row_exchange *d, const tsr_spec *ids)
{
    bool copy = false;

    for (int m = 0; m < ids->mesh.ndim; m++)
        copy = copy || (ids->place[m].kind == TSR_REPLICATE && d->call->mesh->coord[m] > 0);
    return copy;
}

static tsr_status open_local_bags(tsr_row_exchange *d, tsr_error *err)
{
    const tsr_counters *now = &d->call->mesh->ctx->counters;
    const tsr_counters before = *now;
    tsr_ranges ranges;
    tsr_status st = tsr__local_bags(d->call, &d->arena, &d->own, &d->weights, &ranges, err);

    for (int i = 0; i <= TSR_MAX_MESH; i++)
        d->part.along[i] += now->along[i] - before.along[i];
    tsr__ranges_close(&ranges);
    return st;
}

/* The ids of this rank, checked. */
static tsr_status open_ids(tsr_row_exchange *d, tsr_error *err)
{
    const tsr_run_call *call = d->call;
    const tsr_schema *s = call->schema;
    const tsr_local_spec *ids = call->in[1]->local_spec;
    tsr_tensor *rows = d->kind->backward ? call->in[0] : call->out[0];
    tsr_status st = TSR_OK;

    d->dtype = rows->local_spec->spec.dtype;
    d->dim = rows->local_spec->local.size[rows->local_spec->local.ndim - 1];
    d->row = (size_t)d->dim * tsr_dtype_size(d->dtype);
    tsr__ids_open(call->in[1], d->table->shape.size[0], tsr_schema_attr(s, "padding_idx"),
                  tsr__ids_check(s), s->op->name, &d->own.ids, err);
    if (tsr__schema_has(s, TSR__WEIGHTS))
        d->weights = tsr__tensor_data(call->in[TSR__WEIGHTS]);
    if (ids->local.ndim == 2) {
        d->own.n_bags = ids->local.size[0];
        d->own.length = ids->local.size[1];
    }
    if (tsr__schema_has(s, TSR__OFFSETS)) {
        if (d->kind != &tsr__row_exchange_bag_max_offsets)
            TSR_TRY(open_local_bags(d, err));
    } else if (d->part.on_one_rank && d->kind->backward && is_copy(d, &call->in_spec[1])) {
        d->own.ids.n = 0;
        d->own.n_bags = 0;
    }
done:
    return st;
}

static tsr_status open_exchange(tsr_row_exchange *d, unsigned among, tsr_alltoallv *comm,
                                tsr_error *err)
{
    const int64_t n = comm->group->n;
    tsr_status st;

    d->comm = comm;
    d->among = among;
    for (int i = 0; i < d->kind->n_lists; i++) {
        d->sent[i] = comm->sent + (d->first_list + i) * n;
        d->got[i] = comm->got + (d->first_list + i) * n;
    }
    if (d->part.on_one_rank)
        TSR_TRY(tsr__owners_open_one_rank(d->call->mesh, d->table->shape.size[0], d->part.at,
                                          &d->owners));
    else
        TSR_TRY(tsr__owners_open(d->call->mesh, d->table, d->mdims, among, &d->owners));
    TSR_TRY(open_ids(d, err));
    if (d->kind->count)
        TSR_TRY(d->kind->count(d, err));
done:
    return st;
}

int tsr__row_exchange_add(tsr_row_exchange *d, int list, size_t width, bool is_response)
{
    *(is_response ? &d->response[d->n_responses] : &d->request[d->n_requests]) =
        (tsr_payload){.list = d->first_list + list, .width = width, .is_response = is_response};
    return is_response ? d->n_responses++ : d->n_requests++;
}

tsr_status tsr__row_exchange_check(const tsr_row_exchange *d, const char *field,
                                   const void *numbers, int64_t n, int64_t low, int64_t high)
{
    return tsr__received_check(d->ctx, d->call->schema->op->name, field, numbers, n, low, high);
}

tsr_status tsr__row_exchange_first_items(tsr_row_exchange *d, int list, int64_t **out)
{
    tsr_status st;

    TSR_TRY(tsr__arena_alloc(&d->arena, (size_t)d->comm->group->n * sizeof **out, out));
    tsr__alltoallv_first_items(d->comm, d->sent[list], *out);
done:
    return st;
}

tsr_table_grad tsr__row_exchange_grad(const tsr_row_exchange *d, const void *rows)
{
    return (tsr_table_grad){.dtype = d->dtype,
                            .dim = d->dim,
                            .n_rows = d->owners.rows,
                            .grad_out = rows,
                            .out = tsr__tensor_data(d->call->out[0])};
}

tsr_status tsr__row_exchange_fill(tsr_row_exchange *d, const tsr_scattered *scatter,
                                  tsr_table_grad *grad)
{
    tsr_status st = TSR_OK;

    if (tsr_schema_attr(d->call->schema, "scale_grad_by_freq")->i[0])
        TSR_TRY(tsr__row_sparse_freq(&d->arena, scatter, grad));
    if (d->part.sparse)
        return tsr__row_sparse_fill(scatter, grad, d->owners.first, d->call, d->part.sparse);
    tsr__scatter_dense(scatter, grad);
done:
    return st;
}

/* ---- all of them ---- */

typedef struct exchanges {
    tsr_row_exchange *exchange;
    int n;
    tsr_alltoallv comm;
    tsr_payload **payloads; /* of the exchange at hand */
    int n_payloads;
} exchanges;

static tsr_status open_all(exchanges *all, const tsr_part *parts)
{
    tsr_mesh *mesh = parts[0].call->mesh;
    const char *what = all->n > 1 ? "lookup_group" : parts[0].call->schema->op->name;
    unsigned among = 0;
    int n_lists = 0;
    tsr_status st;

    for (int i = 0; i < all->n; i++) {
        tsr_row_exchange *d = &all->exchange[i];
        begin_exchange(d, &parts[i]);
        d->first_list = n_lists;
        n_lists += d->kind->n_lists;
        among |= d->mdims;
    }
    TSR_TRY(tsr__alltoallv_open(&all->comm, mesh, among, n_lists, what));
    for (int i = 0; i < all->n; i++) {
        const tsr_run_call *call = parts[i].call;
        tsr_error bad = {0};
        char part[32] = "";

        if (parts[i].table >= 0)
            snprintf(part, sizeof part, "table %d: ", parts[i].table);
        TSR_TRY(open_exchange(&all->exchange[i], among, &all->comm, &bad));
        TSR_TRY(tsr__bad_values(mesh, call->in, call->schema->n_in, part, &bad));
    }
    if (n_lists > 0)
        TSR_TRY(tsr__alltoallv_exchange_counts(&all->comm));
    for (int i = 0; i < all->n; i++)
        for (int k = 0; k < all->exchange[i].kind->n_lists; k++) {
            tsr_row_exchange *d = &all->exchange[i];
            d->n_sent[k] = tsr__alltoallv_count(&all->comm, d->sent[k]);
            d->n_got[k] = tsr__alltoallv_count(&all->comm, d->got[k]);
        }
done:
    return st;
}

/* Allocate the payloads of all requests, or responses, fill them, and exchange them at once. */
static tsr_status exchange(exchanges *all, bool responses)
{
    tsr_status st = TSR_OK;

    all->n_payloads = 0;
    for (int i = 0; i < all->n; i++) {
        tsr_row_exchange *d = &all->exchange[i];
        for (int k = 0; k < (responses ? d->n_responses : d->n_requests); k++)
            all->payloads[all->n_payloads++] = responses ? &d->response[k] : &d->request[k];
    }
    if (all->n_payloads == 0)
        return TSR_OK;
    TSR_TRY(tsr__alltoallv_alloc(&all->comm, all->payloads, all->n_payloads));
    for (int i = 0; i < all->n; i++) {
        tsr_row_exchange *d = &all->exchange[i];
        tsr_status (*fill)(tsr_row_exchange *) =
            responses ? d->kind->fill_response : d->kind->fill_request;
        if (fill)
            TSR_TRY(fill(d));
    }
    TSR_TRY(tsr__alltoallv_exchange(&all->comm, all->payloads, all->n_payloads));
done:
    return st;
}

/* Bytes received by a row exchange from the other members, counts included. */
static int64_t bytes_in(const tsr_row_exchange *d)
{
    const tsr_group *group = d->comm->group;
    int64_t bytes = (int64_t)sizeof(int64_t) * d->kind->n_lists * (group->n - 1);

    for (int i = 0; i < d->n_requests + d->n_responses; i++) {
        const bool is_response = i >= d->n_requests;
        const tsr_payload *payload = is_response ? &d->response[i - d->n_requests] : &d->request[i];
        const int64_t *count = (is_response ? d->sent : d->got)[payload->list - d->first_list];

        bytes +=
            (tsr__alltoallv_count(d->comm, count) - count[group->me]) * (int64_t)payload->width;
    }
    return bytes;
}

tsr_status tsr__run_together(tsr_part *parts, int n)
{
    tsr_ctx *ctx = parts[0].call->mesh->ctx;
    exchanges all = {.n = n, .comm = {.ctx = ctx}};
    tsr_status st;

    TSR_TRY(tsr__alloc(&ctx->heap, n, sizeof *all.exchange, &all.exchange, &ctx->error));
    TSR_TRY(tsr__alloc(&ctx->heap, (int64_t)n * TSR_ROW_EXCHANGE_PAYLOADS, sizeof *all.payloads,
                       &all.payloads, &ctx->error));
    TSR_TRY(open_all(&all, parts));
    TSR_TRY(exchange(&all, false));
    TSR_TRY(exchange(&all, true));
    for (int i = 0; i < n; i++) {
        TSR_TRY(all.exchange[i].kind->finish(&all.exchange[i]));
        memcpy(parts[i].along, all.exchange[i].part.along, sizeof parts[i].along);
        parts[i].along[all.comm.group->along] += bytes_in(&all.exchange[i]);
    }
done:
    for (int i = 0; all.exchange && i < n; i++)
        end_exchange(&all.exchange[i]);
    tsr__alltoallv_close(&all.comm);
    tsr__free(&ctx->heap, all.payloads);
    tsr__free(&ctx->heap, all.exchange);
    return st;
}

tsr_status tsr__run_lookup(const tsr_run_call *call, tsr_error *err)
{
    (void)err; /* what is wrong with ids is a verdict, the rest has been said */
    return tsr__run_together(&(tsr_part){.call = call, .table = -1}, 1);
}
