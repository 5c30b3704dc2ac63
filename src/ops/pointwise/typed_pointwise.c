/* SPDX-License-Identifier: Apache-2.0 */
/* typed_pointwise.c - the pointwise functions of tessera_ops.h. */
#include "dispatch/dispatch.h"
#include "op/element_attr.h"
#include "tessera_ops.h"

static tsr_tensor *unary(const char *name, tsr_tensor *x, const tsr_attr *attrs)
{
    return tsr__dispatch_typed(name, &x, 1, attrs, NULL);
}

static tsr_tensor *binary(const char *name, tsr_tensor *a, tsr_tensor *b, const tsr_attr *attrs)
{
    return tsr__dispatch_typed(name, (tsr_tensor *[]){a, b}, 2, attrs, NULL);
}

static tsr_tensor *ternary(const char *name, tsr_tensor *a, tsr_tensor *b, tsr_tensor *c,
                           const tsr_attr *attrs)
{
    return tsr__dispatch_typed(name, (tsr_tensor *[]){a, b, c}, 3, attrs, NULL);
}

tsr_tensor *tsr_add(tsr_tensor *a, tsr_tensor *b)
{
    return binary("add", a, b, NULL);
}

tsr_tensor *tsr_add_inplace(tsr_tensor *a, tsr_tensor *b)
{
    return binary("add_inplace", a, b, NULL);
}

tsr_tensor *tsr_sub(tsr_tensor *a, tsr_tensor *b)
{
    return binary("sub", a, b, NULL);
}

tsr_tensor *tsr_sub_inplace(tsr_tensor *a, tsr_tensor *b)
{
    return binary("sub_inplace", a, b, NULL);
}

tsr_tensor *tsr_mul(tsr_tensor *a, tsr_tensor *b)
{
    return binary("mul", a, b, NULL);
}

tsr_tensor *tsr_mul_inplace(tsr_tensor *a, tsr_tensor *b)
{
    return binary("mul_inplace", a, b, NULL);
}

tsr_tensor *tsr_div(tsr_tensor *a, tsr_tensor *b)
{
    return binary("div", a, b, NULL);
}

tsr_tensor *tsr_div_inplace(tsr_tensor *a, tsr_tensor *b)
{
    return binary("div_inplace", a, b, NULL);
}

tsr_tensor *tsr_pow(tsr_tensor *a, tsr_tensor *b)
{
    return binary("pow", a, b, NULL);
}

tsr_tensor *tsr_floor_divide(tsr_tensor *a, tsr_tensor *b)
{
    return binary("floor_divide", a, b, NULL);
}

tsr_tensor *tsr_trunc_divide(tsr_tensor *a, tsr_tensor *b)
{
    return binary("trunc_divide", a, b, NULL);
}

tsr_tensor *tsr_remainder(tsr_tensor *a, tsr_tensor *b)
{
    return binary("remainder", a, b, NULL);
}

tsr_tensor *tsr_fmod(tsr_tensor *a, tsr_tensor *b)
{
    return binary("fmod", a, b, NULL);
}

tsr_tensor *tsr_maximum(tsr_tensor *a, tsr_tensor *b)
{
    return binary("maximum", a, b, NULL);
}

tsr_tensor *tsr_minimum(tsr_tensor *a, tsr_tensor *b)
{
    return binary("minimum", a, b, NULL);
}

tsr_tensor *tsr_neg(tsr_tensor *x)
{
    return unary("neg", x, NULL);
}

tsr_tensor *tsr_relu(tsr_tensor *x)
{
    return unary("relu", x, NULL);
}

tsr_tensor *tsr_abs(tsr_tensor *x)
{
    return unary("abs", x, NULL);
}

tsr_tensor *tsr_sign(tsr_tensor *x)
{
    return unary("sign", x, NULL);
}

tsr_tensor *tsr_exp(tsr_tensor *x)
{
    return unary("exp", x, NULL);
}

tsr_tensor *tsr_log(tsr_tensor *x)
{
    return unary("log", x, NULL);
}

tsr_tensor *tsr_log1p(tsr_tensor *x)
{
    return unary("log1p", x, NULL);
}

tsr_tensor *tsr_sqrt(tsr_tensor *x)
{
    return unary("sqrt", x, NULL);
}

tsr_tensor *tsr_sqrt_inplace(tsr_tensor *x)
{
    return unary("sqrt_inplace", x, NULL);
}

