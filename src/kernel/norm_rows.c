/* SPDX-License-Identifier: Apache-2.0 */
/* norm_rows.c - walks rows in blocks that fit the cache (norm_rows.h). A block's moments are of
   distances to the mean so far, so a large mean does no harm, and blocks are merged as moments.
   Called by norm.c. */
#include "kernel/norm_rows.h"

#include "base/half.h"
#include "base/minmax.h"
#include "base/stream.h"

#include <string.h>

enum {
    BLOCK = 1024, /* elements of a row between two merges, */
    SAMPLES = 32, /* or samples of it */
    ROWS = 512,   /* rows that are walked together, */
    NEAR = 32768, /* so many bytes of them, */
    PIECE = 2048, /* so many elements of them at a time, */
    HEIGHT = 8    /* so many samples where rows are single elements */
};

typedef struct parts {
    void (*moments)(const void *x, int64_t rows, int64_t step, int64_t n, const double *shift,
                    double *sum, double *square);
    void (*columns)(const void *x, int64_t rows, int64_t step, int64_t samples, const double *shift,
                    double *sum, double *square);
    void (*sums)(const void *grad, const void *x, int64_t rows, int64_t n, const double *center,
                 double *sum, double *dot);
    void (*apply)(const void *x, int64_t rows, int64_t n, const tsr_norm_factors *f, void *y);
    void (*apply_grad)(const void *grad, const void *x, int64_t rows, int64_t n,
                       const tsr_norm_factors *f, void *y);
} parts;

#define TABLE norm_kernels
#define BODY "kernel/norm_rows.inc.h"
#define DTYPES TSR__REALS
#define AVX2 TSR__AVX2
#include "base/kernel_table.inc.h"

/* Where to read n elements: at x itself, or widened in the buffer. */
static const void *load(tsr_dtype dtype, const char *x, int64_t n, float *buffer)
{
    if (!tsr__dtype_is_half(dtype))
        return x;
    tsr__half_widen(dtype, x, n, buffer);
    return buffer;
}

/* ---- moments ---- */

/* Up to ROWS rows, and what is known of them: all have as many values. */
typedef struct band {
    const parts *parts;
    tsr_dtype dtype;
    size_t size;
    int64_t rows, length; /* of x; rows of the band are neighbours */
    int64_t n_rows;
    double origin[ROWS]; /* near the mean: what is near it is kept as a distance to it */
    double shift[ROWS], sum[ROWS], square[ROWS];
} band;

/* `n` elements of each row of one sample, from x on. Halves are widened rows at a time. */
static void add_rows(band *b, const char *x, int64_t n)
{
    const int64_t together = n == b->length ? PIECE / n : 1;
    float buffer[PIECE];

    if (!tsr__dtype_is_half(b->dtype)) {
        b->parts->moments(x, b->n_rows, b->length, n, b->shift, b->sum, b->square);
        return;
    }
    for (int64_t r = 0; r < b->n_rows; r += together) {
        const int64_t m = tsr__min(together, b->n_rows - r);
        const void *wide = load(b->dtype, x + r * b->length * (int64_t)b->size, m * n, buffer);

        b->parts->moments(wide, m, n, n, b->shift + r, b->sum + r, b->square + r);
    }
}

/* Rows of one element. */
static void add_columns(band *b, const char *x, int64_t samples)
{
    const int64_t step = b->rows * (int64_t)b->size;
    float buffer[HEIGHT * ROWS];

    if (!tsr__dtype_is_half(b->dtype)) {
        b->parts->columns(x, b->n_rows, b->rows, samples, b->shift, b->sum, b->square);
        return;
    }
    for (int64_t s = 0; s < samples; s += HEIGHT) {
        const int64_t m = tsr__min(HEIGHT, samples - s);

        for (int64_t k = 0; k < m; k++)
            tsr__half_widen(b->dtype, x + (s + k) * step, b->n_rows, buffer + k * b->n_rows);
        b->parts->columns(buffer, b->n_rows, b->n_rows, m, b->shift, b->sum, b->square);
    }
}

