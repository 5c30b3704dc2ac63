/* SPDX-License-Identifier: Apache-2.0 */
/* reference_types.inc.h - makes `static const tsr_kernel_table TABLE` of naive kernels: includes
   BODY for every dtype, which ends with `static const type FN(entry) = {...};`. T is stored, ACC
   computed. Floats compute in f64, integers modulo 2^64, so that cutting off bits gives what wraps
   in the small type. Undefines TABLE and BODY. */
#include "base/kernel_table.h"

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
#include "kernel/reference_type.inc.h"

#define T double
#define LD(x) (x)
#define ST(x) (x)
#define LOWEST ((double)-INFINITY)
#define FN(name) name##_f64
#include "kernel/reference_type.inc.h"

#define T tsr_f16
#define LD(x) ((double)tsr__f16_to_f32(x))
#define ST(x) tsr__f64_to_f16(x)
#define LOWEST ((double)-INFINITY)
#define FN(name) name##_f16
#include "kernel/reference_type.inc.h"

#define T tsr_bf16
#define LD(x) ((double)tsr__bf16_to_f32(x))
#define ST(x) tsr__f64_to_bf16(x)
#define LOWEST ((double)-INFINITY)
#define FN(name) name##_bf16
#include "kernel/reference_type.inc.h"

#undef ACC
#undef ADD
#undef MUL
#undef NEG
#undef DIV
#undef LESS
#undef IS_NAN

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
#include "kernel/reference_type.inc.h"

#define T int64_t
#define LD(x) (x)
#define ST(x) (x)
#define LOWEST INT64_MIN
#define FN(name) name##_i64
#include "kernel/reference_type.inc.h"

#define T uint8_t
#define LD(x) (x)
#define ST(x) ((uint8_t)(x))
#define LOWEST 0
#define FN(name) name##_u8
#include "kernel/reference_type.inc.h"

#undef ACC
#undef ADD
#undef MUL
#undef NEG
#undef DIV
#undef LESS
#undef IS_NAN

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
#include "kernel/reference_type.inc.h"

#undef ACC
#undef ADD
#undef MUL
#undef NEG
#undef DIV
#undef LESS
#undef IS_NAN

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
#include "kernel/reference_type.inc.h"

#undef ACC
#undef ADD
#undef MUL
#undef NEG
#undef DIV
#undef LESS
#undef IS_NAN

/* ---- the entries ---- */

static const void *const reference_entries[TSR__DTYPES] = {
    [TSR_F32] = &entry_f32,   [TSR_F64] = &entry_f64,   [TSR_F16] = &entry_f16,
    [TSR_BF16] = &entry_bf16, [TSR_I32] = &entry_i32,   [TSR_I64] = &entry_i64,
    [TSR_U8] = &entry_u8,     [TSR_BOOL] = &entry_bool, [TSR__FIELD] = &entry_field,
};

static const tsr_kernel_table TABLE = {.plain = reference_entries};

#undef TABLE
#undef BODY
