/* SPDX-License-Identifier: Apache-2.0 */
/* lookup.c - lookups in a table sharded by rows, for ids that are sharded too: different ids travel
   to the owners of their rows, the rows come back. And the gradient, dense or as touched rows: ids
   and rows of gradients travel to the owners, which add them in the order of the whole, so that the
   result does not depend on how many ranks there are. Bags are bag_lookup.c. */
#include <string.h>

#include "op/families.h"
#include "run/held.h"
#include "run/owners.h"
#include "run/touched.h"
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

/* The rows that are wanted, each once, ascending and so by owner; which of them each id wants, -1
   if none. */
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

/* Ids and gradients that concern this rank's rows: those of all ranks, in the order of the whole.
   Where nothing travels they are here. */
static tsr_status gather_terms(lookup *l, tsr_ids *ids, const void **rows)
{
    const tsr_form *grad = l->call->in[0]->form, *table = l->call->out[0]->form;
    const int64_t dim = grad->local.size[grad->local.ndim - 1];
    const size_t row_bytes = (size_t)dim * tsr_dtype_size(grad->spec.dtype);
    int64_t *sent_ids, *got_ids;
    char *sent, *got;
    tsr_status st = TSR_OK;

    *ids = l->ids;
    ids->row_first = l->owners.begin[2 * l->trade.group->me];
    ids->n_rows = table->local.size[0];
    *rows = tsr__tensor_data(l->call->in[0]);
    if (l->owners.n == 1)
        return st;
    TSR_TRY(sort_terms(l, *rows, row_bytes, &sent_ids, &sent));
    TSR_TRY(tsr__trade_agree(&l->trade));
    TSR_TRY(tsr__hold(&l->held, (size_t)l->trade.n_got * 8, &got_ids));
    TSR_TRY(tsr__hold(&l->held, (size_t)l->trade.n_got * row_bytes, &got));
    TSR_TRY(tsr__trade_send(&l->trade, TSR_I64, 1, sent_ids, got_ids));
    TSR_TRY(tsr__trade_send(&l->trade, grad->spec.dtype, dim, sent, got));
    ids->dtype = TSR_I64;
    ids->data = got_ids;
    ids->n = l->trade.n_got;
    ids->padding = -1;
    *rows = got;
done:
    return st;
}

/* The gradient of this rank's rows: all of them, or those that were touched. */
static tsr_status run_backward(const tsr_run_call *call, tsr_touched *touched, tsr_error *err)
{
    const tsr_form *table = call->out[0]->form;
    tsr_table_grad grad = {.dtype = table->spec.dtype,
                           .dim = table->local.size[1],
                           .n_rows = table->local.size[0],
                           .freq_dtype = TSR_I64};
    tsr_ids ids;
    tsr_scatter s;
    void *scratch;
    int64_t *counts;
    lookup l;
    tsr_status st;

    TSR_TRY(open_lookup(&l, call, &table->spec, err));
    TSR_TRY(gather_terms(&l, &ids, &grad.grad_out));
    TSR_TRY(tsr__hold(&l.held, tsr__scatter_bytes(ids.n), &scratch));
    tsr__embedding_scatter(&ids, scratch, &s);
    if (tsr_schema_attr(call->schema, "scale_grad_by_freq")->i[0]) {
        TSR_TRY(tsr__hold(&l.held, (size_t)grad.n_rows * 8, &counts));
        for (int64_t i = 0; i < s.n_touched; i++) /* only these are read */
            counts[s.row[i]] = s.begin[i + 1] - s.begin[i];
        grad.freq = counts;
    }
    if (touched) {
        TSR_TRY(tsr__touched_fill(&s, &grad, ids.row_first, call, touched));
    } else {
        grad.out = tsr__tensor_data(call->out[0]);
        tsr__scatter_dense(&s, &grad);
    }
done:
    close_lookup(&l);
    return st;
}

tsr_status tsr__run_lookup_backward(const tsr_run_call *call, tsr_error *err)
{
    return run_backward(call, NULL, err);
}

tsr_status tsr__run_lookup_touched(const tsr_run_call *call, tsr_touched *out, tsr_error *err)
{
    return run_backward(call, out, err);
}
