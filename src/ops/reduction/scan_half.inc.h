/* SPDX-License-Identifier: Apache-2.0 */
/* scan_half.inc.h - includes scan.inc.h for f16 and bf16, which are widened before: needs FN and
   SET; undefines them. */
#define T float
#define WIDE float
#define ST(x) (x)
#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#include "ops/reduction/scan.inc.h"
#undef T
#undef WIDE
#undef ST
#undef ADD
#undef MUL
#undef FN
#undef SET
