/* SPDX-License-Identifier: Apache-2.0 */
/* elementwise.c - kernels of the pointwise ops: brings the dims of the operands down to few loops
   whose innermost runs along memory, and chooses how that run is computed and stored. What is
   repeated along it, and f16 and bf16, which compute as f32, go through blocks in the cache. What
   each op computes stands in elementwise.inc.h. Called through the ops' rows. */
#include "ops/pointwise/pointwise_ops.h"

#include "base/half.h"
#include "base/stream.h"
#include "ops/pointwise/elementwise_reference.h"
#include "ops/pointwise/pointwise_attrs.h"
#include "kernel/index.h"
#include "kernel/kinds.h"
#include "kernel/math_f64.h"
#include "kernel/sku.h"

enum {
    INPUTS = 3,
    BLOCK = 1024, /* elements computed in the cache */
    SHORT = 256,  /* a run worth joining with others */
    /* ops with an attribute set, or an input left out */
    OP_GELU_TANH = 1000,
    OP_LERP_BY = 1001,
    OP_GELU_TANH_BACKWARD = 1002
};

/* n elements along memory. Inputs that an op has not may be anything readable. */
typedef struct run {
    const void *in[INPUTS]; /* of the dtype that computes */
    const uint8_t *mask;
    const void *p, *q; /* numbers of the call */
    void *out;
    int64_t n;
} run;

/* ---- the runs ---- */

typedef struct bodies {
    void (*compute)(int op, const run *r);
} bodies;

#define TABLE pointwise_kernels
#define BODY "ops/pointwise/elementwise.inc.h"
#define DTYPES TSR__INTEGERS
#define AVX2 TSR__AVX2_FMA
#define AVX512 TSR__AVX512
#define AVX512_DTYPES TSR__REALS
#include "base/kernel_table.inc.h"

/* ---- the walk ---- */

/* The output is contiguous; strides of the inputs are in elements, 0 where they broadcast. */
typedef struct loop {
    int64_t count, stride[INPUTS];
} loop;

typedef struct walk {
    int op, n, n_in;
    tsr_dtype dtype; /* of the operands, but for a mask */
    bool half, predicate, stream;
    const bodies *bodies;
    int first, mask;  /* which input is the first of the dtype, and which booleans; -1: none */
    int slot[INPUTS]; /* where inputs go in a run */
    size_t size[INPUTS], out_size;
    int64_t p, q; /* the numbers, as the type that computes: at most 8 bytes */
    loop loop[TSR_MAX_DIM];
    char *out; /* where the next result goes */
    /* blocks: what is repeated, inputs and then results as f32, results */
    char same[INPUTS][BLOCK * 8] __attribute__((aligned(64)));
    float wide[INPUTS + 1][BLOCK] __attribute__((aligned(64)));
    char result[BLOCK * 8] __attribute__((aligned(64)));
} walk;

static const char *at(const walk *w, int k, const char *base, int64_t i)
{
    return base + i * (int64_t)w->size[k];
}

/* Input k of a block as runs want it; `anew`: what is there is not yet widened. */
static const void *seen(walk *w, int k, const void *from, bool anew, int64_t n)
{
    if (!w->half || k == w->mask)
        return from;
    if (anew)
        tsr__half_widen(w->dtype, from, n, w->wide[k]);
    return w->wide[k];
}

/* n elements; BLOCK at most if they are halves or streamed. */
static void block(walk *w, const void *const *in, int64_t n)
{
    const bool narrow = w->half && !w->predicate;
    char *result = w->stream ? w->result : w->out;
    run r = {.p = &w->p, .q = &w->q, .n = n, .out = narrow ? (void *)w->wide[INPUTS] : result};

    for (int k = 0; k < INPUTS; k++)
        r.in[k] = in[w->first]; /* read, but of no effect */
    r.mask = w->mask < 0 ? in[w->first] : in[w->mask];
    for (int k = 0; k < w->n_in; k++)
        if (k != w->mask)
            r.in[w->slot[k]] = in[k];
    w->bodies->compute(w->op, &r);
    if (narrow)
        tsr__half_narrow(w->dtype, r.out, n, result);
    if (w->stream)
        tsr__stream_copy(w->out, w->result, (size_t)n * w->out_size);
    w->out += n * (int64_t)w->out_size;
}

