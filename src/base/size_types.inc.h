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

#define ENTRY(ID, name, type)                                                                      \
    [TSR_##ID] = sizeof(type) == 1   ? &NAME(entry, 8)                                             \
                 : sizeof(type) == 2 ? &NAME(entry, 16)                                            \
                 : sizeof(type) == 4 ? &NAME(entry, 32)                                            \
                                     : &NAME(entry, 64)

static const void *const NAME(entries, all)[TSR__DTYPES] = {
    TSR__EACH_REAL(ENTRY),        TSR__EACH_HALF(ENTRY),           TSR__EACH_INTEGER(ENTRY),
    [TSR_BOOL] = &NAME(entry, 8), [TSR__FIELD] = &NAME(entry, 64),
};

#undef ENTRY
