/* SPDX-License-Identifier: Apache-2.0 */
/* log_sum.c - the logarithm of the sum of exponentials over any dims, in one pass: largest element
   and sum of exp(x - that) so far. f16 and bf16 are widened to f32 on the way. Called through the
   op's row, and by run/merged.c. */
#include "base/half.h"
#include "kernel/dims_loops.h"
#include "kernel/exp.h"
#include "kernel/index.h"
#include "kernel/kernels.h"
#include "kernel/sku.h"
#include "kernel/statistic.h"

#include <float.h>
#include <math.h>

#ifdef __clang__ /* without AVX2 some loops stay scalar, whatever log_sum.inc.h asks for */
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

enum {
    RUN = 2048,  /* elements of a run that are looked at together, */
    WIDTH = 512, /* results that are, */
    HEIGHT = 8   /* so many rows of them at a time */
};

#define T float
#define EXP(x) tsr__exp_f32(false, x)
#define MOST FLT_MAX
#define SET
#define FN(name) name##_f32_plain
#include "kernel/log_sum.inc.h"

#define T double
#define EXP(x) tsr__exp_f64(false, x)
#define MOST DBL_MAX
#define SET
#define FN(name) name##_f64_plain
#include "kernel/log_sum.inc.h"

#ifdef TSR__X86
#define T float
#define EXP(x) tsr__exp_f32(true, x)
#define MOST FLT_MAX
#define SET TSR__AVX2_FMA
#define FN(name) name##_f32_avx2
#include "kernel/log_sum.inc.h"

#define T double
#define EXP(x) tsr__exp_f64(true, x)
#define MOST DBL_MAX
#define SET TSR__AVX2_FMA
#define FN(name) name##_f64_avx2
#include "kernel/log_sum.inc.h"
#endif

typedef struct parts {
    void (*run)(const void *x, int64_t n, double *max, double *sum);
    void (*rows)(const void *x, int64_t rows, int64_t step, int64_t n, double *max, double *sum);
} parts;

static const parts f32_plain = {add_run_f32_plain, add_rows_f32_plain};
static const parts f64_plain = {add_run_f64_plain, add_rows_f64_plain};
#ifdef TSR__X86
static const parts f32_avx2 = {add_run_f32_avx2, add_rows_f32_avx2};
static const parts f64_avx2 = {add_run_f64_avx2, add_rows_f64_avx2};
#endif

typedef struct walk {
    const parts *parts;
    tsr_dtype dtype;
    bool half;
    int64_t size;
    tsr_dims_loops loops;
    double *max, *sum; /* of the next results */
} walk;

