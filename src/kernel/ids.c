/* SPDX-License-Identifier: Apache-2.0 */
/* ids.c - what ids mean: range checks and local rows. Integers only; called by kernels that take
   indices, and by runs that look them up. */
#include "kernel/ids.h"

#include "base/cpu.h"

#ifdef __clang__ /* without optimisation it does not vectorise, and says so */
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

#define ID int32_t
#define FN(name) name##_i32
#include "kernel/ids.inc.h"

#define ID int64_t
#define FN(name) name##_i64
#include "kernel/ids.inc.h"

int64_t tsr__ids_at(const tsr_ids *ids, int64_t i)
{
    return ids->dtype == TSR_I32 ? ((const int32_t *)ids->data)[i]
                                 : ((const int64_t *)ids->data)[i];
}

int64_t tsr__ids_bad(const tsr_ids *ids)
{
    return ids->dtype == TSR_I32 ? bad_i32(ids) : bad_i64(ids);
}

void tsr__ids_rows(const tsr_ids *ids, int64_t first, int64_t n, int64_t *rows)
{
    if (ids->dtype == TSR_I32)
        rows_i32(ids, first, n, rows);
    else
        rows_i64(ids, first, n, rows);
}
