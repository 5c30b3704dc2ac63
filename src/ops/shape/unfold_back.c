/* SPDX-License-Identifier: Apache-2.0 */
/* unfold_back.c - gradients of unfold and slice: every output is the sum of the runs that hold it,
   or 0 where there is none. */
#include <math.h>
#include <string.h>

#include "base/half.h"
#include "base/minmax.h"
#include "base/piece.h"
#include "kernel/index.h"
#include "kernel/kinds.h"
#include "ops/shape/padding.h"
#include "ops/shape/shape_attrs.h"
#include "kernel/sku.h"

/* Input [outer, runs, inner, size], output [outer, n, inner]; where both begin in the whole. */
typedef struct unfolding {
    tsr_dtype dtype;
    int64_t outer, runs, n, inner, size;
    int64_t step, start, first, first_run;
} unfolding;

/* Up to LINE outputs that are summed together: from run e, its element l and inner element j on. */
enum { LINE = 256, SHORT = 16 };
typedef enum direction {
    INNER,  /* along j */
    BESIDE, /* along l, up to the next step; there is only one j */
    RUNS    /* along e, a step apart */
} direction;
typedef struct line {
    direction along;
    int64_t e, l, j, n;
} line;

typedef struct naive_bodies {
    void (*naive)(const unfolding *u, const void *in, void *out);
} naive_bodies;

#define TABLE naive_kernels
#define BODY "ops/shape/unfold_naive.inc.h"
#include "kernel/reference_types.inc.h"

typedef struct line_bodies {
    void (*line)(const unfolding *u, const line *at, const void *in, void *out);
} line_bodies;

#define TABLE line_kernels
#define BODY "ops/shape/unfold_back.inc.h"
#define DTYPES (TSR__HALVES | TSR__INTEGERS | TSR__BOOLEANS | TSR__PRIME)
#include "base/kernel_table.inc.h"

/* Where output i begins, and how many go on from there to `end`. */
static line line_at(const unfolding *u, direction along, int64_t i, int64_t end)
{
    const int64_t at = u->first + i - u->start, l = tsr__modulo(at, u->step);
    const int64_t n =
        along == BESIDE ? tsr__min(end - i, u->step - l) : (end - i - 1) / u->step + 1;

    return (line){
        .along = along, .e = (at - l) / u->step - u->first_run, .l = l, .n = tsr__min(n, LINE)};
}

static void sum_line(const unfolding *u, const line *at, const char *in, char *out)
{
    const line_bodies *b = tsr__kernel_for(&line_kernels, u->dtype, TSR_VARIANT_PLAIN);

    b->line(u, at, in, out);
}

/* Short steps are taken together: LINE of them, and from each the same element. */
static void sum_runs(const unfolding *u, const char *in, char *out)
{
    const int64_t size = (int64_t)tsr_dtype_size(u->dtype);

    for (int64_t from = 0; from < u->n; from += LINE * u->step)
        for (int64_t i = from; i < tsr__min(u->n, from + u->step); i++) {
            const line at = line_at(u, RUNS, i, tsr__min(u->n, from + LINE * u->step));

            sum_line(u, &at, in, out + i * size);
        }
}

static void sum_beside(const unfolding *u, const char *in, char *out)
{
    const int64_t size = (int64_t)tsr_dtype_size(u->dtype);

    for (int64_t i = 0; i < u->n;) {
        const line at = line_at(u, BESIDE, i, u->n);

        sum_line(u, &at, in, out + i * size);
        i += at.n;
    }
}

static void sum_inner(const unfolding *u, const char *in, char *out)
{
    const int64_t size = (int64_t)tsr_dtype_size(u->dtype);

    for (int64_t i = 0; i < u->n; i++) {
        line at = line_at(u, INNER, i, u->n);

        for (at.j = 0; at.j < u->inner; at.j += LINE) {
            at.n = tsr__min(LINE, u->inner - at.j);
            sum_line(u, &at, in, out + (i * u->inner + at.j) * size);
        }
    }
}

static void sum_lines(const unfolding *u, const char *in, char *out)
{
    const int64_t size = (int64_t)tsr_dtype_size(u->dtype);

    for (int64_t o = 0; o < u->outer; o++) {
        if (u->inner > 1)
            sum_inner(u, in, out);
        else if (u->step >= SHORT)
            sum_beside(u, in, out);
        else
            sum_runs(u, in, out);
        in += u->runs * u->inner * u->size * size;
        out += u->n * u->inner * size;
    }
}

static void unfold_back(const tsr_kernel_call *call, tsr_move_kind kind)
{
    const tsr_operand *x = &call->in[0], *out = &call->out[0];
    const int dim = tsr__operand_dim(out, call->attrs.value[TSR_ATTR_UNFOLD_BACKWARD_DIM].i[0]),
              ndim = out->shape.ndim;
    const bool reference = tsr__variant_of(call, TSR_CATEGORY_MOVE, kind) == TSR_VARIANT_REFERENCE;
    const naive_bodies *naive = tsr__kernel_for(&naive_kernels, out->dtype, TSR_VARIANT_REFERENCE);
    const unfolding u = {
        .dtype = out->dtype,
        .outer = tsr__product(dim, out->shape.size),
        .runs = x->shape.size[dim],
        .n = out->shape.size[dim],
        .inner = tsr__product(ndim - dim - 1, out->shape.size + dim + 1),
        .size = x->shape.ndim > ndim ? x->shape.size[ndim] : 1,
        .step = call->number[0],
        .start = call->number[1],
        .first = out->first[dim],
        .first_run = x->first[dim],
    };

    if (reference)
        naive->naive(&u, x->data, out->data);
    else if (u.inner > 0)
        sum_lines(&u, x->data, out->data);
}

/* Zeros, and the input between them. */
void tsr__kernel_slice_backward(const tsr_kernel_call *call)
{
    const tsr_operand *x = &call->in[0], *out = &call->out[0];
    const int dim = tsr__operand_dim(out, call->attrs.value[TSR_ATTR_UNFOLD_BACKWARD_DIM].i[0]);
    const int64_t step = call->number[0], size = (int64_t)tsr_dtype_size(out->dtype);
    const int64_t begin = call->number[1] + x->first[dim] * step - out->first[dim];
    tsr_piece from = {.n = out->shape.ndim}, to = from;
    int64_t in_stride = size, out_stride = size;

    if (tsr__variant_of(call, TSR_CATEGORY_MOVE, TSR_MOVE_SLICE_BACKWARD) ==
        TSR_VARIANT_REFERENCE) {
        unfold_back(call, TSR_MOVE_SLICE_BACKWARD);
        return;
    }
    for (int d = to.n - 1; d >= 0; d--) {
        from.count[d] = to.count[d] = x->shape.size[d];
        from.stride[d] = in_stride;
        to.stride[d] = out_stride;
        in_stride *= x->shape.size[d];
        out_stride *= out->shape.size[d];
    }
    to.offset = begin * to.stride[dim];
    to.stride[dim] *= step;
    if (out_stride > 0)
        memset(out->data, 0, (size_t)out_stride);
    tsr__piece_copy((size_t)size, out->data, &to, x->data, &from);
}

void tsr__kernel_unfold_backward(const tsr_kernel_call *call)
{
    unfold_back(call, TSR_MOVE_UNFOLD_BACKWARD);
}
