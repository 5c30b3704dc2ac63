/* SPDX-License-Identifier: Apache-2.0 */
/* real_types.inc.h - includes BODY for f32 and f64, for one instruction set: needs BODY, NAME
   (function name from operation and dtype) and SET; undefines NAME and SET. The body sees T and
   FN. */

#define T float
#define FN(name) NAME(name, f32)
#include BODY
#undef T
#undef FN

#define T double
#define FN(name) NAME(name, f64)
#include BODY
#undef T
#undef FN

#undef NAME
#undef SET
