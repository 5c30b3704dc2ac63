/* SPDX-License-Identifier: Apache-2.0 */
/* resample_sum.inc.h - body of resample_sum.c for one dtype and instruction set: needs T, ADD, MUL,
   DIV, FN and SET. */

SET static void FN(set)(const tsr_resample_geometry *g, int d, const tsr_resample_taps *taps,
                        void *weight)
{
    const tsr_resample_dim *dim = &g->dim[d];

    for (int64_t r = 0; r < dim->m; r++)
        for (int64_t k = 0; k < taps[r].count; k++) {
            const int64_t s = dim->source + taps[r].first + k;
            const tsr_fraction w = resample_weight(g, d, s, dim->result + r);

            ((T *)weight)[taps[r].at + k] = (T)DIV((T)w.num, w.den);
        }
}

/* Where there are fewer neighbours the last is taken several times by parts: weight 0 would make
   NaN of infinity. */
SET static void FN(set_few)(const tsr_resample_row *row, int32_t *few, void *few_weight)
{
    for (int64_t r = 0; r < row->m; r++) {
        const tsr_resample_taps *t = &row->taps[r];
        const T *from = row->weight ? (const T *)row->weight + t->at : NULL;
        T weight = 0, *to = few_weight;

        for (int64_t k = 0; k < row->few_width; k++) {
            if (k < t->count)
                weight = from ? from[k] : 1;
            if (k + 1 >= t->count && k + 1 < row->few_width)
                weight = (T)DIV(weight, 2);
            few[k * row->m + r] = (int32_t)(t->first + (k < t->count ? k : t->count - 1));
            to[k * row->m + r] = weight;
        }
    }
}

