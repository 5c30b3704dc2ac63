/* SPDX-License-Identifier: Apache-2.0 */
/* pair_loss.c - see pair_loss.h. One pass over memory, block by block; f16 and bf16 are computed in
   f32, sums of blocks are added in f64. */
#include "ops/loss/pair_loss.h"

#include "ops/loss/class_loss.h"
#include "kernel/exp.h"
#include "kernel/kinds.h"
#include "ops/loss/loss_ops.h"
#include "kernel/row_io.h"
#include "kernel/sku.h"

#include <math.h>

enum { BLOCK = 1024 };
enum {
    X = TSR_PAIR_X,
    TARGET = TSR_PAIR_TARGET,
    WEIGHT = TSR_PAIR_WEIGHT,
    POSITIVE = TSR_PAIR_POSITIVE
};
typedef enum pair_kind { MSE, L1, BCE } pair_kind;

typedef struct parts {
    void (*losses)(pair_kind kind, int64_t n, const void *const in[4], void *y);
    double (*sum)(int64_t n, const void *x);
    void (*slopes)(pair_kind kind, int k, int64_t n, const void *const in[4], void *y);
    void (*times)(int64_t n, const void *grad, double by, void *y);
} parts;

#define TABLE pair_kernels
#define BODY "ops/loss/pair_loss.inc.h"
#define DTYPES TSR__REALS
#define AVX2 TSR__AVX2_FMA
#define AVX512 TSR__AVX512
#include "base/kernel_table.inc.h"

/* ---- definitions ---- */

static pair_kind pair_of(int kind)
{
    switch (kind) {
    case TSR_LOSS_MSE:
    case TSR_LOSS_MSE_BACKWARD: return MSE;
    case TSR_LOSS_L1:
    case TSR_LOSS_L1_BACKWARD: return L1;
    default: return BCE;
    }
}

/* log(1 + e^-x) */
static double softplus_below(double x)
{
    return log1p(exp(-fabs(x))) + fmax(-x, 0);
}

double tsr__pair_loss(int kind, const double in[TSR_PAIR_INPUTS])
{
    const double d = in[X] - in[TARGET];

    switch (pair_of(kind)) {
    case MSE: return d * d;
    case L1: return fabs(d);
    default:
        return in[WEIGHT] * ((1 - in[TARGET]) * in[X] +
                             (1 + (in[POSITIVE] - 1) * in[TARGET]) * softplus_below(in[X]));
    }
}

double tsr__pair_slope(int kind, int k, const double in[TSR_PAIR_INPUTS])
{
    const double d = in[X] - in[TARGET];

    switch (pair_of(kind)) {
    case MSE: return 2 * d;
    case L1: return (d > 0) - (d < 0);
    default: break;
    }
    switch (k) {
    case X:
        return in[WEIGHT] *
               (1 - in[TARGET] - (1 + (in[POSITIVE] - 1) * in[TARGET]) / (1 + exp(in[X])));
    case TARGET: return in[WEIGHT] * ((in[POSITIVE] - 1) * softplus_below(in[X]) - in[X]);
    case WEIGHT: return tsr__pair_loss(kind, (const double[]){in[X], in[TARGET], 1, in[POSITIVE]});
    default: return in[WEIGHT] * in[TARGET] * softplus_below(in[X]);
    }
}

/* ---- operands ---- */

/* What a call is; `first` is 1 for gradients. */
typedef struct view {
    const tsr_kernel_call *call;
    const parts *parts;
    tsr_row_io io;
    int first, n_in; /* of operands */
    int64_t count, reduction;
} view;

static bool is_backward(int kind)
{
    return kind == TSR_LOSS_MSE_BACKWARD || kind == TSR_LOSS_L1_BACKWARD ||
           kind == TSR_LOSS_BCE_BACKWARD;
}

static view view_of(const tsr_kernel_call *call)
{
    const bool back = is_backward(call->kind);
    const tsr_operand *x = &call->in[back];
    const tsr_kernel_variant variant = tsr__variant_best(TSR_CATEGORY_LOSS, (uint16_t)call->kind,
                                                         x->dtype, tsr__variant_asked(call));

    return (view){
        .call = call,
        .parts = variant == TSR_VARIANT_REFERENCE
                     ? NULL
                     : tsr__kernel_for(&pair_kernels, x->dtype, variant),
        .io = tsr__row_io(x, BLOCK, call->out[0].data),
        .first = back,
        .n_in = pair_of(call->kind) == BCE ? 4 : 2,
        .count = tsr__operand_count(x),
        .reduction = call->attrs.value[TSR_PAIR_REDUCTION].i[0],
    };
}

static bool is_whole(const view *v, const tsr_operand *x)
{
    return tsr__operand_count(x) == v->count && x->dtype == v->io.dtype;
}

/* Element i of operand k; 1 if it is absent. */
static double at(const view *v, int k, int64_t i)
{
    const tsr_operand *x = &v->call->in[v->first + k], *like = &v->call->in[v->first];

    if (k >= v->n_in || !tsr__operand_given(v->call, v->first + k))
        return 1;
    return tsr__get(
        x->dtype, x->data,
        tsr__broadcast_at(x->shape.ndim, x->shape.size, like->shape.ndim, like->shape.size, i));
}

