/* SPDX-License-Identifier: Apache-2.0 */
/* bag_lookup.c - bags of a table sharded by rows, for bags that are sharded too. The ids of a bag
   travel to the owners of their rows; each owner that is hit pools what it has, and one row comes
   back. For gradients, dense or as touched rows, the row of a bag travels once to each owner that
   is hit. Lookups of single ids are lookup.c. */
#include <string.h>

#include "op/families.h"
#include "op/schema.h"
#include "run/held.h"
#include "run/owners.h"
#include "run/touched.h"
#include "run/trade.h"

/* Everything of one call. Items of the first trade are bags that hit an owner, of the second their
   ids. */
typedef struct bag_trade {
    const tsr_run_call *call;
    tsr_error *err;
    tsr_ctx *ctx;
    tsr_held held;
    tsr_trade bags, ids;
    tsr_owners owners;
    unsigned mdims;    /* along which things travel */
    tsr_bags own;      /* the bags of this rank, of `length` ids each */
    int64_t *bag;      /* [bags.n_sent] which bag of ours */
    int64_t *position; /* [ids.n_sent] which id of ours */
    const void *weights;
    /* what came: */
    int64_t *begin; /* [bags.n_got + 1] */
    tsr_ids asked;
    void *asked_weights;
} bag_trade;

/* The winner of an empty bag is -1. */
static bool may_be_outside(const tsr_schema *s)
{
    return s->op->kernel == tsr__kernel_bag_max_backward ||
           tsr_schema_attr(s, "zero_out_of_range")->i[0];
}

static tsr_status open_trade(bag_trade *t, const tsr_run_call *call, const tsr_spec *table,
                             tsr_error *err)
{
    const tsr_schema *s = call->schema;
    tsr_spec in[TSR_MAX_IN], out[TSR_MAX_OUT];
    tsr_status st;

    memset(t, 0, sizeof *t);
    t->call = call;
    t->err = err;
    t->ctx = t->held.ctx = t->bags.ctx = t->ids.ctx = call->mesh->ctx;
    tsr__run_specs(call, in, out);
    t->mdims = tsr__lookup_mdims(s, in, out);
    TSR_TRY(tsr__owners_open(call->mesh, table, t->mdims, &t->owners));
    TSR_TRY(tsr__trade_open(&t->bags, call->mesh, t->mdims, s->op->name));
    TSR_TRY(tsr__trade_open(&t->ids, call->mesh, t->mdims, s->op->name));
    TSR_TRY(tsr__ids_open(call->in[1], table->shape.size[0], tsr_schema_attr(s, "padding_idx"),
                          may_be_outside(s), s->op->name, &t->own.ids, err));
    if (call->in[1]->form->local.ndim == 2) {
        t->own.n_bags = call->in[1]->form->local.size[0];
        t->own.length = call->in[1]->form->local.size[1];
    }
    if (s->n_in > 3 && call->in[3])
        t->weights = tsr__tensor_data(call->in[3]);
done:
    return st;
}

static void close_trade(bag_trade *t)
{
    tsr__held_release(&t->held);
    tsr__trade_close(&t->bags);
    tsr__trade_close(&t->ids);
    tsr__owners_close(t->ctx, &t->owners);
}

/* ---- what goes to whom ---- */

/* Count ids and bags for each owner; owner[i] is that of id i, -1 if it has none. */
static tsr_status find_owners(bag_trade *t, int **owner)
{
    const tsr_ids *ids = &t->own.ids;
    int64_t *last, *rows;
    tsr_status st;

    TSR_TRY(tsr__hold(&t->held, (size_t)ids->n * sizeof **owner, owner));
    TSR_TRY(tsr__hold(&t->held, (size_t)ids->n * 8, &rows));
    TSR_TRY(tsr__hold(&t->held, (size_t)t->owners.n * 8, &last));
    for (int i = 0; i < t->owners.n; i++)
        last[i] = -1;
    tsr__ids_rows(ids, 0, ids->n, rows);
    for (int64_t i = 0; i < ids->n; i++) {
        int o = rows[i] < 0 ? -1 : tsr__owner_of(&t->owners, rows[i]);
        int64_t bag = i / t->own.length;
        (*owner)[i] = o;
        if (o < 0)
            continue;
        t->ids.sent[o]++;
        if (last[o] != bag) {
            t->bags.sent[o]++;
            last[o] = bag;
        }
    }
    TSR_TRY(tsr__trade_agree(&t->bags));
    TSR_TRY(tsr__trade_agree(&t->ids));
done:
    return st;
}

