/* SPDX-License-Identifier: Apache-2.0 */
/* pointwise_list.inc.h - the pointwise kernels, in the order of their numbers: a new one comes
   last. NUMBER: of all number types; BASIC: the same, and of bool, where it is slow; FLOAT: of
   floating point types; CMATH: the same, a C function of that name; WHOLE: the same, and of
   integers; VALUE: of all types, for it only chooses among values; TRUTH: of all types, and gives
   bool; APART: not computed by elementwise.inc.h. Whoever includes it defines those that it
   wants, and CMATH if it is not as FLOAT; they are undefined at the end. What an op computes stands
   in elementwise.inc.h, and once more, naively, in elementwise_reference.c, which calls the C
   library for CMATH. */
#ifndef CMATH
#define CMATH(OP, name) FLOAT(OP, name)
#endif
#ifndef NUMBER
#define NUMBER(OP, name)
#endif
#ifndef BASIC
#define BASIC(OP, name)
#endif
#ifndef FLOAT
#define FLOAT(OP, name)
#endif
#ifndef WHOLE
#define WHOLE(OP, name)
#endif
#ifndef VALUE
#define VALUE(OP, name)
#endif
#ifndef TRUTH
#define TRUTH(OP, name)
#endif
#ifndef APART
#define APART(OP, name)
#endif

BASIC(ADD, add)
BASIC(MUL, mul)
BASIC(NEG, neg)
BASIC(RELU, relu)
NUMBER(SUB, sub)
FLOAT(DIV, div)
WHOLE(POW, pow)
VALUE(MAXIMUM, maximum)
VALUE(MINIMUM, minimum)
NUMBER(ABS, abs)
NUMBER(SIGN, sign)
CMATH(EXP, exp)
CMATH(LOG, log)
CMATH(LOG1P, log1p)
CMATH(SQRT, sqrt)
FLOAT(RSQRT, rsqrt)
FLOAT(RECIPROCAL, reciprocal)
CMATH(TANH, tanh)
FLOAT(SIGMOID, sigmoid)
FLOAT(GELU, gelu)
FLOAT(SILU, silu)
FLOAT(SOFTPLUS, softplus)
CMATH(SIN, sin)
CMATH(COS, cos)
CMATH(FLOOR, floor)
CMATH(CEIL, ceil)
FLOAT(ROUND, round)
CMATH(ERF, erf)
FLOAT(LEAKY_RELU, leaky_relu)
FLOAT(ELU, elu)
NUMBER(AFFINE, affine)
NUMBER(CLAMP, clamp)
TRUTH(EQ, eq)
TRUTH(NE, ne)
TRUTH(LT, lt)
TRUTH(LE, le)
TRUTH(GT, gt)
TRUTH(GE, ge)
TRUTH(LOGICAL_AND, logical_and)
TRUTH(LOGICAL_OR, logical_or)
TRUTH(LOGICAL_NOT, logical_not)
VALUE(WHERE, where)
FLOAT(LERP, lerp)
NUMBER(ADDCMUL, addcmul)
FLOAT(ADDCDIV, addcdiv)
VALUE(MASKED_FILL, masked_fill)
VALUE(FILL, fill)
APART(CAST, cast)
FLOAT(RELU_BACKWARD, relu_backward)
FLOAT(TANH_BACKWARD, tanh_backward)
FLOAT(SIGMOID_BACKWARD, sigmoid_backward)
FLOAT(SILU_BACKWARD, silu_backward)
FLOAT(GELU_BACKWARD, gelu_backward)
FLOAT(MISH, mish)
FLOAT(MISH_BACKWARD, mish_backward)
WHOLE(FLOOR_DIVIDE, floor_divide)
WHOLE(TRUNC_DIVIDE, trunc_divide)
WHOLE(REMAINDER, remainder)
WHOLE(FMOD, fmod)
CMATH(ATAN, atan)
CMATH(ASIN, asin)
CMATH(ACOS, acos)

#undef BASIC
#undef NUMBER
#undef FLOAT
#undef CMATH
#undef WHOLE
#undef VALUE
#undef TRUTH
#undef APART
