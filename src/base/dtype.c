/* SPDX-License-Identifier: Apache-2.0 */
/* dtype.c - the number types one value at a time: names, sizes, 16-bit floats, the prime field.
   Arrays are converted by convert.c. */
#include "base/dtype.h"

#include <stdio.h>
#include <string.h>

#include "base/bits.h"

#define FLOAT(ID, name, type) [TSR_##ID] = {#name, sizeof(type), TSR__CLASS_FLOAT, 0, 0, false}
#define INTEGER(ID, name, type, is_plain)                                                          \
    [TSR_##ID] = {#name,           sizeof(type), TSR__CLASS_INTEGER, TSR__LEAST(type),             \
                  TSR__MOST(type), is_plain}
#define VECTOR(ID, name, type) INTEGER(ID, name, type, false)
#define PLAIN(ID, name, type) INTEGER(ID, name, type, true)

static const struct {
    const char *name;
    size_t size;
    tsr_dtype_class class;
    int64_t min;
    uint64_t max;
    bool is_plain;
} dtypes[TSR__DTYPES] = {
    TSR__EACH_REAL(FLOAT),
    TSR__EACH_HALF(FLOAT),
    TSR__EACH_VECTOR_INTEGER(VECTOR),
    TSR__EACH_PLAIN_INTEGER(PLAIN),
    [TSR_BOOL] = {"bool", 1, TSR__CLASS_BOOL, 0, 1, false},
    [TSR__FIELD] = {"field", 8, TSR__CLASS_FIELD, 0, TSR__FIELD_P - 1, false},
};

bool tsr__dtype_valid(tsr_dtype dtype)
{
    return (unsigned)dtype < TSR__DTYPES;
}

bool tsr__dtype_is_float(tsr_dtype dtype)
{
    return tsr__dtype_valid(dtype) && dtypes[dtype].class == TSR__CLASS_FLOAT;
}

bool tsr__dtype_is_plain(tsr_dtype dtype)
{
    return tsr__dtype_valid(dtype) && dtypes[dtype].is_plain;
}

bool tsr__dtype_is_integer(tsr_dtype dtype)
{
    return tsr__dtype_valid(dtype) && dtypes[dtype].class == TSR__CLASS_INTEGER;
}

tsr_dtype_class tsr__dtype_class(tsr_dtype dtype)
{
    return dtypes[dtype].class;
}

int64_t tsr__dtype_min(tsr_dtype dtype)
{
    return dtypes[dtype].min;
}

uint64_t tsr__dtype_max(tsr_dtype dtype)
{
    return dtypes[dtype].max;
}

tsr_dtype tsr__dtype_fine(tsr_dtype dtype)
{
    return dtype == TSR_F16 || dtype == TSR_BF16 ? TSR_F32 : dtype;
}

const char *tsr_dtype_name(tsr_dtype dtype)
{
    return tsr__dtype_valid(dtype) ? dtypes[dtype].name : "invalid";
}

size_t tsr_dtype_size(tsr_dtype dtype)
{
    return tsr__dtype_valid(dtype) ? dtypes[dtype].size : 0;
}

tsr_status tsr__dtype_parse(const char *text, size_t n, tsr_dtype *out, tsr_error *err)
{
    char known[TSR_TEXT_LEN];
    int at = 0;

    for (int i = 0; i < TSR__FIELD; i++) {
        if (strlen(dtypes[i].name) == n && !memcmp(dtypes[i].name, text, n)) {
            *out = (tsr_dtype)i;
            return TSR_OK;
        }
        at +=
            snprintf(known + at, sizeof known - (size_t)at, "%s%s", i ? ", " : "", dtypes[i].name);
    }
    return tsr__fail(err, TSR_ERR_PARSE, "unknown dtype \"%.*s\", known are %s",
                     n < 40 ? (int)n : 40, text, known);
}

float tsr__f16_to_f32(tsr_f16 x)
{
    uint32_t sign = (uint32_t)(x & 0x8000) << 16;
    uint32_t rest = x & 0x7fff;

    if (rest >= 0x7c00) /* inf, or NaN made quiet as the hardware does */
        return tsr__f32_of(sign | 0x7f800000 | (rest & 0x3ff) << 13 | (rest > 0x7c00) << 22);
    if (rest >= 0x0400)
        return tsr__f32_of(sign | ((rest << 13) + ((127 - 15) << 23)));
    float tiny = (float)rest * 0x1p-24f; /* zero or subnormal: exact */

    return sign ? -tiny : tiny;
}

