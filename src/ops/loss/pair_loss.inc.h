/* SPDX-License-Identifier: Apache-2.0 */
/* pair_loss.inc.h - body of pair_loss.c for f32 or f64 and one instruction set: needs T, EXP,
   LOG1P, SET and FN; undefines them. Blocks of n elements; operands that are NULL are 1. */

/* The loss of every element. */
SET static void FN(losses)(pair_kind kind, int64_t n, const void *const in[4], void *result)
{
    const T *x = in[X], *t = in[TARGET], *w = in[WEIGHT], *p = in[POSITIVE];
    T *y = result;

    if (kind == MSE) {
        TSR__INDEPENDENT
        for (int64_t i = 0; i < n; i++)
            y[i] = (x[i] - t[i]) * (x[i] - t[i]);
        return;
    }
    if (kind == L1) {
        TSR__INDEPENDENT
        for (int64_t i = 0; i < n; i++)
            y[i] = x[i] < t[i] ? t[i] - x[i] : x[i] - t[i];
        return;
    }
    if (p) {
        TSR__INDEPENDENT
        for (int64_t i = 0; i < n; i++) {
            const T rest =
                MATH(log1p_unit, MATH(exp, x[i] < 0 ? x[i] : -x[i])) + (x[i] < 0 ? -x[i] : 0);

            y[i] = (1 - t[i]) * x[i] + (1 + (p[i] - 1) * t[i]) * rest;
        }
    } else {
        TSR__INDEPENDENT
        for (int64_t i = 0; i < n; i++)
            y[i] = (x[i] < 0 ? 0 : x[i]) - t[i] * x[i] +
                   MATH(log1p_unit, MATH(exp, x[i] < 0 ? x[i] : -x[i]));
    }
    if (w) {
        TSR__INDEPENDENT
        for (int64_t i = 0; i < n; i++)
            y[i] *= w[i];
    }
}

SET static double FN(sum)(int64_t n, const void *data)
{
    enum { LANES = 128 / sizeof(T) };
    const T *x = data;
    T lane[LANES] = {0};
    double sum = 0;
    int64_t i = 0;

    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++)
            lane[k] += x[i + k];
    for (int k = 0; k < LANES; k++)
        sum += (double)lane[k];
    for (; i < n; i++)
        sum += (double)x[i];
    return sum;
}

/* 1 / (1 + e^x) */
TSR__INLINE T FN(below)(T x)
{
    const T e = MATH(exp, x < 0 ? x : -x);

    return (x < 0 ? 1 : e) / (1 + e);
}

/* The slope of every element's loss by operand k. */
SET static void FN(slopes)(pair_kind kind, int k, int64_t n, const void *const in[4], void *result)
{
    const T *x = in[X], *t = in[TARGET], *w = in[WEIGHT], *p = in[POSITIVE];
    T *y = result;

    if (kind == MSE) {
        TSR__INDEPENDENT
        for (int64_t i = 0; i < n; i++)
            y[i] = 2 * (x[i] - t[i]);
        return;
    }
    if (kind == L1) {
        TSR__INDEPENDENT
        for (int64_t i = 0; i < n; i++)
            y[i] = (T)((x[i] > t[i]) - (x[i] < t[i]));
        return;
    }
    if (k == WEIGHT) {
        FN(losses)(BCE, n, (const void *const[]){x, t, NULL, p}, y);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        const T more = p ? p[i] - 1 : 0, own = w ? w[i] : 1;
        const T rest =
            MATH(log1p_unit, MATH(exp, x[i] < 0 ? x[i] : -x[i])) + (x[i] < 0 ? -x[i] : 0);

        y[i] = own * (k == X        ? 1 - t[i] - (1 + more * t[i]) * FN(below)(x[i])
                      : k == TARGET ? more * rest - x[i]
                                    : t[i] * rest);
    }
}

/* y *= by, or by the elements of grad */
SET static void FN(times)(int64_t n, const void *grad, double by, void *result)
{
    const T *g = grad, factor = (T)by;
    T *y = result;

    if (g) {
        TSR__INDEPENDENT
        for (int64_t i = 0; i < n; i++)
            y[i] *= g[i];
    } else {
        TSR__INDEPENDENT
        for (int64_t i = 0; i < n; i++)
            y[i] *= factor;
    }
}

static const parts FN(entry) = {FN(losses), FN(sum), FN(slopes), FN(times)};
