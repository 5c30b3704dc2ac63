/* SPDX-License-Identifier: Apache-2.0 */
/* layer_norm.c - layer_norm and rms_norm and their gradients: rows that fit a buffer are read once.
   f16 and bf16 are computed in f32. Called through the ops' rows, and in steps by
   run/merged.c. */
#include "ops/normalisation/layer_norm.h"

#include "base/minmax.h"
#include "ops/normalisation/normalisation_ops.h"
#include "kernel/kinds.h"
#include "kernel/norm_rows.h"
#include "kernel/row_io.h"
#include "kernel/sku.h"

#include <math.h>

enum {
    PIECE = TSR_ROW_PIECE,
    BLOCK = 1024,  /* terms of a sum between two folds, */
    LANES = 32,    /* of which so many are added side by side */
    TOGETHER = 32, /* rows whose gradients of vectors are added in f32 */
};

typedef struct parts {
    void (*spread)(const void *x, int64_t n, double center, double *sum, double *square);
    double (*total)(const void *x, int64_t n, const void *ahead);
    void (*apply)(const void *x, int64_t n, double high, double low, double by, const void *weight,
                  const void *bias, void *y);
    void (*grad_sums)(const void *grad, const void *x, int64_t n, double mean, const void *weight,
                      double *sum, double *dot);
    void (*grad_apply)(const void *grad, const void *x, int64_t n, double mean, const void *weight,
                       double by, double x_by, double plus, void *y);
    void (*grad_vectors)(const void *grad, const void *x, int64_t n, double mean, double rstd,
                         void *weight, void *bias);
    void (*flush)(void *narrow, int64_t n, double *wide);
} parts;

#define TABLE layer_kernels
#define BODY "ops/normalisation/layer_norm.inc.h"
#define DTYPES TSR__REALS
#define AVX2 TSR__AVX2_FMA
#define AVX512 TSR__AVX512
#include "base/kernel_table.inc.h"

/* What a call is: x[rows][n]. */
typedef struct view {
    const parts *parts;
    tsr_row_io io;
    bool rms;
    int64_t rows, n;
    int64_t each; /* bytes of what is computed with */
} view;

static bool is_backward(int kind)
{
    return kind == TSR_LAYER_NORM_BACKWARD || kind == TSR_RMS_NORM_BACKWARD;
}

static view view_of(const tsr_kernel_call *call)
{
    const tsr_operand *x = &call->in[is_backward(call->kind) ? TSR_LAYER_GRAD_X : TSR_LAYER_X];
    const int lead = x->shape.ndim - (int)call->attrs.value[TSR_LAYER_DIMS].i[0];
    view v = {
        .parts = tsr__kernel_for(&layer_kernels, x->dtype,
                                 tsr__variant_best(TSR_CATEGORY_LAYER_NORM, (uint16_t)call->kind,
                                                   x->dtype, call->variant)),
        .rms = call->kind == TSR_RMS_NORM || call->kind == TSR_RMS_NORM_BACKWARD,
        .rows = tsr__product(lead, x->shape.size),
        .n = tsr__product(x->shape.ndim - lead, x->shape.size + lead),
        .each = x->dtype == TSR_F64 ? 8 : 4,
    };

    v.io = tsr__row_io(x, v.n < PIECE ? v.n : PIECE, call->out[0].data);
    return v;
}

static bool is_wanted(const tsr_kernel_call *call, int k)
{
    return k < call->n_out && call->out[k].shape.ndim >= 0;
}

static tsr_dtype wide_type(const view *v)
{
    return v->io.dtype == TSR_F64 ? TSR_F64 : TSR_F32;
}

/* Operand k in what is computed with, at the given place; NULL if it is absent. */
static const char *load_vector(const tsr_kernel_call *call, const view *v, int k, void *to)
{
    if (!tsr__operand_given(call, k))
        return NULL;
    tsr__convert(wide_type(v), to, call->in[k].dtype, call->in[k].data, v->n);
    return to;
}

static const void *offset(const char *p, int64_t bytes)
{
    return p ? p + bytes : NULL;
}

/* ---- forward ---- */

/* A statistic of which nothing is known yet. */
typedef struct moments {
    double mean, m2; /* the sum of squared distances to the mean; rms_norm: of squares */
} moments;

