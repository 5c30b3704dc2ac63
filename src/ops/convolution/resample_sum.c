/* SPDX-License-Identifier: Apache-2.0 */
/* resample_sum.c - results that are sums of neighbours, dim by dim: rows into fewer rows first, or,
   where there will be more of them, the elements of rows first. Which comes first, and every order
   of additions, depends on the whole sizes only. Called by resample.c. */
#include "ops/convolution/resample_geometry.h"

#include "base/half.h"

enum {
    LONG = 32,      /* terms that are worth several sums at once */
    RUN = 4096,     /* terms that are summed before they are added to others */
    TOGETHER = 512, /* results of a row made together */
    CACHED = 65536  /* elements that stay in the cache */
};

/* How the elements of a row are summed. */
typedef struct tsr_resample_row {
    const tsr_resample_taps *taps;
    const void *weight; /* NULL: all 1 */
    int64_t m;          /* results */
    int64_t every;      /* not 0: that many neighbours each, one after the other, of weight 1 */
    /* Results [periodic_begin, periodic_end) repeat: after `period` results come the same weights
       for sources that are `stride` further on; each has `width` of them. */
    int64_t periodic_begin, periodic_end, period, stride, width;
    /* Not 0: each has few_width neighbours, the k-th of result j is element few[k m + j], and its
       weight stands at the same place. */
    int64_t few_width;
    const int32_t *few;
    const void *few_weight;
} tsr_resample_row;

typedef struct bodies {
    /* The weights of dim d at weight[taps.at] on; then those of `few`. */
    void (*set)(const tsr_resample_geometry *g, int d, const tsr_resample_taps *taps, void *weight);
    void (*set_few)(const tsr_resample_row *row, int32_t *few, void *few_weight);
    /* Results [from, to) of a row. */
    void (*along)(const tsr_resample_row *row, int64_t from, int64_t to, const void *x, void *y);
    /* The sum of rows of n elements, `step` apart; where it is: in y or, being a row, in x. */
    const void *(*mix)(const tsr_resample_taps *taps, const void *weight, int64_t step, int64_t n,
                       const void *x, void *y);
    /* Finds `periodic_begin` and `periodic_end` for the period and the stride. */
    void (*find_periodic)(tsr_resample_row *row);
    void (*divide)(int64_t n, int64_t by, const tsr_resample_taps *taps, const void *x, void *y);
    /* One mean for each plane of n elements; its gradient, for m of them. */
    void (*means)(int64_t planes, int64_t n, const void *x, void *y);
    void (*spread)(int64_t planes, int64_t m, int64_t by, const void *x, void *y);
} bodies;

#define TABLE resample_kernels
#define BODY "ops/convolution/resample_sum.inc.h"
#define DTYPES (TSR__VECTOR_INTEGERS | TSR__PRIME)
#define AVX2 TSR__AVX2
#include "base/kernel_table.inc.h"

/* One call. f16 and bf16 are widened to f32 plane by plane, and narrowed row by row. */
typedef struct work {
    const tsr_resample_geometry *g;
    const bodies *bodies;
    tsr_dtype dtype;
    size_t size; /* of an element that is computed with */
    bool half, divides, more_rows, means;
    int64_t block, tile; /* results of a row made together; rows of the source at a time */
    int64_t planes;      /* at a time */
    const tsr_resample_taps *taps[TSR_CONV_DIMS];
    tsr_resample_row row;
    void *weight;                          /* as `row.weight`, of all dims */
    char *wide, *rows, *slab, *sum, *line; /* scratch */
} work;

static char *at(const work *w, const void *base, int64_t i)
{
    return (char *)base + i * (int64_t)w->size;
}

/* How many rows of the source more_rows() needs at most for a tile of results. */
static int64_t rows_of_tile(const work *w)
{
    const tsr_resample_dim *d = w->g->dim;
    const int64_t fit = CACHED / (w->block * d[0].n + 1);
    int64_t most = 1;

    for (int64_t r = 0; r < d[1].m; r++)
        most = w->taps[1][r].count > most ? w->taps[1][r].count : most;
    most = fit > most ? fit : most;
    return most < d[1].n ? most : d[1].n;
}

/* Scratch: tables; the source in f32; rows of more_rows(); rows that are summed over dim 0; a row
   that is summed over dim 1 too; a row of results. */
enum { WEIGHTS, FEW_WEIGHTS, FEW, SOURCE, ROWS, SLAB, SUM, LINE, PARTS };

