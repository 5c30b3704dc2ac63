/* SPDX-License-Identifier: Apache-2.0 */
/* reference_types.inc.h - includes BODY for every dtype, and undefines it at the end. T is stored,
   ACC computed. Floats compute in f64, integers modulo 2^64, so that cutting off bits gives what
   wraps in the small type. BODY undefines what differs between the dtypes of a family: T, LD, ST,
   LOWEST, FN. */

/* ---- floats ---- */

#define ACC double
#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define NEG(a) (-(a))
#define DIV(a, d) ((a) / (double)(d))
#define LESS(a, b) ((a) < (b))
#define IS_NAN(x) ((x) != (x))

#define T float
#define LD(x) ((double)(x))
#define ST(x) ((float)(x))
#define LOWEST ((double)-INFINITY)
#define FN(name) name##_f32
#include BODY

#define T double
#define LD(x) (x)
#define ST(x) (x)
#define LOWEST ((double)-INFINITY)
#define FN(name) name##_f64
#include BODY

#define T tsr_f16
#define LD(x) ((double)tsr__f16_to_f32(x))
#define ST(x) tsr__f64_to_f16(x)
#define LOWEST ((double)-INFINITY)
#define FN(name) name##_f16
#include BODY

#define T tsr_bf16
#define LD(x) ((double)tsr__bf16_to_f32(x))
#define ST(x) tsr__f64_to_bf16(x)
#define LOWEST ((double)-INFINITY)
#define FN(name) name##_bf16
#include BODY

#include "kernel/reference_undef.inc.h"

/* ---- integers ---- */

#define ACC int64_t
#define ADD(a, b) ((int64_t)((uint64_t)(a) + (uint64_t)(b)))
#define MUL(a, b) ((int64_t)((uint64_t)(a) * (uint64_t)(b)))
#define NEG(a) ((int64_t)(0 - (uint64_t)(a)))
#define DIV(a, d) ((a) / (d))
#define LESS(a, b) ((a) < (b))
#define IS_NAN(x) false

#define T int32_t
#define LD(x) (x)
#define ST(x) ((int32_t)(x))
#define LOWEST INT32_MIN
#define FN(name) name##_i32
#include BODY

#define T int64_t
#define LD(x) (x)
#define ST(x) (x)
#define LOWEST INT64_MIN
#define FN(name) name##_i64
#include BODY

#define T uint8_t
#define LD(x) (x)
#define ST(x) ((uint8_t)(x))
#define LOWEST 0
#define FN(name) name##_u8
#include BODY

#include "kernel/reference_undef.inc.h"

/* ---- booleans: or, and ---- */

#define ACC int
#define ADD(a, b) ((a) | (b))
#define MUL(a, b) ((a) & (b))
#define NEG(a) (a)
#define DIV(a, d) (a)
#define LESS(a, b) ((a) < (b))
#define IS_NAN(x) false

#define T uint8_t
#define LD(x) (x)
#define ST(x) ((uint8_t)(x))
#define LOWEST 0
#define FN(name) name##_bool
#include BODY

#include "kernel/reference_undef.inc.h"

/* ---- the field ---- */

#define ACC uint64_t
#define ADD(a, b) tsr__field_add(a, b)
#define MUL(a, b) tsr__field_mul(a, b)
#define NEG(a) ((a) ? TSR__FIELD_P - (a) : 0)
#define DIV(a, d) tsr__field_mul(a, tsr__field_inverse((uint64_t)(d)))
#define LESS(a, b) ((a) < (b))
#define IS_NAN(x) false

#define T uint64_t
#define LD(x) (x)
#define ST(x) (x)
#define LOWEST 0
#define FN(name) name##_field
#include BODY

#include "kernel/reference_undef.inc.h"
#undef BODY
