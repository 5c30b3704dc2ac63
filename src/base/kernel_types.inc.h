/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_types.inc.h - includes BODY for the dtypes in SOME and one instruction set, as
   kernel_table.inc.h says, and lists their entries. T is stored, LD(x) of it compared as ACC, added
   up in WIDE, and stored by ST. FLOATING is defined for floats, of which ROUND makes one of an f64;
   LOGIC for bool, PRIME for the prime field, U for integers, as which they compute.
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
#define ROUND(x) ((T)(x))
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
#undef ROUND
#undef ACC

#if SOME & TSR__HALVES
#define ACC float
#define WIDE float
#define DIV(a, d) ((a) / (float)(d))

#define T tsr_f16
#define LD(x) fast_f16_to_f32(x)
#define ST(x) fast_f32_to_f16(x)
#define ROUND(x) tsr__f64_to_f16(x)
#define FN(name) NAME(name, f16)
#include "base/kernel_type.inc.h"
#undef LD
#undef ST
#undef ROUND

#define T tsr_bf16
#define LD(x) fast_bf16_to_f32(x)
#define ST(x) fast_f32_to_bf16(x)
#define ROUND(x) tsr__f64_to_bf16(x)
#define FN(name) NAME(name, bf16)
#include "base/kernel_type.inc.h"
#undef LD
#undef ST
#undef ROUND

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
/* as wide as the sums of small ones, so that nothing overflows before it is cut */
#define U __typeof__(_Generic((T)0, int64_t: (uint64_t)0, uint64_t: (uint64_t)0, default: 0u))
#define ADD(a, b) ((T)((U)(a) + (U)(b)))
#define MUL(a, b) ((T)((U)(a) * (U)(b)))
#define NEG(a) ((T)(0 - (U)(a)))
#define DIV(a, d) ((T)((a) / (d)))
#define LOWEST TSR__LEAST(T)
#define HIGHEST TSR__MOST(T)

#include "base/integers.inc.h"

#undef U
#undef ADD
#undef MUL
#undef NEG
#undef DIV
#undef LOWEST
#undef HIGHEST
#endif

/* ---- booleans: or, and ---- */

#define LOWEST 0

#if SOME & TSR__BOOLEANS
#define LOGIC
#define T uint8_t
#define HIGHEST 1
#define ADD(a, b) ((T)((a) | (b)))
#define MUL(a, b) ((T)((a) & (b)))
#define NEG(a) (a)
#define DIV(a, d) (a)
#define FN(name) NAME(name, bool)
#include "base/kernel_type.inc.h"
#undef LOGIC
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

#define ENTRY(ID, name, type) [TSR_##ID] = &NAME(entry, name)
#define PLAIN_ENTRY(ID, name, type) [TSR_##ID] = &entry_##name##_plain
#define AS_F32(ID, name, type) [TSR_##ID] = &NAME(entry, f32)

static const void *const NAME(entries, all)[TSR__DTYPES] = {
    TSR__EACH_REAL(ENTRY),
#if SOME & TSR__HALVES
    TSR__EACH_HALF(ENTRY),
#else
    TSR__EACH_HALF(AS_F32),
#endif
#if SOME & TSR__VECTOR_INTEGERS
    TSR__EACH_VECTOR_INTEGER(ENTRY),
#endif
#if SOME & TSR__PLAIN_INTEGERS
    TSR__EACH_PLAIN_INTEGER(PLAIN_ENTRY),
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

#undef ENTRY
#undef PLAIN_ENTRY
#undef AS_F32
