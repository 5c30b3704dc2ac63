/* SPDX-License-Identifier: Apache-2.0 */
/* typed_embedding.c - the lookups of tessera_ops.h: options become attributes. */
#include "base/args.h"
#include "ops/embedding/lookup_group.h"
#include "ops/op_ids.h"

static tsr_tensor *look_up(int kind, int op, tsr_tensor *const *in, int n_in, int64_t rows,
                           const tsr_embedding_opts *opts, tsr_tensor **out)
{
    tsr_attr attrs[TSR__LOOKUP_ATTRS];
    tsr_status st;

    if (opts)
        TSR_TRY(TSR_SIZE_CHECK(tsr__op_by_id(op)->name, opts, "tsr_embedding_opts_default",
                               tsr__typed_error(in, n_in)));
    tsr__lookup_attrs(kind, rows, opts, attrs);
    return tsr__dispatch_typed(op, in, n_in, attrs, out);
done:
    return tsr__typed_failed(in, n_in, st, out);
}

tsr_tensor *tsr_embedding(tsr_tensor *table, tsr_tensor *ids, const tsr_embedding_opts *opts)
{
    return look_up(TSR_EMBEDDING, TSR_ID_EMBEDDING, (tsr_tensor *[]){table, ids}, 2, 0, opts, NULL);
}

tsr_tensor *tsr_embedding_backward(tsr_tensor *grad, tsr_tensor *ids, int64_t rows,
                                   const tsr_embedding_opts *opts)
{
    return look_up(TSR_EMBEDDING_BACKWARD, TSR_ID_EMBEDDING_BACKWARD, (tsr_tensor *[]){grad, ids},
                   2, rows, opts, NULL);
}

tsr_tensor *tsr_embedding_renorm(tsr_tensor *table, tsr_tensor *ids, double max_norm, double p)
{
    return tsr__dispatch_typed(TSR_ID_EMBEDDING_RENORM, (tsr_tensor *[]){table, ids}, 2,
                               (const tsr_attr[]){{.n = 1, .f = max_norm}, {.n = 1, .f = p}}, NULL);
}

tsr_tensor *tsr_bag_sum(tsr_tensor *table, tsr_tensor *ids, tsr_tensor *offsets,
                        tsr_tensor *weights, const tsr_embedding_opts *opts)
{
    return look_up(TSR_EMBEDDING_BAG_SUM, TSR_ID_BAG_SUM,
                   (tsr_tensor *[]){table, ids, offsets, weights}, 4, 0, opts, NULL);
}

tsr_tensor *tsr_bag_mean(tsr_tensor *table, tsr_tensor *ids, tsr_tensor *offsets,
                         const tsr_embedding_opts *opts)
{
    return look_up(TSR_EMBEDDING_BAG_MEAN, TSR_ID_BAG_MEAN, (tsr_tensor *[]){table, ids, offsets},
                   3, 0, opts, NULL);
}

tsr_tensor *tsr_bag_max(tsr_tensor *table, tsr_tensor *ids, tsr_tensor *offsets,
                        const tsr_embedding_opts *opts, tsr_tensor **index)
{
    tsr_tensor *out[TSR_MAX_OUT] = {NULL};
    tsr_tensor *y = look_up(TSR_EMBEDDING_BAG_MAX, TSR_ID_BAG_MAX,
                            (tsr_tensor *[]){table, ids, offsets}, 3, 0, opts, out);

    if (index)
        *index = out[1];
    return y;
}

tsr_tensor *tsr_bag_sum_backward(tsr_tensor *grad, tsr_tensor *ids, tsr_tensor *offsets,
                                 tsr_tensor *weights, int64_t rows, const tsr_embedding_opts *opts)
{
    return look_up(TSR_EMBEDDING_BAG_SUM_BACKWARD, TSR_ID_BAG_SUM_BACKWARD,
                   (tsr_tensor *[]){grad, ids, offsets, weights}, 4, rows, opts, NULL);
}

tsr_tensor *tsr_bag_mean_backward(tsr_tensor *grad, tsr_tensor *ids, tsr_tensor *offsets,
                                  int64_t rows, const tsr_embedding_opts *opts)
{
    return look_up(TSR_EMBEDDING_BAG_MEAN_BACKWARD, TSR_ID_BAG_MEAN_BACKWARD,
                   (tsr_tensor *[]){grad, ids, offsets}, 3, rows, opts, NULL);
}

tsr_tensor *tsr_bag_max_backward(tsr_tensor *grad, tsr_tensor *index, int64_t rows)
{
    return look_up(TSR_EMBEDDING_BAG_MAX_BACKWARD, TSR_ID_BAG_MAX_BACKWARD,
                   (tsr_tensor *[]){grad, index}, 2, rows, NULL, NULL);
}

tsr_tensor *tsr_bag_weights_backward(tsr_tensor *grad, tsr_tensor *table, tsr_tensor *ids,
                                     tsr_tensor *offsets, const tsr_embedding_opts *opts)
{
    return look_up(TSR_EMBEDDING_BAG_WEIGHTS_BACKWARD, TSR_ID_BAG_WEIGHTS_BACKWARD,
                   (tsr_tensor *[]){grad, table, ids, offsets}, 4, 0, opts, NULL);
}

/* ---- calls of a group ---- */

tsr_use_call tsr__use_forward(const tsr_table_use *use)
{
    static const int ops[] = {TSR_ID_EMBEDDING, TSR_ID_BAG_SUM, TSR_ID_BAG_MEAN, TSR_ID_BAG_MAX};
    tsr_use_call call = {.op = tsr__op_by_id(ops[use->pooling]),
                         .n_in = use->pooling == TSR_BAG_NONE  ? 2
                                 : use->pooling == TSR_BAG_SUM ? 4
                                                               : 3,
                         .in = {use->table, use->ids, use->offsets, use->weights}};

    tsr__lookup_attrs(call.op->kind, 0, use->opts, call.attrs);
    return call;
}

tsr_use_call tsr__use_backward(const tsr_table_use *use, tsr_tensor *grad)
{
    static const int ops[] = {TSR_ID_EMBEDDING_BACKWARD, TSR_ID_BAG_SUM_BACKWARD,
                              TSR_ID_BAG_MEAN_BACKWARD, TSR_ID_BAG_MAX_BACKWARD};
    int64_t rows = use->table->local_spec->spec.shape.size[0];
    tsr_use_call call = tsr__use_forward(use);

    call.op = tsr__op_by_id(ops[use->pooling]);
    call.in[0] = grad;
    tsr__lookup_attrs(call.op->kind, rows, use->opts, call.attrs);
    if (use->pooling == TSR_BAG_MAX) {
        call.n_in = 2;
        call.in[1] = use->index ? *use->index : NULL;
    }
    return call;
}
