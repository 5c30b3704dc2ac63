/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_types.inc.h - includes BODY for the dtypes in SOME and one instruction set, as
   kernel_table.inc.h says, and lists their entries. T is stored, LD(x) of it compared as ACC, added
   up in WIDE, and stored by ST. FLOATING is defined for floats, PRIME for the prime field;
   LIBM(name, x) and MATH(name, x) are functions of libm and of ours for T. */

/* ---- floats ---- */

#define FLOATING
#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define NEG(a) (-(a))
#define LESS(a, b) __builtin_isless(a, b)
#define UNORDERED(a) ((a) != (a))
#define LOWEST ((ACC) - INFINITY)
#define HIGHEST ((ACC)INFINITY)

#define WIDE double
#define DIV(a, d) ((a) / (double)(d))
#define LD(x) (x)
#define ST(x) ((T)(x))
#define ACC T

#define T float
#define BITS 32
#define LIBM(name, ...) name##f(__VA_ARGS__)
#define MATH(name, ...) tsr__##name##_f32(FUSED, __VA_ARGS__)
#define FN(name) NAME(name, f32)
#include "base/kernel_type.inc.h"
#undef LIBM
#undef MATH

#define T double
#define BITS 64
#define LIBM(name, ...) name(__VA_ARGS__)
#define MATH(name, ...) tsr__##name##_f64(FUSED, __VA_ARGS__)
#define FN(name) NAME(name, f64)
#include "base/kernel_type.inc.h"
#undef LIBM
#undef MATH

#undef WIDE
#undef DIV
#undef LD
#undef ST
#undef ACC

#if SOME & TSR__HALVES
#define ACC float
#define WIDE float
#define DIV(a, d) ((a) / (float)(d))

#define T tsr_f16
#define LD(x) fast_f16_to_f32(x)
#define ST(x) fast_f32_to_f16(x)
#define FN(name) NAME(name, f16)
#include "base/kernel_type.inc.h"
#undef LD
#undef ST

#define T tsr_bf16
#define LD(x) fast_bf16_to_f32(x)
#define ST(x) fast_f32_to_bf16(x)
#define FN(name) NAME(name, bf16)
#include "base/kernel_type.inc.h"
#undef LD
#undef ST

#undef ACC
#undef WIDE
#undef DIV
#endif

#undef FLOATING
#undef ADD
#undef MUL
#undef NEG
#undef LESS
#undef UNORDERED
#undef LOWEST
#undef HIGHEST

/* ---- integers wrap: they compute as unsigned ---- */

#define ACC T
#define WIDE T
#define LD(x) (x)
#define ST(x) ((T)(x))
#define LESS(a, b) ((a) < (b))
#define UNORDERED(a) 0

#if SOME & TSR__INTEGERS
#define ADD(a, b) ((T)((U)(a) + (U)(b)))
#define MUL(a, b) ((T)((U)(a) * (U)(b)))
#define NEG(a) ((T)(0 - (U)(a)))
#define DIV(a, d) ((T)((a) / (d)))

#define T int32_t
#define U uint32_t
#define LOWEST INT32_MIN
#define HIGHEST INT32_MAX
#define FN(name) NAME(name, i32)
#include "base/kernel_type.inc.h"
#undef LOWEST
#undef HIGHEST

#define T int64_t
#define U uint64_t
#define LOWEST INT64_MIN
#define HIGHEST INT64_MAX
#define FN(name) NAME(name, i64)
#include "base/kernel_type.inc.h"
#undef LOWEST
#undef HIGHEST

#define T uint8_t
#define U uint32_t
#define LOWEST 0
#define HIGHEST UINT8_MAX
#define FN(name) NAME(name, u8)
#include "base/kernel_type.inc.h"
#undef LOWEST
#undef HIGHEST

#undef ADD
#undef MUL
#undef NEG
#undef DIV
#endif

/* ---- booleans: or, and ---- */

#define LOWEST 0

#if SOME & TSR__BOOLEANS
#define T uint8_t
#define HIGHEST 1
#define ADD(a, b) ((T)((a) | (b)))
#define MUL(a, b) ((T)((a) & (b)))
#define NEG(a) (a)
#define DIV(a, d) (a)
#define FN(name) NAME(name, bool)
#include "base/kernel_type.inc.h"
#undef HIGHEST
#undef ADD
#undef MUL
#undef NEG
#undef DIV
#endif

/* ---- the prime field ---- */

#if SOME & TSR__PRIME
#define PRIME
#define T uint64_t
#define HIGHEST (TSR__FIELD_P - 1)
#define ADD(a, b) fast_field_add(a, b)
#define MUL(a, b) tsr__field_mul(a, b)
#define NEG(a) ((a) ? TSR__FIELD_P - (a) : 0)
#define DIV(a, d) tsr__field_mul(a, tsr__field_inverse((uint64_t)(d)))
#define FN(name) NAME(name, field)
#include "base/kernel_type.inc.h"
#undef PRIME
#undef HIGHEST
#undef ADD
#undef MUL
#undef NEG
#undef DIV
#endif

#undef ACC
#undef WIDE
#undef LD
#undef ST
#undef LESS
#undef UNORDERED
#undef LOWEST

/* ---- the entries ---- */

static const void *const NAME(entries, all)[TSR__DTYPES] = {
    [TSR_F32] = &NAME(entry, f32),      [TSR_F64] = &NAME(entry, f64),
#if SOME & TSR__HALVES
    [TSR_F16] = &NAME(entry, f16),      [TSR_BF16] = &NAME(entry, bf16),
#else
    [TSR_F16] = &NAME(entry, f32), [TSR_BF16] = &NAME(entry, f32),
#endif
#if SOME & TSR__INTEGERS
    [TSR_I32] = &NAME(entry, i32),      [TSR_I64] = &NAME(entry, i64),
    [TSR_U8] = &NAME(entry, u8),
#endif
#if SOME & TSR__BOOLEANS
    [TSR_BOOL] = &NAME(entry, bool),
#elif SOME & TSR__INTEGERS
    [TSR_BOOL] = &NAME(entry, u8),
#endif
#if SOME & TSR__PRIME
    [TSR__FIELD] = &NAME(entry, field),
#endif
};
