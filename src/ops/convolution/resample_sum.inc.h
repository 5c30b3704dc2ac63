/* SPDX-License-Identifier: Apache-2.0 */
/* resample_sum.inc.h - body of resample_sum.c for one dtype and instruction set: needs T, ADD, MUL,
   DIV, FN and SET. */

SET static void FN(set)(const tsr_resample_geometry *g, int d, bool unit,
                        const tsr_resample_taps *taps, void *weight)
{
    const tsr_resample_dim *dim = &g->dim[d];

    for (int64_t r = 0; r < dim->m; r++)
        for (int64_t k = 0; k < taps[r].count; k++) {
            const int64_t s = dim->source + taps[r].first + k;
            const tsr_fraction w = resample_weight(g, d, s, dim->result + r);

            ((T *)weight)[taps[r].at + k] = unit ? 1 : (T)DIV((T)w.num, w.den);
        }
}

/* Where there are fewer neighbours the last is taken several times by parts: weight 0 would make
   NaN of infinity. */
SET static void FN(set_few)(const tsr_resample_row *row, int32_t *few, void *few_weight)
{
    for (int64_t r = 0; r < row->m; r++) {
        const tsr_resample_taps *t = &row->taps[r];
        const T *from = (const T *)row->weight + t->at;
        T weight = 0, *to = few_weight;

        for (int64_t k = 0; k < row->few_width; k++) {
            if (k < t->count)
                weight = from[k];
            if (k + 1 >= t->count && k + 1 < row->few_width)
                weight = (T)DIV(weight, 2);
            few[k * row->m + r] = (int32_t)(t->first + (k < t->count ? k : t->count - 1));
            to[k * row->m + r] = weight;
        }
    }
}

/* Does result j have as many neighbours as the one before it, and the weights of the one a period
   before it, a stride further on? */
TSR__INLINE bool FN(repeats)(const tsr_resample_row *row, int64_t j)
{
    const tsr_resample_taps *t = &row->taps[j], *before = t - row->period;
    const T *weight = row->weight;

    return t->count == t[-1].count && t->count == before->count &&
           t->first == before->first + row->stride &&
           !memcmp(weight + t->at, weight + before->at, (size_t)t->count * sizeof(T));
}

/* Those of weight 1 are all alike; of others those at the ends differ. */
SET static void FN(find_periods)(tsr_resample_row *row)
{
    int64_t j = row->unit ? row->m : row->period, end;

    while (!row->unit && j < row->m && !FN(repeats)(row, j))
        j++;
    row->begin = row->unit || j >= row->m ? 0 : j - row->period;
    for (end = j; end < row->m && FN(repeats)(row, end); end++)
        ;
    row->times = row->unit ? row->m : j < row->m ? (end - row->begin) / row->period : 0;
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
    for (int half = LANES / 2; half; half /= 2)
        for (int k = 0; k < half; k++)
            lane[k] = ADD(lane[k], lane[k + half]);
    if (even == n)
        return lane[0];
    return ADD(lane[0], FN(total)(weighted, n - even, weighted ? weight + even : NULL, x + even));
}

/* Of any number: runs are summed apart, which keeps rounding small. The order depends on n only. */
TSR__INLINE T FN(long_total)(bool weighted, int64_t n, const T *weight, const T *x)
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

TSR__INLINE void FN(any)(bool weighted, const tsr_resample_row *row, int64_t from, int64_t to,
                         const T *x, T *y)
{
    for (int64_t j = from; j < to; j++) {
        const tsr_resample_taps *t = &row->taps[j];
        const T *weight = weighted ? (const T *)row->weight + t->at : NULL;

        if (t->count >= LONG)
            y[j] = FN(long_total)(weighted, t->count, weight, x + t->first);
        else
            y[j] = t->count ? FN(total)(weighted, t->count, weight, x + t->first) : 0;
    }
}

TSR__INLINE T FN(near)(bool weighted, int width, const T *w, const T *x)
{
    T sum = weighted ? MUL(w[0], x[0]) : x[0];

    if (width > 1)
        sum = ADD(sum, weighted ? MUL(w[1], x[1]) : x[1]);
    if (width > 2)
        sum = ADD(sum, weighted ? MUL(w[2], x[2]) : x[2]);
    if (width > 3)
        sum = ADD(sum, weighted ? MUL(w[3], x[3]) : x[3]);
    return sum;
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
        y[i * period] = FN(near)(weighted, width, w, x + i * stride);
        if (period > 1)
            y[i * period + 1] = FN(near)(weighted, width, w + width, x + off + i * stride);
    }
}

/* Results that repeat; returns where those behind them begin. */
TSR__INLINE int64_t FN(repeated)(const tsr_resample_row *row, const T *x, T *y)
{
    const tsr_resample_taps *t = &row->taps[row->begin];
    const T *w = (const T *)row->weight + t->at;
    const int64_t n = row->times;

    x += t->first;
    y += row->begin;
    if (row->unit && row->stride == 1)
        FN(periods)(false, 1, 1, 1, 0, n, w, x, y);
    else if (row->unit && row->stride == 2)
        FN(periods)(false, 1, 2, 2, 0, n, w, x, y);
    else if (row->unit && row->stride == 3)
        FN(periods)(false, 1, 3, 3, 0, n, w, x, y);
    else if (row->unit && row->stride == 4)
        FN(periods)(false, 1, 4, 4, 0, n, w, x, y);
    else if (row->period == 2 && t->count == 1)
        FN(periods)(true, 2, 1, 1, t[1].first - t->first, n, w, x, y);
    else if (row->period == 2 && t->count == 2)
        FN(periods)(true, 2, 1, 2, t[1].first - t->first, n, w, x, y);
    else if (!row->unit && row->period == 1 && t->count == 2)
        FN(periods)(true, 1, 2, 2, 0, n, w, x, y);
    else if (!row->unit && row->period == 1 && t->count == 4)
        FN(periods)(true, 1, 2, 4, 0, n, w, x, y);
    else
        return row->begin;
    return row->begin + n * row->period;
}