SET static void FN(find_periodic)(tsr_resample_row *row)
{
    const tsr_resample_taps *taps = row->taps;
    const T *weight = row->weight;
    int64_t j = row->m / 2; /* if it repeats at all then here */

    if (row->m < 4 * row->period)
        return;
    row->width = taps[j].count;
    for (row->periodic_begin = row->periodic_end = j; row->periodic_end < row->m;
         row->periodic_end++) {
        const tsr_resample_taps *t = &taps[row->periodic_end], *before = t - row->period;

        if (t->count != row->width || before->count != row->width ||
            t->first != before->first + row->stride ||
            memcmp(weight + t->at, weight + before->at, (size_t)row->width * sizeof(T)))
            break;
    }
    if (row->periodic_end == j)
        return;
    for (; row->periodic_begin > 0; row->periodic_begin--) {
        const tsr_resample_taps *t = &taps[row->periodic_begin - 1], *next = t + row->period;

        if (t->count != row->width || next->first != t->first + row->stride ||
            memcmp(weight + t->at, weight + next->at, (size_t)row->width * sizeof(T)))
            break;
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

TSR__INLINE void FN(any)(bool weighted, const tsr_resample_row *row, int64_t from, int64_t to,
                         const T *x, T *y)
{
    for (int64_t j = from; j < to; j++) {
        const tsr_resample_taps *t = &row->taps[j];
        const T *weight = weighted ? (const T *)row->weight + t->at : NULL;

        if (t->count >= LONG)
            y[j - from] = FN(long_total)(weighted, t->count, weight, x + t->first);
        else
            y[j - from] = t->count ? FN(total)(weighted, t->count, weight, x + t->first) : 0;
    }
}

TSR__INLINE void FN(groups)(int every, int64_t n, const T *x, T *y)
{
    TSR__INDEPENDENT
    for (int64_t j = 0; j < n; j++) {
        T sum = ADD(x[j * every], x[j * every + 1]);

        if (every > 2)
            sum = ADD(sum, x[j * every + 2]);
        if (every > 3)
            sum = ADD(sum, x[j * every + 3]);
        y[j] = sum;
    }
}

/* Each of `width` neighbours, anywhere. */
TSR__INLINE void FN(few)(int width, int64_t m, int64_t n, const int32_t *few, const T *w,
                         const T *x, T *y)
{
    const int64_t two = width > 1 ? m : 0, three = width > 2 ? 2 * m : 0;
    const int64_t four = width > 3 ? 3 * m : 0;

    TSR__INDEPENDENT
    for (int64_t j = 0; j < n; j++) {
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

/* Two sources further on for each result. */
TSR__INLINE void FN(halving)(int width, int64_t n, const T *w, const T *x, T *y)
{
    const T w0 = w[0], w1 = w[1], w2 = w[width > 2 ? 2 : 0], w3 = w[width > 2 ? 3 : 0];

    TSR__INDEPENDENT
    for (int64_t j = 0; j < n; j++) {
        T sum = ADD(MUL(w0, x[2 * j]), MUL(w1, x[2 * j + 1]));

        if (width > 2) {
            sum = ADD(sum, MUL(w2, x[2 * j + 2]));
            sum = ADD(sum, MUL(w3, x[2 * j + 3]));
        }
        y[j] = sum;
    }
}

/* Two results for each source, those of odd number `off` sources further on. */
TSR__INLINE void FN(doubling)(int width, int64_t off, int64_t n, const T *even, const T *odd,
                              const T *x, T *y)
{
    const T a0 = even[0], a1 = even[width - 1], b0 = odd[0], b1 = odd[width - 1];
    const T *z = x + off;

    TSR__INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
        y[2 * i] = width > 1 ? ADD(MUL(a0, x[i]), MUL(a1, x[i + 1])) : MUL(a0, x[i]);
        y[2 * i + 1] = width > 1 ? ADD(MUL(b0, z[i]), MUL(b1, z[i + 1])) : MUL(b0, z[i]);
    }
}

/* As many of the results [from, to) as repeat from `from` on; returns how many were made. */
TSR__INLINE int64_t FN(periodic)(const tsr_resample_row *row, int64_t from, int64_t to, const T *x,
                                 T *y)
{
    const int64_t n = ((to < row->periodic_end ? to : row->periodic_end) - from) / row->period;
    const tsr_resample_taps *t = &row->taps[from];
    const T *weight = (const T *)row->weight + t->at, *start = x + t->first;

    if (n < 1)
        return 0;
    if (row->stride == 2 && row->width == 2)
        FN(halving)(2, n, weight, start, y);
    else if (row->stride == 2 && row->width == 4)
        FN(halving)(4, n, weight, start, y);
    else if (row->stride == 1 && row->width == 1)
        FN(doubling)(1, t[1].first - t->first, n, weight, weight + 1, start, y);
    else if (row->stride == 1 && row->width == 2)
        FN(doubling)(2, t[1].first - t->first, n, weight, weight + 2, start, y);
    else
        return 0;
    return n * row->period;
}

/* Those that nothing more is known of. */
TSR__INLINE void FN(others)(const tsr_resample_row *row, int64_t from, int64_t to, const T *x, T *y)
{
    const T *weight = row->few_width ? (const T *)row->few_weight + from : NULL;
    const int32_t *few = row->few_width ? row->few + from : NULL;
    const int64_t n = to - from;

    if (n <= 0)
        return;
    if (row->few_width == 1)
        FN(few)(1, row->m, n, few, weight, x, y);
    else if (row->few_width == 2)
        FN(few)(2, row->m, n, few, weight, x, y);
    else if (row->few_width == 3)
        FN(few)(3, row->m, n, few, weight, x, y);
    else if (row->few_width == 4)
        FN(few)(4, row->m, n, few, weight, x, y);
    else if (row->weight)
        FN(any)(true, row, from, to, x, y);
    else
        FN(any)(false, row, from, to, x, y);
}

SET static void FN(along)(const tsr_resample_row *row, int64_t from, int64_t to, const void *x,
                          void *y)
{
    const T *start = from < to ? (const T *)x + row->taps[from].first : x;
    const int64_t n = to - from;

    if (row->every == 2)
        FN(groups)(2, n, start, y);
    else if (row->every == 3)
        FN(groups)(3, n, start, y);
    else if (row->every == 4)
        FN(groups)(4, n, start, y);
    else if (row->periodic_end > row->periodic_begin && row->periodic_begin < to &&
             row->periodic_end > from) {
        const int64_t begin = row->periodic_begin > from ? row->periodic_begin : from;
        int64_t done;

        FN(others)(row, from, begin, x, y);
        done = FN(periodic)(row, begin, to, x, (T *)y + begin - from);
        FN(others)(row, begin + done, to, x, (T *)y + begin + done - from);
    } else
        FN(others)(row, from, to, x, y);
}

/* y = or += the sum of up to four rows, one after the other. */
TSR__INLINE void FN(add_rows)(bool first, int rows, bool weighted, const T *weight, int64_t step,
                              int64_t n, const T *x, T *y)
{
    const T w0 = weighted ? weight[0] : 1, w1 = weighted && rows > 1 ? weight[1] : 1;
    const T w2 = weighted && rows > 2 ? weight[2] : 1, w3 = weighted && rows > 3 ? weight[3] : 1;
    const T *x1 = x + (rows > 1 ? step : 0), *x2 = x1 + (rows > 2 ? step : 0);
    const T *x3 = x2 + (rows > 3 ? step : 0);

    TSR__INDEPENDENT
    for (int64_t j = 0; j < n; j++) {
        T sum = weighted ? MUL(w0, x[j]) : x[j];

        if (!first)
            sum = ADD(y[j], sum);
        if (rows > 1)
            sum = ADD(sum, weighted ? MUL(w1, x1[j]) : x1[j]);
        if (rows > 2)
            sum = ADD(sum, weighted ? MUL(w2, x2[j]) : x2[j]);
        if (rows > 3)
            sum = ADD(sum, weighted ? MUL(w3, x3[j]) : x3[j]);
        y[j] = sum;
    }
}

TSR__INLINE void FN(mix_rows)(int64_t rows, bool weighted, const T *weight, int64_t step, int64_t n,
                              const T *x, T *y)
{
    int64_t i = rows < 4 ? rows : 4;

    if (rows == 1)
        FN(add_rows)(true, 1, weighted, weight, step, n, x, y);
    else if (rows == 2)
        FN(add_rows)(true, 2, weighted, weight, step, n, x, y);
    else if (rows == 3)
        FN(add_rows)(true, 3, weighted, weight, step, n, x, y);
    else
        FN(add_rows)(true, 4, weighted, weight, step, n, x, y);
    for (; i + 4 <= rows; i += 4)
        FN(add_rows)(false, 4, weighted, weighted ? weight + i : NULL, step, n, x + i * step, y);
    for (; i < rows; i++)
        FN(add_rows)(false, 1, weighted, weighted ? weight + i : NULL, step, n, x + i * step, y);
}

SET static const void *FN(mix)(const tsr_resample_taps *taps, const void *weight, int64_t step,
                               int64_t n, const void *x, void *y)
{
    const T *w = weight ? (const T *)weight + taps->at : NULL;
    const T *rows = (const T *)x + taps->first * step;

    if (taps->count == 1 && (!w || w[0] == 1))
        return rows;
    if (taps->count == 0)
        memset(y, 0, (size_t)n * sizeof(T));
    else if (w)
        FN(mix_rows)(taps->count, true, w, step, n, rows, y);
    else
        FN(mix_rows)(taps->count, false, NULL, step, n, rows, y);
    return y;
}

SET static void FN(divide)(int64_t n, int64_t by, const tsr_resample_taps *taps, const void *x,
                           void *y)
{
    for (int64_t j = 0; j < n; j++)
        ((T *)y)[j] = (T)DIV(((const T *)x)[j], by * taps[j].count);
}

static const bodies FN(entry) = {FN(set),           FN(set_few), FN(along), FN(mix),
                                 FN(find_periodic), FN(divide),  FN(means), FN(spread)};
