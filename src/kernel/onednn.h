/* SPDX-License-Identifier: Apache-2.0 */
/* onednn.h - oneDNN, the only place that knows it: onednn*.c; in builds without it all answers are
   no (onednn_none.c). Whatever is called here computes on the calling thread alone, several threads
   may call at once, and nothing is kept between calls but what the caller holds. */
#ifndef TSR_KERNEL_ONEDNN_H
#define TSR_KERNEL_ONEDNN_H

#include "base/dtype.h"

/* The version that runs, "2.6.3"; NULL in builds without oneDNN. */
const char *tsr__onednn_version(char *buf, size_t n);

/* c[m,n] = a[m,k] b[k,n] (+ bias[n] if given), row-major without gaps, k > 0; turned: b is stored
   as [n,k]. bf16 sums in f32 and takes subnormal numbers for 0. False: other means are faster
   (sizes, processor), or memory is short; c holds nothing then. */
bool tsr__onednn_matmul_f32(int64_t m, int64_t n, int64_t k, const float *a, const float *b,
                            bool turned, float *c);
bool tsr__onednn_matmul_bf16(int64_t m, int64_t n, int64_t k, const tsr_bf16 *a, const tsr_bf16 *b,
                             bool turned, const tsr_bf16 *bias, tsr_bf16 *c);
/* c[m,n] = a[m,k] b[k,n] (+ c if `add`); a is stored as [k,m] if it is turned, b as [n,k]. */
bool tsr__onednn_gemm_f32(bool turn_a, bool turn_b, int64_t m, int64_t n, int64_t k, const float *a,
                          const float *b, bool add, float *c);

#endif
