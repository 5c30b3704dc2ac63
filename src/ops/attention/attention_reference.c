/* SPDX-License-Identifier: Apache-2.0 */
/* attention_reference.c - attention and its gradients by their definitions, row by row, in f64. The
   oracle of attention.c, which calls it. */
#include "ops/attention/attention.h"

#include "kernel/index.h"

#include <math.h>
#include <string.h>

static double at(const tsr_operand *x, int64_t i, int64_t j, int64_t k, int64_t l)
{
    const int64_t *n = x->shape.size;

    return tsr__get(x->dtype, x->data, ((i * n[1] + j) * n[2] + k) * n[3] + l);
}

/* Of [batch, heads, rows], one number per row. */
static double row_of(const tsr_operand *x, int64_t b, int64_t h, int64_t i)
{
    return tsr__get(x->dtype, x->data, (b * x->shape.size[1] + h) * x->shape.size[2] + i);
}

static int64_t mask_at(const tsr_attention_call *a, int64_t b, int64_t h, int64_t i, int64_t j)
{
    const int64_t *s = a->mask_stride;

    return b * s[0] + h * s[1] + i * s[2] + j * s[3];
}

/* -INFINITY: the row does not see the key. */
static double score(const tsr_attention_call *a, int64_t b, int64_t h, int64_t i, int64_t j)
{
    const int64_t kv = tsr__attention_key_head(a, h);
    double sum = 0, mask = 0;

    if (tsr__attention_seen(a, i, j, 1) == 0)
        return -INFINITY;
    for (int64_t d = 0; d < a->dim; d++)
        sum += at(a->q, b, h, i, d) * at(a->k, b, kv, j, d);
    if (a->mask)
        mask = tsr__get(a->mask->dtype, a->mask->data, mask_at(a, b, h, i, j));
    if (a->mask && a->mask->dtype == TSR_BOOL)
        mask = mask != 0 ? 0 : -INFINITY;
    return sum * a->scale + mask;
}

static void forward_row(const tsr_attention_call *a, const tsr_kernel_call *call, int64_t b,
                        int64_t h, int64_t i)
{
    const tsr_operand *out = &call->out[TSR_ATT_OUT], *lse = &call->out[TSR_ATT_LSE];
    const int64_t row = (b * a->heads + h) * a->rows + i, kv = tsr__attention_key_head(a, h);
    double *s = call->scratch, max = -INFINITY, sum = 0;

    for (int64_t j = 0; j < a->keys; j++) {
        s[j] = score(a, b, h, i, j);
        max = fmax(max, s[j]);
    }
    for (int64_t j = 0; j < a->keys && max > -INFINITY; j++)
        sum += exp(s[j] - max);
    tsr__put(lse->dtype, lse->data, row, sum == 0 ? -INFINITY : max + log(sum));
    for (int64_t e = 0; e < a->width; e++) {
        double y = 0;

        for (int64_t j = 0; j < a->keys && sum != 0; j++)
            y += exp(s[j] - max) / sum * at(a->v, b, kv, j, e);
        tsr__put(out->dtype, out->data, row * a->width + e, y);
    }
}

void tsr__reference_attention(const tsr_kernel_call *call)
{
    const tsr_attention_call a = tsr__attention_of(call, false);

    for (int64_t b = 0; b < a.batch; b++)
        for (int64_t h = 0; h < a.heads; h++)
            for (int64_t i = 0; i < a.rows; i++)
                forward_row(&a, call, b, h, i);
}

/* ---- gradients ---- */

/* Sums in f64: those of one row's weights and slopes, of one head of keys, of the mask. */
typedef struct sums {
    double *weight, *slope, *k, *v, *mask;
    int64_t n_k, n_v, n_mask;
} sums;

static sums sums_of(const tsr_attention_call *a, const tsr_kernel_call *call)
{
    const tsr_operand *mask = &call->out[3];
    sums s = {.weight = call->scratch,
              .n_k = a->keys * a->dim,
              .n_v = a->keys * a->width,
              .n_mask = mask->shape.ndim >= 0 ? tsr__operand_count(mask) : 0};

    if (!s.weight)
        return s;
    s.slope = s.weight + a->keys;
    s.k = s.slope + a->keys;
    s.v = s.k + s.n_k;
    s.mask = s.v + s.n_v;
    return s;
}

