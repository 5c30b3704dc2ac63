/* SPDX-License-Identifier: Apache-2.0 */
/* resample_sum.c - results that are sums of neighbours, dim by dim: slabs, then rows into fewer
   rows, then the elements of rows; where there will be more rows, these come last. Nearest outputs
   have one neighbour: each row is made once and copied for those that are equal to it. Which comes
   first, and every order of additions, depends on the whole sizes only. Called by resample.c. */
#include "ops/convolution/resample_geometry.h"

#include "base/half.h"
#include "base/minmax.h"

#include <assert.h>

enum {
    LONG = 32,     /* terms that are worth several sums at once */
    RUN = 4096,    /* terms that are summed before they are added to others */
    CACHED = 16384 /* elements that stay in the cache */
};

/* Where the sources of a result start here, how many they are, where their weights start. */
typedef struct taps {
    int64_t first, count, at;
} taps;

/* How the elements of a row are summed. */
typedef struct row_plan {
    const taps *taps;
    const void *weight; /* those of a result start at taps.at */
    bool unit;          /* all are 1 */
    int64_t n, m;       /* sources and results */
    /* From `begin` on `times` times `period` results repeat: the next have the same weights, for
       sources that are `stride` further on. */
    int64_t begin, times, period, stride;
    /* Not 0: each has few_width neighbours, the k-th of result j is element few[k m + j], and its
       weight stands at the same place. */
    int64_t few_width;
    int32_t *few;
    void *few_weight;
} row_plan;

typedef struct bodies {
    /* The weights of dim d at weight[taps.at] on; then those of `few`. */
    void (*set)(const tsr_resample_geometry *g, int d, bool unit, const taps *t, void *weight);
    void (*set_few)(const row_plan *row);
    /* The results of so many rows. */
    void (*along)(const row_plan *row, int64_t rows, const void *x, void *y);
    /* The sum of rows of n elements, one after the other; where it is: in y or, being a row, in x.
       */
    const void *(*mix)(bool unit, const taps *t, const void *weight, int64_t n, const void *x,
                       void *y);
    /* y = x / by, or by `by` times the number of neighbours. */
    void (*divide)(int64_t n, int64_t by, const taps *t, const void *x, void *y);
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
    bool half, divides, copies;
    int64_t planes;   /* at a time: more than one where each is a row */
    int64_t kept;     /* rows of results that keep_rows() has room for, 0: rows are summed first, */
    int64_t together; /* so many at a time */
    const taps *taps[TSR_CONV_DIMS];
    row_plan row;
    char *weight, *wide, *rows, *slab, *sum, *line; /* scratch */
} work;

/* ---- running ---- */

