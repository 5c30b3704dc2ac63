/* SPDX-License-Identifier: Apache-2.0 */
/* log_sum.c - the logarithm of the sum of exponentials over any dims, in one pass: largest element
   and sum of exp(x - that) so far. f16 and bf16 are widened to f32 on the way. Called through the
   op's row, and by run/merged.c. */
#include "base/half.h"
#include "base/minmax.h"
#include "kernel/dims_loops.h"
#include "kernel/kinds.h"
#include "kernel/index.h"
#include "ops/reduction/reduction_ops.h"
#include "kernel/sku.h"
#include "kernel/softmax_loops.h"
#include "ops/reduction/statistic.h"

#include <math.h>
#include <string.h>

enum {
    RUN = 2048,   /* elements of a run that are looked at together, */
    WIDTH = 1024, /* results that are, as in softmax_loops.c, */
    HEIGHT = 8    /* so many rows of them at a time */
};

typedef struct walk {
    const tsr_softmax_loops *parts;
    tsr_dtype dtype, wide; /* wide: what is computed with */
    bool half;
    int64_t size;
    tsr_dims_loops loops;
    double *max, *sum; /* of the next results */
} walk;

static double base_of(double max)
{
    return isinf(max) ? 0 : max;
}

/* What belongs to the smaller maximum counts less; a sum that goes with an infinite one is of 1 or
   0, or NaN, and stays. */
static void merge_one(double *max, double *sum, double more_max, double more_sum)
{
    const double top = more_max > *max ? more_max : *max, base = base_of(top);

    *sum = *sum * exp(fmin(base_of(*max) - base, 0)) +
           more_sum * exp(fmin(base_of(more_max) - base, 0));
    *max = top;
}

/* The sum of n elements, `step` apart, among which infinity is: NaN, or anything else. */
static double infinite_sum(tsr_dtype dtype, const void *x, int64_t step, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (isnan(tsr__get(dtype, x, i * step)))
            return NAN;
    return 1;
}

static void along(const walk *w, const char *x, int64_t n, double *max, double *sum)
{
    float wide[RUN];

    for (int64_t i = 0; i < n; i += RUN) {
        const int64_t m = tsr__min(RUN, n - i);
        const char *at = x + i * w->size;
        const void *from = w->half ? (const void *)wide : at;
        double here, more;

        if (w->half)
            tsr__half_widen(w->dtype, at, m, wide);
        here = w->parts->row_max(from, m);
        more = here == INFINITY ? infinite_sum(w->wide, from, 1, m)
                                : w->parts->row_exp_sum(from, m, base_of(here),
                                                        w->half ? NULL : at + m * w->size);
        if (*max == -INFINITY && *sum == 0) { /* nothing yet */
            *max = here;
            *sum = more;
        } else
            merge_one(max, sum, here, more);
    }
}

/* Up to WIDTH results. */
static void tile(const walk *w, const char *x, int64_t n_out, int64_t step, int64_t n, double *max,
                 double *sum)
{
    float wide[HEIGHT * WIDTH];
    double top[WIDTH], before[WIDTH]; /* top: of f32 or f64 */

    memcpy(before, sum, (size_t)n_out * sizeof *sum);
    tsr__convert(w->wide, top, TSR_F64, max, n_out);
    for (int64_t i = 0; i < n; i += HEIGHT) {
        const int64_t rows = tsr__min(HEIGHT, n - i);
        const char *at = x + i * step * w->size;

        for (int64_t r = 0; r < rows && w->half; r++)
            tsr__half_widen(w->dtype, at + r * step * w->size, n_out, wide + r * WIDTH);
        w->parts->columns_add(w->half ? (const void *)wide : at, rows, w->half ? WIDTH : step,
                              n_out, top, sum);
    }
    tsr__convert(TSR_F64, max, w->wide, top, n_out);
    for (int64_t k = 0; k < n_out; k++)
        if (max[k] == INFINITY)
            sum[k] =
                isnan(before[k]) ? (double)NAN : infinite_sum(w->dtype, x + k * w->size, step, n);
}

static void across(const walk *w, const char *x, int64_t n_out, int64_t step, int64_t n)
{
    for (int64_t k = 0; k < n_out; k += WIDTH)
        tile(w, x + k * w->size, tsr__min(WIDTH, n_out - k), step, n, w->max + k, w->sum + k);
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
    walk w = {.parts = tsr__softmax_loops(
                  x->dtype, tsr__variant_of(call, TSR_CATEGORY_REDUCTION, TSR_REDUCTION_LOGSUMEXP)),
              .dtype = x->dtype,
              .wide = x->dtype == TSR_F64 ? TSR_F64 : TSR_F32,
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

static void log_sum_merge(const tsr_kernel_call *call, int64_t count, double *words,
                          const double *more)
{
    const int64_t n = count / 2;

    (void)call;
    for (int64_t i = 0; i < n; i++)
        merge_one(&words[i], &words[n + i], more[i], more[n + i]);
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
        tsr__reference_statistic(call);
        return;
    }
    log_sum_local(call, call->scratch);
    log_sum_finish(call, call->scratch);
}
