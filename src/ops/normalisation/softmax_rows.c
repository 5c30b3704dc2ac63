/* SPDX-License-Identifier: Apache-2.0 */
/* softmax_rows.c - softmax and its log along a dim, and their gradients: rows along memory that fit
   a buffer are read once; rows across memory in tiles of columns. f16 and bf16 are computed in f32.
   Called through the ops' rows, and in steps by run/merged.c. */
#include "base/minmax.h"
#include "ops/normalisation/normalisation_ops.h"
#include "kernel/kinds.h"
#include "ops/normalisation/normalisation_attrs.h"
#include "kernel/row_io.h"
#include "kernel/sku.h"
#include "kernel/softmax_loops.h"

#include <math.h>
#include <string.h>

enum {
    ROW = TSR_ROW_PIECE,
    WIDTH = 1024, /* columns treated together, as in softmax_loops.c, */
    HEIGHT = 8    /* so many rows at a time */
};

/* What a call is: x[outer][n][step], rows along n. */
typedef struct walk {
    const tsr_softmax_loops *parts;
    tsr_row_io io;
    bool log;
    bool along; /* rows lie along memory: none beside them */
    int64_t outer, n, step;
} walk;

/* What is computed with. */
static tsr_dtype wide_of(const walk *w)
{
    return w->io.dtype == TSR_F64 ? TSR_F64 : TSR_F32;
}

static tsr_kernel_variant variant_of(const tsr_kernel_call *call)
{
    return tsr__variant_of(call, TSR_CATEGORY_SOFTMAX, (uint16_t)call->kind);
}

static walk walk_of(const tsr_kernel_call *call)
{
    const tsr_operand *x = &call->in[0];
    const int dim = tsr__operand_dim(x, call->attrs.value[TSR_ATTR_SOFTMAX_DIM].i[0]);
    walk w = {
        .parts = tsr__softmax_loops(x->dtype, variant_of(call)),
        .log = call->kind == TSR_LOG_SOFTMAX || call->kind == TSR_LOG_SOFTMAX_BACKWARD,
        .outer = tsr__product(dim, x->shape.size),
        .n = x->shape.size[dim],
        .step = tsr__product(x->shape.ndim - dim - 1, x->shape.size + dim + 1),
    };

    /* a part may have a single row of those that lie side by side elsewhere */
    w.along = w.step == 1 && (!call->reproducible || dim == x->shape.ndim - 1);
    w.io = tsr__row_io(x, w.along ? w.n : tsr__min(w.step, WIDTH), call->out[0].data);
    return w;
}

/* ---- rows along memory ---- */

/* Of no elements: -infinity and 0. */
static void row_numbers(const walk *w, const char *x, double *max, double *sum)
{
    const int64_t size = w->io.size;
    double TSR__CACHE_ALIGNED buffer[ROW]; /* of f32 or f64 */
    double top;

    *max = -INFINITY;
    *sum = 0;
    for (int64_t i = 0; i < w->n; i += ROW) {
        const int64_t m = tsr__min(ROW, w->n - i);
        const void *from = tsr__row_load(&w->io, x + i * size, m, buffer);
        const double here = w->parts->row_max(from, m);

        top = here > -INFINITY ? here : 0;
        tsr__lse_combine(max, sum, here, w->parts->row_exp_sum(from, m, top, NULL));
    }
}

static void row_finish(const walk *w, const char *x, double max, double sum, char *y)
{
    const int64_t size = w->io.size;
    double TSR__CACHE_ALIGNED buffer[ROW];

    for (int64_t i = 0; i < w->n; i += ROW) {
        const int64_t m = tsr__min(ROW, w->n - i);
        const void *from = tsr__row_load(&w->io, x + i * size, m, buffer);
        void *to = tsr__row_room(&w->io, y + i * size, buffer);

        if (w->log)
            w->parts->row_shift(from, m, max, log(sum), to);
        else
            w->parts->row_apply(from, m, max, 0, 1 / sum, 0, to);
        tsr__row_store(&w->io, to, m, y + i * size);
    }
}

/* A row that fits the buffer, in one go. */
static void row(const walk *w, const char *x, char *y)
{
    double TSR__CACHE_ALIGNED buffer[ROW];
    const void *from = tsr__row_load(&w->io, x, w->n, buffer);
    const void *ahead = w->io.half ? NULL : x + w->n * w->io.size;
    const double max = w->parts->row_max(from, w->n);
    void *to = tsr__row_room(&w->io, y, buffer);

    if (w->log) {
        const double sum = w->parts->row_exp_sum(from, w->n, max, ahead);

        w->parts->row_shift(from, w->n, max, log(sum), to);
    } else {
        const double sum = w->parts->row_exp(from, w->n, max, buffer, ahead);

        w->parts->row_scale(buffer, w->n, 1 / sum, to);
    }
    tsr__row_store(&w->io, to, w->n, y);
}

