/* SPDX-License-Identifier: Apache-2.0 */
/* reduce_dims.inc.h - body of reduce_dims.c for one dtype and instruction set; see
   kernel_types.inc.h. Sums and products have few terms per accumulator: by lanes, by blocks, then
   over blocks, in an order that depends on the sizes only. `how` is a constant wherever a loop
   depends on it. */

/* Plain integers have one loop for rows and one for columns. */
#ifdef PLAIN
#define SLIM true
#else
#define SLIM false
#endif
#define IS_FLOAT _Generic((ACC)0, float: 1, double: 1, default: 0)

/* The element that counts; absolute values are of floats. */
TSR__INLINE ACC FN(value)(tsr_fold how, T x)
{
    const ACC v = LD(x);

    if (how != TSR_FOLD_MAX_ABS && how != TSR_FOLD_SUM_ABS)
        return v;
    return _Generic(v,
        float: __builtin_fabsf((float)v),
        double: __builtin_fabs((double)v),
        default: v);
}

/* What is added or multiplied of it. */
TSR__INLINE WIDE FN(term)(tsr_fold how, T x)
{
    const WIDE v = (WIDE)FN(value)(how, x);

    return how == TSR_FOLD_SQUARES ? (WIDE)MUL(v, v) : v;
}

TSR__INLINE WIDE FN(joined)(tsr_fold how, WIDE a, WIDE b)
{
    return how == TSR_FOLD_PROD ? (WIDE)MUL(a, b) : (WIDE)ADD(a, b);
}

/* A NaN wins. Two choices: joined conditions of f64 are not vectorised. */
TSR__INLINE ACC FN(chosen)(tsr_fold how, ACC a, ACC b)
{
    const ACC best = (how == TSR_FOLD_MIN ? LESS(b, a) : LESS(a, b)) ? b : a;

    return UNORDERED(b) ? b : best;
}

/* What changes nothing. */
TSR__INLINE ACC FN(worst)(tsr_fold how)
{
    return how == TSR_FOLD_MIN ? HIGHEST : LOWEST;
}

TSR__INLINE WIDE FN(join_run)(tsr_fold how, const T *x, int64_t n)
{
    enum { LANES = 128 / sizeof(WIDE) };
    WIDE lane[LANES];
    int64_t i = 0;

    for (int k = 0; k < LANES; k++)
        lane[k] = how == TSR_FOLD_PROD;
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++)
            lane[k] = FN(joined)(how, lane[k], FN(term)(how, x[i + k]));
    for (int k = 0; i < n; i++, k++)
        lane[k] = FN(joined)(how, lane[k], FN(term)(how, x[i]));
    for (int half = LANES / 2; half; half /= 2)
        for (int k = 0; k < half; k++)
            lane[k] = FN(joined)(how, lane[k], lane[k + half]);
    return lane[0];
}

TSR__INLINE ACC FN(choose_run)(tsr_fold how, const T *x, int64_t n)
{
    /* not fewer: loops of 16 steps are undone before they could become vectors */
    enum { LANES = sizeof(ACC) == 1 ? 128 : 32 };
    ACC lane[LANES];
    int64_t i = 0;

    for (int k = 0; k < LANES; k++)
        lane[k] = FN(worst)(how);
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++)
            lane[k] = FN(chosen)(how, lane[k], FN(value)(how, x[i + k]));
    for (int k = 0; i < n; i++, k++)
        lane[k] = FN(chosen)(how, lane[k], FN(value)(how, x[i]));
    for (int half = LANES / 2; half; half /= 2)
        for (int k = 0; k < half; k++)
            lane[k] = FN(chosen)(how, lane[k], lane[k + half]);
    return lane[0];
}

