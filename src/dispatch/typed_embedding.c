/* SPDX-License-Identifier: Apache-2.0 */
/* typed_embedding.c - the lookups of tessera_ops.h: options become attributes, in the order of the
   rows (op/lookups.c). */
#include "dispatch/lookup_group.h"
#include "tessera_ops.h"

static const tsr_embedding_opts USUAL = {0};

static tsr_attr number(int64_t value)
{
    return (tsr_attr){.n = 1, .i = {value}};
}

static tsr_attr padding(const tsr_embedding_opts *opts)
{
    return opts->padding_idx ? number(*opts->padding_idx) : (tsr_attr){.n = -1};
}

tsr_tensor *tsr_embedding(tsr_tensor *table, tsr_tensor *ids, const tsr_embedding_opts *opts)
{
    const tsr_embedding_opts *o = opts ? opts : &USUAL;

    return tsr__dispatch_typed(
        "embedding", (tsr_tensor *[]){table, ids}, 2,
        (const tsr_attr[]){padding(o), number(o->keep_padding), number(o->zero_out_of_range)},
        NULL);
}

tsr_tensor *tsr_embedding_backward(tsr_tensor *grad, tsr_tensor *ids, int64_t rows,
                                   const tsr_embedding_opts *opts)
{
    const tsr_embedding_opts *o = opts ? opts : &USUAL;

    return tsr__dispatch_typed("embedding_backward", (tsr_tensor *[]){grad, ids}, 2,
                               (const tsr_attr[]){number(rows), padding(o),
                                                  number(o->scale_grad_by_freq),
                                                  number(o->zero_out_of_range)},
                               NULL);
}

tsr_tensor *tsr_embedding_renorm(tsr_tensor *table, tsr_tensor *ids, double max_norm, double p)
{
    return tsr__dispatch_typed(
        "embedding_renorm", (tsr_tensor *[]){table, ids}, 2,
        (const tsr_attr[]){{.n = 1, .f = max_norm}, {.n = 1, .f = p == 0 ? 2 : p}}, NULL);
}

static tsr_bag_attrs bag(const tsr_embedding_opts *opts)
{
    const tsr_embedding_opts *o = opts ? opts : &USUAL;

    return (tsr_bag_attrs){
        {padding(o), number(o->include_last), number(o->zero_out_of_range), number(o->last)}};
}

static tsr_bag_attrs bag_backward(int64_t rows, const tsr_embedding_opts *opts)
{
    const tsr_embedding_opts *o = opts ? opts : &USUAL;

    return (tsr_bag_attrs){{number(rows), padding(o), number(o->include_last),
                            number(o->zero_out_of_range), number(o->scale_grad_by_freq)}};
}

tsr_tensor *tsr_bag_sum(tsr_tensor *table, tsr_tensor *ids, tsr_tensor *offsets,
                        tsr_tensor *weights, const tsr_embedding_opts *opts)
{
    return tsr__dispatch_typed("bag_sum", (tsr_tensor *[]){table, ids, offsets, weights}, 4,
                               bag(opts).value, NULL);
}

tsr_tensor *tsr_bag_mean(tsr_tensor *table, tsr_tensor *ids, tsr_tensor *offsets,
                         const tsr_embedding_opts *opts)
{
    return tsr__dispatch_typed("bag_mean", (tsr_tensor *[]){table, ids, offsets}, 3,
                               bag(opts).value, NULL);
}

tsr_tensor *tsr_bag_max(tsr_tensor *table, tsr_tensor *ids, tsr_tensor *offsets,
                        const tsr_embedding_opts *opts, tsr_tensor **index)
{
    tsr_tensor *out[TSR_MAX_OUT] = {NULL};
    tsr_tensor *y = tsr__dispatch_typed("bag_max", (tsr_tensor *[]){table, ids, offsets}, 3,
                                        bag(opts).value, out);

    if (index)
        *index = out[1];
    return y;
}

tsr_tensor *tsr_bag_sum_backward(tsr_tensor *grad, tsr_tensor *ids, tsr_tensor *offsets,
                                 tsr_tensor *weights, int64_t rows, const tsr_embedding_opts *opts)
{
    return tsr__dispatch_typed("bag_sum_backward", (tsr_tensor *[]){grad, ids, offsets, weights}, 4,
                               bag_backward(rows, opts).value, NULL);
}

tsr_tensor *tsr_bag_mean_backward(tsr_tensor *grad, tsr_tensor *ids, tsr_tensor *offsets,
                                  int64_t rows, const tsr_embedding_opts *opts)
{
    return tsr__dispatch_typed("bag_mean_backward", (tsr_tensor *[]){grad, ids, offsets}, 3,
                               bag_backward(rows, opts).value, NULL);
}

tsr_tensor *tsr_bag_max_backward(tsr_tensor *grad, tsr_tensor *index, int64_t rows)
{
    return tsr__dispatch_typed("bag_max_backward", (tsr_tensor *[]){grad, index}, 2,
                               (const tsr_attr[]){number(rows), {.n = -1}}, NULL);
}

tsr_tensor *tsr_bag_weights_backward(tsr_tensor *grad, tsr_tensor *table, tsr_tensor *ids,
                                     tsr_tensor *offsets, const tsr_embedding_opts *opts)
{
    return tsr__dispatch_typed("bag_weights_backward", (tsr_tensor *[]){grad, table, ids, offsets},
                               4, bag(opts).value, NULL);
}

/* ---- calls of a group ---- */

tsr_use_call tsr__use_forward(const tsr_table_use *use)
{
    static const char *const names[] = {"embedding", "bag_sum", "bag_mean", "bag_max"};
    const tsr_embedding_opts *o = &use->opts;
    tsr_use_call call = {.op = tsr__op_find(names[use->pooling]),
                         .n_in = use->pooling == TSR_POOL_NONE  ? 2
                                 : use->pooling == TSR_POOL_SUM ? 4
                                                                : 3,
                         .in = {use->table, use->ids, use->offsets, use->weights}};

    call.attrs = bag(o);
    if (use->pooling == TSR_POOL_NONE)
        call.attrs =
            (tsr_bag_attrs){{padding(o), number(o->keep_padding), number(o->zero_out_of_range)}};
    return call;
}

tsr_use_call tsr__use_backward(const tsr_table_use *use, tsr_tensor *grad)
{
    static const char *const names[] = {"embedding_backward", "bag_sum_backward",
                                        "bag_mean_backward", "bag_max_backward"};
    const tsr_embedding_opts *o = &use->opts;
    int64_t rows = use->table->form->spec.shape.size[0];
    tsr_use_call call = tsr__use_forward(use);

    call.op = tsr__op_find(names[use->pooling]);
    call.in[0] = grad;
    call.attrs = bag_backward(rows, o);
    if (use->pooling == TSR_POOL_NONE)
        call.attrs = (tsr_bag_attrs){{number(rows), padding(o), number(o->scale_grad_by_freq),
                                      number(o->zero_out_of_range)}};
    if (use->pooling == TSR_POOL_MAX) {
        call.n_in = 2;
        call.in[1] = use->index ? *use->index : NULL;
        call.attrs = (tsr_bag_attrs){{number(rows), {.n = -1}}};
    }
    return call;
}
