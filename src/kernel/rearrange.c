/* SPDX-License-Identifier: Apache-2.0 */
/* rearrange.c - kernels that only move elements: each is a copy between strided pieces, which
   base/piece.c knows how to do fast. */
#include "kernel/kernels.h"

#include "base/piece.h"
#include "kernel/index.h"
#include "kernel/reference.h"
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

static bool by_reference(const tsr_kernel_call *call, tsr_move_kind op)
{
    return tsr__variant_of(call, TSR_CATEGORY_MOVE, op) == TSR_VARIANT_REFERENCE;
}

void tsr__kernel_cat(const tsr_kernel_call *call)
{
    const tsr_operand *out = &call->out[0];
    const int dim = tsr__operand_dim(out, call->attrs.value[0].i[0]);
    tsr_piece to = piece_of(out);

    if (by_reference(call, TSR_MOVE_CAT)) {
        tsr__reference_cat(call);
        return;
    }
    for (int k = 0; k < call->n_in; k++) {
        tsr_piece from = piece_of(&call->in[k]);

        to.count[dim] = from.count[dim];
        copy(out, &to, &call->in[k], &from);
        to.offset += to.count[dim] * to.stride[dim];
    }
}

void tsr__kernel_transpose(const tsr_kernel_call *call)
{
    const int d0 = tsr__operand_dim(&call->in[0], call->attrs.value[0].i[0]);
    const int d1 = tsr__operand_dim(&call->in[0], call->attrs.value[1].i[0]);
    tsr_piece to = piece_of(&call->out[0]), from = piece_of(&call->in[0]);
    const int64_t stride = from.stride[d0];

    if (by_reference(call, TSR_MOVE_TRANSPOSE)) {
        tsr__reference_transpose(call);
        return;
    }
    from.count[d0] = to.count[d0];
    from.count[d1] = to.count[d1];
    from.stride[d0] = from.stride[d1];
    from.stride[d1] = stride;
    copy(&call->out[0], &to, &call->in[0], &from);
}

void tsr__kernel_reshape(const tsr_kernel_call *call)
{
    const tsr_piece all = {.n = 1,
                           .count = {tsr__operand_count(&call->out[0])},
                           .stride = {(int64_t)tsr_dtype_size(call->out[0].dtype)}};

    if (by_reference(call, TSR_MOVE_RESHAPE))
        tsr__reference_reshape(call);
    else
        copy(&call->out[0], &all, &call->in[0], &all);
}

void tsr__kernel_slice(const tsr_kernel_call *call)
{
    const int dim = tsr__operand_dim(&call->in[0], call->attrs.value[0].i[0]);
    tsr_piece to = piece_of(&call->out[0]), from = piece_of(&call->in[0]);

    if (by_reference(call, TSR_MOVE_SLICE)) {
        tsr__reference_slice(call);
        return;
    }
    from.offset = tsr__slice_start(call) * from.stride[dim];
    from.count[dim] = to.count[dim];
    from.stride[dim] *= call->attrs.value[3].i[0];
    copy(&call->out[0], &to, &call->in[0], &from);
}
