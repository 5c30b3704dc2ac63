/* SPDX-License-Identifier: Apache-2.0 */
/* rearrange.c - kernels that only move elements: each is a copy between strided pieces, which
   base/piece.c knows how to do fast. What differs is where the piece of the input begins and what
   its strides are: 0 where elements repeat, negative where they go backwards. */
#include "ops/shape/rearrange.h"

#include <string.h>

#include "base/piece.h"
#include "kernel/index.h"
#include "kernel/kinds.h"
#include "ops/shape/reference_move.h"
#include "ops/shape/shape_attrs.h"
#include "kernel/sku.h"

/* All of an operand, in its own order. */
static tsr_piece piece_of(const tsr_operand *x)
{
    tsr_piece piece = {.n = x->shape.ndim};
    int64_t stride = (int64_t)tsr_dtype_size(x->dtype);

    for (int d = piece.n - 1; d >= 0; d--) {
        piece.count[d] = x->shape.size[d];
        piece.stride[d] = stride;
        stride *= piece.count[d];
    }
    return piece;
}

static void copy(const tsr_operand *out, const tsr_piece *to, const tsr_operand *x,
                 const tsr_piece *from)
{
    tsr__piece_copy(tsr_dtype_size(out->dtype), out->data, to, x->data, from);
}

/* The whole output from a piece of the input with a loop for every dim of the output. */
static void gather(const tsr_kernel_call *call, const tsr_piece *from)
{
    const tsr_piece to = piece_of(&call->out[0]);

    copy(&call->out[0], &to, &call->in[0], from);
}

static bool by_reference(const tsr_kernel_call *call, tsr_move_kind op)
{
    return tsr__variant_of(call, TSR_CATEGORY_MOVE, op) == TSR_VARIANT_REFERENCE;
}

/* ---- joined ---- */

void tsr__kernel_cat(const tsr_kernel_call *call)
{
    const tsr_operand *out = &call->out[0];
    const int dim = tsr__operand_dim(out, call->attrs.value[TSR_ATTR_CAT_DIM].i[0]);

    if (by_reference(call, TSR_MOVE_CAT)) {
        tsr__reference_cat(call);
        return;
    }
    for (int k = 0; k < call->n_in; k++) {
        const tsr_operand *x = &call->in[k];
        tsr_piece to = piece_of(out), from = piece_of(x);

        to.count[dim] = from.count[dim];
        to.offset = (call->number[k] + x->first[dim] - out->first[dim]) * to.stride[dim];
        copy(out, &to, x, &from);
    }
}

void tsr__kernel_stack(const tsr_kernel_call *call)
{
    const tsr_operand *out = &call->out[0];
    const int dim = tsr__operand_dim(out, call->attrs.value[TSR_ATTR_STACK_DIM].i[0]);
    const tsr_piece all = piece_of(out);

    if (by_reference(call, TSR_MOVE_STACK)) {
        tsr__reference_stack(call);
        return;
    }
    for (int k = 0; k < call->n_in; k++) {
        tsr_piece from = piece_of(&call->in[k]), to = from;

        to.offset = k * all.stride[dim];
        for (int d = 0; d < to.n; d++)
            to.stride[d] = all.stride[d < dim ? d : d + 1];
        copy(out, &to, &call->in[k], &from);
    }
}

/* ---- dims in another order ---- */

void tsr__kernel_transpose(const tsr_kernel_call *call)
{
    const int d0 = tsr__operand_dim(&call->in[0], call->attrs.value[TSR_ATTR_TRANSPOSE_DIM0].i[0]);
    const int d1 = tsr__operand_dim(&call->in[0], call->attrs.value[TSR_ATTR_TRANSPOSE_DIM1].i[0]);
    tsr_piece from = piece_of(&call->in[0]);
    const int64_t stride = from.stride[d0];

    if (by_reference(call, TSR_MOVE_TRANSPOSE)) {
        tsr__reference_transpose(call);
        return;
    }
    from.stride[d0] = from.stride[d1];
    from.stride[d1] = stride;
    gather(call, &from);
}

