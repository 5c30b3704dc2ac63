/* SPDX-License-Identifier: Apache-2.0 */
/* resample_sum.inc.h - body of resample_sum.c for one dtype and instruction set: needs T, ADD, MUL,
   DIV, FN and SET. */

SET static void FN(set)(const tsr_resample_geometry *g, int d, bool unit, const taps *t,
                        void *weight)
{
    const tsr_resample_dim *dim = &g->dim[d];

    for (int64_t r = 0; r < dim->m; r++, t++)
        for (int64_t k = 0; k < t->count; k++) {
            tsr_fraction w = {1, 1};

            if (!unit)
                w = resample_weight(g, d, dim->source + t->first + k, dim->result + r);
            ((T *)weight)[t->at + k] = unit ? 1 : (T)DIV((T)w.num, w.den);
        }
}

/* Where there are fewer neighbours the last is taken several times by parts: weight 0 would make
   NaN of infinity. */
SET static void FN(set_few)(const row_plan *row)
{
    for (int64_t r = 0; r < row->m; r++) {
        const taps *t = &row->taps[r];
        T weight = 0;

        for (int64_t k = 0; k < row->few_width; k++) {
            if (k < t->count)
                weight = ((const T *)row->weight)[t->at + k];
            if (k + 1 >= t->count && k + 1 < row->few_width)
                weight = (T)DIV(weight, 2);
            row->few[k * row->m + r] = (int32_t)(t->first + (k < t->count ? k : t->count - 1));
            ((T *)row->few_weight)[k * row->m + r] = weight;
        }
    }
}

/* The sum of n terms, at least one, one after the other. */
TSR__INLINE T FN(total)(bool weighted, int64_t n, const T *weight, const T *x)
{
    T sum = weighted ? MUL(weight[0], x[0]) : x[0];

    for (int64_t i = 1; i < n; i++)
        sum = ADD(sum, weighted ? MUL(weight[i], x[i]) : x[i]);
    return sum;
}

/* Of LONG terms or more: in lanes, then what does not fill them. */
TSR__INLINE T FN(lanes)(bool weighted, int64_t n, const T *weight, const T *x)
{
    enum { LANES = 16 };
    const int64_t even = n / LANES * LANES;
    T lane[LANES];

    for (int k = 0; k < LANES; k++)
        lane[k] = weighted ? MUL(weight[k], x[k]) : x[k];
    for (int64_t i = LANES; i < even; i += LANES)
        for (int k = 0; k < LANES; k++)
            lane[k] = ADD(lane[k], weighted ? MUL(weight[i + k], x[i + k]) : x[i + k]);
    for (int k = 0; k < 8; k++)
        lane[k] = ADD(lane[k], lane[k + 8]);
    for (int k = 0; k < 4; k++)
        lane[k] = ADD(lane[k], lane[k + 4]);
    lane[0] = ADD(ADD(lane[0], lane[2]), ADD(lane[1], lane[3]));
    if (even == n)
        return lane[0];
    return ADD(lane[0], FN(total)(weighted, n - even, weighted ? weight + even : NULL, x + even));
}

/* Of any number: runs are summed apart, which keeps rounding small. The order depends on n only. */
SET static T FN(long_total)(bool weighted, int64_t n, const T *weight, const T *x)
{
    T sum = 0;

    for (int64_t i = 0; i < n; i += RUN) {
        const int64_t m = n - i < RUN ? n - i : RUN;
        const T *w = weighted ? weight + i : NULL;

        sum = ADD(sum,
                  m < LONG ? FN(total)(weighted, m, w, x + i) : FN(lanes)(weighted, m, w, x + i));
    }
    return sum;
}

TSR__INLINE void FN(any)(bool weighted, const row_plan *row, int64_t from, int64_t to, const T *x,
                         T *y)
{
    for (int64_t j = from; j < to; j++) {
        const taps *t = &row->taps[j];
        const T *weight = weighted ? (const T *)row->weight + t->at : NULL;

        if (t->count >= LONG)
            y[j] = FN(long_total)(weighted, t->count, weight, x + t->first);
        else
            y[j] = t->count ? FN(total)(weighted, t->count, weight, x + t->first) : 0;
    }
}

/* n times `period` results; the sources of the second are `off` further on. */
TSR__INLINE void FN(periods)(bool weighted, int period, int stride, int width, int64_t off,
                             int64_t n, const T *weight, const T *x, T *y)
{
    T w[8] = {0};

    for (int k = 0; k < period * width; k++)
        w[k] = weight[k];
    TSR__INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
        y[i * period] = FN(total)(weighted, width, w, x + i * stride);
        if (period > 1)
            y[i * period + 1] = FN(total)(weighted, width, w + width, x + off + i * stride);
    }
}

/* A single source several times. */
TSR__INLINE void FN(repeat)(int64_t times, int64_t n, const T *restrict x, T *restrict y)
{
    for (int64_t i = 0; i < n; i++, y += times) {
        const T value = x[i];

        for (int64_t k = 0; k < times; k++)
            y[k] = value;
    }
}

