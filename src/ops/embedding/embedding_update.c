/* SPDX-License-Identifier: Apache-2.0 */
/* embedding_update.c - row-sparse gradients added to a table, or to each other. Called by
   tsr_row_sparse_add and optimizers. */
#include <string.h>

#include "base/half.h"
#include "ops/embedding/embedding.h"
#include "ops/embedding/embedding_rows.h"

static void add_f32(float *restrict y, const float *restrict x, int64_t n, float scale)
{
    for (int64_t i = 0; i < n; i++)
        y[i] += scale * x[i];
}

static void add_f64(double *restrict y, const double *restrict x, int64_t n, double scale)
{
    for (int64_t i = 0; i < n; i++)
        y[i] += scale * x[i];
}

/* f16 and bf16, a block at a time. */
static void add_half(tsr_dtype dtype, char *y, const char *x, int64_t n, float scale)
{
    enum { BLOCK = 256, SIZE = 2 };
    float a[BLOCK], b[BLOCK];

    for (int64_t i = 0; i < n; i += BLOCK) {
        int64_t m = n - i < BLOCK ? n - i : BLOCK;
        tsr__half_widen(dtype, y + i * SIZE, m, a);
        tsr__half_widen(dtype, x + i * SIZE, m, b);
        add_f32(a, b, m, scale);
        tsr__half_narrow(dtype, a, m, y + i * SIZE);
    }
}

void tsr__embedding_add(const tsr_rows_update *call)
{
    const size_t bytes = (size_t)call->dim * tsr_dtype_size(call->dtype);
    const int64_t ahead = tsr__rows_ahead(bytes);
    const char *from = call->values;
    char *table = call->table;

    for (int64_t i = 0; i < call->n; i++, from += bytes) {
        const double scale = call->scales ? call->scales[i] : call->scale;
        char *to = table + (size_t)(call->rows[i] - call->row_first) * bytes;
        if (i + ahead < call->n)
            tsr__row_prefetch(table + (size_t)(call->rows[i + ahead] - call->row_first) * bytes,
                              bytes);
        if (call->dtype == TSR_F32)
            add_f32((float *)(void *)to, (const float *)(const void *)from, call->dim,
                    (float)scale);
        else if (call->dtype == TSR_F64)
            add_f64((double *)(void *)to, (const double *)(const void *)from, call->dim, scale);
        else
            add_half(call->dtype, to, from, call->dim, (float)scale);
    }
}

void tsr__rows_sum(tsr_dtype dtype, int64_t dim, const void *const *row, int n, void *to,
                   float *wide)
{
    const bool half = dtype == TSR_F16 || dtype == TSR_BF16;

    if (!half || n == 1)
        memcpy(to, row[0], (size_t)dim * tsr_dtype_size(dtype));
    else
        tsr__half_widen(dtype, row[0], dim, wide);
    for (int i = 1; i < n; i++) {
        if (half) {
            tsr__half_widen(dtype, row[i], dim, wide + dim);
            add_f32(wide, wide + dim, dim, 1);
        } else if (dtype == TSR_F32)
            add_f32(to, row[i], dim, 1);
        else
            add_f64(to, row[i], dim, 1);
    }
    if (half && n > 1)
        tsr__half_narrow(dtype, wide, dim, to);
}