/* Of a piece that is there: distances to a mean that is nearly right give both. */
static moments measure(const view *v, const void *x, int64_t n, const void *ahead)
{
    double center = 0, sum, square;

    if (!v->rms)
        center = v->parts->total(x, n, ahead) / (double)n;
    if (v->io.dtype != TSR_F64)
        center = (double)(float)center;
    v->parts->spread(x, n, center, &sum, &square);
    if (v->rms)
        return (moments){.m2 = square};
    square -= sum * sum / (double)n;
    return (moments){center + sum / (double)n, square < 0 ? 0 : square};
}

static moments row_moments(const view *v, const char *x)
{
    double buffer[PIECE], numbers[3] = {0}, more[3];

    for (int64_t i = 0; i < v->n; i += PIECE) {
        const int64_t n = tsr__min(PIECE, v->n - i);
        const moments m = measure(v, tsr__row_load(&v->io, x + i * v->io.size, n, buffer), n, NULL);

        more[0] = (double)n;
        more[1] = m.mean;
        more[2] = m.m2;
        if (v->rms)
            numbers[2] += m.m2;
        else
            tsr__welford_combine_n(NULL, 3, numbers, more);
    }
    return (moments){numbers[1], numbers[2]};
}

static double rstd_of(const tsr_kernel_call *call, double m2, double n)
{
    return 1 / sqrt((n > 0 ? m2 / n : 0) + call->attrs.value[TSR_LAYER_EPS].f);
}

static void put_statistics(const tsr_kernel_call *call, const view *v, int64_t row, double mean,
                           double rstd)
{
    const tsr_operand *out = &call->out[1];

    if (!v->rms)
        tsr__put(out[0].dtype, out[0].data, row, mean);
    out += !v->rms;
    tsr__put(out[0].dtype, out[0].data, row, rstd);
}

typedef struct vectors {
    const char *weight, *bias;
} vectors;

static vectors load_vectors(const tsr_kernel_call *call, const view *v)
{
    vectors at;

    at.weight = load_vector(call, v, TSR_LAYER_WEIGHT, call->scratch);
    at.bias = v->rms ? NULL
                     : load_vector(call, v, TSR_LAYER_BIAS,
                                   (char *)call->scratch + v->n * (int64_t)sizeof(double));
    return at;
}

static void apply_row(const view *v, const char *x, const vectors *at, double mean, double rstd,
                      char *y)
{
    double buffer[PIECE];

    for (int64_t i = 0; i < v->n; i += PIECE) {
        const int64_t n = tsr__min(PIECE, v->n - i);
        void *to = tsr__row_room(&v->io, y + i * v->io.size, buffer);

        v->parts->apply(tsr__row_load(&v->io, x + i * v->io.size, n, buffer), n, mean,
                        tsr__norm_rest(v->io.dtype, mean), rstd, offset(at->weight, i * v->each),
                        offset(at->bias, i * v->each), to);
        tsr__row_store(&v->io, to, n, y + i * v->io.size);
    }
}

/* A row that fits the buffer, in one go. */
static void whole_row(const tsr_kernel_call *call, const view *v, int64_t row, const vectors *at)
{
    const int64_t bytes = v->n * v->io.size;
    const char *x = (const char *)call->in[TSR_LAYER_X].data + row * bytes;
    char *y = (char *)call->out[0].data + row * bytes;
    double buffer[PIECE];
    const void *from = tsr__row_load(&v->io, x, v->n, buffer);
    const moments m = measure(v, from, v->n, v->io.half ? NULL : x + bytes);
    const double rstd = rstd_of(call, m.m2, (double)v->n);
    void *to = tsr__row_room(&v->io, y, buffer);

    v->parts->apply(from, v->n, m.mean, tsr__norm_rest(v->io.dtype, m.mean), rstd, at->weight,
                    at->bias, to);
    tsr__row_store(&v->io, to, v->n, y);
    put_statistics(call, v, row, m.mean, rstd);
}

/* Numbers of all rows: how many values, their means, their squared distances, as merge.h says. */
static int64_t forward_count(const tsr_kernel_call *call)
{
    const view v = view_of(call);

    return 1 + 2 * v.rows;
}

static void forward_local(const tsr_kernel_call *call, double *numbers)
{
    const view v = view_of(call);
    const char *x = call->in[TSR_LAYER_X].data;

    numbers[0] = (double)v.n;
    for (int64_t r = 0; r < v.rows; r++, x += v.n * v.io.size) {
        const moments m = row_moments(&v, x);

        numbers[1 + r] = m.mean;
        numbers[1 + v.rows + r] = m.m2;
    }
}

