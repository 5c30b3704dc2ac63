/* SPDX-License-Identifier: Apache-2.0 */
/* integers.inc.h - the integers that dtype.h lists, T and FN of each: included by
   kernel_types.inc.h and by reference_types.inc.h. PLAIN is defined for those that are plain. */

#define T int32_t
#define FN(name) NAME(name, i32)
#include "base/kernel_type.inc.h"

#define T int64_t
#define FN(name) NAME(name, i64)
#include "base/kernel_type.inc.h"

#define T uint8_t
#define FN(name) NAME(name, u8)
#include "base/kernel_type.inc.h"

#if SOME & TSR__PLAIN_INTEGERS && ISA == 0
#define PLAIN

#define T int8_t
#define FN(name) NAME(name, i8)
#include "base/kernel_type.inc.h"

#define T int16_t
#define FN(name) NAME(name, i16)
#include "base/kernel_type.inc.h"

#define T uint16_t
#define FN(name) NAME(name, u16)
#include "base/kernel_type.inc.h"

#define T uint32_t
#define FN(name) NAME(name, u32)
#include "base/kernel_type.inc.h"

#define T uint64_t
#define FN(name) NAME(name, u64)
#include "base/kernel_type.inc.h"

#undef PLAIN
#endif
