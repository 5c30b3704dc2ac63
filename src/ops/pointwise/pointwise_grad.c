/* SPDX-License-Identifier: Apache-2.0 */
/* pointwise_grad.c - gradients of ops that treat every element alike. */
#include <math.h>

#include "grad/grad.h"
#include "ops/pointwise/pointwise_ops.h"

/* That of input k, from what it would be if nothing was broadcast. */
static void give(const tsr_grad_call *c, int k, tsr_tensor *g)
{
    c->grad_in[k] = tsr__grad_fit(g, c->in[k]);
}

static double number(const tsr_grad_call *c, int i)
{
    return c->attrs->value[i].f;
}

static tsr_tensor *zeros_like(tsr_tensor *x)
{
    return tsr_fill(x, 0);
}

/* ---- two operands ---- */

tsr_status tsr__grad_add(const tsr_grad_call *c)
{
    for (int k = 0; k < 2; k++)
        if (c->wanted[k])
            give(c, k, c->grad_out[0]);
    return TSR_OK;
}

tsr_status tsr__grad_sub(const tsr_grad_call *c)
{
    if (c->wanted[0])
        give(c, 0, c->grad_out[0]);
    if (c->wanted[1])
        give(c, 1, tsr_neg(c->grad_out[0]));
    return TSR_OK;
}

tsr_status tsr__grad_mul(const tsr_grad_call *c)
{
    for (int k = 0; k < 2; k++)
        if (c->wanted[k])
            give(c, k, tsr_mul(c->grad_out[0], c->in[1 - k]));
    return TSR_OK;
}

/* 1 / b and -y / b */
tsr_status tsr__grad_div(const tsr_grad_call *c)
{
    tsr_tensor *g = tsr_div(c->grad_out[0], c->in[1]);

    if (c->wanted[0])
        give(c, 0, g);
    if (c->wanted[1])
        give(c, 1, tsr_neg(tsr_mul(g, c->out[0])));
    return TSR_OK;
}

/* b a^(b - 1), 0 where b is 0; and a^b log a, 0 where a is 0 and b is not below it. */
tsr_status tsr__grad_pow(const tsr_grad_call *c)
{
    tsr_tensor *a = c->in[0], *b = c->in[1], *g = c->grad_out[0];

    if (c->wanted[0]) {
        tsr_tensor *slope = tsr_mul(b, tsr_pow(a, tsr_affine(b, 1, -1))), *zero = zeros_like(b);
        give(c, 0, tsr_mul(g, tsr_where(tsr_eq(b, zero), zero, slope)));
    }
    if (c->wanted[1]) {
        tsr_tensor *slope = tsr_mul(c->out[0], tsr_log(a)), *zero = zeros_like(a);
        tsr_tensor *none = tsr_logical_and(tsr_eq(a, zero), tsr_ge(b, zeros_like(b)));
        give(c, 1, tsr_mul(g, tsr_masked_fill(slope, none, 0)));
    }
    return TSR_OK;
}

/* 1 and -q, the whole number of b that was taken away */
static tsr_status of_rest(const tsr_grad_call *c, tsr_tensor *(*divide)(tsr_tensor *, tsr_tensor *))
{
    if (c->wanted[0])
        give(c, 0, c->grad_out[0]);
    if (c->wanted[1])
        give(c, 1, tsr_neg(tsr_mul(c->grad_out[0], divide(c->in[0], c->in[1]))));
    return TSR_OK;
}

tsr_status tsr__grad_remainder(const tsr_grad_call *c)
{
    return of_rest(c, tsr_floor_divide);
}

tsr_status tsr__grad_fmod(const tsr_grad_call *c)
{
    return of_rest(c, tsr_trunc_divide);
}

/* To the operand that was taken; half to each where they are equal. Of minimum too. */
tsr_status tsr__grad_maximum(const tsr_grad_call *c)
{
    tsr_tensor *g = c->grad_out[0], *equal = tsr_eq(c->in[0], c->in[1]);

    for (int k = 0; k < 2; k++)
        if (c->wanted[k]) {
            tsr_tensor *other = tsr_ne(c->in[k], c->out[0]);
            give(c, k, tsr_masked_fill(tsr_where(equal, tsr_affine(g, 0.5, 0), g), other, 0));
        }
    return TSR_OK;
}

/* ---- one operand ---- */

/* The gradient times a slope. */
static tsr_status times(const tsr_grad_call *c, tsr_tensor *slope)
{
    c->grad_in[0] = tsr_mul(c->grad_out[0], slope);
    return TSR_OK;
}

tsr_status tsr__grad_neg(const tsr_grad_call *c)
{
    if (c->wanted[0])
        c->grad_in[0] = tsr_neg(c->grad_out[0]);
    return TSR_OK;
}

