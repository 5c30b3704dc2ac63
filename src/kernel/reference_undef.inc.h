/* SPDX-License-Identifier: Apache-2.0 */
/* reference_undef.inc.h - undefines what reference_types.inc.h defines for a family of dtypes. */
#undef ACC
#undef ADD
#undef MUL
#undef NEG
#undef DIV
#undef LESS
#undef IS_NAN
