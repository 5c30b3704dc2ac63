/* SPDX-License-Identifier: Apache-2.0 */
/* class_loss.c - see class_loss.h. Logits are read once: a row's exponentials are summed while it
   is in the cache. f16 and bf16 are computed in f32, losses in f64. */
#include "ops/loss/class_loss.h"

#include "base/minmax.h"
#include "ops/loss/loss_ops.h"
#include "kernel/index_check.h"
#include "kernel/kinds.h"
#include "kernel/row_io.h"
#include "kernel/sku.h"
#include "kernel/softmax_loops.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { PIECE = TSR_ROW_PIECE };
enum { MAX = 0, SUM = 1, PICKED = 2, SMOOTH = 3, NUMBERS = 4 }; /* of a row */

/* What a call is: x[rows][n], the classes from `first` on. */
typedef struct view {
    const tsr_softmax_loops *parts;
    tsr_row_io io;
    const tsr_operand *x, *target, *weight;
    int64_t rows, n, first, classes, ignore;
    int64_t reduction;
    double smoothing;
    const char *wide; /* weights of the classes here, in what is computed with; NULL: 1 */
    int64_t each;     /* bytes of one */
    double all;       /* weights of all classes, if they are smoothed */
} view;

static double weight_at(const view *v, int64_t c)
{
    return v->weight ? tsr__get(v->weight->dtype, v->weight->data, c) : 1;
}

static view view_of(const tsr_kernel_call *call)
{
    const int kind = call->kind;
    const int back = kind == TSR_LOSS_CROSS_ENTROPY_BACKWARD || kind == TSR_LOSS_NLL_BACKWARD;
    const bool logits = kind == TSR_LOSS_CROSS_ENTROPY || kind == TSR_LOSS_CROSS_ENTROPY_BACKWARD;
    const tsr_operand *x = &call->in[TSR_CLASS_X + back];
    const int last = x->shape.ndim - 1;
    view v = {
        .parts = tsr__softmax_loops(x->dtype, tsr__variant_best(TSR_CATEGORY_LOSS, (uint16_t)kind,
                                                                x->dtype, call->variant)),
        .io = tsr__row_io(x, tsr__min(x->shape.size[last], PIECE), call->out[0].data),
        .x = x,
        .target = &call->in[TSR_CLASS_TARGET + back],
        .rows = tsr__product(last, x->shape.size),
        .n = x->shape.size[last],
        .first = x->first[last],
        .classes = call->number[TSR_CLASS_COUNT],
        .reduction = call->attrs.value[TSR_CLASS_REDUCTION].i[0],
        .ignore = call->attrs.value[TSR_CLASS_IGNORE].i[0],
        .smoothing = logits ? call->attrs.value[TSR_CLASS_SMOOTHING].f : 0,
        .each = x->dtype == TSR_F64 ? 8 : 4,
    };

    if (tsr__operand_given(call, TSR_CLASS_WEIGHT + back))
        v.weight = &call->in[TSR_CLASS_WEIGHT + back];
    return v;
}

/* Weights that rows are multiplied with, in the scratch, and their sum. */
static void open_smoothing(const tsr_kernel_call *call, view *v)
{
    v->all = (double)v->classes;
    if (!v->weight || v->smoothing == 0)
        return;
    v->all = 0;
    for (int64_t c = 0; c < v->classes; c++)
        v->all += weight_at(v, c);
    tsr__convert(
        v->io.dtype == TSR_F64 ? TSR_F64 : TSR_F32, call->scratch, v->weight->dtype,
        (const char *)v->weight->data + v->first * (int64_t)tsr_dtype_size(v->weight->dtype), v->n);
    v->wide = call->scratch;
}

/* The class of a row; -1 if it does not count. One that there is not is an error. */
static int64_t target_at(const tsr_kernel_call *call, const view *v, int64_t row)
{
    const int64_t t = v->target->dtype == TSR_I32 ? ((const int32_t *)v->target->data)[row]
                                                  : ((const int64_t *)v->target->data)[row];

    if (t == v->ignore)
        return -1;
    if (t >= 0 && t < v->classes)
        return t;
    if (call->error && call->error->code == TSR_OK) {
        char why[96];

        snprintf(why, sizeof why,
                 " is not one of the %" PRId64 " classes, nor ignore_index %" PRId64, v->classes,
                 v->ignore);
        tsr__index_refuse(call, v->target, "target", row, why);
    }
    return -1;
}

static bool is_here(const view *v, int64_t t)
{
    return t >= v->first && t < v->first + v->n;
}

/* ---- cross_entropy ---- */

