/* SPDX-License-Identifier: Apache-2.0 */
/* rows_update.c - see rows_update.h. Called by optimizer.c and clip.c. */
#include "train/rows_update.h"
#include "kernel/kinds.h"

#include <math.h>
#include <string.h>

#include "ops/embedding/embedding.h"
#include "ops/optimizer/optimizer_step.h"
#include "redist/program.h"
#include "run/owners.h"
#include "ops/embedding/row_sparse.h"
#include "ops/embedding/row_sparse_grad.h"

/* ---- one list of rows ---- */

/* All rows of a dense gradient, which is here; its values are borrowed. */
static tsr_status rows_of_dense(tsr_tensor *table, const tsr_tensor *grad, tsr_row_sparse *out)
{
    tsr_ctx *ctx = table->mesh->ctx;
    const tsr_shape *local = &table->local_spec->local;
    tsr_owners here = {0};
    int64_t *rows;
    tsr_status st;

    TSR_TRY(tsr__owners_open(table->mesh, &table->local_spec->spec, 0, 0, &here));
    TSR_TRY(tsr__pool_get(&ctx->pool, (size_t)local->size[0] * sizeof *rows, &rows, &ctx->error));
    for (int64_t i = 0; i < local->size[0]; i++)
        rows[i] = here.first + i;
    *out = (tsr_row_sparse){.table = table->local_spec->spec,
                            .n = local->size[0],
                            .columns = local->size[1],
                            .rows = rows,
                            .values = tsr__tensor_data(grad),
                            .mesh = tsr_mesh_ref(table->mesh),
                            .memory = rows};
done:
    tsr__owners_close(ctx, &here);
    return st;
}

/* The least row that a list has from its position on; false at the end of all. */
static bool next_row(const tsr_row_sparse *list, int n, const int64_t *at, int64_t *row)
{
    bool found = false;

    for (int k = 0; k < n; k++)
        if (at[k] < list[k].n && (!found || list[k].rows[at[k]] < *row)) {
            *row = list[k].rows[at[k]];
            found = true;
        }
    return found;
}

/* Where the row is in the lists, which are moved on; how many have it. */
static int take_row(const tsr_row_sparse *list, int n, int64_t row, int64_t *at, const void **term)
{
    int found = 0;

    for (int k = 0; k < n; k++)
        if (at[k] < list[k].n && list[k].rows[at[k]] == row) {
            const size_t bytes = (size_t)list[k].columns * tsr_dtype_size(list[k].table.dtype);
            term[found++] = (const char *)list[k].values + (size_t)at[k]++ * bytes;
        }
    return found;
}

/* Lists of ascending rows into one; none of them is empty of a table. */
static tsr_status merge(tsr_tensor *table, const tsr_row_sparse *list, int n, tsr_row_sparse *out)
{
    const tsr_dtype dtype = table->local_spec->spec.dtype;
    const int64_t columns = table->local_spec->local.size[1];
    const size_t bytes = (size_t)columns * tsr_dtype_size(dtype);
    tsr_ctx *ctx = table->mesh->ctx;
    int64_t *at = NULL, row = 0, rows = 0;
    const void **term = NULL;
    float *wide = NULL;
    char *memory;
    size_t values;
    tsr_status st;

    TSR_TRY(tsr__alloc(&ctx->heap, n, sizeof *at, &at, &ctx->error));
    TSR_TRY(tsr__alloc(&ctx->heap, n, sizeof *term, &term, &ctx->error));
    TSR_TRY(tsr__pool_get(&ctx->pool, 2 * (size_t)columns * sizeof *wide, &wide, &ctx->error));
    for (; next_row(list, n, at, &row); rows++)
        take_row(list, n, row, at, term);
    values = ((size_t)rows * bytes + 63) & ~(size_t)63;
    TSR_TRY(
        tsr__pool_get(&ctx->pool, values + (size_t)rows * sizeof *out->rows, &memory, &ctx->error));
    *out = (tsr_row_sparse){.table = table->local_spec->spec,
                            .n = rows,
                            .columns = columns,
                            .rows = (int64_t *)(void *)(memory + values),
                            .values = memory,
                            .mesh = tsr_mesh_ref(table->mesh),
                            .memory = memory};
    memset(at, 0, (size_t)n * sizeof *at);
    for (int64_t i = 0; next_row(list, n, at, &row); i++) {
        const int terms = take_row(list, n, row, at, term);

        out->rows[i] = row;
        tsr__rows_sum(dtype, columns, term, terms, memory + (size_t)i * bytes, wide);
    }
done:
    tsr__pool_put(&ctx->pool, wide);
    tsr__free(&ctx->heap, term);
    tsr__free(&ctx->heap, at);
    return st;
}

