/* SPDX-License-Identifier: Apache-2.0 */
/* fold_types.inc.h - includes fold.inc.h for every dtype that is reduced in its own type, for one
   instruction set: needs NAME (function name from operation and dtype) and SET; undefines them. */

#define T float
#define FN(name) NAME(name, f32)
#define ISA SET
#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define LESS(a, b) __builtin_isless(a, b)
#define UNORDERED(a) ((a) != (a))
#define DIV(a, d) ((a) / (float)(d))
#include "base/fold.inc.h"

#define T double
#define FN(name) NAME(name, f64)
#define ISA SET
#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define LESS(a, b) __builtin_isless(a, b)
#define UNORDERED(a) ((a) != (a))
#define DIV(a, d) ((a) / (double)(d))
#include "base/fold.inc.h"

#define T int32_t
#define FN(name) NAME(name, i32)
#define ISA SET
#define ADD(a, b) ((uint32_t)(a) + (uint32_t)(b))
#define MUL(a, b) ((uint32_t)(a) * (uint32_t)(b))
#define LESS(a, b) ((a) < (b))
#define UNORDERED(a) 0
#define DIV(a, d) ((a) / (d))
#include "base/fold.inc.h"

#define T int64_t
#define FN(name) NAME(name, i64)
#define ISA SET
#define ADD(a, b) ((uint64_t)(a) + (uint64_t)(b))
#define MUL(a, b) ((uint64_t)(a) * (uint64_t)(b))
#define LESS(a, b) ((a) < (b))
#define UNORDERED(a) 0
#define DIV(a, d) ((a) / (d))
#include "base/fold.inc.h"

#define T uint8_t
#define FN(name) NAME(name, u8)
#define ISA SET
#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define LESS(a, b) ((a) < (b))
#define UNORDERED(a) 0
#define DIV(a, d) ((a) / (d))
#include "base/fold.inc.h"

#define T uint64_t
#define FN(name) NAME(name, field)
#define ISA SET
#define ADD(a, b) field_add(a, b)
#define MUL(a, b) tsr__field_mul(a, b)
#define LESS(a, b) ((a) < (b))
#define UNORDERED(a) 0
#define DIV(a, d) tsr__field_mul(a, (uint64_t)(d))
#include "base/fold.inc.h"

#undef NAME
#undef SET
