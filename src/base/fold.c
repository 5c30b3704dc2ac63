/* SPDX-License-Identifier: Apache-2.0 */
/* fold.c - the loops of a reduction, chosen by dtype and by what the processor has. */
#include "base/fold.h"

#include "base/half.h"

#include <string.h>

enum { MOST_SOURCES = 1024 }; /* of an average that is mended if its sum overflows */

typedef struct fold_kernels {
    void (*fold)(tsr_reduce op, int n_src, const void *const *src, int64_t n, void *dst);
    void (*divide)(int64_t divisor, int64_t n, void *data);
} fold_kernels;

/* f16 and bf16 are f32 here; bool is u8, where or is max and and is min. */
#define TABLE kernels
#define BODY "base/fold.inc.h"
#define DTYPES (TSR__INTEGERS | TSR__PRIME)
#define AVX2 TSR__AVX2
#include "base/kernel_table.inc.h"

static const fold_kernels *kernels_for(tsr_dtype dtype)
{
    return tsr__kernel_for(&kernels, dtype, TSR_VARIANT_AUTO);
}

static tsr_reduce op_for(tsr_dtype dtype, tsr_reduce op)
{
    if (dtype != TSR_BOOL)
        return op;
    return op == TSR_SUM ? TSR_MAX : op == TSR_PROD ? TSR_MIN : op;
}

static void divide(tsr_dtype dtype, int64_t divisor, int64_t n, void *data)
{
    if ((int)dtype == TSR__FIELD) /* whose kernel multiplies by the inverse */
        divisor = (int64_t)tsr__field_inverse((uint64_t)divisor);
    if (divisor != 1 && dtype != TSR_BOOL)
        kernels_for(dtype)->divide(divisor, n, data);
}

static const char *at(const void *base, int64_t i, size_t size)
{
    return (const char *)base + (size_t)i * size;
}

/* f16 and bf16 where tsr__fold_half leaves off. */
static void fold_wide(tsr_dtype dtype, tsr_reduce op, int64_t divisor, int n_src,
                      const void *const *src, int64_t begin, int64_t n, void *dst)
{
    float acc[TSR__FOLD_BLOCK] __attribute__((aligned(64)));

    for (int64_t i = begin; i < n; i += TSR__FOLD_BLOCK) {
        int64_t m = n - i < TSR__FOLD_BLOCK ? n - i : TSR__FOLD_BLOCK;

        for (int k = 0; k < n_src; k++)
            tsr__fold_add(dtype, op, k == 0, at(src[k], i, 2), m, acc);
        tsr__fold_finish(dtype, divisor, acc, m, (uint16_t *)dst + i);
    }
}

/* ---- averages that overflow ---- */

bool tsr__fold_overflowed(tsr_dtype dtype, int64_t divisor, const void *data, int64_t n)
{
    float wide[TSR__FOLD_BLOCK] __attribute__((aligned(64))), f = 0;
    double d = 0;

    if (divisor == 1 || !tsr__dtype_is_float(dtype))
        return false;
    if (dtype == TSR_F64) {
        for (int64_t i = 0; i < n; i++) /* NaN, if one is not finite */
            d += ((const double *)data)[i] - ((const double *)data)[i];
        return d != d;
    }
    if (tsr__dtype_is_half(dtype))
        tsr__half_widen(dtype, data, n, wide);
    else
        memcpy(wide, data, (size_t)n * sizeof *wide);
    for (int64_t i = 0; i < n; i++)
        f += wide[i] - wide[i];
    return f != f;
}

void tsr__fold_add_scaled(tsr_dtype dtype, double scale, bool first, const void *src, int64_t n,
                          void *acc)
{
    float wide[TSR__FOLD_BLOCK] __attribute__((aligned(64)));

    if (dtype == TSR_F64) {
        for (int64_t i = 0; i < n; i++)
            ((double *)acc)[i] =
                (first ? 0 : ((double *)acc)[i]) + ((const double *)src)[i] * scale;
        return;
    }
    if (tsr__dtype_is_half(dtype))
        tsr__half_widen(dtype, src, n, wide);
    else
        memcpy(wide, src, (size_t)n * sizeof *wide);
    for (int64_t i = 0; i < n; i++)
        ((float *)acc)[i] = (first ? 0 : ((float *)acc)[i]) + wide[i] * (float)scale;
}

