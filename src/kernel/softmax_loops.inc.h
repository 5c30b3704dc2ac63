/* SPDX-License-Identifier: Apache-2.0 */
/* softmax_loops.inc.h - body of softmax_loops.c for f32 or f64 and one instruction set. V is a
   vector of LANES of T, with SPLAT, LARGER, LARGEST, TOTAL and EXP; MANY are the vectors of a sum,
   which do not wait for each other. Where V is T itself compilers vectorise. Sums are of few terms
   in T, and of these in f64. A NaN may be lost in a maximum: exp finds it again. */

#if ISA == 512 && BITS == 32
#define V __m512
#define LANES 16
#define MANY 2
#define SPLAT(x) _mm512_set1_ps(x)
#define LARGER _mm512_max_ps
#define LARGEST (double)_mm512_reduce_max_ps
#define TOTAL total_avx512
#define EXP tsr__exp_f32_avx512
#elif ISA == 512
#define V __m512d
#define LANES 8
#define MANY 2
#define SPLAT(x) _mm512_set1_pd(x)
#define LARGER _mm512_max_pd
#define LARGEST _mm512_reduce_max_pd
#define TOTAL _mm512_reduce_add_pd
#define EXP tsr__exp_f64_avx512
#elif ISA == 2 && BITS == 32
#define V __m256
#define LANES 8
#define MANY 4
#define SPLAT(x) _mm256_set1_ps(x)
#define LARGER _mm256_max_ps
#define LARGEST largest_avx2
#define TOTAL total_avx2
#define EXP tsr__exp_f32_avx2
#else /* of f64 no table of exp fits a register of avx2 */
#define V T
#define LANES 1
#define MANY 32
#define SPLAT(x) (x)
#define LARGER LARGER_OF
#define LARGEST (double)
#define TOTAL (double)
#define EXP(x) MATH(exp, x)
#endif

typedef V FN(vector) __attribute__((aligned(sizeof(T)), may_alias)); /* anywhere in memory */

/* The first n of x, behind them -infinity. */
SET TSR__INLINE V FN(get)(const T *x, int64_t n)
{
    V v = SPLAT((T)-INFINITY);

    if (LANES == 1 || n >= LANES)
        return *(const FN(vector) *)x;
    memcpy(&v, x, (size_t)n * sizeof *x);
    return v;
}

SET TSR__INLINE void FN(put)(T *y, int64_t n, V v)
{
    if (LANES == 1 || n >= LANES)
        *(FN(vector) *)y = v;
    else
        memcpy(y, &v, (size_t)n * sizeof *y);
}

SET static double FN(row_max)(const void *data, int64_t n)
{
    const T *x = data;
    V most[MANY];
    int64_t i = 0;

    for (int k = 0; k < MANY; k++)
        most[k] = SPLAT((T)-INFINITY);
    for (; i + STEP <= n; i += STEP)
        for (int k = 0; k < MANY; k++)
            most[k] = LARGER(FN(get)(x + i + k * LANES, LANES), most[k]);
    for (; i < n; i += LANES)
        most[0] = LARGER(FN(get)(x + i, n - i), most[0]);
    for (int k = 1; k < MANY; k++)
        most[0] = LARGER(most[k], most[0]);
    return LARGEST(most[0]);
}

/* The sum of exp(x - shift), which also goes to e if that is there; e may be x. */
SET TSR__INLINE double FN(sum_of_exp)(const T *x, int64_t n, T shift, T *e, const T *ahead)
{
    const V top = SPLAT(shift);
    double sum = 0;

    for (int64_t i = 0; i < n; i += BLOCK) {
        const int64_t end = n - i < BLOCK ? n : i + BLOCK;
        V term[MANY], some[MANY];
        int64_t j = i;

        for (int k = 0; k < MANY; k++)
            some[k] = SPLAT(0);
        for (; j + STEP <= end; j += STEP) {
            for (int k = 0; k < MANY; k++)
                term[k] = EXP(FN(get)(x + j + k * LANES, LANES) - top);
            for (int k = 0; k < MANY; k++)
                some[k] += term[k];
            for (int k = 0; e && k < MANY; k++)
                FN(put)(e + j + k * LANES, LANES, term[k]);
            for (size_t k = 0; ahead && k < STEP * sizeof(T); k += 64)
                __builtin_prefetch((const void *)((uintptr_t)ahead + (uintptr_t)j * sizeof(T) + k));
        }
        for (; j < end; j += LANES) {
            term[0] = EXP(FN(get)(x + j, end - j) - top);
            some[0] += term[0];
            if (e)
                FN(put)(e + j, end - j, term[0]);
        }
        for (int k = 0; k < MANY; k++)
            sum += TOTAL(some[k]);
    }
    return sum;
}

