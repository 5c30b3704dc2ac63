/* SPDX-License-Identifier: Apache-2.0 */
/* statistic.c - norms, variances and standard deviations over any dims, in the two steps of
   merge.h. Called through the ops' rows, and by run/merged.c. */
#include "ops/reduction/statistic.h"

#include "kernel/dims_loops.h"
#include "kernel/kinds.h"
#include "kernel/index.h"
#include "ops/reduction/reduction_ops.h"
#include "kernel/norm_rows.h"
#include "kernel/reduce_dims.h"
#include "kernel/sku.h"

#include <math.h>
#include <string.h>

enum { THIRD = 2 }; /* attribute: p of a norm, the correction of a variance */

static tsr_kernel_variant variant_of(const tsr_kernel_call *call)
{
    return tsr__variant_of(call, TSR_CATEGORY_REDUCTION, (uint16_t)call->kind);
}

static int64_t results_of(const tsr_kernel_call *call)
{
    return tsr__operand_count(&call->out[0]);
}

static void store(const tsr_kernel_call *call, const double *value)
{
    tsr__convert(call->out[0].dtype, call->out[0].data, TSR_F64, value, results_of(call));
}

/* ---- norms ---- */

/* The sum of the squares of x / max, of one result. */
static double scaled_squares(const tsr_operand *x, const tsr_dims_loops *l, int depth, int64_t at,
                             double max)
{
    double sum = 0;

    for (int64_t i = 0; i < l->gone[depth].count; i++) {
        const int64_t next = at + i * l->gone[depth].stride;
        double v;

        if (depth > 0) {
            sum += scaled_squares(x, l, depth - 1, next, max);
            continue;
        }
        v = tsr__get(x->dtype, x->data, next) / max;
        sum += v * v;
    }
    return sum;
}

/* Where result i begins. */
static int64_t first_of(const tsr_dims_loops *l, int64_t i)
{
    int64_t at = 0;

    for (int k = 0; k < l->n_keep; k++) {
        at += i % l->keep[k].count * l->keep[k].stride;
        i /= l->keep[k].count;
    }
    return at;
}

/* Squares may be too large or too small where their root is not: then again, by the largest. */
static void norm2_local(const tsr_kernel_call *call, double *out)
{
    const tsr_operand *x = &call->in[0];
    const tsr_kernel_variant v = variant_of(call);
    const unsigned gone = tsr__reduced_dims(call);
    const int64_t n = results_of(call);
    const bool narrow = x->dtype == TSR_BF16 || x->dtype == TSR_F16; /* in f32 */
    const double least = x->dtype == TSR_F64 ? 0x1p-960 : narrow ? 0x1p-100 : 0;
    double *max = call->scratch;
    tsr_dims_loops l = {0};
    bool bad = false;

    tsr__reduce_wide(TSR_FOLD_SQUARES, v, x, gone, n, out);
    for (int64_t i = 0; i < n; i++)
        bad = bad || out[i] < least || isinf(out[i]);
    if (bad && tsr__operand_count(x) > 0) {
        l = tsr__dims_loops(&x->shape, gone);
        tsr__reduce_wide(TSR_FOLD_MAX_ABS, v, x, gone, n, max);
    }
    for (int64_t i = 0; i < n; i++) {
        const bool again = bad && tsr__operand_count(x) > 0 && (out[i] < least || isinf(out[i]));

        if (again && (max[i] == 0 || isinf(max[i])))
            out[i] = max[i];
        else if (again)
            out[i] = max[i] * sqrt(scaled_squares(x, &l, l.n_gone - 1, first_of(&l, i), max[i]));
        else
            out[i] = sqrt(out[i]);
    }
}

static int64_t norm2_count(const tsr_kernel_call *call)
{
    return results_of(call);
}

static void norm2_merge(const tsr_kernel_call *call, int64_t count, double *words,
                        const double *more)
{
    (void)call;
    for (int64_t i = 0; i < count; i++) /* hypot of a NaN and infinity is infinity */
        words[i] = isnan(words[i]) || isnan(more[i]) ? (double)NAN : hypot(words[i], more[i]);
}

const tsr_merge_steps tsr__norm2_steps = {norm2_count, norm2_local, norm2_merge, store, NULL};

size_t tsr__scratch_norm(const tsr_kernel_call *call)
{
    return 2 * (size_t)results_of(call) * sizeof(double);
}

