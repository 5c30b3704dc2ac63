/* SPDX-License-Identifier: Apache-2.0 */
/* compact_call.c - see compact_call.h. */
#include "run/compact_call.h"

#include "op/local_call.h"

static int64_t *put_operand(const tsr_operand *x, bool positions, int64_t *to)
{
    const int room = tsr__compact_room(x->shape.ndim);
    const size_t bytes = (size_t)room * sizeof *to;
    const int32_t head[2] = {(int32_t)x->dtype, x->shape.ndim};

    memcpy(to++, head, sizeof head);
    memcpy(to, x->shape.size, bytes);
    memcpy(to + room, x->first, bytes);
    if (positions)
        memcpy(to + 2 * room, x->index, bytes);
    return to + (positions ? 3 : 2) * room;
}

static int64_t words_of(const tsr_operand *x, int n, bool positions)
{
    int64_t words = 0;

    for (int k = 0; k < n; k++)
        words += 1 + (positions ? 3 : 2) * tsr__compact_room(x[k].shape.ndim);
    return words;
}

tsr_status tsr__compact_call_make(tsr_heap *heap, const tsr_schema *s, const tsr_kernel_call *call,
                                  tsr_compact_call **out, tsr_error *err)
{
    static const int64_t zeros[TSR_OP_NUMBERS];
    const int n_attrs = tsr__attrs_count(s->op);
    const size_t attrs = (size_t)n_attrs * sizeof *s->attrs.value;
    const bool bound = memcmp(call->attrs.value, s->attrs.value, attrs) != 0;
    const bool numbers = memcmp(call->number, zeros, sizeof zeros) != 0;
    const int64_t words = words_of(call->in, call->n_in, s->op->positions) +
                          words_of(call->out, call->n_out, s->op->positions);
    int64_t *to;
    tsr_compact_call *c;
    tsr_status st;

    TSR_TRY(tsr__alloc(heap, 1,
                       sizeof *c + (size_t)words * sizeof *to + (bound ? attrs : 0) +
                           (numbers ? sizeof zeros : 0),
                       &c, err));
    c->op = s->op;
    c->memory = call->memory;
    c->state = call->state;
    c->n_in = (uint8_t)call->n_in;
    c->n_out = (uint8_t)call->n_out;
    c->n_attrs = (uint8_t)n_attrs;
    c->reproducible = call->reproducible;
    c->positions = s->op->positions;
    to = c->operand;
    for (int k = 0; k < call->n_in; k++)
        to = put_operand(&call->in[k], c->positions, to);
    for (int k = 0; k < call->n_out; k++)
        to = put_operand(&call->out[k], c->positions, to);
    if (numbers) {
        c->number = memcpy(to, call->number, sizeof zeros);
        to += TSR_OP_NUMBERS;
    }
    if (bound)
        c->attrs = memcpy(to, call->attrs.value, attrs);
    *out = c;
done:
    return st;
}

void tsr__compact_call_free(tsr_heap *heap, tsr_compact_call *c, const tsr_attr *attrs,
                            bool positions)
{
    tsr_tensor *none[TSR_MAX_IN] = {NULL};
    tsr_kernel_call call;

    if (!c)
        return;
    tsr__compact_call_expand(c, attrs, 0, none, none, &call);
    if (c->op->release && c->state)
        c->op->release(&call);
    if (positions && c->positions)
        tsr__positions_free(heap, &call);
    tsr__free(heap, c);
}
