/* SPDX-License-Identifier: Apache-2.0 */
/* dtype_range.c - see dtype_range.h. */
#include "base/dtype_range.h"

#include <inttypes.h>

bool tsr__dtype_has(tsr_dtype dtype, double x)
{
    if (tsr__dtype_is_float(dtype) || (int)dtype == TSR__FIELD)
        return true;
    /* behind the largest number there is a power of two, which an f64 has */
    return x == __builtin_rint(x) && x >= (double)tsr__dtype_min(dtype) &&
           x < (double)(tsr__dtype_max(dtype) / 2 + 1) * 2;
}

tsr_status tsr__dtype_check(tsr_dtype dtype, double x, const char *what, tsr_error *err)
{
    if (tsr__dtype_has(dtype, x))
        return TSR_OK;
    if (x != __builtin_rint(x)) /* NaN too */
        return tsr__fail(err, TSR_ERR_ARG, "%s=%.9g is not an integer, which dtype %s requires",
                         what, x, tsr_dtype_name(dtype));
    return tsr__fail(err, TSR_ERR_ARG,
                     "%s=%.9g is out of range %" PRId64 " to %" PRIu64 " of dtype %s", what, x,
                     tsr__dtype_min(dtype), tsr__dtype_max(dtype), tsr_dtype_name(dtype));
}
