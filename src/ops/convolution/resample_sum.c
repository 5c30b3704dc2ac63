/* SPDX-License-Identifier: Apache-2.0 */
/* resample_sum.c - results that are sums of neighbours, dim by dim: slabs, then rows into fewer
   rows, then the elements of rows; where there will be more rows, these come last. Which comes
   first, and every order of additions, depends on the whole sizes only. Called by resample.c. */
#include "ops/convolution/resample_geometry.h"

#include "base/half.h"
#include "base/minmax.h"

enum {
    LONG = 32,     /* terms that are worth several sums at once */
    RUN = 4096,    /* terms that are summed before they are added to others */
    CACHED = 16384 /* elements that stay in the cache */
};

/* How the elements of a row are summed. */
typedef struct tsr_resample_row {
    const tsr_resample_taps *taps;
    const void *weight; /* those of a result start at taps.at */
    bool unit;          /* all are 1 */
    int64_t n, m;       /* sources and results */
    /* From `begin` on `times` times `period` results repeat: the next have the same weights, for
       sources that are `stride` further on. */
    int64_t begin, times, period, stride;
    /* Not 0: each has few_width neighbours, the k-th of result j is element few[k m + j], and its
       weight stands at the same place. */
    int64_t few_width;
    const int32_t *few;
    const void *few_weight;
} tsr_resample_row;

typedef struct bodies {
    /* The weights of dim d at weight[taps.at] on; then those of `few`. */
    void (*set)(const tsr_resample_geometry *g, int d, bool unit, const tsr_resample_taps *taps,
                void *weight);
    void (*set_few)(const tsr_resample_row *row, int32_t *few, void *few_weight);
    /* Finds `begin` and `times` for the period and the stride. */
    void (*find_periods)(tsr_resample_row *row);
    /* The results of so many rows. */
    void (*along)(const tsr_resample_row *row, int64_t rows, const void *x, void *y);
    /* The sum of rows of n elements, one after the other; where it is: in y or, being a row, in x.
       */
    const void *(*mix)(bool unit, const tsr_resample_taps *taps, const void *weight, int64_t n,
                       const void *x, void *y);
    /* y = x / by, or by `by` times the number of neighbours. */
    void (*divide)(int64_t n, int64_t by, const tsr_resample_taps *taps, const void *x, void *y);
    /* One mean for each plane of n elements; its gradient, for m of them. */
    void (*means)(int64_t planes, int64_t n, const void *x, void *y);
    void (*spread)(int64_t planes, int64_t m, int64_t by, const void *x, void *y);
} bodies;

#define TABLE resample_kernels
#define BODY "ops/convolution/resample_sum.inc.h"
#define DTYPES (TSR__INTEGERS | TSR__PRIME)
#define AVX2 TSR__AVX2
#include "base/kernel_table.inc.h"

/* One call. f16 and bf16 are widened to f32 plane by plane, and narrowed row by row. */
typedef struct work {
    const tsr_resample_geometry *g;
    const bodies *bodies;
    tsr_dtype dtype;
    size_t size, stored; /* of an element that is computed with, and of one in memory */
    bool half, divides;
    bool means;       /* each plane has one mean, or its gradient */
    int64_t planes;   /* at a time: more than one where each is a row */
    int64_t kept;     /* rows of results that keep_rows() has room for, 0: rows are summed first, */
    int64_t together; /* so many at a time */
    const tsr_resample_taps *taps[TSR_CONV_DIMS];
    tsr_resample_row row;
    char *weight, *wide, *rows, *slab, *sum, *line; /* scratch */
} work;

/* Sums of rows of results in x become the results at y; taps: what the rows are sums of. */
static void finish(const work *w, int64_t rows, int64_t by, const tsr_resample_taps *taps,
                   const char *x, char *y)
{
    const size_t row = (size_t)w->row.m * w->size;

    if (w->divides) {
        char *to = w->half ? w->line : y;

        for (int64_t i = 0; i < rows; i++) {
            const int64_t terms = taps ? by * taps[i].count : by;

            w->bodies->divide(w->row.m, w->row.times ? terms * w->row.stride : terms,
                              w->row.times ? NULL : w->taps[2], x + (size_t)i * row,
                              to + (size_t)i * row);
        }
        x = to;
    }
    if (w->half)
        tsr__half_narrow(w->dtype, (const float *)x, rows * w->row.m, y);
    else if (x != y)
        memcpy(y, x, (size_t)rows * row);
}

