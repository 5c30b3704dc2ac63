/* SPDX-License-Identifier: Apache-2.0 */
/* dtype.h - the number types: sizes, names, conversions that round correctly, and the internal
   prime field. f16 and bf16 are stored as uint16_t; bool as one byte 0 or 1. */
#ifndef TSR_BASE_DTYPE_H
#define TSR_BASE_DTYPE_H

#include "base/error.h"

/* What a dtype's numbers are. */
typedef enum tsr_dtype_class {
    TSR__CLASS_FLOAT,
    TSR__CLASS_INTEGER,
    TSR__CLASS_BOOL,
    TSR__CLASS_FIELD,
    TSR__CLASSES
} tsr_dtype_class;

/* All dtypes but bool and the field, which are one of a class: X(ID, name, type). The integers
   stand in integers.inc.h once more, for loops. Those called plain have none in vectors: what is
   computed with them is computed in a wider type, and wraps. */
#define TSR__EACH_REAL(X) X(F32, f32, float), X(F64, f64, double)
#define TSR__EACH_HALF(X) X(F16, f16, tsr_f16), X(BF16, bf16, tsr_bf16)
#define TSR__EACH_VECTOR_INTEGER(X) X(I32, i32, int32_t), X(I64, i64, int64_t), X(U8, u8, uint8_t)
#define TSR__EACH_PLAIN_INTEGER(X)                                                                 \
    X(I8, i8, int8_t), X(I16, i16, int16_t), X(U16, u16, uint16_t), X(U32, u32, uint32_t),         \
        X(U64, u64, uint64_t)
#define TSR__PLAIN_NUMBER(ID, name, type) TSR__PLAIN_##ID
enum { TSR__EACH_PLAIN_INTEGER(TSR__PLAIN_NUMBER), TSR__PLAIN_DTYPES }; /* how many */
#define TSR__EACH_INTEGER(X) TSR__EACH_VECTOR_INTEGER(X), TSR__EACH_PLAIN_INTEGER(X)

/* The ends of an integer type. */
#define TSR__IS_SIGNED(T) ((T) ~(T)0 < (T)1)
#define TSR__MOST(T) ((T)(UINT64_MAX >> (64 - 8 * sizeof(T) + TSR__IS_SIGNED(T))))
#define TSR__LEAST(T) ((T)(TSR__IS_SIGNED(T) ? -TSR__MOST(T) - 1 : 0))

/* Integers modulo 2^61 - 1 in a uint64_t. Not parseable by users: the validator runs linear ops
   over it, where sharded and whole must agree exactly. */
enum { TSR__FIELD = TSR_U64 + 1, TSR__DTYPES };
#define TSR__FIELD_P ((UINT64_C(1) << 61) - 1)

typedef uint16_t tsr_f16;
typedef uint16_t tsr_bf16;

bool tsr__dtype_valid(tsr_dtype dtype); /* the field included */
tsr_dtype_class tsr__dtype_class(tsr_dtype dtype);
bool tsr__dtype_is_float(tsr_dtype dtype);
/* Integers wrap around: sums and products are exact modulo 2^bits, so what is linear stays so; but
   what grows in numbers may fall, and wider dtypes get other numbers. */
bool tsr__dtype_is_integer(tsr_dtype dtype);
bool tsr__dtype_is_plain(tsr_dtype dtype); /* of integers, as said above */
/* The least and the largest number of an integer dtype, or of bool. */
int64_t tsr__dtype_min(tsr_dtype dtype);
uint64_t tsr__dtype_max(tsr_dtype dtype);
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
double tsr__get(tsr_dtype dtype, const void *data, int64_t i); /* rounded beyond 2^53 */
void tsr__put(tsr_dtype dtype, void *data, int64_t i, double value);
/* Cut to the bits that an integer dtype has. */
void tsr__put_integer(tsr_dtype dtype, void *data, int64_t i, uint64_t value);
/* Make n elements of `size` bytes equal to the first. */
void tsr__repeat(size_t size, void *data, int64_t n);

#endif
