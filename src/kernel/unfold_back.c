/* SPDX-License-Identifier: Apache-2.0 */
/* unfold_back.c - gradients of unfold and slice: every output is the sum of the runs that hold it,
   or 0 where there is none. */
#include <math.h>
#include <string.h>

#include "base/piece.h"
#include "kernel/index.h"
#include "kernel/padding.h"
#include "kernel/sku.h"

/* Input [outer, runs, inner, size], output [outer, n, inner]; where both begin in the whole. */
typedef struct unfolding {
    int64_t outer, runs, n, inner, size;
    int64_t step, start, first, first_run;
} unfolding;

#define BODY "kernel/unfold_back.inc.h"
#include "kernel/reference_types.inc.h"

typedef void (*body)(const unfolding *u, const void *in, void *out);

static const body naive[TSR__DTYPES] = {
    [TSR_F32] = naive_f32,   [TSR_F64] = naive_f64,   [TSR_F16] = naive_f16,
    [TSR_BF16] = naive_bf16, [TSR_I32] = naive_i32,   [TSR_I64] = naive_i64,
    [TSR_U8] = naive_u8,     [TSR_BOOL] = naive_bool, [TSR__FIELD] = naive_field,
};

static const body fast[TSR__DTYPES] = {
    [TSR_F32] = fast_f32,   [TSR_F64] = fast_f64,   [TSR_F16] = fast_f16,
    [TSR_BF16] = fast_bf16, [TSR_I32] = fast_i32,   [TSR_I64] = fast_i64,
    [TSR_U8] = fast_u8,     [TSR_BOOL] = fast_bool, [TSR__FIELD] = fast_field,
};

static void unfold_back(const tsr_kernel_call *call, tsr_move_kind kind)
{
    const tsr_operand *x = &call->in[0], *out = &call->out[0];
    const int dim = tsr__operand_dim(out, call->attrs.value[0].i[0]), ndim = out->shape.ndim;
    const bool reference = tsr__variant_of(call, TSR_CATEGORY_MOVE, kind) == TSR_VARIANT_REFERENCE;
    const unfolding u = {
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

    (reference ? naive : fast)[out->dtype](&u, x->data, out->data);
}

/* Zeros, and the input between them. */
void tsr__kernel_slice_backward(const tsr_kernel_call *call)
{
    const tsr_operand *x = &call->in[0], *out = &call->out[0];
    const int dim = tsr__operand_dim(out, call->attrs.value[0].i[0]);
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
