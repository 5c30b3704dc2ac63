/* SPDX-License-Identifier: Apache-2.0 */
/* norm_rows.inc.h - body of norm_rows.c for f32 or f64 and one instruction set: needs T, SET and
   FN; undefines them. Sums have few terms per accumulator, in an order that depends on sizes
   only. */

TSR__INLINE void FN(fold)(double *lane)
{
    for (int half = LANES / 2; half; half /= 2)
        for (int k = 0; k < half; k++)
            lane[k] += lane[k + half];
}

/* Distances to `shift`, an element of the row or one like it: their sum and that of their
   squares. */
SET static void FN(moments)(const void *data, int64_t rows, int64_t step, int64_t n,
                            const double *shift, double *sum, double *square)
{
    const T *x = data;

    if (n == 1 && step == 1) {
        TSR__INDEPENDENT
        for (int64_t r = 0; r < rows; r++) {
            const double d = (double)x[r] - shift[r];

            sum[r] += d;
            square[r] += d * d;
        }
        return;
    }
    for (int64_t r = 0; r < rows; r++, x += step) {
        const double at = shift[r];
        double one[LANES] = {0}, two[LANES] = {0};
        int64_t i = 0;

        for (; i + LANES <= n; i += LANES)
            for (int k = 0; k < LANES; k++) {
                const double d = (double)x[i + k] - at;

                one[k] += d;
                two[k] += d * d;
            }
        for (int k = 0; i < n; i++, k++) {
            const double d = (double)x[i] - at;

            one[k] += d;
            two[k] += d * d;
        }
        FN(fold)(one);
        FN(fold)(two);
        sum[r] += one[0];
        square[r] += two[0];
    }
}

SET static void FN(sums)(const void *grad, const void *data, int64_t rows, int64_t n,
                         const double *center, double *sum, double *dot)
{
    const T *g = grad, *x = data;

    if (n == 1) {
        TSR__INDEPENDENT
        for (int64_t r = 0; r < rows; r++) {
            sum[r] += (double)g[r];
            dot[r] += (double)g[r] * ((double)x[r] - center[r]);
        }
        return;
    }
    for (int64_t r = 0; r < rows; r++, x += n, g += n) {
        const double at = center[r];
        double one[LANES] = {0}, two[LANES] = {0};
        int64_t i = 0;

        for (; i + LANES <= n; i += LANES)
            for (int k = 0; k < LANES; k++) {
                one[k] += (double)g[i + k];
                two[k] += (double)g[i + k] * ((double)x[i + k] - at);
            }
        for (int k = 0; i < n; i++, k++) {
            one[k] += (double)g[i];
            two[k] += (double)g[i] * ((double)x[i] - at);
        }
        FN(fold)(one);
        FN(fold)(two);
        sum[r] += one[0];
        dot[r] += two[0];
    }
}

/* y may be x. */
SET static void FN(apply)(const void *data, int64_t rows, int64_t n, const tsr_norm_factors *f,
                          void *result)
{
    const T *high = f->high, *low = f->low, *by = f->by, *plus = f->plus, *x = data;
    T *y = result;

    if (n == 1) {
        TSR__INDEPENDENT
        for (int64_t r = 0; r < rows; r++)
            y[r] = (x[r] - high[r] - low[r]) * by[r] + plus[r];
        return;
    }
    for (int64_t r = 0; r < rows; r++, x += n, y += n) {
        const T a = high[r], b = low[r], c = by[r], d = plus[r];

        TSR__INDEPENDENT
        for (int64_t i = 0; i < n; i++)
            y[i] = (x[i] - a - b) * c + d;
    }
}

/* y may be x or grad. */
SET static void FN(apply_grad)(const void *grad, const void *data, int64_t rows, int64_t n,
                               const tsr_norm_factors *f, void *result)
{
    const T *high = f->high, *by = f->by, *plus = f->plus, *grad_by = f->grad_by;
    const T *low = f->low, *g = grad, *x = data;
    T *y = result;

    if (n == 1) {
        TSR__INDEPENDENT
        for (int64_t r = 0; r < rows; r++)
            y[r] = g[r] * grad_by[r] + (x[r] - high[r] - low[r]) * by[r] + plus[r];
        return;
    }
    for (int64_t r = 0; r < rows; r++, x += n, g += n, y += n) {
        const T a = high[r], b = low[r], c = by[r], d = plus[r], e = grad_by[r];

        TSR__INDEPENDENT
        for (int64_t i = 0; i < n; i++)
            y[i] = g[i] * e + (x[i] - a - b) * c + d;
    }
}

#undef T
#undef SET
#undef FN