/* Rows [*from, *to) of a slab are made into rows of results already; now also those that `t` needs,
   and what there is room for. */
static void keep_rows(const work *w, const tsr_resample_taps *t, const char *slab, int64_t *from,
                      int64_t *to)
{
    const size_t row = (size_t)w->row.m * w->size;

    if (t->first + t->count <= *to)
        return;
    if (*to > t->first) /* what is not needed any more goes */
        memmove(w->rows, w->rows + (size_t)(t->first - *from) * row,
                (size_t)(*to - t->first) * row);
    *to = tsr__max(*to, t->first);
    *from = t->first;

    const int64_t end = tsr__min(w->g->dim[1].n, *from + w->kept);

    w->bodies->along(&w->row, end - *to, slab + (size_t)(*to * w->row.n) * w->size,
                     w->rows + (size_t)(*to - *from) * row);
    *to = end;
}

static void run_slab(const work *w, int64_t by, const char *slab, char *y)
{
    const int64_t m = w->g->dim[1].m;
    const size_t row = (size_t)w->row.n * w->size;
    int64_t from = 0, to = 0;

    for (int64_t r = 0, k; r < m; r += k, y += (size_t)(k * w->row.m) * w->stored) {
        const tsr_resample_taps *taps = &w->taps[1][r];
        char *out = w->half ? w->line : y;
        const void *sum = out;

        k = w->kept ? 1 : tsr__min(w->together, m - r);
        if (w->kept) {
            tsr_resample_taps t = *taps;

            if (t.count) {
                keep_rows(w, &t, slab, &from, &to);
                t.first -= from;
            }
            sum = w->bodies->mix(w->row.unit, &t, w->weight, w->row.m, w->rows, out);
        } else {
            for (int64_t i = 0; i < k; i++) {
                char *at = w->sum + (size_t)i * row;

                sum = w->bodies->mix(w->row.unit, &taps[i], w->weight, w->row.n, slab, at);
                if (sum != at)
                    memcpy(at, sum, row);
            }
            w->bodies->along(&w->row, k, w->sum, out);
            sum = out;
        }
        finish(w, k, by, taps, sum, y);
    }
}

