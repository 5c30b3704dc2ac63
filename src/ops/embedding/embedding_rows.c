/* SPDX-License-Identifier: Apache-2.0 */
/* embedding_rows.c - sums, maxima and products of rows, by number type and instruction set. f16 and
   bf16 add in f32, f32 in f32 and f64. Called by the embedding kernels. */
#include "ops/embedding/embedding_rows.h"

#include "base/kernel_table.h"

#ifdef __clang__ /* a product and a sum joined would round differently than elsewhere */
#pragma STDC FP_CONTRACT OFF
#endif

enum {
    TILE = 256,     /* bytes of accumulators that fit the registers */
    SHORT_RUN = 8,  /* terms that are added one by one, if their sums are then added in a wider */
    LONG_RUN = 256, /* type; and if not */
    WHOLE = 256 << 10
};

/* Counts terms in lanes as wide as those that are compared. */
#define PLACE __typeof__(_Generic((ACC)0, double: INT64_C(0), default: 0))

/* With the first columns whole rows are fetched, unless there are so many terms that the rest would
   be gone from the cache when its turn comes. */
TSR__INLINE size_t bytes_to_fetch(const tsr_row_terms *t, int64_t column, int64_t width,
                                  size_t size)
{
    const size_t row = (size_t)t->dim * size;

    if ((size_t)t->n * row > WHOLE)
        return (size_t)width * size;
    return column == 0 ? row : 0;
}

/* Divisions of 32 bits are several times as fast. */
TSR__INLINE uint64_t remainder_of(int64_t element, int64_t dim)
{
    const uint64_t e = (uint64_t)element, d = (uint64_t)dim;

    return (e | d) >> 32 ? e % d : (uint32_t)e % (uint32_t)d;
}

#define TABLE row_kernels
#define BODY "ops/embedding/embedding_rows.inc.h"
#define DTYPES (TSR__HALVES | TSR__PRIME)
#define AVX2 TSR__AVX2
#define AVX512 TSR__AVX512
#include "base/kernel_table.inc.h"

const tsr_row_parts *tsr__row_parts(tsr_dtype dtype, tsr_kernel_variant variant)
{
    /* all ops with arithmetic on rows have the same */
    return tsr__kernel_for(
        &row_kernels, dtype,
        tsr__variant_best(TSR_CATEGORY_EMBEDDING, TSR_EMBEDDING_BAG_SUM, dtype, variant));
}
