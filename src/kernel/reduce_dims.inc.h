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

/* Row by row, without vectors; sums in the same order as with them. */
TSR__INLINE void FN(single_rows)(bool max, const T *x, int64_t n_out, int64_t step, int64_t n,
                                 void *acc)
{
    for (int64_t i = 0; i < n_out; i++, x += step) {
        WIDE lane[8] = {0};
        ACC top = max ? ((ACC *)acc)[i] : 0;

        for (int64_t k = 0; k < n; k++) {
            if (max)
                top = FN(larger)(top, LD(x[k]));
            else
                lane[k % 8] = ADD(lane[k % 8], (WIDE)LD(x[k]));
        }
        for (int k = 0; k < 4; k++)
            lane[k] = ADD(lane[k], lane[k + 4]);
        if (max)
            ((ACC *)acc)[i] = top;
        else
            ((WIDE *)acc)[i] =
                ADD(((WIDE *)acc)[i], ADD(ADD(lane[0], lane[2]), ADD(lane[1], lane[3])));
    }
}

/* Four sums of the n elements of each row; reads up to 7 elements behind them. */
TSR__INLINE void FN(sum_fours)(const T *x, int64_t n_out, int64_t step, int64_t n, WIDE *four)
{
    const int64_t whole = n & ~INT64_C(7), rest = n - whole;

    for (int64_t i = 0; i < n_out; i++, x += step) {
        WIDE lane[8] = {0};

        for (int64_t j = 0; j < whole; j += 8)
            for (int k = 0; k < 8; k++)
                lane[k] = ADD(lane[k], (WIDE)LD(x[j + k]));
        for (int k = 0; rest && k < 8; k++) {
            const WIDE v = (WIDE)LD(x[whole + k]);

            lane[k] = ADD(lane[k], k < rest ? v : 0);
        }
        for (int k = 0; k < 4; k++)
            four[4 * i + k] = ADD(lane[k], lane[k + 4]);
    }
}

/* Eight numbers as a vector: of choices between so few compilers make branches. */
typedef ACC FN(eight)
    __attribute__((vector_size(8 * sizeof(ACC)), aligned(sizeof(ACC)), may_alias));

TSR__INLINE void FN(load_eight)(const T *x, FN(eight) * out)
{
    ACC lane[8];

    if (sizeof(T) == sizeof(ACC)) { /* not f16 or bf16 */
        *out = *(const FN(eight) *)x;
        return;
    }
    for (int k = 0; k < 8; k++)
        lane[k] = LD(x[k]);
    *out = *(const FN(eight) *)lane;
}

/* a = the larger ones of a and b, lane by lane; as larger() */
TSR__INLINE void FN(larger_eight)(FN(eight) * a, const FN(eight) * b)
{
    CHOOSE(*a, (*a < *b) | (*b != *b), *b, *a);
}

/* From two vectors the larger ones of neighbours. */
TSR__INLINE void FN(larger_pairs)(const FN(eight) * a, const FN(eight) * b, FN(eight) * out)
{
    const FN(eight) odd = __builtin_shufflevector(*a, *b, 1, 3, 5, 7, 9, 11, 13, 15);

    *out = __builtin_shufflevector(*a, *b, 0, 2, 4, 6, 8, 10, 12, 14);
    FN(larger_eight)(out, &odd);
}

/* Maxima of eight rows of n; reads up to 7 elements behind each. */
TSR__INLINE void FN(max_eight_rows)(const T *x, int64_t step, int64_t n, FN(eight) * out)
{
    const ACC low = LOWEST;
    const FN(eight) lowest = {low, low, low, low, low, low, low, low};
    const int64_t whole = n & ~INT64_C(7), rest = n - whole;
    ACC keep[8]; /* of the last vector of a row */
    FN(eight) row[8], v;

    for (int k = 0; k < 8; k++)
        keep[k] = k < rest;
    for (int i = 0; i < 8; i++, x += step) {
        row[i] = lowest;
        for (int64_t j = 0; j < whole; j += 8) {
            FN(load_eight)(x + j, &v);
            FN(larger_eight)(&row[i], &v);
        }
        if (rest) {
            FN(load_eight)(x + whole, &v);
            CHOOSE(v, *(const FN(eight) *)keep != 0, v, lowest);
            FN(larger_eight)(&row[i], &v);
        }
    }
    for (int half = 4; half; half /= 2)
        for (int i = 0; i < half; i++)
            FN(larger_pairs)(&row[2 * i], &row[2 * i + 1], &row[i]);
    *out = row[0];
}

