/* SPDX-License-Identifier: Apache-2.0 */
/* elementwise.c - add, mul, neg, relu: brings the dims of the operands down to few loops whose
   innermost runs along memory, and chooses how that run is computed and stored. Called through the
   ops' rows. */
#include "kernel/kernels.h"

#include "base/fold.h"
#include "base/half.h"
#include "base/stream.h"
#include "kernel/fast_types.h"
#include "kernel/index.h"
#include "kernel/reference.h"
#include "kernel/sku.h"

enum {
    OP_ADD = TSR_POINTWISE_ADD,
    OP_MUL = TSR_POINTWISE_MUL,
    OP_NEG = TSR_POINTWISE_NEG,
    OP_RELU = TSR_POINTWISE_RELU
};
enum { BLOCK = 1024, SHORT = 256 }; /* elements computed in the cache; a run worth widening */

#define BODY "kernel/elementwise.inc.h"
#define NAME(name, dtype) name##_##dtype##_plain
#define SET
#include "kernel/fast_types.inc.h"

#ifdef TSR__X86
#define NAME(name, dtype) name##_##dtype##_avx2
#define SET TSR__AVX2
#include "kernel/fast_types.inc.h"
#endif

typedef void (*run_fn)(int op, const void *a, const void *b, bool one, int64_t n, void *y);

/* neg and relu of 16-bit floats, of which `inf` is infinity: signs need no arithmetic. */
TSR__INLINE void signs(int op, uint16_t inf, const uint16_t *a, int64_t n, uint16_t *y)
{
    const uint16_t minus = 0x8000, least = minus | inf;

    TSR__INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
        bool negative = (a[i] > minus) & (a[i] <= least);

        y[i] = op == OP_NEG ? a[i] ^ minus : negative ? 0 : a[i];
    }
}

static void run_f16(int op, const void *a, const void *b, bool one, int64_t n, void *y)
{
    (void)b, (void)one;
    if (op == OP_NEG)
        signs(OP_NEG, 0x7c00, a, n, y);
    else
        signs(OP_RELU, 0x7c00, a, n, y);
}

static void run_bf16(int op, const void *a, const void *b, bool one, int64_t n, void *y)
{
    (void)b, (void)one;
    if (op == OP_NEG)
        signs(OP_NEG, 0x7f80, a, n, y);
    else
        signs(OP_RELU, 0x7f80, a, n, y);
}

/* add and mul of f16 and bf16 are done otherwise. */
static run_fn run_for(tsr_dtype dtype, tsr_kernel_variant variant)
{
    static const run_fn plain[TSR__DTYPES] = {
        [TSR_F32] = run_f32_plain, [TSR_F64] = run_f64_plain,      [TSR_F16] = run_f16,
        [TSR_BF16] = run_bf16,     [TSR_I32] = run_i32_plain,      [TSR_I64] = run_i64_plain,
        [TSR_U8] = run_u8_plain,   [TSR__FIELD] = run_field_plain,
    };
#ifdef TSR__X86
    static const run_fn avx2[TSR__DTYPES] = {
        [TSR_F32] = run_f32_avx2, [TSR_F64] = run_f64_avx2,      [TSR_F16] = run_f16,
        [TSR_BF16] = run_bf16,    [TSR_I32] = run_i32_avx2,      [TSR_I64] = run_i64_avx2,
        [TSR_U8] = run_u8_avx2,   [TSR__FIELD] = run_field_avx2,
    };

    if (variant == TSR_VARIANT_AVX2)
        return avx2[dtype];
#endif
    (void)variant;
    return plain[dtype];
}

/* The output is contiguous; strides of the inputs are in elements, 0 where they broadcast. */
typedef struct loop {
    int64_t count, a, b;
} loop;

typedef struct walk {
    int op, n;
    tsr_dtype dtype;
    tsr_kernel_variant variant;
    size_t size;
    bool fold, stream;
    run_fn run;
    loop loop[TSR_MAX_DIM];
    char *out; /* where the next result goes */
} walk;

static const char *at(const walk *w, const char *base, int64_t i)
{
    return base + i * (int64_t)w->size;
}

/* add or mul of f16 or bf16 as a reduction over two sources: in f32, rounded once. n <= BLOCK. */
static void fold(const walk *w, const void *a, const void *b, int64_t n, void *y)
{
    const void *const src[] = {a, b};
    float wide[2][BLOCK];

    if (w->variant == TSR_VARIANT_PLAIN) {
        tsr__half_widen(w->dtype, a, n, wide[0]);
        tsr__half_widen(w->dtype, b, n, wide[1]);
        run_f32_plain(w->op, wide[0], wide[1], false, n, wide[0]);
        tsr__half_narrow(w->dtype, wide[0], n, y);
        return;
    }
    tsr__fold(w->dtype, w->op == OP_ADD ? TSR_SUM : TSR_PROD, 1, 2, src, n, y);
}

/* n elements along memory. */
static void leaf(walk *w, const char *a, const char *b, bool one, int64_t n)
{
    char buffer[BLOCK * 8] __attribute__((aligned(64)));
    uint16_t same[BLOCK] __attribute__((aligned(64)));

    if (w->fold && one) {
        memcpy(same, b, 2);
        tsr__repeat(2, same, n < BLOCK ? n : BLOCK);
    }
    if (!w->fold && !w->stream) {
        w->run(w->op, a, b, one, n, w->out);
        w->out += n * (int64_t)w->size;
        return;
    }
    for (int64_t i = 0; i < n; i += BLOCK) {
        int64_t m = n - i < BLOCK ? n - i : BLOCK;

        const void *y = b && !one ? at(w, b, i) : b;
        void *to = w->stream ? buffer : w->out;

        if (w->fold)
            fold(w, at(w, a, i), one ? same : y, m, to);
        else
            w->run(w->op, at(w, a, i), y, one, m, to);
        if (w->stream)
            tsr__stream_copy(w->out, buffer, (size_t)m * w->size);
        w->out += m * (int64_t)w->size;
    }
}

