/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_deterministic.c - see gemm_deterministic.h. Operands are copied into tiles that stay in the
   cache; a block of sums stays in registers, each in a lane of its own. Called by matmul, einsum,
   attention and convolution by columns. */
#include "kernel/gemm_deterministic.h"

#include <string.h>

#include "base/kernel_table.h"
#include "base/minmax.h"

enum {
    TILE = 96,    /* rows and columns of sums: a multiple of those of a block */
    TERMS = 256,  /* of a tile */
    TOGETHER = 4, /* rows, */
    ACROSS = 3    /* and vectors of columns, that fit the registers */
};

typedef struct parts {
    void (*add_products)(int64_t rows, int64_t columns, int64_t terms, const void *a, const void *b,
                         void *sum);
    void (*cut)(int64_t rows, int64_t columns, const void *from, const int64_t step[2],
                int64_t wide, void *to);
    void (*paste)(int64_t rows, int64_t columns, const void *sum, bool add, void *c, int64_t ldc);
} parts;

#define TABLE gemm_kernels
#define BODY "kernel/gemm_deterministic.inc.h"
#define DTYPES TSR__REALS
#define AVX2 TSR__AVX2
#include "base/kernel_table.inc.h"

void tsr__gemm_deterministic(tsr_dtype dtype, int64_t m, int64_t n, int64_t k, const void *a,
                             const int64_t a_step[2], const void *b, const int64_t b_step[2],
                             bool add, void *c, int64_t ldc)
{
    const int64_t size = (int64_t)tsr_dtype_size(dtype);
    const parts *p = tsr__kernel_for(&gemm_kernels, dtype, TSR_VARIANT_AUTO);
    _Alignas(64) double tile_a[TILE * TERMS], tile_b[TERMS * TILE], sum[TILE * TILE];

    for (int64_t j = 0; j < n; j += TILE)
        for (int64_t i = 0; i < m; i += TILE) {
            const int64_t rows = tsr__min(TILE, m - i), columns = tsr__min(TILE, n - j);

            /* blocks reach beyond the last row and column */
            memset(sum, 0, (size_t)(tsr__min(rows + TOGETHER - 1, TILE) * TILE * size));
            for (int64_t l = 0; l < k; l += TERMS) {
                const int64_t terms = tsr__min(TERMS, k - l);

                memset(tile_a, 0, (size_t)(tsr__min(rows + TOGETHER - 1, TILE) * TERMS * size));
                memset(tile_b, 0, (size_t)(terms * TILE * size));
                p->cut(rows, terms, (const char *)a + (i * a_step[0] + l * a_step[1]) * size,
                       a_step, TERMS, tile_a);
                p->cut(terms, columns, (const char *)b + (l * b_step[0] + j * b_step[1]) * size,
                       b_step, TILE, tile_b);
                p->add_products(rows, columns, terms, tile_a, tile_b, sum);
            }
            p->paste(rows, columns, sum, add, (char *)c + (i * ldc + j) * size, ldc);
        }
}
