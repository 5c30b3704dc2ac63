/* SPDX-License-Identifier: Apache-2.0 */
/* scan.inc.h - body of scan.c for one dtype and instruction set; see kernel_types.inc.h. Elements
   are ACC: f16 and bf16 are widened before. `product` is a constant wherever a loop depends on it.
   */

TSR__INLINE WIDE FN(joined)(bool product, WIDE a, WIDE b)
{
    return product ? (WIDE)MUL(a, b) : (WIDE)ADD(a, b);
}

/* One by one. */
TSR__INLINE WIDE FN(chain)(bool product, const ACC *x, int64_t step, int64_t n, WIDE acc, ACC *y)
{
    for (int64_t i = 0; i < n; i++) {
        acc = FN(joined)(product, acc, (WIDE)x[i * step]);
        if (y)
            y[i * step] = (ACC)(acc);
    }
    return acc;
}

/* Four by four: what comes before is added once for all four, so that sums wait for each other less
   often. */
TSR__INLINE WIDE FN(run)(bool product, const ACC *x, int64_t step, int64_t n, WIDE acc, ACC *y)
{
    int64_t i = 0;

    for (; i + 4 <= n; i += 4) {
        const ACC *at = x + i * step;
        const WIDE a = (WIDE)at[0], b = FN(joined)(product, a, (WIDE)at[step]);
        const WIDE c = (WIDE)at[2 * step], d = FN(joined)(product, c, (WIDE)at[3 * step]);
        const WIDE all = FN(joined)(product, b, d);

        if (y) {
            ACC *to = y + i * step;

            to[0] = (ACC)(FN(joined)(product, acc, a));
            to[step] = (ACC)(FN(joined)(product, acc, b));
            to[2 * step] = (ACC)(FN(joined)(product, acc, FN(joined)(product, b, c)));
            to[3 * step] = (ACC)(FN(joined)(product, acc, all));
        }
        acc = FN(joined)(product, acc, all);
    }
    return FN(chain)(product, x + i * step, step, n - i, acc, y ? y + i * step : NULL);
}

/* acc op= x[i * step], for i from 0 on, each of them to y if that is there. y may be x. */
SET static void FN(along)(bool product, bool one_by_one, const void *x, int64_t step, int64_t n,
                          void *acc, void *y)
{
    WIDE *a = acc;

    if (product)
        *a = one_by_one ? FN(chain)(true, x, step, n, *a, y) : FN(run)(true, x, step, n, *a, y);
    else
        *a = one_by_one ? FN(chain)(false, x, step, n, *a, y) : FN(run)(false, x, step, n, *a, y);
}

TSR__INLINE void FN(row_of)(bool product, const ACC *x, int64_t n, WIDE *acc, ACC *y)
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
        y[k] = (ACC)(acc[k]);
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

static const parts FN(entry) = {FN(along), FN(row), FN(load), FN(save)};