/* First item of each owner. */
static void first_items(const tsr_trade *trade, int64_t *first)
{
    int64_t n = 0;

    for (int i = 0; i < trade->group->n; i++) {
        first[i] = n;
        n += trade->sent[i];
    }
}

/* Send bags' lengths, ids and weights; what came stands in begin, asked and asked_weights. */
static tsr_status send_bags(bag_trade *t, tsr_dtype dtype)
{
    const size_t size = tsr_dtype_size(dtype);
    int64_t *length, *ids, *lengths, *asked, *at, *at_bag, *last;
    char *weights = NULL;
    int *owner;
    tsr_status st;

    TSR_TRY(find_owners(t, &owner));
    TSR_TRY(tsr__hold(&t->held, (size_t)t->bags.n_sent * 8, &t->bag));
    TSR_TRY(tsr__hold(&t->held, (size_t)t->bags.n_sent * 8, &length));
    TSR_TRY(tsr__hold(&t->held, (size_t)t->ids.n_sent * 8, &t->position));
    TSR_TRY(tsr__hold(&t->held, (size_t)t->ids.n_sent * 8, &ids));
    TSR_TRY(tsr__hold(&t->held, (size_t)(3 * t->owners.n) * 8, &at));
    if (t->weights)
        TSR_TRY(tsr__hold(&t->held, (size_t)t->ids.n_sent * size, &weights));
    at_bag = at + t->owners.n;
    last = at_bag + t->owners.n;
    first_items(&t->ids, at);
    first_items(&t->bags, at_bag);
    for (int i = 0; i < t->owners.n; i++)
        last[i] = -1;
    for (int64_t i = 0; i < t->own.ids.n; i++) {
        int o = owner[i];
        int64_t bag = i / t->own.length, to;
        if (o < 0)
            continue;
        to = at[o]++;
        if (last[o] != bag) {
            last[o] = bag;
            t->bag[at_bag[o]] = bag;
            length[at_bag[o]++] = 0;
        }
        length[at_bag[o] - 1]++;
        t->position[to] = i;
        ids[to] = tsr__ids_at(&t->own.ids, i);
        if (weights)
            memcpy(weights + (size_t)to * size, (const char *)t->weights + (size_t)i * size, size);
    }
    TSR_TRY(tsr__hold(&t->held, (size_t)t->bags.n_got * 8, &lengths));
    TSR_TRY(tsr__hold(&t->held, (size_t)(t->bags.n_got + 1) * 8, &t->begin));
    TSR_TRY(tsr__hold(&t->held, (size_t)t->ids.n_got * 8, &asked));
    TSR_TRY(tsr__trade_send(&t->bags, TSR_I64, 1, length, lengths));
    TSR_TRY(tsr__trade_send(&t->ids, TSR_I64, 1, ids, asked));
    if (weights) {
        TSR_TRY(tsr__hold(&t->held, (size_t)t->ids.n_got * size, &t->asked_weights));
        TSR_TRY(tsr__trade_send(&t->ids, dtype, 1, weights, t->asked_weights));
    }
    t->begin[0] = 0;
    for (int64_t i = 0; i < t->bags.n_got; i++)
        t->begin[i + 1] = t->begin[i] + lengths[i];
    t->asked = (tsr_ids){.dtype = TSR_I64,
                         .data = asked,
                         .n = t->ids.n_got,
                         .vocab = t->own.ids.vocab,
                         .row_first = t->owners.begin[2 * t->bags.group->me],
                         .n_rows = t->owners.begin[2 * t->bags.group->me + 1] -
                                   t->owners.begin[2 * t->bags.group->me],
                         .padding = -1};
done:
    return st;
}

/* ---- sums and means ---- */