/* The means of rms_norm are 0, so all its numbers are sums. */
static void forward_merge(const tsr_kernel_call *call, int64_t count, double *numbers,
                          const double *more)
{
    (call->kind == TSR_RMS_NORM ? tsr__merge_sums : tsr__welford_combine_n)(call, count, numbers,
                                                                            more);
}

static void forward_finish(const tsr_kernel_call *call, const double *numbers)
{
    const view v = view_of(call);
    const int64_t bytes = v.n * v.io.size;
    const vectors at = load_vectors(call, &v);

    for (int64_t r = 0; r < v.rows; r++) {
        const double mean = numbers[1 + r],
                     rstd = rstd_of(call, numbers[1 + v.rows + r], numbers[0]);

        put_statistics(call, &v, r, mean, rstd);
        apply_row(&v, (const char *)call->in[TSR_LAYER_X].data + r * bytes, &at, mean, rstd,
                  (char *)call->out[0].data + r * bytes);
    }
    tsr__row_end(&v.io);
}

static void forward(const tsr_kernel_call *call)
{
    const view v = view_of(call);
    const int64_t bytes = v.n * v.io.size;
    const vectors at = load_vectors(call, &v);

    for (int64_t r = 0; r < v.rows; r++) {
        const char *x = (const char *)call->in[TSR_LAYER_X].data + r * bytes;

        if (v.n > 0 && v.n <= PIECE) {
            whole_row(call, &v, r, &at);
            continue;
        }
        const moments m = row_moments(&v, x);
        const double rstd = rstd_of(call, m.m2, (double)v.n);

        put_statistics(call, &v, r, m.mean, rstd);
        apply_row(&v, x, &at, m.mean, rstd, (char *)call->out[0].data + r * bytes);
    }
    tsr__row_end(&v.io);
}

/* ---- gradients: two sums of each row ---- */

enum { OUT_GRAD_X = 0, OUT_GRAD_WEIGHT = 1, OUT_GRAD_BIAS = 2 };

/* Of the scratch: the weight, and gradients of vectors, in parts of f32 and in f64. */
typedef struct sums {
    const char *weight;
    char *some[2];
    double *all[2]; /* NULL: not wanted */
} sums;

static sums open_sums(const tsr_kernel_call *call, const view *v)
{
    const int64_t bytes = v->n * (int64_t)sizeof(double);
    char *at = call->scratch;
    sums s = {.weight = load_vector(call, v, TSR_LAYER_GRAD_WEIGHT, at)};

    for (int k = 0; k < 2; k++) {
        s.some[k] = at + (1 + k) * bytes;
        if (is_wanted(call, OUT_GRAD_WEIGHT + k))
            s.all[k] = (double *)(void *)(at + (3 + k) * bytes);
        if (s.all[k]) {
            memset(s.some[k], 0, (size_t)bytes);
            memset(s.all[k], 0, (size_t)bytes);
        }
    }
    return s;
}

static double statistic(const tsr_kernel_call *call, int k, int64_t row)
{
    const tsr_operand *x = &call->in[TSR_LAYER_GRAD_STATISTICS + k];

    return tsr__get(x->dtype, x->data, row);
}

static void mean_and_rstd(const tsr_kernel_call *call, const view *v, int64_t row, double *mean,
                          double *rstd)
{
    *mean = v->rms ? 0 : statistic(call, 0, row);
    *rstd = statistic(call, v->rms ? 0 : 1, row);
}

/* The sums of a row, and what it adds to the gradients of vectors. */
static void sum_row(const tsr_kernel_call *call, const view *v, const sums *s, int64_t row,
                    double *sum, double *dot)
{
    const int64_t at = row * v->n * v->io.size;
    const char *grad = (const char *)call->in[TSR_LAYER_GRAD].data + at;
    const char *x = (const char *)call->in[TSR_LAYER_GRAD_X].data + at;
    float wide_grad[PIECE], wide_x[PIECE];
    double mean, rstd, one, two;

    mean_and_rstd(call, v, row, &mean, &rstd);
    *sum = *dot = 0;
    for (int64_t i = 0; i < v->n; i += PIECE) {
        const int64_t n = tsr__min(PIECE, v->n - i), skip = i * v->io.size;
        const void *g = tsr__row_load(&v->io, grad + skip, n, wide_grad);
        const void *from = tsr__row_load(&v->io, x + skip, n, wide_x);

        if (is_wanted(call, OUT_GRAD_X)) {
            v->parts->grad_sums(g, from, n, mean, offset(s->weight, i * v->each), &one, &two);
            *sum += one;
            *dot += two;
        }
        v->parts->grad_vectors(g, from, n, mean, rstd, s->all[0] ? s->some[0] + i * v->each : NULL,
                               s->all[1] ? s->some[1] + i * v->each : NULL);
    }
    for (int k = 0; k < 2 && (row % TOGETHER == TOGETHER - 1 || row == v->rows - 1); k++)
        if (s->all[k])
            v->parts->flush(s->some[k], v->n, s->all[k]);
}

