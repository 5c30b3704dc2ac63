/* SPDX-License-Identifier: Apache-2.0 */
/* soft_rows.inc.h - body of soft_rows.c for f32 or f64 and one instruction set: needs T, EXP, SET
   and FN; undefines them. Sums are of few terms in T, and of these in f64. A NaN may be lost in a
   maximum: exp finds it again. */

SET static double FN(row_max)(const void *data, int64_t n)
{
    enum { LANES = 32 };
    const T *x = data;
    T lane[LANES];
    int64_t i = 0;

    for (int k = 0; k < LANES; k++)
        lane[k] = (T)-INFINITY;
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++)
            lane[k] = __builtin_isgreater(x[i + k], lane[k]) ? x[i + k] : lane[k];
    for (; i < n; i++)
        lane[0] = x[i] > lane[0] ? x[i] : lane[0];
    for (int k = 1; k < LANES; k++)
        lane[0] = lane[k] > lane[0] ? lane[k] : lane[0];
    return (double)lane[0];
}

TSR__INLINE double FN(fold)(int n, const T *lane)
{
    double wide[32];

    for (int k = 0; k < n; k++)
        wide[k] = (double)lane[k];
    for (int half = n / 2; half; half /= 2)
        for (int k = 0; k < half; k++)
            wide[k] += wide[k + half];
    return wide[0];
}

/* At most BLOCK elements; `ahead` elements further on the caches are asked for what comes. */
TSR__INLINE double FN(block_sum)(const T *x, int64_t n, const T *ahead)
{
    enum { LANES = 32 };
    T lane[LANES] = {0}, last = 0;
    int64_t i = 0;

    for (; i + LANES <= n; i += LANES) {
        for (int k = 0; k < LANES; k++)
            lane[k] += x[i + k];
        for (size_t k = 0; ahead && k < LANES * sizeof(T); k += 64)
            __builtin_prefetch((const void *)((uintptr_t)ahead + (uintptr_t)i * sizeof(T) + k));
    }
    for (; i < n; i++)
        last += x[i];
    return FN(fold)(LANES, lane) + (double)last;
}

/* e = exp(x - shift), which may be x, and its sum. `ahead` is what will be read next, or NULL. */
SET static double FN(row_exp)(const void *data, int64_t n, double shift, void *result,
                              const void *ahead)
{
    const T *x = data, top = (T)shift;
    double sum = 0;

    for (int64_t i = 0; i < n; i += BLOCK) {
        const int64_t m = n - i < BLOCK ? n - i : BLOCK;
        T *e = (T *)result + i;

        TSR__INDEPENDENT
        for (int64_t k = 0; k < m; k++)
            e[k] = EXP(x[i + k] - top);
        sum += FN(block_sum)(e, m, ahead ? (const T *)ahead + i : NULL);
    }
    return sum;
}

/* The sum alone. */
SET static double FN(row_exp_sum)(const void *data, int64_t n, double shift, const void *ahead)
{
    enum { LANES = 64 / sizeof(T) };
    const T *x = data, top = (T)shift;
    double sum = 0;

    for (int64_t i = 0; i < n; i += BLOCK) {
        const int64_t end = n - i < BLOCK ? n : i + BLOCK;
        T lane[LANES] = {0}, last = 0;
        int64_t j = i;

        for (; j + LANES <= end; j += LANES) {
            for (int k = 0; k < LANES; k++)
                lane[k] += EXP(x[j + k] - top);
            if (ahead)
                __builtin_prefetch((const void *)((uintptr_t)ahead + (uintptr_t)j * sizeof(T)));
        }
        for (; j < end; j++)
            last += EXP(x[j] - top);
        sum += FN(fold)(LANES, lane) + (double)last;
    }
    return sum;
}

SET static void FN(row_scale)(const void *data, int64_t n, double factor, void *result)
{
    const T *e = data, by = (T)factor;
    T *y = result;

    TSR__INDEPENDENT
    for (int64_t i = 0; i < n; i++)
        y[i] = e[i] * by;
}

/* y = exp(x - high - low) * by + plus; high and low together are more exact than T. */
SET static void FN(row_apply)(const void *data, int64_t n, double high, double low, double by,
                              double plus, void *result)
{
    const T *x = data, a = (T)high, b = (T)low, c = (T)by, d = (T)plus;
    T *y = result;

    TSR__INDEPENDENT
    for (int64_t i = 0; i < n; i++)
        y[i] = EXP(x[i] - a - b) * c + d;
}

SET static void FN(row_shift)(const void *data, int64_t n, double high, double low, void *result)
{
    const T *x = data, a = (T)high, b = (T)low;
    T *y = result;

    TSR__INDEPENDENT
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] - a - b;
}

