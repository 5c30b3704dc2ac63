/* SPDX-License-Identifier: Apache-2.0 */
/* fast_undef.inc.h - undefines what fast_types.inc.h defines for one dtype. */
#undef T
#undef ACC
#undef WIDE
#undef LD
#undef ST
#undef ADD
#undef MUL
#undef NEG
#undef DIV
#undef LESS
#undef UNORDERED
#undef LOWEST
#undef HIGHEST
#undef FN
