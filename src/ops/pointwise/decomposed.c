/* SPDX-License-Identifier: Apache-2.0 */
/* decomposed.c - composite ops, given as expressions of others: shapes, sharding and gradients
   follow from these. */
#include "ops/pointwise/pointwise_ops.h"

static const char *const unary_cases[] = {
    "f64[8]", "f64[7]", "f64[4,6]", "f64[5,3]", NULL,
};
static const char *const positive_cases[] = {
    "f64[8]+", "f64[7]+", "f64[4,6]+", "f64[5,3]+", NULL,
};
static const char *const binary_cases[] = {
    "f64[4,6] f64[4,6]", "f64[5,3] f64[5,3]", "f64[4,6] f64[6]", "f64[5,3] f64[5,1]", NULL,
};
static const char *const hardsigmoid_cases[] = {
    "f64[8]", "f64[7]", "f64[4,6] alpha=0.2 beta=0.25", "f64[5,3] alpha=0.2 beta=0.25", NULL,
};
static const char *const selu_cases[] = {
    "f64[8]", "f64[7]", "f64[4,6] alpha=2 scale=0.5", "f64[5,3] alpha=2 scale=0.5", NULL,
};
static const char *const alpha_cases[] = {
    "f64[8]", "f64[7]", "f64[4,6] alpha=0.5", "f64[5,3] alpha=0.5", NULL,
};
static const char *const threshold_cases[] = {
    "f64[8]", "f64[7]", "f64[4,6] threshold=0.25 value=-3", "f64[5,3] threshold=0.25 value=-3",
    NULL,
};
static const char *const shrink_cases[] = {
    "f64[8]", "f64[7]", "f64[4,6] lambd=0.25", "f64[5,3] lambd=0.25", NULL,
};

/* What rows have in common. */
#define OF_X(tries) .inputs = "x", .cases = tries

