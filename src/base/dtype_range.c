/* SPDX-License-Identifier: Apache-2.0 */
/* dtype_range.c - see dtype_range.h. */
#include "base/dtype_range.h"

#include <inttypes.h>

int64_t tsr__dtype_min(tsr_dtype dtype)
{
    return dtype == TSR_I32 ? INT32_MIN : dtype == TSR_I64 ? INT64_MIN : 0;
}

int64_t tsr__dtype_max(tsr_dtype dtype)
{
    return dtype == TSR_I32   ? INT32_MAX
           : dtype == TSR_I64 ? INT64_MAX
           : dtype == TSR_U8  ? UINT8_MAX
                              : 1;
}

bool tsr__dtype_has(tsr_dtype dtype, double x)
{
    if (tsr__dtype_is_float(dtype) || (int)dtype == TSR__FIELD)
        return true;
    if (!(x >= -0x1p63 && x < 0x1p63) || x != (double)(int64_t)x)
        return false;
    return (int64_t)x >= tsr__dtype_min(dtype) && (int64_t)x <= tsr__dtype_max(dtype);
}

tsr_status tsr__dtype_check(tsr_dtype dtype, double x, const char *what, tsr_error *err)
{
    if (tsr__dtype_has(dtype, x))
        return TSR_OK;
    if (x != __builtin_rint(x)) /* NaN too */
        return tsr__fail(err, TSR_ERR_ARG, "%s=%.9g is not whole, for %s it must be", what, x,
                         tsr_dtype_name(dtype));
    return tsr__fail(err, TSR_ERR_ARG,
                     "%s=%.9g is not in %" PRId64 " to %" PRId64 ", the range of %s", what, x,
                     tsr__dtype_min(dtype), tsr__dtype_max(dtype), tsr_dtype_name(dtype));
}