/* `n` elements of each row of some samples, by distances to the shifts. */
static void add_block(band *b, const char *x, int64_t samples, int64_t n)
{
    memset(b->sum, 0, (size_t)b->n_rows * sizeof *b->sum);
    memset(b->square, 0, (size_t)b->n_rows * sizeof *b->square);
    if (b->length == 1)
        add_columns(b, x, samples);
    for (int64_t s = 0; s < samples && b->length > 1; s++)
        add_rows(b, x + s * b->rows * b->length * (int64_t)b->size, n);
}

/* A number that both f32 and f64 have. */
static double round_to(tsr_dtype dtype, double x)
{
    return dtype == TSR_F64 ? x : (double)(float)x;
}

/* Where distances are taken to: the mean so far. At first that of the block itself, which is found
   by distances to one of its elements. Blocks far from their shift are inaccurate, but by no more
   than they add to the sum of squares. */
static void set_shifts(band *b, const char *x, int64_t samples, int64_t n, int64_t before,
                       const double *mean)
{
    for (int64_t r = 0; r < b->n_rows && before > 0; r++)
        b->shift[r] = round_to(b->dtype, b->origin[r] + mean[r]);
    if (before > 0)
        return;
    for (int64_t r = 0; r < b->n_rows; r++)
        b->shift[r] = tsr__get(b->dtype, x, r * b->length);
    add_block(b, x, samples, n);
    for (int64_t r = 0; r < b->n_rows; r++)
        b->origin[r] = b->shift[r] =
            round_to(b->dtype, b->shift[r] + b->sum[r] / (double)(samples * n));
}

/* Chan's formula: `before` values with these moments, and n more. */
static void merge_block(band *b, int64_t before, int64_t n, double *mean, double *m2)
{
    const double share = (double)n / (double)(before + n), each = 1 / (double)n;

    for (int64_t r = 0; r < b->n_rows; r++) {
        const double own = b->sum[r] * each, delta = b->shift[r] - b->origin[r] + own - mean[r];
        const double own_m2 = b->square[r] - b->sum[r] * own;

        mean[r] += delta * share;
        m2[r] += (own_m2 > 0         ? own_m2
                  : own_m2 != own_m2 ? own_m2
                                     : 0) +
                 delta * delta * (double)before * share;
    }
}

static void band_moments(band *b, int64_t samples, const char *x, double *mean, double *m2)
{
    const int64_t n = tsr__min(b->length, BLOCK), together = tsr__min(BLOCK / n, SAMPLES);
    const int64_t size = (int64_t)b->size;
    int64_t before = 0;

    for (int64_t r = 0; r < b->n_rows; r++)
        mean[r] = m2[r] = 0;
    for (int64_t s = 0; s < samples; s += together)
        for (int64_t i = 0; i < b->length; i += n) {
            const int64_t some = tsr__min(together, samples - s), m = tsr__min(n, b->length - i);
            const char *at = x + (s * b->rows * b->length + i) * size;

            set_shifts(b, at, some, m, before, mean);
            add_block(b, at, some, m);
            merge_block(b, before, some * m, mean, m2);
            before += some * m;
        }
    for (int64_t r = 0; r < b->n_rows; r++)
        mean[r] += b->origin[r];
}

