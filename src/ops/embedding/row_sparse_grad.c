/* SPDX-License-Identifier: Apache-2.0 */
/* row_sparse_grad.c - backward through lookups in tables watched by tsr_watch_sparse: their
   row-sparse gradients go to the table as they are. One by one, and in groups, where the gradients
   of the other tables are exchanged together. Called by backward.c. */
#include "ops/embedding/row_sparse_grad.h"

#include <string.h>

#include "base/args.h"
#include "grad/backward.h"
#include "ops/embedding/lookups.h"
#include "tensor/scope.h"
#include "tessera_train.h"

/* ---- which ---- */

static bool by_rows(const tsr_tensor *table)
{
    tsr_spec s;

    if (!table || !table->leaf->by_rows || table->mesh->ctx->world->kind == TSR_WORLD_SIM)
        return false;
    s = tsr__spec_effective(&table->local_spec->spec);
    for (int m = 0; m < s.mesh.ndim; m++)
        if (s.place[m].kind == TSR_STRIDED && s.place[m].dim == 0)
            return false;
    return true;
}

static bool pools(const tsr_op *op, tsr_bag_mode *out)
{
    static const char *const name[] = {"embedding", "bag_sum", "bag_mean"};

    for (int i = 0; i < 3; i++)
        if (strcmp(op->name, name[i]) == 0) {
            *out = (tsr_bag_mode)i;
            return true;
        }
    return false;
}

bool tsr__gives_rows(const tsr_op *op, const tsr_tensor *table)
{
    tsr_bag_mode pooling;

    return by_rows(table) && pools(op, &pooling);
}

/* ---- one table ---- */

static tsr_status sparse_gradient(const tsr_table_use *use, tsr_tensor *grad, tsr_row_sparse *out)
{
    const tsr_embedding_opts *o = use->opts;

    switch (use->pooling) {
    case TSR_BAG_SUM:
        return tsr_bag_sum_backward_sparse(grad, use->ids, use->offsets, use->weights, use->table,
                                           o, out);
    case TSR_BAG_MEAN:
        return tsr_bag_mean_backward_sparse(grad, use->ids, use->offsets, use->table, o, out);
    default: return tsr_embedding_backward_sparse(grad, use->ids, use->table, o, out);
    }
}

static void clear_rows(tsr_ctx *ctx, tsr_leaf *leaf)
{
    for (int i = 0; i < leaf->n_sparse; i++)
        tsr_row_sparse_free(&leaf->sparse[i]);
    tsr__free(&ctx->heap, leaf->sparse);
    leaf->sparse = NULL;
    leaf->n_sparse = leaf->cap_sparse = 0;
}

tsr_status tsr__leaf_rows_grow(tsr_ctx *ctx, tsr_leaf *leaf)
{
    leaf->clear_rows = clear_rows;
    return tsr__grow(&ctx->heap, &leaf->sparse, &leaf->cap_sparse, leaf->n_sparse,
                     sizeof *leaf->sparse, &ctx->error);
}

const tsr_row_sparse *tsr_grad_sparse(const tsr_tensor *table, int *n)
{
    TSR_NEED(NULL, tsr__tensor_error(table), n);
    *n = table && table->leaf ? table->leaf->n_sparse : 0;
    return *n ? table->leaf->sparse : NULL;
}

static tsr_status give(const tsr_table_use *use, tsr_tensor *grad)
{
    tsr_leaf *leaf = use->table->leaf;
    tsr_ctx *ctx = use->table->mesh->ctx;
    tsr_status st;

    TSR_TRY(tsr__leaf_rows_grow(ctx, leaf));
    TSR_TRY(sparse_gradient(use, grad, &leaf->sparse[leaf->n_sparse]));
    leaf->n_sparse++;
done:
    return st;
}

tsr_status tsr__row_sparse_give(const tsr_grad_call *call, tsr_tensor *table)
{
    const tsr_embedding_opts opts = tsr__lookup_opts(call->op->kind, call->attrs->value);
    tsr_table_use use = {.table = table, .ids = call->in[TSR__IDS], .opts = &opts};

    pools(call->op, &use.pooling);
    if (use.pooling != TSR_BAG_NONE)
        use.offsets = call->in[TSR__OFFSETS];
    if (use.pooling == TSR_BAG_SUM)
        use.weights = call->in[TSR__WEIGHTS];
    return give(&use, call->grad_out[0]);
}

/* ---- a group ---- */

/* A use with the tensors that the tape holds. */
static tsr_table_use use_of(const tsr_taped *node, int i)
{
    const tsr_saved *in = node->in + TSR_USE_TENSORS * i;
    const tsr_taped_use *kept = (const tsr_taped_use *)node->back_data + i;

    return (tsr_table_use){.table = in[TSR_USE_TABLE].x,
                           .ids = in[TSR_USE_IDS].x,
                           .offsets = in[TSR_USE_OFFSETS].x,
                           .weights = in[TSR_USE_WEIGHTS].x,
                           .pooling = kept->pooling,
                           .opts = &kept->opts};
}

static tsr_status back_weights(tsr_ctx *ctx, const tsr_table_use *use, const tsr_source *to,
                               tsr_tensor *grad)
{
    tsr_tensor *g;
    tsr_status st;

    if (!use->weights || (!to->leaf && !to->node))
        return TSR_OK;
    g = tsr_bag_weights_backward(grad, use->table, use->ids, use->offsets, use->opts);
    TSR_TRY(tsr__tensor_check(ctx, g, "tsr_lookup_group"));
    TSR_TRY(tsr__grad_give(ctx, to, g));
done:
    return st;
}

tsr_status tsr__back_group(tsr_ctx *ctx, tsr_taped *node)
{
    tsr_table_use *uses = NULL;
    tsr_tensor **grads = NULL, **index, **found;
    const tsr_source **to = NULL;
    int n = 0;
    tsr_status st;

    TSR_TRY(tsr__alloc(&ctx->heap, node->n_out, sizeof *uses, &uses, &ctx->error));
    TSR_TRY(tsr__alloc(&ctx->heap, node->n_out, sizeof *to, &to, &ctx->error));
    TSR_TRY(tsr__alloc(&ctx->heap, 3 * node->n_out, sizeof *grads, &grads, &ctx->error));
    index = grads + node->n_out;
    found = index + node->n_out;
    for (int i = 0; i < node->n_out; i++) {
        const tsr_source *source = node->source + TSR_USE_TENSORS * i;
        tsr_table_use use = use_of(node, i);

        if (!node->grad[i])
            continue;
        TSR_TRY(back_weights(ctx, &use, &source[TSR_USE_WEIGHTS], node->grad[i]));
        if (use.pooling != TSR_BAG_MAX && by_rows(source[TSR_USE_TABLE].leaf) &&
            tsr__mesh_equal(&use.table->mesh->shape, &use.ids->mesh->shape)) {
            TSR_TRY(give(&use, node->grad[i]));
        } else if (source[TSR_USE_TABLE].leaf || source[TSR_USE_TABLE].node) {
            index[n] = node->in[TSR_USE_TENSORS * i + TSR_USE_INDEX].x;
            use.index = &index[n];
            to[n] = &source[TSR_USE_TABLE];
            grads[n] = node->grad[i];
            uses[n++] = use;
        }
    }
    TSR_TRY(tsr_lookup_group_backward(uses, grads, n, found));
    for (int i = 0; i < n; i++)
        TSR_TRY(tsr__grad_give(ctx, to[i], found[i]));
done:
    tsr__free(&ctx->heap, grads);
    tsr__free(&ctx->heap, to);
    tsr__free(&ctx->heap, uses);
    return st;
}