tsr_tensor *tsr_relu_inplace(tsr_tensor *x)
{
    return unary("relu_inplace", x, NULL);
}

tsr_tensor *tsr_rsqrt(tsr_tensor *x)
{
    return unary("rsqrt", x, NULL);
}

tsr_tensor *tsr_reciprocal(tsr_tensor *x)
{
    return unary("reciprocal", x, NULL);
}

tsr_tensor *tsr_tanh(tsr_tensor *x)
{
    return unary("tanh", x, NULL);
}

tsr_tensor *tsr_sigmoid(tsr_tensor *x)
{
    return unary("sigmoid", x, NULL);
}

tsr_tensor *tsr_silu(tsr_tensor *x)
{
    return unary("silu", x, NULL);
}

tsr_tensor *tsr_mish(tsr_tensor *x)
{
    return unary("mish", x, NULL);
}

tsr_tensor *tsr_softplus(tsr_tensor *x)
{
    return unary("softplus", x, NULL);
}

tsr_tensor *tsr_sin(tsr_tensor *x)
{
    return unary("sin", x, NULL);
}

tsr_tensor *tsr_cos(tsr_tensor *x)
{
    return unary("cos", x, NULL);
}

tsr_tensor *tsr_floor(tsr_tensor *x)
{
    return unary("floor", x, NULL);
}

tsr_tensor *tsr_ceil(tsr_tensor *x)
{
    return unary("ceil", x, NULL);
}

tsr_tensor *tsr_round(tsr_tensor *x)
{
    return unary("round", x, NULL);
}

tsr_tensor *tsr_erf(tsr_tensor *x)
{
    return unary("erf", x, NULL);
}

tsr_tensor *tsr_relu_backward(tsr_tensor *grad, tsr_tensor *y)
{
    return binary("relu_backward", grad, y, NULL);
}

tsr_tensor *tsr_tanh_backward(tsr_tensor *grad, tsr_tensor *y)
{
    return binary("tanh_backward", grad, y, NULL);
}

tsr_tensor *tsr_sigmoid_backward(tsr_tensor *grad, tsr_tensor *y)
{
    return binary("sigmoid_backward", grad, y, NULL);
}

tsr_tensor *tsr_silu_backward(tsr_tensor *grad, tsr_tensor *x)
{
    return binary("silu_backward", grad, x, NULL);
}

tsr_tensor *tsr_mish_backward(tsr_tensor *grad, tsr_tensor *x)
{
    return binary("mish_backward", grad, x, NULL);
}

tsr_tensor *tsr_gelu_backward(tsr_tensor *grad, tsr_tensor *x, bool by_tanh)
{
    return binary("gelu_backward", grad, x, &(tsr_attr){.n = 1, .i = {by_tanh}});
}

tsr_tensor *tsr_gelu(tsr_tensor *x, bool by_tanh)
{
    return unary("gelu", x, &(tsr_attr){.n = 1, .i = {by_tanh}});
}

tsr_tensor *tsr_leaky_relu(tsr_tensor *x, double negative_slope)
{
    return unary("leaky_relu", x, (const tsr_attr[]){tsr__number(negative_slope)});
}

tsr_tensor *tsr_elu(tsr_tensor *x, double alpha)
{
    return unary("elu", x, (const tsr_attr[]){tsr__number(alpha)});
}

tsr_tensor *tsr_affine(tsr_tensor *x, double mul, double add)
{
    return unary("affine", x, (const tsr_attr[]){tsr__element(mul), tsr__element(add)});
}

tsr_tensor *tsr_affine_inplace(tsr_tensor *x, double mul, double add)
{
    return unary("affine_inplace", x, (const tsr_attr[]){tsr__element(mul), tsr__element(add)});
}

tsr_tensor *tsr_clamp(tsr_tensor *x, double min, double max)
{
    return unary("clamp", x, (const tsr_attr[]){tsr__element(min), tsr__element(max)});
}

tsr_tensor *tsr_clamp_inplace(tsr_tensor *x, double min, double max)
{
    return unary("clamp_inplace", x, (const tsr_attr[]){tsr__element(min), tsr__element(max)});
}

tsr_tensor *tsr_fill(tsr_tensor *x, double value)
{
    return unary("fill", x, (const tsr_attr[]){tsr__element(value)});
}

tsr_tensor *tsr_fill_inplace(tsr_tensor *x, double value)
{
    return unary("fill_inplace", x, (const tsr_attr[]){tsr__element(value)});
}

