/* SPDX-License-Identifier: Apache-2.0 */
/* row_sparse.c - row-sparse gradients (tessera_ops.h): found on the spot where nothing has to be
   exchanged, their memory, adding them to a table. They are exchanged as those of a dense gradient
   are (row_exchange.h). */
#include "ops/embedding/row_sparse.h"

#include <inttypes.h>
#include <string.h>

#include "base/args.h"
#include "ops/embedding/lookups.h"
#include "op/schema.h"
#include "run/bad_values.h"
#include "ops/embedding/row_exchange.h"
#include "ops/embedding/local_bags.h"

/* ---- finding ---- */

/* Bags by offsets have bounds of their own; a lookup is a bag for each id. */
static tsr_status find_bags(const tsr_run_call *call, tsr_call_arena *arena, tsr_bags *bags,
                            tsr_error *err)
{
    const tsr_schema *s = call->schema;
    const tsr_shape *ids = &call->in[1]->local_spec->local;
    int64_t *begin;
    tsr_status st = TSR_OK;

    if (s->op->kind == TSR_EMBEDDING_BACKWARD) {
        bags->n_bags = bags->ids.n;
        bags->length = 1;
    } else if (!tsr__schema_has(s, TSR__OFFSETS)) {
        bags->n_bags = ids->size[0];
        bags->length = ids->size[1];
    } else {
        const tsr_offsets offsets = tsr__offsets_of(call);
        bags->n_bags = call->in[TSR__GRAD]->local_spec->local.size[0];
        TSR_TRY(tsr__bag_bounds(call, &offsets, 0, bags->n_bags, arena, &begin, err));
        bags->begin = begin;
    }
done:
    return st;
}

/* Only the counts of rows are read. */
tsr_status tsr__row_sparse_freq(tsr_call_arena *arena, const tsr_scattered *s, tsr_table_grad *grad)
{
    int64_t *counts;
    tsr_status st;

    TSR_TRY(tsr__arena_alloc(arena, (size_t)grad->n_rows * sizeof *counts, &counts));
    for (int64_t i = 0; i < s->n_distinct; i++)
        counts[s->row[i]] = s->begin[i + 1] - s->begin[i];
    grad->freq_dtype = TSR_I64;
    grad->freq = counts;
done:
    return st;
}

/* All ids and gradients that concern this rank's rows are here. */
static tsr_status touch_here(const tsr_run_call *call, tsr_row_sparse *out)
{
    const tsr_schema *s = call->schema;
    const tsr_local_spec *table = call->out[0]->local_spec, *grad = call->in[0]->local_spec;
    bool mean = tsr__lookup_is_mean(s->op->kind);
    tsr_table_grad fill = {.dtype = table->spec.dtype,
                           .dim = table->local.size[1],
                           .n_rows = table->local.size[0],
                           .grad_out = tsr__tensor_data(call->in[0])};
    tsr_call_arena arena = {.ctx = call->mesh->ctx};
    tsr_owners here = {0};
    tsr_bags bags = {0};
    tsr_scattered scatter;
    tsr_error bad = {0};
    int64_t *counts = NULL;
    void *scratch;
    tsr_status st;

    tsr__ids_open(call->in[1], table->spec.shape.size[0], tsr_schema_attr(s, "padding_idx"),
                  tsr__ids_check(s), s->op->name, &bags.ids, &bad);
    TSR_TRY(find_bags(call, &arena, &bags, &bad));
    TSR_TRY(tsr__bad_values(call->mesh, call->in, s->n_in, NULL, &bad));
    if (mean) {
        TSR_TRY(tsr__arena_alloc(&arena, (size_t)bags.n_bags * sizeof *counts, &counts));
        tsr__bag_counts(&bags, counts);
    }
    TSR_TRY(tsr__owners_open(call->mesh, call->out_spec, 0, 0, &here));
    bags.ids.row_first = here.first;
    bags.ids.n_rows = table->local.size[0];
    TSR_TRY(tsr__arena_alloc(&arena, tsr__scatter_bytes(bags.ids.n), &scratch));
    if (s->op->kind == TSR_EMBEDDING_BACKWARD)
        tsr__embedding_scatter(&bags.ids, scratch, &scatter);
    else
        tsr__bag_scatter(&bags, grad->spec.dtype,
                         s->n_in > 3 && call->in[3] ? tsr__tensor_data(call->in[3]) : NULL, counts,
                         scratch, &scatter);
    if (tsr_schema_attr(s, "scale_grad_by_freq")->i[0])
        TSR_TRY(tsr__row_sparse_freq(&arena, &scatter, &fill));
    TSR_TRY(tsr__row_sparse_fill(&scatter, &fill, here.first, call, out));
done:
    tsr__arena_release(&arena);
    tsr__owners_close(arena.ctx, &here);
    return st;
}

