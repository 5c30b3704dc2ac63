/* SPDX-License-Identifier: Apache-2.0 */
/* pointwise_rows.inc.h - rows of pointwise ops whose output is of the shape and dtype of their
   first input, or could be: included twice by pointwise.c, as TABLE of the ops and as that of their
   in-place forms. ROW gives name, kind, kernel and shape; CASES(x) the cases of that form. */

const tsr_op TABLE[] = {
    /* ---- two operands ---- */
    {ROW(ADD, add), .grad_expr = "a: g; b: g", .inputs = "a,b",
     .doc = "Computes a + b elementwise. Integers wrap.", .axes = BINARY, .linear = "a+b",
     .monotone = "+a+b", .in_field = true, .cases = CASES(binary)},
    {ROW(SUB, sub), .grad_expr = "a: g; b: neg(g)", .inputs = "a,b",
     .doc = "Computes a - b elementwise. Integers wrap.", .axes = BINARY, .linear = "a-b",
     .monotone = "+a-b", .in_field = true, .cases = CASES(binary)},
    {ROW(MUL, mul), .grad_expr = "a: mul(g, b); b: mul(g, a)", .inputs = "a,b",
     .doc = "Multiplies a and b elementwise. Integers wrap.", .axes = BINARY, .linear = "a*b",
     .in_field = true, .cases = CASES(binary)},
    {ROW(DIV, div), .grad_expr = "a: div(g, b); b: neg(mul(div(g, b), out))", .inputs = "a,b",
     .doc = "Computes a / b elementwise.", .axes = BINARY, .linear = "a", .cases = CASES(binary)},
    {ROW(POW, pow),
     /* b a^(b - 1), 0 where b is 0; and a^b log a, 0 where a is 0 and b is not below it */
     .grad_expr = "a: mul(g, where(eq(b, fill(b)), fill(b), mul(b, pow(a, affine(b, add=-1)))));"
                  "b: mul(g, masked_fill(mul(out, log(a)),"
                  "                      logical_and(eq(a, fill(a)), ge(b, fill(b)))))",
     .inputs = "a,b",
     .doc = "Raises a to the power b elementwise. Integers wrap; a negative integer exponent "
            "truncates the result toward zero, and 0 to it gives 0.",
     .axes = BINARY, .cases = power_cases},
    {ROW(FLOOR_DIVIDE, floor_divide), .grad = tsr_grad_none, .inputs = "a,b",
     .doc = "Computes floor(a / b) elementwise. Integer division by 0 gives 0.", .axes = BINARY,
     .cases = CASES(binary)},
    {ROW(TRUNC_DIVIDE, trunc_divide), .grad = tsr_grad_none, .inputs = "a,b",
     .doc = "Computes trunc(a / b) elementwise. Integer division by 0 gives 0.", .axes = BINARY,
     .cases = CASES(binary)},
    {ROW(REMAINDER, remainder), .grad_expr = "a: g; b: neg(mul(g, floor_divide(a, b)))",
     .inputs = "a,b",
     .doc =
         "Computes a - b floor(a / b) elementwise, with the sign of b. An integer remainder by 0 "
         "is a.",
     .axes = BINARY, .cases = CASES(binary)},
    {ROW(FMOD, fmod), .grad_expr = "a: g; b: neg(mul(g, trunc_divide(a, b)))", .inputs = "a,b",
     .doc =
         "Computes a - b trunc(a / b) elementwise, with the sign of a. An integer remainder by 0 "
         "is a.",
     .axes = BINARY, .cases = CASES(binary)},
    {ROW(MAXIMUM, maximum), .grad_expr = EXTREME_GRAD, .inputs = "a,b",
     .doc = "Takes the elementwise maximum of a and b; NaN propagates. Where they are equal, each "
            "gets half of the gradient.",
     .rule = special_rule, .cases = CASES(binary)},
    {ROW(MINIMUM, minimum), .grad_expr = EXTREME_GRAD, .inputs = "a,b",
     .doc = "Takes the elementwise minimum of a and b; NaN propagates. Where they are equal, each "
            "gets half of the gradient.",
     .rule = special_rule, .cases = CASES(binary)},

    /* ---- one operand ---- */
    {ROW(NEG, neg), .grad_expr = "x: neg(g)", .inputs = "x", .doc = "Computes -x.", .axes = UNARY,
     .linear = "x", .monotone = "-x", .in_field = true, .cases = unary_cases},
    {ROW(ABS, abs), .grad_expr = "x: mul(g, sign(x))", .inputs = "x",
     .doc = "Computes the absolute value.", .axes = UNARY, .cases = unary_cases},
    {ROW(SIGN, sign), .grad = tsr_grad_none, .inputs = "x",
     .doc = "Returns -1, 0 or 1 by the sign of x; NaN stays NaN.", .axes = UNARY, .monotone = "+x",
     .cases = unary_cases},
    {ROW(RELU, relu), .grad_expr = "x: relu_backward(g, out)", .inputs = "x",
     .doc = "Computes max(x, 0); NaN propagates.", .axes = UNARY, .monotone = "+x",
     .cases = unary_cases},
    {ROW(EXP, exp), .grad_expr = "x: mul(g, out)", .inputs = "x", .doc = "Computes e^x.",
     .axes = UNARY, .monotone = "+x", .cases = unary_cases},
    {ROW(LOG, log), .grad_expr = "x: div(g, x)", .inputs = "x",
     .doc = "Computes the natural logarithm.", .rule = special_rule, .cases = positive_cases},
    {ROW(LOG1P, log1p), .grad_expr = "x: div(g, affine(x, add=1))", .inputs = "x",
     .doc = "Computes log(1 + x), accurate for small x.", .rule = special_rule,
     .cases = positive_cases},
    {ROW(SQRT, sqrt), .grad_expr = "x: div(g, affine(out, mul=2))", .inputs = "x",
     .doc = "Computes the square root.", .rule = special_rule, .cases = positive_cases},
    {ROW(RSQRT, rsqrt), .grad_expr = "x: mul(g, affine(mul(mul(out, out), out), mul=-0.5))",
     .inputs = "x", .doc = "Computes 1 / sqrt(x).", .rule = special_rule, .cases = positive_cases},
    {ROW(RECIPROCAL, reciprocal), .grad_expr = "x: mul(g, neg(mul(out, out)))", .inputs = "x",
     .doc = "Computes 1 / x.", .axes = UNARY, .cases = unary_cases},
    {ROW(TANH, tanh), .grad_expr = "x: tanh_backward(g, out)", .inputs = "x",
     .doc = "Computes the hyperbolic tangent.", .axes = UNARY, .monotone = "+x",
     .cases = unary_cases},
    {ROW(SIGMOID, sigmoid), .grad_expr = "x: sigmoid_backward(g, out)", .inputs = "x",
     .doc = "Computes 1 / (1 + e^-x).", .axes = UNARY, .monotone = "+x", .cases = unary_cases},
    {ROW(GELU, gelu), .grad_expr = "x: gelu_backward(g, x, tanh=tanh)", .inputs = "x",
     .attrs = "tanh:bool=false", .params = "x, tanh:by_tanh",
     .doc = "Computes x Phi(x), with the normal CDF Phi; tanh selects the tanh approximation.",
     .axes = UNARY, .cases = gelu_cases},
    {ROW(SILU, silu), .grad_expr = "x: silu_backward(g, x)", .inputs = "x",
     .doc = "Computes x sigmoid(x).", .axes = UNARY, .cases = wave_cases},
    {ROW(MISH, mish), .grad_expr = "x: mish_backward(g, x)", .inputs = "x",
     .doc = "Computes x tanh(softplus(x)).", .axes = UNARY, .cases = wave_cases},
    {ROW(SOFTPLUS, softplus), .grad_expr = "x: mul(g, sigmoid(x))", .inputs = "x",
     .doc = "Computes log(1 + e^x).", .axes = UNARY, .monotone = "+x", .cases = unary_cases},
    {ROW(SIN, sin), .grad_expr = "x: mul(g, cos(x))", .inputs = "x", .doc = "Computes the sine.",
     .axes = UNARY, .cases = wave_cases},
    {ROW(COS, cos), .grad_expr = "x: mul(g, neg(sin(x)))", .inputs = "x",
     .doc = "Computes the cosine.", .axes = UNARY, .cases = wave_cases},
    {ROW(ASIN, asin), /* 1 / sqrt(1 - x x), in factors that keep the digits near 1 */
     .grad_expr = "x: mul(g, mul(rsqrt(affine(x, mul=-1, add=1)), rsqrt(affine(x, add=1))))",
     .inputs = "x", .doc = "Computes the inverse sine, from -pi / 2 to pi / 2; NaN beyond 1.",
     .axes = UNARY, .cases = wave_cases},
    {ROW(ACOS, acos), /* as asin, the other way */
     .grad_expr = "x: neg(mul(g, mul(rsqrt(affine(x, mul=-1, add=1)), rsqrt(affine(x, add=1)))))",
     .inputs = "x", .doc = "Computes the inverse cosine, from 0 to pi; NaN beyond 1.",
     .axes = UNARY, .cases = wave_cases},
    {ROW(ATAN, atan), .grad_expr = "x: div(g, affine(mul(x, x), add=1))", .inputs = "x",
     .doc = "Computes the inverse tangent, from -pi / 2 to pi / 2.", .axes = UNARY,
     .monotone = "+x", .cases = unary_cases},
    {ROW(FLOOR, floor), .grad = tsr_grad_none, .inputs = "x", .doc = "Rounds down to an integer.",
     .axes = UNARY, .monotone = "+x", .cases = unary_cases},
    {ROW(CEIL, ceil), .grad = tsr_grad_none, .inputs = "x", .doc = "Rounds up to an integer.",
     .axes = UNARY, .monotone = "+x", .cases = unary_cases},
    {ROW(ROUND, round), .grad = tsr_grad_none, .inputs = "x",
     .doc = "Rounds to the nearest integer, half to even.", .axes = UNARY, .monotone = "+x",
     .cases = unary_cases},
    {ROW(ERF, erf),
     /* 2 e^(-x x) / sqrt(pi) */
     .grad_expr = "x: mul(g, affine(exp(neg(mul(x, x))), mul=1.12837916709551257390))",
     .inputs = "x", .doc = "Computes the error function.", .axes = UNARY, .monotone = "+x",
     .cases = unary_cases},
    {ROW(LEAKY_RELU, leaky_relu),
     .grad_expr = "x: where(le(x, fill(x)), affine(g, mul=negative_slope), g)", .inputs = "x",
     .attrs = "negative_slope:number=0.01", .doc = "Computes x where x > 0, else negative_slope x.",
     .rule = special_rule, .cases = leaky_cases},
    {ROW(ELU, elu), /* alpha e^x is out + alpha */
     .grad_expr = "x: where(le(x, fill(x)), mul(g, affine(out, add=alpha)), g)", .inputs = "x",
     .attrs = "alpha:number=1", .doc = "Computes x where x > 0, else alpha (e^x - 1).",
     .rule = special_rule, .cases = elu_cases},
    {ROW(AFFINE, affine), .grad_expr = "x: affine(g, mul=mul)", .inputs = "x",
     .attrs = "mul:element=1,add:element=0", .doc = "Computes x mul + add.", .rule = special_rule,
     .cases = affine_cases},
    {ROW(CLAMP, clamp), .grad_expr = "x: masked_fill(g, ne(out, x))", .inputs = "x",
     .attrs = "min:element,max:element",
     .doc =
         "Clamps x to [min, max]; either bound may be left out. NaN stays NaN, and max wins where "
         "min > max.",
     .axes = UNARY, .monotone = "+x", .cases = clamp_cases},
    {ROW(FILL, fill), .grad = tsr_grad_none, .inputs = "x", .attrs = "value:element=0",
     .doc = "Returns a tensor filled with value, with the shape, dtype and placements of x.",
     .rule = special_rule, .cases = fill_cases},

    /* ---- three ---- */
    {ROW(MASKED_FILL, masked_fill), .grad_expr = "x: masked_fill(g, mask)", .inputs = "x,mask",
     .attrs = "value:element=0", .doc = "Replaces x by value where mask is true. mask is bool.",
     .rule = special_rule, .cases = masked_cases},
    {ROW(LERP, lerp), .grad = tsr__grad_lerp, .saves = "a,b,weight", .inputs = "a,b,weight?",
     .attrs = "weight:number=0.5", .params = "",
     .doc = "Interpolates linearly: a + weight (b - a). weight is a tensor or a number.",
     .rule = special_rule, .linear = "a+b", .cases = lerp_cases},
    {ROW(ADDCMUL, addcmul),
     .grad_expr = "x: g; a: affine(mul(g, b), mul=value); b: affine(mul(g, a), mul=value)",
     .inputs = "x,a,b", .attrs = "value:element=1", .doc = "Computes x + value a b elementwise.",
     .axes = TERNARY, .linear = "x+a*b", .monotone = "+x", .cases = ternary_cases},
    {ROW(ADDCDIV, addcdiv),
     .grad_expr = "x: g; a: affine(div(g, b), mul=value);"
                  "b: neg(mul(affine(div(g, b), mul=value), div(a, b)))",
     .inputs = "x,a,b", .attrs = "value:element=1", .doc = "Computes x + value a / b elementwise.",
     .axes = TERNARY, .linear = "x+a", .monotone = "+x", .cases = ternary_cases},
    {0},
};

#undef TABLE
#undef ROW
#undef CASES
