/* SPDX-License-Identifier: Apache-2.0 */
/* reference_type.inc.h - includes BODY for the dtype that reference_types.inc.h has just described,
   and undefines what it alone has. */
#include BODY
#undef T
#undef LD
#undef ST
#undef LOWEST
#undef FN