tsr_status tsr__row_sparse_run(const tsr_run_call *call, tsr_row_sparse *out)
{
    if (!tsr__lookup_mdims(call->schema, call->in_spec, call->out_spec))
        return touch_here(call, out);
    return tsr__run_together(&(tsr_part){.call = call, .table = -1, .sparse = out}, 1);
}

/* ---- memory ---- */

tsr_status tsr__row_sparse_fill(const tsr_scattered *scatter, tsr_table_grad *grad, int64_t first,
                                const tsr_run_call *call, tsr_row_sparse *out)
{
    const size_t row = (size_t)grad->dim * tsr_dtype_size(grad->dtype);
    const size_t values = ((size_t)scatter->n_distinct * row + 63) & ~(size_t)63;
    tsr_ctx *ctx = call->mesh->ctx;
    char *memory;
    tsr_status st;

    TSR_TRY(tsr__pool_get(&ctx->pool, values + (size_t)scatter->n_distinct * sizeof *out->rows,
                          &memory, &ctx->error));
    grad->out = memory;
    tsr__row_sparse_scatter(scatter, grad);
    *out = (tsr_row_sparse){.table = call->out[0]->local_spec->spec,
                            .n = scatter->n_distinct,
                            .columns = grad->dim,
                            .rows = (int64_t *)(void *)(memory + values),
                            .values = memory,
                            .mesh = tsr_mesh_ref(call->mesh),
                            .memory = memory};
    for (int64_t i = 0; i < out->n; i++)
        out->rows[i] = first + scatter->row[i];
done:
    return st;
}

/* ---- adding ---- */

/* Rows here, all of them owned by this rank; others may hold the same memory under other names. */
static tsr_status check_rows(const tsr_tensor *table, const tsr_row_sparse *t, int64_t first,
                             const char *function, tsr_error *err)
{
    const tsr_shape *local = &table->local_spec->local;
    char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN];

    if (!tsr_spec_equal(&table->local_spec->spec, &t->table) || t->mesh->ctx != table->mesh->ctx)
        return tsr__fail(err, TSR_ERR_SPEC, "%s: rows of %s do not match the table %s", function,
                         tsr_spec_text(&t->table, a, sizeof a),
                         tsr_spec_text(&table->local_spec->spec, b, sizeof b));
    for (int64_t i = 0; i < t->n; i++)
        if (t->rows[i] < first || t->rows[i] >= first + local->size[0])
            return tsr__fail(err, TSR_ERR_ARG,
                             "%s: row %" PRId64 " is out of range %" PRId64 " to %" PRId64
                             ", the rows of this rank",
                             function, t->rows[i], first, first + local->size[0] - 1);
    return TSR_OK;
}

tsr_status tsr__make_writable(tsr_tensor *table)
{
    tsr_buffer *before;
    tsr_status st;

    TSR_TRY(tsr__tensor_own(table, &before));
    if (before)
        memcpy(table->buffer->data, before->data, table->local_spec->bytes);
    tsr__buffer_release(before);
    table->version++;
    tsr__tensor_note(table, 0);
done:
    return st;
}

tsr_status tsr__rows_open(tsr_tensor *table, const tsr_row_sparse *sparse, const char *function,
                          int64_t *first)
{
    tsr_ctx *ctx = table->mesh->ctx;
    tsr_owners here = {0};
    tsr_status st;

    TSR_TRY(tsr__owners_open(table->mesh, &table->local_spec->spec, 0, 0, &here));
    TSR_TRY(check_rows(table, sparse, here.first, function, &ctx->error));
    TSR_TRY(tsr__make_writable(table));
    *first = here.first;
done:
    tsr__owners_close(ctx, &here);
    return st;
}

void tsr_row_sparse_free(tsr_row_sparse *sparse)
{
    TSR_NEED(, NULL, sparse);
    if (sparse->mesh) {
        tsr__pool_put(&sparse->mesh->ctx->pool, sparse->memory);
        tsr_mesh_unref(sparse->mesh);
    }
    memset(sparse, 0, sizeof *sparse);
}

tsr_status tsr_row_sparse_add(tsr_tensor *table, const tsr_row_sparse *sparse, double scale)
{
    TSR_NEED(TSR_ERR_ARG, tsr__tensor_error(table), table, sparse);

    int64_t first;
    tsr_ctx *ctx;
    tsr_status st;

    ctx = table->mesh->ctx;
    TSR_TRY(tsr__tensor_check(ctx, table, "rows_add"));
    if (table->mesh->index < 0 || !sparse->mesh) /* zero is empty */
        return TSR_OK;
    TSR_TRY(tsr__rows_open(table, sparse, "rows_add", &first));
    tsr__embedding_add(&(tsr_rows_update){.dtype = sparse->table.dtype,
                                          .dim = sparse->columns,
                                          .n = sparse->n,
                                          .rows = sparse->rows,
                                          .row_first = first,
                                          .values = sparse->values,
                                          .scale = scale,
                                          .table = tsr__tensor_data(table)});
done:
    return tsr__poison_if_local(ctx, st);
}
