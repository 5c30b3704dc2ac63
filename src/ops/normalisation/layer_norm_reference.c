/* SPDX-License-Identifier: Apache-2.0 */
/* layer_norm_reference.c - layer_norm, rms_norm and their gradients by their definitions, element
   by element: to be checked by eye. Called when a call asks for the reference. */
#include "ops/normalisation/layer_norm.h"

#include "kernel/index.h"
#include "kernel/kinds.h"

#include <math.h>

static double at(const tsr_kernel_call *call, int k, int64_t i, double other)
{
    return tsr__operand_given(call, k) ? tsr__get(call->in[k].dtype, call->in[k].data, i) : other;
}

static void put(const tsr_kernel_call *call, int k, int64_t i, double value)
{
    if (k < call->n_out && call->out[k].shape.ndim >= 0)
        tsr__put(call->out[k].dtype, call->out[k].data, i, value);
}

/* x is [rows][n]. */
static void sizes(const tsr_kernel_call *call, const tsr_operand *x, int64_t *rows, int64_t *n)
{
    const int lead = x->shape.ndim - (int)call->attrs.value[TSR_LAYER_DIMS].i[0];

    *rows = tsr__product(lead, x->shape.size);
    *n = tsr__product(x->shape.ndim - lead, x->shape.size + lead);
}

static void forward(const tsr_kernel_call *call, bool rms)
{
    int64_t rows, n;

    sizes(call, &call->in[TSR_LAYER_X], &rows, &n);
    for (int64_t r = 0; r < rows; r++) {
        long double mean = 0, square = 0;
        double rstd;

        for (int64_t i = 0; i < n && !rms; i++)
            mean += at(call, TSR_LAYER_X, r * n + i, 0) / (double)n;
        for (int64_t i = 0; i < n; i++)
            square += pow(at(call, TSR_LAYER_X, r * n + i, 0) - (double)mean, 2) / (double)n;
        rstd = 1 / sqrt((double)square + call->attrs.value[TSR_LAYER_EPS].f);
        if (!rms)
            put(call, 1, r, (double)mean);
        put(call, rms ? 1 : 2, r, rstd);
        for (int64_t i = 0; i < n; i++)
            put(call, 0, r * n + i,
                (at(call, TSR_LAYER_X, r * n + i, 0) - (double)mean) * rstd *
                        at(call, TSR_LAYER_WEIGHT, i, 1) +
                    (rms ? 0 : at(call, TSR_LAYER_BIAS, i, 0)));
    }
}

/* The normalised x, element i of row r. */
static double x_hat(const tsr_kernel_call *call, bool rms, int64_t r, int64_t i)
{
    const double mean = rms ? 0 : at(call, TSR_LAYER_GRAD_STATISTICS, r, 0);

    return (at(call, TSR_LAYER_GRAD_X, i, 0) - mean) *
           at(call, TSR_LAYER_GRAD_STATISTICS + (rms ? 0 : 1), r, 0);
}

static void backward(const tsr_kernel_call *call, bool rms)
{
    const double count = (double)call->number[TSR_LAYER_COUNT];
    int64_t rows, n;

    sizes(call, &call->in[TSR_LAYER_GRAD_X], &rows, &n);
    for (int64_t r = 0; r < rows; r++) {
        const double rstd = at(call, TSR_LAYER_GRAD_STATISTICS + (rms ? 0 : 1), r, 0);
        double sum = 0, dot = 0;

        for (int64_t i = 0; i < n; i++) {
            const double g =
                at(call, TSR_LAYER_GRAD, r * n + i, 0) * at(call, TSR_LAYER_GRAD_WEIGHT, i, 1);
            sum += rms ? 0 : g;
            dot += g * x_hat(call, rms, r, r * n + i);
        }
        for (int64_t i = 0; i < n; i++) {
            const double g =
                at(call, TSR_LAYER_GRAD, r * n + i, 0) * at(call, TSR_LAYER_GRAD_WEIGHT, i, 1);
            put(call, 0, r * n + i,
                rstd * (g - sum / count - x_hat(call, rms, r, r * n + i) * dot / count));
        }
    }
    for (int64_t i = 0; i < n; i++) {
        double weight = 0, bias = 0;

        for (int64_t r = 0; r < rows; r++) {
            weight += at(call, TSR_LAYER_GRAD, r * n + i, 0) * x_hat(call, rms, r, r * n + i);
            bias += at(call, TSR_LAYER_GRAD, r * n + i, 0);
        }
        put(call, 1, i, weight);
        put(call, 2, i, bias);
    }
}

void tsr__reference_layer_norm(const tsr_kernel_call *call)
{
    switch (call->kind) {
    case TSR_LAYER_NORM: forward(call, false); break;
    case TSR_RMS_NORM: forward(call, true); break;
    case TSR_LAYER_NORM_BACKWARD: backward(call, false); break;
    default: backward(call, true); break;
    }
}
