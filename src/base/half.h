/* SPDX-License-Identifier: Apache-2.0 */
/* half.h - arrays of f16 and bf16 to and from f32: the same values as the functions of dtype.h give
   one by one. For convert.c and reduce.c, which compute in f32. */
#ifndef TSR_BASE_HALF_H
#define TSR_BASE_HALF_H

#include "base/dtype.h"

void tsr__half_widen(tsr_dtype dtype, const void *src, int64_t n, float *dst);
void tsr__half_narrow(tsr_dtype dtype, const float *src, int64_t n, void *dst);

#endif