/* Numbers of the row at x, but for the one that is picked. */
static void row_numbers(const view *v, const char *x, double number[NUMBERS])
{
    double TSR__CACHE_ALIGNED buffer[PIECE];

    number[MAX] = -INFINITY;
    number[SUM] = number[PICKED] = number[SMOOTH] = 0;
    for (int64_t i = 0; i < v->n; i += PIECE) {
        const int64_t n = tsr__min(PIECE, v->n - i);
        const char *at = x + i * v->io.size;
        const void *from = tsr__row_load(&v->io, at, n, buffer);
        const double max = v->parts->row_max(from, n);
        const double sum = v->parts->row_exp_sum(from, n, max > -INFINITY ? max : 0,
                                                 v->io.half ? NULL : at + n * v->io.size);

        tsr__lse_combine(&number[MAX], &number[SUM], max, sum);
        if (v->smoothing != 0)
            number[SMOOTH] += v->parts->row_dot(from, v->wide ? v->wide + i * v->each : NULL, n);
    }
}

/* The loss of a row, weighted. */
static double row_loss(const view *v, const double number[NUMBERS], int64_t t, double *lse)
{
    const double log_sum = log(number[SUM]);

    *lse = number[MAX] + log_sum;
    if (t < 0)
        return 0;
    if (v->smoothing == 0)
        return weight_at(v, t) * (number[MAX] - number[PICKED] + log_sum);
    return (1 - v->smoothing) * weight_at(v, t) * (number[MAX] - number[PICKED] + log_sum) +
           v->smoothing / (double)v->classes * (v->all * *lse - number[SMOOTH]);
}

int64_t tsr__class_count(const tsr_kernel_call *call)
{
    const view v = view_of(call);

    return NUMBERS * v.rows;
}

void tsr__class_local(const tsr_kernel_call *call, double *numbers)
{
    view v = view_of(call);

    open_smoothing(call, &v);
    for (int64_t r = 0; r < v.rows; r++) {
        const int64_t t = target_at(call, &v, r);

        row_numbers(&v, (const char *)v.x->data + r * v.n * v.io.size, numbers + r * NUMBERS);
        if (is_here(&v, t))
            numbers[r * NUMBERS + PICKED] = tsr__get(v.x->dtype, v.x->data, r * v.n + t - v.first);
    }
}

void tsr__class_merge(int64_t count, double *numbers, const double *more)
{
    for (int64_t i = 0; i < count; i += NUMBERS) {
        tsr__lse_combine(&numbers[i + MAX], &numbers[i + SUM], more[i + MAX], more[i + SUM]);
        numbers[i + PICKED] += more[i + PICKED];
        numbers[i + SMOOTH] += more[i + SMOOTH];
    }
}

/* What is known of one row goes out; `sum` is of all. */
static void put_row(const tsr_kernel_call *call, const view *v, int64_t row, int64_t t, double loss,
                    double sum[2])
{
    sum[0] += loss;
    sum[1] += t < 0 ? 0 : weight_at(v, t);
    if (v->reduction == TSR_LOSS_NONE)
        tsr__put(call->out[0].dtype, call->out[0].data, row, loss);
}

void tsr__class_rows(const tsr_kernel_call *call, const double *numbers, double sum[2])
{
    view v = view_of(call);

    open_smoothing(call, &v);
    sum[0] = sum[1] = 0;
    for (int64_t r = 0; r < v.rows; r++) {
        const int64_t t = target_at(call, &v, r);
        double lse, loss = row_loss(&v, numbers + r * NUMBERS, t, &lse);

        put_row(call, &v, r, t, loss, sum);
        ((double *)call->out[TSR_CLASS_OUT_LSE].data)[r] = lse;
    }
}

void tsr__class_put(const tsr_kernel_call *call, const double sum[2])
{
    const int64_t reduction = call->attrs.value[TSR_CLASS_REDUCTION].i[0];
    const tsr_operand *divisor = &call->out[call->n_out - 1];

    if (reduction == TSR_LOSS_NONE)
        return;
    tsr__put(call->out[0].dtype, call->out[0].data, 0,
             reduction == TSR_LOSS_MEAN ? sum[0] / sum[1] : sum[0]);
    if (reduction == TSR_LOSS_MEAN)
        tsr__put(divisor->dtype, divisor->data, 0, sum[1]);
}

static void cross_entropy(const tsr_kernel_call *call)
{
    view v = view_of(call);
    double sum[2] = {0};

    open_smoothing(call, &v);
    for (int64_t r = 0; r < v.rows; r++) {
        const int64_t t = target_at(call, &v, r);
        double number[NUMBERS], lse, loss;

        row_numbers(&v, (const char *)v.x->data + r * v.n * v.io.size, number);
        if (is_here(&v, t))
            number[PICKED] = tsr__get(v.x->dtype, v.x->data, r * v.n + t - v.first);
        loss = row_loss(&v, number, t, &lse);
        put_row(call, &v, r, t, loss, sum);
        ((double *)call->out[TSR_CLASS_OUT_LSE].data)[r] = lse;
    }
    tsr__class_put(call, sum);
}

