/* SPDX-License-Identifier: Apache-2.0 */
/* pointwise_functions.c - printed by make ops from the rows: functions of
   tessera_ops.h that hand their arguments to dispatch. */
#include "dispatch/typed_attr.h"
#include "op/element_attr.h"
#include "ops/op_ids.h"
#include "tessera_ops.h"

tsr_tensor *tsr_add(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed(TSR_ID_ADD, (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_sub(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed(TSR_ID_SUB, (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_mul(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed(TSR_ID_MUL, (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_div(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed(TSR_ID_DIV, (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_pow(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed(TSR_ID_POW, (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_floor_divide(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed(TSR_ID_FLOOR_DIVIDE, (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_trunc_divide(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed(TSR_ID_TRUNC_DIVIDE, (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_remainder(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed(TSR_ID_REMAINDER, (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_fmod(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed(TSR_ID_FMOD, (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_maximum(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed(TSR_ID_MAXIMUM, (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_minimum(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed(TSR_ID_MINIMUM, (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_neg(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_NEG, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_abs(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_ABS, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_sign(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_SIGN, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_relu(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_RELU, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_exp(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_EXP, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_log(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_LOG, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_log1p(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_LOG1P, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_sqrt(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_SQRT, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_rsqrt(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_RSQRT, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_reciprocal(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_RECIPROCAL, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_tanh(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_TANH, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_sigmoid(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_SIGMOID, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_gelu(tsr_tensor *x, bool by_tanh)
{
    const tsr_attr attrs[] = {typed_int(by_tanh)};

    return tsr__dispatch_typed(TSR_ID_GELU, &x, 1, attrs, NULL);
}

tsr_tensor *tsr_silu(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_SILU, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_mish(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_MISH, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_softplus(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_SOFTPLUS, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_sin(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_SIN, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_cos(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_COS, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_asin(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_ASIN, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_acos(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_ACOS, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_atan(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_ATAN, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_floor(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_FLOOR, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_ceil(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_CEIL, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_round(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_ROUND, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_erf(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_ERF, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_leaky_relu(tsr_tensor *x, double negative_slope)
{
    const tsr_attr attrs[] = {tsr__number(negative_slope)};

    return tsr__dispatch_typed(TSR_ID_LEAKY_RELU, &x, 1, attrs, NULL);
}

tsr_tensor *tsr_elu(tsr_tensor *x, double alpha)
{
    const tsr_attr attrs[] = {tsr__number(alpha)};

    return tsr__dispatch_typed(TSR_ID_ELU, &x, 1, attrs, NULL);
}

tsr_tensor *tsr_affine(tsr_tensor *x, double mul, double add)
{
    const tsr_attr attrs[] = {tsr__element(mul), tsr__element(add)};

    return tsr__dispatch_typed(TSR_ID_AFFINE, &x, 1, attrs, NULL);
}

tsr_tensor *tsr_clamp(tsr_tensor *x, double min, double max)
{
    const tsr_attr attrs[] = {tsr__element(min), tsr__element(max)};

    return tsr__dispatch_typed(TSR_ID_CLAMP, &x, 1, attrs, NULL);
}

tsr_tensor *tsr_fill(tsr_tensor *x, double value)
{
    const tsr_attr attrs[] = {tsr__element(value)};

    return tsr__dispatch_typed(TSR_ID_FILL, &x, 1, attrs, NULL);
}

tsr_tensor *tsr_masked_fill(tsr_tensor *x, tsr_tensor *mask, double value)
{
    const tsr_attr attrs[] = {tsr__element(value)};

    return tsr__dispatch_typed(TSR_ID_MASKED_FILL, (tsr_tensor *[]){x, mask}, 2, attrs, NULL);
}

tsr_tensor *tsr_addcmul(tsr_tensor *x, tsr_tensor *a, tsr_tensor *b, double value)
{
    const tsr_attr attrs[] = {tsr__element(value)};

    return tsr__dispatch_typed(TSR_ID_ADDCMUL, (tsr_tensor *[]){x, a, b}, 3, attrs, NULL);
}

tsr_tensor *tsr_addcdiv(tsr_tensor *x, tsr_tensor *a, tsr_tensor *b, double value)
{
    const tsr_attr attrs[] = {tsr__element(value)};

    return tsr__dispatch_typed(TSR_ID_ADDCDIV, (tsr_tensor *[]){x, a, b}, 3, attrs, NULL);
}

tsr_tensor *tsr_relu_backward(tsr_tensor *grad, tsr_tensor *y)
{
    return tsr__dispatch_typed(TSR_ID_RELU_BACKWARD, (tsr_tensor *[]){grad, y}, 2, NULL, NULL);
}

tsr_tensor *tsr_tanh_backward(tsr_tensor *grad, tsr_tensor *y)
{
    return tsr__dispatch_typed(TSR_ID_TANH_BACKWARD, (tsr_tensor *[]){grad, y}, 2, NULL, NULL);
}

tsr_tensor *tsr_sigmoid_backward(tsr_tensor *grad, tsr_tensor *y)
{
    return tsr__dispatch_typed(TSR_ID_SIGMOID_BACKWARD, (tsr_tensor *[]){grad, y}, 2, NULL, NULL);
}

tsr_tensor *tsr_silu_backward(tsr_tensor *grad, tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_SILU_BACKWARD, (tsr_tensor *[]){grad, x}, 2, NULL, NULL);
}

tsr_tensor *tsr_mish_backward(tsr_tensor *grad, tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_MISH_BACKWARD, (tsr_tensor *[]){grad, x}, 2, NULL, NULL);
}

tsr_tensor *tsr_gelu_backward(tsr_tensor *grad, tsr_tensor *x, bool by_tanh)
{
    const tsr_attr attrs[] = {typed_int(by_tanh)};

    return tsr__dispatch_typed(TSR_ID_GELU_BACKWARD, (tsr_tensor *[]){grad, x}, 2, attrs, NULL);
}

tsr_tensor *tsr_eq(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed(TSR_ID_EQ, (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_ne(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed(TSR_ID_NE, (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_lt(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed(TSR_ID_LT, (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_le(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed(TSR_ID_LE, (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_gt(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed(TSR_ID_GT, (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_ge(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed(TSR_ID_GE, (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_logical_and(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed(TSR_ID_LOGICAL_AND, (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_logical_or(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed(TSR_ID_LOGICAL_OR, (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_logical_not(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_LOGICAL_NOT, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_where(tsr_tensor *cond, tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed(TSR_ID_WHERE, (tsr_tensor *[]){cond, a, b}, 3, NULL, NULL);
}

tsr_tensor *tsr_cast(tsr_tensor *x, tsr_dtype dtype)
{
    const tsr_attr attrs[] = {typed_dtype(dtype)};

    return tsr__dispatch_typed(TSR_ID_CAST, &x, 1, attrs, NULL);
}

tsr_tensor *tsr_square(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_SQUARE, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_tan(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_TAN, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_sinh(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_SINH, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_cosh(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_COSH, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_asinh(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_ASINH, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_acosh(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_ACOSH, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_atanh(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_ATANH, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_log2(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_LOG2, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_log10(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_LOG10, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_logsigmoid(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_LOGSIGMOID, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_softsign(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_SOFTSIGN, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_tanhshrink(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_TANHSHRINK, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_relu6(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_RELU6, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_hardsigmoid(tsr_tensor *x, double alpha, double beta)
{
    const tsr_attr attrs[] = {tsr__number(alpha), tsr__number(beta)};

    return tsr__dispatch_typed(TSR_ID_HARDSIGMOID, &x, 1, attrs, NULL);
}

tsr_tensor *tsr_hardswish(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_HARDSWISH, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_selu(tsr_tensor *x, double alpha, double scale)
{
    const tsr_attr attrs[] = {tsr__number(alpha), tsr__number(scale)};

    return tsr__dispatch_typed(TSR_ID_SELU, &x, 1, attrs, NULL);
}

tsr_tensor *tsr_celu(tsr_tensor *x, double alpha)
{
    const tsr_attr attrs[] = {tsr__number(alpha)};

    return tsr__dispatch_typed(TSR_ID_CELU, &x, 1, attrs, NULL);
}

tsr_tensor *tsr_prelu(tsr_tensor *x, tsr_tensor *weight)
{
    return tsr__dispatch_typed(TSR_ID_PRELU, (tsr_tensor *[]){x, weight}, 2, NULL, NULL);
}

tsr_tensor *tsr_threshold(tsr_tensor *x, double threshold, double value)
{
    const tsr_attr attrs[] = {tsr__element(threshold), tsr__element(value)};

    return tsr__dispatch_typed(TSR_ID_THRESHOLD, &x, 1, attrs, NULL);
}

tsr_tensor *tsr_hardshrink(tsr_tensor *x, double lambd)
{
    const tsr_attr attrs[] = {tsr__element(lambd)};

    return tsr__dispatch_typed(TSR_ID_HARDSHRINK, &x, 1, attrs, NULL);
}

tsr_tensor *tsr_softshrink(tsr_tensor *x, double lambd)
{
    const tsr_attr attrs[] = {tsr__element(lambd)};

    return tsr__dispatch_typed(TSR_ID_SOFTSHRINK, &x, 1, attrs, NULL);
}

tsr_tensor *tsr_trunc(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_TRUNC, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_logical_xor(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed(TSR_ID_LOGICAL_XOR, (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_isnan(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_ISNAN, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_isinf(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_ISINF, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_isposinf(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_ISPOSINF, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_isneginf(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_ISNEGINF, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_add_inplace(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed(TSR_ID_ADD_INPLACE, (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_sub_inplace(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed(TSR_ID_SUB_INPLACE, (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_mul_inplace(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed(TSR_ID_MUL_INPLACE, (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_div_inplace(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed(TSR_ID_DIV_INPLACE, (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_pow_inplace(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed(TSR_ID_POW_INPLACE, (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_floor_divide_inplace(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed(TSR_ID_FLOOR_DIVIDE_INPLACE, (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_trunc_divide_inplace(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed(TSR_ID_TRUNC_DIVIDE_INPLACE, (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_remainder_inplace(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed(TSR_ID_REMAINDER_INPLACE, (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_fmod_inplace(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed(TSR_ID_FMOD_INPLACE, (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_maximum_inplace(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed(TSR_ID_MAXIMUM_INPLACE, (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_minimum_inplace(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed(TSR_ID_MINIMUM_INPLACE, (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_neg_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_NEG_INPLACE, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_abs_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_ABS_INPLACE, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_sign_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_SIGN_INPLACE, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_relu_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_RELU_INPLACE, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_exp_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_EXP_INPLACE, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_log_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_LOG_INPLACE, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_log1p_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_LOG1P_INPLACE, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_sqrt_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_SQRT_INPLACE, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_rsqrt_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_RSQRT_INPLACE, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_reciprocal_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_RECIPROCAL_INPLACE, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_tanh_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_TANH_INPLACE, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_sigmoid_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_SIGMOID_INPLACE, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_gelu_inplace(tsr_tensor *x, bool by_tanh)
{
    const tsr_attr attrs[] = {typed_int(by_tanh)};

    return tsr__dispatch_typed(TSR_ID_GELU_INPLACE, &x, 1, attrs, NULL);
}

tsr_tensor *tsr_silu_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_SILU_INPLACE, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_mish_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_MISH_INPLACE, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_softplus_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_SOFTPLUS_INPLACE, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_sin_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_SIN_INPLACE, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_cos_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_COS_INPLACE, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_asin_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_ASIN_INPLACE, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_acos_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_ACOS_INPLACE, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_atan_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_ATAN_INPLACE, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_floor_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_FLOOR_INPLACE, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_ceil_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_CEIL_INPLACE, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_round_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_ROUND_INPLACE, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_erf_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed(TSR_ID_ERF_INPLACE, &x, 1, NULL, NULL);
}

tsr_tensor *tsr_leaky_relu_inplace(tsr_tensor *x, double negative_slope)
{
    const tsr_attr attrs[] = {tsr__number(negative_slope)};

    return tsr__dispatch_typed(TSR_ID_LEAKY_RELU_INPLACE, &x, 1, attrs, NULL);
}

tsr_tensor *tsr_elu_inplace(tsr_tensor *x, double alpha)
{
    const tsr_attr attrs[] = {tsr__number(alpha)};

    return tsr__dispatch_typed(TSR_ID_ELU_INPLACE, &x, 1, attrs, NULL);
}

tsr_tensor *tsr_affine_inplace(tsr_tensor *x, double mul, double add)
{
    const tsr_attr attrs[] = {tsr__element(mul), tsr__element(add)};

    return tsr__dispatch_typed(TSR_ID_AFFINE_INPLACE, &x, 1, attrs, NULL);
}

tsr_tensor *tsr_clamp_inplace(tsr_tensor *x, double min, double max)
{
    const tsr_attr attrs[] = {tsr__element(min), tsr__element(max)};

    return tsr__dispatch_typed(TSR_ID_CLAMP_INPLACE, &x, 1, attrs, NULL);
}

tsr_tensor *tsr_fill_inplace(tsr_tensor *x, double value)
{
    const tsr_attr attrs[] = {tsr__element(value)};

    return tsr__dispatch_typed(TSR_ID_FILL_INPLACE, &x, 1, attrs, NULL);
}

tsr_tensor *tsr_masked_fill_inplace(tsr_tensor *x, tsr_tensor *mask, double value)
{
    const tsr_attr attrs[] = {tsr__element(value)};

    return tsr__dispatch_typed(TSR_ID_MASKED_FILL_INPLACE, (tsr_tensor *[]){x, mask}, 2, attrs,
                               NULL);
}

tsr_tensor *tsr_addcmul_inplace(tsr_tensor *x, tsr_tensor *a, tsr_tensor *b, double value)
{
    const tsr_attr attrs[] = {tsr__element(value)};

    return tsr__dispatch_typed(TSR_ID_ADDCMUL_INPLACE, (tsr_tensor *[]){x, a, b}, 3, attrs, NULL);
}

tsr_tensor *tsr_addcdiv_inplace(tsr_tensor *x, tsr_tensor *a, tsr_tensor *b, double value)
{
    const tsr_attr attrs[] = {tsr__element(value)};

    return tsr__dispatch_typed(TSR_ID_ADDCDIV_INPLACE, (tsr_tensor *[]){x, a, b}, 3, attrs, NULL);
}