tsr_status tsr__grad_abs(const tsr_grad_call *c)
{
    return c->wanted[0] ? times(c, tsr_sign(c->in[0])) : TSR_OK;
}

tsr_status tsr__grad_relu(const tsr_grad_call *c)
{
    if (c->wanted[0])
        c->grad_in[0] = tsr_relu_backward(c->grad_out[0], c->out[0]);
    return TSR_OK;
}

tsr_status tsr__grad_exp(const tsr_grad_call *c)
{
    return c->wanted[0] ? times(c, c->out[0]) : TSR_OK;
}

tsr_status tsr__grad_log(const tsr_grad_call *c)
{
    if (c->wanted[0])
        c->grad_in[0] = tsr_div(c->grad_out[0], c->in[0]);
    return TSR_OK;
}

tsr_status tsr__grad_log1p(const tsr_grad_call *c)
{
    if (c->wanted[0])
        c->grad_in[0] = tsr_div(c->grad_out[0], tsr_affine(c->in[0], 1, 1));
    return TSR_OK;
}

/* 1 / (2 y) */
tsr_status tsr__grad_sqrt(const tsr_grad_call *c)
{
    if (c->wanted[0])
        c->grad_in[0] = tsr_div(c->grad_out[0], tsr_affine(c->out[0], 2, 0));
    return TSR_OK;
}

/* -y^3 / 2 */
tsr_status tsr__grad_rsqrt(const tsr_grad_call *c)
{
    tsr_tensor *y = c->out[0];

    return c->wanted[0] ? times(c, tsr_affine(tsr_mul(tsr_mul(y, y), y), -0.5, 0)) : TSR_OK;
}

/* -y^2 */
tsr_status tsr__grad_reciprocal(const tsr_grad_call *c)
{
    return c->wanted[0] ? times(c, tsr_neg(tsr_mul(c->out[0], c->out[0]))) : TSR_OK;
}

tsr_status tsr__grad_tanh(const tsr_grad_call *c)
{
    if (c->wanted[0])
        c->grad_in[0] = tsr_tanh_backward(c->grad_out[0], c->out[0]);
    return TSR_OK;
}

tsr_status tsr__grad_sigmoid(const tsr_grad_call *c)
{
    if (c->wanted[0])
        c->grad_in[0] = tsr_sigmoid_backward(c->grad_out[0], c->out[0]);
    return TSR_OK;
}

tsr_status tsr__grad_silu(const tsr_grad_call *c)
{
    if (c->wanted[0])
        c->grad_in[0] = tsr_silu_backward(c->grad_out[0], c->in[0]);
    return TSR_OK;
}

tsr_status tsr__grad_sinh(const tsr_grad_call *c)
{
    if (c->wanted[0])
        c->grad_in[0] = tsr_mul(c->grad_out[0], tsr_cosh(c->in[0]));
    return TSR_OK;
}

/* 1 / sqrt(x^2 + 1) */
tsr_status tsr__grad_asinh(const tsr_grad_call *c)
{
    tsr_tensor *a, *m, *q; /* |x|, the larger of it and 1, and the smaller by that */

    if (!c->wanted[0])
        return TSR_OK;
    a = tsr_abs(c->in[0]);
    m = tsr_clamp(a, 1, INFINITY);
    q = tsr_div(tsr_clamp(a, -INFINITY, 1), m);
    c->grad_in[0] = tsr_mul(c->grad_out[0],
                            tsr_mul(tsr_reciprocal(m), tsr_rsqrt(tsr_affine(tsr_square(q), 1, 1))));
    return TSR_OK;
}

/* 1 / sqrt(x^2 - 1), by the factors of that */
tsr_status tsr__grad_acosh(const tsr_grad_call *c)
{
    tsr_tensor *x = c->in[0];

    if (c->wanted[0])
        c->grad_in[0] = tsr_mul(c->grad_out[0], tsr_mul(tsr_rsqrt(tsr_affine(x, 1, -1)),
                                                        tsr_rsqrt(tsr_affine(x, 1, 1))));
    return TSR_OK;
}

tsr_status tsr__grad_mish(const tsr_grad_call *c)
{
    if (c->wanted[0])
        c->grad_in[0] = tsr_mish_backward(c->grad_out[0], c->in[0]);
    return TSR_OK;
}

tsr_status tsr__grad_gelu(const tsr_grad_call *c)
{
    if (c->wanted[0])
        c->grad_in[0] = tsr_gelu_backward(c->grad_out[0], c->in[0], c->attrs->value[0].i[0] != 0);
    return TSR_OK;
}

tsr_status tsr__grad_softplus(const tsr_grad_call *c)
{
    return c->wanted[0] ? times(c, tsr_sigmoid(c->in[0])) : TSR_OK;
}