tsr_status tsr__rows_gather(tsr_tensor *table)
{
    tsr_ctx *ctx = table->mesh->ctx;
    tsr_leaf *leaf = table->leaf;
    tsr_row_sparse one = {0}, *dense;
    tsr_tensor *grad = leaf->grad;
    tsr_status st = TSR_OK;

    if (!grad && leaf->n_sparse <= 1)
        return TSR_OK;
    if (grad)
        TSR_TRY(tsr__redistribute(grad, table->mesh, &table->local_spec->spec, &grad));
    if (table->mesh->index < 0) /* nothing is here */
        return TSR_OK;
    if (grad) {
        TSR_TRY(tsr__leaf_rows_grow(ctx, leaf));
        dense = &leaf->sparse[leaf->n_sparse];
        *dense = (tsr_row_sparse){0};
        TSR_TRY(rows_of_dense(table, grad, dense));
        leaf->n_sparse++;
    }
    st = merge(table, leaf->sparse, leaf->n_sparse, &one);
    if (st != TSR_OK && grad) /* its values are not the list's */
        tsr_row_sparse_free(&leaf->sparse[--leaf->n_sparse]);
    TSR_TRY(st);
    for (int i = 0; i < leaf->n_sparse; i++)
        tsr_row_sparse_free(&leaf->sparse[i]);
    leaf->sparse[0] = one;
    leaf->n_sparse = 1;
    tsr_unref(leaf->grad);
    leaf->grad = NULL;
done:
    return st;
}

/* ---- adagrad ---- */

/* For every row of the gradient what its gradient is multiplied by, from its sum of squares. */
static tsr_status add_means(tsr_tensor *table, tsr_tensor *sum, const tsr_row_sparse *t,
                            tsr_mesh *columns, int64_t first, double lr, double eps, double *scale)
{
    const tsr_dtype dtype = table->local_spec->spec.dtype, kept = sum->local_spec->spec.dtype;
    const size_t bytes = (size_t)t->columns * tsr_dtype_size(dtype);
    void *sums = tsr__tensor_data(sum);
    tsr_status st = TSR_OK;

    for (int64_t i = 0; i < t->n; i++)
        scale[i] = tsr__squares(dtype, (const char *)t->values + (size_t)i * bytes, t->columns);
    if (columns && t->n > 0)
        TSR_TRY(tsr_all_reduce(columns, TSR_F64, TSR_SUM, scale, t->n, scale));
    for (int64_t i = 0; i < t->n; i++) {
        const int64_t row = t->rows[i] - first;
        const double now =
            tsr__get(kept, sums, row) + scale[i] / (double)table->local_spec->spec.shape.size[1];

        tsr__put(kept, sums, row, now);
        scale[i] = -lr / (sqrt(now) + eps);
    }
done:
    return st;
}

static tsr_status step_by_rows(tsr_tensor *table, tsr_tensor *sum, const tsr_row_sparse *t,
                               tsr_mesh *columns, int64_t first, double lr, double eps)
{
    tsr_ctx *ctx = table->mesh->ctx;
    double *scale = NULL;
    tsr_status st;

    TSR_TRY(tsr__pool_get(&ctx->pool, (size_t)t->n * sizeof *scale, &scale, &ctx->error));
    TSR_TRY(add_means(table, sum, t, columns, first, lr, eps, scale));
    tsr__embedding_add(&(tsr_rows_update){.dtype = t->table.dtype,
                                          .dim = t->columns,
                                          .n = t->n,
                                          .rows = t->rows,
                                          .row_first = first,
                                          .values = t->values,
                                          .scales = scale,
                                          .table = tsr__tensor_data(table)});
done:
    tsr__pool_put(&ctx->pool, scale);
    return st;
}

static tsr_operand row_operand(const tsr_tensor *x, int64_t columns)
{
    return (tsr_operand){.dtype = x->local_spec->spec.dtype,
                         .shape = {.ndim = 1, .size = {columns}}};
}

static void step_by_elements(tsr_tensor *table, tsr_tensor *sum, const tsr_row_sparse *t,
                             int64_t first, double lr, double eps)
{
    const tsr_update update = {.kind = TSR_OPTIMIZER_ADAGRAD, .states = 1, .lr = lr, .eps = eps};
    tsr_kernel_call call = {.n_in = 3, .n_out = 2};
    const size_t size = tsr_dtype_size(table->local_spec->spec.dtype);
    const size_t kept = tsr_dtype_size(sum->local_spec->spec.dtype);

    call.in[0] = call.in[2] = row_operand(table, t->columns);
    call.in[1] = row_operand(sum, t->columns);
    for (int64_t i = 0; i < t->n; i++) {
        const size_t at = (size_t)((t->rows[i] - first) * t->columns);

        call.in[0].data = (char *)tsr__tensor_data(table) + at * size;
        call.in[1].data = (char *)tsr__tensor_data(sum) + at * kept;
        call.in[2].data = (char *)t->values + (size_t)(i * t->columns) * size;
        call.out[0] = call.in[0];
        call.out[1] = call.in[1];
        tsr__update_run(&call, &update);
    }
}

tsr_status tsr__rows_adagrad(tsr_tensor *table, tsr_tensor *sum, const tsr_row_sparse *sparse,
                             tsr_mesh *columns, double lr, double eps)
{
    int64_t first;
    tsr_status st;

    if (table->mesh->index < 0 || !sparse->mesh) /* zero is empty */
        return TSR_OK;
    TSR_TRY(tsr__rows_open(table, sparse, "adagrad", &first));
    TSR_TRY(tsr__make_writable(sum));
    if (sum->local_spec->spec.shape.ndim == 1)
        TSR_TRY(step_by_rows(table, sum, sparse, columns, first, lr, eps));
    else
        step_by_elements(table, sum, sparse, first, lr, eps);
done:
    return st;
}
