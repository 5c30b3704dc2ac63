/* SPDX-License-Identifier: Apache-2.0 */
/* log_sum.inc.h - body of log_sum.c for f32 or f64 and one instruction set: needs T, EXP, MOST, SET
   and FN; undefines them. Of every result the largest element so far, and the sum of exp(x - that);
   a NaN may be lost in the maximum: exp finds it again. */

/* What is subtracted: finite, so that nothing becomes infinity less infinity. */
TSR__INLINE T FN(base)(T max)
{
    return max > MOST ? MOST : max < -MOST ? 0 : max;
}

/* exp(x - base), of x up to the maximum; infinity is as far as it can be. */
TSR__INLINE T FN(share)(T x, T base)
{
    const T d = x - base;

    return EXP(__builtin_isgreater(d, (T)0) ? (T)0 : d);
}

/* n elements of one result. */
SET static void FN(add_run)(const void *data, int64_t n, double *max, double *sum)
{
    enum { LANES = 128 / sizeof(T), SUMS = 16 };
    const T *x = data;
    const T old = (T)*max;
    T lane[LANES], top, base;
    double part[SUMS] = {0};
    int64_t i = 0;

    for (int k = 0; k < LANES; k++)
        lane[k] = old;
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++)
            lane[k] = __builtin_isgreater(x[i + k], lane[k]) ? x[i + k] : lane[k];
    for (; i < n; i++)
        lane[0] = x[i] > lane[0] ? x[i] : lane[0];
    top = lane[0];
    for (int k = 1; k < LANES; k++)
        top = lane[k] > top ? lane[k] : top;
    base = FN(base)(top);
    for (i = 0; i + SUMS <= n; i += SUMS)
        for (int k = 0; k < SUMS; k++)
            part[k] += (double)FN(share)(x[i + k], base);
    for (; i < n; i++)
        part[0] += (double)FN(share)(x[i], base);
    for (int k = 1; k < SUMS; k++)
        part[0] += part[k];
    if (old >= -MOST)
        *sum *= (double)FN(share)(FN(base)(old), base);
    *sum += part[0];
    *max = (double)top;
}

/* `rows` rows of n results, `step` apart. */
SET static void FN(add_rows)(const void *data, int64_t rows, int64_t step, int64_t n, double *max,
                             double *sum)
{
    const T *x = data;
    T top[WIDTH], base[WIDTH], part[WIDTH];

    for (int64_t k = 0; k < n; k++)
        top[k] = (T)max[k];
    for (int64_t i = 0; i < rows; i++) {
        TSR__INDEPENDENT
        for (int64_t k = 0; k < n; k++)
            top[k] = __builtin_isgreater(x[i * step + k], top[k]) ? x[i * step + k] : top[k];
    }
    for (int64_t k = 0; k < n; k++) {
        base[k] = FN(base)(top[k]);
        if ((T)max[k] >= -MOST && (double)top[k] != max[k])
            sum[k] *= (double)FN(share)(FN(base)((T)max[k]), base[k]);
        max[k] = (double)top[k];
        part[k] = 0;
    }
    for (int64_t i = 0; i < rows; i++) {
        TSR__INDEPENDENT
        for (int64_t k = 0; k < n; k++)
            part[k] += FN(share)(x[i * step + k], base[k]);
    }
    for (int64_t k = 0; k < n; k++)
        sum[k] += (double)part[k];
}

#undef T
#undef EXP
#undef MOST
#undef SET
#undef FN
