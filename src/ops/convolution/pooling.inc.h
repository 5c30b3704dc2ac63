/* SPDX-License-Identifier: Apache-2.0 */
/* pooling.inc.h - body of pooling.c for one dtype and instruction set: needs T, ACC, LD, ST, ADD,
   DIV, LESS, UNORDERED, LOWEST, FN and SET. */

/* Inputs x, `stride` apart, against the best so far; `tap` is how far their tap reaches. */
TSR__INLINE void FN(take)(const T *x, int64_t stride, int64_t n, int32_t tap, ACC *best,
                          int32_t *at)
{
    TSR__INDEPENDENT
    for (int64_t j = 0; j < n; j++) {
        const ACC value = LD(x[j * stride]);
        const bool better = (at[j] < 0) | LESS(best[j], value) | UNORDERED(value);

        best[j] = better ? value : best[j];
        at[j] = better ? tap : at[j];
    }
}

TSR__INLINE void FN(sum_up)(const T *x, int64_t stride, int64_t n, ACC *sum)
{
    TSR__INDEPENDENT
    for (int64_t j = 0; j < n; j++)
        sum[j] = ADD(sum[j], LD(x[j * stride]));
}

/* All taps of positions [from, to) of row `row` of y: maxima and, as distance in the whole plane,
   their taps; or sums if at is NULL. */
TSR__INLINE void FN(window)(const tsr_pooling_geometry *p, int64_t row, int64_t from, int64_t to,
                            const T *plane, ACC *acc, int32_t *at)
{
    const tsr_conv_geometry *g = &p->g;
    const int64_t stride = g->stride[2];

    for (int64_t t = 0; t < g->k_count; t++) {
        const int64_t t2 = t % g->k[2], t1 = t / g->k[2] % g->k[1], t0 = t / g->k[2] / g->k[1];
        const int64_t q0 = conv_tap(g, 0, row / g->y[1], t0);
        const int64_t q1 = conv_tap(g, 1, row % g->y[1], t1);
        const int32_t tap = (int32_t)pooling_reach(p, t0, t1, t2);
        int64_t lo, hi;

        if (q0 < 0 || q0 >= g->x[0] || q1 < 0 || q1 >= g->x[1])
            continue;
        conv_inside(g, 2, t2, &lo, &hi);
        lo = lo > from ? lo : from;
        hi = hi < to ? hi : to;
        if (lo >= hi)
            continue;

        const T *x = plane + (q0 * g->x[1] + q1) * g->x[2] + conv_tap(g, 2, lo, t2);

        if (at && stride == 1)
            FN(take)(x, 1, hi - lo, tap, acc + lo - from, at + lo - from);
        else if (at)
            FN(take)(x, stride, hi - lo, tap, acc + lo - from, at + lo - from);
        else if (stride == 1)
            FN(sum_up)(x, 1, hi - lo, acc + lo - from);
        else
            FN(sum_up)(x, stride, hi - lo, acc + lo - from);
    }
}

SET static void FN(rows_max)(const tsr_pooling_geometry *p, int64_t from, int64_t to,
                             const void *in, void *out, int64_t *index)
{
    const tsr_conv_geometry *g = &p->g;
    const int64_t rows = g->y[0] * g->y[1];
    ACC best[BLOCK];
    int32_t at[BLOCK];

    for (int64_t i = 0; i < p->planes * rows; i++) {
        const int64_t first = i * g->y[2] + from; /* of the output */

        for (int64_t j = 0; j < to - from; j++)
            best[j] = LOWEST, at[j] = -1;
        FN(window)(p, i % rows, from, to, (const T *)in + i / rows * g->x_count, best, at);
        for (int64_t j = 0; j < to - from; j++)
            ((T *)out)[first + j] = ST(best[j]);
        if (!index)
            continue;

        const int64_t start = pooling_start(p, i % rows) + from * g->stride[2];

        for (int64_t j = 0; j < to - from; j++)
            index[first + j] = at[j] < 0 ? -1 : start + j * g->stride[2] + at[j];
    }
}

