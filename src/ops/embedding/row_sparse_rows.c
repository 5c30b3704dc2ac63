/* SPDX-License-Identifier: Apache-2.0 */
/* row_sparse_rows.c - row-sparse gradients (tessera_ops.h): where gradients and ids must be for
   the table's placements, and bringing them there; what is exchanged then is row_sparse.c's. */
#include <stdio.h>

#include "base/args.h"
#include "dispatch/dispatch.h"
#include "ops/embedding/lookups.h"
#include "op/schema.h"
#include "redist/program.h"
#include "ops/embedding/row_sparse.h"
#include "tensor/scope.h"

enum { MOST = 4 }; /* inputs */

typedef struct sparse_call {
    const char *name; /* of the op that gives the dense gradient */
    int n_in;
    tsr_tensor *in[MOST], *table;
    const tsr_embedding_opts *opts;
} sparse_call;

/* The call of the dense gradient's op: its checks are ours. */
static tsr_status make_schema(const sparse_call *c, tsr_schema *s, tsr_error *err)
{
    const tsr_spec *table = &c->table->local_spec->spec;
    char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN];
    tsr_status st;

    *s = (tsr_schema){.op = tsr__op_find(c->name), .n_in = c->n_in};
    for (int k = 0; k < c->n_in; k++) {
        s->in[k].shape.ndim = -1;
        if (c->in[k])
            s->in[k] = c->in[k]->local_spec->spec;
    }
    if (c->opts)
        TSR_TRY(TSR_SIZE_CHECK(c->name, c->opts, "tsr_embedding_opts_default", err));
    if (table->shape.ndim != 2)
        return tsr__fail(err, TSR_ERR_SHAPE, "%s: a table must have 2 dims, not %s", c->name,
                         tsr_spec_text(table, a, sizeof a));
    tsr__lookup_attrs(s->op->kind, table->shape.size[0], c->opts, s->attrs.value);
    TSR_TRY(tsr__schema_check(s, err));
    if (!tsr__mesh_equal(&table->mesh, &s->in[TSR__GRAD].mesh))
        return tsr__fail(err, TSR_ERR_MESH, "%s: the table is on another mesh, %s, than %s",
                         c->name, tsr_mesh_text(&table->mesh, a, sizeof a),
                         tsr_mesh_text(&s->in[TSR__GRAD].mesh, b, sizeof b));
    if (s->out_dtype[0] != table->dtype || s->out_shape[0].size[1] != table->shape.size[1])
        return tsr__fail(err, TSR_ERR_SHAPE, "%s: the gradient %s does not match the table %s",
                         c->name, tsr_spec_text(&s->in[TSR__GRAD], a, sizeof a),
                         tsr_spec_text(table, b, sizeof b));
done:
    return st;
}

static bool is_shard(const tsr_placement *p, int dim)
{
    return p->kind == TSR_SHARD && p->dim == dim;
}

/* Where the inputs must be, one mesh dim after the other. */
static tsr_status place_inputs(const sparse_call *c, const tsr_schema *s, const tsr_spec *table,
                               tsr_spec *in, tsr_error *err)
{
    const int last = s->in[TSR__GRAD].shape.ndim - 1;
    char text[TSR_TEXT_LEN];

    for (int k = 0; k < c->n_in; k++)
        in[k] = s->in[k];
    for (int m = 0; m < table->mesh.ndim; m++) {
        const tsr_placement all = {.kind = TSR_REPLICATE}, *owner = &table->place[m];
        bool columns = (owner->kind == TSR_SHARD || owner->kind == TSR_STRIDED) && owner->dim == 1;
        tsr_placement grad = all, ids = all;
        if (columns) {
            grad = *owner;
            grad.dim = last;
        } else if (is_shard(owner, 0)) {
            if (last > 0 && s->in[TSR__GRAD].place[m].kind != TSR_REPLICATE)
                grad = ids = *owner; /* both are sent to the owners */
        } else if (owner->kind != TSR_REPLICATE) {
            return tsr__fail(
                err, TSR_ERR_SPEC,
                "%s: row-sparse gradients need a table placed by R, S(0) or S(1), not %s", c->name,
                tsr_spec_text(&c->table->local_spec->spec, text, sizeof text));
        }
        in[TSR__GRAD].place[m] = grad;
        for (int k = TSR__IDS; k < c->n_in; k++)
            in[k].place[m] = ids;
    }
    return TSR_OK;
}

/* Inputs that move are of a scope of their own. */
static tsr_status bring_inputs(tsr_ctx *ctx, const sparse_call *c, const tsr_spec *want,
                               tsr_op_counters *counters, tsr_tensor **in)
{
    const tsr_booking b = tsr__book_begin(ctx);
    tsr_status st = TSR_OK;

    for (int k = 0; k < c->n_in; k++) {
        in[k] = c->in[k];
        if (!in[k] || tsr_spec_equal(&in[k]->local_spec->spec, &want[k]))
            continue;
        TSR_TRY(tsr__strict_check(ctx, c->name, &in[k]->local_spec->spec, &want[k], &ctx->error));
        TSR_TRY(tsr__redistribute(in[k], in[k]->mesh, &want[k], &in[k]));
    }
    counters->moving += tsr__book_end(ctx, &b, counters);
done:
    return st;
}

