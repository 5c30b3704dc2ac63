/* SPDX-License-Identifier: Apache-2.0 */
/* norm_rows.c - walks rows in blocks that fit the cache (norm_rows.h). A block's moments are of
   distances to one of its own elements, so a large mean does no harm, and blocks are merged as
   moments. Called by norm.c. */
#include "kernel/norm_rows.h"

#include "base/cpu.h"
#include "base/half.h"
#include "base/stream.h"

#include <string.h>

enum {
    LANES = 16,   /* accumulators of a sum */
    BLOCK = 1024, /* elements of a row between two merges, */
    SAMPLES = 64, /* or samples of it */
    ROWS = 1024,  /* rows that are walked together, */
    PIECE = 2048  /* so many elements of them at a time */
};

#define T float
#define SET
#define FN(name) name##_f32_plain
#include "kernel/norm_rows.inc.h"

#define T double
#define SET
#define FN(name) name##_f64_plain
#include "kernel/norm_rows.inc.h"

#ifdef TSR__X86
#define T float
#define SET TSR__AVX2
#define FN(name) name##_f32_avx2
#include "kernel/norm_rows.inc.h"

#define T double
#define SET TSR__AVX2
#define FN(name) name##_f64_avx2
#include "kernel/norm_rows.inc.h"
#endif

typedef struct parts {
    void (*moments)(const void *x, int64_t rows, int64_t step, int64_t n, const double *shift,
                    double *sum, double *square);
    void (*sums)(const void *grad, const void *x, int64_t rows, int64_t n, const double *center,
                 double *sum, double *dot);
    void (*apply)(const void *x, int64_t rows, int64_t n, const tsr_norm_factors *f, void *y);
    void (*apply_grad)(const void *grad, const void *x, int64_t rows, int64_t n,
                       const tsr_norm_factors *f, void *y);
} parts;

static const parts f32_plain = {moments_f32_plain, sums_f32_plain, apply_f32_plain,
                                apply_grad_f32_plain};
static const parts f64_plain = {moments_f64_plain, sums_f64_plain, apply_f64_plain,
                                apply_grad_f64_plain};
#ifdef TSR__X86
static const parts f32_avx2 = {moments_f32_avx2, sums_f32_avx2, apply_f32_avx2,
                               apply_grad_f32_avx2};
static const parts f64_avx2 = {moments_f64_avx2, sums_f64_avx2, apply_f64_avx2,
                               apply_grad_f64_avx2};
#endif

static const parts *parts_for(tsr_dtype dtype)
{
#ifdef TSR__X86
    if (tsr__cpu_avx2())
        return dtype == TSR_F64 ? &f64_avx2 : &f32_avx2;
#endif
    return dtype == TSR_F64 ? &f64_plain : &f32_plain;
}

static bool is_half(tsr_dtype dtype)
{
    return dtype == TSR_F16 || dtype == TSR_BF16;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Where to read n elements: at x itself, or widened in the buffer. */
static const void *load(tsr_dtype dtype, const char *x, int64_t n, float *buffer)
{
    if (!is_half(dtype))
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
    double shift[ROWS], sum[ROWS], square[ROWS];
} band;

/* `n` elements of each row of one sample, from x on. Halves are widened rows at a time. */
static void add_rows(band *b, const char *x, int64_t n)
{
    const int64_t together = n == b->length ? PIECE / n : 1;
    float buffer[PIECE];

    if (!is_half(b->dtype)) {
        b->parts->moments(x, b->n_rows, b->length, n, b->shift, b->sum, b->square);
        return;
    }
    for (int64_t r = 0; r < b->n_rows; r += together) {
        const int64_t m = least(together, b->n_rows - r);
        const void *wide = load(b->dtype, x + r * b->length * (int64_t)b->size, m * n, buffer);

        b->parts->moments(wide, m, n, n, b->shift + r, b->sum + r, b->square + r);
    }
}

/* Chan's formula: `before` values with these moments, and n more. */
static void merge_block(band *b, int64_t before, int64_t n, double *mean, double *m2)
{
    const double share = (double)n / (double)(before + n), each = 1 / (double)n;

    for (int64_t r = 0; r < b->n_rows; r++) {
        const double own = b->sum[r] * each, delta = b->shift[r] + own - mean[r];
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
    const int64_t n = least(b->length, BLOCK), together = least(BLOCK / n, SAMPLES);
    const int64_t size = (int64_t)b->size;
    int64_t before = 0;

    for (int64_t r = 0; r < b->n_rows; r++)
        mean[r] = m2[r] = 0;
    for (int64_t s = 0; s < samples; s += together)
        for (int64_t i = 0; i < b->length; i += n) {
            const int64_t some = least(together, samples - s), m = least(n, b->length - i);
            const char *at = x + (s * b->rows * b->length + i) * size;

            for (int64_t r = 0; r < b->n_rows; r++) {
                b->shift[r] = tsr__get(b->dtype, at, r * b->length);
                b->sum[r] = b->square[r] = 0;
            }
            for (int64_t k = 0; k < some; k++)
                add_rows(b, at + k * b->rows * b->length * size, m);
            merge_block(b, before, some * m, mean, m2);
            before += some * m;
        }
}

void tsr__norm_moments(tsr_dtype dtype, int64_t samples, int64_t rows, int64_t length,
                       const void *x, double *mean, double *m2)
{
    band b = {.parts = parts_for(dtype),
              .dtype = dtype,
              .size = tsr_dtype_size(dtype),
              .rows = rows,
              .length = length};
    const int64_t together = length > BLOCK ? 1 : ROWS;

    if (samples == 0 || length == 0) {
        memset(mean, 0, (size_t)rows * sizeof *mean);
        memset(m2, 0, (size_t)rows * sizeof *m2);
        return;
    }
    for (int64_t r = 0; r < rows; r += together) {
        b.n_rows = least(together, rows - r);
        band_moments(&b, samples, (const char *)x + r * length * (int64_t)b.size, mean + r, m2 + r);
    }
}

/* ---- pieces of rows ---- */

/* Whole rows, as many as fit a piece, or a part of one. */
static int64_t rows_together(int64_t length)
{
    return length > 0 && length < PIECE ? PIECE / length : 1;
}

void tsr__norm_sums(tsr_dtype dtype, int64_t rows, int64_t length, const void *grad, const void *x,
                    const double *center, double *sum, double *dot)
{
    const parts *p = parts_for(dtype);
    const int64_t size = (int64_t)tsr_dtype_size(dtype), together = rows_together(length);
    float wide_grad[PIECE], wide_x[PIECE];

    for (int64_t r = 0; r < rows && length > 0; r += together)
        for (int64_t i = 0; i < length; i += PIECE) {
            const int64_t n = least(PIECE, length - i), m = least(together, rows - r);
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

void tsr__norm_apply(tsr_dtype dtype, int64_t rows, int64_t length, const void *grad, const void *x,
                     const tsr_norm_factors *factors, size_t large, void *y)
{
    const parts *p = parts_for(dtype);
    const int64_t size = (int64_t)tsr_dtype_size(dtype), together = rows_together(length);
    const bool half = is_half(dtype);
    const size_t piece = (size_t)least(PIECE, rows * length) * (size_t)size;
    const bool stream = !half && tsr__stream_pays(large, piece, (uintptr_t)y);
    float wide_grad[PIECE], wide_x[PIECE];
    double result[PIECE];

    for (int64_t r = 0; r < rows && length > 0; r += together)
        for (int64_t i = 0; i < length; i += PIECE) {
            const int64_t n = least(PIECE, length - i), m = least(together, rows - r);
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
