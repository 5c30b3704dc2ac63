/* SPDX-License-Identifier: Apache-2.0 */
/* typed_decomposed.c - the functions of tessera_ops.h for composite ops, given as expressions of
   others. */
#include "dispatch/dispatch.h"
#include "op/element_attr.h"
#include "tessera_ops.h"

static tsr_tensor *unary(const char *name, tsr_tensor *x)
{
    return tsr__dispatch_typed(name, &x, 1, NULL, NULL);
}

static tsr_tensor *binary(const char *name, tsr_tensor *a, tsr_tensor *b)
{
    return tsr__dispatch_typed(name, (tsr_tensor *[]){a, b}, 2, NULL, NULL);
}

tsr_tensor *tsr_square(tsr_tensor *x)
{
    return unary("square", x);
}

tsr_tensor *tsr_tan(tsr_tensor *x)
{
    return unary("tan", x);
}

tsr_tensor *tsr_sinh(tsr_tensor *x)
{
    return unary("sinh", x);
}

tsr_tensor *tsr_cosh(tsr_tensor *x)
{
    return unary("cosh", x);
}

tsr_tensor *tsr_asinh(tsr_tensor *x)
{
    return unary("asinh", x);
}

tsr_tensor *tsr_acosh(tsr_tensor *x)
{
    return unary("acosh", x);
}

tsr_tensor *tsr_atanh(tsr_tensor *x)
{
    return unary("atanh", x);
}

tsr_tensor *tsr_log2(tsr_tensor *x)
{
    return unary("log2", x);
}

tsr_tensor *tsr_log10(tsr_tensor *x)
{
    return unary("log10", x);
}

tsr_tensor *tsr_logsigmoid(tsr_tensor *x)
{
    return unary("logsigmoid", x);
}

tsr_tensor *tsr_softsign(tsr_tensor *x)
{
    return unary("softsign", x);
}

tsr_tensor *tsr_tanhshrink(tsr_tensor *x)
{
    return unary("tanhshrink", x);
}

tsr_tensor *tsr_relu6(tsr_tensor *x)
{
    return unary("relu6", x);
}

tsr_tensor *tsr_hardsigmoid(tsr_tensor *x, double alpha, double beta)
{
    return tsr__dispatch_typed("hardsigmoid", &x, 1,
                               (const tsr_attr[]){tsr__number(alpha), tsr__number(beta)}, NULL);
}

tsr_tensor *tsr_hardswish(tsr_tensor *x)
{
    return unary("hardswish", x);
}

tsr_tensor *tsr_selu(tsr_tensor *x, double alpha, double scale)
{
    return tsr__dispatch_typed("selu", &x, 1,
                               (const tsr_attr[]){tsr__number(alpha), tsr__number(scale)}, NULL);
}

tsr_tensor *tsr_celu(tsr_tensor *x, double alpha)
{
    return tsr__dispatch_typed("celu", &x, 1, (const tsr_attr[]){tsr__number(alpha)}, NULL);
}

tsr_tensor *tsr_prelu(tsr_tensor *x, tsr_tensor *weight)
{
    return binary("prelu", x, weight);
}

tsr_tensor *tsr_threshold(tsr_tensor *x, double threshold, double value)
{
    return tsr__dispatch_typed(
        "threshold", &x, 1, (const tsr_attr[]){tsr__element(threshold), tsr__element(value)}, NULL);
}

tsr_tensor *tsr_hardshrink(tsr_tensor *x, double lambd)
{
    return tsr__dispatch_typed("hardshrink", &x, 1, (const tsr_attr[]){tsr__element(lambd)}, NULL);
}

tsr_tensor *tsr_softshrink(tsr_tensor *x, double lambd)
{
    return tsr__dispatch_typed("softshrink", &x, 1, (const tsr_attr[]){tsr__element(lambd)}, NULL);
}

tsr_tensor *tsr_trunc(tsr_tensor *x)
{
    return unary("trunc", x);
}

tsr_tensor *tsr_logical_xor(tsr_tensor *a, tsr_tensor *b)
{
    return binary("logical_xor", a, b);
}

tsr_tensor *tsr_isnan(tsr_tensor *x)
{
    return unary("isnan", x);
}

tsr_tensor *tsr_isinf(tsr_tensor *x)
{
    return unary("isinf", x);
}

tsr_tensor *tsr_isposinf(tsr_tensor *x)
{
    return unary("isposinf", x);
}

tsr_tensor *tsr_isneginf(tsr_tensor *x)
{
    return unary("isneginf", x);
}
