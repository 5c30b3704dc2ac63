/* SPDX-License-Identifier: Apache-2.0 */
/* reduce.c - reduction of whole buffers, fast: same bits as reduce_ref.c. Names, identities and
   what may be reduced also stand here. Called by exchange code and the collectives. */
#include "base/reduce.h"

#include "base/fold.h"
#include "base/stream.h"

#include <math.h>

static const char *const names[] = {
    [TSR_SUM] = "sum", [TSR_AVG] = "avg", [TSR_MIN] = "min", [TSR_MAX] = "max", [TSR_PROD] = "prod",
};
enum { OPS = sizeof names / sizeof *names };

const char *tsr_reduce_name(tsr_reduce reduce)
{
    return (unsigned)reduce < OPS ? names[reduce] : "invalid";
}

tsr_status tsr__reduce_check(tsr_dtype dtype, tsr_reduce op, tsr_error *err)
{
    if ((unsigned)op >= OPS)
        return tsr__fail(err, TSR_ERR_ARG, "unknown reduction %d", (int)op);
    if (!tsr__dtype_valid(dtype))
        return tsr__fail(err, TSR_ERR_DTYPE, "unknown dtype %d", (int)dtype);
    if (dtype == TSR_BOOL)
        return tsr__fail(err, TSR_ERR_DTYPE,
                         "bool does not support the reduction %s: convert to u8 or i32", names[op]);
    if (op == TSR_AVG && !tsr__dtype_is_float(dtype) && (int)dtype != TSR__FIELD)
        return tsr__fail(
            err, TSR_ERR_DTYPE,
            "%s does not support the reduction avg: use sum, or convert to a floating-point dtype",
            tsr_dtype_name(dtype));
    return TSR_OK;
}

static bool is_among(const void *p, int n_src, const void *const *src)
{
    for (int k = 0; k < n_src; k++)
        if (src[k] == p)
            return true;
    return false;
}

void tsr__reduce(tsr_dtype dtype, tsr_reduce op, int64_t divisor, int n_src, const void *const *src,
                 int64_t n, void *dst)
{
    enum { MANY = 64 };
    char block[TSR__FOLD_BYTES] __attribute__((aligned(64)));
    const size_t size = tsr_dtype_size(dtype), bytes = (size_t)n * size;
    const void *at[MANY];

    /* A buffer that is read as well comes through the cache anyway. */
    if (n_src > MANY || !tsr__stream_pays(bytes, bytes, 0) || is_among(dst, n_src, src)) {
        tsr__fold(dtype, op, divisor, n_src, src, n, dst);
        return;
    }
    for (int64_t i = 0; i < n; i += TSR__FOLD_BLOCK) {
        int64_t m = n - i < TSR__FOLD_BLOCK ? n - i : TSR__FOLD_BLOCK;

        for (int k = 0; k < n_src; k++)
            at[k] = (const char *)src[k] + (size_t)i * size;
        tsr__fold(dtype, op, divisor, n_src, at, m, block);
        tsr__stream_copy((char *)dst + (size_t)i * size, block, (size_t)m * size);
    }
    tsr__stream_fence();
}

/* The identity of an op as a double; what an integer cannot hold saturates on conversion. */
static double identity_of(tsr_dtype dtype, tsr_reduce op)
{
    bool is_float = tsr__dtype_is_float(dtype);

    switch (op) {
    case TSR_PROD: return 1;
    case TSR_MIN: return is_float ? INFINITY : 0x1p64;
    case TSR_MAX: return is_float ? -INFINITY : dtype == TSR_BOOL ? 0 : -0x1p64;
    default: return is_float ? -0.0 : 0;
    }
}

void tsr__reduce_identity(tsr_dtype dtype, tsr_reduce op, void *dst, int64_t n)
{
    double value = identity_of(dtype, op);
    uint64_t field = op == TSR_MIN ? TSR__FIELD_P - 1 : op == TSR_PROD;

    if (n == 0)
        return;
    if ((int)dtype == TSR__FIELD)
        *(uint64_t *)dst = field;
    else
        tsr__put(dtype, dst, 0, value);
    tsr__repeat(tsr_dtype_size(dtype), dst, n);
}