static void note_text(const tsr_cached *subject, char *buf, size_t n)
{
    char spec[TSR_TEXT_LEN];

    snprintf(buf, n, "the row-sparse gradient of %s",
             tsr_spec_text(&((const tsr_local_spec *)subject)->spec, spec, sizeof spec));
}

/* It changes no tensor, but ranks must agree on it. */
static void note(const tsr_tensor *table, const tsr_op_entry *entry)
{
    tsr__history_add(&table->mesh->history, ++table->mesh->ctx->clock, entry->hash,
                     &table->local_spec->cached, note_text);
}

static tsr_status run_sparse(tsr_ctx *ctx, const tsr_run_call *run, tsr_op_counters *counters,
                             tsr_row_sparse *out)
{
    const tsr_booking b = tsr__book_begin(ctx);
    tsr_status st = tsr__row_sparse_run(run, out);

    counters->calls++;
    counters->computing += tsr__book_end(ctx, &b, counters);
    return st;
}

static tsr_status sparse_gradient(const sparse_call *c, tsr_row_sparse *out)
{
    tsr_ctx *ctx = c->table ? c->table->mesh->ctx : NULL;
    tsr_spec want[MOST], table;
    tsr_tensor *in[MOST];
    tsr_schema s;
    tsr_run_call run = {
        .schema = &s, .in = in, .out = &c->table, .in_spec = want, .out_spec = &table};
    tsr_op_entry *entry;
    bool scoped = false;
    tsr_status st;

    if (out)
        *out = (tsr_row_sparse){0};
    if (!ctx || !out) {
        tsr__typed_refuse((tsr_tensor *const[]){c->table, c->in[0], c->in[1]}, 3, NULL,
                          "%s: %s is NULL", c->name, ctx ? "out" : "table");
        return TSR_ERR_ARG;
    }
    for (int k = 0; k < c->n_in; k++)
        if (c->in[k] || k < TSR__OFFSETS)
            TSR_TRY(tsr__tensor_check(ctx, c->in[k], c->name));
    TSR_TRY(tsr__tensor_check(ctx, c->table, c->name));
    TSR_TRY(tsr__tensor_needs_data(c->table, c->name));
    TSR_TRY(make_schema(c, &s, &ctx->error));
    table = tsr__spec_effective(&c->table->local_spec->spec);
    TSR_TRY(place_inputs(c, &s, &table, want, &ctx->error));
    TSR_TRY(tsr__scope_push(ctx));
    scoped = true;
    TSR_TRY(tsr__op_entry_of(&ctx->heap, &ctx->ops, s.op, &entry, &ctx->error));
    TSR_TRY(bring_inputs(ctx, c, want, &entry->counters, in));
    run.mesh = c->table->mesh;
    note(c->table, entry);
    if (run.mesh->index >= 0)
        TSR_TRY(run_sparse(ctx, &run, &entry->counters, out));
done:
    if (scoped)
        tsr__scope_pop(ctx);
    st = tsr__poison_if_local(ctx, st);
    if (st != TSR_OK) /* reported only now, it may be */
        tsr_row_sparse_free(out);
    return st;
}

/* ---- the functions ---- */

tsr_status tsr_embedding_backward_sparse(tsr_tensor *grad, tsr_tensor *ids, tsr_tensor *table,
                                         const tsr_embedding_opts *opts, tsr_row_sparse *out)
{
    return sparse_gradient(&(sparse_call){.name = "embedding_backward",
                                          .n_in = 2,
                                          .in = {grad, ids},
                                          .table = table,
                                          .opts = opts},
                           out);
}

tsr_status tsr_bag_sum_backward_sparse(tsr_tensor *grad, tsr_tensor *ids, tsr_tensor *offsets,
                                       tsr_tensor *weights, tsr_tensor *table,
                                       const tsr_embedding_opts *opts, tsr_row_sparse *out)
{
    return sparse_gradient(&(sparse_call){.name = "bag_sum_backward",
                                          .n_in = 4,
                                          .in = {grad, ids, offsets, weights},
                                          .table = table,
                                          .opts = opts},
                           out);
}

tsr_status tsr_bag_mean_backward_sparse(tsr_tensor *grad, tsr_tensor *ids, tsr_tensor *offsets,
                                        tsr_tensor *table, const tsr_embedding_opts *opts,
                                        tsr_row_sparse *out)
{
    return sparse_gradient(&(sparse_call){.name = "bag_mean_backward",
                                          .n_in = 3,
                                          .in = {grad, ids, offsets},
                                          .table = table,
                                          .opts = opts},
                           out);
}
