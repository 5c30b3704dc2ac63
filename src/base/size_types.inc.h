/* SPDX-License-Identifier: Apache-2.0 */
/* size_types.inc.h - TYPES of kernel_table.inc.h for kernels to which an element is bits: includes
   BODY for each size, T being an unsigned number. */

#define T uint8_t
#define FN(name) NAME(name, 8)
#include "base/kernel_type.inc.h"

#define T uint16_t
#define FN(name) NAME(name, 16)
#include "base/kernel_type.inc.h"

#define T uint32_t
#define FN(name) NAME(name, 32)
#include "base/kernel_type.inc.h"

#define T uint64_t
#define FN(name) NAME(name, 64)
#include "base/kernel_type.inc.h"

static const void *const NAME(entries, all)[TSR__DTYPES] = {
    [TSR_F32] = &NAME(entry, 32),  [TSR_F64] = &NAME(entry, 64), [TSR_F16] = &NAME(entry, 16),
    [TSR_BF16] = &NAME(entry, 16), [TSR_I32] = &NAME(entry, 32), [TSR_I64] = &NAME(entry, 64),
    [TSR_U8] = &NAME(entry, 8),    [TSR_BOOL] = &NAME(entry, 8), [TSR__FIELD] = &NAME(entry, 64),
};