const tsr_op tsr__ops_decomposed[] = {
    {OF_X(unary_cases), .name = "square", .doc = "Computes x times x.", .expr = "mul(x, x)"},
    {OF_X(unary_cases), .name = "tan", .doc = "Computes the tangent.",
     .expr = "div(sin(x), cos(x))"},
    {OF_X(unary_cases), .name = "sinh", .doc = "Computes the hyperbolic sine.",
     /* by e^x little would be left near 0 */
     .expr = "mul(tanh(x), cosh(x))", .grad_expr = "x: mul(g, cosh(x))"},
    {OF_X(unary_cases), .name = "cosh", .doc = "Computes the hyperbolic cosine.",
     /* 2 cosh(x / 2)^2 - 1: e^x is infinite before its half is */
     .expr = "affine(square(affine(add(exp(affine(x, mul=0.5)), exp(affine(x, mul=-0.5))), "
             "mul=0.5)), mul=2, add=-1)"},
    {OF_X(unary_cases), .name = "asinh", .doc = "Computes the inverse hyperbolic sine.",
     /* log(1 + a) + log(1 + 1 / ((1/a + 1) (1/a + sqrt(1/a^2 + 1)))) for a = |x|: near 0 as exact
        as far from it, and nothing is larger than a */
     .expr = "mul(sign(x), add(log1p(abs(x)), log1p(reciprocal(mul("
             "affine(reciprocal(abs(x)), add=1), add(reciprocal(abs(x)), "
             "sqrt(affine(square(reciprocal(abs(x))), add=1))))))))",
     /* 1 / sqrt(x^2 + 1), by the larger of |x| and 1 and the smaller divided by that */
     .grad_expr = "x: mul(g, mul(reciprocal(clamp(abs(x), min=1)), rsqrt(affine(square("
                  "div(clamp(abs(x), max=1), clamp(abs(x), min=1))), add=1))))"},
    {OF_X(positive_cases), .name = "acosh",
     .doc = "Computes the inverse hyperbolic cosine; NaN below 1.",
     /* 2 asinh(sqrt((x - 1) / 2)): exact near 1, and nothing is larger than x */
     .expr = "affine(asinh(sqrt(affine(x, mul=0.5, add=-0.5))), mul=2)",
     /* 1 / sqrt(x^2 - 1), by the factors of that */
     .grad_expr = "x: mul(g, mul(rsqrt(affine(x, add=-1)), rsqrt(affine(x, add=1))))"},
    {OF_X(unary_cases), .name = "atanh",
     .doc = "Computes the inverse hyperbolic tangent; NaN outside [-1, 1].",
     .expr = "affine(sub(log1p(x), log1p(neg(x))), mul=0.5)"},
    {OF_X(positive_cases), .name = "log2", .doc = "Computes the base-2 logarithm.",
     .expr = "affine(log(x), mul=1.4426950408889634)"},
    {OF_X(positive_cases), .name = "log10", .doc = "Computes the base-10 logarithm.",
     .expr = "affine(log(x), mul=0.4342944819032518)"},
    {OF_X(unary_cases), .name = "logsigmoid",
     .doc = "Computes log(1 / (1 + e^-x)), the logarithm of sigmoid.",
     .expr = "neg(softplus(neg(x)))"},
    {OF_X(unary_cases), .name = "softsign", .doc = "Computes x / (1 + |x|).",
     .expr = "div(x, affine(abs(x), add=1))"},
    {OF_X(unary_cases), .name = "tanhshrink", .doc = "Computes x - tanh(x).",
     .expr = "sub(x, tanh(x))"},
    {OF_X(unary_cases), .name = "relu6", .doc = "Clamps x to [0, 6].",
     .expr = "clamp(x, min=0, max=6)"},
    {OF_X(hardsigmoid_cases), .name = "hardsigmoid",
     .attrs = "alpha:number=0.16666666666666666,beta:number=0.5",
     .doc = "Computes alpha x + beta, clamped to [0, 1].",
     .expr = "clamp(affine(x, mul=alpha, add=beta), min=0, max=1)"},
    {OF_X(unary_cases), .name = "hardswish", .doc = "Computes x hardsigmoid(x).",
     .expr = "mul(x, hardsigmoid(x))"},
    {OF_X(selu_cases), .name = "selu",
     .attrs = "alpha:number=1.6732632423543772,scale:number=1.0507009873554805",
     .doc = "Computes scale elu(x, alpha), the scaled exponential linear unit.",
     .expr = "affine(elu(x, alpha=alpha), mul=scale)"},
    {OF_X(alpha_cases), .name = "celu", .attrs = "alpha:number=1",
     .doc = "Computes x where x > 0, else alpha (e^(x / alpha) - 1).",
     .expr = "affine(elu(affine(x, mul=1/alpha)), mul=alpha)"},
    {.name = "prelu",
     .inputs = "x,weight",
     .doc = "Computes x where x > 0, else weight x; weight broadcasts.",
     /* -x is no u8 */
     .expr = "add(relu(x), mul(weight, clamp(x, max=0)))",
     .cases = binary_cases},
    {OF_X(threshold_cases), .name = "threshold", .attrs = "threshold:element=0,value:element=0",
     .doc = "Returns x where x > threshold, else value.",
     /* NaN stays */
     .expr = "where(le(x, fill(x, value=threshold)), fill(x, value=value), x)"},
    {OF_X(shrink_cases), .name = "hardshrink", .attrs = "lambd:element=0.5",
     .doc = "Returns x where |x| > lambd, else 0.",
     /* NaN stays, and the least integer, of which there is no abs */
     .expr = "where(logical_and(ge(abs(x), fill(x, value=0)), le(abs(x), fill(x, value=lambd))), "
             "fill(x, value=0), x)"},
    {OF_X(shrink_cases), .name = "softshrink", .attrs = "lambd:element=0.5",
     .doc = "Shrinks x toward 0 by lambd: x - lambd, x + lambd, or 0 where |x| <= lambd.",
     .expr = "sub(x, clamp(x, min=-lambd, max=lambd))"},
    {OF_X(unary_cases), .name = "trunc", .doc = "Truncates toward zero.",
     .expr = "mul(sign(x), floor(abs(x)))"},
    {.name = "logical_xor",
     .inputs = "a,b",
     .doc = "True where exactly one of a and b is nonzero.",
     .expr = "ne(logical_not(a), logical_not(b))",
     .cases = binary_cases},
    {OF_X(unary_cases), .name = "isnan", .doc = "True where x is NaN.", .expr = "ne(x, x)"},
    {OF_X(unary_cases), .name = "isinf", .doc = "True where x is positive or negative infinity.",
     /* x - x is NaN; not so NaN's */
     .expr = "logical_and(eq(x, x), ne(sub(x, x), sub(x, x)))"},
    {OF_X(unary_cases), .name = "isposinf", .doc = "True where x is positive infinity.",
     .expr = "logical_and(isinf(x), gt(x, fill(x, value=0)))"},
    {OF_X(unary_cases), .name = "isneginf", .doc = "True where x is negative infinity.",
     .expr = "logical_and(isinf(x), lt(x, fill(x, value=0)))"},
    {0},
};
