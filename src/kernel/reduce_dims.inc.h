/* SPDX-License-Identifier: Apache-2.0 */
/* reduce_dims.inc.h - body of reduce_dims.c for one dtype and instruction set; see
   fast_types.inc.h. Sums have few terms per accumulator: by lanes, by blocks, then over blocks, in
   an order that depends on the sizes only. */

TSR__INLINE ACC FN(larger)(ACC a, ACC b) /* a NaN wins */
{
    return (LESS(a, b) | UNORDERED(b)) ? b : a;
}

TSR__INLINE WIDE FN(sum_run)(const T *x, int64_t n)
{
    enum { LANES = 128 / sizeof(WIDE) };
    WIDE lane[LANES] = {0};
    int64_t i = 0;

    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++)
            lane[k] = ADD(lane[k], (WIDE)LD(x[i + k]));
    for (int k = 0; i < n; i++, k++)
        lane[k] = ADD(lane[k], (WIDE)LD(x[i]));
    for (int half = LANES / 2; half; half /= 2)
        for (int k = 0; k < half; k++)
            lane[k] = ADD(lane[k], lane[k + half]);
    return lane[0];
}

TSR__INLINE ACC FN(max_run)(const T *x, int64_t n)
{
    enum { LANES = 128 / sizeof(ACC) };
    ACC lane[LANES];
    int64_t i = 0;

    for (int k = 0; k < LANES; k++)
        lane[k] = LOWEST;
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++)
            lane[k] = FN(larger)(lane[k], LD(x[i + k]));
    for (int k = 0; i < n; i++, k++)
        lane[k] = FN(larger)(lane[k], LD(x[i]));
    for (int half = LANES / 2; half; half /= 2)
        for (int k = 0; k < half; k++)
            lane[k] = FN(larger)(lane[k], lane[k + half]);
    return lane[0];
}

/* The processor works on several short rows at once by itself. */
TSR__INLINE void FN(short_rows)(bool max, const T *x, int64_t n_out, int64_t step, int64_t n,
                                void *acc)
{
    for (int64_t i = 0; i < n_out; i++, x += step) {
        WIDE sum = max ? 0 : ((WIDE *)acc)[i];
        ACC top = max ? ((ACC *)acc)[i] : 0;

        for (int64_t k = 0; k < n; k++) {
            if (max)
                top = FN(larger)(top, LD(x[k]));
            else
                sum = ADD(sum, (WIDE)LD(x[k]));
        }
        if (max)
            ((ACC *)acc)[i] = top;
        else
            ((WIDE *)acc)[i] = sum;
    }
}

/* acc[i] op= x[i * step + (0 .. n)] */
SET static void FN(rows)(bool max, const void *data, int64_t n_out, int64_t step, int64_t n,
                         void *acc)
{
    const T *x = data;

    if (n < SHORT) {
        if (max)
            FN(short_rows)(true, x, n_out, step, n, acc);
        else
            FN(short_rows)(false, x, n_out, step, n, acc);
        return;
    }
    for (int64_t i = 0; i < n_out; i++, x += step)
        for (int64_t j = 0; j < n; j += RUN) {
            int64_t m = n - j < RUN ? n - j : RUN;

            if (max)
                ((ACC *)acc)[i] = FN(larger)(((ACC *)acc)[i], FN(max_run)(x + j, m));
            else
                ((WIDE *)acc)[i] = ADD(((WIDE *)acc)[i], FN(sum_run)(x + j, m));
        }
}

/* Row after row, by calls: compilers would join rows, and several streams from memory are slow. */
SET static __attribute__((noinline)) void FN(sum_row)(const T *x, int64_t n_out, WIDE *acc)
{
    TSR__INDEPENDENT
    for (int64_t k = 0; k < n_out; k++)
        acc[k] = ADD(acc[k], (WIDE)LD(x[k]));
}

SET static __attribute__((noinline)) void FN(max_row)(const T *x, int64_t n_out, ACC *acc)
{
    TSR__INDEPENDENT
    for (int64_t k = 0; k < n_out; k++)
        acc[k] = FN(larger)(acc[k], LD(x[k]));
}

/* acc[i] op= x[(0 .. n) * step + i] */
SET static void FN(columns)(bool max, const void *data, int64_t n_out, int64_t step, int64_t n,
                            void *acc)
{
    const size_t ahead = step == n_out ? 0 : (size_t)n_out * sizeof(T);
    const T *x = data;
    WIDE *total = acc, part[WIDTH], *to = total;

    for (int64_t i = 0; i < n; i++, x += step) {
        if (i + 1 < n)
            prefetch(x + step, ahead);
        if (n > HEIGHT && !max && i % HEIGHT == 0) {
            memset(part, 0, (size_t)n_out * sizeof *part);
            to = part;
        }
        if (max)
            FN(max_row)(x, n_out, acc);
        else
            FN(sum_row)(x, n_out, to);
        if (to == part && (i % HEIGHT == HEIGHT - 1 || i == n - 1))
            for (int64_t k = 0; k < n_out; k++)
                total[k] = ADD(total[k], part[k]);
    }
}

/* acc[i] op= acc[i + n], acc[i + 2n], ..: `times` of them in all */
SET static void FN(merge)(bool max, int64_t n, int64_t times, void *acc)
{
    for (int64_t t = 1; t < times; t++)
        for (int64_t i = 0; i < n; i++) {
            if (max)
                ((ACC *)acc)[i] = FN(larger)(((ACC *)acc)[i], ((ACC *)acc)[t * n + i]);
            else
                ((WIDE *)acc)[i] = ADD(((WIDE *)acc)[i], ((WIDE *)acc)[t * n + i]);
        }
}

SET static void FN(start)(bool max, int64_t n, void *acc)
{
    for (int64_t i = 0; i < n; i++) {
        if (max)
            ((ACC *)acc)[i] = LOWEST;
        else
            ((WIDE *)acc)[i] = 0;
    }
}

SET static void FN(finish)(bool max, int64_t times, int64_t divisor, int64_t n, const void *acc,
                           void *out)
{
    for (int64_t i = 0; i < n; i++) {
        if (max)
            ((T *)out)[i] = ST(((const ACC *)acc)[i]);
        else if (times == divisor)
            ((T *)out)[i] = ST(((const WIDE *)acc)[i]);
        else
            ((T *)out)[i] = ST(DIV(MUL(((const WIDE *)acc)[i], (WIDE)times), divisor));
    }
}