/* ---- rows across memory ---- */

static void tile_numbers(const walk *w, const char *x, int64_t width, void *max, double *sum)
{
    const int64_t skip = w->step * w->io.size;
    float TSR__CACHE_ALIGNED wide[HEIGHT * WIDTH];

    w->parts->columns_start(width, max, sum);
    for (int64_t i = 0; i < w->n; i += HEIGHT) {
        const int64_t rows = tsr__min(HEIGHT, w->n - i);

        for (int64_t k = 0; k < rows && w->io.half; k++)
            tsr__half_widen(w->io.dtype, x + (i + k) * skip, width, wide + k * WIDTH);
        w->parts->columns_add(w->io.half ? (const void *)wide : x + i * skip, rows,
                              w->io.half ? WIDTH : w->step, width, max, sum);
    }
}

static void tile_finish(const walk *w, const char *x, int64_t width, const void *max,
                        const double *sum, char *y)
{
    const int64_t skip = w->step * w->io.size;
    double TSR__CACHE_ALIGNED buffer[WIDTH], number[WIDTH], own[WIDTH]; /* own: of f32 or f64 */

    for (int64_t k = 0; k < width; k++)
        number[k] = w->log ? log(sum[k]) : 1 / sum[k];
    tsr__convert(wide_of(w), own, TSR_F64, number, width);
    for (int64_t i = 0; i < w->n; i++) {
        void *to = tsr__row_room(&w->io, y + i * skip, buffer);

        w->parts->columns_apply(w->log, tsr__row_load(&w->io, x + i * skip, width, buffer), width,
                                max, own, to);
        tsr__row_store(&w->io, to, width, y + i * skip);
    }
}

/* ---- the two steps ---- */

/* Which of them; the kernel does both row by row. */
enum { LOCAL = 1, FINISH = 2 };

static int64_t rows_of(const walk *w)
{
    return w->outer * w->step;
}

static void forward(const tsr_kernel_call *call, int steps, double *numbers)
{
    const walk w = walk_of(call);
    const int64_t slab = w.n * w.step * w.io.size;
    const bool whole = !numbers && w.along && w.n <= ROW;
    const char *x = call->in[0].data;
    char *y = call->out[0].data;
    double TSR__CACHE_ALIGNED top[WIDTH], own[2][WIDTH]; /* top: of f32 or f64 */

    for (int64_t i = 0; whole && i < w.outer && w.n > 0; i++)
        row(&w, x + i * slab, y + i * slab);
    for (int64_t i = 0; !whole && i < w.outer; i++)
        for (int64_t k = 0; k < w.step; k += WIDTH) {
            const int64_t width = tsr__min(WIDTH, w.step - k), first = i * w.step + k;
            const int64_t at = i * slab + k * w.io.size;
            const char *from = w.n > 0 ? x + at : NULL; /* a part of no elements has no memory */
            char *to = w.n > 0 ? y + at : NULL;
            double *max = numbers ? numbers + first : own[0];
            double *sum = numbers ? numbers + rows_of(&w) + first : own[1];

            if (w.along && steps & LOCAL)
                row_numbers(&w, from, max, sum);
            if (w.along && steps & FINISH)
                row_finish(&w, from, *max, *sum, to);
            if (!w.along && steps & LOCAL)
                tile_numbers(&w, from, width, top, sum);
            if (!w.along && steps == LOCAL)
                tsr__convert(TSR_F64, max, wide_of(&w), top, width);
            if (!w.along && steps == FINISH)
                tsr__convert(wide_of(&w), top, TSR_F64, max, width);
            if (!w.along && steps & FINISH)
                tile_finish(&w, from, width, top, sum, to);
        }
    if (steps & FINISH)
        tsr__row_end(&w.io);
}

static int64_t softmax_count(const tsr_kernel_call *call)
{
    const walk w = walk_of(call);

    return 2 * rows_of(&w);
}

static void softmax_local(const tsr_kernel_call *call, double *numbers)
{
    forward(call, LOCAL, numbers);
}

/* Numbers are only read here. */
static void softmax_finish(const tsr_kernel_call *call, const double *numbers)
{
    forward(call, FINISH, (double *)(uintptr_t)numbers);
}

/* ---- gradients: a sum of each row ---- */

static double row_sum(const walk *w, const char *grad, const char *y)
{
    const int64_t size = w->io.size;
    float TSR__CACHE_ALIGNED wide_grad[ROW], wide_y[ROW];
    double sum = 0;

    for (int64_t i = 0; i < w->n; i += ROW) {
        const int64_t m = tsr__min(ROW, w->n - i);

        sum += w->parts->row_dot(tsr__row_load(&w->io, grad + i * size, m, wide_grad),
                                 w->log ? NULL : tsr__row_load(&w->io, y + i * size, m, wide_y), m);
    }
    return sum;
}

