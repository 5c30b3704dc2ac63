/* SPDX-License-Identifier: Apache-2.0 */
/* embedding_types.inc.h - includes embedding_rows.inc.h for every dtype of a table, for one
   instruction set: needs NAME (function name from operation and dtype) and SET, undefines them. T
   is stored, ACC compared, WIDE added; AT counts terms in lanes as wide as ACC's. */

#define T float
#define ACC float
#define WIDE double
#define AT int32_t
#define LD(x) (x)
#define ST(x) ((float)(x))
#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define DIV(a, d) ((a) / (double)(d))
#define FN(name) NAME(name, f32)
#define ORDERED 1
#include "ops/embedding/embedding_rows.inc.h"

#define T double
#define ACC double
#define WIDE double
#define AT int64_t
#define LD(x) (x)
#define ST(x) (x)
#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define DIV(a, d) ((a) / (double)(d))
#define FN(name) NAME(name, f64)
#define ORDERED 1
#include "ops/embedding/embedding_rows.inc.h"

#define T tsr_f16
#define ACC float
#define WIDE float
#define AT int32_t
#define LD(x) fast_f16_to_f32(x)
#define ST(x) row_f32_to_f16(x)
#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define DIV(a, d) ((a) / (float)(d))
#define FN(name) NAME(name, f16)
#define ORDERED 1
#include "ops/embedding/embedding_rows.inc.h"

#define T tsr_bf16
#define ACC float
#define WIDE float
#define AT int32_t
#define LD(x) fast_bf16_to_f32(x)
#define ST(x) row_f32_to_bf16(x)
#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define DIV(a, d) ((a) / (float)(d))
#define FN(name) NAME(name, bf16)
#define ORDERED 1
#include "ops/embedding/embedding_rows.inc.h"

#define T uint64_t
#define ACC uint64_t
#define WIDE uint64_t
#define LD(x) (x)
#define ST(x) (x)
#define ADD(a, b) fast_field_add(a, b)
#define MUL(a, b) tsr__field_mul(a, b)
#define DIV(a, d) tsr__field_mul(a, tsr__field_inverse((uint64_t)(d)))
#define FN(name) NAME(name, field)
#define ORDERED 0
#include "ops/embedding/embedding_rows.inc.h"

static const tsr_row_parts *const NAME(parts, all)[TSR__DTYPES] = {
    [TSR_F32] = &NAME(parts, f32),      [TSR_F64] = &NAME(parts, f64),
    [TSR_F16] = &NAME(parts, f16),      [TSR_BF16] = &NAME(parts, bf16),
    [TSR__FIELD] = &NAME(parts, field),
};

#undef NAME
#undef SET
