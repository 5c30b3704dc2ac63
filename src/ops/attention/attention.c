/* SPDX-License-Identifier: Apache-2.0 */
/* attention.c - softmax(scale q k^T + mask) v and its gradients, block by block: scores are never
   there as a whole, and memory grows with the sequence, not with its square. Each block of rows
   keeps its maxima and sums while blocks of keys come; the gradients compute scores anew. f16 and
   bf16 are widened to f32. Called through the rows of ops/attention/attention_op.c. */
#include "ops/attention/attention.h"

#include "base/cpu.h"
#include "base/half.h"
#include "base/minmax.h"
#include "kernel/blas.h"
#include "kernel/kinds.h"
#include "kernel/exp.h"
#include "kernel/index.h"
#include "ops/attention/attention_ops.h"
#include "kernel/onednn.h"
#include "kernel/sku.h"
#include "kernel/softmax_loops.h"
#include "kernel/gemm_deterministic.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { ROWS = 128, KEYS = 512, ALIGNMENT = 64 }; /* a block of scores stays in the second cache */

typedef struct parts {
    void (*soften)(int64_t rows, int64_t n, void *scores, void *maxima, void *sums, void *factors);
    void (*weigh)(int64_t rows, int64_t n, void *scores, const void *lse);
    void (*bend)(int64_t rows, int64_t n, const void *weights, const void *delta, void *slopes);
    void (*multiply)(int64_t rows, int64_t n, const void *x, const void *factors, int64_t step,
                     void *y);
} parts;

#define TABLE attention_kernels
#define BODY "ops/attention/attention_rows.inc.h"
#define DTYPES TSR__REALS
#define AVX2 TSR__AVX2_FMA
#define AVX512 TSR__AVX512
#include "base/kernel_table.inc.h"

/* ---- what both kernels and the reference share ---- */

static int64_t position(const tsr_operand *x, int dim, int64_t i)
{
    return x->index[dim] ? x->index[dim][i] : x->first[dim] + i;
}

tsr_attention_call tsr__attention_of(const tsr_kernel_call *call, bool backward)
{
    const tsr_attr *scale = &call->attrs.value[TSR_ATT_SCALE];
    const int mask = backward ? TSR_ATT_GRAD_MASK : TSR_ATT_MASK;
    tsr_attention_call a = {.q = &call->in[backward ? TSR_ATT_GRAD_Q : TSR_ATT_Q],
                            .k = &call->in[backward ? TSR_ATT_GRAD_K : TSR_ATT_K],
                            .v = &call->in[backward ? TSR_ATT_GRAD_V : TSR_ATT_V],
                            .mask = tsr__operand_given(call, mask) ? &call->in[mask] : NULL,
                            .group = call->attrs.value[TSR_ATT_GROUP].i[0],
                            .causal = call->attrs.value[TSR_ATT_CAUSAL].i[0] != 0};
    int64_t stride = 1;

    a.batch = a.q->shape.size[0];
    a.heads = a.q->shape.size[1];
    a.rows = a.q->shape.size[2];
    a.dim = a.q->shape.size[3];
    a.key_heads = a.k->shape.size[1];
    a.keys = a.k->shape.size[2];
    a.width = a.v->shape.size[3];
    a.scale = scale->n > 0 ? scale->f : a.dim > 0 ? 1 / sqrt((double)a.dim) : 1;
    for (int d = a.mask ? a.mask->shape.ndim - 1 : -1; d >= 0; d--) {
        int64_t n = a.mask->shape.size[d];

        a.mask_stride[d + 4 - a.mask->shape.ndim] = n == 1 ? 0 : stride;
        stride *= n;
    }
    return a;
}

int64_t tsr__attention_key_head(const tsr_attention_call *a, int64_t head)
{
    const int64_t want = position(a->q, 1, head) / a->group;

    for (int64_t kv = 0; kv < a->key_heads; kv++)
        if (position(a->k, 1, kv) == want)
            return kv;
    return -1;
}

int64_t tsr__attention_seen(const tsr_attention_call *a, int64_t row, int64_t j, int64_t n)
{
    const int64_t at = position(a->q, 2, row);
    int64_t seen = n;

    if (!a->causal)
        return n;
    if (!a->k->index[2]) {
        seen = at - position(a->k, 2, j) + 1;
        return seen < 0 ? 0 : seen < n ? seen : n;
    }
    while (seen > 0 && position(a->k, 2, j + seen - 1) > at)
        seen--;
    return seen;
}

/* ---- blocks ---- */

typedef struct block {
    int64_t i, rows, j, keys;
} block;