/* The sum of g * y; without y that of g. */
SET static double FN(row_dot)(const void *grad, const void *data, int64_t n)
{
    enum { LANES = 32 };
    const T *g = grad, *y = data;
    double sum = 0;

    for (int64_t i = 0; i < n; i += BLOCK) {
        const int64_t end = n - i < BLOCK ? n : i + BLOCK;
        T lane[LANES] = {0}, last = 0;
        int64_t j = i;

        if (!y) {
            sum += FN(block_sum)(g + i, end - i, NULL);
            continue;
        }
        for (; j + LANES <= end; j += LANES)
            for (int k = 0; k < LANES; k++)
                lane[k] += g[j + k] * y[j + k];
        for (; j < end; j++)
            last += g[j] * y[j];
        sum += FN(fold)(LANES, lane) + (double)last;
    }
    return sum;
}

/* From the gradient of y, which is a softmax or the log of one, that of x; `s` is row_dot. */
SET static void FN(row_grad)(bool log, const void *grad, const void *data, int64_t n, double s,
                             void *result)
{
    const T *g = grad, *y = data, by = (T)s;
    T *out = result;

    if (log) {
        TSR__INDEPENDENT
        for (int64_t i = 0; i < n; i++)
            out[i] = g[i] - EXP(y[i]) * by;
    } else {
        TSR__INDEPENDENT
        for (int64_t i = 0; i < n; i++)
            out[i] = y[i] * (g[i] - by);
    }
}

/* y += x * by */
SET static void FN(row_add)(const void *data, int64_t n, double factor, void *result)
{
    const T *x = data, by = (T)factor;
    T *y = result;

    TSR__INDEPENDENT
    for (int64_t i = 0; i < n; i++)
        y[i] += x[i] * by;
}

static void FN(row_add_at)(void *result, int64_t i, double value)
{
    ((T *)result)[i] += (T)value;
}

/* ---- rows across memory: n of them side by side ---- */

/* `rows` more elements of each: their maxima so far, and the sums of exp(x - maximum), which change
   with the maximum. Where that is -infinity, all terms so far are 0. */
SET static void FN(columns_add)(const void *data, int64_t rows, int64_t step, int64_t n, void *max,
                                double *sum)
{
    T *m = max, top[WIDTH], old[WIDTH], some[WIDTH];

    memcpy(old, m, (size_t)n * sizeof *m);
    for (int64_t i = 0; i < rows; i++) {
        const T *x = (const T *)data + i * step;

        TSR__INDEPENDENT
        for (int64_t k = 0; k < n; k++)
            m[k] = __builtin_isgreater(x[k], m[k]) ? x[k] : m[k];
    }
    for (int64_t k = 0; k < n; k++) {
        top[k] = __builtin_isgreater(m[k], (T)-INFINITY) ? m[k] : 0;
        some[k] = 0;
    }
    for (int64_t i = 0; i < rows; i++) {
        const T *x = (const T *)data + i * step;

        TSR__INDEPENDENT
        for (int64_t k = 0; k < n; k++)
            some[k] += EXP(x[k] - top[k]);
    }
    TSR__INDEPENDENT
    for (int64_t k = 0; k < n; k++)
        sum[k] = sum[k] * (double)EXP(old[k] - top[k]) + (double)some[k];
}

/* y = exp(x - max) * number; its log: x - max - number */
SET static void FN(columns_apply)(bool log, const void *data, int64_t n, const void *max,
                                  const double *number, void *result)
{
    const T *x = data, *m = max;
    T *y = result;

    if (log) {
        TSR__INDEPENDENT
        for (int64_t k = 0; k < n; k++)
            y[k] = x[k] - m[k] - (T)number[k];
    } else {
        TSR__INDEPENDENT
        for (int64_t k = 0; k < n; k++)
            y[k] = EXP(x[k] - m[k]) * (T)number[k];
    }
}

SET static void FN(columns_start)(int64_t n, void *max, double *sum)
{
    for (int64_t k = 0; k < n; k++) {
        ((T *)max)[k] = (T)-INFINITY;
        sum[k] = 0;
    }
}

SET static void FN(columns_dot)(const void *grad, const void *data, int64_t n, double *sum)
{
    const T *g = grad, *y = data;

    if (y) {
        TSR__INDEPENDENT
        for (int64_t k = 0; k < n; k++)
            sum[k] += (double)(g[k] * y[k]);
    } else {
        TSR__INDEPENDENT
        for (int64_t k = 0; k < n; k++)
            sum[k] += (double)g[k];
    }
}

SET static void FN(columns_grad)(bool log, const void *grad, const void *data, int64_t n,
                                 const double *s, void *result)
{
    const T *g = grad, *y = data;
    T *out = result;

    if (log) {
        TSR__INDEPENDENT
        for (int64_t k = 0; k < n; k++)
            out[k] = g[k] - EXP(y[k]) * (T)s[k];
    } else {
        TSR__INDEPENDENT
        for (int64_t k = 0; k < n; k++)
            out[k] = y[k] * (g[k] - (T)s[k]);
    }
}

static const tsr_soft_parts FN(parts) = {
    FN(row_max),       FN(row_exp),     FN(row_exp_sum),   FN(row_scale),   FN(row_apply),
    FN(row_shift),     FN(row_dot),     FN(row_grad),      FN(row_add),     FN(row_add_at),
    FN(columns_start), FN(columns_add), FN(columns_apply), FN(columns_dot), FN(columns_grad),
};

#undef T
#undef EXP
#undef SET
#undef FN
