/* SPDX-License-Identifier: Apache-2.0 */
/* lookup.c - lookups in a table sharded by rows, for ids that are sharded too: different ids travel
   to the owners of their rows, the rows come back. And the gradient: ids and rows of gradients
   travel to the owners, which add them in the order of the whole, so that the result does not depend
   on how many ranks there are. Bags are bag_lookup.c. */
#include <string.h>

#include "op/families.h"
#include "run/held.h"
#include "run/owners.h"
#include "run/trade.h"

/* Everything of one call. */
typedef struct lookup {
    const tsr_run_call *call;
    tsr_ctx *ctx;
    tsr_held held;
    tsr_trade trade;
    tsr_owners owners;
    tsr_ids ids;
} lookup;

static tsr_status open_lookup(lookup *l, const tsr_run_call *call, const tsr_spec *table,
                              tsr_error *err)
{
    const tsr_schema *s = call->schema;
    unsigned mdims;
    tsr_spec in[TSR_MAX_IN], out[TSR_MAX_OUT];
    tsr_status st;

    memset(l, 0, sizeof *l);
    l->call = call;
    l->ctx = call->mesh->ctx;
    l->held.ctx = l->ctx;
    l->trade.ctx = l->ctx;
    tsr__run_specs(call, in, out);
    mdims = tsr__lookup_mdims(s, in, out);
    TSR_TRY(tsr__owners_open(call->mesh, table, mdims, &l->owners));
    TSR_TRY(tsr__trade_open(&l->trade, call->mesh, mdims, s->op->name));
    TSR_TRY(tsr__ids_open(call->in[1], table->shape.size[0], tsr_schema_attr(s, "padding_idx"),
                          tsr_schema_attr(s, "zero_out_of_range")->i[0], s->op->name, &l->ids,
                          err));
done:
    return st;
}

static void close_lookup(lookup *l)
{
    tsr__held_release(&l->held);
    tsr__trade_close(&l->trade);
    tsr__owners_close(l->ctx, &l->owners);
}

/* ---- rows for ids ---- */

/* The rows that are wanted, each once, ascending and so by owner; which of them each id wants, -1 if
   none. */
static tsr_status find_wanted(lookup *l, int64_t **rows, int64_t **wants)
{
    tsr_scatter s;
    void *scratch;
    int64_t n = 0;
    tsr_status st;

    TSR_TRY(tsr__hold(&l->held, (size_t)l->ids.n * 8, wants));
    TSR_TRY(tsr__hold(&l->held, (size_t)l->ids.n * 8, rows));
    TSR_TRY(tsr__hold(&l->held, tsr__scatter_bytes(l->ids.n), &scratch));
    tsr__embedding_scatter(&l->ids, scratch, &s);
    for (int64_t i = 0; i < l->ids.n; i++)
        (*wants)[i] = -1;
    for (int64_t i = 0; i < s.n_touched; i++) {
        int owner = tsr__owner_of(&l->owners, s.row[i]);
        if (owner < 0) /* it is another group's: theirs is the other term of a partial sum */
            continue;
        l->trade.sent[owner]++;
        (*rows)[n] = s.row[i];
        for (int64_t k = s.begin[i]; k < s.begin[i + 1]; k++)
            (*wants)[s.from[k]] = n;
        n++;
    }
done:
    return st;
}

tsr_status tsr__run_lookup(const tsr_run_call *call, tsr_error *err)
{
    const tsr_form *table = call->in[0]->form;
    const int64_t dim = table->local.size[1];
    const tsr_dtype dtype = table->spec.dtype;
    int64_t *rows, *wants, *asked;
    void *found, *got;
    lookup l;
    tsr_status st;

    TSR_TRY(open_lookup(&l, call, &table->spec, err));
    if (tsr_schema_attr(call->schema, "keep_padding")->i[0])
        l.ids.padding = -1;
    TSR_TRY(find_wanted(&l, &rows, &wants));
    TSR_TRY(tsr__trade_agree(&l.trade));
    TSR_TRY(tsr__hold(&l.held, (size_t)l.trade.n_got * 8, &asked));
    TSR_TRY(tsr__trade_send(&l.trade, TSR_I64, 1, rows, asked));
    TSR_TRY(tsr__hold(&l.held, (size_t)(l.trade.n_got * dim) * tsr_dtype_size(dtype), &found));
    TSR_TRY(tsr__hold(&l.held, (size_t)(l.trade.n_sent * dim) * tsr_dtype_size(dtype), &got));
    tsr__embedding_forward(&(tsr_lookup){.dtype = dtype,
                                         .dim = dim,
                                         .ids = {.dtype = TSR_I64,
                                                 .data = asked,
                                                 .n = l.trade.n_got,
                                                 .vocab = table->spec.shape.size[0],
                                                 .row_first = l.owners.begin[2 * l.trade.group->me],
                                                 .n_rows = table->local.size[0],
                                                 .padding = -1},
                                         .table = tsr__tensor_data(call->in[0]),
                                         .out = found});
    TSR_TRY(tsr__trade_return(&l.trade, dtype, dim, found, got));
    tsr__embedding_forward(&(tsr_lookup){.dtype = dtype,
                                         .dim = dim,
                                         .ids = {.dtype = TSR_I64,
                                                 .data = wants,
                                                 .n = l.ids.n,
                                                 .vocab = l.trade.n_sent,
                                                 .n_rows = l.trade.n_sent,
                                                 .padding = -1},
                                         .table = got,
                                         .out = tsr__tensor_data(call->out[0])});
done:
    close_lookup(&l);
    return st;
}

