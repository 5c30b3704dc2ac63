/* SPDX-License-Identifier: Apache-2.0 */
/* embedding_rows.inc.h - body of embedding_rows.c for one dtype and instruction set; see
   kernel_types.inc.h. Every column is added up by itself and in
   the order of the terms, so all instruction sets give the same bits. */

/* acc[0 .. width) = sum of the terms begin .. end - 1 in the columns from `column` */
TSR__INLINE void FN(add_terms)(const tsr_row_terms *t, bool weighted, int64_t begin, int64_t end,
                               int64_t column, int64_t width, ACC *acc)
{
    const T *x = (const T *)t->x + column;
    const size_t fetch = bytes_to_fetch(t, column, width, sizeof(T));

    for (int64_t k = 0; k < width; k++)
        acc[k] = 0;
    for (int64_t i = begin; i < end; i++) {
        const T *from;

        if (fetch && i + t->ahead < t->n_ahead && t->row[i + t->ahead] >= 0)
            tsr__row_prefetch(x + t->row[i + t->ahead] * t->dim, fetch);
        if (t->row[i] < 0)
            continue;
        from = x + t->row[i] * t->dim;
        if (weighted) {
            const ACC w = ((const ACC *)t->weight)[i];

            for (int64_t k = 0; k < width; k++)
                acc[k] = ADD(acc[k], MUL(w, LD(from[k])));
        } else {
            for (int64_t k = 0; k < width; k++)
                acc[k] = ADD(acc[k], LD(from[k]));
        }
    }
}

/* A few terms are added in ACC, and the sums of these in WIDE: the error does not grow with the
   number of terms. */
TSR__INLINE void FN(sum_columns)(const tsr_row_terms *t, bool weighted, int64_t divisor,
                                 int64_t column, int64_t width, T *out)
{
    const int64_t run = sizeof(WIDE) > sizeof(ACC) ? SHORT_RUN : LONG_RUN;
    ACC acc[TILE / sizeof(ACC)];
    WIDE total[TILE / sizeof(ACC)];

    FN(add_terms)(t, weighted, 0, t->n < run ? t->n : run, column, width, acc);
    if (t->n <= run && divisor <= 1) {
        for (int64_t k = 0; k < width; k++)
            out[column + k] = ST(acc[k]);
        return;
    }
    for (int64_t k = 0; k < width; k++)
        total[k] = (WIDE)acc[k];
    for (int64_t i = run; i < t->n; i += run) {
        FN(add_terms)(t, weighted, i, t->n - i < run ? t->n : i + run, column, width, acc);
        for (int64_t k = 0; k < width; k++)
            total[k] = ADD(total[k], (WIDE)acc[k]);
    }
    for (int64_t k = 0; k < width; k++)
        out[column + k] = divisor > 1 ? ST(DIV(total[k], divisor)) : ST(total[k]);
}

/* Columns by tiles of a constant width, whose accumulators can be registers. */
TSR__INLINE void FN(sum_row)(const tsr_row_terms *t, bool weighted, int64_t divisor, T *out)
{
    enum { BROAD = TILE / sizeof(ACC), NARROW = BROAD / 4 };
    int64_t column = 0;

    for (; column + BROAD <= t->dim; column += BROAD)
        FN(sum_columns)(t, weighted, divisor, column, BROAD, out);
    for (; column + NARROW <= t->dim; column += NARROW)
        FN(sum_columns)(t, weighted, divisor, column, NARROW, out);
    if (column < t->dim)
        FN(sum_columns)(t, weighted, divisor, column, t->dim - column, out);
}

SET static void FN(sum)(const tsr_row_terms *t, int64_t divisor, void *out)
{
    if (t->weight)
        FN(sum_row)(t, true, divisor, out);
    else
        FN(sum_row)(t, false, divisor, out);
}

SET static void FN(elements)(const void *data, int64_t dim, const int64_t *element, int64_t n,
                             int64_t divisor, void *out)
{
    enum { WIDTH = 4096 / sizeof(WIDE) };
    const T *x = data;
    WIDE acc[WIDTH];

    for (int64_t column = 0; column < dim; column += WIDTH) {
        const int64_t width = dim - column < WIDTH ? dim - column : WIDTH;

        memset(acc, 0, (size_t)width * sizeof *acc);
        for (int64_t i = 0; i < n; i++) {
            const uint64_t k = remainder_of(element[i], dim) - (uint64_t)column;

            if (k < (uint64_t)width)
                acc[k] = ADD(acc[k], (WIDE)LD(x[element[i]]));
        }
        for (int64_t k = 0; k < width; k++)
            ((T *)out)[column + k] = ST(divisor > 1 ? DIV(acc[k], divisor) : acc[k]);
    }
}