void tsr__kernel_norm(const tsr_kernel_call *call)
{
    const double p = call->attrs.value[THIRD].f;
    const tsr_kernel_variant v = variant_of(call);
    double *out = (double *)call->scratch + results_of(call);

    if (v == TSR_VARIANT_REFERENCE) {
        tsr__reference_statistic(call);
        return;
    }
    if (p == 2)
        norm2_local(call, out);
    else
        tsr__reduce_wide(p == 1 ? TSR_FOLD_SUM_ABS : TSR_FOLD_MAX_ABS, v, &call->in[0],
                         tsr__reduced_dims(call), results_of(call), out);
    for (int64_t i = 0; i < results_of(call) && isinf(p); i++)
        out[i] = out[i] < 0 ? 0 : out[i]; /* of nothing */
    store(call, out);
}

/* ---- variances ---- */

/* Moments of the results of the inner loops, [samples, rows, length] in memory; `more` has room for
   those of further elements of the same results. */
typedef struct moments {
    tsr_dtype dtype;
    tsr_kernel_variant variant;
    tsr_dims_loops loops;
    int64_t samples, rows, length;
    int inner; /* loops over reduced elements that these are */
    int64_t before;
    double *more;
} moments;

static void over_gone(moments *m, int depth, const char *x, double *mean, double *m2)
{
    const tsr_loop *l = &m->loops.gone[depth];
    const int64_t n = m->samples * m->length, k = m->rows;
    double *more = m->more;

    if (depth >= m->inner) {
        for (int64_t i = 0; i < l->count; i++)
            over_gone(m, depth - 1, x + i * l->stride * (int64_t)tsr_dtype_size(m->dtype), mean,
                      m2);
        return;
    }
    if (m->before == 0) {
        tsr__norm_moments(m->dtype, m->variant, m->samples, k, m->length, x, mean, m2);
    } else {
        tsr__norm_moments(m->dtype, m->variant, m->samples, k, m->length, x, more, more + k);
        tsr__welford_combine(k, (double)m->before, mean, m2, (double)n, more, more + k);
    }
    m->before += n;
}

static void over_keep(moments *m, int depth, const char *x, double **mean, double **m2)
{
    const tsr_loop *l = &m->loops.keep[depth];

    if (depth > 0) {
        for (int64_t i = 0; i < l->count; i++)
            over_keep(m, depth - 1, x + i * l->stride * (int64_t)tsr_dtype_size(m->dtype), mean,
                      m2);
        return;
    }
    m->before = 0;
    over_gone(m, m->loops.n_gone - 1, x, *mean, *m2);
    *mean += m->rows;
    *m2 += m->rows;
}

/* How many values, their means, their squared distances to them. */
static int64_t var_count(const tsr_kernel_call *call)
{
    return 1 + 2 * results_of(call);
}

static void measure(const tsr_kernel_call *call, double *words, double *more)
{
    const tsr_operand *x = &call->in[0];
    const int64_t n = results_of(call);
    double *mean = words + 1, *m2 = mean + n;
    moments m = {.dtype = x->dtype, .variant = variant_of(call), .more = more};

    words[0] = n > 0 ? (double)(tsr__operand_count(x) / n) : 0;
    if (tsr__operand_count(x) == 0) {
        memset(mean, 0, 2 * (size_t)n * sizeof *mean);
        return;
    }
    m.loops = tsr__dims_loops(&x->shape, tsr__reduced_dims(call));
    m.rows = m.loops.keep[0].count;
    m.inner = m.loops.by_rows && m.loops.n_gone > 1 ? 2 : 1;
    m.length = m.loops.by_rows ? m.loops.gone[0].count : 1;
    m.samples =
        m.loops.by_rows ? (m.inner == 2 ? m.loops.gone[1].count : 1) : m.loops.gone[0].count;
    over_keep(&m, m.loops.n_keep - 1, x->data, &mean, &m2);
}

static void var_local(const tsr_kernel_call *call, double *words)
{
    measure(call, words, call->scratch);
}

static void var_finish(const tsr_kernel_call *call, const double *words)
{
    const bool root = call->kind == TSR_REDUCTION_STD;
    const tsr_operand *out = &call->out[0];
    const int64_t n = results_of(call);
    const double divisor = words[0] - (double)call->attrs.value[THIRD].i[0];

    for (int64_t i = 0; i < n; i++) {
        const double var = words[1 + n + i] / (divisor > 0 ? divisor : 0);

        tsr__put(out->dtype, out->data, i, root ? sqrt(var) : var);
    }
}

const tsr_merge_steps tsr__var_steps = {var_count, var_local, tsr__welford_combine_n, var_finish,
                                        NULL};

size_t tsr__scratch_var(const tsr_kernel_call *call)
{
    return (size_t)(1 + 4 * results_of(call)) * sizeof(double);
}

void tsr__kernel_var(const tsr_kernel_call *call)
{
    double *more = call->scratch, *words = more + 2 * results_of(call);

    if (variant_of(call) == TSR_VARIANT_REFERENCE) {
        tsr__reference_statistic(call);
        return;
    }
    measure(call, words, more);
    var_finish(call, words);
}