/* Add the rows that came back: those of a bag in the order of their owners. */
static tsr_status add_rows(bag_trade *t, tsr_bag_pool *pool, const void *rows)
{
    int64_t *begin, *index, n = t->bags.n_sent;
    tsr_status st;

    TSR_TRY(tsr__hold(&t->held, (size_t)(t->own.n_bags + 2) * 8, &begin));
    TSR_TRY(tsr__hold(&t->held, (size_t)n * 8, &index));
    memset(begin, 0, (size_t)(t->own.n_bags + 2) * 8);
    for (int64_t i = 0; i < n; i++)
        begin[t->bag[i] + 2]++;
    for (int64_t b = 2; b < t->own.n_bags + 2; b++)
        begin[b] += begin[b - 1];
    for (int64_t i = 0; i < n; i++)
        index[begin[t->bag[i] + 1]++] = i;
    pool->bags = (tsr_bags){
        .ids = {.dtype = TSR_I64, .data = index, .n = n, .vocab = n, .n_rows = n, .padding = -1},
        .n_bags = t->own.n_bags,
        .begin = begin};
    pool->table = rows;
    pool->weights = NULL;
    pool->out = tsr__tensor_data(t->call->out[0]);
    TSR_TRY(tsr__hold(&t->held, tsr__bag_bytes(&pool->bags), &pool->scratch));
    tsr__bag_sum(pool);
done:
    return st;
}

static tsr_status divide(bag_trade *t, tsr_dtype dtype, int64_t dim)
{
    int64_t *counts;
    tsr_status st;

    TSR_TRY(tsr__hold(&t->held, (size_t)t->own.n_bags * 8, &counts));
    tsr__bag_counts(&t->own, counts);
    tsr__bag_divide(dtype, dim, t->own.n_bags, counts, TSR_VARIANT_AUTO,
                    tsr__tensor_data(t->call->out[0]));
done:
    return st;
}

/* ---- the largest ---- */

/* Compare the rows that came back, each with the positions of its elements among the ids that went
   to that owner. */
static tsr_status merge_rows(bag_trade *t, const tsr_bag_pool *pool, const char *rows,
                             int64_t *position)
{
    const int64_t dim = pool->dim, n = t->own.n_bags * dim;
    const size_t row = (size_t)dim * tsr_dtype_size(pool->dtype);
    char *out = tsr__tensor_data(t->call->out[0]);
    int64_t *winner, item = 0, first = 0;
    tsr_status st;

    TSR_TRY(tsr__hold(&t->held, (size_t)n * 8, &winner));
    memset(out, 0, (size_t)t->own.n_bags * row);
    for (int64_t i = 0; i < n; i++)
        winner[i] = -1;
    for (int o = 0; o < t->owners.n; o++) {
        for (int64_t i = 0; i < t->bags.sent[o]; i++, item++) {
            int64_t *at = position + item * dim;
            for (int64_t k = 0; k < dim; k++)
                at[k] = at[k] < 0 ? -1 : t->position[first + at[k]];
            tsr__bag_max_merge(pool->dtype, dim, pool->last, rows + (size_t)item * row, at,
                               out + (size_t)t->bag[item] * row, winner + t->bag[item] * dim);
        }
        first += t->ids.sent[o];
    }
    if (t->call->out[1])
        tsr__bag_winners(&t->own.ids, n, winner, TSR_I64, tsr__tensor_data(t->call->out[1]));
done:
    return st;
}

/* Positions are counted among all that came; each asker counts from its own first id. */
static void count_from_asker(const bag_trade *t, int64_t dim, int64_t *position)
{
    int64_t item = 0, first = 0;

    for (int o = 0; o < t->owners.n; o++) {
        for (int64_t i = 0; i < t->bags.got[o] * dim; i++, item++)
            position[item] -= position[item] < 0 ? 0 : first;
        first += t->ids.got[o];
    }
}

/* ---- runs ---- */

