/* SPDX-License-Identifier: Apache-2.0 */
/* reference_move.c - kernels that only move elements, element by element over the output: to be
   checked by eye. Called when a call asks for the reference. */
#include "kernel/reference.h"

#include "kernel/index.h"

#include <string.h>

static void split(const tsr_shape *s, int64_t i, int64_t *index)
{
    for (int d = s->ndim - 1; d >= 0; d--) {
        index[d] = i % s->size[d];
        i /= s->size[d];
    }
}

static int64_t join(const tsr_shape *s, const int64_t *index)
{
    int64_t i = 0;

    for (int d = 0; d < s->ndim; d++)
        i = i * s->size[d] + index[d];
    return i;
}

/* Element i of out = element k of x. */
static void take(const tsr_operand *out, int64_t i, const tsr_operand *x, int64_t k)
{
    const size_t size = tsr_dtype_size(out->dtype);

    memcpy((char *)out->data + (size_t)i * size, (const char *)x->data + (size_t)k * size, size);
}

void tsr__reference_cat(const tsr_kernel_call *call)
{
    const tsr_operand *out = &call->out[0];
    const int dim = tsr__operand_dim(out, call->attrs.value[0].i[0]);
    int64_t index[TSR_MAX_DIM];

    for (int64_t i = 0; i < tsr__operand_count(out); i++) {
        const tsr_operand *x = call->in;

        split(&out->shape, i, index);
        for (; index[dim] >= x->shape.size[dim]; x++)
            index[dim] -= x->shape.size[dim];
        take(out, i, x, join(&x->shape, index));
    }
}

void tsr__reference_transpose(const tsr_kernel_call *call)
{
    const tsr_operand *x = &call->in[0], *out = &call->out[0];
    const int d0 = tsr__operand_dim(x, call->attrs.value[0].i[0]);
    const int d1 = tsr__operand_dim(x, call->attrs.value[1].i[0]);
    int64_t index[TSR_MAX_DIM];

    for (int64_t i = 0; i < tsr__operand_count(out); i++) {
        split(&out->shape, i, index);
        int64_t swap = index[d0];
        index[d0] = index[d1];
        index[d1] = swap;
        take(out, i, x, join(&x->shape, index));
    }
}

void tsr__reference_reshape(const tsr_kernel_call *call)
{
    for (int64_t i = 0; i < tsr__operand_count(&call->out[0]); i++)
        take(&call->out[0], i, &call->in[0], i);
}

void tsr__reference_slice(const tsr_kernel_call *call)
{
    const tsr_operand *x = &call->in[0], *out = &call->out[0];
    const int dim = tsr__operand_dim(x, call->attrs.value[0].i[0]);
    const int64_t start = tsr__slice_start(call), step = call->attrs.value[3].i[0];
    int64_t index[TSR_MAX_DIM];

    for (int64_t i = 0; i < tsr__operand_count(out); i++) {
        split(&out->shape, i, index);
        index[dim] = start + index[dim] * step;
        take(out, i, x, join(&x->shape, index));
    }
}
