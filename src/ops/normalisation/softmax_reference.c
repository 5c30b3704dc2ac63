/* SPDX-License-Identifier: Apache-2.0 */
/* softmax_reference.c - softmax, log_softmax and their gradients by their definitions, element by
   element. Called when a call asks for the reference. */
#include "kernel/index.h"
#include "kernel/kinds.h"
#include "ops/normalisation/normalisation_ops.h"
#include "ops/normalisation/normalisation_attrs.h"

#include <math.h>

/* The row along dim that element i is in. */
typedef struct row {
    int64_t first, n, step;
} row;

static row row_of(const tsr_kernel_call *call, int64_t i)
{
    const tsr_operand *x = &call->in[0];
    const int dim = tsr__operand_dim(x, call->attrs.value[TSR_ATTR_SOFTMAX_DIM].i[0]);
    row r = {.n = x->shape.size[dim],
             .step = tsr__product(x->shape.ndim - dim - 1, x->shape.size + dim + 1)};

    r.first = i - i / r.step % r.n * r.step;
    return r;
}

static double at(const tsr_kernel_call *call, int k, const row *r, int64_t i)
{
    return tsr__get(call->in[k].dtype, call->in[k].data, r->first + i * r->step);
}

static void forward(const tsr_kernel_call *call, bool log_of)
{
    const tsr_operand *in = &call->in[0], *out = &call->out[0];

    for (int64_t i = 0; i < tsr__operand_count(in); i++) {
        const row r = row_of(call, i);
        const double x = tsr__get(in->dtype, in->data, i);
        double max = -INFINITY, sum = 0;

        for (int64_t k = 0; k < r.n; k++)
            max = fmax(max, at(call, 0, &r, k));
        for (int64_t k = 0; k < r.n; k++)
            sum += exp(at(call, 0, &r, k) - max);
        tsr__put(out->dtype, out->data, i, log_of ? x - max - log(sum) : exp(x - max) / sum);
    }
}

/* grad is input 0, what came out input 1 */
static void backward(const tsr_kernel_call *call, bool log)
{
    const tsr_operand *grad = &call->in[0], *y = &call->in[1], *out = &call->out[0];

    for (int64_t i = 0; i < tsr__operand_count(grad); i++) {
        const double g = tsr__get(grad->dtype, grad->data, i), own = tsr__get(y->dtype, y->data, i);
        const row r = row_of(call, i);
        double sum = 0;

        for (int64_t k = 0; k < r.n; k++)
            sum += at(call, 0, &r, k) * (log ? 1 : at(call, 1, &r, k));
        tsr__put(out->dtype, out->data, i, log ? g - exp(own) * sum : own * (g - sum));
    }
}

void tsr__reference_softmax(const tsr_kernel_call *call)
{
    switch (call->kind) {
    case TSR_SOFTMAX: forward(call, false); break;
    case TSR_LOG_SOFTMAX: forward(call, true); break;
    case TSR_SOFTMAX_BACKWARD: backward(call, false); break;
    default: backward(call, true); break;
    }
}