static void row_grad(const walk *w, const char *grad, const char *y, double sum, char *out)
{
    const int64_t size = w->io.size;
    float TSR__CACHE_ALIGNED wide_grad[ROW];
    double TSR__CACHE_ALIGNED buffer[ROW];

    for (int64_t i = 0; i < w->n; i += ROW) {
        const int64_t m = tsr__min(ROW, w->n - i);
        void *to = tsr__row_room(&w->io, out + i * size, buffer);

        w->parts->row_grad(w->log, tsr__row_load(&w->io, grad + i * size, m, wide_grad),
                           tsr__row_load(&w->io, y + i * size, m, buffer), m, sum, to);
        tsr__row_store(&w->io, to, m, out + i * size);
    }
}

static void tile_sums(const walk *w, const char *grad, const char *y, int64_t width, double *sum)
{
    const int64_t skip = w->step * w->io.size;
    float TSR__CACHE_ALIGNED wide_grad[WIDTH], wide_y[WIDTH];

    memset(sum, 0, (size_t)width * sizeof *sum);
    for (int64_t i = 0; i < w->n; i++)
        w->parts->columns_dot(tsr__row_load(&w->io, grad + i * skip, width, wide_grad),
                              w->log ? NULL : tsr__row_load(&w->io, y + i * skip, width, wide_y),
                              width, sum);
}

static void tile_grad(const walk *w, const char *grad, const char *y, int64_t width,
                      const double *sum, char *out)
{
    const int64_t skip = w->step * w->io.size;
    float TSR__CACHE_ALIGNED wide_grad[WIDTH];
    double TSR__CACHE_ALIGNED buffer[WIDTH], own[WIDTH]; /* own: of f32 or f64 */

    tsr__convert(wide_of(w), own, TSR_F64, sum, width);
    for (int64_t i = 0; i < w->n; i++) {
        void *to = tsr__row_room(&w->io, out + i * skip, buffer);

        w->parts->columns_grad(w->log, tsr__row_load(&w->io, grad + i * skip, width, wide_grad),
                               tsr__row_load(&w->io, y + i * skip, width, buffer), width, own, to);
        tsr__row_store(&w->io, to, width, out + i * skip);
    }
}

static void backward(const tsr_kernel_call *call, int steps, double *numbers)
{
    const walk w = walk_of(call);
    const int64_t slab = w.n * w.step * w.io.size;
    const char *grad = call->in[0].data, *y = call->in[1].data;
    char *out = call->out[0].data;
    double TSR__CACHE_ALIGNED own[WIDTH];

    for (int64_t i = 0; i < w.outer; i++)
        for (int64_t k = 0; k < w.step; k += WIDTH) {
            const int64_t width = tsr__min(WIDTH, w.step - k);
            const int64_t at = i * slab + k * w.io.size;
            const char *g = w.n > 0 ? grad + at : NULL, *v = w.n > 0 ? y + at : NULL;
            char *to = w.n > 0 ? out + at : NULL;
            double *sum = numbers ? numbers + i * w.step + k : own;

            if (w.along && steps & LOCAL)
                *sum = row_sum(&w, g, v);
            if (w.along && steps & FINISH)
                row_grad(&w, g, v, *sum, to);
            if (!w.along && steps & LOCAL)
                tile_sums(&w, g, v, width, sum);
            if (!w.along && steps & FINISH)
                tile_grad(&w, g, v, width, sum, to);
        }
    if (steps & FINISH)
        tsr__row_end(&w.io);
}

static int64_t backward_count(const tsr_kernel_call *call)
{
    const walk w = walk_of(call);

    return rows_of(&w);
}

static void backward_local(const tsr_kernel_call *call, double *numbers)
{
    backward(call, LOCAL, numbers);
}

static void backward_finish(const tsr_kernel_call *call, const double *numbers)
{
    backward(call, FINISH, (double *)(uintptr_t)numbers);
}

const tsr_merge_steps tsr__softmax_steps = {softmax_count, softmax_local, tsr__lse_combine_n,
                                            softmax_finish, NULL};
const tsr_merge_steps tsr__softmax_backward_steps = {backward_count, backward_local,
                                                     tsr__merge_sums, backward_finish, NULL};

static bool is_backward(int kind)
{
    return kind == TSR_SOFTMAX_BACKWARD || kind == TSR_LOG_SOFTMAX_BACKWARD;
}

/* ---- the kernel ---- */

void tsr__kernel_softmax(const tsr_kernel_call *call)
{
    if (variant_of(call) == TSR_VARIANT_REFERENCE)
        tsr__reference_softmax(call);
    else if (is_backward(call->kind))
        backward(call, LOCAL | FINISH, NULL);
    else
        forward(call, LOCAL | FINISH, NULL);
}
