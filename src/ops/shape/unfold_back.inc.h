/* SPDX-License-Identifier: Apache-2.0 */
/* unfold_back.inc.h - a line of sums of unfold_back.c for one dtype; see kernel_types.inc.h. */

/* sum += x, of which elements are `by` apart. Those of f16 and bf16 are brought together
   and widened at once. */
TSR__INLINE void FN(add)(tsr_dtype dtype, const T *x, int64_t by, int64_t n, WIDE *sum)
{
    T near[LINE];
    float wide[LINE];

    if (sizeof(T) != sizeof(ACC)) {
        for (int64_t i = 0; by != 1 && i < n; i++)
            near[i] = x[i * by];
        tsr__half_widen(dtype, by == 1 ? x : near, n, wide);
        for (int64_t i = 0; i < n; i++)
            sum[i] = ADD(sum[i], (WIDE)wide[i]);
    } else if (by == 1) {
        for (int64_t i = 0; i < n; i++)
            sum[i] = ADD(sum[i], (WIDE)LD(x[i]));
    } else
        for (int64_t i = 0; i < n; i++)
            sum[i] = ADD(sum[i], (WIDE)LD(x[i * by]));
}

TSR__INLINE void FN(give)(tsr_dtype dtype, const void *sums, int64_t n, T *y, int64_t to)
{
    const WIDE *sum = sums;
    T near[LINE];

    if (sizeof(T) != sizeof(ACC)) {
        tsr__half_narrow(dtype, sums, n, near);
        for (int64_t i = 0; i < n; i++)
            y[i * to] = near[i];
    } else
        for (int64_t i = 0; i < n; i++)
            y[i * to] = ST(sum[i]);
}

/* Outputs [e step + l, j] are those of run e with its element l, and of the runs before it, each
   with one a step further on. */
static void FN(line)(const unfolding *u, const line *at, const void *in, void *out)
{
    const int64_t by = at->along == BESIDE ? 1 : u->size, to = at->along == RUNS ? u->step : 1;
    WIDE sum[LINE];

    memset(sum, 0, (size_t)at->n * sizeof *sum);
    for (int64_t c = 0; c * u->step + at->l < u->size; c++) {
        const int64_t e = at->e - c, k = c * u->step + at->l;
        const T *x = in;
        int64_t lo = 0, hi = at->n;

        if (at->along == RUNS) {
            lo = e < 0 ? -e : 0;
            hi = u->runs - e < hi ? u->runs - e : hi;
        } else if (e < 0 || e >= u->runs)
            continue;
        else if (at->along == BESIDE)
            hi = u->size - k < hi ? u->size - k : hi;
        if (lo >= hi)
            continue;
        x += (e * u->inner + at->j) * u->size + k + lo * by;
        FN(add)(u->dtype, x, by, hi - lo, sum + lo);
    }
    FN(give)(u->dtype, sum, at->n, out, to);
}

static const line_bodies FN(entry) = {FN(line)};
