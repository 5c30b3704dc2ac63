/* SPDX-License-Identifier: Apache-2.0 */
/* blas.c - products of f32 and f64 matrices by OpenBLAS: cuts what exceeds its 32-bit sizes, and
   leaves vectors to the routines for vectors. Called by matmul.c and conv_columns.c. */
#include "kernel/blas.h"

#include "kernel/gemm_deterministic.h"

#include <cblas.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 1 << 30 };           /* rows, columns or terms at once */
enum { BUFFER_BYTES = 128 << 20 }; /* address space of a work buffer, little of it is ever used */

void tsr__blas_setup(void)
{
    openblas_set_num_threads(1);
}

/* Its own, exported by all versions that we know of; absent, nothing is reserved. */
extern void *blas_memory_alloc(int position) __attribute__((weak));
extern void blas_memory_free(void *buffer) __attribute__((weak));

int tsr__blas_threads_set(int n)
{
    const int before = openblas_get_num_threads();

    if (n != before)
        openblas_set_num_threads(n);
    return before;
}

size_t tsr__blas_buffer_bytes(void)
{
    return blas_memory_alloc && blas_memory_free ? BUFFER_BYTES : 0;
}

void *tsr__blas_buffer_take(void)
{
    return blas_memory_alloc(0);
}

void tsr__blas_buffer_give(void *buffer)
{
    blas_memory_free(buffer);
}

bool tsr__blas_usable(void)
{
    return openblas_get_parallel() != 0;
}

/* The second word of its configuration: "OpenBLAS 0.3.21 DYNAMIC_ARCH ...". */
const char *tsr__blas_version(char *buf, size_t n)
{
    const char *config = openblas_get_config();
    const char *version = config + strcspn(config, " ");

    version += strspn(version, " ");
    snprintf(buf, n, "%.*s", (int)strcspn(version, " "), version);
    return buf;
}

static void clear(size_t size, int64_t m, int64_t n, char *c, int64_t ldc)
{
    for (int64_t i = 0; i < m; i++)
        memset(c + i * ldc * (int64_t)size, 0, (size_t)n * size);
}

static void gemm(tsr_dtype dtype, int m, int n, int k, const void *a, int lda, const void *b,
                 int ldb, int add, void *c, int ldc)
{
    if (dtype == TSR_F32 && n == 1 && ldc == 1)
        cblas_sgemv(CblasRowMajor, CblasNoTrans, m, k, 1, a, lda, b, ldb, add, c, 1);
    else if (dtype == TSR_F32 && m == 1)
        cblas_sgemv(CblasRowMajor, CblasTrans, k, n, 1, b, ldb, a, 1, add, c, 1);
    else if (dtype == TSR_F32)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a, lda, b, ldb, add, c,
                    ldc);
    else if (n == 1 && ldc == 1)
        cblas_dgemv(CblasRowMajor, CblasNoTrans, m, k, 1, a, lda, b, ldb, add, c, 1);
    else if (m == 1)
        cblas_dgemv(CblasRowMajor, CblasTrans, k, n, 1, b, ldb, a, 1, add, c, 1);
    else
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a, lda, b, ldb, add, c,
                    ldc);
}

void tsr__blas_gemm(tsr_dtype dtype, int64_t m, int64_t n, int64_t k, const void *a, int64_t lda,
                    const void *b, int64_t ldb, bool add, void *c, int64_t ldc)
{
    const size_t size = tsr_dtype_size(dtype);

    if (m == 0 || n == 0)
        return;
    /* a vector's result is scaled by 0, and some versions then keep a NaN that was there */
    if (!add && (k == 0 || m == 1 || n == 1)) {
        clear(size, m, n, c, ldc);
        add = true;
    }
    if (lda > INT_MAX || ldb > INT_MAX || ldc > INT_MAX) { /* BLAS has 32 bits for them */
        tsr__gemm_deterministic(dtype, m, n, k, a, (const int64_t[]){lda, 1}, b,
                                (const int64_t[]){ldb, 1}, add, c, ldc);
        return;
    }
    /* the columns and terms are fewer than the strides, so only rows may be too many */
    for (int64_t i = 0; i < m && k > 0; i += MOST) {
        const char *from = (const char *)a + (size_t)(i * lda) * size;
        char *to = (char *)c + (size_t)(i * ldc) * size;
        int rows = (int)(m - i < MOST ? m - i : MOST);

        gemm(dtype, rows, (int)n, (int)k, from, (int)lda, b, (int)ldb, add, to, (int)ldc);
    }
}

static void gemm_turned(tsr_dtype dtype, CBLAS_TRANSPOSE turn_a, CBLAS_TRANSPOSE turn_b, int64_t m,
                        int64_t n, int64_t k, const void *a, int64_t lda, const void *b,
                        int64_t ldb, bool add, void *c, int64_t ldc)
{
    if (dtype == TSR_F32)
        cblas_sgemm(CblasRowMajor, turn_a, turn_b, (int)m, (int)n, (int)k, 1, a, (int)lda, b,
                    (int)ldb, add, c, (int)ldc);
    else
        cblas_dgemm(CblasRowMajor, turn_a, turn_b, (int)m, (int)n, (int)k, 1, a, (int)lda, b,
                    (int)ldb, add, c, (int)ldc);
}

/* a times each row of b, or b times each row of a, where the other is one row. */
static bool gemv_nt(tsr_dtype dtype, int64_t m, int64_t n, int64_t k, const void *a, int64_t lda,
                    const void *b, int64_t ldb, bool add, void *c, int64_t ldc)
{
    const bool row = m == 1;

    if (k == 0 || (!row && (n != 1 || ldc != 1)))
        return false;
    if (!add)
        clear(tsr_dtype_size(dtype), m, n, c, ldc);
    if (dtype == TSR_F32)
        cblas_sgemv(CblasRowMajor, CblasNoTrans, (int)(row ? n : m), (int)k, 1, row ? b : a,
                    (int)(row ? ldb : lda), row ? a : b, 1, 1, c, 1);
    else
        cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)(row ? n : m), (int)k, 1, row ? b : a,
                    (int)(row ? ldb : lda), row ? a : b, 1, 1, c, 1);
    return true;
}

void tsr__blas_gemm_nt(tsr_dtype dtype, int64_t m, int64_t n, int64_t k, const void *a, int64_t lda,
                       const void *b, int64_t ldb, bool add, void *c, int64_t ldc)
{
    if (gemv_nt(dtype, m, n, k, a, lda, b, ldb, add, c, ldc))
        return;
    gemm_turned(dtype, CblasNoTrans, CblasTrans, m, n, k, a, lda, b, ldb, add, c, ldc);
}

void tsr__blas_gemm_tt(tsr_dtype dtype, int64_t m, int64_t n, int64_t k, const void *a, int64_t lda,
                       const void *b, int64_t ldb, bool add, void *c, int64_t ldc)
{
    gemm_turned(dtype, CblasTrans, CblasTrans, m, n, k, a, lda, b, ldb, add, c, ldc);
}

void tsr__blas_gemm_tn(tsr_dtype dtype, int64_t m, int64_t n, int64_t k, const void *a, int64_t lda,
                       const void *b, int64_t ldb, bool add, void *c, int64_t ldc)
{
    gemm_turned(dtype, CblasTrans, CblasNoTrans, m, n, k, a, lda, b, ldb, add, c, ldc);
}