/* Row by row, without vectors; sums in the same order as with them. */
TSR__INLINE void FN(single_rows)(tsr_fold how, const T *x, int64_t n_out, int64_t step, int64_t n,
                                 void *acc)
{
    const bool ordered = is_ordered(how);

    for (int64_t i = 0; i < n_out; i++, x += step) {
        ACC top = ordered ? ((ACC *)acc)[i] : 0;
        WIDE lane[8];

        for (int k = 0; k < 8; k++)
            lane[k] = how == TSR_FOLD_PROD;
        for (int64_t k = 0; k < n; k++) {
            if (ordered)
                top = FN(chosen)(how, top, FN(value)(how, x[k]));
            else
                lane[k % 8] = FN(joined)(how, lane[k % 8], FN(term)(how, x[k]));
        }
        for (int k = 0; k < 4; k++)
            lane[k] = FN(joined)(how, lane[k], lane[k + 4]);
        if (ordered)
            ((ACC *)acc)[i] = top;
        else
            ((WIDE *)acc)[i] = FN(joined)(how, ((WIDE *)acc)[i],
                                          FN(joined)(how, FN(joined)(how, lane[0], lane[2]),
                                                     FN(joined)(how, lane[1], lane[3])));
    }
}

/* Four results of the n elements of each row; reads up to 7 elements behind them. */
TSR__INLINE void FN(join_fours)(tsr_fold how, const T *x, int64_t n_out, int64_t step, int64_t n,
                                WIDE *four)
{
    const int64_t whole = n & ~INT64_C(7), rest = n - whole;
    const WIDE nothing = how == TSR_FOLD_PROD;

    for (int64_t i = 0; i < n_out; i++, x += step) {
        WIDE lane[8];

        for (int k = 0; k < 8; k++)
            lane[k] = nothing;
        for (int64_t j = 0; j < whole; j += 8)
            for (int k = 0; k < 8; k++)
                lane[k] = FN(joined)(how, lane[k], FN(term)(how, x[j + k]));
        for (int k = 0; rest && k < 8; k++) {
            const WIDE v = FN(term)(how, x[whole + k]);

            lane[k] = FN(joined)(how, lane[k], k < rest ? v : nothing);
        }
        for (int k = 0; k < 4; k++)
            four[4 * i + k] = FN(joined)(how, lane[k], lane[k + 4]);
    }
}

/* Eight numbers as a vector: of choices between so few compilers make branches. */
typedef ACC FN(eight)
    __attribute__((vector_size(8 * sizeof(ACC)), aligned(sizeof(ACC)), may_alias));

TSR__INLINE void FN(load_eight)(tsr_fold how, const T *x, FN(eight) * out)
{
    ACC lane[8];

    if (sizeof(T) == sizeof(ACC) && how != TSR_FOLD_MAX_ABS) { /* not f16 or bf16 */
        *out = *(const FN(eight) *)x;
        return;
    }
    for (int k = 0; k < 8; k++)
        lane[k] = FN(value)(how, x[k]);
    *out = *(const FN(eight) *)lane;
}

/* a = the chosen ones of a and b, lane by lane; as chosen() */
TSR__INLINE void FN(choose_eight)(tsr_fold how, FN(eight) * a, const FN(eight) * b)
{
    if (how == TSR_FOLD_MIN)
        CHOOSE(*a, (*b < *a) | (*b != *b), *b, *a);
    else
        CHOOSE(*a, (*a < *b) | (*b != *b), *b, *a);
}

/* From two vectors the chosen ones of neighbours. */
TSR__INLINE void FN(choose_pairs)(tsr_fold how, const FN(eight) * a, const FN(eight) * b,
                                  FN(eight) * out)
{
    const FN(eight) odd = __builtin_shufflevector(*a, *b, 1, 3, 5, 7, 9, 11, 13, 15);

    *out = __builtin_shufflevector(*a, *b, 0, 2, 4, 6, 8, 10, 12, 14);
    FN(choose_eight)(how, out, &odd);
}

/* The chosen ones of eight rows of n; reads up to 7 elements behind each. */
TSR__INLINE void FN(choose_eight_rows)(tsr_fold how, const T *x, int64_t step, int64_t n,
                                       FN(eight) * out)
{
    const ACC w = FN(worst)(how);
    const FN(eight) worst = {w, w, w, w, w, w, w, w};
    const int64_t whole = n & ~INT64_C(7), rest = n - whole;
    ACC keep[8]; /* of the last vector of a row */
    FN(eight) row[8], v;

    for (int k = 0; k < 8; k++)
        keep[k] = k < rest;
    for (int i = 0; i < 8; i++, x += step) {
        row[i] = worst;
        for (int64_t j = 0; j < whole; j += 8) {
            FN(load_eight)(how, x + j, &v);
            FN(choose_eight)(how, &row[i], &v);
        }
        if (rest) {
            FN(load_eight)(how, x + whole, &v);
            CHOOSE(v, *(const FN(eight) *)keep != 0, v, worst);
            FN(choose_eight)(how, &row[i], &v);
        }
    }
    for (int half = 4; half; half /= 2)
        for (int i = 0; i < half; i++)
            FN(choose_pairs)(how, &row[2 * i], &row[2 * i + 1], &row[i]);
    *out = row[0];
}

