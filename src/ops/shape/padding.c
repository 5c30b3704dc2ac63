/* SPDX-License-Identifier: Apache-2.0 */
/* padding.c - padding by blocks: along the innermost dim that is padded, a row is a run of memory
   between two borders; what lies in one run is copied at once. */
#include "ops/shape/padding.h"
#include "ops/shape/shape_attrs.h"

#include <string.h>

#include "kernel/element.h"
#include "kernel/kinds.h"
#include "kernel/index.h"
#include "kernel/sku.h"

/* One dim: the output's index j is the input's j + from for lo <= j < hi. */
typedef struct pad_dim {
    int64_t n, lo, hi, from;
    int64_t whole, at;         /* whole input, output's 0 in it */
    int64_t first, around;     /* input's 0 in it; indices from 0 on that stand before that one */
    int64_t out_step, in_step; /* bytes */
} pad_dim;

typedef struct padding {
    int mode;  /* a tsr_move_kind */
    int inner; /* the innermost dim that is padded, or 0 */
    pad_dim dim[TSR_MAX_DIM];
    size_t size;
    char value[8];
    bool zero;
} padding;

/* Where the local input has index i of the whole; those before `first` came around the end. */
static int64_t position(int64_t i, int64_t first, int64_t around)
{
    return i < first ? i : i - first + around;
}

/* How many indices came around the end of a dim of n. */
static int64_t came_around(const tsr_operand *x, int d, int64_t n)
{
    const int64_t end = x->first[d] + x->shape.size[d];

    return end > n ? end - n : 0;
}

/* Index i of a dim of n that has no ends, as one that exists; -1: none. */
static int64_t source_of(int mode, int64_t i, int64_t n)
{
    if (i >= 0 && i < n)
        return i;
    switch (mode) {
    case TSR_MOVE_PAD_REFLECT: return i < 0 ? -i : 2 * (n - 1) - i;
    case TSR_MOVE_PAD_REPLICATE: return i < 0 ? 0 : n - 1;
    case TSR_MOVE_PAD_CIRCULAR: return tsr__modulo(i, n);
    default: return -1;
    }
}

