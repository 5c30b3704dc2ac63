/* SPDX-License-Identifier: Apache-2.0 */
/* blas.h - products of f32 and f64 matrices: by OpenBLAS (blas.c, the only place that knows it), or
   in builds without it by our own (blas_own.c). */
#ifndef TSR_KERNEL_BLAS_H
#define TSR_KERNEL_BLAS_H

#include "base/dtype.h"

/* For programs without jobs, before the first kernel: one thread per caller. */
void tsr__blas_setup(void);
/* On how many threads a call computes, for the whole process; gives the number before. */
int tsr__blas_threads_set(int n);
/* A work buffer as a product takes one, and back: the memory stays with OpenBLAS. The bytes of one,
   0 if there are none to take. */
size_t tsr__blas_buffer_bytes(void);
void *tsr__blas_buffer_take(void);
void tsr__blas_buffer_give(void *buffer);
/* Can several threads call it at once? Debian's serial build is then silently wrong. */
bool tsr__blas_usable(void);
/* OpenBLAS's version, "0.3.21"; NULL in builds without it. */
const char *tsr__blas_version(char *buf, size_t n);

/* c[m,n] = a[m,k] b[k,n] (+ c if `add`), row-major with rows lda, ldb, ldc elements apart; f32 or
   f64. Any sizes, 0 included. */
void tsr__blas_gemm(tsr_dtype dtype, int64_t m, int64_t n, int64_t k, const void *a, int64_t lda,
                    const void *b, int64_t ldb, bool add, void *c, int64_t ldc);
/* The same with b stored as [n,k], or a as [k,m], or both. All sizes and distances at most INT_MAX.
   */
void tsr__blas_gemm_nt(tsr_dtype dtype, int64_t m, int64_t n, int64_t k, const void *a, int64_t lda,
                       const void *b, int64_t ldb, bool add, void *c, int64_t ldc);
void tsr__blas_gemm_tn(tsr_dtype dtype, int64_t m, int64_t n, int64_t k, const void *a, int64_t lda,
                       const void *b, int64_t ldb, bool add, void *c, int64_t ldc);
void tsr__blas_gemm_tt(tsr_dtype dtype, int64_t m, int64_t n, int64_t k, const void *a, int64_t lda,
                       const void *b, int64_t ldb, bool add, void *c, int64_t ldc);

#endif