/* e = exp(x - shift), which may be x, and its sum. `ahead` is what will be read next, or NULL. */
SET static double FN(row_exp)(const void *x, int64_t n, double shift, void *e, const void *ahead)
{
    return FN(sum_of_exp)(x, n, (T)shift, e, ahead);
}

/* The sum alone. */
SET static double FN(row_exp_sum)(const void *x, int64_t n, double shift, const void *ahead)
{
    return FN(sum_of_exp)(x, n, (T)shift, NULL, ahead);
}

SET static void FN(row_scale)(const void *data, int64_t n, double factor, void *result)
{
    const T *e = data, by = (T)factor;
    T *y = result;

    TSR__INDEPENDENT
    for (int64_t i = 0; i < n; i++)
        y[i] = e[i] * by;
}

/* y = exp(x - high - low) * by + plus; high and low together are more exact than T. */
SET static void FN(row_apply)(const void *data, int64_t n, double high, double low, double by,
                              double plus, void *result)
{
    const V a = SPLAT((T)high), b = SPLAT((T)low), c = SPLAT((T)by), d = SPLAT((T)plus);
    const T *x = data;
    T *y = result;

    TSR__INDEPENDENT
    for (int64_t i = 0; i < n; i += LANES)
        FN(put)(y + i, n - i, EXP(FN(get)(x + i, n - i) - a - b) * c + d);
}

SET static void FN(row_shift)(const void *data, int64_t n, double high, double low, void *result)
{
    const T *x = data, a = (T)high, b = (T)low;
    T *y = result;

    TSR__INDEPENDENT
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] - a - b;
}

SET TSR__INLINE double FN(dot)(const T *g, const T *y, int64_t n)
{
    double sum = 0;

    for (int64_t i = 0; i < n; i += BLOCK) {
        const int64_t end = n - i < BLOCK ? n : i + BLOCK;
        V some[MANY];
        int64_t j = i;

        for (int k = 0; k < MANY; k++)
            some[k] = SPLAT(0);
        for (; j + STEP <= end; j += STEP)
            for (int k = 0; k < MANY; k++) {
                const int64_t at = j + k * LANES;
                V term = FN(get)(g + at, LANES);

                if (y)
                    term *= FN(get)(y + at, LANES);
                some[k] += term;
            }
        for (; j < end; j++)
            sum += (double)(y ? g[j] * y[j] : g[j]);
        for (int k = 0; k < MANY; k++)
            sum += TOTAL(some[k]);
    }
    return sum;
}

/* The sum of g * y; without y that of g. */
SET static double FN(row_dot)(const void *g, const void *y, int64_t n)
{
    return y ? FN(dot)(g, y, n) : FN(dot)(g, NULL, n);
}

/* From the gradient of y, which is a softmax or the log of one, that of x; `s` is row_dot. */
SET static void FN(row_grad)(bool log, const void *grad, const void *data, int64_t n, double s,
                             void *result)
{
    const T *g = grad, *y = data, by = (T)s;
    T *out = result;

    if (log) {
        const V each = SPLAT(by);

        TSR__INDEPENDENT
        for (int64_t i = 0; i < n; i += LANES)
            FN(put)(out + i, n - i, FN(get)(g + i, n - i) - EXP(FN(get)(y + i, n - i)) * each);
    } else {
        TSR__INDEPENDENT
        for (int64_t i = 0; i < n; i++)
            out[i] = y[i] * (g[i] - by);
    }
}

/* y += x * by */
SET static void FN(row_add)(const void *data, int64_t n, double factor, void *result)
{
    const T *x = data, by = (T)factor;
    T *y = result;

    TSR__INDEPENDENT
    for (int64_t i = 0; i < n; i++)
        y[i] += x[i] * by;
}