/* A call, and the parts of its scratch. */
typedef struct job {
    tsr_attention_call a;
    tsr_dtype dtype; /* that is computed with */
    const parts *parts;
    bool deterministic; /* reproducible: a row has the same order of terms in any block */
    const tsr_operand *grad, *given, *lse, *of_lse; /* of the gradients; of_lse NULL: none */
    const double *product;                          /* of grad and out, by row; NULL: not yet */
    const tsr_operand *out[TSR_OP_OUTPUTS];
    void *q, *k, *v, *mask;              /* blocks of these */
    void *score, *slope, *acc;           /* blocks of scores and of results */
    void *max, *sum, *factor;            /* of each row of a block */
    void *own;                           /* of all rows: the maxima of the keys here, then sums */
    void *delta, *acc_q, *acc_k, *acc_v; /* of a head */
    void *acc_mask;                      /* NULL: not wanted */
} job;

/* Does any row of the block see any of its keys? Positions ascend. */
static bool sees(const tsr_attention_call *a, const block *x)
{
    return tsr__attention_seen(a, x->i + x->rows - 1, x->j, 1) > 0;
}

/* c[m,n] = a b (+ c), dense matrices; a is stored as [k,m] or b as [n,k] if turned. */
static void gemm(const job *w, tsr_dtype dtype, bool turn_a, bool turn_b, int64_t m, int64_t n,
                 int64_t k, const void *a, const void *b, bool add, void *c)
{
    const int64_t lda = turn_a ? m : k, ldb = turn_b ? k : n;

    if (w->deterministic) {
        tsr__gemm_deterministic(dtype, m, n, k, a,
                                (const int64_t[]){turn_a ? 1 : lda, turn_a ? lda : 1}, b,
                                (const int64_t[]){turn_b ? 1 : ldb, turn_b ? ldb : 1}, add, c, n);
        return;
    }
    if (dtype == TSR_F32 && tsr__onednn_gemm_f32(turn_a, turn_b, m, n, k, a, b, add, c))
        return;
    if (turn_a)
        tsr__blas_gemm_tn(dtype, m, n, k, a, lda, b, ldb, add, c, n);
    else if (turn_b)
        tsr__blas_gemm_nt(dtype, m, n, k, a, lda, b, ldb, add, c, n);
    else
        tsr__blas_gemm(dtype, m, n, k, a, lda, b, ldb, add, c, n);
}

#define T float
#define DTYPE TSR_F32
#define FN(name) name##_f32
#include "ops/attention/attention_blocks.inc.h"

#define T double
#define DTYPE TSR_F64
#define FN(name) name##_f64
#include "ops/attention/attention_blocks.inc.h"

/* ---- scratch ---- */

typedef struct carver {
    char *at; /* NULL: only counting */
    size_t used, size;
} carver;