tsr_status tsr__grad_sin(const tsr_grad_call *c)
{
    return c->wanted[0] ? times(c, tsr_cos(c->in[0])) : TSR_OK;
}

tsr_status tsr__grad_cos(const tsr_grad_call *c)
{
    return c->wanted[0] ? times(c, tsr_neg(tsr_sin(c->in[0]))) : TSR_OK;
}

/* 2 e^(-x x) / sqrt(pi) */
tsr_status tsr__grad_erf(const tsr_grad_call *c)
{
    tsr_tensor *x = c->in[0];

    if (!c->wanted[0])
        return TSR_OK;
    return times(c, tsr_affine(tsr_exp(tsr_neg(tsr_mul(x, x))), 1.12837916709551257390, 0));
}

/* g where x is not negative, else g times the slope. */
static tsr_status bent(const tsr_grad_call *c, tsr_tensor *below)
{
    tsr_tensor *x = c->in[0];

    c->grad_in[0] = tsr_where(tsr_le(x, zeros_like(x)), below, c->grad_out[0]);
    return TSR_OK;
}

tsr_status tsr__grad_leaky_relu(const tsr_grad_call *c)
{
    return c->wanted[0] ? bent(c, tsr_affine(c->grad_out[0], number(c, 0), 0)) : TSR_OK;
}

/* alpha e^x, that is y + alpha */
tsr_status tsr__grad_elu(const tsr_grad_call *c)
{
    tsr_tensor *slope;

    if (!c->wanted[0])
        return TSR_OK;
    slope = tsr_affine(c->out[0], 1, number(c, 0));
    return bent(c, tsr_mul(c->grad_out[0], slope));
}

tsr_status tsr__grad_affine(const tsr_grad_call *c)
{
    if (c->wanted[0])
        c->grad_in[0] = tsr_affine(c->grad_out[0], number(c, 0), 0);
    return TSR_OK;
}

/* Where x was left as it is. */
tsr_status tsr__grad_clamp(const tsr_grad_call *c)
{
    if (c->wanted[0])
        c->grad_in[0] = tsr_masked_fill(c->grad_out[0], tsr_ne(c->out[0], c->in[0]), 0);
    return TSR_OK;
}

tsr_status tsr__grad_cast(const tsr_grad_call *c)
{
    if (c->wanted[0] && c->grad_out[0])
        c->grad_in[0] = tsr_cast(c->grad_out[0], tsr_tensor_spec(c->in[0])->dtype);
    return TSR_OK;
}

/* ---- three operands ---- */

tsr_status tsr__grad_where(const tsr_grad_call *c)
{
    if (c->wanted[1])
        give(c, 1, tsr_masked_fill(c->grad_out[0], tsr_logical_not(c->in[0]), 0));
    if (c->wanted[2])
        give(c, 2, tsr_masked_fill(c->grad_out[0], c->in[0], 0));
    return TSR_OK;
}

tsr_status tsr__grad_masked_fill(const tsr_grad_call *c)
{
    if (c->wanted[0])
        give(c, 0, tsr_masked_fill(c->grad_out[0], c->in[1], 0));
    return TSR_OK;
}

/* 1 - weight, weight and b - a */
tsr_status tsr__grad_lerp(const tsr_grad_call *c)
{
    tsr_tensor *g = c->grad_out[0], *weight = c->in[2];

    if (c->wanted[0])
        give(c, 0,
             weight ? tsr_mul(g, tsr_affine(weight, -1, 1)) : tsr_affine(g, 1 - number(c, 0), 0));
    if (c->wanted[1])
        give(c, 1, weight ? tsr_mul(g, weight) : tsr_affine(g, number(c, 0), 0));
    if (c->wanted[2])
        give(c, 2, tsr_mul(g, tsr_sub(c->in[1], c->in[0])));
    return TSR_OK;
}

tsr_status tsr__grad_addcmul(const tsr_grad_call *c)
{
    tsr_tensor *g = c->grad_out[0];

    if (c->wanted[0])
        give(c, 0, g);
    for (int k = 1; k < 3; k++)
        if (c->wanted[k])
            give(c, k, tsr_affine(tsr_mul(g, c->in[3 - k]), number(c, 0), 0));
    return TSR_OK;
}

/* value / b and -value a / b^2 */
tsr_status tsr__grad_addcdiv(const tsr_grad_call *c)
{
    tsr_tensor *g = c->grad_out[0], *a = c->in[1], *b = c->in[2];
    tsr_tensor *slope = tsr_affine(tsr_div(g, b), number(c, 0), 0);

    if (c->wanted[0])
        give(c, 0, g);
    if (c->wanted[1])
        give(c, 1, slope);
    if (c->wanted[2])
        give(c, 2, tsr_neg(tsr_mul(slope, tsr_div(a, b))));
    return TSR_OK;
}
