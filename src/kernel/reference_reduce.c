/* SPDX-License-Identifier: Apache-2.0 */
/* reference_reduce.c - reductions, positions of extremes and scans by plain index loops: to be
   checked by eye. Called when a call asks for the reference. */
#include "base/reduce.h"
#include "kernel/arg.h"
#include "kernel/index.h"
#include "kernel/reduce_dims.h"
#include "kernel/scan.h"
#include "kernel/statistic.h"

#include <math.h>

/* Elements of a tensor of shape s by two indices: one of the kept dims, one of the reduced ones. */
typedef struct view {
    tsr_shape s, keep, over; /* either has size 1 where the other counts */
    int64_t n;               /* elements of one output */
} view;

static view view_of(const tsr_operand *x, unsigned gone)
{
    view v = {.s = x->shape, .keep = x->shape, .over = x->shape};

    for (int d = 0; d < v.s.ndim; d++)
        *(gone >> d & 1 ? &v.keep.size[d] : &v.over.size[d]) = 1;
    v.n = tsr__product(v.s.ndim, v.over.size);
    return v;
}

static int64_t element_at(const view *v, int64_t i, int64_t k)
{
    int64_t at = 0, stride = 1;

    for (int d = v->s.ndim - 1; d >= 0; d--) {
        at += (i % v->keep.size[d] + k % v->over.size[d]) * stride;
        i /= v->keep.size[d];
        k /= v->over.size[d];
        stride *= v->s.size[d];
    }
    return at;
}

#define BODY "kernel/reference_reduce.inc.h"
#include "kernel/reference_types.inc.h"

typedef struct bodies {
    void (*reduce)(const tsr_kernel_call *call, tsr_fold how, int64_t times, int64_t divisor);
    void (*truth)(const tsr_kernel_call *call, bool all);
    void (*arg)(const tsr_kernel_call *call, bool min);
    void (*scan)(const tsr_kernel_call *call, bool product);
} bodies;

static const bodies of[TSR__DTYPES] = {
    [TSR_F32] = {reduce_f32, truth_f32, arg_f32, scan_f32},
    [TSR_F64] = {reduce_f64, truth_f64, arg_f64, scan_f64},
    [TSR_F16] = {reduce_f16, truth_f16, arg_f16, scan_f16},
    [TSR_BF16] = {reduce_bf16, truth_bf16, arg_bf16, scan_bf16},
    [TSR_I32] = {reduce_i32, truth_i32, arg_i32, scan_i32},
    [TSR_I64] = {reduce_i64, truth_i64, arg_i64, scan_i64},
    [TSR_U8] = {reduce_u8, truth_u8, arg_u8, scan_u8},
    [TSR_BOOL] = {reduce_bool, truth_bool, arg_bool, scan_bool},
    [TSR__FIELD] = {reduce_field, truth_field, arg_field, scan_field},
};

void tsr__reference_reduce(const tsr_kernel_call *call, tsr_fold how, int64_t times,
                           int64_t divisor)
{
    const tsr_dtype from = call->in[0].dtype;

    if (from != call->out[0].dtype)
        of[from].truth(call, how == TSR_FOLD_MIN);
    else
        of[from].reduce(call, how, times, divisor);
}

void tsr__reference_arg(const tsr_kernel_call *call, bool min)
{
    of[call->in[0].dtype].arg(call, min);
}

void tsr__reference_scan(const tsr_kernel_call *call, bool product)
{
    of[call->in[0].dtype].scan(call, product);
}

/* ---- statistics: of floats, in f64 ---- */

static double at(const tsr_kernel_call *call, const view *v, int64_t i, int64_t k)
{
    return tsr__get(call->in[0].dtype, call->in[0].data, element_at(v, i, k));
}

static double larger(double a, double b) /* a NaN wins */
{
    return b > a || b != b ? b : a;
}

static double norm_of(const tsr_kernel_call *call, const view *v, int64_t i, double p)
{
    long double sum = 0;
    double max = 0;

    for (int64_t k = 0; k < v->n; k++) {
        const double x = fabs(at(call, v, i, k));

        max = larger(max, x);
        sum += p == 1 ? (long double)x : (long double)x * x;
    }
    return isinf(p) ? max : p == 1 ? (double)sum : (double)sqrtl(sum);
}

static double log_sum_of(const tsr_kernel_call *call, const view *v, int64_t i)
{
    double max = -INFINITY;
    long double sum = 0;

    for (int64_t k = 0; k < v->n; k++)
        max = larger(max, at(call, v, i, k));
    if (isinf(max) || isnan(max))
        return max;
    for (int64_t k = 0; k < v->n; k++)
        sum += exp(at(call, v, i, k) - max);
    return max + (double)logl(sum);
}

static double variance_of(const tsr_kernel_call *call, const view *v, int64_t i, double correction)
{
    const double divisor = (double)v->n - correction;
    long double sum = 0, squares = 0;

    for (int64_t k = 0; k < v->n; k++)
        sum += at(call, v, i, k);
    for (int64_t k = 0; k < v->n; k++) {
        const long double d = at(call, v, i, k) - sum / (long double)v->n;
        squares += d * d;
    }
    return (double)squares / (divisor > 0 ? divisor : 0);
}

void tsr__reference_statistic(const tsr_kernel_call *call)
{
    const view v = view_of(&call->in[0], tsr__reduced_dims(call));
    const tsr_attr *last = &call->attrs.value[2];

    for (int64_t i = 0; i < tsr__operand_count(&call->out[0]); i++) {
        double y;

        if (call->kind == TSR_REDUCTION_NORM)
            y = norm_of(call, &v, i, last->f);
        else if (call->kind == TSR_REDUCTION_LOGSUMEXP)
            y = log_sum_of(call, &v, i);
        else
            y = variance_of(call, &v, i, (double)last->i[0]);
        tsr__put(call->out[0].dtype, call->out[0].data, i,
                 call->kind == TSR_REDUCTION_STD ? sqrt(y) : y);
    }
}
