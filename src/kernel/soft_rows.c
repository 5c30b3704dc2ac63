/* SPDX-License-Identifier: Apache-2.0 */
/* soft_rows.c - softmax along a dim: rows along memory that fit a buffer are read once, longer ones
   three times, and rows across memory twice. f16 and bf16 are computed in f32. Called through the
   op's row. */
#include "kernel/kernels.h"

#include "base/half.h"
#include "base/stream.h"
#include "kernel/exp.h"
#include "kernel/index.h"
#include "kernel/reference.h"
#include "kernel/sku.h"

#include <math.h>
#include <string.h>

#ifdef __clang__ /* exp of f64 stays scalar, whatever soft_rows.inc.h asks for */
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

enum {
    ROW = 8192,   /* elements in the buffer */
    WIDTH = 1024, /* columns treated together, */
    HEIGHT = 8    /* so many rows at a time */
};

#define T float
#define EXP(x) tsr__exp_f32(false, x)
#define SET
#define FN(name) name##_f32_plain
#include "kernel/soft_rows.inc.h"

#define T double
#define EXP(x) exp(x)
#define SET
#define FN(name) name##_f64_plain
#include "kernel/soft_rows.inc.h"

#ifdef TSR__X86
#define T float
#define EXP(x) tsr__exp_f32(true, x)
#define SET TSR__AVX2_FMA
#define FN(name) name##_f32_avx2
#include "kernel/soft_rows.inc.h"
#endif

typedef struct parts {
    double (*row_max)(const void *x, int64_t n);
    double (*row_exp)(const void *x, int64_t n, double max, void *e);
    void (*row_scale)(const void *e, int64_t n, double factor, void *y);
    void (*columns_start)(int64_t n, void *max, double *sum);
    void (*columns_add)(const void *x, int64_t rows, int64_t step, int64_t n, void *max,
                        double *sum);
    void (*columns_scale)(const void *x, int64_t n, const void *max, const double *factor, void *y);
} parts;

static const parts f32_plain = {row_max_f32_plain,     row_exp_f32_plain,
                                row_scale_f32_plain,   columns_start_f32_plain,
                                columns_add_f32_plain, columns_scale_f32_plain};
static const parts f64_plain = {row_max_f64_plain,     row_exp_f64_plain,
                                row_scale_f64_plain,   columns_start_f64_plain,
                                columns_add_f64_plain, columns_scale_f64_plain};
#ifdef TSR__X86
static const parts f32_avx2 = {row_max_f32_avx2,     row_exp_f32_avx2,
                               row_scale_f32_avx2,   columns_start_f32_avx2,
                               columns_add_f32_avx2, columns_scale_f32_avx2};
#endif

static const parts *parts_for(tsr_dtype dtype, tsr_kernel_variant variant)
{
    if (dtype == TSR_F64)
        return &f64_plain;
#ifdef TSR__X86
    if (variant == TSR_VARIANT_AVX2)
        return &f32_avx2;
#endif
    (void)variant;
    return &f32_plain;
}

typedef struct walk {
    const parts *parts;
    tsr_dtype dtype;
    size_t size;
    bool half, stream;
} walk;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Where to read n elements: at x itself, or widened in the buffer. */
static const void *load(const walk *w, const char *x, int64_t n, void *buffer)
{
    if (!w->half)
        return x;
    tsr__half_widen(w->dtype, x, n, buffer);
    return buffer;
}

static void store(const walk *w, const void *result, int64_t n, char *y)
{
    if (w->half)
        tsr__half_narrow(w->dtype, result, n, y);
    else if (w->stream)
        tsr__stream_copy(y, result, (size_t)n * w->size);
    else if (result != y)
        memcpy(y, result, (size_t)n * w->size);
}

/* Where to compute what store() puts to y. */
static void *room(const walk *w, char *y, void *buffer)
{
    return w->half || w->stream ? buffer : y;
}