void tsr__norm_moments(tsr_dtype dtype, tsr_kernel_variant variant, int64_t samples, int64_t rows,
                       int64_t length, const void *x, double *mean, double *m2)
{
    band b = {.parts = tsr__kernel_for(&norm_kernels, dtype, variant),
              .dtype = dtype,
              .size = tsr_dtype_size(dtype),
              .rows = rows,
              .length = length};
    /* rows are read twice at first: what is walked together stays in the cache */
    const int64_t near = length > 1 ? NEAR / (length * (int64_t)b.size) : ROWS;
    const int64_t together = length > BLOCK || near < 1 ? 1 : tsr__min(near, ROWS);

    if (samples == 0 || length == 0) {
        memset(mean, 0, (size_t)rows * sizeof *mean);
        memset(m2, 0, (size_t)rows * sizeof *m2);
        return;
    }
    for (int64_t r = 0; r < rows; r += together) {
        b.n_rows = tsr__min(together, rows - r);
        band_moments(&b, samples, (const char *)x + r * length * (int64_t)b.size, mean + r, m2 + r);
    }
}

/* ---- pieces of rows ---- */

/* Whole rows, as many as fit a piece, or a part of one. */
static int64_t rows_together(int64_t length)
{
    return length > 0 && length < PIECE ? PIECE / length : 1;
}

void tsr__norm_sums(tsr_dtype dtype, tsr_kernel_variant variant, int64_t rows, int64_t length,
                    const void *grad, const void *x, const double *center, double *sum, double *dot)
{
    const parts *p = tsr__kernel_for(&norm_kernels, dtype, variant);
    const int64_t size = (int64_t)tsr_dtype_size(dtype), together = rows_together(length);
    float wide_grad[PIECE], wide_x[PIECE];

    for (int64_t r = 0; r < rows && length > 0; r += together)
        for (int64_t i = 0; i < length; i += PIECE) {
            const int64_t n = tsr__min(PIECE, length - i), m = tsr__min(together, rows - r);
            const int64_t at = (r * length + i) * size;

            p->sums(load(dtype, (const char *)grad + at, m * n, wide_grad),
                    load(dtype, (const char *)x + at, m * n, wide_x), m, n, center + r, sum + r,
                    dot + r);
        }
}

static tsr_norm_factors factors_from(tsr_dtype dtype, const tsr_norm_factors *f, int64_t r)
{
    const int64_t at = r * (dtype == TSR_F64 ? 8 : 4);

    return (tsr_norm_factors){.high = (char *)f->high + at,
                              .low = (char *)f->low + at,
                              .by = (char *)f->by + at,
                              .plus = (char *)f->plus + at,
                              .grad_by = f->grad_by ? (char *)f->grad_by + at : NULL};
}

void tsr__norm_apply(tsr_dtype dtype, tsr_kernel_variant variant, int64_t rows, int64_t length,
                     const void *grad, const void *x, const tsr_norm_factors *factors, size_t large,
                     void *y)
{
    const parts *p = tsr__kernel_for(&norm_kernels, dtype, variant);
    const int64_t size = (int64_t)tsr_dtype_size(dtype), together = rows_together(length);
    const bool half = tsr__dtype_is_half(dtype);
    const size_t piece = (size_t)tsr__min(PIECE, rows * length) * (size_t)size;
    const bool stream = !half && tsr__stream_pays(large, piece, (uintptr_t)y);
    float wide_grad[PIECE], wide_x[PIECE];
    double result[PIECE];

    for (int64_t r = 0; r < rows && length > 0; r += together)
        for (int64_t i = 0; i < length; i += PIECE) {
            const int64_t n = tsr__min(PIECE, length - i), m = tsr__min(together, rows - r);
            const int64_t at = (r * length + i) * size;
            const tsr_norm_factors f = factors_from(dtype, factors, r);
            const void *from = load(dtype, (const char *)x + at, m * n, wide_x);
            void *to = half || stream ? result : (void *)((char *)y + at);

            if (grad)
                p->apply_grad(load(dtype, (const char *)grad + at, m * n, wide_grad), from, m, n,
                              &f, to);
            else
                p->apply(from, m, n, &f, to);
            if (half)
                tsr__half_narrow(dtype, to, m * n, (char *)y + at);
            else if (stream)
                tsr__stream_copy((char *)y + at, to, (size_t)(m * n * size));
        }
}