SET static void FN(dot)(const void *a, const void *b, int64_t n, void *out)
{
    enum { LANES = TILE / 2 / sizeof(WIDE) };
    const T *x = a, *y = b;
    WIDE lane[LANES] = {0};
    int64_t i = 0;

    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++)
            lane[k] = ADD(lane[k], MUL((WIDE)LD(x[i + k]), (WIDE)LD(y[i + k])));
    for (int k = 0; i < n; i++, k++)
        lane[k] = ADD(lane[k], MUL((WIDE)LD(x[i]), (WIDE)LD(y[i])));
    for (int half = LANES / 2; half; half /= 2)
        for (int k = 0; k < half; k++)
            lane[k] = ADD(lane[k], lane[k + half]);
    *(T *)out = ST(lane[0]);
}

SET static void FN(weigh)(int64_t n, const void *w, const int64_t *from, const int64_t *divisor,
                          const int64_t *bag, void *weight)
{
    for (int64_t i = 0; i < n; i++) {
        const ACC one = w ? LD(((const T *)w)[from[i]]) : 1;

        ((ACC *)weight)[i] = divisor && divisor[bag[i]] > 1 ? (ACC)DIV(one, divisor[bag[i]]) : one;
    }
}

#ifndef PRIME
/* Does b, which stands after a, win? */
TSR__INLINE bool FN(wins)(ACC a, ACC b, bool last)
{
    if (last)
        return __builtin_isgreaterequal(b, a) | (b != b);
    return (a == a) & !__builtin_islessequal(b, a);
}

/* Starts with the first term there is, which then meets itself and changes nothing. */
TSR__INLINE void FN(max_columns)(const tsr_row_terms *t, bool last, int64_t first, int64_t first_at,
                                 int64_t column, int64_t width, T *out, int64_t *out_at)
{
    const T *x = (const T *)t->x + column, *from = x + t->row[first] * t->dim;
    const size_t fetch = bytes_to_fetch(t, column, width, sizeof(T));
    ACC top[TILE / sizeof(ACC)];
    PLACE at[TILE / sizeof(ACC)];

    for (int64_t k = 0; k < width; k++)
        top[k] = LD(from[k]);
    for (int64_t k = 0; k < width; k++)
        at[k] = (PLACE)first;
    for (int64_t i = 0; i < t->n; i++) {
        if (fetch && i + t->ahead < t->n_ahead && t->row[i + t->ahead] >= 0)
            tsr__row_prefetch(x + t->row[i + t->ahead] * t->dim, fetch);
        if (t->row[i] < 0)
            continue;
        from = x + t->row[i] * t->dim;
        for (int64_t k = 0; k < width; k++) {
            const ACC v = LD(from[k]);
            const bool wins = FN(wins)(top[k], v, last);

            top[k] = wins ? v : top[k];
            at[k] = wins ? (PLACE)i : at[k];
        }
    }
    for (int64_t k = 0; k < width; k++)
        out[column + k] = ST(top[k]);
    for (int64_t k = 0; k < width; k++)
        out_at[column + k] = first_at + at[k];
}

TSR__INLINE void FN(max_row)(const tsr_row_terms *t, bool last, int64_t first_at, T *out,
                             int64_t *at)
{
    enum { BROAD = TILE / 2 / sizeof(ACC), NARROW = BROAD / 4 };
    int64_t column = 0, first = 0;

    while (first < t->n && t->row[first] < 0)
        first++;
    if (first == t->n) {
        memset(out, 0, (size_t)t->dim * sizeof *out);
        memset(at, -1, (size_t)t->dim * sizeof *at);
        return;
    }
    for (; column + BROAD <= t->dim; column += BROAD)
        FN(max_columns)(t, last, first, first_at, column, BROAD, out, at);
    for (; column + NARROW <= t->dim; column += NARROW)
        FN(max_columns)(t, last, first, first_at, column, NARROW, out, at);
    if (column < t->dim)
        FN(max_columns)(t, last, first, first_at, column, t->dim - column, out, at);
}

SET static void FN(max)(const tsr_row_terms *t, bool last, int64_t first_at, void *out, int64_t *at)
{
    if (last)
        FN(max_row)(t, true, first_at, out, at);
    else
        FN(max_row)(t, false, first_at, out, at);
}

SET static void FN(merge)(int64_t n, bool last, const void *data, const int64_t *from_at,
                          void *result, int64_t *at)
{
    const T *from = data;
    T *out = result;

    for (int64_t i = 0; i < n; i++) {
        const bool after = from_at[i] > at[i];
        const ACC a = LD(after ? out[i] : from[i]), b = LD(after ? from[i] : out[i]);
        const bool wins = FN(wins)(a, b, last) == after; /* the one from there */

        if (from_at[i] >= 0 && (at[i] < 0 || wins)) {
            out[i] = from[i];
            at[i] = from_at[i];
        }
    }
}
#endif

static const tsr_row_parts FN(entry) = {
    .sum = FN(sum),
#ifndef PRIME
    .max = FN(max),
    .merge = FN(merge),
#endif
    .elements = FN(elements),
    .dot = FN(dot),
    .weigh = FN(weigh),
};