/* n elements of operand k from i on, in what is computed with; NULL if it is absent. */
static const void *load(const view *v, int k, int64_t i, int64_t n, double *buffer)
{
    const tsr_operand *x = &v->call->in[v->first + k];
    const tsr_dtype wide = v->io.dtype == TSR_F64 ? TSR_F64 : TSR_F32;

    if (k >= v->n_in || !tsr__operand_given(v->call, v->first + k))
        return NULL;
    if (is_whole(v, x))
        return tsr__row_load(&v->io, (const char *)x->data + i * v->io.size, n, buffer);
    for (int64_t j = 0; j < n; j++)
        tsr__put(wide, buffer, j, at(v, k, i + j));
    return buffer;
}

/* What a sum becomes: itself, or the share that this rank has in the mean. */
static double share(const view *v)
{
    return v->reduction == TSR_LOSS_MEAN ? 1 / (double)v->call->number[TSR_PAIR_COUNT] : 1;
}

/* ---- forward ---- */

static void reference_loss(const view *v)
{
    const tsr_operand *out = &v->call->out[0];
    double sum = 0;

    for (int64_t i = 0; i < v->count; i++) {
        const double in[] = {at(v, X, i), at(v, TARGET, i), at(v, WEIGHT, i), at(v, POSITIVE, i)};
        const double loss = tsr__pair_loss(v->call->kind, in);

        sum += loss;
        if (v->reduction == TSR_LOSS_NONE)
            tsr__put(out->dtype, out->data, i, loss);
    }
    if (v->reduction != TSR_LOSS_NONE)
        tsr__put(out->dtype, out->data, 0, sum * share(v));
}

static void forward(const tsr_kernel_call *call)
{
    const view v = view_of(call);
    const tsr_operand *out = &call->out[0];
    double buffer[TSR_PAIR_INPUTS][BLOCK], result[BLOCK], sum = 0;

    if (!v.parts) {
        reference_loss(&v);
        return;
    }
    for (int64_t i = 0; i < v.count; i += BLOCK) {
        const int64_t n = v.count - i < BLOCK ? v.count - i : BLOCK;
        const void *in[TSR_PAIR_INPUTS];

        for (int k = 0; k < TSR_PAIR_INPUTS; k++)
            in[k] = load(&v, k, i, n, buffer[k]);
        v.parts->losses(pair_of(call->kind), n, in, result);
        if (v.reduction == TSR_LOSS_NONE)
            tsr__row_store(&v.io, result, n, (char *)out->data + i * v.io.size);
        else
            sum += v.parts->sum(n, result);
    }
    if (v.reduction == TSR_LOSS_NONE)
        tsr__row_end(&v.io);
    else
        tsr__put(out->dtype, out->data, 0, sum * share(&v));
}

/* ---- gradients ---- */

static bool is_wanted(const tsr_kernel_call *call, int k)
{
    return k < call->n_out && call->out[k].shape.ndim >= 0;
}

static double grad_at(const view *v, int64_t i)
{
    const tsr_operand *grad = &v->call->in[0];

    return v->reduction == TSR_LOSS_NONE ? tsr__get(grad->dtype, grad->data, i)
                                         : tsr__get(grad->dtype, grad->data, 0) * share(v);
}

static void reference_slopes(const view *v)
{
    for (int64_t i = 0; i < v->count; i++) {
        const double in[] = {at(v, X, i), at(v, TARGET, i), at(v, WEIGHT, i), at(v, POSITIVE, i)};

        for (int k = 0; k < v->call->n_out; k++)
            if (is_wanted(v->call, k))
                tsr__put(v->call->out[k].dtype, v->call->out[k].data, i,
                         grad_at(v, i) * tsr__pair_slope(v->call->kind, k, in));
    }
}

static void backward(const tsr_kernel_call *call)
{
    const view v = view_of(call);
    const bool each = v.reduction == TSR_LOSS_NONE;
    double buffer[TSR_PAIR_INPUTS][BLOCK], grad[BLOCK], result[BLOCK];

    if (!v.parts) {
        reference_slopes(&v);
        return;
    }
    for (int64_t i = 0; i < v.count; i += BLOCK) {
        const int64_t n = v.count - i < BLOCK ? v.count - i : BLOCK;
        const void *in[TSR_PAIR_INPUTS], *g = NULL;

        for (int k = 0; k < TSR_PAIR_INPUTS; k++)
            in[k] = load(&v, k, i, n, buffer[k]);
        if (each)
            g = tsr__row_load(&v.io, (const char *)call->in[0].data + i * v.io.size, n, grad);
        for (int k = 0; k < call->n_out; k++) {
            if (!is_wanted(call, k))
                continue;
            v.parts->slopes(pair_of(call->kind), k, n, in, result);
            v.parts->times(n, g, each ? 1 : grad_at(&v, 0), result);
            tsr__row_store(&v.io, result, n, (char *)call->out[k].data + i * v.io.size);
        }
    }
    tsr__row_end(&v.io);
}

void tsr__kernel_pair_loss(const tsr_kernel_call *call)
{
    if (is_backward(call->kind))
        backward(call);
    else
        forward(call);
}
