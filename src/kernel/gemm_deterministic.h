/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_deterministic.h - products of matrices in reproducible mode: every element is summed term by
   term, so that its bits depend on its terms alone, and not on where it is in c, nor on m and n.
   BLAS does not promise that: elements at the edges of its blocks may be summed in another order.
   */
#ifndef TSR_KERNEL_GEMM_DETERMINISTIC_H
#define TSR_KERNEL_GEMM_DETERMINISTIC_H

#include "base/dtype.h"

/* c[m,n] (+)= a[m,k] b[k,n], f32 or f64, with elements of a and b any distances apart, [row,
   column], and rows of c ldc apart. */
void tsr__gemm_deterministic(tsr_dtype dtype, int64_t m, int64_t n, int64_t k, const void *a,
                             const int64_t a_step[2], const void *b, const int64_t b_step[2],
                             bool add, void *c, int64_t ldc);

#endif