/* Several short rows at once; the last ones alone, behind which there may be nothing. */
TSR__INLINE void FN(short_rows)(tsr_fold how, const T *x, int64_t n_out, int64_t step, int64_t n,
                                void *acc)
{
    enum { ROWS = 64 };
    const int64_t together = n_out - 8 / step - 1;
    const bool ordered = is_ordered(how);
    WIDE *sum = acc, four[4 * ROWS];
    ACC *top = acc;
    int64_t i = 0;

    if (ordered)
        for (; i + 8 <= together; i += 8) {
            FN(eight) now, v;

            FN(choose_eight_rows)(how, x + i * step, step, n, &v);
            now = *(const FN(eight) *)(top + i);
            FN(choose_eight)(how, &now, &v);
            *(FN(eight) *)(top + i) = now;
        }
    for (; !ordered && i + ROWS <= together; i += ROWS) {
        FN(join_fours)(how, x + i * step, ROWS, step, n, four);
        for (int k = 0; k < ROWS; k++)
            sum[i + k] = FN(joined)(how, sum[i + k],
                                    FN(joined)(how, FN(joined)(how, four[4 * k], four[4 * k + 2]),
                                               FN(joined)(how, four[4 * k + 1], four[4 * k + 3])));
    }
    FN(single_rows)
    (how, x + i * step, n_out - i, step, n, ordered ? (void *)(top + i) : (void *)(sum + i));
}

TSR__INLINE void FN(rows_of)(tsr_fold how, const T *x, int64_t n_out, int64_t step, int64_t n,
                             void *acc)
{
    if (SLIM || n < SHORT) {
        (SLIM ? FN(single_rows) : FN(short_rows))(how, x, n_out, step, n, acc);
        return;
    }
    for (int64_t i = 0; i < n_out; i++, x += step)
        for (int64_t j = 0; j < n; j += RUN) {
            int64_t m = n - j < RUN ? n - j : RUN;

            if (is_ordered(how))
                ((ACC *)acc)[i] = FN(chosen)(how, ((ACC *)acc)[i], FN(choose_run)(how, x + j, m));
            else
                ((WIDE *)acc)[i] = FN(joined)(how, ((WIDE *)acc)[i], FN(join_run)(how, x + j, m));
        }
}

/* acc[i] op= x[i * step + (0 .. n)] */
SET static void FN(rows)(tsr_fold how, const void *x, int64_t n_out, int64_t step, int64_t n,
                         void *acc)
{
    switch (how) {
    case TSR_FOLD_SUM: FN(rows_of)(TSR_FOLD_SUM, x, n_out, step, n, acc); break;
    case TSR_FOLD_PROD: FN(rows_of)(TSR_FOLD_PROD, x, n_out, step, n, acc); break;
    case TSR_FOLD_MAX: FN(rows_of)(TSR_FOLD_MAX, x, n_out, step, n, acc); break;
    case TSR_FOLD_MIN: FN(rows_of)(TSR_FOLD_MIN, x, n_out, step, n, acc); break;
    case TSR_FOLD_SUM_ABS:
        if (IS_FLOAT)
            FN(rows_of)(TSR_FOLD_SUM_ABS, x, n_out, step, n, acc);
        break;
    case TSR_FOLD_MAX_ABS:
        if (IS_FLOAT)
            FN(rows_of)(TSR_FOLD_MAX_ABS, x, n_out, step, n, acc);
        break;
    case TSR_FOLD_SQUARES:
        if (IS_FLOAT)
            FN(rows_of)(TSR_FOLD_SQUARES, x, n_out, step, n, acc);
        break;
    }
}