static tsr_status run_by_rows(const tsr_run_call *call, tsr_error *err)
{
    const tsr_form *table = call->in[0]->form;
    const tsr_dtype dtype = table->spec.dtype;
    const int64_t dim = table->local.size[1];
    const size_t row = (size_t)dim * tsr_dtype_size(dtype);
    bool max = call->schema->n_out > 1;
    tsr_bag_pool pool = {.dtype = dtype, .dim = dim, .table = tsr__tensor_data(call->in[0])};
    int64_t *position = NULL;
    void *back;
    bag_trade t;
    tsr_status st;

    TSR_TRY(open_trade(&t, call, &table->spec, err));
    TSR_TRY(send_bags(&t, dtype));
    pool.bags = (tsr_bags){.ids = t.asked, .n_bags = t.bags.n_got, .begin = t.begin};
    pool.weights = t.asked_weights;
    pool.last = tsr_schema_attr(call->schema, "last")->i[0];
    TSR_TRY(tsr__hold(&t.held, tsr__bag_bytes(&pool.bags), &pool.scratch));
    TSR_TRY(tsr__hold(&t.held, (size_t)t.bags.n_got * row, &pool.out));
    TSR_TRY(tsr__hold(&t.held, (size_t)t.bags.n_sent * row, &back));
    if (max)
        TSR_TRY(tsr__hold(&t.held, (size_t)(t.bags.n_got * dim) * 8, &pool.position));
    (max ? tsr__bag_max : tsr__bag_sum)(&pool);
    TSR_TRY(tsr__trade_return(&t.bags, dtype, dim, pool.out, back));
    if (max) {
        count_from_asker(&t, dim, pool.position);
        TSR_TRY(tsr__hold(&t.held, (size_t)(t.bags.n_sent * dim) * 8, &position));
        TSR_TRY(tsr__trade_return(&t.bags, TSR_I64, dim, pool.position, position));
        TSR_TRY(merge_rows(&t, &pool, back, position));
    } else {
        TSR_TRY(add_rows(&t, &pool, back));
        if (call->schema->op->kernel == tsr__kernel_bag_mean)
            TSR_TRY(divide(&t, dtype, dim));
    }
done:
    close_trade(&t);
    return st;
}

/* The largest of bags by offsets, which all ranks have: each finds its rows' winners of all bags,
   then every rank compares those of its bags. */
static tsr_status run_by_bags(const tsr_run_call *call, tsr_error *err)
{
    const tsr_form *table = call->in[0]->form, *offsets = call->in[2]->form;
    const tsr_form *out = call->out[0]->form;
    const tsr_dtype dtype = table->spec.dtype;
    const int64_t dim = table->local.size[1], n_bags = out->spec.shape.size[0];
    const int64_t own = out->local.size[0];
    const size_t row = (size_t)dim * tsr_dtype_size(dtype);
    tsr_bag_pool pool = {.dtype = dtype, .dim = dim, .table = tsr__tensor_data(call->in[0])};
    tsr_owners bags = {0};
    int64_t *begin, *position, *winner;
    char *rows;
    bag_trade t;
    tsr_status st;

    TSR_TRY(open_trade(&t, call, &table->spec, err));
    TSR_TRY(tsr__hold(&t.held, (size_t)(n_bags + 1) * 8, &begin));
    TSR_TRY(tsr__bag_offsets(
        offsets->spec.dtype, tsr__tensor_data(call->in[2]), offsets->local.size[0],
        tsr_schema_attr(call->schema, "include_last")->i[0], t.own.ids.n, begin, err));
    pool.bags = (tsr_bags){.ids = t.own.ids, .n_bags = n_bags, .begin = begin};
    pool.bags.ids.row_first = t.owners.begin[2 * t.bags.group->me];
    pool.bags.ids.n_rows = table->local.size[0];
    pool.last = tsr_schema_attr(call->schema, "last")->i[0];
    TSR_TRY(tsr__hold(&t.held, tsr__bag_bytes(&pool.bags), &pool.scratch));
    TSR_TRY(tsr__hold(&t.held, (size_t)n_bags * row, &pool.out));
    TSR_TRY(tsr__hold(&t.held, (size_t)(n_bags * dim) * 8, &pool.position));
    tsr__bag_max(&pool);
    TSR_TRY(tsr__owners_open(call->mesh, &out->spec, t.mdims, &bags));
    for (int i = 0; i < bags.n; i++)
        t.bags.sent[i] = bags.begin[2 * i + 1] - bags.begin[2 * i];
    TSR_TRY(tsr__trade_agree(&t.bags));
    TSR_TRY(tsr__hold(&t.held, (size_t)t.bags.n_got * row, &rows));
    TSR_TRY(tsr__hold(&t.held, (size_t)(t.bags.n_got * dim) * 8, &position));
    TSR_TRY(tsr__hold(&t.held, (size_t)(own * dim) * 8, &winner));
    TSR_TRY(tsr__trade_send(&t.bags, dtype, dim, pool.out, rows));
    TSR_TRY(tsr__trade_send(&t.bags, TSR_I64, dim, pool.position, position));
    memset(tsr__tensor_data(call->out[0]), 0, (size_t)own * row);
    for (int64_t i = 0; i < own * dim; i++)
        winner[i] = -1;
    for (int i = 0; i < bags.n; i++)
        tsr__bag_max_merge(dtype, own * dim, pool.last, rows + (size_t)(i * own) * row,
                           position + i * own * dim, tsr__tensor_data(call->out[0]), winner);
    if (call->out[1])
        tsr__bag_winners(&t.own.ids, own * dim, winner, TSR_I64, tsr__tensor_data(call->out[1]));
done:
    tsr__owners_close(t.ctx, &bags);
    close_trade(&t);
    return st;
}