/* One run; inputs whose stride is 0 are one element. */
static void long_row(walk *w, const loop *row, const char *const *in)
{
    const int64_t n = row->count, least = n < BLOCK ? n : BLOCK;
    bool in_blocks = w->half || w->stream;

    for (int k = 0; k < w->n_in; k++)
        if (row->stride[k] == 0) {
            memcpy(w->same[k], in[k], w->size[k]);
            tsr__repeat(w->size[k], w->same[k], least);
            seen(w, k, w->same[k], true, least);
            in_blocks = true;
        }
    for (int64_t i = 0; i < n; i += in_blocks ? BLOCK : n) {
        const int64_t m = in_blocks && n - i > BLOCK ? BLOCK : n - i;
        const void *now[INPUTS];

        for (int k = 0; k < w->n_in; k++)
            now[k] = row->stride[k] == 0 ? seen(w, k, w->same[k], false, m)
                                         : seen(w, k, at(w, k, in[k], i), true, m);
        block(w, now, m);
    }
}

/* Rows of input k, one behind the other. */
static void lay_out(walk *w, int k, const loop *rows, const loop *row, const char *from, int64_t n)
{
    const size_t bytes = (size_t)row->count * w->size[k];
    char *to = w->same[k];

    for (int64_t i = 0; i < n && (i == 0 || rows->stride[k] > 0); i++, to += bytes) {
        memcpy(to, at(w, k, from, i * rows->stride[k]), row->stride[k] ? bytes : w->size[k]);
        if (row->stride[k] == 0)
            tsr__repeat(w->size[k], to, row->count);
    }
    if (rows->stride[k] == 0)
        tsr__repeat(bytes, w->same[k], n);
}

/* Short runs are joined, many to a block: inputs that do not go on from one to the next as they lie
   in memory are laid out so; those that are the same for all of them, once. */
static void short_rows(walk *w, const loop *rows, const loop *row, const char *const *in)
{
    const int64_t most = BLOCK / row->count;

    for (int64_t i = 0; i < rows->count; i += most) {
        const int64_t m = rows->count - i < most ? rows->count - i : most;
        const void *now[INPUTS];

        for (int k = 0; k < w->n_in; k++) {
            const bool goes_on = row->stride[k] == 1 && rows->stride[k] == row->count;
            const bool anew = i == 0 || rows->stride[k] > 0;

            if (!goes_on && anew)
                lay_out(w, k, rows, row, at(w, k, in[k], i * rows->stride[k]), m);
            now[k] = seen(w, k, goes_on ? at(w, k, in[k], i * row->count) : w->same[k], anew,
                          m * row->count);
        }
        block(w, now, m * row->count);
    }
}

static void over(walk *w, int depth, const char *const *in)
{
    const loop *l = &w->loop[depth];
    const char *next[INPUTS];

    if (depth == w->n - 1) {
        long_row(w, l, in);
        return;
    }
    if (depth == w->n - 2 && l[1].count <= SHORT) {
        short_rows(w, l, l + 1, in);
        return;
    }
    for (int64_t i = 0; i < l->count; i++) {
        for (int k = 0; k < w->n_in; k++)
            next[k] = at(w, k, in[k], i * l->stride[k]);
        over(w, depth + 1, next);
    }
}

/* Loops from the outermost; those that are one for all inputs are joined. */
static void find_loops(walk *w, const tsr_kernel_call *call)
{
    const tsr_shape *out = &call->out[0].shape;
    int64_t stride[INPUTS] = {1, 1, 1};
    loop found[TSR_MAX_DIM];
    int n = 0; /* from the innermost */

    for (int e = 1; e <= out->ndim; e++) {
        loop l = {.count = out->size[out->ndim - e]}, *last = n ? &found[n - 1] : NULL;
        bool joined = last != NULL;

        for (int k = 0; k < w->n_in; k++) {
            const tsr_shape *s = &call->in[k].shape;
            int64_t size = e <= s->ndim ? s->size[s->ndim - e] : 1;

            l.stride[k] = size == 1 ? 0 : stride[k];
            stride[k] *= size;
            joined = joined && l.stride[k] == last->stride[k] * last->count;
        }
        if (l.count == 1)
            continue;
        if (joined)
            last->count *= l.count;
        else
            found[n++] = l;
    }
    if (n == 0)
        found[n++] = (loop){1, {1, 1, 1}};
    for (int k = 0; k < n; k++)
        w->loop[k] = found[n - 1 - k];
    w->n = n;
}