tsr_tensor *tsr_cast(tsr_tensor *x, tsr_dtype dtype)
{
    return unary("cast", x, &(tsr_attr){.n = 1, .i = {(int)dtype}});
}

tsr_tensor *tsr_eq(tsr_tensor *a, tsr_tensor *b)
{
    return binary("eq", a, b, NULL);
}

tsr_tensor *tsr_ne(tsr_tensor *a, tsr_tensor *b)
{
    return binary("ne", a, b, NULL);
}

tsr_tensor *tsr_lt(tsr_tensor *a, tsr_tensor *b)
{
    return binary("lt", a, b, NULL);
}

tsr_tensor *tsr_le(tsr_tensor *a, tsr_tensor *b)
{
    return binary("le", a, b, NULL);
}

tsr_tensor *tsr_gt(tsr_tensor *a, tsr_tensor *b)
{
    return binary("gt", a, b, NULL);
}

tsr_tensor *tsr_ge(tsr_tensor *a, tsr_tensor *b)
{
    return binary("ge", a, b, NULL);
}

tsr_tensor *tsr_logical_and(tsr_tensor *a, tsr_tensor *b)
{
    return binary("logical_and", a, b, NULL);
}

tsr_tensor *tsr_logical_or(tsr_tensor *a, tsr_tensor *b)
{
    return binary("logical_or", a, b, NULL);
}

tsr_tensor *tsr_logical_not(tsr_tensor *x)
{
    return unary("logical_not", x, NULL);
}

tsr_tensor *tsr_where(tsr_tensor *cond, tsr_tensor *a, tsr_tensor *b)
{
    return ternary("where", cond, a, b, NULL);
}

tsr_tensor *tsr_masked_fill(tsr_tensor *x, tsr_tensor *mask, double value)
{
    return binary("masked_fill", x, mask, (const tsr_attr[]){tsr__element(value)});
}

tsr_tensor *tsr_masked_fill_inplace(tsr_tensor *x, tsr_tensor *mask, double value)
{
    return binary("masked_fill_inplace", x, mask, (const tsr_attr[]){tsr__element(value)});
}

/* The rows would take the number that lerp_by gives them. */
static tsr_tensor *no_weight(const char *name, tsr_tensor *a, tsr_tensor *b)
{
    return tsr__typed_refuse((tsr_tensor *[]){a, b}, 2, NULL, "%s: weight is NULL", name);
}

tsr_tensor *tsr_lerp(tsr_tensor *a, tsr_tensor *b, tsr_tensor *weight)
{
    return weight ? ternary("lerp", a, b, weight, NULL) : no_weight("lerp", a, b);
}

tsr_tensor *tsr_lerp_inplace(tsr_tensor *a, tsr_tensor *b, tsr_tensor *weight)
{
    return weight ? ternary("lerp_inplace", a, b, weight, NULL) : no_weight("lerp_inplace", a, b);
}

tsr_tensor *tsr_lerp_by(tsr_tensor *a, tsr_tensor *b, double weight)
{
    return ternary("lerp", a, b, NULL, (const tsr_attr[]){tsr__number(weight)});
}

tsr_tensor *tsr_lerp_by_inplace(tsr_tensor *a, tsr_tensor *b, double weight)
{
    return ternary("lerp_inplace", a, b, NULL, (const tsr_attr[]){tsr__number(weight)});
}

tsr_tensor *tsr_addcmul(tsr_tensor *x, tsr_tensor *a, tsr_tensor *b, double value)
{
    return ternary("addcmul", x, a, b, (const tsr_attr[]){tsr__element(value)});
}

tsr_tensor *tsr_addcmul_inplace(tsr_tensor *x, tsr_tensor *a, tsr_tensor *b, double value)
{
    return ternary("addcmul_inplace", x, a, b, (const tsr_attr[]){tsr__element(value)});
}

tsr_tensor *tsr_addcdiv(tsr_tensor *x, tsr_tensor *a, tsr_tensor *b, double value)
{
    return ternary("addcdiv", x, a, b, (const tsr_attr[]){tsr__element(value)});
}

tsr_tensor *tsr_addcdiv_inplace(tsr_tensor *x, tsr_tensor *a, tsr_tensor *b, double value)
{
    return ternary("addcdiv_inplace", x, a, b, (const tsr_attr[]){tsr__element(value)});
}
