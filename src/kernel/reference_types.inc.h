/* SPDX-License-Identifier: Apache-2.0 */
/* reference_types.inc.h - includes BODY for every dtype, and undefines it at the end. Floats
   compute in f64, integers modulo 2^64, so that cutting off bits gives what wraps in the small
   type. */

#define WRAP_ADD(a, b) ((int64_t)((uint64_t)(a) + (uint64_t)(b)))
#define WRAP_MUL(a, b) ((int64_t)((uint64_t)(a) * (uint64_t)(b)))
#define WRAP_NEG(a) ((int64_t)(0 - (uint64_t)(a)))

#define T float
#define ACC double
#define LD(x) ((double)(x))
#define ST(x) ((float)(x))
#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define NEG(a) (-(a))
#define DIV(a, d) ((a) / (double)(d))
#define LESS(a, b) ((a) < (b))
#define IS_NAN(x) ((x) != (x))
#define LOWEST ((double)-INFINITY)
#define FN(name) name##_f32
#include BODY

#define T double
#define ACC double
#define LD(x) (x)
#define ST(x) (x)
#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define NEG(a) (-(a))
#define DIV(a, d) ((a) / (double)(d))
#define LESS(a, b) ((a) < (b))
#define IS_NAN(x) ((x) != (x))
#define LOWEST ((double)-INFINITY)
#define FN(name) name##_f64
#include BODY

#define T tsr_f16
#define ACC double
#define LD(x) ((double)tsr__f16_to_f32(x))
#define ST(x) tsr__f64_to_f16(x)
#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define NEG(a) (-(a))
#define DIV(a, d) ((a) / (double)(d))
#define LESS(a, b) ((a) < (b))
#define IS_NAN(x) ((x) != (x))
#define LOWEST ((double)-INFINITY)
#define FN(name) name##_f16
#include BODY

#define T tsr_bf16
#define ACC double
#define LD(x) ((double)tsr__bf16_to_f32(x))
#define ST(x) tsr__f64_to_bf16(x)
#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define NEG(a) (-(a))
#define DIV(a, d) ((a) / (double)(d))
#define LESS(a, b) ((a) < (b))
#define IS_NAN(x) ((x) != (x))
#define LOWEST ((double)-INFINITY)
#define FN(name) name##_bf16
#include BODY

#define T int32_t
#define ACC int64_t
#define LD(x) (x)
#define ST(x) ((int32_t)(x))
#define ADD(a, b) WRAP_ADD(a, b)
#define MUL(a, b) WRAP_MUL(a, b)
#define NEG(a) WRAP_NEG(a)
#define DIV(a, d) ((a) / (d))
#define LESS(a, b) ((a) < (b))
#define IS_NAN(x) false
#define LOWEST INT32_MIN
#define FN(name) name##_i32
#include BODY

#define T int64_t
#define ACC int64_t
#define LD(x) (x)
#define ST(x) (x)
#define ADD(a, b) WRAP_ADD(a, b)
#define MUL(a, b) WRAP_MUL(a, b)
#define NEG(a) WRAP_NEG(a)
#define DIV(a, d) ((a) / (d))
#define LESS(a, b) ((a) < (b))
#define IS_NAN(x) false
#define LOWEST INT64_MIN
#define FN(name) name##_i64
#include BODY

#define T uint8_t
#define ACC int64_t
#define LD(x) (x)
#define ST(x) ((uint8_t)(x))
#define ADD(a, b) WRAP_ADD(a, b)
#define MUL(a, b) WRAP_MUL(a, b)
#define NEG(a) WRAP_NEG(a)
#define DIV(a, d) ((a) / (d))
#define LESS(a, b) ((a) < (b))
#define IS_NAN(x) false
#define LOWEST 0
#define FN(name) name##_u8
#include BODY

/* Of truth values: or, and. */
#define T uint8_t
#define ACC int
#define LD(x) (x)
#define ST(x) ((uint8_t)(x))
#define ADD(a, b) ((a) | (b))
#define MUL(a, b) ((a) & (b))
#define NEG(a) (a)
#define DIV(a, d) (a)
#define LESS(a, b) ((a) < (b))
#define IS_NAN(x) false
#define LOWEST 0
#define FN(name) name##_bool
#include BODY

#define T uint64_t
#define ACC uint64_t
#define LD(x) (x)
#define ST(x) (x)
#define ADD(a, b) tsr__field_add(a, b)
#define MUL(a, b) tsr__field_mul(a, b)
#define NEG(a) ((a) ? TSR__FIELD_P - (a) : 0)
#define DIV(a, d) tsr__field_mul(a, tsr__field_inverse((uint64_t)(d)))
#define LESS(a, b) ((a) < (b))
#define IS_NAN(x) false
#define LOWEST 0
#define FN(name) name##_field
#include BODY

#undef WRAP_ADD
#undef WRAP_MUL
#undef WRAP_NEG
#undef BODY
