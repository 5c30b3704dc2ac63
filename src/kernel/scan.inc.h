/* SPDX-License-Identifier: Apache-2.0 */
/* scan.inc.h - body of scan.c for one dtype and instruction set; see fast_types.inc.h. `product` is
   a constant wherever a loop depends on it. */

TSR__INLINE WIDE FN(joined)(bool product, WIDE a, WIDE b)
{
    return product ? (WIDE)MUL(a, b) : (WIDE)ADD(a, b);
}

/* `rows` rows side by side in time: their chains of additions do not wait for each other. */
TSR__INLINE void FN(some_runs)(bool product, int rows, const T *x, int64_t skip, int64_t step,
                               int64_t n, WIDE *acc, T *y)
{
    WIDE a[8];

    for (int r = 0; r < rows; r++)
        a[r] = acc[r];
    for (int64_t i = 0; i < n; i++)
        for (int r = 0; r < rows; r++) {
            a[r] = FN(joined)(product, a[r], (WIDE)x[r * skip + i * step]);
            if (y)
                y[r * skip + i * step] = ST(a[r]);
        }
    for (int r = 0; r < rows; r++)
        acc[r] = a[r];
}

TSR__INLINE void FN(runs_of)(bool product, int64_t rows, const T *x, int64_t skip, int64_t step,
                             int64_t n, WIDE *acc, T *y)
{
    int64_t r = 0;

    for (; r + 8 <= rows; r += 8)
        FN(some_runs)(product, 8, x + r * skip, skip, step, n, acc + r, y ? y + r * skip : NULL);
    for (; r < rows; r++)
        FN(some_runs)(product, 1, x + r * skip, skip, step, n, acc + r, y ? y + r * skip : NULL);
}

/* acc[r] op= x[r * skip + i * step], for i from 0 on, each of them to y if that is there. */
SET static void FN(runs)(bool product, int64_t rows, const void *x, int64_t skip, int64_t step,
                         int64_t n, void *acc, void *y)
{
    if (product)
        FN(runs_of)(true, rows, x, skip, step, n, acc, y);
    else
        FN(runs_of)(false, rows, x, skip, step, n, acc, y);
}

TSR__INLINE void FN(row_of)(bool product, const T *x, int64_t n, WIDE *acc, T *y)
{
    if (!y) {
        TSR__INDEPENDENT
        for (int64_t k = 0; k < n; k++)
            acc[k] = FN(joined)(product, acc[k], (WIDE)x[k]);
        return;
    }
    TSR__INDEPENDENT
    for (int64_t k = 0; k < n; k++) {
        acc[k] = FN(joined)(product, acc[k], (WIDE)x[k]);
        y[k] = ST(acc[k]);
    }
}

/* acc[k] op= x[k], and to y if that is there */
SET static void FN(row)(bool product, const void *x, int64_t n, void *acc, void *y)
{
    if (product)
        FN(row_of)(true, x, n, acc, y);
    else
        FN(row_of)(false, x, n, acc, y);
}

/* What was gathered of others, as f64 or i64, and back; NULL: nothing came before. */
SET static void FN(load)(bool product, const void *words, int64_t n, void *acc)
{
    const WORD *word = words;

    for (int64_t k = 0; k < n; k++)
        ((WIDE *)acc)[k] = word ? (WIDE)word[k] : (WIDE)product;
}

SET static void FN(save)(const void *acc, int64_t n, void *words)
{
    WORD *word = words;

    for (int64_t k = 0; k < n; k++)
        word[k] = (WORD)((const WIDE *)acc)[k];
}
