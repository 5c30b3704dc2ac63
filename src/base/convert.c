/* SPDX-License-Identifier: Apache-2.0 */
/* convert.c - arrays from one dtype to another, each value rounded once. Blocks go through a type
   that holds every value of the source: f64 for floats, u64 or i64 for the others. */
#include "base/half.h"
#include "base/kernel_table.h"

#include <string.h>

static uint64_t field_of(int64_t x)
{
    int64_t rest = x % (int64_t)TSR__FIELD_P;

    return (uint64_t)(rest < 0 ? rest + (int64_t)TSR__FIELD_P : rest);
}

/* The nearest f64 whose last bit is 1, unless exact: rounding it once more is then correct. */
static double odd_u64(uint64_t x)
{
    return x >> 53 ? (double)((x & ~UINT64_C(0x7ff)) | (x & 0x7ff ? 0x800 : 0)) : (double)x;
}

static double odd_i64(int64_t x)
{
    return x < 0 ? -odd_u64(0 - (uint64_t)x) : odd_u64((uint64_t)x);
}

typedef struct parts {
    void (*load)(const void *src, int64_t n, void *wide);
    void (*from_f64)(const double *wide, int64_t n, void *dst);
    void (*from_i64)(const int64_t *wide, int64_t n, void *dst);
    void (*from_u64)(const uint64_t *wide, int64_t n, void *dst);
} parts;

#define TABLE converters
#define BODY "base/convert.inc.h"
#define DTYPES (TSR__HALVES | TSR__INTEGERS | TSR__BOOLEANS | TSR__PRIME)
#include "base/kernel_table.inc.h"

static const parts *parts_of(tsr_dtype dtype)
{
    return tsr__kernel_for(&converters, dtype, TSR_VARIANT_PLAIN);
}

void tsr__convert(tsr_dtype to, void *dst, tsr_dtype from, const void *src, int64_t n)
{
    enum { BLOCK = 256 };
    union {
        double f64[BLOCK];
        int64_t i64[BLOCK];
        uint64_t u64[BLOCK];
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

        parts_of(from)->load((const char *)src + (size_t)i * size_from, m, &wide);
        if (tsr__dtype_is_float(from))
            parts_of(to)->from_f64(wide.f64, m, out);
        else if (from == TSR_U64)
            parts_of(to)->from_u64(wide.u64, m, out);
        else
            parts_of(to)->from_i64(wide.i64, m, out);
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
