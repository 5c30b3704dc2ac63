/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_deterministic.inc.h - body of gemm_deterministic.c for f32 or f64 and one instruction set;
   see kernel_types.inc.h. */

typedef T FN(vector) __attribute__((vector_size(32), may_alias));
enum { FN(LANES) = 32 / sizeof(T) };

/* TOGETHER rows by ACROSS vectors of columns of the sums. */
TSR__INLINE void FN(block)(int64_t terms, const T *a, const T *b, T *sum)
{
    FN(vector) acc[TOGETHER][ACROSS];

#pragma GCC unroll 4
    for (int r = 0; r < TOGETHER; r++)
#pragma GCC unroll 3
        for (int v = 0; v < ACROSS; v++)
            acc[r][v] = *(const FN(vector) *)(const void *)(sum + r * TILE + v * FN(LANES));
    for (int64_t l = 0; l < terms; l++)
#pragma GCC unroll 4
        for (int r = 0; r < TOGETHER; r++)
#pragma GCC unroll 3
            for (int v = 0; v < ACROSS; v++)
                acc[r][v] += a[r * TERMS + l] *
                             *(const FN(vector) *)(const void *)(b + l * TILE + v * FN(LANES));
#pragma GCC unroll 4
    for (int r = 0; r < TOGETHER; r++)
#pragma GCC unroll 3
        for (int v = 0; v < ACROSS; v++)
            *(FN(vector) *)(void *)(sum + r * TILE + v * FN(LANES)) = acc[r][v];
}

/* sum[TILE,TILE] += a[rows,terms] b[terms,columns]; what is computed beyond nobody reads. */
SET static void FN(add_products)(int64_t rows, int64_t columns, int64_t terms, const void *a,
                                 const void *b, void *sum)
{
    for (int64_t i = 0; i < rows; i += TOGETHER)
        for (int64_t j = 0; j < columns; j += ACROSS * FN(LANES))
            FN(block)(terms, (const T *)a + i * TERMS, (const T *)b + j, (T *)sum + i * TILE + j);
}

/* from[rows,columns], any distances apart, as rows of a tile that are `wide` apart. */
SET static void FN(cut)(int64_t rows, int64_t columns, const void *from, const int64_t step[2],
                        int64_t wide, void *to)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            ((T *)to)[i * wide + j] = ((const T *)from)[i * step[0] + j * step[1]];
}

SET static void FN(paste)(int64_t rows, int64_t columns, const void *sum, bool add, void *c,
                          int64_t ldc)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            const T x = ((const T *)sum)[i * TILE + j];
            T *to = (T *)c + i * ldc + j;

            *to = add ? *to + x : x;
        }
}

static const parts FN(entry) = {FN(add_products), FN(cut), FN(paste)};
