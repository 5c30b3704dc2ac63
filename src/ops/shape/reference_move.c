/* SPDX-License-Identifier: Apache-2.0 */
/* reference_move.c - kernels that only move elements, element by element over the output: to be
   checked by eye. Called when a call asks for the reference. */
#include "ops/shape/reference_move.h"
#include "ops/shape/shape_attrs.h"

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

/* Where the element at `at` of the output is in the first input. */
typedef void (*origin)(const tsr_kernel_call *call, const int64_t *at, int64_t *from);

static void each(const tsr_kernel_call *call, origin find)
{
    const tsr_operand *x = &call->in[0], *out = &call->out[0];
    int64_t at[TSR_MAX_DIM] = {0}, from[TSR_MAX_DIM] = {0};

    for (int64_t i = 0; i < tsr__operand_count(out); i++) {
        split(&out->shape, i, at);
        find(call, at, from);
        take(out, i, x, join(&x->shape, from));
    }
}

static int64_t integer(const tsr_kernel_call *call, int attr)
{
    return call->attrs.value[attr].i[0];
}

/* ---- joined ---- */

void tsr__reference_cat(const tsr_kernel_call *call)
{
    const tsr_operand *out = &call->out[0];
    const int dim = tsr__operand_dim(out, integer(call, 0));
    int64_t index[TSR_MAX_DIM];

    for (int64_t i = 0; i < tsr__operand_count(out); i++)
        for (int k = 0; k < call->n_in; k++) {
            const tsr_operand *x = &call->in[k];

            split(&out->shape, i, index);
            index[dim] += out->first[dim] - call->number[k] - x->first[dim];
            if (index[dim] >= 0 && index[dim] < x->shape.size[dim])
                take(out, i, x, join(&x->shape, index));
        }
}

void tsr__reference_stack(const tsr_kernel_call *call)
{
    const tsr_operand *out = &call->out[0];
    const int dim = tsr__operand_dim(out, integer(call, 0));
    int64_t at[TSR_MAX_DIM], index[TSR_MAX_DIM];

    for (int64_t i = 0; i < tsr__operand_count(out); i++) {
        split(&out->shape, i, at);
        for (int d = 0; d < out->shape.ndim - 1; d++)
            index[d] = at[d < dim ? d : d + 1];
        take(out, i, &call->in[at[dim]], join(&call->in[0].shape, index));
    }
}

/* ---- dims in another order ---- */

static void transposed(const tsr_kernel_call *call, const int64_t *at, int64_t *from)
{
    const int d0 = tsr__operand_dim(&call->in[0], integer(call, 0));
    const int d1 = tsr__operand_dim(&call->in[0], integer(call, 1));

    for (int d = 0; d < call->in[0].shape.ndim; d++)
        from[d] = at[d == d0 ? d1 : d == d1 ? d0 : d];
}

void tsr__reference_transpose(const tsr_kernel_call *call)
{
    each(call, transposed);
}

static void permuted(const tsr_kernel_call *call, const int64_t *at, int64_t *from)
{
    for (int d = 0; d < call->in[0].shape.ndim; d++)
        from[tsr__operand_dim(&call->in[0], call->attrs.value[TSR_ATTR_PERMUTE_DIMS].i[d])] = at[d];
}

void tsr__reference_permute(const tsr_kernel_call *call)
{
    each(call, permuted);
}

void tsr__reference_reshape(const tsr_kernel_call *call)
{
    for (int64_t i = 0; i < tsr__operand_count(&call->out[0]); i++)
        take(&call->out[0], i, &call->in[0], i);
}

/* ---- elements that repeat: those of tile modulo the size, which for expand is the same ---- */

static void repeated(const tsr_kernel_call *call, const int64_t *at, int64_t *from)
{
    const tsr_shape *x = &call->in[0].shape;

    for (int d = 0; d < x->ndim; d++)
        from[d] = tsr__modulo(at[d + call->out[0].shape.ndim - x->ndim], x->size[d]);
}

void tsr__reference_expand(const tsr_kernel_call *call)
{
    each(call, repeated);
}

