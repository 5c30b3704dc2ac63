/* SPDX-License-Identifier: Apache-2.0 */
/* dtype.h - the number types: sizes, names, conversions that round correctly, and the internal
   prime field. f16 and bf16 are stored as uint16_t; bool as one byte 0 or 1. */
#ifndef TSR_BASE_DTYPE_H
#define TSR_BASE_DTYPE_H

#include "base/error.h"

/* Integers modulo 2^61 - 1 in a uint64_t. Not parseable by users: the validator runs linear ops
   over it, where sharded and whole must agree exactly. */
enum { TSR__FIELD = 8, TSR__DTYPES = 9 };
#define TSR__FIELD_P ((UINT64_C(1) << 61) - 1)

typedef uint16_t tsr_f16;
typedef uint16_t tsr_bf16;

bool tsr__dtype_valid(tsr_dtype dtype); /* the field included */
bool tsr__dtype_is_float(tsr_dtype dtype);
/* 16 bits: computed with in f32. */
static inline bool tsr__dtype_is_half(tsr_dtype dtype)
{
    return dtype == TSR_F16 || dtype == TSR_BF16;
}
/* In what statistics of a dtype are given: f32 for halves, which are too coarse. */
tsr_dtype tsr__dtype_fine(tsr_dtype dtype);
tsr_status tsr__dtype_parse(const char *text, size_t n, tsr_dtype *out, tsr_error *err);

float tsr__f16_to_f32(tsr_f16 x);
tsr_f16 tsr__f32_to_f16(float x); /* nearest, ties to even */
tsr_f16 tsr__f64_to_f16(double x);
float tsr__bf16_to_f32(tsr_bf16 x);
tsr_bf16 tsr__f32_to_bf16(float x);
tsr_bf16 tsr__f64_to_bf16(double x);
uint64_t tsr__field_add(uint64_t a, uint64_t b);
uint64_t tsr__field_mul(uint64_t a, uint64_t b);
uint64_t tsr__field_inverse(uint64_t a); /* a times it is 1; not of a multiple of p */

/* dst[i] = src[i] as another type, each rounded once, to nearest even; out of range integers
   saturate, NaN becomes 0, anything but 0 is true. */
void tsr__convert(tsr_dtype to, void *dst, tsr_dtype from, const void *src, int64_t n);
double tsr__get(tsr_dtype dtype, const void *data, int64_t i); /* i64 beyond 2^53 is rounded */
void tsr__put(tsr_dtype dtype, void *data, int64_t i, double value);
/* Make n elements of `size` bytes equal to the first. */
void tsr__repeat(size_t size, void *data, int64_t n);

#endif