/* How much of each; returns bytes. */
static size_t measure(work *w, int64_t n_weights, size_t part[PARTS])
{
    const tsr_resample_dim *d = w->g->dim;
    const int64_t m2 = d[2].m;
    size_t all = 0;

    w->block = w->more_rows && m2 > TOGETHER ? TOGETHER : m2;
    w->tile = rows_of_tile(w);
    w->planes = w->means ? CACHED / 8 / (d[2].n + m2) + 1 : 1;
    part[WEIGHTS] = (size_t)n_weights * w->size;
    part[FEW_WEIGHTS] = (size_t)(w->row.few_width * m2) * w->size;
    part[FEW] = (size_t)(w->row.few_width * m2) * sizeof(int32_t);
    part[SOURCE] = w->half ? (size_t)(w->planes * w->g->n_count) * w->size : 0;
    part[ROWS] = w->more_rows ? (size_t)(d[0].n * w->tile * w->block) * w->size : 0;
    part[SLAB] = (size_t)(w->more_rows ? w->tile * w->block : d[1].n * d[2].n) * w->size;
    part[SUM] = w->more_rows ? 0 : (size_t)d[2].n * w->size;
    part[LINE] = (size_t)(w->planes * w->block) * w->size;
    for (int i = 0; i < PARTS; i++) {
        part[i] = (part[i] + 63) / 64 * 64;
        all += part[i];
    }
    return all;
}

static void hand_out(work *w, const size_t part[PARTS], bool weights, char *scratch)
{
    char *start[PARTS];

    for (int i = 0; i < PARTS; i++) {
        start[i] = scratch;
        scratch += part[i];
    }
    w->wide = start[SOURCE], w->rows = start[ROWS], w->slab = start[SLAB], w->sum = start[SUM];
    w->line = start[LINE];
    if (weights) {
        w->weight = start[WEIGHTS];
        w->row.weight = start[WEIGHTS];
        for (int d = 0; d < TSR_CONV_DIMS; d++)
            w->bodies->set(w->g, d, w->taps[d], w->weight);
        if (w->row.period)
            w->bodies->find_periodic(&w->row);
    }
    if (w->row.few_width) {
        w->bodies->set_few(&w->row, (int32_t *)start[FEW], start[FEW_WEIGHTS]);
        w->row.few_weight = start[FEW_WEIGHTS];
        w->row.few = (const int32_t *)start[FEW];
    }
}

/* Sums of n results in x become the results at y. */
static void finish(const work *w, int64_t r0, int64_t r1, int64_t from, int64_t n, const void *x,
                   char *y)
{
    if (w->divides) {
        void *to = w->half ? w->line : y;

        w->bodies->divide(n, w->taps[0][r0].count * w->taps[1][r1].count, w->taps[2] + from, x, to);
        x = to;
    }
    if (w->half)
        tsr__half_narrow(w->dtype, x, n, y);
    else if (x != (const void *)y)
        memcpy(y, x, (size_t)n * w->size);
}

/* Rows first. y has elements of `stored` bytes. */
static void fewer_rows(const work *w, const char *x, char *y, size_t stored)
{
    const tsr_resample_dim *d = w->g->dim;
    const int64_t n1 = d[1].n, n2 = d[2].n, m2 = d[2].m;

    for (int64_t r0 = 0; r0 < d[0].m; r0++) {
        const void *slab = w->bodies->mix(&w->taps[0][r0], w->weight, n1 * n2, n1 * n2, x, w->slab);

        for (int64_t r1 = 0; r1 < d[1].m; r1++, y += (size_t)m2 * stored) {
            void *to = w->half ? w->line : y;
            const void *sum = w->bodies->mix(&w->taps[1][r1], w->weight, n2, n2, slab, w->sum);

            w->bodies->along(&w->row, 0, m2, sum, to);
            finish(w, r0, r1, 0, m2, to, y);
        }
    }
}

/* The end of the tile of rows of results that starts at r1, and the rows of the source it needs. */
static int64_t next_tile(const work *w, int64_t r1, int64_t *begin, int64_t *end)
{
    const tsr_resample_taps *taps = w->taps[1];

    *begin = *end = -1;
    for (; r1 < w->g->dim[1].m; r1++) {
        if (taps[r1].count == 0)
            continue;
        if (*begin < 0)
            *begin = taps[r1].first;
        if (taps[r1].first + taps[r1].count - *begin > w->tile)
            break;
        *end = taps[r1].first + taps[r1].count;
    }
    return r1;
}

/* Elements of rows first, a block of results at a time. */
static void more_rows(const work *w, int64_t from, int64_t to, const char *x, char *y,
                      size_t stored)
{
    const tsr_resample_dim *d = w->g->dim;
    const int64_t n = to - from;

    for (int64_t start = 0, stop, begin, end; start < d[1].m; start = stop) {
        stop = next_tile(w, start, &begin, &end);

        const int64_t rows = end - begin;

        for (int64_t i = 0; i < d[0].n * rows; i++)
            w->bodies->along(&w->row, from, to,
                             at(w, x, (i / rows * d[1].n + begin + i % rows) * d[2].n),
                             at(w, w->rows, i * n));
        for (int64_t r0 = 0; r0 < d[0].m; r0++) {
            const void *slab =
                w->bodies->mix(&w->taps[0][r0], w->weight, rows * n, rows * n, w->rows, w->slab);

            for (int64_t r1 = start; r1 < stop; r1++) {
                char *line = y + (size_t)((r0 * d[1].m + r1) * d[2].m + from) * stored;
                tsr_resample_taps taps = w->taps[1][r1];
                const void *sum;

                taps.first -= taps.count ? begin : 0;
                sum = w->bodies->mix(&taps, w->weight, n, n, slab, w->half ? w->line : line);
                finish(w, r0, r1, from, n, sum, line);
            }
        }
    }
}