TSR__INLINE void FN(row_of)(tsr_fold how, const T *x, int64_t n_out, void *acc)
{
    WIDE *sum = acc;
    ACC *top = acc;

    if (is_ordered(how)) {
        TSR__INDEPENDENT
        for (int64_t k = 0; k < n_out; k++)
            top[k] = FN(chosen)(how, top[k], FN(value)(how, x[k]));
    } else {
        TSR__INDEPENDENT
        for (int64_t k = 0; k < n_out; k++)
            sum[k] = FN(joined)(how, sum[k], FN(term)(how, x[k]));
    }
}

/* Row after row, by calls: compilers would join rows, and several streams from memory are slow. */
SET static __attribute__((noinline)) void FN(row)(tsr_fold how, const T *x, int64_t n_out,
                                                  void *acc)
{
    switch (how) {
    case TSR_FOLD_SUM: FN(row_of)(TSR_FOLD_SUM, x, n_out, acc); break;
    case TSR_FOLD_PROD: FN(row_of)(TSR_FOLD_PROD, x, n_out, acc); break;
    case TSR_FOLD_MAX: FN(row_of)(TSR_FOLD_MAX, x, n_out, acc); break;
    case TSR_FOLD_MIN: FN(row_of)(TSR_FOLD_MIN, x, n_out, acc); break;
    case TSR_FOLD_SUM_ABS: FN(row_of)(TSR_FOLD_SUM_ABS, x, n_out, acc); break;
    case TSR_FOLD_MAX_ABS: FN(row_of)(TSR_FOLD_MAX_ABS, x, n_out, acc); break;
    case TSR_FOLD_SQUARES: FN(row_of)(TSR_FOLD_SQUARES, x, n_out, acc); break;
    }
}

TSR__INLINE void FN(join_eight)(tsr_fold how, const T *x, int64_t step, int64_t n_out, WIDE *acc)
{
    const T *x1 = x + step, *x2 = x1 + step, *x3 = x2 + step, *x4 = x3 + step, *x5 = x4 + step,
            *x6 = x5 + step, *x7 = x6 + step;

    TSR__INDEPENDENT
    for (int64_t k = 0; k < n_out; k++) {
        WIDE a = FN(joined)(how, FN(term)(how, x[k]), FN(term)(how, x1[k]));
        WIDE b = FN(joined)(how, FN(term)(how, x2[k]), FN(term)(how, x3[k]));
        WIDE c = FN(joined)(how, FN(term)(how, x4[k]), FN(term)(how, x5[k]));
        WIDE d = FN(joined)(how, FN(term)(how, x6[k]), FN(term)(how, x7[k]));

        acc[k] =
            FN(joined)(how, acc[k], FN(joined)(how, FN(joined)(how, a, b), FN(joined)(how, c, d)));
    }
}

/* As many numbers as fill a register. */
typedef ACC FN(full) __attribute__((vector_size(32), aligned(sizeof(ACC)), may_alias));

TSR__INLINE void FN(choose_full)(tsr_fold how, const T *x, FN(full) * top)
{
    enum { LANES = 32 / sizeof(ACC) };
    const bool as_is = sizeof(T) == sizeof(ACC) && how != TSR_FOLD_MAX_ABS;
    ACC lane[LANES];
    FN(full) v;

    for (int k = 0; k < LANES && !as_is; k++)
        lane[k] = FN(value)(how, x[k]);
    v = as_is ? *(const FN(full) *)x : *(const FN(full) *)lane;
    if (how == TSR_FOLD_MIN)
        CHOOSE(*top, (v < *top) | (v != v), v, *top);
    else
        CHOOSE(*top, (*top < v) | (v != v), v, *top);
}

TSR__INLINE void FN(choose_eight_of)(tsr_fold how, const T *x, int64_t step, int64_t n_out,
                                     ACC *acc)
{
    enum { LANES = 32 / sizeof(ACC) };
    int64_t k = 0;

    for (; k + LANES <= n_out; k += LANES) {
        FN(full) top = *(const FN(full) *)(acc + k);

        for (int i = 0; i < 8; i++)
            FN(choose_full)(how, x + i * step + k, &top);
        *(FN(full) *)(acc + k) = top;
    }
    for (int i = 0; i < 8; i++)
        FN(row)(how, x + i * step + k, n_out - k, acc + k);
}