/* Round a finite or infinite magnitude, given as the bits of a double, to a 16-bit float with
   `mantissa` bits after the point and normal exponents from emin to 1 - emin. Adding the rounded
   mantissa carries into the exponent field, and from the largest number to infinity. */
static uint32_t narrow(uint64_t magnitude, int mantissa, int emin)
{
    int exponent = (int)(magnitude >> 52) - 1023;
    uint32_t inf = (uint32_t)(3 - 2 * emin) << mantissa; /* exponent field all ones */

    if (exponent > 1 - emin)
        return inf;
    int lost = 52 - mantissa + (exponent < emin ? emin - exponent : 0);

    if (lost > 54 || exponent == -1023) /* below half of the smallest: zero */
        return 0;
    uint64_t whole = (magnitude & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    uint64_t kept = whole >> lost;
    uint64_t rest = whole & ((UINT64_C(1) << lost) - 1);
    uint64_t half = UINT64_C(1) << (lost - 1);

    kept += rest > half || (rest == half && (kept & 1));
    if (exponent < emin)
        return (uint32_t)kept;
    return (uint32_t)kept + ((uint32_t)(exponent - emin) << mantissa);
}

tsr_f16 tsr__f64_to_f16(double x)
{
    uint64_t u = tsr__bits_f64(x);
    uint64_t magnitude = u & ~(UINT64_C(1) << 63);
    uint32_t sign = (uint32_t)(u >> 63) << 15;

    if (magnitude > UINT64_C(0x7ff) << 52)
        return (tsr_f16)(sign | 0x7e00 | ((u >> 42) & 0x3ff));
    return (tsr_f16)(sign | narrow(magnitude, 10, -14));
}

tsr_f16 tsr__f32_to_f16(float x)
{
    return tsr__f64_to_f16(x); /* the step to f64 is exact */
}

float tsr__bf16_to_f32(tsr_bf16 x)
{
    return tsr__f32_of((uint32_t)x << 16);
}

tsr_bf16 tsr__f32_to_bf16(float x)
{
    uint32_t u = tsr__bits_f32(x);

    if ((u & 0x7fffffff) > 0x7f800000)
        return (tsr_bf16)(u >> 16 | 0x40);
    return (tsr_bf16)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

tsr_bf16 tsr__f64_to_bf16(double x)
{
    uint64_t u = tsr__bits_f64(x);
    uint64_t magnitude = u & ~(UINT64_C(1) << 63);
    uint32_t sign = (uint32_t)(u >> 63) << 15;

    if (magnitude > UINT64_C(0x7ff) << 52)
        return (tsr_bf16)(sign | 0x7fc0 | ((u >> 45) & 0x7f));
    return (tsr_bf16)(sign | narrow(magnitude, 7, -126));
}

uint64_t tsr__field_add(uint64_t a, uint64_t b)
{
    uint64_t sum = a + b;

    return sum >= TSR__FIELD_P ? sum - TSR__FIELD_P : sum;
}

/* 2^61 is 1 modulo p, so the high part of the product is added to the low part. */
uint64_t tsr__field_mul(uint64_t a, uint64_t b)
{
    __extension__ unsigned __int128 product = (unsigned __int128)a * b;
    uint64_t low = (uint64_t)product & TSR__FIELD_P;
    uint64_t high = (uint64_t)(product >> 61);

    return tsr__field_add(low, high);
}

/* a^(p-2), by Fermat. */
uint64_t tsr__field_inverse(uint64_t a)
{
    uint64_t result = 1;

    a %= TSR__FIELD_P;
    for (uint64_t e = TSR__FIELD_P - 2; e; e >>= 1) {
        if (e & 1)
            result = tsr__field_mul(result, a);
        a = tsr__field_mul(a, a);
    }
    return result;
}

void tsr__put_integer(tsr_dtype dtype, void *data, int64_t i, uint64_t value)
{
    switch (dtypes[dtype].size) {
    case 1: ((uint8_t *)data)[i] = (uint8_t)value; break;
    case 2: ((uint16_t *)data)[i] = (uint16_t)value; break;
    case 4: ((uint32_t *)data)[i] = (uint32_t)value; break;
    default: ((uint64_t *)data)[i] = value; break;
    }
}

void tsr__repeat(size_t size, void *data, int64_t n)
{
    /* pieces that fit a cache are copied again and again, once they have doubled to that size */
    const int64_t most = 65536 / (int64_t)size;
    int64_t have = 1;

    while (have < n) {
        int64_t copy = have < most ? have : most;
        copy = copy < n - have ? copy : n - have;
        memcpy((char *)data + have * (int64_t)size, data, (size_t)copy * size);
        have += copy;
    }
}