/* ---- gradients to owners ---- */

/* Ids by owner, in their order, and the rows of the gradient that go with them. */
static tsr_status sort_terms(lookup *l, const char *grad, size_t row_bytes, int64_t **ids,
                             char **rows)
{
    int64_t *at, n = 0;
    int *owner;
    tsr_status st;

    TSR_TRY(tsr__hold(&l->held, (size_t)l->ids.n * sizeof *owner, &owner));
    for (int64_t i = 0; i < l->ids.n; i++) {
        int64_t id = tsr__ids_at(&l->ids, i);
        bool none = id == l->ids.padding || id < 0 || id >= l->ids.vocab;
        owner[i] = none ? -1 : tsr__owner_of(&l->owners, id);
        if (owner[i] >= 0) {
            l->trade.sent[owner[i]]++;
            n++;
        }
    }
    TSR_TRY(tsr__hold(&l->held, (size_t)n * 8, ids));
    TSR_TRY(tsr__hold(&l->held, (size_t)n * row_bytes, rows));
    TSR_TRY(tsr__hold(&l->held, (size_t)l->owners.n * 8, &at));
    at[0] = 0;
    for (int i = 1; i < l->owners.n; i++)
        at[i] = at[i - 1] + l->trade.sent[i - 1];
    for (int64_t i = 0; i < l->ids.n; i++)
        if (owner[i] >= 0) {
            int64_t to = at[owner[i]]++;
            (*ids)[to] = tsr__ids_at(&l->ids, i);
            memcpy(*rows + (size_t)to * row_bytes, grad + (size_t)i * row_bytes, row_bytes);
        }
done:
    return st;
}

static tsr_status add_terms(lookup *l, const int64_t *ids, const void *rows)
{
    const tsr_form *out = l->call->out[0]->form;
    tsr_ids own = {.dtype = TSR_I64,
                   .data = ids,
                   .n = l->trade.n_got,
                   .vocab = out->spec.shape.size[0],
                   .row_first = l->owners.begin[2 * l->trade.group->me],
                   .n_rows = out->local.size[0],
                   .padding = -1};
    tsr_table_grad grad = {.dtype = out->spec.dtype,
                           .dim = out->local.size[1],
                           .n_rows = own.n_rows,
                           .grad_out = rows,
                           .freq_dtype = TSR_I64,
                           .out = tsr__tensor_data(l->call->out[0])};
    tsr_scatter s;
    void *scratch;
    int64_t *counts;
    tsr_status st;

    TSR_TRY(tsr__hold(&l->held, tsr__scatter_bytes(own.n), &scratch));
    if (tsr_schema_attr(l->call->schema, "scale_grad_by_freq")->i[0]) {
        TSR_TRY(tsr__hold(&l->held, (size_t)own.n_rows * 8, &counts));
        memset(counts, 0, (size_t)own.n_rows * 8);
        tsr__embedding_count(&own, TSR_I64, counts);
        grad.freq = counts;
    }
    tsr__embedding_scatter(&own, scratch, &s);
    tsr__scatter_dense(&s, &grad);
done:
    return st;
}

tsr_status tsr__run_lookup_backward(const tsr_run_call *call, tsr_error *err)
{
    const tsr_form *grad = call->in[0]->form;
    const int64_t dim = grad->local.size[grad->local.ndim - 1];
    size_t row_bytes = (size_t)dim * tsr_dtype_size(grad->spec.dtype);
    int64_t *ids, *got_ids;
    char *rows;
    void *got;
    lookup l;
    tsr_status st;

    TSR_TRY(open_lookup(&l, call, &call->out[0]->form->spec, err));
    TSR_TRY(sort_terms(&l, tsr__tensor_data(call->in[0]), row_bytes, &ids, &rows));
    TSR_TRY(tsr__trade_agree(&l.trade));
    TSR_TRY(tsr__hold(&l.held, (size_t)l.trade.n_got * 8, &got_ids));
    TSR_TRY(tsr__hold(&l.held, (size_t)l.trade.n_got * row_bytes, &got));
    TSR_TRY(tsr__trade_send(&l.trade, TSR_I64, 1, ids, got_ids));
    TSR_TRY(tsr__trade_send(&l.trade, grad->spec.dtype, dim, rows, got));
    TSR_TRY(add_terms(&l, got_ids, got));
done:
    close_lookup(&l);
    return st;
}
