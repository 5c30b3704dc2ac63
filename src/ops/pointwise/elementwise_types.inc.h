/* SPDX-License-Identifier: Apache-2.0 */
/* elementwise_types.inc.h - includes elementwise.inc.h for every dtype that computes in its own
   type, for one instruction set: needs NAME (function name from operation and dtype), SET and FUSED
   (the processor has fma); undefines them. f16 and bf16 compute as f32, bool as u8. With
   FUNCTIONS_ONLY only what floats alone have: the rest waits for memory as it is. */

/* ---- floats: F1(exp, x) is exp of x ---- */

#define FLOATING
#define ADD(a, b) ((a) + (b))
#define SUB(a, b) ((a) - (b))
#define MUL(a, b) ((a) * (b))
#define NEG(a) (-(a))
#define NAN_OF(a) ((a) != (a))

#define T float
#define FN(name) NAME(name, f32)
#define LIBM(name, x) name##f(x)
#define MATH(name, x) tsr__##name##_f32(FUSED, x)
#define POWER(a, b) tsr__pow_f32(FUSED, a, b)
#define REST(a, b) fmodf(a, b)
#define SINE(x, quarter) tsr__sin_f32(FUSED, x, quarter)
#include "ops/pointwise/elementwise.inc.h"

#define T double
#define FN(name) NAME(name, f64)
#define LIBM(name, x) name(x)
#define MATH(name, x) tsr__##name##_f64(FUSED, x)
#define POWER(a, b) (FUSED ? tsr__pow_f64(a, b) : pow(a, b))
#define REST(a, b) fmod(a, b)
#define SINE(x, quarter) tsr__sin_f64(FUSED, x, quarter)
#include "ops/pointwise/elementwise.inc.h"

#undef FLOATING
#undef ADD
#undef SUB
#undef MUL
#undef NEG
#undef NAN_OF

#ifndef FUNCTIONS_ONLY

/* ---- integers wrap ---- */

#define ADD(a, b) ((T)((U)(a) + (U)(b)))
#define SUB(a, b) ((T)((U)(a) - (U)(b)))
#define MUL(a, b) ((T)((U)(a) * (U)(b)))
#define NEG(a) ((T)(0 - (U)(a)))
#define NAN_OF(a) false
/* Vectors divide floats only. That is exact: a quotient that is not whole is at least 1 / b from
   whole numbers, and so much f64 tells apart below 2^32. */
#define BY_FLOATS(a, b) ((T)((double)(a) / (double)(b)))
#define BY_WHOLES(a, b) ((T)((a) / (b)))

#define T int32_t
#define U uint32_t
#define DIVIDE BY_FLOATS
#define FN(name) NAME(name, i32)
#include "ops/pointwise/elementwise.inc.h"

#define T int64_t
#define U uint64_t
#define DIVIDE BY_WHOLES
#define FN(name) NAME(name, i64)
#include "ops/pointwise/elementwise.inc.h"

#define T uint8_t
#define U uint32_t
#define DIVIDE BY_FLOATS
#define FN(name) NAME(name, u8)
#include "ops/pointwise/elementwise.inc.h"

#undef ADD
#undef SUB
#undef MUL
#undef NEG
#undef NAN_OF
#undef BY_FLOATS
#undef BY_WHOLES
#endif
#undef FUNCTIONS_ONLY
#undef NAME
#undef SET
#undef FUSED