/* ---- the call ---- */

/* The numbers of a call, of any op that has some. */
static void set_numbers(walk *w, const tsr_kernel_call *call)
{
    const tsr_dtype dtype = w->half ? TSR_F32 : w->dtype;
    const tsr_pointwise_numbers x = tsr__pointwise_numbers(call, w->op, dtype);

    w->p = x.p;
    w->q = x.q;
    if (w->op == TSR_POINTWISE_GELU && call->attrs.value[TSR_ATTR_GELU_TANH].i[0])
        w->op = OP_GELU_TANH;
    if (w->op == TSR_POINTWISE_GELU_BACKWARD && call->attrs.value[TSR_ATTR_GELU_BACKWARD_TANH].i[0])
        w->op = OP_GELU_TANH_BACKWARD;
    if (w->op == TSR_POINTWISE_LERP && w->n_in == 2)
        w->op = OP_LERP_BY;
}

/* Not by an initialiser: the blocks are large. */
static void open_walk(walk *w, const tsr_kernel_call *call, int op, tsr_kernel_variant variant)
{
    const tsr_operand *out = &call->out[0];

    w->op = op;
    w->mask = op == TSR_POINTWISE_WHERE ? 0 : op == TSR_POINTWISE_MASKED_FILL ? 1 : -1;
    w->first = op == TSR_POINTWISE_WHERE;
    w->dtype = call->in[w->first].dtype;
    w->half = w->dtype == TSR_F16 || w->dtype == TSR_BF16;
    w->predicate = tsr__pointwise_is_predicate(op);
    w->bodies = tsr__kernel_for(&pointwise_kernels, w->dtype, variant);
    w->n_in = 0;
    w->out = out->data;
    w->out_size = tsr_dtype_size(out->dtype);
    for (int k = 0; k < INPUTS && tsr__operand_given(call, k); k++) {
        w->slot[k] = k - w->first;
        w->size[k] = tsr_dtype_size(call->in[k].dtype);
        w->n_in++;
    }
    set_numbers(w, call);
}

void tsr__kernel_pointwise(const tsr_kernel_call *call)
{
    const int op = call->kind;
    const tsr_dtype dtype = call->in[op == TSR_POINTWISE_WHERE].dtype;
    const tsr_kernel_variant v =
        tsr__variant_best(TSR_CATEGORY_POINTWISE, (uint16_t)op, dtype, tsr__variant_asked(call));
    const char *in[INPUTS];
    size_t row, bytes;
    walk w;

    if (v <= TSR_VARIANT_REFERENCE) { /* or there is none, as for the field */
        tsr__pointwise_reference(call, op);
        return;
    }
    if (tsr__operand_count(&call->out[0]) == 0)
        return;
    open_walk(&w, call, op, v);
    find_loops(&w, call);
    row = (size_t)w.loop[w.n - 1].count * w.out_size;
    bytes = (size_t)tsr__operand_count(&call->out[0]) * w.out_size;
    for (int k = 0; k < w.n_in; k++)
        bytes += (size_t)tsr__operand_count(&call->in[k]) * w.size[k];
    /* a copy would touch twice its bytes; 16 MiB for each of two ranks just stay in the cache */
    w.stream = tsr__stream_pays(bytes / 16 * 7, row, (uintptr_t)w.out);
    for (int k = 0; k < w.n_in; k++) {
        in[k] = call->in[k].data;
        w.stream = w.stream && in[k] != w.out; /* in place: it is in the cache already */
    }
    over(&w, 0, in);
    if (w.stream)
        tsr__stream_fence();
}
