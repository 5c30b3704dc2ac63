/* SPDX-License-Identifier: Apache-2.0 */
/* matmul.c - products of matrices: finds the pairs of matrices that the leading dims name and how
   each pair is multiplied. f32 and f64 by BLAS, bf16 by oneDNN, and f32 too where that is faster;
   f16, and bf16 where oneDNN does not help, by BLAS on tiles widened to f32 that fit the stack,
   summed in f32 over all of k and rounded once. Called through the op's row. */
#include "kernel/kernels.h"

#include "base/half.h"
#include "kernel/blas.h"
#include "kernel/index.h"
#include "kernel/onednn.h"
#include "kernel/reference.h"
#include "kernel/sku.h"

enum { TILE = 256 }; /* three tiles of f32: 768 KiB */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

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

/* In reproducible mode, an element's order of terms depends on k alone. */
static void gemm(bool steady, tsr_dtype dtype, int64_t m, int64_t n, int64_t k, const void *a,
                 int64_t lda, const void *b, int64_t ldb, bool add, void *c, int64_t ldc)
{
    if (steady)
        tsr__blas_gemm_steady(dtype, m, n, k, a, (const int64_t[]){lda, 1}, b,
                              (const int64_t[]){ldb, 1}, add, c, ldc);
    else
        tsr__blas_gemm(dtype, m, n, k, a, lda, b, ldb, add, c, ldc);
}

/* One tile of c, at most TILE x TILE; a starts at its first row, b and bias at its first column. */
static void half_tile(bool steady, tsr_dtype dtype, int64_t m, int64_t n, int64_t k,
                      const uint16_t *a, const uint16_t *b, int64_t ldb, const uint16_t *bias,
                      uint16_t *c)
{
    float sum[TILE * TILE], wide_a[TILE * TILE], wide_b[TILE * TILE];

    for (int64_t l = 0; l < k; l += TILE) {
        int64_t terms = least(TILE, k - l);

        widen(dtype, a + l, k, m, terms, wide_a);
        widen(dtype, b + l * ldb, ldb, terms, n, wide_b);
        gemm(steady, TSR_F32, m, n, terms, wide_a, TILE, wide_b, TILE, l > 0, sum, TILE);
    }
    if (bias) {
        widen(dtype, bias, 0, 1, n, wide_b);
        add_bias(TSR_F32, m, n, wide_b, sum, TILE);
    }
    for (int64_t i = 0; i < m; i++)
        tsr__half_narrow(dtype, sum + i * TILE, n, c + i * ldb);
}

static void half_product(bool steady, tsr_dtype dtype, int64_t m, int64_t n, int64_t k,
                         const uint16_t *a, const uint16_t *b, const uint16_t *bias, uint16_t *c)
{
    for (int64_t j = 0; j < n; j += TILE)
        for (int64_t i = 0; i < m; i += TILE)
            half_tile(steady, dtype, least(TILE, m - i), least(TILE, n - j), k, a + i * k, b + j, n,
                      bias ? bias + j : NULL, c + i * n + j);
}

static void product(bool steady, tsr_dtype dtype, int64_t m, int64_t n, int64_t k, const void *a,
                    const void *b, const void *bias, void *c)
{
    if (!steady && dtype == TSR_BF16 && tsr__onednn_matmul_bf16(m, n, k, a, b, bias, c))
        return;
    if (dtype == TSR_F16 || dtype == TSR_BF16) {
        half_product(steady, dtype, m, n, k, a, b, bias, c);
        return;
    }
    if (steady || dtype != TSR_F32 || !tsr__onednn_matmul_f32(m, n, k, a, b, c))
        gemm(steady, dtype, m, n, k, a, k, b, n, false, c, n);
    if (bias)
        add_bias(dtype, m, n, bias, c, n);
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

        product(call->reproducible, c->dtype, m, n, k, offset(a->data, size, p * m * k),
                offset(b->data, size, q * k * n), bias,
                (char *)c->data + (size_t)(i * m * n) * size);
    }
}
