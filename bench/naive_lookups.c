/* SPDX-License-Identifier: Apache-2.0 */
/* naive_lookups.c - naive lookups, bags and gradients (naive_lookups.h): one thread, plain loops,
   as the compiler leaves them. */
#include "naive_lookups.h"

#include <string.h>

bool naive_exists(const naive_job *job, naive_kind kind)
{
    return kind == NAIVE_LOOKUP ||
           (job->floats && kind <= NAIVE_MAX_DENSE && kind != NAIVE_LOOKUP_SPARSE);
}

size_t naive_bytes(const naive_job *job, naive_kind kind)
{
    bool dense = kind == NAIVE_LOOKUP_DENSE || (kind >= NAIVE_SUM_DENSE && kind <= NAIVE_MAX_DENSE);

    return (size_t)(dense              ? job->rows
                    : kind < NAIVE_SUM ? job->n
                                       : job->bags * job->length) *
           job->row_bytes;
}

static void look_up(const naive_job *j)
{
    for (int64_t i = 0; i < j->n; i++)
        memcpy((char *)j->to + (size_t)i * j->row_bytes,
               (const char *)j->table + (size_t)j->ids[i] * j->row_bytes, j->row_bytes);
}

static void pool(const naive_job *j, float scale)
{
    const float *table = j->table;
    float *to = j->to;

    for (int64_t b = 0; b < j->bags; b++) {
        float *y = to + b * j->columns;
        memset(y, 0, j->row_bytes);
        for (int64_t i = 0; i < j->length; i++)
            for (int64_t k = 0; k < j->columns; k++)
                y[k] += table[j->ids[b * j->length + i] * j->columns + k];
        for (int64_t k = 0; k < j->columns; k++)
            y[k] *= scale;
    }
}

static void pool_max(const naive_job *j)
{
    const float *table = j->table;
    float *to = j->to;

    for (int64_t b = 0; b < j->bags; b++)
        for (int64_t k = 0; k < j->columns; k++) {
            float most = table[j->ids[b * j->length] * j->columns + k];
            for (int64_t i = 1; i < j->length; i++) {
                float x = table[j->ids[b * j->length + i] * j->columns + k];
                most = x > most ? x : most;
            }
            to[b * j->columns + k] = most;
        }
}

/* Row i of grad, or of bag i / length, is added to the row of id i. */
static void add_rows(const naive_job *j, const float *grad, int64_t n, int64_t length, float scale)
{
    float *to = j->to;

    memset(to, 0, (size_t)j->rows * j->row_bytes);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < j->columns; k++)
            to[j->ids[i] * j->columns + k] += scale * grad[i / length * j->columns + k];
}

static void add_winners(const naive_job *j)
{
    const float *grad = j->bag_grad;
    float *to = j->to;

    memset(to, 0, (size_t)j->rows * j->row_bytes);
    for (int64_t i = 0; i < j->bags * j->columns; i++)
        to[j->index[i] * j->columns + i % j->columns] += grad[i];
}

void naive_run(const naive_job *j, naive_kind kind)
{
    float share = 1.0f / (float)j->length;

    switch (kind) {
    case NAIVE_LOOKUP: look_up(j); break;
    case NAIVE_LOOKUP_DENSE: add_rows(j, j->grad, j->n, 1, 1); break;
    case NAIVE_SUM: pool(j, 1); break;
    case NAIVE_MEAN: pool(j, share); break;
    case NAIVE_MAX: pool_max(j); break;
    case NAIVE_SUM_DENSE: add_rows(j, j->bag_grad, j->bags * j->length, j->length, 1); break;
    case NAIVE_MEAN_DENSE: add_rows(j, j->bag_grad, j->bags * j->length, j->length, share); break;
    case NAIVE_MAX_DENSE: add_winners(j); break;
    case NAIVE_LOOKUP_SPARSE:
    case NAIVE_SUM_SPARSE:
    case NAIVE_MEAN_SPARSE: break;
    }
}