/* Sums of rows of results in x become the results at y; t: what the rows are sums of. */
TSR__INLINE void finish(const work *w, int64_t rows, int64_t by, const taps *t, const char *x,
                        char *y)
{
    const bool even = w->row.times || w->row.m == 1; /* as many terms in all of a row */
    const size_t row = (size_t)w->row.m * w->size;

    if (w->divides) {
        char *to = w->half ? w->line : y;

        for (int64_t i = 0, k; i < rows; i += k) {
            const int64_t terms = t ? by * t[i].count : by;

            k = even && !t ? rows : 1;
            w->bodies->divide(k * w->row.m, even ? terms * w->taps[2]->count : terms,
                              even ? NULL : w->taps[2], x + (size_t)i * row, to + (size_t)i * row);
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
static void keep_rows(const work *w, const taps *t, const char *slab, int64_t *from, int64_t *to)
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

/* More rows than there were. */
static void run_kept(const work *w, int64_t by, const char *slab, char *y)
{
    int64_t from = 0, to = 0;

    for (int64_t r = 0; r < w->g->dim[1].m; r++, y += (size_t)w->row.m * w->stored) {
        taps t = w->taps[1][r];

        if (t.count) {
            keep_rows(w, &t, slab, &from, &to);
            t.first -= from;
        }
        finish(w, 1, by, &w->taps[1][r],
               w->bodies->mix(w->row.unit, &t, w->weight, w->row.m, w->rows, w->half ? w->line : y),
               y);
    }
}

/* Fewer. */
static void run_mixed(const work *w, int64_t by, const char *slab, char *y)
{
    const int64_t m = w->g->dim[1].m;
    const size_t row = (size_t)w->row.n * w->size;

    for (int64_t r = 0, k; r < m; r += k, y += (size_t)(k * w->row.m) * w->stored) {
        char *out = w->half ? w->line : y;

        k = tsr__min(w->together, m - r);
        for (int64_t i = 0; i < k; i++) {
            char *at = w->sum + (size_t)i * row;
            const void *sum =
                w->bodies->mix(w->row.unit, &w->taps[1][r + i], w->weight, w->row.n, slab, at);

            if (sum != at)
                memcpy(at, sum, row);
        }
        w->bodies->along(&w->row, k, w->sum, out);
        finish(w, k, by, &w->taps[1][r], out, y);
    }
}

static void run_copied(const work *w, const char *slab, char *y)
{
    const size_t from = (size_t)w->row.n * w->size, to = (size_t)w->row.m * w->size;
    const taps *t = w->taps[1];

    for (int64_t r = 0; r < w->g->dim[1].m; r++, t++, y += to)
        if (r > 0 && t->first == t[-1].first)
            memcpy(y, y - to, to);
        else
            w->bodies->along(&w->row, 1, slab + (size_t)t->first * from, y);
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

            w->bodies->along(&w->row, k, from, to);
            finish(w, k, 1, NULL, to, y);
            y += (size_t)(k * w->row.m) * w->stored;
            continue;
        }
        for (int64_t r = 0; r < g->dim[0].m; r++, y += (size_t)m * w->stored) {
            const taps *t = &w->taps[0][r];
            const char *at = w->bodies->mix(w->row.unit, t, w->weight, slab, from, w->slab);

            if (w->copies && r > 0 && t->first == t[-1].first)
                memcpy(y, y - (size_t)m * w->stored, (size_t)m * w->stored);
            else if (w->copies)
                run_copied(w, at, y);
            else
                (w->kept ? run_kept : run_mixed)(w, t->count, at, y);
        }
    }
}

/* ---- planning ---- */

/* Dims that have a mean in common are one: it needs all inputs, and all have the same gradient. */
static void join_dims(tsr_resample_geometry *g)
{
    for (int d = 1; d >= 0; d--) {
        tsr_resample_dim *a = &g->dim[d], *b = &g->dim[2];

        if (a->out != 1 || b->out != 1)
            return;
        *b = (tsr_resample_dim){a->in * b->in, 1, 0, a->n * b->n, 0, a->m * b->m};
        *a = (tsr_resample_dim){1, 1, 0, 1, 0, 1};
    }
}

/* The neighbours of each result along dim d; returns how many weights there are up to here. */
static int64_t find_taps(const tsr_resample_geometry *g, int d, int64_t at, taps *t)
{
    const tsr_resample_dim *dim = &g->dim[d];
    const tsr_window_law law = tsr__resample_law(g->kind, g->back, dim->in, dim->out);

    for (int64_t r = 0; r < dim->m; r++) {
        int64_t begin, end;

        tsr__window_of(&law, dim->result + r, dim->result + r + 1, g->back ? dim->out : dim->in,
                       &begin, &end);
        while (begin < end && resample_weight(g, d, begin, dim->result + r).num == 0)
            begin++; /* the law may say too much */
        t[r] = (taps){begin < end ? begin - dim->source : 0, end - begin, at};
        at += end - begin;
        assert(begin == end || (begin >= dim->source && end <= dim->source + dim->n));
    }
    return at;
}

/* How many neighbours a result has at most, if it is few, and none has no neighbour; else 0. */
static int64_t few_neighbours(const work *w)
{
    const tsr_resample_geometry *g = w->g;
    const int64_t in = g->dim[2].in, out = g->dim[2].out;
    const tsr_window_law law = tsr__resample_law(g->kind, g->back, in, out);
    const int64_t most = tsr__min((law.hi - law.lo) / law.div + 1, g->back ? out : in);

    if (w->copies)
        return 1;
    if (g->back && out < in && g->kind != TSR_RESAMPLE_AVERAGE)
        return 0;
    if (!tsr__dtype_is_float(w->dtype) && (int)w->dtype != TSR__FIELD)
        return 0; /* there is no half */
    return most <= 4 ? most : 0;
}

/* Which short cuts there are along a row. They depend on the whole sizes, for the order of
   additions does. */
static void plan_row(work *w)
{
    const tsr_resample_dim *d = &w->g->dim[2];
    const int64_t from = w->g->back ? d->out : d->in, to = w->g->back ? d->in : d->out;
    row_plan *row = &w->row;

    *row = (row_plan){.taps = w->taps[2], .unit = row->unit, .n = d->n, .m = d->m};
    if (w->g->kind == TSR_RESAMPLE_CORNERS || from == 0)
        row->period = 0;
    else if (from % to == 0 && (row->unit ? from <= 4 * to : from == 2 * to))
        row->period = 1, row->stride = from / to;
    else if (w->copies ? to % from == 0 : !row->unit && to == 2 * from)
        row->period = to / from, row->stride = 1;
    if (row->period == 0)
        row->few_width = few_neighbours(w);
}

/* Does result j have as many neighbours as the one before it, and the weights of the one a period
   before it, a stride further on? */
static bool repeats(const row_plan *row, size_t size, int64_t j)
{
    const taps *t = &row->taps[j], *before = t - row->period;
    const char *weight = row->weight;

    return t->count == t[-1].count && t->count == before->count &&
           t->first == before->first + row->stride &&
           !memcmp(weight + (size_t)t->at * size, weight + (size_t)before->at * size,
                   (size_t)t->count * size);
}

/* Those of weight 1 are all alike, from a whole period on; of others those at the ends differ. */
static void find_periods(row_plan *row, size_t size, int64_t result)
{
    int64_t j = row->period, end;

    if (row->unit) {
        row->begin = tsr__min(row->m, (row->period - result % row->period) % row->period);
        row->times = (row->m - row->begin) / row->period;
        return;
    }
    while (j < row->m && !repeats(row, size, j))
        j++;
    for (end = j; end < row->m && repeats(row, size, end); end++)
        ;
    row->begin = j < row->m ? j - row->period : 0;
    row->times = j < row->m ? (end - row->begin) / row->period : 0;
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

    w->planes = d[0].in * d[0].out * d[1].in * d[1].out == 1 ? CACHED / 2 / (n + m) + 2 : 1;
    for (int64_t r = 0; r < d[1].m; r++)
        most = tsr__max(most, w->taps[1][r].count);
    if (!w->copies && (w->g->back ? d[1].in > d[1].out : d[1].out > d[1].in))
        w->kept = tsr__min(d[1].n, tsr__max(most, CACHED / m));
    w->together = tsr__min(d[1].m, tsr__max(1, CACHED / 8 / (n + m)));
    memcpy(part,
           (const int64_t[PARTS]){n_weights, few, few, w->half ? w->planes * w->g->n_count : 0,
                                  w->kept * m, d[1].n * n, w->together * n,
                                  tsr__max(w->planes, w->together) * m},
           PARTS * sizeof *part);
}

static tsr_status run(work *w, tsr_pool *pool, int64_t n_weights, const void *source, void *result,
                      tsr_error *err)
{
    const int64_t size = tsr__max((int64_t)w->size, (int64_t)sizeof *w->row.few);
    char *scratch = NULL, *start[PARTS];
    int64_t part[PARTS], all = 0;
    tsr_status st;

    plan_row(w);
    measure(w, n_weights, part);
    for (int i = 0; i < PARTS; i++)
        all += (part[i] * size + 63) / 64 * 64;
    TSR_TRY(tsr__pool_get(pool, (size_t)all, &scratch, err));
    start[0] = scratch;
    for (int i = 1; i < PARTS; i++)
        start[i] = start[i - 1] + (part[i - 1] * size + 63) / 64 * 64;
    w->row.weight = w->weight = start[WEIGHTS];
    w->row.few_weight = start[FEW_WEIGHTS], w->row.few = (int32_t *)start[FEW];
    w->wide = start[SOURCE], w->rows = start[ROWS], w->slab = start[SLAB];
    w->sum = start[SUM], w->line = start[LINE];
    for (int i = 0; i < TSR_CONV_DIMS; i++)
        w->bodies->set(w->g, i, w->row.unit, w->taps[i], w->weight);
    if (w->row.few_width)
        w->bodies->set_few(&w->row);
    if (w->row.period)
        find_periods(&w->row, w->size, w->g->dim[2].result);
    run_planes(w, source, result);
done:
    tsr__pool_put(pool, scratch);
    return st;
}

tsr_status tsr__resample_sum(tsr_resample_geometry *g, tsr_dtype dtype, tsr_kernel_variant variant,
                             tsr_pool *pool, const void *source, void *result, tsr_error *err)
{
    const bool copies = g->kind == TSR_RESAMPLE_NEAREST && !g->back;
    work w = {.g = g, .copies = copies, .stored = tsr_dtype_size(dtype)};
    taps *t = NULL;
    int64_t n = 0;
    tsr_status st;

    w.dtype = copies && tsr__dtype_is_half(dtype) ? TSR_U16 : dtype;
    w.half = tsr__dtype_is_half(w.dtype);
    w.size = w.half ? sizeof(float) : w.stored;
    w.divides = g->kind == TSR_RESAMPLE_AVERAGE && !g->back;
    w.row.unit = w.divides || g->kind == TSR_RESAMPLE_NEAREST;
    w.bodies = tsr__kernel_for(&resample_kernels, w.dtype, variant);
    if (g->kind == TSR_RESAMPLE_AVERAGE)
        join_dims(g);
    TSR_TRY(tsr__pool_get(pool, (size_t)(g->dim[0].m + g->dim[1].m + g->dim[2].m) * sizeof *t, &t,
                          err));
    w.taps[0] = t, w.taps[1] = t + g->dim[0].m, w.taps[2] = w.taps[1] + g->dim[1].m;
    for (int d = 0; d < TSR_CONV_DIMS; d++)
        n = find_taps(g, d, n, t + (w.taps[d] - t));
    TSR_TRY(run(&w, pool, n, source, result, err));
done:
    tsr__pool_put(pool, t);
    return st;
}
