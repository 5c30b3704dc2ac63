/* SPDX-License-Identifier: Apache-2.0 */
/* reference_types.inc.h - makes `static const tsr_kernel_table TABLE` of naive kernels: includes
   BODY for every dtype, which ends with `static const type FN(entry) = {...};`. T is stored, ACC
   computed. Floats compute in f64, integers modulo 2^64, so that cutting off bits gives what wraps
   in the small type. Undefines TABLE and BODY. */
#include "base/kernel_table.h"

#define NAME(name, dtype) name##_##dtype
#define SOME TSR__INTEGERS
#define ISA 0

#define LESS(a, b) ((a) < (b))

/* ---- floats ---- */

#define ACC double
#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define NEG(a) (-(a))
#define DIV(a, d) ((a) / (double)(d))
#define IS_NAN(x) ((x) != (x))
#define LOWEST ((double)-INFINITY)

#define T float
#define LD(x) ((double)(x))
#define ST(x) ((float)(x))
#define FN(name) NAME(name, f32)
#include "base/kernel_type.inc.h"
#undef LD
#undef ST

#define T double
#define LD(x) (x)
#define ST(x) (x)
#define FN(name) NAME(name, f64)
#include "base/kernel_type.inc.h"
#undef LD
#undef ST

#define T tsr_f16
#define LD(x) ((double)tsr__f16_to_f32(x))
#define ST(x) tsr__f64_to_f16(x)
#define FN(name) NAME(name, f16)
#include "base/kernel_type.inc.h"
#undef LD
#undef ST

#define T tsr_bf16
#define LD(x) ((double)tsr__bf16_to_f32(x))
#define ST(x) tsr__f64_to_bf16(x)
#define FN(name) NAME(name, bf16)
#include "base/kernel_type.inc.h"
#undef LD
#undef ST

#undef ACC
#undef ADD
#undef MUL
#undef NEG
#undef DIV
#undef LOWEST
#undef IS_NAN

/* ---- the others ---- */

#define IS_NAN(x) false
#define LD(x) (x)
#define ST(x) ((T)(x))

/* ---- integers ---- */

#define ACC __typeof__(_Generic((T)0, uint64_t: UINT64_C(0), default: INT64_C(0)))
#define ADD(a, b) ((ACC)((uint64_t)(a) + (uint64_t)(b)))
#define MUL(a, b) ((ACC)((uint64_t)(a) * (uint64_t)(b)))
#define NEG(a) ((ACC)(0 - (uint64_t)(a)))
#define DIV(a, d) ((a) / (ACC)(d))
#define LOWEST TSR__LEAST(T)

#include "base/integers.inc.h"

#undef ACC
#undef ADD
#undef MUL
#undef NEG
#undef DIV
#undef LOWEST

/* ---- booleans: or, and ---- */

#define ACC int
#define ADD(a, b) ((a) | (b))
#define MUL(a, b) ((a) & (b))
#define NEG(a) (a)
#define DIV(a, d) (a)
#define LOWEST 0

#define T uint8_t
#define FN(name) NAME(name, bool)
#include "base/kernel_type.inc.h"

#undef ACC
#undef ADD
#undef MUL
#undef NEG
#undef DIV
#undef LOWEST

/* ---- the field ---- */

#define ACC uint64_t
#define ADD(a, b) tsr__field_add(a, b)
#define MUL(a, b) tsr__field_mul(a, b)
#define NEG(a) ((a) ? TSR__FIELD_P - (a) : 0)
#define DIV(a, d) tsr__field_mul(a, tsr__field_inverse((uint64_t)(d)))
#define LOWEST 0

#define T uint64_t
#define FN(name) NAME(name, field)
#include "base/kernel_type.inc.h"

#undef ACC
#undef ADD
#undef MUL
#undef NEG
#undef DIV
#undef LOWEST

#undef LESS
#undef IS_NAN
#undef LD
#undef ST

/* ---- the entries ---- */

#define ENTRY(ID, name, type) [TSR_##ID] = &NAME(entry, name)

static const void *const reference_entries[TSR__DTYPES] = {
    TSR__EACH_REAL(ENTRY),
    TSR__EACH_HALF(ENTRY),
    TSR__EACH_INTEGER(ENTRY),
    [TSR_BOOL] = &NAME(entry, bool),
    [TSR__FIELD] = &NAME(entry, field),
};

static const tsr_kernel_table TABLE = {.plain = reference_entries};

#undef ENTRY
#undef NAME
#undef SOME
#undef ISA
#undef TABLE
#undef BODY
