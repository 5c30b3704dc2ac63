/* SPDX-License-Identifier: Apache-2.0 */
/* class_loss_reference.c - cross_entropy, nll_loss and their gradients by their definitions,
   element by element. Of a part of the classes nll_loss gives its part of the sum. Called when a
   call asks for the reference. */
#include "ops/loss/class_loss.h"

#include "kernel/index.h"
#include "kernel/kinds.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static double at(const tsr_operand *x, int64_t i)
{
    return tsr__get(x->dtype, x->data, i);
}

/* A row's class, -1 if it does not count; *known is false if there is no such class. */
static int64_t target_of(const tsr_kernel_call *call, int k, int64_t row, bool *known)
{
    const int64_t t = call->in[k].dtype == TSR_I32 ? ((const int32_t *)call->in[k].data)[row]
                                                   : ((const int64_t *)call->in[k].data)[row];

    *known = t == call->attrs.value[TSR_CLASS_IGNORE].i[0] ||
             (t >= 0 && t < call->number[TSR_CLASS_COUNT]);
    if (!*known) {
        call->error->code = TSR_ERR_ARG;
        snprintf(call->error->text, sizeof call->error->text, "target %" PRId64 " is not a class",
                 t);
    }
    return t == call->attrs.value[TSR_CLASS_IGNORE].i[0] ? -1 : t;
}

static double weight_of(const tsr_kernel_call *call, int k, int64_t c)
{
    return tsr__operand_given(call, k) ? at(&call->in[k], c) : 1;
}

static double lse_of(const tsr_operand *x, int64_t row, int64_t n)
{
    double max = -INFINITY, sum = 0;

    for (int64_t c = 0; c < n; c++)
        max = fmax(max, at(x, row * n + c));
    for (int64_t c = 0; c < n; c++)
        sum += exp(at(x, row * n + c) - max);
    return max + log(sum);
}

static void forward(const tsr_kernel_call *call, bool logits)
{
    const tsr_operand *x = &call->in[TSR_CLASS_X];
    const int last = x->shape.ndim - 1;
    const int64_t rows = tsr__product(last, x->shape.size), n = x->shape.size[last];
    const int64_t first = x->first[last], reduction = call->attrs.value[TSR_CLASS_REDUCTION].i[0];
    const double smoothing = logits ? call->attrs.value[TSR_CLASS_SMOOTHING].f : 0;
    double total = 0, divisor = 0;

    for (int64_t r = 0; r < rows; r++) {
        bool known;
        const int64_t t = target_of(call, TSR_CLASS_TARGET, r, &known);
        const double lse = logits ? lse_of(x, r, n) : 0;
        double loss = 0;

        if (!known)
            return;
        if (t >= first && t < first + n)
            loss = (1 - smoothing) * weight_of(call, TSR_CLASS_WEIGHT, t) *
                   (lse - at(x, r * n + t - first));
        for (int64_t c = 0; c < n && t >= 0 && smoothing != 0; c++)
            loss += smoothing / (double)call->number[TSR_CLASS_COUNT] *
                    weight_of(call, TSR_CLASS_WEIGHT, first + c) * (lse - at(x, r * n + c));
        total += loss;
        divisor += t < 0 ? 0 : weight_of(call, TSR_CLASS_WEIGHT, t);
        if (reduction == TSR_LOSS_NONE)
            tsr__put(call->out[0].dtype, call->out[0].data, r, loss);
        if (logits)
            tsr__put(TSR_F64, call->out[TSR_CLASS_OUT_LSE].data, r, lse);
    }
    if (reduction == TSR_LOSS_NONE)
        return;
    if (reduction == TSR_LOSS_MEAN) {
        const tsr_operand *out = &call->out[call->n_out - 1];

        tsr__put(out->dtype, out->data, 0, divisor);
        total /= divisor;
    }
    tsr__put(call->out[0].dtype, call->out[0].data, 0, total);
}

static void backward(const tsr_kernel_call *call, bool logits)
{
    const tsr_operand *x = &call->in[TSR_CLASS_X + TSR_CLASS_BACK], *grad = &call->in[0];
    const int last = x->shape.ndim - 1, weight = TSR_CLASS_WEIGHT + TSR_CLASS_BACK;
    const int64_t rows = tsr__product(last, x->shape.size), n = x->shape.size[last];
    const int64_t first = x->first[last], classes = call->number[TSR_CLASS_COUNT];
    const int64_t reduction = call->attrs.value[TSR_CLASS_REDUCTION].i[0];
    const double smoothing = logits ? call->attrs.value[TSR_CLASS_SMOOTHING].f : 0;

    for (int64_t r = 0; r < rows; r++) {
        bool known;
        const int64_t t = target_of(call, TSR_CLASS_TARGET + TSR_CLASS_BACK, r, &known);
        double g = at(grad, reduction == TSR_LOSS_NONE ? r : 0);

        if (!known)
            return;
        if (reduction == TSR_LOSS_MEAN)
            g /= at(&call->in[call->n_in - 1], 0);
        for (int64_t j = 0; j < n; j++) {
            const double p = logits ? exp(at(x, r * n + j) - at(&call->in[TSR_CLASS_LSE], r)) : 0;
            double slope = 0;

            for (int64_t c = 0; c < classes && t >= 0; c++) { /* the loss of class c */
                const double share = (c == t ? 1 - smoothing : 0) + smoothing / (double)classes;

                slope += share * weight_of(call, weight, c) * (p - (c == first + j ? 1 : 0));
            }
            tsr__put(call->out[0].dtype, call->out[0].data, r * n + j, t < 0 ? 0 : g * slope);
        }
    }
}

void tsr__reference_class_loss(const tsr_kernel_call *call)
{
    switch (call->kind) {
    case TSR_LOSS_CROSS_ENTROPY: forward(call, true); break;
    case TSR_LOSS_NLL: forward(call, false); break;
    case TSR_LOSS_CROSS_ENTROPY_BACKWARD: backward(call, true); break;
    default: backward(call, false); break;
    }
}
