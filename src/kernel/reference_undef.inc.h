/* SPDX-License-Identifier: Apache-2.0 */
/* reference_undef.inc.h - undefines what reference_types.inc.h defines for one dtype. */
#undef T
#undef ACC
#undef LD
#undef ST
#undef ADD
#undef MUL
#undef NEG
#undef DIV
#undef LESS
#undef IS_NAN
#undef LOWEST
#undef FN