/* Results that repeat; returns where those behind them begin. */
TSR__INLINE int64_t FN(repeated)(const row_plan *row, const T *x, T *y)
{
    const taps *t = &row->taps[row->begin];
    const T *w = (const T *)row->weight + t->at;
    const int64_t n = row->times, off = row->period > 1 ? t[1].first - t->first : 0;

    x += t->first;
    y += row->begin;
#define CASE(weighted, p, s, c)                                                                    \
    else if (row->unit != weighted && row->period == p && row->stride == s && t->count == c)       \
        FN(periods)(weighted, p, s, c, off, n, w, x, y)
    if (row->unit && row->period == 2)
        FN(repeat)(2, n, x, y);
    else if (row->unit && row->period == 4)
        FN(repeat)(4, n, x, y);
    else if (row->unit && row->period > 1)
        FN(repeat)(row->period, n, x, y);
    CASE(false, 1, 1, 1);
    CASE(false, 1, 2, 2);
    CASE(false, 1, 3, 3);
    CASE(false, 1, 4, 4);
    CASE(true, 2, 1, 1);
    CASE(true, 2, 1, 2);
    CASE(true, 1, 2, 2);
    CASE(true, 1, 2, 4);
    else return row->begin;
#undef CASE
    return row->begin + n * row->period;
}

/* Each of `width` neighbours, anywhere. */
TSR__INLINE void FN(few)(bool weighted, int width, const row_plan *row, const T *x, T *y)
{
    const int64_t m = row->m;
    const int32_t *few = row->few;
    const T *w = row->few_weight;

    TSR__INDEPENDENT
    for (int64_t j = 0; j < m; j++) {
        T sum = weighted ? MUL(w[j], x[few[j]]) : x[few[j]];

        for (int k = 1; k < width; k++)
            sum = ADD(sum, MUL(w[k * m + j], x[few[k * m + j]]));
        y[j] = sum;
    }
}

/* Those that repeat, and others at both ends. */
TSR__INLINE void FN(row)(bool weighted, const row_plan *row, const T *x, T *y)
{
    FN(any)(weighted, row, 0, row->begin, x, y);
    FN(any)(weighted, row, row->times ? FN(repeated)(row, x, y) : row->begin, row->m, x, y);
}

SET static void FN(along)(const row_plan *row, int64_t rows, const void *source, void *result)
{
    const int64_t n = row->n, m = row->m;
    const T *x = source;
    T *y = result;

#define EACH_ROW for (int64_t i = 0; i < rows; i++, x += n, y += m)
    if (row->few_width == 1 && n == 1) /* a single source, of which all have the same weight */
        EACH_ROW FN(repeat)(m, 1, &(const T){MUL(*(const T *)row->few_weight, *x)}, y);
    else if (row->few_width == 1 && row->unit)
        EACH_ROW FN(few)(false, 1, row, x, y);
    else if (row->few_width == 1)
        EACH_ROW FN(few)(true, 1, row, x, y);
    else if (row->few_width == 2)
        EACH_ROW FN(few)(true, 2, row, x, y);
    else if (row->few_width == 3)
        EACH_ROW FN(few)(true, 3, row, x, y);
    else if (row->few_width == 4)
        EACH_ROW FN(few)(true, 4, row, x, y);
    else if (row->unit && row->period == 2 && 2 * row->times == m) /* nearest, twice the size */
        EACH_ROW FN(repeat)(2, n, x, y);
    else if (row->unit)
        EACH_ROW FN(row)(false, row, x, y);
    else
        EACH_ROW FN(row)(true, row, x, y);
#undef EACH_ROW
}

/* y = or += the sum of up to four rows, one after the other. */
TSR__INLINE void FN(add_rows)(bool first, int rows, const T *weight, int64_t n, const T *x, T *y)
{
    T w[4];

    for (int k = 0; k < rows && weight; k++)
        w[k] = weight[k];
    TSR__INDEPENDENT
    for (int64_t j = 0; j < n; j++) {
        T sum = weight ? MUL(w[0], x[j]) : x[j];

        if (!first)
            sum = ADD(y[j], sum);
        for (int k = 1; k < rows; k++)
            sum = ADD(sum, weight ? MUL(w[k], x[k * n + j]) : x[k * n + j]);
        y[j] = sum;
    }
}

/* weight: NULL, as a constant, where all are 1. */
TSR__INLINE void FN(mix_rows)(int64_t rows, const T *weight, int64_t n, const T *x, T *y)
{
    int64_t i = rows < 4 ? rows : 4;

    if (rows == 1)
        FN(add_rows)(true, 1, weight, n, x, y);
    else if (rows == 2)
        FN(add_rows)(true, 2, weight, n, x, y);
    else if (rows == 3)
        FN(add_rows)(true, 3, weight, n, x, y);
    else
        FN(add_rows)(true, 4, weight, n, x, y);
    for (; i + 4 <= rows; i += 4)
        FN(add_rows)(false, 4, weight ? weight + i : NULL, n, x + i * n, y);
    for (; i < rows; i++)
        FN(add_rows)(false, 1, weight ? weight + i : NULL, n, x + i * n, y);
}

SET static const void *FN(mix)(bool unit, const taps *t, const void *weight, int64_t n,
                               const void *x, void *y)
{
    const T *w = (const T *)weight + t->at, *rows = (const T *)x + t->first * n;

    if (t->count == 1 && w[0] == 1)
        return rows;
    if (t->count == 0)
        memset(y, 0, (size_t)n * sizeof(T));
    else if (unit)
        FN(mix_rows)(t->count, NULL, n, rows, y);
    else
        FN(mix_rows)(t->count, w, n, rows, y);
    return y;
}

SET static void FN(divide)(int64_t n, int64_t by, const taps *t, const void *x, void *y)
{
    for (int64_t j = 0; !t && j < n; j++)
        ((T *)y)[j] = (T)DIV(((const T *)x)[j], by);
    for (int64_t j = 0; t && j < n; j++)
        ((T *)y)[j] = (T)DIV(((const T *)x)[j], by * t[j].count);
}

static const bodies FN(entry) = {FN(set), FN(set_few), FN(along), FN(mix), FN(divide)};
