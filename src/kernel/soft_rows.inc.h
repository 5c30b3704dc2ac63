/* SPDX-License-Identifier: Apache-2.0 */
/* soft_rows.inc.h - body of soft_rows.c for f32 or f64 and one instruction set: needs T, EXP, SET
   and FN; undefines them. Sums are in f64. A NaN may be lost in a maximum: exp finds it again. */

SET static double FN(row_max)(const void *data, int64_t n)
{
    enum { LANES = 128 / sizeof(T) };
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

/* e = exp(x - max), which may be x; its sum. */
SET static double FN(row_exp)(const void *data, int64_t n, double max, void *result)
{
    enum { LANES = 16 };
    const T *x = data, top = (T)max;
    T *e = result;
    double lane[LANES] = {0};
    int64_t i = 0;

    TSR__INDEPENDENT
    for (int64_t k = 0; k < n; k++)
        e[k] = EXP(x[k] - top);
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++)
            lane[k] += (double)e[i + k];
    for (; i < n; i++)
        lane[0] += (double)e[i];
    for (int k = 1; k < LANES; k++)
        lane[0] += lane[k];
    return lane[0];
}

SET static void FN(row_scale)(const void *data, int64_t n, double factor, void *result)
{
    const T *e = data, by = (T)factor;
    T *y = result;

    TSR__INDEPENDENT
    for (int64_t i = 0; i < n; i++)
        y[i] = e[i] * by;
}

/* `rows` more rows for each of n columns: their maxima so far, and the sums of exp(x - maximum),
   which change with the maximum. Where that is -infinity, all terms so far are 0. */
SET static void FN(columns_add)(const void *data, int64_t rows, int64_t step, int64_t n, void *max,
                                double *sum)
{
    T *m = max, top[WIDTH], old[WIDTH];

    memcpy(old, m, (size_t)n * sizeof *m);
    for (int64_t i = 0; i < rows; i++) {
        const T *x = (const T *)data + i * step;

        TSR__INDEPENDENT
        for (int64_t k = 0; k < n; k++)
            m[k] = __builtin_isgreater(x[k], m[k]) ? x[k] : m[k];
    }
    for (int64_t k = 0; k < n; k++)
        top[k] = __builtin_isgreater(m[k], (T)-INFINITY) ? m[k] : 0;
    TSR__INDEPENDENT
    for (int64_t k = 0; k < n; k++)
        sum[k] *= (double)EXP(old[k] - top[k]);
    for (int64_t i = 0; i < rows; i++) {
        const T *x = (const T *)data + i * step;

        TSR__INDEPENDENT
        for (int64_t k = 0; k < n; k++)
            sum[k] += (double)EXP(x[k] - top[k]);
    }
}

SET static void FN(columns_scale)(const void *data, int64_t n, const void *max,
                                  const double *factor, void *result)
{
    const T *x = data, *m = max;
    T *y = result;

    TSR__INDEPENDENT
    for (int64_t k = 0; k < n; k++)
        y[k] = EXP(x[k] - m[k]) * (T)factor[k];
}

SET static void FN(columns_start)(int64_t n, void *max, double *sum)
{
    for (int64_t k = 0; k < n; k++) {
        ((T *)max)[k] = (T)-INFINITY;
        sum[k] = 0;
    }
}

#undef T
#undef EXP
#undef SET
#undef FN