void tsr__reference_tile(const tsr_kernel_call *call)
{
    each(call, repeated);
}

/* ---- some of the elements ---- */

static void sliced(const tsr_kernel_call *call, const int64_t *at, int64_t *from)
{
    const tsr_operand *x = &call->in[0];
    const int dim = tsr__operand_dim(x, integer(call, 0));

    for (int d = 0; d < x->shape.ndim; d++)
        from[d] = at[d];
    from[dim] =
        call->number[0] + (call->out[0].first[dim] + at[dim]) * call->number[1] - x->first[dim];
}

void tsr__reference_slice(const tsr_kernel_call *call)
{
    each(call, sliced);
}

static void selected(const tsr_kernel_call *call, const int64_t *at, int64_t *from)
{
    const tsr_shape *x = &call->in[0].shape;
    const int dim = tsr__operand_dim(&call->in[0], integer(call, 0));

    for (int d = 0; d < x->ndim; d++)
        from[d] = d < dim ? at[d] : d > dim ? at[d - 1] : tsr__modulo(integer(call, 1), x->size[d]);
}

void tsr__reference_select(const tsr_kernel_call *call)
{
    each(call, selected);
}

static void unfolded(const tsr_kernel_call *call, const int64_t *at, int64_t *from)
{
    const tsr_operand *x = &call->in[0];
    const int dim = tsr__operand_dim(x, integer(call, 0));

    for (int d = 0; d < x->shape.ndim; d++)
        from[d] = at[d];
    from[dim] =
        (call->out[0].first[dim] + at[dim]) * integer(call, 2) + at[x->shape.ndim] - x->first[dim];
}

void tsr__reference_unfold(const tsr_kernel_call *call)
{
    each(call, unfolded);
}

static void on_diagonal(const tsr_kernel_call *call, const int64_t *at, int64_t *from)
{
    const tsr_operand *x = &call->in[0];
    const int64_t offset = integer(call, 0), along = at[x->shape.ndim - 2];
    const int d1 = tsr__operand_dim(x, integer(call, 1));
    const int d2 = tsr__operand_dim(x, integer(call, 2));

    for (int d = 0, k = 0; d < x->shape.ndim; d++)
        if (d != d1 && d != d2)
            from[d] = at[k++];
    from[d1] = along + (offset < 0 ? -offset : 0);
    from[d2] = along + (offset > 0 ? offset : 0);
}

void tsr__reference_diagonal(const tsr_kernel_call *call)
{
    each(call, on_diagonal);
}

/* ---- backwards, and around ---- */

static void flipped(const tsr_kernel_call *call, const int64_t *at, int64_t *from)
{
    const tsr_shape *x = &call->in[0].shape;
    const unsigned dims = tsr__call_dims(call, TSR_ATTR_FLIP_DIMS);

    for (int d = 0; d < x->ndim; d++)
        from[d] = dims >> d & 1 ? x->size[d] - 1 - at[d] : at[d];
}

void tsr__reference_flip(const tsr_kernel_call *call)
{
    each(call, flipped);
}

static void rolled(const tsr_kernel_call *call, const int64_t *at, int64_t *from)
{
    const tsr_operand *x = &call->in[0];
    const tsr_attr *shifts = &call->attrs.value[TSR_ATTR_ROLL_SHIFTS],
                   *dims = &call->attrs.value[TSR_ATTR_ROLL_DIMS];

    if (dims->n < 0) {
        const int64_t i = join(&call->out[0].shape, at), before = call->number[1];

        split(&x->shape, i < before ? call->number[0] + i : i - before, from);
        return;
    }
    for (int d = 0; d < x->shape.ndim; d++)
        from[d] = at[d];
    for (int k = 0; k < dims->n; k++) {
        const int d = tsr__operand_dim(x, dims->i[k]);
        const int64_t size = x->shape.size[d];
        from[d] = tsr__modulo(at[d] - tsr__modulo(shifts->i[k], size), size);
    }
}

void tsr__reference_roll(const tsr_kernel_call *call)
{
    each(call, rolled);
}
