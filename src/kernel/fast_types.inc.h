/* SPDX-License-Identifier: Apache-2.0 */
/* fast_types.inc.h - includes BODY for every dtype that computes in its own type, and with HALVES
   also for f16 and bf16, for one instruction set: needs BODY, NAME (function name from operation
   and dtype) and SET; undefines NAME and SET. T is stored, ACC compared, WIDE summed. */
#include "kernel/fast_types.h"

#define T float
#define ACC float
#define WIDE double
#define LD(x) (x)
#define ST(x) ((float)(x))
#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define NEG(a) (-(a))
#define DIV(a, d) ((a) / (double)(d))
#define LESS(a, b) __builtin_isless(a, b)
#define UNORDERED(a) ((a) != (a))
#define LOWEST (-INFINITY)
#define HIGHEST INFINITY
#define FN(name) NAME(name, f32)
#include BODY
#include "kernel/fast_undef.inc.h"

#define T double
#define ACC double
#define WIDE double
#define LD(x) (x)
#define ST(x) (x)
#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define NEG(a) (-(a))
#define DIV(a, d) ((a) / (double)(d))
#define LESS(a, b) __builtin_isless(a, b)
#define UNORDERED(a) ((a) != (a))
#define LOWEST ((double)-INFINITY)
#define HIGHEST ((double)INFINITY)
#define FN(name) NAME(name, f64)
#include BODY
#include "kernel/fast_undef.inc.h"

#define T int32_t
#define ACC int32_t
#define WIDE int32_t
#define LD(x) (x)
#define ST(x) (x)
#define ADD(a, b) ((int32_t)((uint32_t)(a) + (uint32_t)(b)))
#define MUL(a, b) ((int32_t)((uint32_t)(a) * (uint32_t)(b)))
#define NEG(a) ((int32_t)(0 - (uint32_t)(a)))
#define DIV(a, d) ((int32_t)((a) / (d)))
#define LESS(a, b) ((a) < (b))
#define UNORDERED(a) 0
#define LOWEST INT32_MIN
#define HIGHEST INT32_MAX
#define FN(name) NAME(name, i32)
#include BODY
#include "kernel/fast_undef.inc.h"

#define T int64_t
#define ACC int64_t
#define WIDE int64_t
#define LD(x) (x)
#define ST(x) (x)
#define ADD(a, b) ((int64_t)((uint64_t)(a) + (uint64_t)(b)))
#define MUL(a, b) ((int64_t)((uint64_t)(a) * (uint64_t)(b)))
#define NEG(a) ((int64_t)(0 - (uint64_t)(a)))
#define DIV(a, d) ((a) / (d))
#define LESS(a, b) ((a) < (b))
#define UNORDERED(a) 0
#define LOWEST INT64_MIN
#define HIGHEST INT64_MAX
#define FN(name) NAME(name, i64)
#include BODY
#include "kernel/fast_undef.inc.h"

#define T uint8_t
#define ACC uint8_t
#define WIDE uint8_t
#define LD(x) (x)
#define ST(x) (x)
#define ADD(a, b) ((uint8_t)((a) + (b)))
#define MUL(a, b) ((uint8_t)((a) * (b)))
#define NEG(a) ((uint8_t)(0 - (a)))
#define DIV(a, d) ((uint8_t)((a) / (d)))
#define LESS(a, b) ((a) < (b))
#define UNORDERED(a) 0
#define LOWEST 0
#define HIGHEST UINT8_MAX
#define FN(name) NAME(name, u8)
#include BODY
#include "kernel/fast_undef.inc.h"

#define T uint64_t
#define ACC uint64_t
#define WIDE uint64_t
#define LD(x) (x)
#define ST(x) (x)
#define ADD(a, b) fast_field_add(a, b)
#define MUL(a, b) tsr__field_mul(a, b)
#define NEG(a) ((a) ? TSR__FIELD_P - (a) : 0)
#define DIV(a, d) tsr__field_mul(a, tsr__field_inverse((uint64_t)(d)))
#define LESS(a, b) ((a) < (b))
#define UNORDERED(a) 0
#define LOWEST 0
#define HIGHEST (TSR__FIELD_P - 1)
#define FN(name) NAME(name, field)
#include BODY
#include "kernel/fast_undef.inc.h"

#ifdef HALVES
#define T tsr_f16
#define ACC float
#define WIDE float
#define LD(x) fast_f16_to_f32(x)
#define ST(x) tsr__f32_to_f16(x)
#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define NEG(a) (-(a))
#define DIV(a, d) ((a) / (float)(d))
#define LESS(a, b) __builtin_isless(a, b)
#define UNORDERED(a) ((a) != (a))
#define LOWEST (-INFINITY)
#define HIGHEST INFINITY
#define FN(name) NAME(name, f16)
#include BODY
#include "kernel/fast_undef.inc.h"

#define T tsr_bf16
#define ACC float
#define WIDE float
#define LD(x) fast_bf16_to_f32(x)
#define ST(x) tsr__f32_to_bf16(x)
#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define NEG(a) (-(a))
#define DIV(a, d) ((a) / (float)(d))
#define LESS(a, b) __builtin_isless(a, b)
#define UNORDERED(a) ((a) != (a))
#define LOWEST (-INFINITY)
#define HIGHEST INFINITY
#define FN(name) NAME(name, bf16)
#include BODY
#include "kernel/fast_undef.inc.h"
#endif

#undef NAME
#undef SET