/* gx = grad * weight * rstd - (sum + (x - mean) * rstd^2 * dot) * rstd / count */
static void grad_row(const tsr_kernel_call *call, const view *v, const char *weight, int64_t row,
                     double sum, double dot)
{
    const int64_t at = row * v->n * v->io.size;
    const char *grad = (const char *)call->in[TSR_LAYER_GRAD].data + at;
    const char *x = (const char *)call->in[TSR_LAYER_GRAD_X].data + at;
    char *out = (char *)call->out[OUT_GRAD_X].data + at;
    const double count = (double)call->number[TSR_LAYER_COUNT];
    double buffer[PIECE], mean, rstd;
    float wide[PIECE];

    mean_and_rstd(call, v, row, &mean, &rstd);
    for (int64_t i = 0; i < v->n; i += PIECE) {
        const int64_t n = tsr__min(PIECE, v->n - i), skip = i * v->io.size;
        void *to = tsr__row_room(&v->io, out + skip, buffer);

        v->parts->grad_apply(tsr__row_load(&v->io, grad + skip, n, wide),
                             tsr__row_load(&v->io, x + skip, n, buffer), n, mean,
                             offset(weight, i * v->each), rstd, -rstd * rstd * rstd * dot / count,
                             v->rms ? 0 : -rstd * sum / count, to);
        tsr__row_store(&v->io, to, n, out + skip);
    }
}

static void store_vectors(const tsr_kernel_call *call, const view *v, const sums *s)
{
    for (int k = 0; k < 2; k++)
        if (s->all[k])
            tsr__convert(call->out[OUT_GRAD_WEIGHT + k].dtype, call->out[OUT_GRAD_WEIGHT + k].data,
                         TSR_F64, s->all[k], v->n);
}

static int64_t backward_count(const tsr_kernel_call *call)
{
    const view v = view_of(call);

    return 2 * v.rows;
}

static void backward_local(const tsr_kernel_call *call, double *numbers)
{
    const view v = view_of(call);
    const sums s = open_sums(call, &v);

    for (int64_t r = 0; r < v.rows; r++)
        sum_row(call, &v, &s, r, &numbers[r], &numbers[v.rows + r]);
    store_vectors(call, &v, &s);
}

/* The weight is still in the scratch. */
static void backward_finish(const tsr_kernel_call *call, const double *numbers)
{
    const view v = view_of(call);
    const char *weight =
        tsr__operand_given(call, TSR_LAYER_GRAD_WEIGHT) ? (const char *)call->scratch : NULL;

    for (int64_t r = 0; r < v.rows; r++)
        grad_row(call, &v, weight, r, numbers[r], numbers[v.rows + r]);
    tsr__row_end(&v.io);
}

static void backward(const tsr_kernel_call *call)
{
    const view v = view_of(call);
    const sums s = open_sums(call, &v);
    double sum, dot;

    for (int64_t r = 0; r < v.rows; r++) {
        sum_row(call, &v, &s, r, &sum, &dot);
        if (is_wanted(call, OUT_GRAD_X))
            grad_row(call, &v, s.weight, r, sum, dot);
    }
    store_vectors(call, &v, &s);
    tsr__row_end(&v.io);
}

/* ---- the kernel ---- */

const tsr_merge_steps tsr__layer_norm_steps = {forward_count, forward_local, forward_merge,
                                               forward_finish, NULL};
const tsr_merge_steps tsr__layer_norm_backward_steps = {backward_count, backward_local,
                                                        tsr__merge_sums, backward_finish, NULL};

void tsr__kernel_layer_norm(const tsr_kernel_call *call)
{
    if (tsr__variant_asked(call) == TSR_VARIANT_REFERENCE)
        tsr__reference_layer_norm(call);
    else if (is_backward(call->kind))
        backward(call);
    else
        forward(call);
}

size_t tsr__scratch_layer_norm(const tsr_kernel_call *call)
{
    const view v = view_of(call);

    return (size_t)((is_backward(call->kind) ? 5 : 2) * v.n + 1) * sizeof(double);
}
