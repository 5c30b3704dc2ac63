/* SPDX-License-Identifier: Apache-2.0 */
/* reduce_ref.c - the reduction by plain loops, element by element: the oracle for reduce.c, which
   must give the same bits. Integers wrap: they add and multiply as unsigned. */
#include "base/fold.h"

#define T float
#define ACC float
#define LD(x) (x)
#define ST(x) (x)
#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define DIV(a, d) ((a) / (float)(d))
#define IS_NAN(x) ((x) != (x))
#define FN(name) name##_f32
#define FLOATING
#include "base/reduce.inc.h"

#define T double
#define ACC double
#define LD(x) (x)
#define ST(x) (x)
#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define DIV(a, d) ((a) / (double)(d))
#define IS_NAN(x) ((x) != (x))
#define FN(name) name##_f64
#define FLOATING
#include "base/reduce.inc.h"

#define T tsr_f16
#define ACC float
#define LD(x) tsr__f16_to_f32(x)
#define ST(x) tsr__f32_to_f16(x)
#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define DIV(a, d) ((a) / (float)(d))
#define IS_NAN(x) ((x) != (x))
#define FN(name) name##_f16
#define FLOATING
#include "base/reduce.inc.h"

#define T tsr_bf16
#define ACC float
#define LD(x) tsr__bf16_to_f32(x)
#define ST(x) tsr__f32_to_bf16(x)
#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define DIV(a, d) ((a) / (float)(d))
#define IS_NAN(x) ((x) != (x))
#define FN(name) name##_bf16
#define FLOATING
#include "base/reduce.inc.h"

#define T int32_t
#define ACC int32_t
#define LD(x) (x)
#define ST(x) (x)
#define ADD(a, b) ((uint32_t)(a) + (uint32_t)(b))
#define MUL(a, b) ((uint32_t)(a) * (uint32_t)(b))
#define DIV(a, d) ((a) / (d))
#define IS_NAN(x) false
#define FN(name) name##_i32
#include "base/reduce.inc.h"

#define T int64_t
#define ACC int64_t
#define LD(x) (x)
#define ST(x) (x)
#define ADD(a, b) ((uint64_t)(a) + (uint64_t)(b))
#define MUL(a, b) ((uint64_t)(a) * (uint64_t)(b))
#define DIV(a, d) ((a) / (d))
#define IS_NAN(x) false
#define FN(name) name##_i64
#include "base/reduce.inc.h"

#define T uint8_t
#define ACC uint8_t
#define LD(x) (x)
#define ST(x) (x)
#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define DIV(a, d) ((a) / (d))
#define IS_NAN(x) false
#define FN(name) name##_u8
#include "base/reduce.inc.h"

/* Of two booleans: or, and. */
#define T uint8_t
#define ACC uint8_t
#define LD(x) (x)
#define ST(x) (x)
#define ADD(a, b) ((a) | (b))
#define MUL(a, b) ((a) & (b))
#define DIV(a, d) (a)
#define IS_NAN(x) false
#define FN(name) name##_bool
#include "base/reduce.inc.h"

#define T uint64_t
#define ACC uint64_t
#define LD(x) (x)
#define ST(x) (x)
#define ADD(a, b) tsr__field_add(a, b)
#define MUL(a, b) tsr__field_mul(a, b)
#define DIV(a, d) tsr__field_mul(a, tsr__field_inverse((uint64_t)(d)))
#define IS_NAN(x) false
#define FN(name) name##_field
#include "base/reduce.inc.h"

void tsr__reduce_ref(tsr_dtype dtype, tsr_reduce op, int64_t divisor, int n_src,
                     const void *const *src, int64_t n, void *dst)
{
    static void (*const kernels[TSR__DTYPES])(tsr_reduce, int64_t, int, const void *const *,
                                              int64_t, void *) = {
        [TSR_F32] = reduce_f32,   [TSR_F64] = reduce_f64,   [TSR_F16] = reduce_f16,
        [TSR_BF16] = reduce_bf16, [TSR_I32] = reduce_i32,   [TSR_I64] = reduce_i64,
        [TSR_U8] = reduce_u8,     [TSR_BOOL] = reduce_bool, [TSR__FIELD] = reduce_field,
    };

    kernels[dtype](op, divisor, n_src, src, n, dst);
}