/* Rows to which the same short row is added: that row is repeated first, to make a longer one. */
static void repeat_row(walk *w, loop rows, int64_t n, const char *a, const char *b)
{
    char repeated[BLOCK * 8] __attribute__((aligned(64)));
    const int64_t most = BLOCK / n, times = rows.count < most ? rows.count : most;

    memcpy(repeated, b, (size_t)n * w->size);
    tsr__repeat((size_t)n * w->size, repeated, times);
    for (int64_t i = 0; i < rows.count; i += times) {
        int64_t m = rows.count - i < times ? rows.count - i : times;

        leaf(w, at(w, a, i * n), repeated, false, m * n);
    }
}

static void over(walk *w, int depth, const char *a, const char *b)
{
    const loop *l = &w->loop[depth], *inner = l + 1;
    const bool second_last = depth == w->n - 2;

    if (depth == w->n - 1 && l->a == 0)
        leaf(w, b, a, true, l->count); /* all ops of two operands commute */
    else if (depth == w->n - 1)
        leaf(w, a, b, l->b == 0, l->count);
    else if (second_last && inner->count <= SHORT && l->a == inner->count && l->b == 0 &&
             inner->a == 1 && inner->b == 1)
        repeat_row(w, *l, inner->count, a, b);
    else if (second_last && inner->count <= SHORT && l->b == inner->count && l->a == 0 &&
             inner->a == 1 && inner->b == 1)
        repeat_row(w, *l, inner->count, b, a);
    else
        for (int64_t i = 0; i < l->count; i++)
            over(w, depth + 1, at(w, a, i * l->a), at(w, b, i * l->b));
}

/* Loops from the outermost; those that are one for both inputs are joined. */
static void find_loops(walk *w, const tsr_shape *out, const tsr_shape *a, const tsr_shape *b)
{
    int64_t stride_a = 1, stride_b = 1;
    loop found[TSR_MAX_DIM];
    int n = 0; /* from the innermost */

    for (int d = out->ndim - 1, i = a->ndim - 1, j = b->ndim - 1; d >= 0; d--, i--, j--) {
        int64_t size_a = i < 0 ? 1 : a->size[i], size_b = j < 0 ? 1 : b->size[j];
        loop l = {out->size[d], size_a == 1 ? 0 : stride_a, size_b == 1 ? 0 : stride_b};
        loop *last = n ? &found[n - 1] : NULL;

        stride_a *= size_a;
        stride_b *= size_b;
        if (l.count == 1)
            continue;
        if (last && l.a == last->a * last->count && l.b == last->b * last->count)
            last->count *= l.count;
        else
            found[n++] = l;
    }
    if (n == 0)
        found[n++] = (loop){1, 1, 1};
    for (int k = 0; k < n; k++)
        w->loop[k] = found[n - 1 - k];
    w->n = n;
}

static walk walk_make(const tsr_kernel_call *call, int op, tsr_kernel_variant variant)
{
    const tsr_operand *out = &call->out[0];
    const size_t size = tsr_dtype_size(out->dtype);

    return (walk){.op = op,
                  .dtype = out->dtype,
                  .variant = variant,
                  .size = size,
                  .fold = op <= OP_MUL && (out->dtype == TSR_F16 || out->dtype == TSR_BF16),
                  .stream = tsr__stream_large((size_t)tsr__operand_count(out) * size),
                  .run = run_for(out->dtype, variant),
                  .out = out->data};
}

static void binary(const tsr_kernel_call *call, int op, tsr_kernel_variant variant)
{
    walk w = walk_make(call, op, variant);
    size_t row;

    if (tsr__operand_count(&call->out[0]) == 0)
        return;
    find_loops(&w, &call->out[0].shape, &call->in[0].shape, &call->in[1].shape);
    row = (size_t)w.loop[w.n - 1].count * w.size;
    w.stream = w.stream && tsr__stream_pays(SIZE_MAX, row, (uintptr_t)w.out);
    over(&w, 0, call->in[0].data, call->in[1].data);
    if (w.stream)
        tsr__stream_fence();
}

static void unary(const tsr_kernel_call *call, int op, tsr_kernel_variant variant)
{
    walk w = walk_make(call, op, variant);

    if (tsr__operand_count(&call->out[0]) == 0)
        return;
    leaf(&w, call->in[0].data, NULL, false, tsr__operand_count(&call->out[0]));
    if (w.stream)
        tsr__stream_fence();
}

static void pointwise(const tsr_kernel_call *call, int op, tsr_kernel reference)
{
    const tsr_kernel_variant v = tsr__variant_of(call, TSR_CATEGORY_POINTWISE, (uint16_t)op);

    if (v == TSR_VARIANT_REFERENCE)
        reference(call);
    else if (op == OP_ADD || op == OP_MUL)
        binary(call, op, v);
    else
        unary(call, op, v);
}

void tsr__kernel_add(const tsr_kernel_call *call)
{
    pointwise(call, OP_ADD, tsr__reference_add);
}

void tsr__kernel_mul(const tsr_kernel_call *call)
{
    pointwise(call, OP_MUL, tsr__reference_mul);
}

void tsr__kernel_neg(const tsr_kernel_call *call)
{
    pointwise(call, OP_NEG, tsr__reference_neg);
}

void tsr__kernel_relu(const tsr_kernel_call *call)
{
    pointwise(call, OP_RELU, tsr__reference_relu);
}