static int64_t within(int64_t x, int64_t lo, int64_t hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

/* What the value is in a dtype; in the field, which only checks use, integers. */
static void set_value(tsr_dtype dtype, const tsr_attr *value, char out[8])
{
    if ((int)dtype == TSR__FIELD) {
        const int64_t i = value->i[TSR_ELEMENT_INTEGER];
        const uint64_t x = i < 0 ? TSR__FIELD_P - (uint64_t)-i : (uint64_t)i;
        memcpy(out, &x, sizeof x);
        return;
    }
    tsr__element_put(value, dtype, out);
}

static padding padding_of(const tsr_kernel_call *call, int mode)
{
    const tsr_operand *x = &call->in[0], *out = &call->out[0];
    const tsr_attr *before = &call->attrs.value[TSR_ATTR_PAD_BEFORE];
    padding p = {.mode = mode, .size = tsr_dtype_size(out->dtype), .zero = true};
    int64_t out_step = (int64_t)p.size, in_step = out_step;

    if (mode == TSR_MOVE_PAD)
        set_value(out->dtype, &call->attrs.value[TSR_ATTR_PAD_VALUE], p.value);
    for (size_t i = 0; i < p.size; i++)
        p.zero = p.zero && p.value[i] == 0;
    for (int d = out->shape.ndim - 1; d >= 0; d--) {
        pad_dim *a = &p.dim[d];

        *a = (pad_dim){.n = out->shape.size[d], .out_step = out_step, .in_step = in_step};
        a->hi = a->n;
        a->whole = a->n;
        if (out->first[d] >= 0) { /* else it is as it was */
            a->whole = call->number[d];
            a->at = out->first[d] - before->i[d];
            a->first = x->first[d];
            a->around = came_around(x, d, a->whole);
            a->from = position(a->at, a->first, a->around);
            a->lo = within(-a->at, 0, a->n);
            a->hi = within(a->whole - a->at, a->lo, a->n);
        }
        if (p.inner == 0 && (a->n != x->shape.size[d] || a->from != 0))
            p.inner = d;
        out_step *= a->n;
        in_step *= x->shape.size[d];
    }
    return p;
}

static void set(const padding *p, char *out, int64_t bytes)
{
    if (bytes <= 0)
        return;
    if (p->zero) {
        memset(out, 0, (size_t)bytes);
        return;
    }
    memcpy(out, p->value, p->size);
    tsr__repeat(p->size, out, bytes / (int64_t)p->size);
}

/* Indices [begin, end) of the output beyond the input's ends. */
static void border(const padding *p, const pad_dim *a, int64_t begin, int64_t end, char *out,
                   const char *in)
{
    if (p->mode == TSR_MOVE_PAD) {
        set(p, out + begin * a->out_step, (end - begin) * a->out_step);
        return;
    }
    for (int64_t j = begin; j < end; j++)
        memcpy(out + j * a->out_step,
               in + position(source_of(p->mode, a->at + j, a->whole), a->first, a->around) *
                        a->in_step,
               (size_t)a->out_step);
}

static void pad_from(const padding *p, int d, char *out, const char *in)
{
    const pad_dim *a = &p->dim[d];

    if (d == p->inner) {
        border(p, a, 0, a->lo, out, in);
        if (a->hi > a->lo)
            memcpy(out + a->lo * a->out_step, in + (a->lo + a->from) * a->in_step,
                   (size_t)((a->hi - a->lo) * a->out_step));
        border(p, a, a->hi, a->n, out, in);
        return;
    }
    for (int64_t j = 0; j < a->n; j++) {
        const int64_t i = source_of(p->mode, a->at + j, a->whole);

        if (i < 0)
            set(p, out + j * a->out_step, a->out_step);
        else
            pad_from(p, d + 1, out + j * a->out_step,
                     in + position(i, a->first, a->around) * a->in_step);
    }
}

/* Walks every output element out[at] back to x, dim by dim. */
static void by_definition(const tsr_kernel_call *call, int mode)
{
    const tsr_operand *x = &call->in[0], *out = &call->out[0];
    const size_t size = tsr_dtype_size(out->dtype);
    char value[8] = {0};

    if (mode == TSR_MOVE_PAD)
        set_value(out->dtype, &call->attrs.value[TSR_ATTR_PAD_VALUE], value);
    for (int64_t i = 0; i < tsr__operand_count(out); i++) {
        char *to = (char *)out->data + (size_t)i * size;
        int64_t rest = i, from = 0, stride = 1;

        for (int d = out->shape.ndim - 1; d >= 0; d--) {
            const bool here = out->first[d] < 0; /* in pieces: it is not padded */
            const int64_t j = rest % out->shape.size[d];
            const int64_t global = j + out->first[d] - call->attrs.value[TSR_ATTR_PAD_BEFORE].i[d];
            const int64_t n = call->number[d], k = here ? j : source_of(mode, global, n);

            if (from >= 0 && k >= 0)
                from += (here ? k : position(k, x->first[d], came_around(x, d, n))) * stride;
            else
                from = -1;
            rest /= out->shape.size[d];
            stride *= x->shape.size[d];
        }
        memcpy(to, from < 0 ? value : (const char *)x->data + (size_t)from * size, size);
    }
}

void tsr__kernel_pad(const tsr_kernel_call *call)
{
    padding p;

    if (tsr__variant_of(call, TSR_CATEGORY_MOVE, (uint16_t)call->kind) == TSR_VARIANT_REFERENCE) {
        by_definition(call, call->kind);
        return;
    }
    if (tsr__operand_count(&call->out[0]) == 0)
        return;
    p = padding_of(call, call->kind);
    if (call->out[0].shape.ndim == 0)
        memcpy(call->out[0].data, call->in[0].data, p.size);
    else
        pad_from(&p, 0, call->out[0].data, call->in[0].data);
}
