/* SPDX-License-Identifier: Apache-2.0 */
/* compact_call.h - a kernel's call as it is kept between calls: only the operands and numbers that
   there are, where a tsr_kernel_call has room for all that there may be. Kept with cached calls
   (dispatch/rank_call.c) and with the pieces of a call that overlaps its halo
   (run/halo_overlap.c). */
#ifndef TSR_RUN_COMPACT_CALL_H
#define TSR_RUN_COMPACT_CALL_H

#include <string.h>

#include "op/op.h"
#include "tensor/tensor.h"

typedef struct tsr_compact_call {
    const tsr_op *op;
    tsr_memory *memory;
    void *state; /* of the row's prepare */
    uint8_t n_in, n_out, n_attrs;
    bool reproducible;
    bool positions; /* operands are followed by their indices */
    /* attributes that the row's bind_rank changed, and its numbers; NULL: they are the caller's,
       and zeros */
    const tsr_attr *attrs;
    const int64_t *number;
    int64_t operand[]; /* inputs, then outputs, one after the other; then attrs and number */
} tsr_compact_call;

/* What the row's functions made of the call of a schema. Its state is the compact call's now.
   Local. */
tsr_status tsr__compact_call_make(tsr_heap *heap, const tsr_schema *schema,
                                  const tsr_kernel_call *call, tsr_compact_call **out,
                                  tsr_error *err);
/* NULL is fine. With these attributes of the call; `positions`: those of its operands too. */
void tsr__compact_call_free(tsr_heap *heap, tsr_compact_call *c, const tsr_attr *attrs,
                            bool positions);

/* An operand: dtype and ndim in one word, then sizes and beginnings of 2, 4 or 8 dims. */
static inline int tsr__compact_room(int ndim)
{
    return ndim <= 2 ? 2 : ndim <= 4 ? 4 : TSR_MAX_DIM;
}

static inline const int64_t *tsr__compact_dims(const int64_t *from, int room, bool positions,
                                               tsr_operand *x)
{
    const size_t bytes = (size_t)room * sizeof *from;

    memcpy(x->shape.size, from, bytes);
    memcpy(x->first, from + room, bytes);
    if (positions)
        memcpy(x->index, from + 2 * room, bytes);
    else
        memset(x->index, 0, bytes);
    return from + (positions ? 3 : 2) * room;
}

static inline const int64_t *tsr__compact_operand(const int64_t *from, bool positions,
                                                  const tsr_tensor *tensor, tsr_operand *x)
{
    int32_t head[2];

    memcpy(head, from++, sizeof head);
    x->dtype = (tsr_dtype)head[0];
    x->shape.ndim = head[1];
    x->data = tensor ? tsr__tensor_data(tensor) : NULL;
    if (head[1] <= 2)
        return tsr__compact_dims(from, 2, positions, x);
    if (head[1] <= 4)
        return tsr__compact_dims(from, 4, positions, x);
    return tsr__compact_dims(from, TSR_MAX_DIM, positions, x);
}

/* The kernel's call, but for scratch and error, on these tensors with these attributes; those of
   type number, a mask, are the caller's in any case. Operands and attributes beyond those that it
   has are not set. */
static inline void tsr__compact_call_expand(const tsr_compact_call *c, const tsr_attr *attrs,
                                            unsigned numbers, tsr_tensor *const *in_tensors,
                                            tsr_tensor *const *out_tensors, tsr_kernel_call *out)
{
    const tsr_attr *bound = c->attrs ? c->attrs : attrs;
    const int64_t *from = c->operand;

    out->kind = c->op->kind;
    out->n_in = c->n_in;
    out->n_out = c->n_out;
    for (int k = 0; k < c->n_in; k++)
        from = tsr__compact_operand(from, c->positions, in_tensors[k], &out->in[k]);
    for (int k = 0; k < c->n_out; k++)
        from = tsr__compact_operand(from, c->positions, out_tensors[k], &out->out[k]);
    for (int i = 0; i < c->n_attrs; i++)
        out->attrs.value[i] = numbers >> i & 1 ? attrs[i] : bound[i];
    if (c->number)
        memcpy(out->number, c->number, sizeof out->number);
    else
        memset(out->number, 0, sizeof out->number);
    out->reference = false;
    out->reproducible = c->reproducible;
    out->scratch = NULL;
    out->state = c->state;
    out->memory = c->memory;
    out->error = NULL;
    out->variant = TSR_VARIANT_AUTO;
}

#endif