void tsr__fold_mend(tsr_dtype dtype, double divisor, const void *acc, int64_t n, void *dst)
{
    const size_t size = tsr_dtype_size(dtype);

    for (int64_t i = 0; i < n; i++) {
        const double x = tsr__get(dtype, dst, i);

        if (x - x == 0)
            continue;
        if (dtype == TSR_F64)
            ((double *)dst)[i] = ((const double *)acc)[i] / divisor;
        else
            tsr__convert(dtype, (char *)dst + (size_t)i * size, TSR_F32,
                         &(float){((const float *)acc)[i] / (float)divisor}, 1);
    }
}

static void fold_once(tsr_dtype dtype, tsr_reduce op, int64_t divisor, int n_src,
                      const void *const *src, int64_t n, void *dst);

/* Block by block, and not into dst at once, which may be a source. */
static void fold_average(tsr_dtype dtype, int64_t divisor, int n_src, const void *const *src,
                         int64_t n, void *dst)
{
    char block[TSR__FOLD_BYTES] __attribute__((aligned(64)));
    char acc[TSR__FOLD_BYTES] __attribute__((aligned(64)));
    const size_t size = tsr_dtype_size(dtype);
    const double scale = tsr__reduce_scale(divisor, n_src);
    const void *now[MOST_SOURCES];

    for (int64_t i = 0; i < n; i += TSR__FOLD_BLOCK) {
        const int64_t m = n - i < TSR__FOLD_BLOCK ? n - i : TSR__FOLD_BLOCK;

        for (int k = 0; k < n_src; k++)
            now[k] = at(src[k], i, size);
        fold_once(dtype, TSR_SUM, divisor, n_src, now, m, block);
        if (tsr__fold_overflowed(dtype, divisor, block, m)) {
            for (int k = 0; k < n_src; k++)
                tsr__fold_add_scaled(dtype, scale, k == 0, now[k], m, acc);
            tsr__fold_mend(dtype, scale * (double)divisor, acc, m, block);
        }
        memcpy((char *)dst + (size_t)i * size, block, (size_t)m * size);
    }
}

void tsr__fold(tsr_dtype dtype, tsr_reduce op, int64_t divisor, int n_src, const void *const *src,
               int64_t n, void *dst)
{
    if (divisor != 1 && tsr__dtype_is_float(dtype) && n_src <= MOST_SOURCES)
        fold_average(dtype, divisor, n_src, src, n, dst);
    else
        fold_once(dtype, op, divisor, n_src, src, n, dst);
}

static void fold_once(tsr_dtype dtype, tsr_reduce op, int64_t divisor, int n_src,
                      const void *const *src, int64_t n, void *dst)
{
    if (n <= 0)
        return;
    if (tsr__dtype_is_half(dtype)) {
        int64_t done = tsr__fold_half(dtype, op, divisor, n_src, src, n, dst);

        fold_wide(dtype, op, divisor, n_src, src, done, n, dst);
        return;
    }
    if (n_src == 1)
        memmove(dst, src[0], (size_t)n * tsr_dtype_size(dtype));
    else
        kernels_for(dtype)->fold(op_for(dtype, op), n_src, src, n, dst);
    divide(dtype, divisor, n, dst);
}

void tsr__fold_add(tsr_dtype dtype, tsr_reduce op, bool first, const void *src, int64_t n,
                   void *acc)
{
    float wide[TSR__FOLD_BLOCK] __attribute__((aligned(64)));
    const void *pair[] = {acc, src};

    if (tsr__dtype_is_half(dtype) && first) {
        tsr__half_widen(dtype, src, n, acc);
        return;
    }
    if (first) {
        memcpy(acc, src, (size_t)n * tsr_dtype_size(dtype));
        return;
    }
    if (tsr__dtype_is_half(dtype)) {
        tsr__half_widen(dtype, src, n, wide);
        pair[1] = wide;
    }
    kernels_for(dtype)->fold(op_for(dtype, op), 2, pair, n, acc);
}

void tsr__fold_finish(tsr_dtype dtype, int64_t divisor, void *acc, int64_t n, void *dst)
{
    divide(dtype, divisor, n, acc);
    if (tsr__dtype_is_half(dtype))
        tsr__half_narrow(dtype, acc, n, dst);
    else
        memcpy(dst, acc, (size_t)n * tsr_dtype_size(dtype));
}