tsr_status tsr__run_bag(const tsr_run_call *call, tsr_error *err)
{
    return (tsr__schema_has(call->schema, 2) ? run_by_bags : run_by_rows)(call, err);
}

/* Rows of bags to the owners that they hit. */
static tsr_status send_rows(bag_trade *t, tsr_dtype dtype, int64_t width, const void *rows,
                            void *got)
{
    const size_t row = (size_t)width * tsr_dtype_size(dtype);
    char *sent;
    tsr_status st;

    TSR_TRY(tsr__hold(&t->held, (size_t)t->bags.n_sent * row, &sent));
    for (int64_t i = 0; i < t->bags.n_sent; i++)
        memcpy(sent + (size_t)i * row, (const char *)rows + (size_t)t->bag[i] * row, row);
    TSR_TRY(tsr__trade_send(&t->bags, dtype, width, sent, got));
done:
    return st;
}

static tsr_table_grad grad_of(const tsr_run_call *call, const void *rows)
{
    const tsr_form *out = call->out[0]->form;

    return (tsr_table_grad){.dtype = out->spec.dtype,
                            .dim = out->local.size[1],
                            .n_rows = out->local.size[0],
                            .grad_out = rows,
                            .out = tsr__tensor_data(call->out[0])};
}

/* Terms of this rank's rows, from bags of its own: nothing travels. */
static tsr_status find_terms(bag_trade *t, bool mean, tsr_scatter *scatter)
{
    const tsr_run_call *call = t->call;
    const tsr_form *offsets = call->in[2] ? call->in[2]->form : NULL;
    int64_t *begin, *counts = NULL;
    tsr_bags bags = t->own;
    void *scratch;
    tsr_status st;

    if (offsets) {
        bags.n_bags = call->in[0]->form->local.size[0];
        TSR_TRY(tsr__hold(&t->held, (size_t)(bags.n_bags + 1) * 8, &begin));
        TSR_TRY(tsr__bag_offsets(
            offsets->spec.dtype, tsr__tensor_data(call->in[2]), offsets->local.size[0],
            tsr_schema_attr(call->schema, "include_last")->i[0], bags.ids.n, begin, t->err));
        bags.begin = begin;
    }
    if (mean) {
        TSR_TRY(tsr__hold(&t->held, (size_t)bags.n_bags * 8, &counts));
        tsr__bag_counts(&bags, counts);
    }
    bags.ids.row_first = t->owners.begin[2 * t->bags.group->me];
    bags.ids.n_rows = call->out[0]->form->local.size[0];
    TSR_TRY(tsr__hold(&t->held, tsr__scatter_bytes(bags.ids.n), &scratch));
    tsr__bag_scatter(&bags, call->in[0]->form->spec.dtype, t->weights, counts, scratch, scatter);
done:
    return st;
}