int64_t tsr__reference_attention_numbers(const tsr_kernel_call *call, bool backward)
{
    const tsr_attention_call a = tsr__attention_of(call, backward);
    sums s;

    if (!backward)
        return a.keys;
    s = sums_of(&a, call);
    return 2 * a.keys + s.n_k + s.n_v + s.n_mask;
}

/* The weights of a row, and the gradients of its scores. */
static void bend_row(const tsr_attention_call *a, const tsr_kernel_call *call, int64_t b, int64_t h,
                     int64_t i, const sums *s)
{
    const tsr_operand *grad = &call->in[TSR_ATT_GRAD], *out = &call->in[TSR_ATT_GRAD_OUT];
    const int64_t kv = tsr__attention_key_head(a, h);
    const double lse = row_of(&call->in[TSR_ATT_GRAD_LSE], b, h, i);

    for (int64_t j = 0; j < a->keys; j++) {
        double x = score(a, b, h, i, j), sum = 0;

        for (int64_t e = 0; e < a->width; e++)
            sum += at(grad, b, h, i, e) * (at(a->v, b, kv, j, e) - at(out, b, h, i, e));
        if (tsr__operand_given(call, TSR_ATT_GRAD_OF_LSE))
            sum += row_of(&call->in[TSR_ATT_GRAD_OF_LSE], b, h, i);
        s->weight[j] = x == -INFINITY || lse == -INFINITY ? 0 : exp(x - lse);
        s->slope[j] = s->weight[j] * sum;
    }
}

static void backward_row(const tsr_attention_call *a, const tsr_kernel_call *call, int64_t b,
                         int64_t h, int64_t i, const sums *s)
{
    const tsr_operand *to = &call->out[0], *grad = &call->in[TSR_ATT_GRAD];
    const int64_t kv = tsr__attention_key_head(a, h), row = (b * a->heads + h) * a->rows + i;

    bend_row(a, call, b, h, i, s);
    for (int64_t d = 0; d < a->dim; d++) {
        double sum = 0;

        for (int64_t j = 0; j < a->keys; j++)
            sum += a->scale * s->slope[j] * at(a->k, b, kv, j, d);
        tsr__put(to->dtype, to->data, row * a->dim + d, sum);
    }
    for (int64_t j = 0; j < a->keys; j++) {
        for (int64_t d = 0; d < a->dim; d++)
            s->k[j * a->dim + d] += a->scale * s->slope[j] * at(a->q, b, h, i, d);
        for (int64_t e = 0; e < a->width; e++)
            s->v[j * a->width + e] += s->weight[j] * at(grad, b, h, i, e);
        if (s->n_mask > 0)
            s->mask[mask_at(a, b, h, i, j)] += s->slope[j];
    }
}

static void put(const tsr_operand *x, int64_t first, int64_t n, const double *from)
{
    for (int64_t i = 0; i < n; i++)
        tsr__put(x->dtype, x->data, first + i, from[i]);
}

void tsr__reference_attention_backward(const tsr_kernel_call *call)
{
    const tsr_attention_call a = tsr__attention_of(call, true);
    const sums s = sums_of(&a, call);

    memset(s.mask, 0, (size_t)s.n_mask * sizeof *s.mask);
    for (int64_t b = 0; b < a.batch; b++)
        for (int64_t kv = 0; kv < a.key_heads; kv++) {
            const int64_t head = b * a.key_heads + kv;

            memset(s.k, 0, (size_t)(s.n_k + s.n_v) * sizeof *s.k);
            for (int64_t h = 0; h < a.heads; h++)
                for (int64_t i = 0; i < a.rows && tsr__attention_key_head(&a, h) == kv; i++)
                    backward_row(&a, call, b, h, i, &s);
            put(&call->out[1], head * s.n_k, s.n_k, s.k);
            put(&call->out[2], head * s.n_v, s.n_v, s.v);
        }
    put(&call->out[3], 0, s.n_mask, s.mask);
}