void tsr__kernel_permute(const tsr_kernel_call *call)
{
    const tsr_attr *dims = &call->attrs.value[TSR_ATTR_PERMUTE_DIMS];
    const tsr_piece x = piece_of(&call->in[0]);
    tsr_piece from = x;

    if (by_reference(call, TSR_MOVE_PERMUTE)) {
        tsr__reference_permute(call);
        return;
    }
    for (int d = 0; d < from.n; d++)
        from.stride[d] = x.stride[tsr__operand_dim(&call->in[0], dims->i[d])];
    gather(call, &from);
}

void tsr__kernel_reshape(const tsr_kernel_call *call)
{
    const tsr_piece all = {.n = 1,
                           .count = {tsr__operand_count(&call->out[0])},
                           .stride = {(int64_t)tsr_dtype_size(call->out[0].dtype)}};

    if (by_reference(call, TSR_MOVE_RESHAPE))
        tsr__reference_reshape(call);
    else if (call->out[0].data != call->in[0].data)
        copy(&call->out[0], &all, &call->in[0], &all);
}

/* ---- elements that repeat ---- */

void tsr__kernel_expand(const tsr_kernel_call *call)
{
    const tsr_shape *out = &call->out[0].shape;
    const tsr_piece x = piece_of(&call->in[0]);
    tsr_piece from = {.n = out->ndim};

    if (by_reference(call, TSR_MOVE_EXPAND)) {
        tsr__reference_expand(call);
        return;
    }
    for (int d = x.n - 1, e = out->ndim - 1; d >= 0; d--, e--)
        from.stride[e] = x.count[d] == out->size[e] ? x.stride[d] : 0;
    gather(call, &from);
}

void tsr__kernel_tile(const tsr_kernel_call *call)
{
    const tsr_attr *counts = &call->attrs.value[TSR_ATTR_TILE_COUNTS];
    const tsr_piece x = piece_of(&call->in[0]), all = piece_of(&call->out[0]);
    tsr_piece to = {.n = 2 * all.n}, from = {.n = 2 * all.n};

    if (by_reference(call, TSR_MOVE_TILE)) {
        tsr__reference_tile(call);
        return;
    }
    for (int d = 0; d < all.n; d++) { /* a loop over the copies, and one over what is copied */
        const int own = d - (all.n - x.n), count = d - (all.n - counts->n);
        const int64_t size = own < 0 ? 1 : x.count[own];

        to.count[2 * d] = count < 0 ? 1 : counts->i[count];
        to.stride[2 * d] = size * all.stride[d];
        to.count[2 * d + 1] = size;
        to.stride[2 * d + 1] = all.stride[d];
        from.stride[2 * d + 1] = own < 0 ? 0 : x.stride[own];
    }
    copy(&call->out[0], &to, &call->in[0], &from);
}

/* ---- some of the elements ---- */

void tsr__kernel_slice(const tsr_kernel_call *call)
{
    const tsr_operand *x = &call->in[0], *out = &call->out[0];
    const int dim = tsr__operand_dim(x, call->attrs.value[TSR_ATTR_SLICE_DIM].i[0]);
    const int64_t start = call->number[0], step = call->number[1];
    tsr_piece from = piece_of(x);

    if (by_reference(call, TSR_MOVE_SLICE)) {
        tsr__reference_slice(call);
        return;
    }
    from.offset = (start + out->first[dim] * step - x->first[dim]) * from.stride[dim];
    from.stride[dim] *= step;
    gather(call, &from);
}

void tsr__kernel_select(const tsr_kernel_call *call)
{
    const tsr_operand *x = &call->in[0];
    const int dim = tsr__operand_dim(x, call->attrs.value[TSR_ATTR_SELECT_DIM].i[0]);
    const int64_t index = call->attrs.value[TSR_ATTR_SELECT_INDEX].i[0];
    const tsr_piece all = piece_of(x);
    tsr_piece from = {.n = all.n - 1};

    if (by_reference(call, TSR_MOVE_SELECT)) {
        tsr__reference_select(call);
        return;
    }
    from.offset = (index < 0 ? index + all.count[dim] : index) * all.stride[dim];
    for (int d = 0; d < from.n; d++)
        from.stride[d] = all.stride[d < dim ? d : d + 1];
    gather(call, &from);
}

