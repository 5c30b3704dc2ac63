/* SPDX-License-Identifier: Apache-2.0 */
/* embedding_norm.c - max_norm: rows that are looked up and too long are shortened in the table
   itself. In two steps, since a row may be cut into columns on several ranks. Called by the
   embedding ops before a lookup. */
#include "ops/embedding/embedding.h"

#include "ops/embedding/embedding_rows.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 256 };

static void *row_of(const tsr_renorm *call, int64_t row)
{
    return (char *)call->table + (size_t)(row * call->dim) * tsr_dtype_size(call->dtype);
}

/* By lanes that every machine adds alike, in f64. */
static double sum_powers(double p, const double *x, int64_t n)
{
    enum { LANES = 8 };
    double lane[LANES] = {0};
    int64_t i = 0;

    for (; p == 2 && i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++)
            lane[k] += x[i + k] * x[i + k];
    for (; i < n; i++)
        lane[i % LANES] += p == 2 ? x[i] * x[i] : p == 1 ? fabs(x[i]) : pow(fabs(x[i]), p);
    return lane[0] + lane[1] + lane[2] + lane[3] + (lane[4] + lane[5] + lane[6] + lane[7]);
}

static double largest(const double *x, int64_t n, double top)
{
    for (int64_t i = 0; i < n; i++)
        top = fabs(x[i]) > top || isnan(x[i]) ? fabs(x[i]) : top;
    return top;
}

void tsr__embedding_powers(const tsr_renorm *call, const int64_t *rows, int64_t n, double *power)
{
    const size_t size = tsr_dtype_size(call->dtype);
    double wide[BLOCK];

    for (int64_t i = 0; i < n; i++) {
        const char *x = row_of(call, rows[i]);

        power[i] = 0;
        for (int64_t d = 0; d < call->dim; d += BLOCK) {
            const int64_t m = call->dim - d < BLOCK ? call->dim - d : BLOCK;

            tsr__convert(TSR_F64, wide, call->dtype, x + (size_t)d * size, m);
            if (isinf(call->p))
                power[i] = largest(wide, m, power[i]);
            else
                power[i] += sum_powers(call->p, wide, m);
        }
    }
}

void tsr__embedding_rescale(const tsr_renorm *call, const int64_t *rows, int64_t n,
                            const double *power)
{
    const size_t size = tsr_dtype_size(call->dtype);
    double wide[BLOCK];

    for (int64_t i = 0; i < n; i++) {
        const double norm = isinf(call->p) ? power[i]
                            : call->p == 2 ? sqrt(power[i])
                                           : pow(power[i], 1 / call->p);
        char *x = row_of(call, rows[i]);

        if (!(norm > call->max_norm))
            continue;
        for (int64_t d = 0; d < call->dim; d += BLOCK) {
            const int64_t m = call->dim - d < BLOCK ? call->dim - d : BLOCK;

            tsr__convert(TSR_F64, wide, call->dtype, x + (size_t)d * size, m);
            for (int64_t k = 0; k < m; k++)
                wide[k] *= call->max_norm / (norm + 1e-7);
            tsr__convert(call->dtype, x + (size_t)d * size, TSR_F64, wide, m);
        }
    }
}

void tsr__embedding_renorm(const tsr_renorm *call, const tsr_ids *ids, void *scratch)
{
    tsr_ids all = *ids;
    tsr_scattered rows;
    double power[BLOCK];

    all.padding = -1;
    tsr__embedding_scatter(&all, scratch, &rows);
    for (int64_t i = 0; i < rows.n_distinct; i += BLOCK) {
        const int64_t n = rows.n_distinct - i < BLOCK ? rows.n_distinct - i : BLOCK;

        tsr__embedding_powers(call, rows.row + i, n, power);
        tsr__embedding_rescale(call, rows.row + i, n, power);
    }
}
