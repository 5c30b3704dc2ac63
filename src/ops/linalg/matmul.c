/* SPDX-License-Identifier: Apache-2.0 */
/* matmul.c - products of matrices: finds the pairs of matrices that the leading dims name and how
   each pair is multiplied. f32 and f64 by BLAS, bf16 by oneDNN, and f32 too where that is faster;
   f16, and bf16 where oneDNN does not help, by BLAS on tiles widened to f32 that fit the stack,
   summed in f32 over all of k and rounded once. Called through the op's row. */
#include "ops/linalg/linalg_ops.h"

#include "base/half.h"
#include "base/minmax.h"
#include "kernel/blas.h"
#include "kernel/kinds.h"
#include "kernel/index.h"
#include "kernel/onednn.h"
#include "ops/linalg/reference.h"
#include "kernel/sku.h"
#include "kernel/gemm_deterministic.h"

enum { TILE = 256 }; /* three tiles of f32: 768 KiB */

static const char *offset(const void *base, size_t size, int64_t i)
{
    return (const char *)base + i * (int64_t)size;
}

static void widen(tsr_dtype dtype, const uint16_t *x, int64_t step, int64_t rows, int64_t n,
                  float *tile)
{
    for (int64_t i = 0; i < rows; i++)
        tsr__half_widen(dtype, x + i * step, n, tile + i * TILE);
}

static void add_bias(tsr_dtype dtype, int64_t m, int64_t n, const void *bias, void *c, int64_t ldc)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            if (dtype == TSR_F32)
                ((float *)c)[i * ldc + j] += ((const float *)bias)[j];
            else
                ((double *)c)[i * ldc + j] += ((const double *)bias)[j];
        }
}

/* A product of two matrices. b is [k,n], or [n,k] if it is turned. Steady: in reproducible mode, an
   element's order of terms depends on k alone. */
typedef struct factors {
    tsr_dtype dtype;
    int64_t m, n, k;
    bool turned, deterministic;
} factors;

static void gemm(const factors *f, tsr_dtype dtype, int64_t m, int64_t n, int64_t k, const void *a,
                 int64_t lda, const void *b, int64_t ldb, bool add, void *c, int64_t ldc)
{
    if (f->deterministic)
        tsr__gemm_deterministic(dtype, m, n, k, a, (const int64_t[]){lda, 1}, b,
                                (const int64_t[]){f->turned ? 1 : ldb, f->turned ? ldb : 1}, add, c,
                                ldc);
    else if (f->turned)
        tsr__blas_gemm_nt(dtype, m, n, k, a, lda, b, ldb, add, c, ldc);
    else
        tsr__blas_gemm(dtype, m, n, k, a, lda, b, ldb, add, c, ldc);
}

/* The tile of c at row i and column j. */
static void half_tile(const factors *f, int64_t i, int64_t j, const uint16_t *a, const uint16_t *b,
                      const uint16_t *bias, uint16_t *c)
{
    float sum[TILE * TILE], wide_a[TILE * TILE], wide_b[TILE * TILE];
    const int64_t m = tsr__min(TILE, f->m - i), n = tsr__min(TILE, f->n - j), k = f->k;

    for (int64_t l = 0; l < k; l += TILE) {
        int64_t terms = tsr__min(TILE, k - l);

        widen(f->dtype, a + i * k + l, k, m, terms, wide_a);
        if (f->turned)
            widen(f->dtype, b + j * k + l, k, n, terms, wide_b);
        else
            widen(f->dtype, b + l * f->n + j, f->n, terms, n, wide_b);
        gemm(f, TSR_F32, m, n, terms, wide_a, TILE, wide_b, TILE, l > 0, sum, TILE);
    }
    if (bias) {
        widen(f->dtype, bias + j, 0, 1, n, wide_b);
        add_bias(TSR_F32, m, n, wide_b, sum, TILE);
    }
    for (int64_t r = 0; r < m; r++)
        tsr__half_narrow(f->dtype, sum + r * TILE, n, c + (i + r) * f->n + j);
}

static void half_product(const factors *f, const uint16_t *a, const uint16_t *b,
                         const uint16_t *bias, uint16_t *c)
{
    for (int64_t j = 0; j < f->n; j += TILE)
        for (int64_t i = 0; i < f->m; i += TILE)
            half_tile(f, i, j, a, b, bias, c);
}

static void product(const factors *f, const void *a, const void *b, const void *bias, void *c)
{
    const int64_t m = f->m, n = f->n, k = f->k;

    if (!f->deterministic && f->dtype == TSR_BF16 &&
        tsr__onednn_matmul_bf16(m, n, k, a, b, f->turned, bias, c))
        return;
    if (f->dtype == TSR_F16 || f->dtype == TSR_BF16) {
        half_product(f, a, b, bias, c);
        return;
    }
    if (f->deterministic || f->dtype != TSR_F32 ||
        !tsr__onednn_matmul_f32(m, n, k, a, b, f->turned, c))
        gemm(f, f->dtype, m, n, k, a, k, b, f->turned ? k : n, false, c, n);
    if (bias)
        add_bias(f->dtype, m, n, bias, c, n);
}

void tsr__kernel_matmul(const tsr_kernel_call *call)
{
    const tsr_operand *a = &call->in[0], *b = &call->in[1], *c = &call->out[0];
    const tsr_shape *sa = &a->shape, *sb = &b->shape, *sc = &c->shape;
    const int64_t n = sc->size[sc->ndim - 1], k = sa->size[sa->ndim - 1];
    const void *bias = tsr__operand_given(call, 2) ? call->in[2].data : NULL;
    const size_t size = tsr_dtype_size(c->dtype);
    const tsr_kernel_variant v = tsr__variant_of(call, TSR_CATEGORY_LINALG, TSR_LINALG_MATMUL);
    int64_t m = sc->size[sc->ndim - 2], batches = tsr__product(sc->ndim - 2, sc->size);

    if (v != TSR_VARIANT_LIBRARY || k == 0) {
        tsr__reference_matmul(call);
        return;
    }
    if (tsr__operand_count(c) == 0)
        return;
    /* one b for all of a: the matrices of a are one with more rows */
    if (tsr__product(sb->ndim - 2, sb->size) == 1 &&
        tsr__product(sa->ndim - 2, sa->size) == batches) {
        m *= batches;
        batches = 1;
    }
    for (int64_t i = 0; i < batches; i++) {
        int64_t p = tsr__broadcast_at(sa->ndim - 2, sa->size, sc->ndim - 2, sc->size, i);
        int64_t q = tsr__broadcast_at(sb->ndim - 2, sb->size, sc->ndim - 2, sc->size, i);

        product(&(factors){c->dtype, m, n, k, false, call->reproducible},
                offset(a->data, size, p * m * k), offset(b->data, size, q * k * n), bias,
                (char *)c->data + (size_t)(i * m * n) * size);
    }
}

void tsr__kernel_linear(const tsr_kernel_call *call)
{
    const tsr_operand *x = &call->in[0], *weight = &call->in[1], *y = &call->out[0];
    const void *bias = tsr__operand_given(call, 2) ? call->in[2].data : NULL;
    const int64_t n = weight->shape.size[0], k = weight->shape.size[1];

    if (tsr__variant_of(call, TSR_CATEGORY_LINALG, TSR_LINALG_LINEAR) != TSR_VARIANT_LIBRARY ||
        k == 0)
        tsr__reference_linear(call);
    else if (tsr__operand_count(y) > 0)
        product(&(factors){y->dtype, tsr__operand_count(y) / n, n, k, true, call->reproducible},
                x->data, weight->data, bias, y->data);
}