static void row(const walk *w, const char *x, int64_t n, char *y)
{
    const int64_t size = (int64_t)w->size;
    double buffer[ROW]; /* of f32 or f64 */
    double max = -INFINITY, sum = 0;

    for (int64_t i = 0; i < n; i += ROW)
        max = fmax(max, w->parts->row_max(load(w, x + i * size, least(ROW, n - i), buffer),
                                          least(ROW, n - i)));
    for (int64_t i = 0; i < n; i += ROW) {
        int64_t m = least(ROW, n - i);

        sum += w->parts->row_exp(load(w, x + i * size, m, buffer), m, max, buffer);
    }
    for (int64_t i = 0; i < n; i += ROW) {
        int64_t m = least(ROW, n - i);
        void *to = room(w, y + i * size, buffer);

        if (n > ROW)
            w->parts->row_exp(load(w, x + i * size, m, buffer), m, max, buffer);
        w->parts->row_scale(buffer, m, 1 / sum, to);
        store(w, to, m, y + i * size);
    }
}

/* Up to WIDTH neighbouring rows, whose elements are `step` apart. */
static void columns(const walk *w, const char *x, int64_t n, int64_t step, int64_t width, char *y)
{
    const int64_t skip = step * (int64_t)w->size;
    double max[WIDTH], sum[WIDTH]; /* max of f32 or f64 */
    float wide[HEIGHT * WIDTH];
    double buffer[WIDTH];

    w->parts->columns_start(width, max, sum);
    for (int64_t i = 0; i < n; i += HEIGHT) {
        int64_t rows = least(HEIGHT, n - i);

        for (int64_t k = 0; k < rows && w->half; k++)
            tsr__half_widen(w->dtype, x + (i + k) * skip, width, wide + k * WIDTH);
        w->parts->columns_add(w->half ? (const void *)wide : x + i * skip, rows,
                              w->half ? WIDTH : step, width, max, sum);
    }
    for (int64_t k = 0; k < width; k++)
        sum[k] = 1 / sum[k];
    for (int64_t i = 0; i < n; i++) {
        void *to = room(w, y + i * skip, buffer);

        w->parts->columns_scale(load(w, x + i * skip, width, buffer), width, max, sum, to);
        store(w, to, width, y + i * skip);
    }
}

static void softmax(const tsr_operand *in, int dim, tsr_kernel_variant variant,
                    const tsr_operand *out)
{
    const tsr_shape *s = &in->shape;
    const int64_t n = s->size[dim], outer = tsr__product(dim, s->size);
    const int64_t step = tsr__product(s->ndim - dim - 1, s->size + dim + 1);
    const size_t size = tsr_dtype_size(in->dtype);
    const size_t run = (size_t)(step == 1 ? n : least(step, WIDTH)) * size;
    const walk w = {
        .parts = parts_for(in->dtype, variant),
        .dtype = in->dtype,
        .size = size,
        .half = in->dtype == TSR_F16 || in->dtype == TSR_BF16,
        .stream =
            tsr__stream_pays((size_t)tsr__operand_count(in) * size, run, (uintptr_t)out->data),
    };

    for (int64_t i = 0; i < outer; i++) {
        const char *x = (const char *)in->data + i * n * step * (int64_t)size;
        char *y = (char *)out->data + i * n * step * (int64_t)size;

        if (step == 1)
            row(&w, x, n, y);
        else
            for (int64_t k = 0; k < step; k += WIDTH)
                columns(&w, x + k * (int64_t)size, n, step, least(WIDTH, step - k),
                        y + k * (int64_t)size);
    }
    if (w.stream)
        tsr__stream_fence();
}

void tsr__kernel_softmax(const tsr_kernel_call *call)
{
    const int dim = tsr__operand_dim(&call->in[0], call->attrs.value[0].i[0]);
    const tsr_kernel_variant v = tsr__variant_of(call, TSR_CATEGORY_SOFTMAX, TSR_SOFTMAX);

    if (v == TSR_VARIANT_REFERENCE)
        tsr__reference_softmax(call);
    else if (tsr__operand_count(&call->in[0]) > 0)
        softmax(&call->in[0], dim, v, &call->out[0]);
}