static const parts *parts_for(tsr_dtype dtype, tsr_kernel_variant variant)
{
#ifdef TSR__X86
    if (variant == TSR_VARIANT_AVX2)
        return dtype == TSR_F64 ? &f64_avx2 : &f32_avx2;
#endif
    (void)variant;
    return dtype == TSR_F64 ? &f64_plain : &f32_plain;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void along(const walk *w, const char *x, int64_t n, double *max, double *sum)
{
    float wide[RUN];

    for (int64_t i = 0; i < n; i += RUN) {
        const int64_t m = least(RUN, n - i);

        if (w->half)
            tsr__half_widen(w->dtype, x + i * w->size, m, wide);
        w->parts->run(w->half ? (const void *)wide : x + i * w->size, m, max, sum);
    }
}

static void across(const walk *w, const char *x, int64_t n_out, int64_t step, int64_t n)
{
    float wide[HEIGHT * WIDTH];

    for (int64_t k = 0; k < n_out; k += WIDTH)
        for (int64_t i = 0; i < n; i += HEIGHT) {
            const int64_t m = least(WIDTH, n_out - k), rows = least(HEIGHT, n - i);
            const char *at = x + (i * step + k) * w->size;

            for (int64_t r = 0; r < rows && w->half; r++)
                tsr__half_widen(w->dtype, at + r * step * w->size, m, wide + r * WIDTH);
            w->parts->rows(w->half ? (const void *)wide : at, rows, w->half ? WIDTH : step, m,
                           w->max + k, w->sum + k);
        }
}

static void over_gone(walk *w, int depth, const char *x)
{
    const tsr_loop *l = &w->loops.gone[depth], *keep = &w->loops.keep[0];

    if (depth > 0)
        for (int64_t i = 0; i < l->count; i++)
            over_gone(w, depth - 1, x + i * l->stride * w->size);
    else if (w->loops.by_rows)
        for (int64_t i = 0; i < keep->count; i++)
            along(w, x + i * keep->stride * w->size, l->count, w->max + i, w->sum + i);
    else
        across(w, x, keep->count, l->stride, l->count);
}

static void over_keep(walk *w, int depth, const char *x)
{
    const tsr_loop *l = &w->loops.keep[depth];

    if (depth > 0) {
        for (int64_t i = 0; i < l->count; i++)
            over_keep(w, depth - 1, x + i * l->stride * w->size);
        return;
    }
    over_gone(w, w->loops.n_gone - 1, x);
    w->max += l->count;
    w->sum += l->count;
}

/* ---- the two steps ---- */

static int64_t log_sum_count(const tsr_kernel_call *call)
{
    return 2 * tsr__operand_count(&call->out[0]);
}

static void log_sum_local(const tsr_kernel_call *call, double *words)
{
    const tsr_operand *x = &call->in[0];
    const int64_t n = tsr__operand_count(&call->out[0]);
    walk w = {.parts = parts_for(
                  x->dtype, tsr__variant_of(call, TSR_CATEGORY_REDUCTION, TSR_REDUCTION_LOGSUMEXP)),
              .dtype = x->dtype,
              .half = x->dtype == TSR_F16 || x->dtype == TSR_BF16,
              .size = (int64_t)tsr_dtype_size(x->dtype),
              .max = words,
              .sum = words + n};

    for (int64_t i = 0; i < n; i++) {
        w.max[i] = -INFINITY;
        w.sum[i] = 0;
    }
    if (tsr__operand_count(x) == 0)
        return;
    w.loops = tsr__dims_loops(&x->shape, tsr__reduced_dims(call));
    over_keep(&w, w.loops.n_keep - 1, x->data);
}

static double base_of(double max)
{
    return isinf(max) ? 0 : max;
}

/* What belongs to the smaller maximum counts less; a sum that goes with an infinite one is of 1 or
   0, or NaN, and stays. */
static void log_sum_merge(int64_t count, double *words, const double *more)
{
    const int64_t n = count / 2;

    for (int64_t i = 0; i < n; i++) {
        const double max = more[i] > words[i] ? more[i] : words[i], base = base_of(max);

        words[n + i] = words[n + i] * exp(fmin(base_of(words[i]) - base, 0)) +
                       more[n + i] * exp(fmin(base_of(more[i]) - base, 0));
        words[i] = max;
    }
}

static void log_sum_finish(const tsr_kernel_call *call, const double *words)
{
    const tsr_operand *out = &call->out[0];
    const int64_t n = tsr__operand_count(out);

    for (int64_t i = 0; i < n; i++) {
        const double max = words[i], sum = words[n + i];

        tsr__put(out->dtype, out->data, i, isnan(sum) ? sum : isinf(max) ? max : max + log(sum));
    }
}

const tsr_merge_steps tsr__log_sum_steps = {log_sum_count, log_sum_local, log_sum_merge,
                                            log_sum_finish, NULL};

size_t tsr__scratch_logsumexp(const tsr_kernel_call *call)
{
    return (size_t)log_sum_count(call) * sizeof(double);
}

void tsr__kernel_logsumexp(const tsr_kernel_call *call)
{
    if (tsr__variant_of(call, TSR_CATEGORY_REDUCTION, TSR_REDUCTION_LOGSUMEXP) ==
        TSR_VARIANT_REFERENCE) {
        tsr__reference_statistic(call, TSR_STATISTIC_LOG_SUM);
        return;
    }
    log_sum_local(call, call->scratch);
    log_sum_finish(call, call->scratch);
}