/* Several short rows at once; the last ones alone, behind which there may be nothing. */
TSR__INLINE void FN(short_rows)(bool max, const T *x, int64_t n_out, int64_t step, int64_t n,
                                void *acc)
{
    enum { ROWS = 64 };
    const int64_t together = n_out - 8 / step - 1;
    WIDE *sum = acc, four[4 * ROWS];
    ACC *top = acc;
    int64_t i = 0;

    if (max)
        for (; i + 8 <= together; i += 8) {
            FN(eight) now, v;

            FN(max_eight_rows)(x + i * step, step, n, &v);
            now = *(const FN(eight) *)(top + i);
            FN(larger_eight)(&now, &v);
            *(FN(eight) *)(top + i) = now;
        }
    for (; !max && i + ROWS <= together; i += ROWS) {
        FN(sum_fours)(x + i * step, ROWS, step, n, four);
        for (int k = 0; k < ROWS; k++)
            sum[i + k] = ADD(sum[i + k], ADD(ADD(four[4 * k], four[4 * k + 2]),
                                             ADD(four[4 * k + 1], four[4 * k + 3])));
    }
    FN(single_rows)
    (max, x + i * step, n_out - i, step, n, max ? (void *)(top + i) : (void *)(sum + i));
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

/* Eight rows at once, each a stream from memory: accumulators come from afar more seldom. */
SET static __attribute__((noinline)) void FN(sum_eight)(const T *x, int64_t step, int64_t n_out,
                                                        WIDE *acc)
{
    const T *x1 = x + step, *x2 = x1 + step, *x3 = x2 + step, *x4 = x3 + step, *x5 = x4 + step,
            *x6 = x5 + step, *x7 = x6 + step;

    TSR__INDEPENDENT
    for (int64_t k = 0; k < n_out; k++) {
        WIDE a = ADD((WIDE)LD(x[k]), (WIDE)LD(x1[k])), b = ADD((WIDE)LD(x2[k]), (WIDE)LD(x3[k]));
        WIDE c = ADD((WIDE)LD(x4[k]), (WIDE)LD(x5[k])), d = ADD((WIDE)LD(x6[k]), (WIDE)LD(x7[k]));

        acc[k] = ADD(acc[k], ADD(ADD(a, b), ADD(c, d)));
    }
}

SET static __attribute__((noinline)) void FN(max_eight)(const T *x, int64_t step, int64_t n_out,
                                                        ACC *acc)
{
    int64_t k = 0;

    for (; k + 8 <= n_out; k += 8) {
        FN(eight) top, v;

        top = *(const FN(eight) *)(acc + k);
        for (int i = 0; i < 8; i++) {
            FN(load_eight)(x + i * step + k, &v);
            FN(larger_eight)(&top, &v);
        }
        *(FN(eight) *)(acc + k) = top;
    }
    for (int i = 0; i < 8; i++)
        FN(max_row)(x + i * step + k, n_out - k, acc + k);
}

/* acc[i] op= x[(0 .. n) * step + i] */
SET static void FN(columns)(bool max, const void *data, int64_t n_out, int64_t step, int64_t n,
                            void *acc)
{
    const bool wide = step != n_out || n_out * (int64_t)sizeof(T) >= EIGHT;
    const T *x = data;
    WIDE *total = acc, part[WIDTH], *to = total;

    for (int64_t i = 0, m; i < n; i += m, x += m * step) {
        m = wide && n - i >= 8 ? 8 : 1;
        if (n > HEIGHT && !max && i % HEIGHT == 0) {
            memset(part, 0, (size_t)n_out * sizeof *part);
            to = part;
        }
        if (max && m == 8)
            FN(max_eight)(x, step, n_out, acc);
        else if (max)
            FN(max_row)(x, n_out, acc);
        else if (m == 8)
            FN(sum_eight)(x, step, n_out, to);
        else
            FN(sum_row)(x, n_out, to);
        if (to == part && ((i + m) % HEIGHT == 0 || i + m == n))
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

SET static void FN(scale)(int64_t times, int64_t divisor, int64_t n, void *acc)
{
    for (int64_t i = 0; i < n; i++)
        ((WIDE *)acc)[i] = DIV(MUL(((WIDE *)acc)[i], (WIDE)times), divisor);
}

SET static void FN(store)(bool max, int64_t n, const void *acc, void *out)
{
    for (int64_t i = 0; i < n; i++)
        ((T *)out)[i] = max ? ST(((const ACC *)acc)[i]) : ST(((const WIDE *)acc)[i]);
}