void tsr__kernel_unfold(const tsr_kernel_call *call)
{
    const tsr_operand *x = &call->in[0], *out = &call->out[0];
    const int dim = tsr__operand_dim(x, call->attrs.value[TSR_ATTR_UNFOLD_DIM].i[0]);
    const int64_t runs = out->shape.size[dim], before = out->first[dim];
    /* that of one run is not taken, and may be of any length */
    const int64_t step =
        runs == 0 || (runs == 1 && before == 0) ? 0 : call->attrs.value[TSR_ATTR_UNFOLD_STEP].i[0];
    tsr_piece from = piece_of(x);

    if (by_reference(call, TSR_MOVE_UNFOLD)) {
        tsr__reference_unfold(call);
        return;
    }
    from.stride[from.n++] = from.stride[dim];
    from.offset = (before * step - x->first[dim]) * from.stride[dim];
    from.stride[dim] *= step;
    gather(call, &from);
}

void tsr__kernel_diagonal(const tsr_kernel_call *call)
{
    const tsr_operand *x = &call->in[0];
    const int64_t offset = call->attrs.value[TSR_ATTR_DIAGONAL_OFFSET].i[0];
    const int d1 = tsr__operand_dim(x, call->attrs.value[TSR_ATTR_DIAGONAL_DIM1].i[0]);
    const int d2 = tsr__operand_dim(x, call->attrs.value[TSR_ATTR_DIAGONAL_DIM2].i[0]);
    const tsr_piece all = piece_of(x);
    tsr_piece from = {0};

    if (by_reference(call, TSR_MOVE_DIAGONAL)) {
        tsr__reference_diagonal(call);
        return;
    }
    if (tsr__operand_count(&call->out[0]) == 0) /* the offset may be beyond all bytes */
        return;
    from.offset = offset < 0 ? -offset * all.stride[d1] : offset * all.stride[d2];
    for (int d = 0; d < all.n; d++)
        if (d != d1 && d != d2)
            from.stride[from.n++] = all.stride[d];
    from.stride[from.n++] = all.stride[d1] + all.stride[d2];
    gather(call, &from);
}

/* ---- backwards, and around ---- */

void tsr__kernel_flip(const tsr_kernel_call *call)
{
    const unsigned dims = tsr__call_dims(call, TSR_ATTR_FLIP_DIMS);
    tsr_piece from = piece_of(&call->in[0]);

    if (by_reference(call, TSR_MOVE_FLIP)) {
        tsr__reference_flip(call);
        return;
    }
    for (int d = 0; d < from.n; d++)
        if (dims >> d & 1) {
            from.offset += (from.count[d] - 1) * from.stride[d];
            from.stride[d] = -from.stride[d];
        }
    gather(call, &from);
}

/* All elements as one dim: number[1] of them from number[0] on, then from the first one. */
static void roll_flat(const tsr_kernel_call *call)
{
    const size_t size = tsr_dtype_size(call->in[0].dtype);
    const int64_t n = tsr__operand_count(&call->out[0]);
    const size_t first = (size_t)(n < call->number[1] ? n : call->number[1]) * size;
    const char *x = call->in[0].data;
    char *out = call->out[0].data;

    if (n == 0)
        return;
    memcpy(out, x + (size_t)call->number[0] * size, first);
    memcpy(out + first, x, (size_t)n * size - first);
}

/* Along each of its dims the input is in two pieces that change places: all combinations. */
void tsr__kernel_roll(const tsr_kernel_call *call)
{
    const tsr_attr *shifts = &call->attrs.value[TSR_ATTR_ROLL_SHIFTS],
                   *dims = &call->attrs.value[TSR_ATTR_ROLL_DIMS];
    const tsr_piece all = piece_of(&call->in[0]);

    if (by_reference(call, TSR_MOVE_ROLL)) {
        tsr__reference_roll(call);
        return;
    }
    if (dims->n < 0) {
        roll_flat(call);
        return;
    }
    for (unsigned which = 0; which < 1u << shifts->n; which++) {
        tsr_piece to = all, from = all;

        for (int k = 0; k < shifts->n; k++) {
            const int d = tsr__operand_dim(&call->in[0], dims->i[k]);
            const int64_t n = all.count[d], shift = tsr__modulo(shifts->i[k], n);

            if (which >> k & 1) { /* what comes in at the front */
                to.count[d] = shift;
                from.offset += (n - shift) * from.stride[d];
            } else {
                to.count[d] = n - shift;
                to.offset += shift * to.stride[d];
            }
        }
        copy(&call->out[0], &to, &call->in[0], &from);
    }
}