static void run_planes(const work *w, const char *x, char *y)
{
    const tsr_resample_geometry *g = w->g;
    const int64_t slab = g->dim[1].n * g->dim[2].n, m = g->dim[1].m * g->dim[2].m;

    for (int64_t i = 0, k; i < g->planes; i += k, x += (size_t)(k * g->n_count) * w->stored) {
        const char *from = x;

        k = tsr__min(w->planes, g->planes - i);
        if (w->half) {
            tsr__half_widen(w->dtype, x, k * g->n_count, (float *)w->wide);
            from = w->wide;
        }
        if (w->planes > 1) {
            char *to = w->half ? w->line : y;

            if (!w->means)
                w->bodies->along(&w->row, k, from, to);
            else if (g->back)
                w->bodies->spread(k, w->row.m, g->dim[2].in, from, to);
            else
                w->bodies->means(k, w->row.n, from, to);
            finish(w, k, 1, NULL, to, y);
            y += (size_t)(k * w->row.m) * w->stored;
        } else
            for (int64_t r = 0; r < g->dim[0].m; r++, y += (size_t)m * w->stored)
                run_slab(
                    w, w->taps[0][r].count,
                    w->bodies->mix(w->row.unit, &w->taps[0][r], w->weight, slab, from, w->slab), y);
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
static void plan_row(work *w)
{
    const tsr_resample_dim *d = &w->g->dim[2];
    const int64_t from = w->g->back ? d->out : d->in, to = w->g->back ? d->in : d->out;
    tsr_resample_row *row = &w->row;

    *row = (tsr_resample_row){.taps = w->taps[2], .unit = row->unit, .n = d->n, .m = d->m};
    if (w->g->kind == TSR_RESAMPLE_CORNERS || from == 0)
        row->period = 0;
    else if (from % to == 0 && (row->unit ? from <= 4 * to : from == 2 * to))
        row->period = 1, row->stride = from / to;
    else if (!row->unit && to == 2 * from)
        row->period = 2, row->stride = 1;
    if (row->period == 0)
        row->few_width = few_neighbours(w);
}

/* Scratch: tables; the source in f32; rows of results; rows that are summed over dim 0; a row that
   is summed over dim 1 too; a row of results. */
enum { WEIGHTS, FEW_WEIGHTS, FEW, SOURCE, ROWS, SLAB, SUM, LINE, PARTS };

/* How many elements of each. */
static void measure(work *w, int64_t n_weights, int64_t part[PARTS])
{
    const tsr_resample_dim *d = w->g->dim;
    const int64_t n = d[2].n, m = d[2].m, few = w->row.few_width * m;
    int64_t most = 0;

    if (d[0].in * d[0].out * d[1].in * d[1].out == 1)
        w->planes = CACHED / 2 / (n + m) + 2;
    else
        w->planes = 1;
    for (int64_t r = 0; r < d[1].m; r++)
        most = tsr__max(most, w->taps[1][r].count);
    if (w->g->back ? d[1].in > d[1].out : d[1].out > d[1].in)
        w->kept = tsr__min(d[1].n, tsr__max(most, CACHED / m));
    w->together = tsr__min(d[1].m, tsr__max(1, CACHED / 8 / (n + m)));
    memcpy(part,
           (const int64_t[PARTS]){n_weights, few, few, w->half ? w->planes * w->g->n_count : 0,
                                  w->kept * m, d[1].n * n, w->together * n,
                                  tsr__max(w->planes, w->together) * m},
           PARTS * sizeof *part);
}

tsr_status tsr__resample_sum(const tsr_resample_geometry *g, tsr_dtype dtype,
                             tsr_kernel_variant variant, tsr_pool *pool,
                             const tsr_resample_taps *taps, int64_t n_weights, const void *source,
                             void *result, tsr_error *err)
{
    const tsr_resample_dim *d = g->dim;
    const bool mean = g->kind == TSR_RESAMPLE_AVERAGE && !g->back;
    work w = {.g = g,
              .dtype = dtype,
              .half = dtype == TSR_F16 || dtype == TSR_BF16,
              .stored = tsr_dtype_size(dtype),
              .means = g->kind == TSR_RESAMPLE_AVERAGE &&
                       d[0].in * d[0].out * d[1].in * d[1].out * d[2].out == 1,
              .row.unit = mean || g->kind == TSR_RESAMPLE_NEAREST,
              .taps = {taps, taps + d[0].m, taps + d[0].m + d[1].m}};
    char *scratch = NULL, *start[PARTS];
    int64_t part[PARTS], all = 0;
    tsr_status st;

    w.bodies = tsr__kernel_for(&resample_kernels, dtype, variant);
    w.size = w.half ? sizeof(float) : w.stored;
    w.divides = mean && !w.means;
    plan_row(&w);
    measure(&w, n_weights, part);
    for (int i = 0; i < PARTS; i++)
        all += (part[i] * (int64_t)w.size + 63) / 64 * 64; /* FEW: of at least 32 bits */
    TSR_TRY(tsr__pool_get(pool, (size_t)all, &scratch, err));
    start[0] = scratch;
    for (int i = 1; i < PARTS; i++)
        start[i] = start[i - 1] + (part[i - 1] * (int64_t)w.size + 63) / 64 * 64;
    w.weight = start[WEIGHTS], w.wide = start[SOURCE], w.rows = start[ROWS], w.slab = start[SLAB];
    w.sum = start[SUM], w.line = start[LINE];
    w.row.weight = w.weight;
    for (int i = 0; i < TSR_CONV_DIMS; i++)
        w.bodies->set(g, i, w.row.unit, w.taps[i], w.weight);
    if (w.row.few_width) {
        w.bodies->set_few(&w.row, (int32_t *)start[FEW], start[FEW_WEIGHTS]);
        w.row.few_weight = start[FEW_WEIGHTS];
        w.row.few = (const int32_t *)start[FEW];
    }
    if (w.row.period)
        w.bodies->find_periods(&w.row);
    run_planes(&w, source, result);
done:
    tsr__pool_put(pool, scratch);
    return st;
}
