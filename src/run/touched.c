/* SPDX-License-Identifier: Apache-2.0 */
/* touched.c - touched rows (tessera_ops.h) in memory: made by the runs of gradients, added to a
   table, freed. Who sends what to whom is lookup.c and bag_lookup.c. */
#include "run/touched.h"

#include <inttypes.h>
#include <string.h>

#include "run/owners.h"

tsr_status tsr__touched_fill(const tsr_scatter *scatter, tsr_table_grad *grad, int64_t first,
                             const tsr_run_call *call, tsr_touched *out)
{
    const size_t row = (size_t)grad->dim * tsr_dtype_size(grad->dtype);
    const size_t values = ((size_t)scatter->n_touched * row + 63) & ~(size_t)63;
    tsr_ctx *ctx = call->mesh->ctx;
    char *memory;
    tsr_status st;

    TSR_TRY(tsr__pool_get(&ctx->pool, values + (size_t)scatter->n_touched * sizeof *out->rows,
                          &memory, &ctx->error));
    grad->out = memory;
    tsr__scatter_touched(scatter, grad);
    *out = (tsr_touched){.table = call->out[0]->form->spec,
                         .n = scatter->n_touched,
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

void tsr_touched_free(tsr_touched *touched)
{
    if (touched->mesh) {
        tsr__pool_put(&touched->mesh->ctx->pool, touched->memory);
        tsr_mesh_unref(touched->mesh);
    }
    memset(touched, 0, sizeof *touched);
}

/* ---- adding ---- */

/* Rows here, all of them owned by this rank; others may hold the same memory under other names. */
static tsr_status check_rows(const tsr_tensor *table, const tsr_touched *t, int64_t first,
                             tsr_error *err)
{
    const tsr_shape *local = &table->form->local;
    char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN];

    if (!tsr_spec_equal(&table->form->spec, &t->table) || t->mesh->ctx != table->mesh->ctx)
        return tsr__fail(err, TSR_ERR_SPEC, "rows_add: rows of %s do not fit the table %s",
                         tsr_spec_text(&t->table, a, sizeof a),
                         tsr_spec_text(&table->form->spec, b, sizeof b));
    for (int64_t i = 0; i < t->n; i++)
        if (t->rows[i] < first || t->rows[i] >= first + local->size[0])
            return tsr__fail(err, TSR_ERR_ARG,
                             "rows_add: row %" PRId64 " is not in %" PRId64 " to %" PRId64
                             ", the rows of this rank",
                             t->rows[i], first, first + local->size[0] - 1);
    return TSR_OK;
}

static tsr_status own_values(tsr_tensor *table)
{
    tsr_buffer *before;
    tsr_status st;

    TSR_TRY(tsr__tensor_own(table, &before));
    if (before)
        memcpy(table->buffer->data, before->data, table->form->bytes);
    tsr__buffer_release(before);
done:
    return st;
}

tsr_status tsr_rows_add(tsr_tensor *table, const tsr_touched *touched, double scale)
{
    tsr_owners here = {0};
    tsr_ctx *ctx;
    tsr_status st;

    if (!table)
        return TSR_ERR_ARG;
    ctx = table->mesh->ctx;
    TSR_TRY(tsr__tensor_check(ctx, table, "rows_add"));
    if (table->mesh->index < 0 || !touched->mesh) /* zero is empty */
        return TSR_OK;
    TSR_TRY(tsr__owners_open(table->mesh, &table->form->spec, 0, &here));
    TSR_TRY(check_rows(table, touched, here.begin[0], &ctx->error));
    TSR_TRY(own_values(table));
    table->version++;
    tsr__embedding_add(&(tsr_rows_update){.dtype = touched->table.dtype,
                                          .dim = touched->columns,
                                          .n = touched->n,
                                          .rows = touched->rows,
                                          .row_first = here.begin[0],
                                          .values = touched->values,
                                          .scale = scale,
                                          .table = tsr__tensor_data(table)});
done:
    tsr__owners_close(ctx, &here);
    return tsr__settle(ctx, st);
}
