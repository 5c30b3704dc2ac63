/* SPDX-License-Identifier: Apache-2.0 */
/* embedding_reference.c - the embedding kernels, element by element, in f64 or over the prime
   field. To be checked by eye; used by tests, by the validator and by calls that ask for it. */
#include "ops/embedding/embedding_reference.h"

#include <math.h>

/* ---- numbers: the field uses m, all floats use f ---- */

typedef struct num {
    double f;
    uint64_t m;
} num;

static num load(tsr_dtype dtype, const void *x, int64_t i)
{
    if ((int)dtype == TSR__FIELD)
        return (num){.m = ((const uint64_t *)x)[i]};
    return (num){.f = tsr__get(dtype, x, i)};
}

static void store(tsr_dtype dtype, void *x, int64_t i, num a)
{
    if ((int)dtype == TSR__FIELD)
        ((uint64_t *)x)[i] = a.m;
    else
        tsr__put(dtype, x, i, a.f);
}

static num add(num a, num b)
{
    return (num){a.f + b.f, tsr__field_add(a.m, b.m)};
}

static num mul(num a, num b)
{
    return (num){a.f * b.f, tsr__field_mul(a.m, b.m)};
}

/* By nothing if there was nothing to count. */
static num over(num a, int64_t n)
{
    if (n <= 1)
        return a;
    return (num){a.f / (double)n, tsr__field_mul(a.m, tsr__field_inverse((uint64_t)n))};
}

/* ---- what an id means ---- */

static bool counts_in_bag(const tsr_ids *ids, int64_t i)
{
    const int64_t id = tsr__ids_at(ids, i);

    return id >= 0 && id < ids->vocab && id != ids->padding;
}

static int64_t local_row(const tsr_ids *ids, int64_t i)
{
    const int64_t row = tsr__ids_at(ids, i) - ids->row_first;

    return counts_in_bag(ids, i) && row >= 0 && row < ids->n_rows ? row : -1;
}

static int64_t freq_of(const tsr_table_grad *call, int64_t row)
{
    return !call->freq                   ? 1
           : call->freq_dtype == TSR_I32 ? ((const int32_t *)call->freq)[row]
                                         : ((const int64_t *)call->freq)[row];
}

/* ---- forward ---- */

void tsr__reference_embedding(const tsr_lookup *call)
{
    tsr_ids ids = call->ids;

    if (call->padding_keep)
        ids.padding = -1;
    for (int64_t i = 0; i < ids.n; i++)
        for (int64_t d = 0; d < call->dim; d++) {
            const int64_t row = local_row(&ids, i);
            num x = {0, 0};

            if (row >= 0)
                x = load(call->dtype, call->table, row * call->dim + d);
            store(call->dtype, call->out, i * call->dim + d, x);
        }
}

static void pool(const tsr_bag_pool *call, bool mean)
{
    const tsr_bags *bags = &call->bags;

    for (int64_t b = 0; b < bags->n_bags; b++)
        for (int64_t d = 0; d < call->dim; d++) {
            num sum = {0, 0};
            int64_t count = 0;

            for (int64_t i = tsr__bag_begin(bags, b); i < tsr__bag_begin(bags, b + 1); i++) {
                const int64_t row = local_row(&bags->ids, i);
                num x;

                count += counts_in_bag(&bags->ids, i);
                if (row < 0)
                    continue;
                x = load(call->dtype, call->table, row * call->dim + d);
                if (!mean && call->weights)
                    x = mul(x, load(call->dtype, call->weights, i));
                sum = add(sum, x);
            }
            if (mean)
                sum = over(sum, call->counts ? call->counts[b] : count);
            store(call->dtype, call->out, b * call->dim + d, sum);
        }
}

void tsr__reference_bag_sum(const tsr_bag_pool *call)
{
    pool(call, false);
}

void tsr__reference_bag_mean(const tsr_bag_pool *call)
{
    pool(call, true);
}

