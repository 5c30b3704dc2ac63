/* SPDX-License-Identifier: Apache-2.0 */
/* pointwise_list.inc.h - the pointwise ops that compute, by their public numbers and names. NUMBER:
   of all number types; BASIC: the same, and of bool, where it is slow; FLOAT: of floating point
   types; WHOLE: the same, and of integers; VALUE: of all types, for it only chooses among values;
   TRUTH: of all types, and gives bool. Whoever includes it defines all six; they are undefined at
   the end. What an op computes stands in elementwise.inc.h, and once more, naively, in
   elementwise_reference.c. */

BASIC(ADD, add)
BASIC(MUL, mul)
BASIC(NEG, neg)
BASIC(RELU, relu)

NUMBER(SUB, sub)
NUMBER(ABS, abs)
NUMBER(SIGN, sign)
NUMBER(AFFINE, affine)
NUMBER(CLAMP, clamp)
NUMBER(ADDCMUL, addcmul)

WHOLE(POW, pow)
WHOLE(FLOOR_DIVIDE, floor_divide)
WHOLE(TRUNC_DIVIDE, trunc_divide)
WHOLE(REMAINDER, remainder)
WHOLE(FMOD, fmod)

FLOAT(DIV, div)
FLOAT(EXP, exp)
FLOAT(LOG, log)
FLOAT(LOG1P, log1p)
FLOAT(SQRT, sqrt)
FLOAT(RSQRT, rsqrt)
FLOAT(RECIPROCAL, reciprocal)
FLOAT(TANH, tanh)
FLOAT(SIGMOID, sigmoid)
FLOAT(GELU, gelu)
FLOAT(SILU, silu)
FLOAT(MISH, mish)
FLOAT(SOFTPLUS, softplus)
FLOAT(SIN, sin)
FLOAT(COS, cos)
FLOAT(FLOOR, floor)
FLOAT(CEIL, ceil)
FLOAT(ROUND, round)
FLOAT(ERF, erf)
FLOAT(LEAKY_RELU, leaky_relu)
FLOAT(ELU, elu)
FLOAT(LERP, lerp)
FLOAT(ADDCDIV, addcdiv)
FLOAT(RELU_BACKWARD, relu_backward)
FLOAT(TANH_BACKWARD, tanh_backward)
FLOAT(SIGMOID_BACKWARD, sigmoid_backward)
FLOAT(SILU_BACKWARD, silu_backward)
FLOAT(MISH_BACKWARD, mish_backward)
FLOAT(GELU_BACKWARD, gelu_backward)

VALUE(MAXIMUM, maximum)
VALUE(MINIMUM, minimum)
VALUE(WHERE, where)
VALUE(MASKED_FILL, masked_fill)
VALUE(FILL, fill)

TRUTH(EQ, eq)
TRUTH(NE, ne)
TRUTH(LT, lt)
TRUTH(LE, le)
TRUTH(GT, gt)
TRUTH(GE, ge)
TRUTH(LOGICAL_AND, logical_and)
TRUTH(LOGICAL_OR, logical_or)
TRUTH(LOGICAL_NOT, logical_not)

#undef BASIC
#undef NUMBER
#undef FLOAT
#undef WHOLE
#undef VALUE
#undef TRUTH
