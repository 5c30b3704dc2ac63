/* SPDX-License-Identifier: Apache-2.0 */
/* pointwise_functions.c - printed by make ops from the rows: functions of
   tessera_ops.h that hand their arguments to dispatch. */
#include "dispatch/typed_attr.h"
#include "op/element_attr.h"
#include "tessera_ops.h"

tsr_tensor *tsr_add(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed("add", (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_sub(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed("sub", (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_mul(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed("mul", (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_div(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed("div", (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_pow(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed("pow", (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_floor_divide(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed("floor_divide", (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_trunc_divide(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed("trunc_divide", (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_remainder(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed("remainder", (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_fmod(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed("fmod", (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_maximum(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed("maximum", (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_minimum(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed("minimum", (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_neg(tsr_tensor *x)
{
    return tsr__dispatch_typed("neg", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_abs(tsr_tensor *x)
{
    return tsr__dispatch_typed("abs", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_sign(tsr_tensor *x)
{
    return tsr__dispatch_typed("sign", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_relu(tsr_tensor *x)
{
    return tsr__dispatch_typed("relu", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_exp(tsr_tensor *x)
{
    return tsr__dispatch_typed("exp", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_log(tsr_tensor *x)
{
    return tsr__dispatch_typed("log", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_log1p(tsr_tensor *x)
{
    return tsr__dispatch_typed("log1p", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_sqrt(tsr_tensor *x)
{
    return tsr__dispatch_typed("sqrt", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_rsqrt(tsr_tensor *x)
{
    return tsr__dispatch_typed("rsqrt", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_reciprocal(tsr_tensor *x)
{
    return tsr__dispatch_typed("reciprocal", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_tanh(tsr_tensor *x)
{
    return tsr__dispatch_typed("tanh", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_sigmoid(tsr_tensor *x)
{
    return tsr__dispatch_typed("sigmoid", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_gelu(tsr_tensor *x, bool by_tanh)
{
    const tsr_attr attrs[] = {typed_int(by_tanh)};

    return tsr__dispatch_typed("gelu", &x, 1, attrs, NULL);
}

tsr_tensor *tsr_silu(tsr_tensor *x)
{
    return tsr__dispatch_typed("silu", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_mish(tsr_tensor *x)
{
    return tsr__dispatch_typed("mish", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_softplus(tsr_tensor *x)
{
    return tsr__dispatch_typed("softplus", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_sin(tsr_tensor *x)
{
    return tsr__dispatch_typed("sin", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_cos(tsr_tensor *x)
{
    return tsr__dispatch_typed("cos", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_floor(tsr_tensor *x)
{
    return tsr__dispatch_typed("floor", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_ceil(tsr_tensor *x)
{
    return tsr__dispatch_typed("ceil", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_round(tsr_tensor *x)
{
    return tsr__dispatch_typed("round", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_erf(tsr_tensor *x)
{
    return tsr__dispatch_typed("erf", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_leaky_relu(tsr_tensor *x, double negative_slope)
{
    const tsr_attr attrs[] = {tsr__number(negative_slope)};

    return tsr__dispatch_typed("leaky_relu", &x, 1, attrs, NULL);
}

tsr_tensor *tsr_elu(tsr_tensor *x, double alpha)
{
    const tsr_attr attrs[] = {tsr__number(alpha)};

    return tsr__dispatch_typed("elu", &x, 1, attrs, NULL);
}

tsr_tensor *tsr_affine(tsr_tensor *x, double mul, double add)
{
    const tsr_attr attrs[] = {tsr__element(mul), tsr__element(add)};

    return tsr__dispatch_typed("affine", &x, 1, attrs, NULL);
}

tsr_tensor *tsr_clamp(tsr_tensor *x, double min, double max)
{
    const tsr_attr attrs[] = {tsr__element(min), tsr__element(max)};

    return tsr__dispatch_typed("clamp", &x, 1, attrs, NULL);
}

tsr_tensor *tsr_fill(tsr_tensor *x, double value)
{
    const tsr_attr attrs[] = {tsr__element(value)};

    return tsr__dispatch_typed("fill", &x, 1, attrs, NULL);
}

tsr_tensor *tsr_masked_fill(tsr_tensor *x, tsr_tensor *mask, double value)
{
    const tsr_attr attrs[] = {tsr__element(value)};

    return tsr__dispatch_typed("masked_fill", (tsr_tensor *[]){x, mask}, 2, attrs, NULL);
}

tsr_tensor *tsr_addcmul(tsr_tensor *x, tsr_tensor *a, tsr_tensor *b, double value)
{
    const tsr_attr attrs[] = {tsr__element(value)};

    return tsr__dispatch_typed("addcmul", (tsr_tensor *[]){x, a, b}, 3, attrs, NULL);
}

tsr_tensor *tsr_addcdiv(tsr_tensor *x, tsr_tensor *a, tsr_tensor *b, double value)
{
    const tsr_attr attrs[] = {tsr__element(value)};

    return tsr__dispatch_typed("addcdiv", (tsr_tensor *[]){x, a, b}, 3, attrs, NULL);
}

tsr_tensor *tsr_relu_backward(tsr_tensor *grad, tsr_tensor *y)
{
    return tsr__dispatch_typed("relu_backward", (tsr_tensor *[]){grad, y}, 2, NULL, NULL);
}

tsr_tensor *tsr_tanh_backward(tsr_tensor *grad, tsr_tensor *y)
{
    return tsr__dispatch_typed("tanh_backward", (tsr_tensor *[]){grad, y}, 2, NULL, NULL);
}

tsr_tensor *tsr_sigmoid_backward(tsr_tensor *grad, tsr_tensor *y)
{
    return tsr__dispatch_typed("sigmoid_backward", (tsr_tensor *[]){grad, y}, 2, NULL, NULL);
}

tsr_tensor *tsr_silu_backward(tsr_tensor *grad, tsr_tensor *x)
{
    return tsr__dispatch_typed("silu_backward", (tsr_tensor *[]){grad, x}, 2, NULL, NULL);
}

tsr_tensor *tsr_mish_backward(tsr_tensor *grad, tsr_tensor *x)
{
    return tsr__dispatch_typed("mish_backward", (tsr_tensor *[]){grad, x}, 2, NULL, NULL);
}

tsr_tensor *tsr_gelu_backward(tsr_tensor *grad, tsr_tensor *x, bool by_tanh)
{
    const tsr_attr attrs[] = {typed_int(by_tanh)};

    return tsr__dispatch_typed("gelu_backward", (tsr_tensor *[]){grad, x}, 2, attrs, NULL);
}

tsr_tensor *tsr_eq(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed("eq", (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_ne(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed("ne", (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_lt(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed("lt", (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_le(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed("le", (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_gt(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed("gt", (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_ge(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed("ge", (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_logical_and(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed("logical_and", (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_logical_or(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed("logical_or", (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_logical_not(tsr_tensor *x)
{
    return tsr__dispatch_typed("logical_not", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_where(tsr_tensor *cond, tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed("where", (tsr_tensor *[]){cond, a, b}, 3, NULL, NULL);
}

tsr_tensor *tsr_cast(tsr_tensor *x, tsr_dtype dtype)
{
    const tsr_attr attrs[] = {typed_dtype(dtype)};

    return tsr__dispatch_typed("cast", &x, 1, attrs, NULL);
}

tsr_tensor *tsr_square(tsr_tensor *x)
{
    return tsr__dispatch_typed("square", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_tan(tsr_tensor *x)
{
    return tsr__dispatch_typed("tan", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_sinh(tsr_tensor *x)
{
    return tsr__dispatch_typed("sinh", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_cosh(tsr_tensor *x)
{
    return tsr__dispatch_typed("cosh", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_asinh(tsr_tensor *x)
{
    return tsr__dispatch_typed("asinh", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_acosh(tsr_tensor *x)
{
    return tsr__dispatch_typed("acosh", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_atanh(tsr_tensor *x)
{
    return tsr__dispatch_typed("atanh", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_log2(tsr_tensor *x)
{
    return tsr__dispatch_typed("log2", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_log10(tsr_tensor *x)
{
    return tsr__dispatch_typed("log10", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_logsigmoid(tsr_tensor *x)
{
    return tsr__dispatch_typed("logsigmoid", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_softsign(tsr_tensor *x)
{
    return tsr__dispatch_typed("softsign", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_tanhshrink(tsr_tensor *x)
{
    return tsr__dispatch_typed("tanhshrink", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_relu6(tsr_tensor *x)
{
    return tsr__dispatch_typed("relu6", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_hardsigmoid(tsr_tensor *x, double alpha, double beta)
{
    const tsr_attr attrs[] = {tsr__number(alpha), tsr__number(beta)};

    return tsr__dispatch_typed("hardsigmoid", &x, 1, attrs, NULL);
}

tsr_tensor *tsr_hardswish(tsr_tensor *x)
{
    return tsr__dispatch_typed("hardswish", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_selu(tsr_tensor *x, double alpha, double scale)
{
    const tsr_attr attrs[] = {tsr__number(alpha), tsr__number(scale)};

    return tsr__dispatch_typed("selu", &x, 1, attrs, NULL);
}

tsr_tensor *tsr_celu(tsr_tensor *x, double alpha)
{
    const tsr_attr attrs[] = {tsr__number(alpha)};

    return tsr__dispatch_typed("celu", &x, 1, attrs, NULL);
}

tsr_tensor *tsr_prelu(tsr_tensor *x, tsr_tensor *weight)
{
    return tsr__dispatch_typed("prelu", (tsr_tensor *[]){x, weight}, 2, NULL, NULL);
}

tsr_tensor *tsr_threshold(tsr_tensor *x, double threshold, double value)
{
    const tsr_attr attrs[] = {tsr__element(threshold), tsr__element(value)};

    return tsr__dispatch_typed("threshold", &x, 1, attrs, NULL);
}

tsr_tensor *tsr_hardshrink(tsr_tensor *x, double lambd)
{
    const tsr_attr attrs[] = {tsr__element(lambd)};

    return tsr__dispatch_typed("hardshrink", &x, 1, attrs, NULL);
}

tsr_tensor *tsr_softshrink(tsr_tensor *x, double lambd)
{
    const tsr_attr attrs[] = {tsr__element(lambd)};

    return tsr__dispatch_typed("softshrink", &x, 1, attrs, NULL);
}

tsr_tensor *tsr_trunc(tsr_tensor *x)
{
    return tsr__dispatch_typed("trunc", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_logical_xor(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed("logical_xor", (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_isnan(tsr_tensor *x)
{
    return tsr__dispatch_typed("isnan", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_isinf(tsr_tensor *x)
{
    return tsr__dispatch_typed("isinf", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_isposinf(tsr_tensor *x)
{
    return tsr__dispatch_typed("isposinf", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_isneginf(tsr_tensor *x)
{
    return tsr__dispatch_typed("isneginf", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_add_inplace(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed("add_inplace", (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_sub_inplace(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed("sub_inplace", (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_mul_inplace(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed("mul_inplace", (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_div_inplace(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed("div_inplace", (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_pow_inplace(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed("pow_inplace", (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_floor_divide_inplace(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed("floor_divide_inplace", (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_trunc_divide_inplace(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed("trunc_divide_inplace", (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_remainder_inplace(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed("remainder_inplace", (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_fmod_inplace(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed("fmod_inplace", (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_maximum_inplace(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed("maximum_inplace", (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_minimum_inplace(tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed("minimum_inplace", (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_neg_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed("neg_inplace", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_abs_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed("abs_inplace", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_sign_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed("sign_inplace", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_relu_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed("relu_inplace", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_exp_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed("exp_inplace", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_log_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed("log_inplace", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_log1p_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed("log1p_inplace", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_sqrt_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed("sqrt_inplace", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_rsqrt_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed("rsqrt_inplace", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_reciprocal_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed("reciprocal_inplace", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_tanh_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed("tanh_inplace", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_sigmoid_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed("sigmoid_inplace", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_gelu_inplace(tsr_tensor *x, bool by_tanh)
{
    const tsr_attr attrs[] = {typed_int(by_tanh)};

    return tsr__dispatch_typed("gelu_inplace", &x, 1, attrs, NULL);
}

tsr_tensor *tsr_silu_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed("silu_inplace", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_mish_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed("mish_inplace", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_softplus_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed("softplus_inplace", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_sin_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed("sin_inplace", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_cos_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed("cos_inplace", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_floor_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed("floor_inplace", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_ceil_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed("ceil_inplace", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_round_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed("round_inplace", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_erf_inplace(tsr_tensor *x)
{
    return tsr__dispatch_typed("erf_inplace", &x, 1, NULL, NULL);
}

tsr_tensor *tsr_leaky_relu_inplace(tsr_tensor *x, double negative_slope)
{
    const tsr_attr attrs[] = {tsr__number(negative_slope)};

    return tsr__dispatch_typed("leaky_relu_inplace", &x, 1, attrs, NULL);
}

tsr_tensor *tsr_elu_inplace(tsr_tensor *x, double alpha)
{
    const tsr_attr attrs[] = {tsr__number(alpha)};

    return tsr__dispatch_typed("elu_inplace", &x, 1, attrs, NULL);
}

tsr_tensor *tsr_affine_inplace(tsr_tensor *x, double mul, double add)
{
    const tsr_attr attrs[] = {tsr__element(mul), tsr__element(add)};

    return tsr__dispatch_typed("affine_inplace", &x, 1, attrs, NULL);
}

tsr_tensor *tsr_clamp_inplace(tsr_tensor *x, double min, double max)
{
    const tsr_attr attrs[] = {tsr__element(min), tsr__element(max)};

    return tsr__dispatch_typed("clamp_inplace", &x, 1, attrs, NULL);
}

tsr_tensor *tsr_fill_inplace(tsr_tensor *x, double value)
{
    const tsr_attr attrs[] = {tsr__element(value)};

    return tsr__dispatch_typed("fill_inplace", &x, 1, attrs, NULL);
}

tsr_tensor *tsr_masked_fill_inplace(tsr_tensor *x, tsr_tensor *mask, double value)
{
    const tsr_attr attrs[] = {tsr__element(value)};

    return tsr__dispatch_typed("masked_fill_inplace", (tsr_tensor *[]){x, mask}, 2, attrs, NULL);
}

tsr_tensor *tsr_addcmul_inplace(tsr_tensor *x, tsr_tensor *a, tsr_tensor *b, double value)
{
    const tsr_attr attrs[] = {tsr__element(value)};

    return tsr__dispatch_typed("addcmul_inplace", (tsr_tensor *[]){x, a, b}, 3, attrs, NULL);
}

tsr_tensor *tsr_addcdiv_inplace(tsr_tensor *x, tsr_tensor *a, tsr_tensor *b, double value)
{
    const tsr_attr attrs[] = {tsr__element(value)};

    return tsr__dispatch_typed("addcdiv_inplace", (tsr_tensor *[]){x, a, b}, 3, attrs, NULL);
}
