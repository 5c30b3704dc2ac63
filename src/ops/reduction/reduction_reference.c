/* SPDX-License-Identifier: Apache-2.0 */
/* reduction_reference.c - positions of extremes, scans and statistics by plain index loops: to be
   checked by eye. Called when a call asks for the reference. */
#include "ops/reduction/arg.h"
#include "kernel/kinds.h"
#include "kernel/reduced_view.h"
#include "ops/reduction/reduction_attrs.h"
#include "ops/reduction/scan.h"
#include "ops/reduction/statistic.h"

#include <math.h>

typedef struct bodies {
    void (*arg)(const tsr_kernel_call *call, bool min);
    void (*scan)(const tsr_kernel_call *call, bool product);
} bodies;

#define TABLE reference_kernels
#define BODY "ops/reduction/reduction_reference.inc.h"
#include "kernel/reference_types.inc.h"

static const bodies *of(const tsr_kernel_call *call)
{
    return tsr__kernel_for(&reference_kernels, call->in[0].dtype, TSR_VARIANT_REFERENCE);
}

void tsr__reference_arg(const tsr_kernel_call *call, bool min)
{
    of(call)->arg(call, min);
}

void tsr__reference_scan(const tsr_kernel_call *call, bool product)
{
    of(call)->scan(call, product);
}

/* ---- statistics: of floats, in f64 ---- */

static double at(const tsr_kernel_call *call, const tsr_reduced_view *v, int64_t i, int64_t k)
{
    return tsr__get(call->in[0].dtype, call->in[0].data, tsr__reduced_at(v, i, k));
}

static double larger(double a, double b) /* a NaN wins */
{
    return b > a || b != b ? b : a;
}

static double norm_of(const tsr_kernel_call *call, const tsr_reduced_view *v, int64_t i, double p)
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

static double log_sum_of(const tsr_kernel_call *call, const tsr_reduced_view *v, int64_t i)
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

static double variance_of(const tsr_kernel_call *call, const tsr_reduced_view *v, int64_t i,
                          double correction)
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
    const tsr_reduced_view v = tsr__reduced_view(&call->in[0], tsr__reduced_dims(call));
    const tsr_attr *attrs = call->attrs.value;

    for (int64_t i = 0; i < tsr__operand_count(&call->out[0]); i++) {
        double y;

        if (call->kind == TSR_REDUCTION_NORM)
            y = norm_of(call, &v, i, attrs[TSR_ATTR_NORM_P].f);
        else if (call->kind == TSR_REDUCTION_LOGSUMEXP)
            y = log_sum_of(call, &v, i);
        else
            y = variance_of(call, &v, i, (double)attrs[TSR_ATTR_VAR_CORRECTION].i[0]);
        tsr__put(call->out[0].dtype, call->out[0].data, i,
                 call->kind == TSR_REDUCTION_STD ? sqrt(y) : y);
    }
}