static void *carve(carver *c, int64_t count)
{
    char *p = c->at ? c->at + c->used : NULL;

    c->used += ((size_t)count * c->size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return p;
}

static tsr_dtype wide(tsr_dtype dtype)
{
    return dtype == TSR_F64 ? TSR_F64 : TSR_F32;
}

static size_t carve_job(const tsr_kernel_call *call, bool backward, job *w)
{
    const tsr_attention_call a = tsr__attention_of(call, backward);
    const int64_t rows = tsr__min(ROWS, a.rows), keys = tsr__min(KEYS, a.keys);
    const int64_t widest = a.dim > a.width ? a.dim : a.width;
    carver c = {.at = call->scratch, .size = tsr_dtype_size(wide(a.q->dtype))};

    *w = (job){.a = a, .deterministic = call->reproducible};
    w->q = carve(&c, (rows > 1 ? rows : 1) * widest);
    w->k = carve(&c, (keys > 1 ? keys : 1) * widest);
    w->v = carve(&c, keys * a.width);
    w->mask = carve(&c, keys);
    w->score = carve(&c, rows * keys);
    w->acc = carve(&c, rows * a.width);
    w->max = carve(&c, rows);
    w->sum = carve(&c, rows);
    w->factor = carve(&c, rows);
    for (int k = 0; k < call->n_out; k++)
        w->out[k] = &call->out[k];
    if (!backward) {
        w->own = carve(&c, 2 * a.batch * a.heads * a.rows);
        return c.used;
    }
    w->slope = carve(&c, rows * keys);
    w->delta = carve(&c, a.rows);
    w->acc_q = carve(&c, a.rows * a.dim);
    w->acc_k = carve(&c, a.keys * a.dim);
    w->acc_v = carve(&c, a.keys * a.width);
    if (call->out[3].shape.ndim >= 0)
        w->acc_mask = carve(&c, tsr__operand_count(&call->out[3]));
    w->grad = &call->in[TSR_ATT_GRAD];
    w->given = &call->in[TSR_ATT_GRAD_OUT];
    w->lse = &call->in[TSR_ATT_GRAD_LSE];
    w->of_lse =
        tsr__operand_given(call, TSR_ATT_GRAD_OF_LSE) ? &call->in[TSR_ATT_GRAD_OF_LSE] : NULL;
    return c.used;
}

static tsr_kernel_variant variant_of(const tsr_kernel_call *call)
{
    return tsr__variant_of(call, TSR_CATEGORY_LINALG, (uint16_t)call->kind);
}

static bool is_backward(const tsr_kernel_call *call)
{
    return call->kind == TSR_LINALG_ATTENTION_BACKWARD;
}

size_t tsr__scratch_attention(const tsr_kernel_call *call)
{
    const bool back = is_backward(call);
    job w;

    if (variant_of(call) == TSR_VARIANT_REFERENCE)
        return (size_t)tsr__reference_attention_numbers(call, back) * sizeof(double);
    return carve_job(call, back, &w);
}

/* ---- kernels ---- */

/* The strategy saw to it that keys are where their queries are. */
static bool has_keys(const tsr_kernel_call *call)
{
    const tsr_attention_call a = tsr__attention_of(call, is_backward(call));

    for (int64_t h = 0; h < a.heads; h++)
        if (tsr__attention_key_head(&a, h) < 0) {
            tsr__fail(call->error, TSR_ERR_SHAPE, "query head %" PRId64 " has no key head",
                      position(a.q, 1, h));
            return false;
        }
    return true;
}

static job job_of(const tsr_kernel_call *call)
{
    job w;

    carve_job(call, is_backward(call), &w);
    w.dtype = wide(w.a.q->dtype);
    w.parts = tsr__kernel_for(&attention_kernels, w.dtype, variant_of(call));
    return w;
}

static job forward(const tsr_kernel_call *call)
{
    const job w = job_of(call);

    (w.dtype == TSR_F64 ? forward_f64 : forward_f32)(&w);
    return w;
}

/* product: of every row's gradient and output; NULL: from those. */
static void backward(const tsr_kernel_call *call, const double *product)
{
    job w = job_of(call);

    w.product = product;
    (w.dtype == TSR_F64 ? backward_f64 : backward_f32)(&w);
}

void tsr__kernel_attention(const tsr_kernel_call *call)
{
    const bool reference = variant_of(call) == TSR_VARIANT_REFERENCE;

    if (!has_keys(call))
        return;
    if (reference)
        (is_backward(call) ? tsr__reference_attention_backward : tsr__reference_attention)(call);
    else if (is_backward(call))
        backward(call, NULL);
    else
        forward(call);
}

/* ---- their steps: numbers of every row ---- */

/* Not the logarithms of sums: of a large maximum, as masks have, they leave nothing of the sum. */
static int64_t count_numbers(const tsr_kernel_call *call)
{
    return 2 * tsr__operand_count(&call->out[TSR_ATT_LSE]);
}

static void forward_local(const tsr_kernel_call *call, double *numbers)
{
    const job w = forward(call);

    tsr__convert(TSR_F64, numbers, w.dtype, w.own, count_numbers(call));
}

static void forward_finish(const tsr_kernel_call *call, const double *numbers)
{
    const job w = job_of(call);
    const int64_t rows = count_numbers(call) / 2, step = tsr__min(ROWS, w.a.rows);

    for (int64_t i = 0; i < rows; i += step)
        (w.dtype == TSR_F64 ? reweigh_f64 : reweigh_f32)(&w, i, tsr__min(step, rows - i),
                                                         numbers + i, numbers + rows + i);
}

static int64_t count_given_rows(const tsr_kernel_call *call)
{
    return tsr__operand_count(&call->in[TSR_ATT_GRAD_LSE]);
}

static void backward_local(const tsr_kernel_call *call, double *numbers)
{
    const job w = job_of(call);
    const int64_t rows = w.a.rows;

    for (int64_t head = 0; head < w.a.batch * w.a.heads; head++) {
        (w.dtype == TSR_F64 ? products_f64 : products_f32)(&w, head);
        tsr__convert(TSR_F64, numbers + head * rows, w.dtype, w.delta, rows);
    }
}

const tsr_merge_steps tsr__attention_steps = {count_numbers, forward_local, tsr__lse_combine_n,
                                              forward_finish, NULL};
const tsr_merge_steps tsr__attention_backward_steps = {count_given_rows, backward_local,
                                                       tsr__merge_sums, backward, NULL};