/* Means of all of a plane. */
static void run_means(const work *w, const char *source, char *result)
{
    const tsr_resample_dim *d = &w->g->dim[2];
    const size_t stored = tsr_dtype_size(w->dtype);

    for (int64_t i = 0; i < w->g->planes; i += w->planes) {
        const int64_t left = w->g->planes - i, k = left < w->planes ? left : w->planes;
        const char *x = source + (size_t)(i * d->n) * stored;
        char *y = result + (size_t)(i * d->m) * stored, *to = w->half ? w->line : y;

        if (w->half) {
            tsr__half_widen(w->dtype, x, k * d->n, (float *)w->wide);
            x = w->wide;
        }
        if (w->g->back)
            w->bodies->spread(k, d->m, d->in, x, to);
        else
            w->bodies->means(k, d->n, x, to);
        if (w->half)
            tsr__half_narrow(w->dtype, (const float *)w->line, k * d->m, y);
    }
}

static void run_planes(const work *w, const char *source, char *result)
{
    const tsr_resample_geometry *g = w->g;
    const size_t stored = tsr_dtype_size(w->dtype);

    for (int64_t i = 0; i < g->planes; i++) {
        const char *x = source + (size_t)(i * g->n_count) * stored;
        char *y = result + (size_t)(i * g->m_count) * stored;

        if (w->half) {
            tsr__half_widen(w->dtype, x, g->n_count, (float *)w->wide);
            x = w->wide;
        }
        if (!w->more_rows)
            fewer_rows(w, x, y, stored);
        for (int64_t from = 0; w->more_rows && from < g->dim[2].m; from += w->block) {
            const int64_t left = g->dim[2].m - from;

            more_rows(w, from, from + (left < w->block ? left : w->block), x, y, stored);
        }
    }
}

/* How many neighbours a result has at most, if it is few, and none has no neighbour; else 0. */
static int64_t few_neighbours(const work *w)
{
    const tsr_resample_geometry *g = w->g;
    const int64_t in = g->dim[2].in, out = g->dim[2].out;
    const tsr_window_law law = tsr__resample_law(g->kind, g->back, in, out);
    const int64_t most = (law.hi - law.lo) / law.div + 1;

    if (g->back && out < in && g->kind != TSR_RESAMPLE_AVERAGE)
        return 0;
    if (!tsr__dtype_is_float(w->dtype) && (int)w->dtype != TSR__FIELD)
        return 0; /* there is no half */
    return most <= 4 && out > 0 ? most : 0;
}

/* Which short cuts there are along a row. They depend on the whole sizes, for the order of
   additions does. */
static void plan_row(work *w, bool weights)
{
    const tsr_resample_dim *d = &w->g->dim[2];

    w->row.taps = w->taps[2];
    w->row.m = d->m;
    w->row.few_width = few_neighbours(w);
    if (!weights && d->whole_source % d->whole_result == 0)
        w->row.every = d->whole_source / d->whole_result;
    if (weights && d->whole_source == 2 * d->whole_result)
        w->row.period = 1, w->row.stride = 2;
    if (weights && d->whole_result == 2 * d->whole_source)
        w->row.period = 2, w->row.stride = 1;
}

tsr_status tsr__resample_sum(const tsr_resample_geometry *g, tsr_dtype dtype, tsr_pool *pool,
                             const tsr_resample_taps *taps, int64_t n_weights, const void *source,
                             void *result, tsr_error *err)
{
    const tsr_resample_dim *d = g->dim;
    const bool linear = g->kind == TSR_RESAMPLE_LINEAR || g->kind == TSR_RESAMPLE_CORNERS;
    const bool weights = linear || (g->kind == TSR_RESAMPLE_AVERAGE && g->back);
    const int64_t from = d[0].whole_source * d[1].whole_source;
    work w = {.g = g,
              .dtype = dtype,
              .half = dtype == TSR_F16 || dtype == TSR_BF16,
              .divides = g->kind == TSR_RESAMPLE_AVERAGE && !g->back,
              .means = g->kind == TSR_RESAMPLE_AVERAGE && d[0].out * d[1].out * d[2].out == 1 &&
                       d[0].in * d[1].in == 1,
              .more_rows = d[0].whole_result * d[1].whole_result > from,
              .taps = {taps, taps + d[0].m, taps + d[0].m + d[1].m}};
    void *scratch = NULL;
    size_t part[PARTS];
    tsr_status st;

    w.bodies = tsr__kernel_for(&resample_kernels, dtype, TSR_VARIANT_AUTO);
    w.size = w.half ? sizeof(float) : tsr_dtype_size(dtype);
    plan_row(&w, weights);
    TSR_TRY(tsr__pool_get(pool, measure(&w, weights ? n_weights : 0, part), &scratch, err));
    hand_out(&w, part, weights, scratch);
    if (w.means)
        run_means(&w, source, result);
    else
        run_planes(&w, source, result);
done:
    tsr__pool_put(pool, scratch);
    return st;
}
