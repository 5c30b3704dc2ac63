/* SPDX-License-Identifier: Apache-2.0 */
/* norm_reference.c - normalisation by its definitions, element by element, sums wider than f64: to
   be checked by eye. Called when a call asks for the reference. */
#include "ops/normalisation/norm.h"

#include "kernel/index.h"

#include <math.h>

/* x as [n, channels, space], and which elements a statistic is of. */
typedef struct view {
    int64_t n, channels, space;
    bool by_group;
    int64_t each; /* channels of a group */
} view;

static view view_of(const tsr_operand *x, bool by_group, int64_t groups)
{
    view v = {.n = x->shape.size[0],
              .channels = x->shape.size[1],
              .space = tsr__product(x->shape.ndim - 2, x->shape.size + 2),
              .by_group = by_group};

    v.each = by_group && groups > 0 ? v.channels / groups : 1;
    return v;
}

static int64_t channel_of(const view *v, int64_t i)
{
    return i / v->space % v->channels;
}

/* How many elements a statistic is of, and the j-th of them. */
static int64_t values_of(const view *v)
{
    return v->space * (v->by_group ? v->each : v->n);
}

static int64_t element_of(const view *v, int64_t k, int64_t j)
{
    if (v->by_group)
        return k * values_of(v) + j;
    return (j / v->space * v->channels + k) * v->space + j % v->space;
}

static double at(const tsr_kernel_call *call, int k, int64_t i, double other)
{
    return tsr__operand_given(call, k) ? tsr__get(call->in[k].dtype, call->in[k].data, i) : other;
}

static void put(const tsr_kernel_call *call, int k, int64_t i, double value)
{
    if (k < call->n_out && call->out[k].shape.ndim >= 0)
        tsr__put(call->out[k].dtype, call->out[k].data, i, value);
}

/* The mean of statistic k, and the mean squared distance to it. */
static void measure(const tsr_kernel_call *call, const view *v, int64_t k, double *mean,
                    double *var)
{
    const int64_t n = values_of(v);
    long double sum = 0, squares = 0;

    for (int64_t j = 0; j < n; j++)
        sum += at(call, TSR_NORM_X, element_of(v, k, j), 0);
    *mean = n > 0 ? (double)(sum / (double)n) : 0;
    for (int64_t j = 0; j < n; j++)
        squares += pow(at(call, TSR_NORM_X, element_of(v, k, j), 0) - *mean, 2);
    *var = n > 0 ? (double)(squares / (double)n) : 0;
}

static void forward(const tsr_kernel_call *call, const view *v, bool measured)
{
    const double eps = call->attrs.value[TSR_NORM_EPS].f;
    const int64_t n = values_of(v);

    for (int64_t k = 0; k < tsr__operand_count(&call->out[2]); k++) {
        double mean = at(call, TSR_NORM_RUNNING_MEAN, k, 0);
        double var = at(call, TSR_NORM_RUNNING_VAR, k, 0);

        if (measured)
            measure(call, v, k, &mean, &var);
        put(call, 1, k, mean);
        put(call, 2, k, 1 / sqrt(var + eps));
        put(call, 3, k, n > 1 ? var * (double)n / (double)(n - 1) : 0);
        for (int64_t j = 0; j < n; j++) {
            const int64_t i = element_of(v, k, j), c = channel_of(v, i);

            put(call, 0, i,
                (at(call, TSR_NORM_X, i, 0) - mean) / sqrt(var + eps) *
                        at(call, TSR_NORM_WEIGHT, c, 1) +
                    at(call, TSR_NORM_BIAS, c, 0));
        }
    }
}

/* ---- gradients ---- */

/* The normalised x, element i of statistic k. */
static double x_hat(const tsr_kernel_call *call, int64_t i, int64_t k)
{
    return (at(call, TSR_NORM_GRAD_X, i, 0) - at(call, TSR_NORM_GRAD_MEAN, k, 0)) *
           at(call, TSR_NORM_GRAD_RSTD, k, 0);
}

/* The gradient of the normalised x. */
static double grad_hat(const tsr_kernel_call *call, const view *v, int64_t i)
{
    return at(call, TSR_NORM_GRAD, i, 0) * at(call, TSR_NORM_GRAD_WEIGHT, channel_of(v, i), 1);
}

static void grad_of_x(const tsr_kernel_call *call, const view *v, int64_t k, bool measured)
{
    const double count = (double)call->number[TSR_NORM_COUNT];
    long double sum = 0, dot = 0;

    for (int64_t j = 0; j < values_of(v) && measured; j++) {
        const int64_t i = element_of(v, k, j);

        sum += grad_hat(call, v, i) / count;
        dot += grad_hat(call, v, i) * x_hat(call, i, k) / count;
    }
    for (int64_t j = 0; j < values_of(v); j++) {
        const int64_t i = element_of(v, k, j);

        put(call, 0, i,
            at(call, TSR_NORM_GRAD_RSTD, k, 0) *
                (grad_hat(call, v, i) - (double)(measured ? sum + x_hat(call, i, k) * dot : 0)));
    }
}

static void backward(const tsr_kernel_call *call, const view *v, bool measured)
{
    for (int64_t c = 0; c < v->channels; c++) {
        long double weight = 0, bias = 0;

        for (int64_t j = 0; j < v->n * v->space; j++) {
            const int64_t sample = j / v->space,
                          i = (sample * v->channels + c) * v->space + j % v->space;
            const int64_t k = v->by_group ? (sample * v->channels + c) / v->each : c;

            weight += at(call, TSR_NORM_GRAD, i, 0) * x_hat(call, i, k);
            bias += at(call, TSR_NORM_GRAD, i, 0);
        }
        put(call, 1, c, (double)weight);
        put(call, 2, c, (double)bias);
    }
    for (int64_t k = 0; k < tsr__operand_count(&call->in[TSR_NORM_GRAD_MEAN]); k++)
        grad_of_x(call, v, k, measured);
}

void tsr__reference_channel_norm(const tsr_kernel_call *call)
{
    const bool back =
        call->kind == TSR_NORM_BATCH_BACKWARD || call->kind == TSR_NORM_GROUP_BACKWARD;
    const bool grouped = call->kind == TSR_NORM_GROUP || call->kind == TSR_NORM_GROUP_BACKWARD;
    const view v = view_of(&call->in[back ? TSR_NORM_GRAD_X : TSR_NORM_X], grouped,
                           grouped ? call->attrs.value[TSR_NORM_GROUPS].i[0] : 0);

    (back ? backward : forward)(call, &v, grouped || call->attrs.value[TSR_NORM_TRAINING].i[0]);
}
