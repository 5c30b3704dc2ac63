/* SPDX-License-Identifier: Apache-2.0 */
/* attention_rows.inc.h - body of attention.c for f32 or f64 and one instruction set: what is done
   to blocks of scores between products of matrices. */

#if BITS == 64 /* exp of libm is scalar, but exact to the last bit nearly always */
#define EXP(x) exp(x)
#else
#define EXP(x) tsr__exp_f32(FUSED, x)
#endif

SET static T FN(largest)(const T *x, int64_t n)
{
    enum { LANES = 128 / sizeof(T) };
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
    return lane[0];
}

SET static T FN(total)(const T *x, int64_t n)
{
    enum { LANES = 128 / sizeof(T) };
    T lane[LANES] = {0};
    int64_t i = 0;

    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++)
            lane[k] += x[i + k];
    for (; i < n; i++)
        lane[0] += x[i];
    for (int k = 1; k < LANES; k++)
        lane[0] += lane[k];
    return lane[0];
}

/* Scores become exp(score - max) with the maximum so far, which they may raise: what was summed
   before counts `factor` times then. Rows that see nothing are all 0. */
SET static void FN(soften)(int64_t rows, int64_t n, void *scores, void *maxima, void *sums,
                           void *factors)
{
    for (int64_t r = 0; r < rows; r++) {
        T *x = (T *)scores + r * n, *max = (T *)maxima + r, *sum = (T *)sums + r;
        const T old = *max, here = FN(largest)(x, n), top = here > old ? here : old;

        if (top == (T)-INFINITY) { /* a NaN stays one */
            for (int64_t i = 0; i < n; i++)
                x[i] = x[i] < 0 ? 0 : x[i];
            ((T *)factors)[r] = 1;
        } else {
            TSR__INDEPENDENT
            for (int64_t i = 0; i < n; i++)
                x[i] = EXP(x[i] - top);
            ((T *)factors)[r] = EXP(old - top);
        }
        *max = top;
        *sum = *sum * ((T *)factors)[r] + FN(total)(x, n);
    }
}

/* Scores become weights, by the logarithm of each row's sum. */
SET static void FN(weigh)(int64_t rows, int64_t n, void *scores, const void *lse)
{
    for (int64_t r = 0; r < rows; r++) {
        const T of_row = ((const T *)lse)[r], by = of_row == (T)-INFINITY ? (T)INFINITY : of_row;
        T *x = (T *)scores + r * n;

        TSR__INDEPENDENT
        for (int64_t i = 0; i < n; i++)
            x[i] = EXP(x[i] - by);
    }
}

/* Gradients of weights become those of scores. */
SET static void FN(bend)(int64_t rows, int64_t n, const void *weights, const void *delta,
                         void *slopes)
{
    for (int64_t r = 0; r < rows; r++) {
        const T *p = (const T *)weights + r * n, by = ((const T *)delta)[r];
        T *x = (T *)slopes + r * n;

        TSR__INDEPENDENT
        for (int64_t i = 0; i < n; i++)
            x[i] = p[i] * (x[i] - by);
    }
}

/* Row r of y = that of x times factor[r * step]. */
SET static void FN(multiply)(int64_t rows, int64_t n, const void *from, const void *factors,
                             int64_t step, void *to)
{
    for (int64_t r = 0; r < rows; r++) {
        const T *x = (const T *)from + r * n, by = ((const T *)factors)[r * step];
        T *y = (T *)to + r * n;

        TSR__INDEPENDENT
        for (int64_t i = 0; i < n; i++)
            y[i] = x[i] * by;
    }
}

static const parts FN(entry) = {FN(soften), FN(weigh), FN(bend), FN(multiply)};

#undef EXP