/* The same for bags of all ranks: ids and rows of gradients travel to the owners. */
static tsr_status gather_terms(bag_trade *t, bool mean, tsr_scatter *scatter, const void **got)
{
    const tsr_run_call *call = t->call;
    const int64_t dim = call->in[0]->form->local.size[1];
    const tsr_dtype dtype = call->in[0]->form->spec.dtype;
    int64_t *counts = NULL, *got_counts = NULL;
    void *rows, *scratch;
    tsr_bags bags;
    tsr_status st;

    TSR_TRY(send_bags(t, dtype));
    TSR_TRY(tsr__hold(&t->held, (size_t)(t->bags.n_got * dim) * tsr_dtype_size(dtype), &rows));
    TSR_TRY(send_rows(t, dtype, dim, tsr__tensor_data(call->in[0]), rows));
    if (mean) {
        TSR_TRY(tsr__hold(&t->held, (size_t)t->own.n_bags * 8, &counts));
        TSR_TRY(tsr__hold(&t->held, (size_t)t->bags.n_got * 8, &got_counts));
        tsr__bag_counts(&t->own, counts);
        TSR_TRY(send_rows(t, TSR_I64, 1, counts, got_counts));
    }
    bags = (tsr_bags){.ids = t->asked, .n_bags = t->bags.n_got, .begin = t->begin};
    TSR_TRY(tsr__hold(&t->held, tsr__scatter_bytes(t->asked.n), &scratch));
    tsr__bag_scatter(&bags, dtype, t->asked_weights, got_counts, scratch, scatter);
    *got = rows;
done:
    return st;
}

/* The gradient of this rank's rows: all of them, or those that were touched. */
static tsr_status run_backward(const tsr_run_call *call, tsr_touched *touched, tsr_error *err)
{
    bool mean = call->schema->op->kernel == tsr__kernel_bag_mean_backward;
    const void *rows = tsr__tensor_data(call->in[0]);
    tsr_table_grad fill;
    tsr_scatter scatter;
    bag_trade t;
    tsr_status st;

    TSR_TRY(open_trade(&t, call, &call->out[0]->form->spec, err));
    if (t.owners.n > 1)
        TSR_TRY(gather_terms(&t, mean, &scatter, &rows));
    else
        TSR_TRY(find_terms(&t, mean, &scatter));
    fill = grad_of(call, rows);
    if (touched)
        TSR_TRY(tsr__touched_fill(&scatter, &fill, t.owners.begin[2 * t.bags.group->me], call,
                                  touched));
    else
        tsr__scatter_dense(&scatter, &fill);
done:
    close_trade(&t);
    return st;
}

tsr_status tsr__run_bag_backward(const tsr_run_call *call, tsr_error *err)
{
    return run_backward(call, NULL, err);
}

tsr_status tsr__run_bag_touched(const tsr_run_call *call, tsr_touched *out, tsr_error *err)
{
    return run_backward(call, out, err);
}

/* An element of the gradient belongs to the row that won: a bag's row travels, with its winners, to
   all owners of them. */
tsr_status tsr__run_bag_max_backward(const tsr_run_call *call, tsr_error *err)
{
    const int64_t dim = call->in[0]->form->local.size[1];
    const tsr_dtype dtype = call->in[0]->form->spec.dtype;
    int64_t *winners, *got;
    void *rows, *scratch;
    tsr_table_grad fill;
    tsr_scatter scatter;
    bag_trade t;
    tsr_status st;

    TSR_TRY(open_trade(&t, call, &call->out[0]->form->spec, err));
    TSR_TRY(send_bags(&t, dtype)); /* winners are the ids of a bag; the ids sent are not used */
    TSR_TRY(tsr__hold(&t.held, (size_t)(t.own.n_bags * dim) * 8, &winners));
    TSR_TRY(tsr__hold(&t.held, (size_t)(t.bags.n_got * dim) * 8, &got));
    TSR_TRY(tsr__hold(&t.held, (size_t)(t.bags.n_got * dim) * tsr_dtype_size(dtype), &rows));
    for (int64_t i = 0; i < t.own.n_bags * dim; i++)
        winners[i] = tsr__ids_at(&t.own.ids, i);
    TSR_TRY(send_rows(&t, TSR_I64, dim, winners, got));
    TSR_TRY(send_rows(&t, dtype, dim, tsr__tensor_data(call->in[0]), rows));
    t.asked.data = got;
    t.asked.n = t.bags.n_got * dim;
    TSR_TRY(tsr__hold(&t.held, tsr__scatter_bytes(t.asked.n), &scratch));
    tsr__bag_max_scatter(&t.asked, scratch, &scatter);
    fill = grad_of(call, rows);
    tsr__scatter_dense(&scatter, &fill);
done:
    close_trade(&t);
    return st;
}