/* ---- nll_loss ---- */

void tsr__nll_rows(const tsr_kernel_call *call, double sum[2])
{
    const view v = view_of(call);

    sum[0] = sum[1] = 0;
    for (int64_t r = 0; r < v.rows; r++) {
        const int64_t t = target_at(call, &v, r);
        const bool here = is_here(&v, t);

        put_row(call, &v, r, t,
                here ? -weight_at(&v, t) * tsr__get(v.x->dtype, v.x->data, r * v.n + t - v.first)
                     : 0,
                sum);
    }
}

/* ---- gradients ---- */

/* What the gradient of the loss says of a row. */
static double grad_of(const tsr_kernel_call *call, const view *v, int64_t row)
{
    const tsr_operand *grad = &call->in[0], *divisor = &call->in[call->n_in - 1];
    const double g = tsr__get(grad->dtype, grad->data, v->reduction == TSR_LOSS_NONE ? row : 0);

    return v->reduction == TSR_LOSS_MEAN ? g / tsr__get(divisor->dtype, divisor->data, 0) : g;
}

/* p (own + spread) - weight * smoothing share, and less `own` at the target, where own is the
   target's weight without what is smoothed. */
static void cross_entropy_backward(const tsr_kernel_call *call)
{
    view v = view_of(call);
    const tsr_operand *given = &call->in[TSR_CLASS_LSE];
    const int64_t size = v.io.size;
    double TSR__CACHE_ALIGNED buffer[PIECE];

    open_smoothing(call, &v);
    for (int64_t r = 0; r < v.rows; r++) {
        const int64_t t = target_at(call, &v, r);
        const double g = t < 0 ? 0 : grad_of(call, &v, r);
        const double own = t < 0 ? 0 : g * (1 - v.smoothing) * weight_at(&v, t);
        const double share = g * v.smoothing / (double)v.classes;
        const double lse = tsr__get(given->dtype, given->data, r);
        const double high = v.io.dtype == TSR_F64 ? lse : (double)(float)lse;

        for (int64_t i = 0; i < v.n; i += PIECE) {
            const int64_t n = tsr__min(PIECE, v.n - i), at = (r * v.n + i) * size;
            char *y = (char *)call->out[0].data + at;
            void *to = tsr__row_room(&v.io, y, buffer);

            if (t < 0)
                memset(to, 0, (size_t)(n * v.each));
            else
                v.parts->row_apply(tsr__row_load(&v.io, (const char *)v.x->data + at, n, buffer), n,
                                   high, lse - high, own + share * v.all, v.wide ? 0 : -share, to);
            if (t >= 0 && v.wide)
                v.parts->row_add(v.wide + i * v.each, n, -share, to);
            if (is_here(&v, t) && t - v.first >= i && t - v.first < i + n)
                v.parts->row_add_at(to, t - v.first - i, -own);
            tsr__row_store(&v.io, to, n, y);
        }
    }
    tsr__row_end(&v.io);
}

static void nll_backward(const tsr_kernel_call *call)
{
    const view v = view_of(call);
    const tsr_operand *out = &call->out[0];

    memset(out->data, 0, (size_t)(v.rows * v.n * v.io.size));
    for (int64_t r = 0; r < v.rows; r++) {
        const int64_t t = target_at(call, &v, r);

        if (is_here(&v, t))
            tsr__put(out->dtype, out->data, r * v.n + t - v.first,
                     -weight_at(&v, t) * grad_of(call, &v, r));
    }
}

/* ---- the kernel ---- */

static void nll_loss(const tsr_kernel_call *call)
{
    double sum[2];

    tsr__nll_rows(call, sum);
    tsr__class_put(call, sum);
}

void tsr__kernel_class_loss(const tsr_kernel_call *call)
{
    if (tsr__variant_asked(call) == TSR_VARIANT_REFERENCE) {
        tsr__reference_class_loss(call);
        return;
    }
    switch (call->kind) {
    case TSR_LOSS_CROSS_ENTROPY: cross_entropy(call); break;
    case TSR_LOSS_NLL: nll_loss(call); break;
    case TSR_LOSS_CROSS_ENTROPY_BACKWARD: cross_entropy_backward(call); break;
    default: nll_backward(call); break;
    }
}

/* Weights of classes that are smoothed. */
size_t tsr__scratch_class_loss(const tsr_kernel_call *call)
{
    return (size_t)(call->number[TSR_CLASS_COUNT] + 1) * sizeof(double);
}