/* Each of `width` neighbours, anywhere. */
TSR__INLINE void FN(few)(int width, int64_t m, const int32_t *few, const T *w, const T *x, T *y)
{
    const int64_t two = width > 1 ? m : 0, three = width > 2 ? 2 * m : 0;
    const int64_t four = width > 3 ? 3 * m : 0;

    TSR__INDEPENDENT
    for (int64_t j = 0; j < m; j++) {
        T sum = MUL(w[j], x[few[j]]);

        if (width > 1)
            sum = ADD(sum, MUL(w[two + j], x[few[two + j]]));
        if (width > 2)
            sum = ADD(sum, MUL(w[three + j], x[few[three + j]]));
        if (width > 3)
            sum = ADD(sum, MUL(w[four + j], x[few[four + j]]));
        y[j] = sum;
    }
}

SET static void FN(along)(const tsr_resample_row *row, int64_t rows, const void *source,
                          void *result)
{
    const T *x = source, *w = row->few_weight;
    T *y = result;

    for (int64_t i = 0; i < rows; i++, x += row->n, y += row->m)
        if (row->few_width == 1)
            FN(few)(1, row->m, row->few, w, x, y);
        else if (row->few_width == 2)
            FN(few)(2, row->m, row->few, w, x, y);
        else if (row->few_width == 3)
            FN(few)(3, row->m, row->few, w, x, y);
        else if (row->few_width == 4)
            FN(few)(4, row->m, row->few, w, x, y);
        else if (row->unit)
            FN(any)(false, row, row->times ? FN(repeated)(row, x, y) : 0, row->m, x, y);
        else {
            FN(any)(true, row, 0, row->begin, x, y);
            FN(any)(true, row, row->times ? FN(repeated)(row, x, y) : 0, row->m, x, y);
        }
}

/* y = or += the sum of up to four rows, one after the other. */
TSR__INLINE void FN(add_rows)(bool first, int rows, const T *weight, int64_t n, const T *x, T *y)
{
    const T w0 = weight ? weight[0] : 1, w1 = weight && rows > 1 ? weight[1] : 1;
    const T w2 = weight && rows > 2 ? weight[2] : 1, w3 = weight && rows > 3 ? weight[3] : 1;
    const T *x1 = x + (rows > 1 ? n : 0), *x2 = x1 + (rows > 2 ? n : 0);
    const T *x3 = x2 + (rows > 3 ? n : 0);

    TSR__INDEPENDENT
    for (int64_t j = 0; j < n; j++) {
        T sum = weight ? MUL(w0, x[j]) : x[j];

        if (!first)
            sum = ADD(y[j], sum);
        if (rows > 1)
            sum = ADD(sum, weight ? MUL(w1, x1[j]) : x1[j]);
        if (rows > 2)
            sum = ADD(sum, weight ? MUL(w2, x2[j]) : x2[j]);
        if (rows > 3)
            sum = ADD(sum, weight ? MUL(w3, x3[j]) : x3[j]);
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

SET static const void *FN(mix)(bool unit, const tsr_resample_taps *taps, const void *weight,
                               int64_t n, const void *x, void *y)
{
    const T *w = (const T *)weight + taps->at, *rows = (const T *)x + taps->first * n;

    if (taps->count == 1 && w[0] == 1)
        return rows;
    if (taps->count == 0)
        memset(y, 0, (size_t)n * sizeof(T));
    else if (unit)
        FN(mix_rows)(taps->count, NULL, n, rows, y);
    else
        FN(mix_rows)(taps->count, w, n, rows, y);
    return y;
}

SET static void FN(divide)(int64_t n, int64_t by, const tsr_resample_taps *taps, const void *x,
                           void *y)
{
    for (int64_t j = 0; !taps && j < n; j++)
        ((T *)y)[j] = (T)DIV(((const T *)x)[j], by);
    for (int64_t j = 0; taps && j < n; j++)
        ((T *)y)[j] = (T)DIV(((const T *)x)[j], by * taps[j].count);
}

SET static void FN(means)(int64_t planes, int64_t n, const void *x, void *y)
{
    const T *from = x;
    T *to = y;

    for (int64_t i = 0; i < planes; i++, from += n)
        to[i] = n < LONG ? FN(total)(false, n, NULL, from) : FN(long_total)(false, n, NULL, from);
    for (int64_t i = 0; i < planes; i++)
        to[i] = (T)DIV(to[i], n);
}

SET static void FN(spread)(int64_t planes, int64_t m, int64_t by, const void *x, void *y)
{
    T *to = y;

    for (int64_t i = 0; i < planes; i++, to += m) {
        const T value = (T)DIV(((const T *)x)[i], by);

        for (int64_t j = 0; j < m; j++)
            to[j] = value;
    }
}

static const bodies FN(entry) = {FN(set), FN(set_few), FN(find_periods), FN(along),
                                 FN(mix), FN(divide),  FN(means),        FN(spread)};
