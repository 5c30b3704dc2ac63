/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_type.inc.h - includes BODY for the dtype that kernel_types.inc.h has just described, and
   undefines what it alone has. */
#include BODY
#undef T
#undef BITS
#undef FN
