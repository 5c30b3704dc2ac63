/* SPDX-License-Identifier: Apache-2.0 */
/* integers.inc.h - the integers that dtype.h lists, T and FN of each: included by
   kernel_types.inc.h and by reference_types.inc.h. */

#define T int32_t
#define FN(name) NAME(name, i32)
#include "base/kernel_type.inc.h"

#define T int64_t
#define FN(name) NAME(name, i64)
#include "base/kernel_type.inc.h"

#define T uint8_t
#define FN(name) NAME(name, u8)
#include "base/kernel_type.inc.h"