static void FN(row_add_at)(void *result, int64_t i, double value)
{
    ((T *)result)[i] += (T)value;
}

/* ---- rows across memory: n of them side by side ---- */

/* `rows` more elements of each: their maxima so far, and the sums of exp(x - maximum), which change
   with the maximum. Where that is -infinity, all terms so far are 0. */
SET static void FN(columns_add)(const void *data, int64_t rows, int64_t step, int64_t n, void *max,
                                double *sum)
{
    const V lowest = SPLAT((T)(sizeof(T) == 4 ? (double)-FLT_MAX : -DBL_MAX));
    T *m = max, less[WIDTH], more[WIDTH];

    TSR__INDEPENDENT
    for (int64_t k = 0; k < n; k += LANES) {
        const T *x = (const T *)data + k;
        const V old = FN(get)(m + k, n - k);
        V top = old, some = SPLAT(0);

        for (int64_t i = 0; i < rows; i++)
            top = LARGER(FN(get)(x + i * step, n - k), top);
        FN(put)(m + k, n - k, top);
        top = LARGER(top, lowest);
        for (int64_t i = 0; i < rows; i++)
            some += EXP(FN(get)(x + i * step, n - k) - top);
        FN(put)(more + k, n - k, some);
        FN(put)(less + k, n - k, EXP(old - top));
    }
    TSR__INDEPENDENT
    for (int64_t k = 0; k < n; k++)
        sum[k] = sum[k] * (double)less[k] + (double)more[k];
}

/* y = exp(x - max) * number; its log: x - max - number */
SET static void FN(columns_apply)(bool log, const void *data, int64_t n, const void *max,
                                  const void *numbers, void *result)
{
    const T *x = data, *m = max, *number = numbers;
    T *y = result;

    if (log) {
        TSR__INDEPENDENT
        for (int64_t k = 0; k < n; k++)
            y[k] = x[k] - m[k] - number[k];
    } else {
        TSR__INDEPENDENT
        for (int64_t k = 0; k < n; k += LANES)
            FN(put)
        (y + k, n - k,
         EXP(FN(get)(x + k, n - k) - FN(get)(m + k, n - k)) * FN(get)(number + k, n - k));
    }
}

SET static void FN(columns_start)(int64_t n, void *max, double *sum)
{
    for (int64_t k = 0; k < n; k++) {
        ((T *)max)[k] = (T)-INFINITY;
        sum[k] = 0;
    }
}

SET static void FN(columns_dot)(const void *grad, const void *data, int64_t n, double *sum)
{
    const T *g = grad, *y = data;

    if (y) {
        TSR__INDEPENDENT
        for (int64_t k = 0; k < n; k++)
            sum[k] += (double)(g[k] * y[k]);
    } else {
        TSR__INDEPENDENT
        for (int64_t k = 0; k < n; k++)
            sum[k] += (double)g[k];
    }
}

SET static void FN(columns_grad)(bool log, const void *grad, const void *data, int64_t n,
                                 const void *sums, void *result)
{
    const T *g = grad, *y = data, *s = sums;
    T *out = result;

    if (log) {
        TSR__INDEPENDENT
        for (int64_t k = 0; k < n; k += LANES)
            FN(put)
        (out + k, n - k,
         FN(get)(g + k, n - k) - EXP(FN(get)(y + k, n - k)) * FN(get)(s + k, n - k));
    } else {
        TSR__INDEPENDENT
        for (int64_t k = 0; k < n; k++)
            out[k] = y[k] * (g[k] - s[k]);
    }
}

static const tsr_softmax_loops FN(entry) = {
    FN(row_max),       FN(row_exp),     FN(row_exp_sum),   FN(row_scale),   FN(row_apply),
    FN(row_shift),     FN(row_dot),     FN(row_grad),      FN(row_add),     FN(row_add_at),
    FN(columns_start), FN(columns_add), FN(columns_apply), FN(columns_dot), FN(columns_grad),
};

#undef V
#undef LANES
#undef MANY
#undef SPLAT
#undef LARGER
#undef LARGEST
#undef TOTAL
#undef EXP
