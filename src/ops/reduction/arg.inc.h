/* SPDX-License-Identifier: Apache-2.0 */
/* arg.inc.h - body of arg.c for one dtype and instruction set; see kernel_types.inc.h. `min` is a
   constant wherever a loop depends on it. */

/* Is b strictly better than a, so that it takes its place? A NaN is better than any number. */
TSR__INLINE int FN(better)(bool min, ACC a, ACC b)
{
    const int less = min ? LESS(b, a) : LESS(a, b);

    return less | (UNORDERED(b) & !UNORDERED(a));
}

/* The best of a run. */
TSR__INLINE ACC FN(best)(bool min, const T *x, int64_t n)
{
    enum { LANES = sizeof(ACC) == 1 ? 128 : 32 }; /* as in reduce_dims.inc.h */
    const ACC first = LD(x[0]);
    ACC lane[LANES];
    int64_t i = 0;

    for (int k = 0; k < LANES; k++)
        lane[k] = first;
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++) {
            const ACC v = LD(x[i + k]);
            const ACC top = (min ? LESS(v, lane[k]) : LESS(lane[k], v)) ? v : lane[k];

            lane[k] = UNORDERED(v) ? v : top; /* joined conditions of f64 are not vectorised */
        }
    for (; i < n; i++)
        lane[0] = FN(better)(min, lane[0], LD(x[i])) ? LD(x[i]) : lane[0];
    for (int k = 1; k < LANES; k++)
        lane[0] = FN(better)(min, lane[0], lane[k]) ? lane[k] : lane[0];
    return lane[0];
}

/* Where `top` is, from `from` on; it is there. */
TSR__INLINE int64_t FN(first)(const T *x, int64_t n, int64_t from, ACC top)
{
    enum { TOGETHER = 64 };
    const int nan = UNORDERED(top);

    for (int found = 0; from + TOGETHER <= n; from += TOGETHER) {
        for (int k = 0; k < TOGETHER; k++) {
            const ACC v = LD(x[from + k]);

            found |= (v == top) | (nan & UNORDERED(v));
        }
        if (found)
            break;
    }
    while (LD(x[from]) != top && !(nan & UNORDERED(LD(x[from]))))
        from++;
    return from;
}

/* The first run that has the best one is searched for it. */
TSR__INLINE int64_t FN(row_of)(bool min, const T *x, int64_t n, ACC *value)
{
    ACC top = FN(best)(min, x, n < RUN ? n : RUN);
    int64_t from = 0;

    for (int64_t i = RUN; i < n; i += RUN) {
        const ACC v = FN(best)(min, x + i, n - i < RUN ? n - i : RUN);

        if (FN(better)(min, top, v)) {
            top = v;
            from = i;
        }
    }
    *value = top;
    return FN(first)(x, n, from, top);
}

/* Of n elements side by side, n > 0; the best one as an f64 or i64 in *word. */
SET static int64_t FN(row)(bool min, const void *x, int64_t n, void *word)
{
    ACC value;
    const int64_t at = min ? FN(row_of)(true, x, n, &value) : FN(row_of)(false, x, n, &value);

    *(WORD *)word = (WORD)value;
    return at;
}

TSR__INLINE void FN(columns_of)(bool min, const T *x, int64_t n_out, int64_t step, int64_t n,
                                ACC *top, PLACE *place)
{
    for (int64_t k = 0; k < n_out; k++) {
        top[k] = LD(x[k]);
        place[k] = 0;
    }
    for (int64_t i = 1; i < n; i++) {
        const T *row = x + i * step;

        TSR__INDEPENDENT
        for (int64_t k = 0; k < n_out; k++) {
            const ACC v = LD(row[k]);
            const int better = FN(better)(min, top[k], v);

            top[k] = better ? v : top[k];
            place[k] = better ? (PLACE)i : place[k];
        }
    }
}

/* Of n rows of n_out <= WIDTH elements, 0 < n <= ROWS; row `from` is the first of them, and if it
   is not 0, words and places have those of the rows before. */
SET static void FN(columns)(bool min, const void *x, int64_t n_out, int64_t step, int64_t n,
                            int64_t from, void *words, int64_t *at)
{
    ACC top[WIDTH];
    PLACE place[WIDTH];
    WORD *word = words;

    if (min)
        FN(columns_of)(true, x, n_out, step, n, top, place);
    else
        FN(columns_of)(false, x, n_out, step, n, top, place);
    for (int64_t k = 0; k < n_out; k++)
        if (from == 0 || FN(better)(min, (ACC)word[k], top[k])) {
            word[k] = (WORD)top[k];
            at[k] = from + place[k];
        }
}

static const parts FN(entry) = {FN(row), FN(columns)};
