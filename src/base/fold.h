/* SPDX-License-Identifier: Apache-2.0 */
/* fold.h - the loops of a reduction, without a decision on how the result is stored. For reduce.c
   and piece_reduce.c. */
#ifndef TSR_BASE_FOLD_H
#define TSR_BASE_FOLD_H

#include "base/reduce.h"

/* Elements whose intermediate results stay in the first-level cache; 8 bytes each at most. */
enum { TSR__FOLD_BLOCK = 512, TSR__FOLD_BYTES = TSR__FOLD_BLOCK * 8 };

/* dst = (src[0] op src[1] op ..) / divisor, as tsr__reduce. */
void tsr__fold(tsr_dtype dtype, tsr_reduce op, int64_t divisor, int n_src, const void *const *src,
               int64_t n, void *dst);

/* The same with one source after the other, for n <= TSR__FOLD_BLOCK elements: acc = src (first) or
   acc op src; f16 and bf16 are f32 in acc. Then dst = acc / divisor. */
void tsr__fold_add(tsr_dtype dtype, tsr_reduce op, bool first, const void *src, int64_t n,
                   void *acc);
void tsr__fold_finish(tsr_dtype dtype, int64_t divisor, void *acc, int64_t n, void *dst);

/* tsr__fold for f16 and bf16 by AVX2; how many elements were done, the first ones. */
int64_t tsr__fold_half(tsr_dtype dtype, tsr_reduce op, int64_t divisor, int n_src,
                       const void *const *src, int64_t n, void *dst);

#endif