SET static void FN(rows_average)(const tsr_pooling_geometry *p, int64_t from, int64_t to,
                                 const void *in, void *out)
{
    const tsr_conv_geometry *g = &p->g;
    const int64_t rows = g->y[0] * g->y[1];
    int64_t count[BLOCK];
    ACC sum[BLOCK];

    for (int64_t j = from; j < to; j++)
        count[j - from] = pooling_count(p, 2, j);
    for (int64_t i = 0; i < p->planes * rows; i++) {
        const int64_t times =
            pooling_count(p, 0, i % rows / g->y[1]) * pooling_count(p, 1, i % rows % g->y[1]);

        for (int64_t j = 0; j < to - from; j++)
            sum[j] = 0;
        FN(window)(p, i % rows, from, to, (const T *)in + i / rows * g->x_count, sum, NULL);
        for (int64_t j = 0; j < to - from; j++) {
            const int64_t n = times * count[j] > 0 ? times * count[j] : 1;

            ((T *)out)[i * g->y[2] + from + j] = ST((ACC)DIV(sum[j], n));
        }
    }
}

TSR__INLINE void FN(store)(int64_t n, const ACC *sum, T *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = ST(sum[i]);
}

SET static void FN(max_back)(const tsr_pooling_geometry *p, const void *grad_out,
                             const int64_t *index, void *sum, void *grad_in)
{
    const bool all = pooling_is_whole(p);
    ACC *to = sum;

    for (int64_t q = 0; q < p->g.x_count; q++)
        to[q] = 0;
    for (int64_t o = 0; o < p->g.y_count; o++) {
        const int64_t q = all ? index[o] : pooling_to_part(p, index[o]);

        if (q >= 0)
            to[q] = ADD(to[q], LD(((const T *)grad_out)[o]));
    }
    FN(store)(p->g.x_count, to, grad_in);
}

SET static void FN(average_back)(const tsr_pooling_geometry *p, const void *grad_out, void *sum,
                                 void *grad_in)
{
    const tsr_conv_geometry *g = &p->g;
    const int64_t stride = g->stride[2];
    ACC *to = sum, part[BLOCK];
    int64_t lo, hi;

    for (int64_t q = 0; q < g->x_count; q++)
        to[q] = 0;
    for (int64_t o = 0, n; o < g->y_count; o += n) {
        const int64_t row = o / g->y[2], from = o % g->y[2];
        const int64_t times =
            pooling_count(p, 0, row / g->y[1]) * pooling_count(p, 1, row % g->y[1]);

        n = g->y[2] - from < BLOCK ? g->y[2] - from : BLOCK;
        for (int64_t j = 0; j < n; j++) {
            const int64_t count = times * pooling_count(p, 2, from + j);

            part[j] = (ACC)DIV(LD(((const T *)grad_out)[o + j]), count > 0 ? count : 1);
        }
        for (int64_t t = 0; t < g->k_count; t++) {
            const int64_t t2 = t % g->k[2], t1 = t / g->k[2] % g->k[1], t0 = t / g->k[2] / g->k[1];
            const int64_t q0 = conv_tap(g, 0, row / g->y[1], t0);
            const int64_t q1 = conv_tap(g, 1, row % g->y[1], t1);
            const int64_t q2 = conv_tap(g, 2, from, t2);

            if (q0 < 0 || q0 >= g->x[0] || q1 < 0 || q1 >= g->x[1])
                continue;
            conv_inside(g, 2, t2, &lo, &hi);
            lo = lo > from ? lo - from : 0;
            hi = hi - from < n ? hi - from : n;
            for (int64_t j = lo; j < hi; j++) {
                ACC *at = to + (q0 * g->x[1] + q1) * g->x[2] + q2 + j * stride;

                *at = ADD(*at, part[j]);
            }
        }
    }
    FN(store)(g->x_count, to, grad_in);
}

static const bodies FN(entry) = {FN(rows_max), FN(rows_average), FN(max_back), FN(average_back)};