/* Eight rows at once, each a stream from memory: accumulators come from afar more seldom. */
SET static __attribute__((noinline)) void FN(eight_rows)(tsr_fold how, const T *x, int64_t step,
                                                         int64_t n_out, void *acc)
{
    switch (how) {
    case TSR_FOLD_SUM: FN(join_eight)(TSR_FOLD_SUM, x, step, n_out, acc); break;
    case TSR_FOLD_PROD: FN(join_eight)(TSR_FOLD_PROD, x, step, n_out, acc); break;
    case TSR_FOLD_MAX: FN(choose_eight_of)(TSR_FOLD_MAX, x, step, n_out, acc); break;
    case TSR_FOLD_MIN: FN(choose_eight_of)(TSR_FOLD_MIN, x, step, n_out, acc); break;
    case TSR_FOLD_SUM_ABS: FN(join_eight)(TSR_FOLD_SUM_ABS, x, step, n_out, acc); break;
    case TSR_FOLD_MAX_ABS: FN(choose_eight_of)(TSR_FOLD_MAX_ABS, x, step, n_out, acc); break;
    case TSR_FOLD_SQUARES: FN(join_eight)(TSR_FOLD_SQUARES, x, step, n_out, acc); break;
    }
}

SET static void FN(start)(tsr_fold how, int64_t n, void *acc)
{
    const ACC worst = FN(worst)(how);

    for (int64_t i = 0; i < n; i++) {
        if (is_ordered(how))
            ((ACC *)acc)[i] = worst;
        else
            ((WIDE *)acc)[i] = how == TSR_FOLD_PROD;
    }
}

/* acc[i] op= acc[i + n], acc[i + 2n], ..: `times` of them in all */
SET static void FN(merge)(tsr_fold how, int64_t n, int64_t times, void *acc)
{
    for (int64_t t = 1; t < times; t++)
        for (int64_t i = 0; i < n; i++) {
            if (is_ordered(how))
                ((ACC *)acc)[i] = FN(chosen)(how, ((ACC *)acc)[i], ((ACC *)acc)[t * n + i]);
            else
                ((WIDE *)acc)[i] = FN(joined)(how, ((WIDE *)acc)[i], ((WIDE *)acc)[t * n + i]);
        }
}

/* acc[i] op= x[(0 .. n) * step + i] */
SET static void FN(columns)(tsr_fold how, const void *data, int64_t n_out, int64_t step, int64_t n,
                            void *acc)
{
    const bool wide = !SLIM && (step != n_out || n_out * (int64_t)sizeof(T) >= EIGHT);
    const bool blocks = n > HEIGHT && !is_ordered(how);
    const T *x = data;
    WIDE *total = acc, part[WIDTH];
    void *to = blocks ? part : acc;

    for (int64_t i = 0, m; i < n; i += m, x += m * step) {
        m = wide && n - i >= 8 ? 8 : 1;
        if (blocks && i % HEIGHT == 0)
            FN(start)(how, n_out, part);
        if (m == 8)
            FN(eight_rows)(how, x, step, n_out, to);
        else
            FN(row)(how, x, n_out, to);
        if (blocks && ((i + m) % HEIGHT == 0 || i + m == n))
            for (int64_t k = 0; k < n_out; k++)
                total[k] = FN(joined)(how, total[k], part[k]);
    }
}

SET static void FN(scale)(int64_t times, int64_t divisor, int64_t n, void *acc)
{
    for (int64_t i = 0; i < n; i++)
        ((WIDE *)acc)[i] = DIV(MUL(((WIDE *)acc)[i], (WIDE)times), divisor);
}

SET static void FN(store)(tsr_fold how, int64_t n, const void *acc, void *out)
{
    for (int64_t i = 0; i < n; i++)
        ((T *)out)[i] = is_ordered(how) ? ST(((const ACC *)acc)[i]) : ST(((const WIDE *)acc)[i]);
}

static const parts FN(entry) = {FN(rows), FN(columns), FN(merge), FN(start), FN(scale), FN(store)};

#undef IS_FLOAT
#undef SLIM
