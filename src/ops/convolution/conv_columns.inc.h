/* SPDX-License-Identifier: Apache-2.0 */
/* conv_columns.inc.h - body of conv_columns.c for one type and instruction set: needs T, SET and
   FN; undefines T and FN. x and y are of one image and group. */

/* `channels` rows of n elements, each of its channel's bias, or 0. */
SET static void FN(start)(int64_t channels, int64_t n, const void *bias, void *out)
{
    for (int64_t c = 0; c < channels; c++) {
        const T value = bias ? ((const T *)bias)[c] : 0;

        for (int64_t i = 0; i < n; i++)
            ((T *)out)[c * n + i] = value;
    }
}

/* The element of x's plane where the row of y that p is in meets the tap, at the row's position 0;
   false: the row of x is outside. */
SET static bool FN(row)(const tsr_conv_geometry *g, int64_t p, int64_t t0, int64_t t1, int64_t t2,
                        int64_t *at)
{
    const int64_t q0 = conv_tap(g, 0, p / g->y[2] / g->y[1], t0);
    const int64_t q1 = conv_tap(g, 1, p / g->y[2] % g->y[1], t1);

    *at = (q0 * g->x[1] + q1) * g->x[2] + conv_tap(g, 2, 0, t2);
    return q0 >= 0 && q0 < g->x[0] && q1 >= 0 && q1 < g->x[1];
}

/* Positions [lo, hi) of a row of y, from x with a stride and the rest 0. */
TSR__INLINE void FN(take_row)(const T *x, int64_t stride, int64_t lo, int64_t hi, int64_t n, T *to)
{
    for (int64_t j = 0; j < lo; j++)
        to[j] = 0;
    if (stride == 1 && lo < hi)
        memcpy(to + lo, x + lo, (size_t)(hi - lo) * sizeof *to);
    else
        for (int64_t j = lo; j < hi; j++)
            to[j] = x[j * stride];
    for (int64_t j = hi; j < n; j++)
        to[j] = 0;
}

/* One line of the columns: positions [from, to) of y, channel and tap fixed. `back`: the line is
   added to x instead of being read from it. */
TSR__INLINE void FN(line)(const tsr_conv_geometry *g, int64_t from, int64_t to, T *x, int64_t t0,
                          int64_t t1, int64_t t2, T *line, bool back)
{
    const int64_t stride = g->stride[2];
    int64_t lo, hi, at;

    conv_inside(g, 2, t2, &lo, &hi);
    for (int64_t p = from, n; p < to; p += n, line += n) {
        const int64_t j = p % g->y[2]; /* the run starts here in its row of y */
        const bool inside = FN(row)(g, p, t0, t1, t2, &at);
        int64_t begin = lo > j ? lo - j : 0, end = inside && hi > j ? hi - j : 0;

        n = g->y[2] - j < to - p ? g->y[2] - j : to - p;
        end = end < n ? end : n;
        begin = begin < end ? begin : end;
        at += j * stride;
        if (!back)
            FN(take_row)(x + at, stride, begin, end, n, line);
        else
            for (int64_t i = begin; i < end; i++)
                x[at + i * stride] += line[i];
    }
}

TSR__INLINE void FN(lines)(const tsr_conv_geometry *g, int64_t from, int64_t to, T *x, T *col,
                           bool back)
{
    for (int64_t c = 0; c < g->xc; c++)
        for (int64_t t0 = 0; t0 < g->k[0]; t0++)
            for (int64_t t1 = 0; t1 < g->k[1]; t1++)
                for (int64_t t2 = 0; t2 < g->k[2]; t2++) {
                    FN(line)(g, from, to, x + c * g->x_count, t0, t1, t2, col, back);
                    col += to - from;
                }
}

SET static void FN(gather)(const tsr_conv_geometry *g, int64_t from, int64_t to, const void *x,
                           void *col)
{
    FN(lines)(g, from, to, (T *)x, col, false);
}

SET static void FN(scatter)(const tsr_conv_geometry *g, int64_t from, int64_t to, const void *col,
                            void *x)
{
    FN(lines)(g, from, to, x, (T *)col, true);
}

/* A row of y and what it meets in x, n elements `stride` apart: y += w x, x += w y, or the sum of
   x y, which is returned. */
TSR__INLINE T FN(tap_row)(tsr_conv_result what, int64_t n, int64_t stride, T *x, T w, T *y)
{
    T sum[LANES] = {0};
    int64_t i = 0;

    if (what == TSR_CONV_Y) {
        for (int64_t j = 0; j < n; j++)
            y[j] += w * x[j * stride];
        return 0;
    }
    if (what == TSR_CONV_X) {
        for (int64_t j = 0; j < n; j++)
            x[j * stride] += w * y[j];
        return 0;
    }
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++)
            sum[l] += x[(i + l) * stride] * y[i + l];
    for (; i < n; i++)
        sum[0] += x[i * stride] * y[i];
    for (int l = 1; l < LANES; l++)
        sum[0] += sum[l];
    return sum[0];
}

/* One tap between one channel of x and one of y. */
TSR__INLINE void FN(tap)(const tsr_conv_geometry *g, tsr_conv_result what, T *x, T *w, T *y,
                         int64_t t0, int64_t t1, int64_t t2)
{
    const int64_t stride = g->stride[2];
    int64_t lo[TSR_CONV_DIMS], hi[TSR_CONV_DIMS];
    T sum = 0;

    conv_inside(g, 0, t0, &lo[0], &hi[0]);
    conv_inside(g, 1, t1, &lo[1], &hi[1]);
    conv_inside(g, 2, t2, &lo[2], &hi[2]);
    for (int64_t p0 = lo[0]; p0 < hi[0]; p0++)
        for (int64_t p1 = lo[1]; p1 < hi[1]; p1++) {
            const int64_t row = conv_tap(g, 0, p0, t0) * g->x[1] + conv_tap(g, 1, p1, t1);
            T *from = x + row * g->x[2] + conv_tap(g, 2, lo[2], t2);
            T *to = y + (p0 * g->y[1] + p1) * g->y[2] + lo[2];

            sum += stride == 1 ? FN(tap_row)(what, hi[2] - lo[2], 1, from, *w, to)
                               : FN(tap_row)(what, hi[2] - lo[2], stride, from, *w, to);
        }
    if (what == TSR_CONV_W)
        *w += sum;
}

TSR__INLINE void FN(all_taps)(const tsr_conv_geometry *g, tsr_conv_result what, T *x, T *w, T *y)
{
    for (int64_t o = 0; o < g->yc; o++)
        for (int64_t c = 0; c < g->xc; c++)
            for (int64_t t0 = 0; t0 < g->k[0]; t0++)
                for (int64_t t1 = 0; t1 < g->k[1]; t1++)
                    for (int64_t t2 = 0; t2 < g->k[2]; t2++)
                        FN(tap)(g, what, x + c * g->x_count, w++, y + o * g->y_count, t0, t1, t2);
}

SET static void FN(taps)(const tsr_conv_geometry *g, tsr_conv_result what, void *x, void *w,
                         void *y)
{
    if (what == TSR_CONV_Y)
        FN(all_taps)(g, TSR_CONV_Y, x, w, y);
    else if (what == TSR_CONV_X)
        FN(all_taps)(g, TSR_CONV_X, x, w, y);
    else
        FN(all_taps)(g, TSR_CONV_W, x, w, y);
}

static const bodies FN(entry) = {FN(gather), FN(scatter), FN(taps), FN(start)};
