/* SPDX-License-Identifier: Apache-2.0 */
/* blas_own.c - blas.h in builds without OpenBLAS: the products of reproducible mode serve for all
   of them, at about half of OpenBLAS's speed. */
#include "kernel/blas.h"

#include "kernel/gemm_deterministic.h"

void tsr__blas_setup(void)
{
}

int tsr__blas_threads_set(int n)
{
    (void)n;
    return 1;
}

size_t tsr__blas_buffer_bytes(void)
{
    return 0;
}

void *tsr__blas_buffer_take(void)
{
    return NULL;
}

void tsr__blas_buffer_give(void *buffer)
{
    (void)buffer;
}

bool tsr__blas_usable(void)
{
    return true;
}

const char *tsr__blas_version(char *buf, size_t n)
{
    (void)buf, (void)n;
    return NULL;
}

void tsr__blas_gemm(tsr_dtype dtype, int64_t m, int64_t n, int64_t k, const void *a, int64_t lda,
                    const void *b, int64_t ldb, bool add, void *c, int64_t ldc)
{
    tsr__gemm_deterministic(dtype, m, n, k, a, (const int64_t[]){lda, 1}, b,
                            (const int64_t[]){ldb, 1}, add, c, ldc);
}

void tsr__blas_gemm_nt(tsr_dtype dtype, int64_t m, int64_t n, int64_t k, const void *a, int64_t lda,
                       const void *b, int64_t ldb, bool add, void *c, int64_t ldc)
{
    tsr__gemm_deterministic(dtype, m, n, k, a, (const int64_t[]){lda, 1}, b,
                            (const int64_t[]){1, ldb}, add, c, ldc);
}

void tsr__blas_gemm_tn(tsr_dtype dtype, int64_t m, int64_t n, int64_t k, const void *a, int64_t lda,
                       const void *b, int64_t ldb, bool add, void *c, int64_t ldc)
{
    tsr__gemm_deterministic(dtype, m, n, k, a, (const int64_t[]){1, lda}, b,
                            (const int64_t[]){ldb, 1}, add, c, ldc);
}

void tsr__blas_gemm_tt(tsr_dtype dtype, int64_t m, int64_t n, int64_t k, const void *a, int64_t lda,
                       const void *b, int64_t ldb, bool add, void *c, int64_t ldc)
{
    tsr__gemm_deterministic(dtype, m, n, k, a, (const int64_t[]){1, lda}, b,
                            (const int64_t[]){1, ldb}, add, c, ldc);
}
