/* SPDX-License-Identifier: Apache-2.0 */
/* fold.h - the loops of a reduction, without a decision on how the result is stored. For reduce.c
   and piece_reduce.c. */
#ifndef TSR_BASE_FOLD_H
#define TSR_BASE_FOLD_H

#include "base/reduce.h"

/* Elements whose intermediate results stay in the first-level cache; 8 bytes each at most. */
enum { TSR__FOLD_BLOCK = 512, TSR__FOLD_BYTES = TSR__FOLD_BLOCK * 8 };

/* Where a sum overflows that is divided afterwards, terms are multiplied by this power of 2 first,
   which is exact, and so is the divisor. */
static inline double tsr__reduce_scale(int64_t divisor, int n_src)
{
    double scale = 1;

    while (scale * (double)divisor > 1 || scale * n_src > 1)
        scale /= 2;
    return scale;
}

/* dst = (src[0] op src[1] op ..) / divisor, as tsr__reduce. */
void tsr__fold(tsr_dtype dtype, tsr_reduce op, int64_t divisor, int n_src, const void *const *src,
               int64_t n, void *dst);

/* The same with one source after the other, for n <= TSR__FOLD_BLOCK elements: acc = src (first) or
   acc op src; f16 and bf16 are f32 in acc. Then dst = acc / divisor. */
void tsr__fold_add(tsr_dtype dtype, tsr_reduce op, bool first, const void *src, int64_t n,
                   void *acc);
void tsr__fold_finish(tsr_dtype dtype, int64_t divisor, void *acc, int64_t n, void *dst);

/* Averages of floats, of which some may have overflowed: must n <= TSR__FOLD_BLOCK elements be
   summed up anew, by these two? acc = scale src (first) or acc + scale src; then dst = acc / (scale
   divisor) where it is not finite. */
bool tsr__fold_overflowed(tsr_dtype dtype, int64_t divisor, const void *data, int64_t n);
void tsr__fold_add_scaled(tsr_dtype dtype, double scale, bool first, const void *src, int64_t n,
                          void *acc);
void tsr__fold_mend(tsr_dtype dtype, double divisor, const void *acc, int64_t n, void *dst);

/* tsr__fold for f16 and bf16 by AVX2; how many elements were done, the first ones. */
int64_t tsr__fold_half(tsr_dtype dtype, tsr_reduce op, int64_t divisor, int n_src,
                       const void *const *src, int64_t n, void *dst);

#endif
