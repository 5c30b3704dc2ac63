/* SPDX-License-Identifier: Apache-2.0 */
/* norm_rows.inc.h - body of norm_rows.c for f32 or f64 and one instruction set; see
   kernel_types.inc.h. Sums have few terms per accumulator, in an order that depends on sizes only.
   */

TSR__INLINE double FN(fold)(int n, const T *lane) /* n: a multiple of 4 */
{
    double wide[4] = {0};

    for (int k = 0; k < n; k += 4)
        for (int j = 0; j < 4; j++)
            wide[j] += (double)lane[k + j];
    return (wide[0] + wide[2]) + (wide[1] + wide[3]);
}

/* Distances to `shift`, which is near the mean: adds their sum and that of their squares. */
SET static void FN(moments)(const void *data, int64_t rows, int64_t step, int64_t n,
                            const double *shift, double *sum, double *square)
{
    enum { LANES = 32, FEW = 32 / sizeof(T) };
    const uintptr_t ahead = (uintptr_t)step * sizeof(T);
    const T *x = data;

    for (int64_t r = 0; r < rows; r++, x += step) {
        const T at = (T)shift[r];
        T some[FEW] = {0}, some_square[FEW] = {0}, last = 0, last_square = 0;
        int64_t i = 0;

        if (n >= LANES) {
            T one[LANES] = {0}, two[LANES] = {0};

            for (; i + LANES <= n; i += LANES) {
                for (int k = 0; k < LANES; k++) {
                    const T d = x[i + k] - at;

                    one[k] += d;
                    two[k] += d * d;
                }
                for (size_t k = 0; k < LANES * sizeof(T); k += 64) /* the next row */
                    __builtin_prefetch((const char *)(uintptr_t)((uintptr_t)(x + i) + ahead + k));
            }
            sum[r] += FN(fold)(LANES, one);
            square[r] += FN(fold)(LANES, two);
        }
        for (; i + FEW <= n; i += FEW)
            for (int k = 0; k < FEW; k++) {
                const T d = x[i + k] - at;

                some[k] += d;
                some_square[k] += d * d;
            }
        for (; i < n; i++) {
            const T d = x[i] - at;

            last += d;
            last_square += d * d;
        }
        sum[r] += (double)last + FN(fold)(FEW, some);
        square[r] += (double)last_square + FN(fold)(FEW, some_square);
    }
}

/* The same for rows of one element, `step` apart in the next sample; at most ROWS of them. */
SET static void FN(columns)(const void *data, int64_t rows, int64_t step, int64_t samples,
                            const double *shift, double *sum, double *square)
{
    const T *x = data;
    T at[ROWS], one[ROWS], two[ROWS];

    for (int64_t r = 0; r < rows; r++) {
        at[r] = (T)shift[r];
        one[r] = two[r] = 0;
    }
    for (int64_t s = 0; s < samples; s++, x += step) {
        TSR__INDEPENDENT
        for (int64_t r = 0; r < rows; r++) {
            const T d = x[r] - at[r];

            one[r] += d;
            two[r] += d * d;
        }
    }
    TSR__INDEPENDENT
    for (int64_t r = 0; r < rows; r++) {
        sum[r] += (double)one[r];
        square[r] += (double)two[r];
    }
}

SET static void FN(sums)(const void *grad, const void *data, int64_t rows, int64_t n,
                         const double *center, double *sum, double *dot)
{
    enum { LANES = 32, FEW = 32 / sizeof(T) };
    const T *g = grad, *x = data;

    if (n == 1) {
        TSR__INDEPENDENT
        for (int64_t r = 0; r < rows; r++) {
            sum[r] += (double)g[r];
            dot[r] += (double)(g[r] * (x[r] - (T)center[r]));
        }
        return;
    }
    for (int64_t r = 0; r < rows; r++, x += n, g += n) {
        const T at = (T)center[r];
        T some[FEW] = {0}, some_dot[FEW] = {0}, last = 0, last_dot = 0;
        int64_t i = 0;

        if (n >= LANES) {
            T one[LANES] = {0}, two[LANES] = {0};

            for (; i + LANES <= n; i += LANES)
                for (int k = 0; k < LANES; k++) {
                    one[k] += g[i + k];
                    two[k] += g[i + k] * (x[i + k] - at);
                }
            sum[r] += FN(fold)(LANES, one);
            dot[r] += FN(fold)(LANES, two);
        }
        for (; i + FEW <= n; i += FEW)
            for (int k = 0; k < FEW; k++) {
                some[k] += g[i + k];
                some_dot[k] += g[i + k] * (x[i + k] - at);
            }
        for (; i < n; i++) {
            last += g[i];
            last_dot += g[i] * (x[i] - at);
        }
        sum[r] += (double)last + FN(fold)(FEW, some);
        dot[r] += (double)last_dot + FN(fold)(FEW, some_dot);
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

static const parts FN(entry) = {FN(moments), FN(columns), FN(sums), FN(apply), FN(apply_grad)};
