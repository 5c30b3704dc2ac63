/* SPDX-License-Identifier: Apache-2.0 */
/* convert.c - arrays from one dtype to another, each value rounded once. Blocks go through a type
   that holds every value of the source: f64 for floats, i64 for the others. */
#include "base/half.h"

#include <string.h>

static int64_t saturate(double x, double low, double high, int64_t min, int64_t max)
{
    if (x != x)
        return 0;
    return x <= low ? min : x >= high ? max : (int64_t)__builtin_rint(x);
}

static int64_t clamp(int64_t x, int64_t min, int64_t max)
{
    return x < min ? min : x > max ? max : x;
}

static uint64_t field_of(int64_t x)
{
    int64_t rest = x % (int64_t)TSR__FIELD_P;

    return (uint64_t)(rest < 0 ? rest + (int64_t)TSR__FIELD_P : rest);
}

/* The nearest f64 whose last bit is 1, unless exact: rounding it once more is then correct. */
static double odd_f64(int64_t x)
{
    uint64_t magnitude = x < 0 ? -(uint64_t)x : (uint64_t)x;

    if (magnitude >> 53)
        magnitude = (magnitude & ~UINT64_C(0x7ff)) | (magnitude & 0x7ff ? 0x800 : 0);
    return x < 0 ? -(double)magnitude : (double)magnitude;
}

static int64_t i32_of_f64(double x)
{
    return saturate(x, INT32_MIN, INT32_MAX, INT32_MIN, INT32_MAX);
}

static int64_t i64_of_f64(double x)
{
    return saturate(x, -0x1p63, 0x1p63, INT64_MIN, INT64_MAX);
}

#define T float
#define FN(name) name##_f32
#define WIDE double
#define LD(x) (double)(x)
#define FROM_F64(x) (float)(x)
#define FROM_I64(x) (float)(x)
#include "base/convert.inc.h"

#define T double
#define FN(name) name##_f64
#define WIDE double
#define LD(x) (x)
#define FROM_F64(x) (x)
#define FROM_I64(x) (double)(x)
#include "base/convert.inc.h"

#define T tsr_f16
#define FN(name) name##_f16
#define WIDE double
#define LD(x) (double)tsr__f16_to_f32(x)
#define FROM_F64(x) tsr__f64_to_f16(x)
#define FROM_I64(x) tsr__f64_to_f16(odd_f64(x))
#include "base/convert.inc.h"

#define T tsr_bf16
#define FN(name) name##_bf16
#define WIDE double
#define LD(x) (double)tsr__bf16_to_f32(x)
#define FROM_F64(x) tsr__f64_to_bf16(x)
#define FROM_I64(x) tsr__f64_to_bf16(odd_f64(x))
#include "base/convert.inc.h"

#define T int32_t
#define FN(name) name##_i32
#define WIDE int64_t
#define LD(x) (x)
#define FROM_F64(x) (int32_t)i32_of_f64(x)
#define FROM_I64(x) (int32_t)clamp(x, INT32_MIN, INT32_MAX)
#include "base/convert.inc.h"

#define T int64_t
#define FN(name) name##_i64
#define WIDE int64_t
#define LD(x) (x)
#define FROM_F64(x) i64_of_f64(x)
#define FROM_I64(x) (x)
#include "base/convert.inc.h"

#define T uint8_t
#define FN(name) name##_u8
#define WIDE int64_t
#define LD(x) (x)
#define FROM_F64(x) (uint8_t)saturate(x, 0, 255, 0, 255)
#define FROM_I64(x) (uint8_t)clamp(x, 0, 255)
#include "base/convert.inc.h"

#define T uint8_t
#define FN(name) name##_bool
#define WIDE int64_t
#define LD(x) ((x) != 0)
#define FROM_F64(x) ((x) != 0)
#define FROM_I64(x) ((x) != 0)
#include "base/convert.inc.h"

#define T uint64_t
#define FN(name) name##_field
#define WIDE int64_t
#define LD(x) (int64_t)(x)
#define FROM_F64(x) field_of(i64_of_f64(x))
#define FROM_I64(x) field_of(x)
#include "base/convert.inc.h"

static const struct {
    void (*load)(const void *src, int64_t n, void *wide);
    void (*from_f64)(const void *wide, int64_t n, void *dst);
    void (*from_i64)(const void *wide, int64_t n, void *dst);
} kernels[TSR__DTYPES] = {
    [TSR_F32] = {load_f32, from_f64_f32, from_i64_f32},
    [TSR_F64] = {load_f64, from_f64_f64, from_i64_f64},
    [TSR_F16] = {load_f16, from_f64_f16, from_i64_f16},
    [TSR_BF16] = {load_bf16, from_f64_bf16, from_i64_bf16},
    [TSR_I32] = {load_i32, from_f64_i32, from_i64_i32},
    [TSR_I64] = {load_i64, from_f64_i64, from_i64_i64},
    [TSR_U8] = {load_u8, from_f64_u8, from_i64_u8},
    [TSR_BOOL] = {load_bool, from_f64_bool, from_i64_bool},
    [TSR__FIELD] = {load_field, from_f64_field, from_i64_field},
};

void tsr__convert(tsr_dtype to, void *dst, tsr_dtype from, const void *src, int64_t n)
{
    enum { BLOCK = 256 };
    union {
        double f64[BLOCK];
        int64_t i64[BLOCK];
    } wide;
    size_t size_to = tsr_dtype_size(to), size_from = tsr_dtype_size(from);

    if (to == from && n > 0) {
        memmove(dst, src, (size_t)n * size_to);
        return;
    }
    if (to == TSR_F32 && tsr__dtype_is_half(from)) {
        tsr__half_widen(from, src, n, dst);
        return;
    }
    if (from == TSR_F32 && tsr__dtype_is_half(to)) {
        tsr__half_narrow(to, src, n, dst);
        return;
    }
    for (int64_t i = 0; i < n; i += BLOCK) {
        int64_t m = n - i < BLOCK ? n - i : BLOCK;
        void *out = (char *)dst + (size_t)i * size_to;

        kernels[from].load((const char *)src + (size_t)i * size_from, m, &wide);
        if (tsr__dtype_is_float(from))
            kernels[to].from_f64(&wide, m, out);
        else
            kernels[to].from_i64(&wide, m, out);
    }
}

double tsr__get(tsr_dtype dtype, const void *data, int64_t i)
{
    double value;

    tsr__convert(TSR_F64, &value, dtype, (const char *)data + (size_t)i * tsr_dtype_size(dtype), 1);
    return value;
}

void tsr__put(tsr_dtype dtype, void *data, int64_t i, double value)
{
    tsr__convert(dtype, (char *)data + (size_t)i * tsr_dtype_size(dtype), TSR_F64, &value, 1);
}
