/* SPDX-License-Identifier: Apache-2.0 */
/* untyped.inc.h - TYPES of kernel_table.inc.h for kernels that only the instruction set tells
   apart: the one entry is that of dtype TSR__UNTYPED. */
#define FN(name) NAME(name, any)
#include "base/kernel_type.inc.h"

static const void *const NAME(entries, all)[] = {[TSR__UNTYPED] = &NAME(entry, any)};