void tsr__reference_bag_max(const tsr_bag_pool *call)
{
    const tsr_bags *bags = &call->bags;

    for (int64_t b = 0; b < bags->n_bags; b++)
        for (int64_t d = 0; d < call->dim; d++) {
            int64_t at = -1;
            double top = 0;

            for (int64_t i = tsr__bag_begin(bags, b); i < tsr__bag_begin(bags, b + 1); i++) {
                const int64_t row = local_row(&bags->ids, i);
                double x;

                if (row < 0)
                    continue;
                x = tsr__get(call->dtype, call->table, row * call->dim + d);
                if (at < 0 || x > top || (isnan(x) && !isnan(top)) ||
                    (call->last && (x == top || isnan(x)))) {
                    top = x;
                    at = i;
                }
            }
            tsr__put(call->dtype, call->out, b * call->dim + d, top);
            call->position[b * call->dim + d] = at;
        }
}

/* ---- backward ---- */

void tsr__reference_bag_backward(const tsr_bags *bags, const void *weights, const int64_t *counts,
                                 const tsr_table_grad *call)
{
    const tsr_dtype dtype = call->dtype;

    for (int64_t row = 0; row < call->n_rows; row++)
        for (int64_t d = 0; d < call->dim; d++) {
            num sum = {0, 0};

            for (int64_t b = 0; b < bags->n_bags; b++)
                for (int64_t i = tsr__bag_begin(bags, b); i < tsr__bag_begin(bags, b + 1); i++) {
                    num g;

                    if (local_row(&bags->ids, i) != row)
                        continue;
                    g = load(dtype, call->grad_out, b * call->dim + d);
                    if (weights)
                        g = mul(g, load(dtype, weights, i));
                    sum = add(sum, over(g, counts ? counts[b] : 1));
                }
            store(dtype, call->out, row * call->dim + d, over(sum, freq_of(call, row)));
        }
}

void tsr__reference_bag_max_backward(const tsr_ids *winners, const tsr_table_grad *call)
{
    for (int64_t row = 0; row < call->n_rows; row++)
        for (int64_t d = 0; d < call->dim; d++) {
            num sum = {0, 0};

            for (int64_t i = d; i < winners->n; i += call->dim) /* of every bag its column d */
                if (local_row(winners, i) == row)
                    sum = add(sum, load(call->dtype, call->grad_out, i));
            store(call->dtype, call->out, row * call->dim + d, over(sum, freq_of(call, row)));
        }
}

void tsr__reference_bag_weights_backward(const tsr_bag_pool *call, const void *grad_out, void *out)
{
    const tsr_bags *bags = &call->bags;

    for (int64_t i = 0; i < bags->ids.n; i++)
        store(call->dtype, out, i, (num){0, 0});
    for (int64_t b = 0; b < bags->n_bags; b++)
        for (int64_t i = tsr__bag_begin(bags, b); i < tsr__bag_begin(bags, b + 1); i++) {
            const int64_t row = local_row(&bags->ids, i);
            num sum = {0, 0};

            for (int64_t d = 0; row >= 0 && d < call->dim; d++)
                sum = add(sum, mul(load(call->dtype, grad_out, b * call->dim + d),
                                   load(call->dtype, call->table, row * call->dim + d)));
            store(call->dtype, out, i, sum);
        }
}

/* ---- max_norm ---- */

void tsr__reference_embedding_renorm(const tsr_renorm *call, const tsr_ids *ids)
{
    tsr_ids all = *ids;

    all.padding = -1;
    for (int64_t row = 0; row < ids->n_rows; row++) {
        bool occurs = false;
        double power = 0, top = 0, norm;

        for (int64_t i = 0; i < ids->n; i++)
            occurs |= local_row(&all, i) == row;
        for (int64_t d = 0; d < call->dim; d++) {
            const double x = fabs(tsr__get(call->dtype, call->table, row * call->dim + d));

            power += pow(x, call->p);
            top = fmax(top, x);
        }
        norm = isinf(call->p) ? top : pow(power, 1 / call->p);
        for (int64_t d = 0; occurs && norm > call->max_norm && d < call->dim; d++) {
            const int64_t i = row * call->dim + d;

            tsr__put(call->dtype, call->table, i,
                     tsr__get(call->dtype, call->table, i) * (call->max_norm / (norm + 1e-7)));
        }
    }
}
