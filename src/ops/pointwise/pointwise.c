/* SPDX-License-Identifier: Apache-2.0 */
/* pointwise.c - ops that treat every element alike; axes broadcast from the last one. Decides which
   dtypes an op takes, and how partial inputs pass where that depends on more than the row can say.
   Most rows stand in pointwise_rows.inc.h, once for an op and its in-place form. */
#include "kernel/kinds.h"
#include "kernel/sku.h"
#include "op/element_attr.h"
#include "ops/pointwise/pointwise_attrs.h"
#include "ops/pointwise/elementwise_reference.h"
#include "ops/pointwise/pointwise_ops.h"
#include "op/infer.h"
#include "op/linear.h"

#include "base/reduce.h"

#include <math.h>

#define UNARY "...->..."
#define BINARY "...,...->..."
#define TERNARY "...,...,...->..."

/* ---- shapes ---- */

/* The input that says where: its dtype is bool, whatever that of the others is. */
static int mask_of(int kind)
{
    return kind == TSR_POINTWISE_WHERE ? 0 : kind == TSR_POINTWISE_MASKED_FILL ? 1 : -1;
}

static bool has_kernel(int kind, tsr_dtype dtype)
{
    return tsr__sku_exists(&(tsr_kernel_sku){TSR_CATEGORY_POINTWISE, (uint16_t)kind, dtype,
                                             TSR_NO_INDEX, TSR_VARIANT_REFERENCE});
}

static tsr_status check_dtypes(const tsr_schema *s, tsr_error *err)
{
    const int kind = s->op->kind, mask = mask_of(kind), first = mask == 0;
    const tsr_dtype dtype = s->in[first].dtype;
    char text[2 * TSR_TEXT_LEN];

    for (int k = 0; k < s->n_in; k++) {
        if (!tsr__schema_has(s, k))
            continue;
        if (k == mask && s->in[k].dtype != TSR_BOOL)
            return tsr__fail(err, TSR_ERR_DTYPE, "%s: %s must be bool in %s", s->op->name,
                             mask == 0 ? "condition" : "mask",
                             tsr_schema_text(s, text, sizeof text));
        if (k != mask && s->in[k].dtype != dtype)
            return tsr__fail(err, TSR_ERR_DTYPE, "%s: dtypes differ in %s", s->op->name,
                             tsr_schema_text(s, text, sizeof text));
    }
    if (has_kernel(kind, dtype))
        return TSR_OK;
    if (has_kernel(kind, TSR_I32))
        return tsr__fail(err, TSR_ERR_DTYPE, "%s: dtype %s is not supported (numeric dtypes only)",
                         s->op->name, tsr_dtype_name(dtype));
    if (kind == TSR_POINTWISE_DIV && dtype != TSR_BOOL)
        return tsr__fail(err, TSR_ERR_DTYPE,
                         "%s: %s is not supported; use floor_divide or trunc_divide for integers",
                         s->op->name, tsr_dtype_name(dtype));
    return tsr__needs_float(s, err);
}

/* As clamp's bounds, infinities stand for none. */
static bool is_no_bound(const tsr_schema *s, int attr)
{
    return s->op->kind == TSR_POINTWISE_CLAMP &&
           s->attrs.value[attr].f == (attr == 0 ? -INFINITY : INFINITY);
}

static tsr_status check_numbers(const tsr_schema *s, tsr_error *err)
{
    const tsr_dtype dtype = s->in[mask_of(s->op->kind) == 0].dtype;
    tsr_status st = TSR_OK;

    for (int i = 0; i < 2 && i < tsr__attrs_count(s->op); i++)
        if (tsr__attr_is_element(s->op, i) && !is_no_bound(s, i))
            TSR_TRY(tsr__element_check(s, i, dtype, err));
done:
    return st;
}

static tsr_status check_inplace(const tsr_schema *s, tsr_error *err)
{
    char text[2 * TSR_TEXT_LEN];

    if (tsr_shape_equal(&s->in[0].shape, &s->out_shape[0]))
        return TSR_OK;
    return tsr__fail(err, TSR_ERR_SHAPE, "%s: the result does not match its first input, %s",
                     s->op->name, tsr_schema_text(s, text, sizeof text));
}

static tsr_status pointwise_shape(tsr_schema *s, tsr_error *err)
{
    tsr_status st;

    TSR_TRY(check_dtypes(s, err));
    if (s->op->attrs)
        TSR_TRY(check_numbers(s, err));
    TSR_TRY(tsr__shape_broadcast(s, err));
    if (tsr__pointwise_is_predicate(s->op->kind))
        s->out_dtype[0] = TSR_BOOL;
    else
        s->out_dtype[0] = s->in[mask_of(s->op->kind) == 0].dtype;
    if (s->op->inplace)
        TSR_TRY(check_inplace(s, err));
done:
    return st;
}

static tsr_status cast_shape(tsr_schema *s, tsr_error *err)
{
    tsr_status st = TSR_OK;

    if (s->attrs.value[TSR_ATTR_CAST_DTYPE].n < 0)
        TSR_TRY(
            tsr__fail(err, TSR_ERR_ARG, "cast: missing attribute dtype (for example dtype=f32)"));
    TSR_TRY(tsr__dtype_given(s, &s->attrs.value[TSR_ATTR_CAST_DTYPE], &s->out_dtype[0], err));
    s->out_shape[0] = s->in[0].shape;
done:
    return st;
}

/* ---- partial inputs ---- */

/* The inputs in `which` at P(from), the others replicated. */
static tsr_status passes(const tsr_schema *s, unsigned which, tsr_reduce from,
                         tsr_rule_placement to, tsr_rules *out, tsr_error *err)
{
    tsr_rule rule = {.out = {to}};

    if (to.place.kind == TSR_PARTIAL &&
        tsr__reduce_check(s->out_dtype[0], to.place.reduce, NULL) != TSR_OK)
        return TSR_OK;
    for (int k = 0; k < s->n_in; k++) {
        if (!(which >> k & 1))
            continue;
        if (!tsr__schema_has(s, k) || tsr__reduce_check(s->in[k].dtype, from, NULL) != TSR_OK)
            return TSR_OK;
        rule.in[k] = tsr_rule_partial(from);
    }
    return tsr_rule_add(out, &rule, err);
}

/* With input k, of ops that compute nothing with integers: their results would wrap around. */
static tsr_status passes_in_order(const tsr_schema *s, int k, bool grows, tsr_rules *out,
                                  tsr_error *err)
{
    const unsigned which = 1u << k;
    tsr_status st = TSR_OK;

    TSR_TRY(passes(s, which, TSR_MAX, tsr_rule_partial(grows ? TSR_MAX : TSR_MIN), out, err));
    TSR_TRY(passes(s, which, TSR_MIN, tsr_rule_partial(grows ? TSR_MIN : TSR_MAX), out, err));
done:
    return st;
}

static tsr_status affine_partials(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    const double mul = s->attrs.value[TSR_ATTR_AFFINE_MUL].f,
                 add = s->attrs.value[TSR_ATTR_AFFINE_ADD].f;
    tsr_status st;

    if (add == 0)
        TSR_TRY(passes(s, 1, TSR_SUM, tsr_rule_partial(TSR_SUM), out, err));
    TSR_TRY(passes(s, 1, TSR_AVG, tsr_rule_partial(TSR_AVG), out, err));
    if (!tsr__dtype_is_integer(s->in[0].dtype))
        TSR_TRY(passes_in_order(s, 0, mul >= 0, out, err));
done:
    return st;
}

/* Where mask is true every rank has the value: their sum is not the value, unless that is 0. */
static tsr_status masked_partials(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    tsr_status st;

    if (s->attrs.value[TSR_ATTR_FILL_VALUE].f == 0)
        TSR_TRY(passes(s, 1, TSR_SUM, tsr_rule_partial(TSR_SUM), out, err));
    TSR_TRY(passes(s, 1, TSR_AVG, tsr_rule_partial(TSR_AVG), out, err));
    TSR_TRY(passes_in_order(s, 0, true, out, err));
done:
    return st;
}

/* Of two pending maxima the ranks may each take the larger; of a pending minimum and a number
   too. */
static tsr_status extreme_partials(const tsr_schema *s, tsr_reduce same, tsr_reduce other,
                                   tsr_rules *out, tsr_error *err)
{
    tsr_status st;

    TSR_TRY(passes(s, 3, same, tsr_rule_partial(same), out, err));
    TSR_TRY(passes(s, 1, other, tsr_rule_partial(other), out, err));
    TSR_TRY(passes(s, 2, other, tsr_rule_partial(other), out, err));
done:
    return st;
}

/* The result is what it is, whatever x is. */
static tsr_status fill_partials(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (int r = TSR_SUM; r <= TSR_PROD; r++)
        TSR_TRY(passes(s, 1, (tsr_reduce)r, (tsr_rule_placement){0}, out, err));
done:
    return st;
}

/* Both are only moved. */
static tsr_status where_partials(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (int r = TSR_SUM; r <= TSR_PROD; r++)
        TSR_TRY(passes(s, 6, (tsr_reduce)r, tsr_rule_partial((tsr_reduce)r), out, err));
done:
    return st;
}

/* (1 - weight) a + weight b */
static tsr_status lerp_partials(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    const double weight = s->attrs.value[TSR_ATTR_LERP_WEIGHT].f;
    tsr_status st;

    TSR_TRY(passes(s, 4, TSR_AVG, tsr_rule_partial(TSR_AVG), out, err));
    if (tsr__schema_has(s, 2))
        return TSR_OK;
    TSR_TRY(passes_in_order(s, 0, weight <= 1, out, err));
    TSR_TRY(passes_in_order(s, 1, weight >= 0, out, err));
done:
    return st;
}

/* Of floats. */
static bool is_wider(tsr_dtype to, tsr_dtype from)
{
    return tsr__dtype_is_float(from) && tsr__dtype_is_float(to) &&
           tsr_dtype_size(to) > tsr_dtype_size(from);
}

/* Sums of floats lose nothing in a wider type; those of integers would wrap around elsewhere. The
   order of values stays, but for NaN, which wins among floats and is 0 as an integer: the smallest
   one if there are no negative ones. */
static tsr_status cast_partials(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    const tsr_dtype from = s->in[0].dtype, to = s->out_dtype[0];
    tsr_status st = TSR_OK;

    if (from == to || is_wider(to, from)) {
        TSR_TRY(passes(s, 1, TSR_SUM, tsr_rule_partial(TSR_SUM), out, err));
        TSR_TRY(passes(s, 1, TSR_AVG, tsr_rule_partial(TSR_AVG), out, err));
    }
    if (!tsr__dtype_is_float(from) || tsr__dtype_is_float(to))
        TSR_TRY(passes_in_order(s, 0, true, out, err));
    else if (tsr__dtype_is_integer(to) && tsr__dtype_min(to) == 0)
        TSR_TRY(passes(s, 1, TSR_MIN, tsr_rule_partial(TSR_MIN), out, err));
done:
    return st;
}

static tsr_status special_partials(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    switch (s->op->kind) {
    case TSR_POINTWISE_MAXIMUM: return extreme_partials(s, TSR_MAX, TSR_MIN, out, err);
    case TSR_POINTWISE_MINIMUM: return extreme_partials(s, TSR_MIN, TSR_MAX, out, err);
    case TSR_POINTWISE_AFFINE: return affine_partials(s, out, err);
    case TSR_POINTWISE_MASKED_FILL: return masked_partials(s, out, err);
    case TSR_POINTWISE_FILL: return fill_partials(s, out, err);
    case TSR_POINTWISE_WHERE: return where_partials(s, out, err);
    case TSR_POINTWISE_CAST: return cast_partials(s, out, err);
    case TSR_POINTWISE_LERP: return lerp_partials(s, out, err);
    case TSR_POINTWISE_LOG: /* a maximum does not pass: of other terms NaN may come, which wins */
    case TSR_POINTWISE_LOG1P:
    case TSR_POINTWISE_SQRT: return passes(s, 1, TSR_MIN, tsr_rule_partial(TSR_MIN), out, err);
    case TSR_POINTWISE_RSQRT: return passes(s, 1, TSR_MIN, tsr_rule_partial(TSR_MAX), out, err);
    default: /* leaky_relu, elu: with a negative slope they turn back */
        return tsr_schema_attr(s, s->op->kind == TSR_POINTWISE_ELU ? "alpha" : "negative_slope")
                           ->f >= 0
                   ? passes_in_order(s, 0, true, out, err)
                   : TSR_OK;
    }
}

static tsr_status special_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    static const char *const axes[] = {UNARY, BINARY, TERNARY};
    tsr_status st;

    TSR_TRY(special_partials(s, out, err));
    TSR_TRY(tsr__axes_rules(s, axes[s->n_in - 1], out, err));
done:
    return st;
}

/* ---- rows ---- */

static const char *const binary_cases[] = {
    "f64[4,6] f64[4,6]",
    "f64[5,3] f64[5,3]",
    "f64[4,1] f64[1,6]",
    "f64[5,1] f64[1,7]",
    "f64[4,6,2] f64[6,2]",
    "f64[5,3,7] f64[3,7]",
    NULL,
};
static const char *const binary_inplace_cases[] = {
    "f64[4,6] f64[4,6]", "f64[5,3] f64[5,3]", "f64[4,6,2] f64[6,2]", "f64[5,3,7] f64[3,7]", NULL,
};
static const char *const power_cases[] = {
    "f64[4,6]+ f64[4,6]", "f64[5,3]+ f64[5,3]", "f64[4,6]+ f64[6]", "f64[5,7]+ f64[7]", NULL,
};
static const char *const unary_cases[] = {"f64[8]", "f64[7]", "f64[4,6]", "f64[5,3]", NULL};
/* So many that some fall where the function falls. */
static const char *const wave_cases[] = {"f64[64]", "f64[63]", "f64[8,10]", "f64[9,7]", NULL};
/* Of a negative number NaN comes, so that no maximum passes. */
static const char *const positive_cases[] = {"f64[8]+", "f64[7]", "f64[4,6]+", "f64[5,3]", NULL};
static const char *const gelu_cases[] = {"f64[8]", "f64[7]", "f64[4,6] tanh=true",
                                         "f64[5,3] tanh=true", NULL};
static const char *const leaky_cases[] = {
    "f64[8]", "f64[7]", "f64[8] negative_slope=-0.5", "f64[7] negative_slope=-0.5", NULL,
};
static const char *const elu_cases[] = {
    "f64[8]", "f64[7]", "f64[8] alpha=-0.5", "f64[7] alpha=-0.5", NULL,
};
static const char *const affine_cases[] = {
    "f64[8] mul=2", "f64[7] mul=2", "f64[4,6] mul=-3 add=2", "f64[5,3] mul=-3 add=2", NULL,
};
static const char *const clamp_cases[] = {
    "f64[8] min=-1",
    "f64[7] min=-1",
    "f64[4,6] min=-1 max=1",
    "f64[5,3] min=-1 max=1",
    "f64[8] max=1",
    "f64[7] max=1",
    NULL,
};
static const char *const fill_cases[] = {"f64[8] value=3",
                                         "f64[7] value=3",
                                         "f64[4,6] value=3",
                                         "f64[5,3] value=3",
                                         "f64[8] value=1",
                                         "f64[7] value=1",
                                         NULL};
static const char *const masked_cases[] = {
    "f64[4,6] bool[4,6] value=2",
    "f64[5,3] bool[5,3] value=2",
    "f64[4,6] bool[6]",
    "f64[5,7] bool[7]",
    NULL,
};
static const char *const lerp_cases[] = {
    "f64[4,6] f64[4,6] f64[4,6]",
    "f64[5,3] f64[5,3] f64[5,3]",
    "f64[4,6] f64[6] - weight=2",
    "f64[5,7] f64[7] - weight=2",
    NULL,
};
static const char *const ternary_cases[] = {
    "f64[4,6] f64[4,6] f64[4,6] value=2",
    "f64[5,3] f64[5,3] f64[5,3] value=2",
    "f64[4,6] f64[6] f64[4,1]",
    "f64[5,7] f64[7] f64[5,1]",
    NULL,
};
static const char *const where_cases[] = {
    "bool[4,6] f64[4,6] f64[4,6]",
    "bool[5,3] f64[5,3] f64[5,3]",
    "bool[6] f64[4,1] f64[4,6]",
    "bool[7] f64[5,1] f64[5,7]",
    NULL,
};
static const char *const cast_cases[] = {
    "f64[8] dtype=f64", "f64[7] dtype=f64", "f64[8] dtype=i32",
    "f64[7] dtype=i32", "f64[8] dtype=i64", "f64[7] dtype=i64",
    "f64[64] dtype=u8", "f64[63] dtype=u8", NULL,
};

/* To the operand that was taken; half to each where they are equal. */
#define EXTREME_GRAD                                                                               \
    "a: masked_fill(where(eq(a, b), affine(g, mul=0.5), g), ne(a, out));"                          \
    "b: masked_fill(where(eq(a, b), affine(g, mul=0.5), g), ne(b, out))"

#define TABLE tsr__ops_pointwise
#define ROW(OP, id)                                                                                \
    .name = #id, .kind = TSR_POINTWISE_##OP, .kernel = tsr__kernel_pointwise,                      \
    .shape = pointwise_shape
#define CASES(name) name##_cases
#include "ops/pointwise/pointwise_rows.inc.h"

#define TABLE tsr__ops_inplace
#define ROW(OP, id)                                                                                \
    .name = #id "_inplace", .kind = TSR_POINTWISE_##OP, .kernel = tsr__kernel_pointwise,           \
    .inplace = true, .shape = pointwise_shape
#define CASES(name) name##_inplace_cases
#include "ops/pointwise/pointwise_rows.inc.h"

/* So many that some slopes are negative. */
static const char *const slope_cases[] = {"f64[8,10] f64[8,10]", "f64[9,7] f64[9,7]", NULL};
static const char *const gelu_slope_cases[] = {
    "f64[8,10] f64[8,10]",
    "f64[9,7] f64[9,7]",
    "f64[64] f64[64] tanh=true",
    "f64[63] f64[63] tanh=true",
    NULL,
};

#define BACKWARD(OP, id)                                                                           \
    .name = #id "_backward", .kind = TSR_POINTWISE_##OP##_BACKWARD,                                \
    .kernel = tsr__kernel_pointwise, .shape = pointwise_shape, .axes = BINARY, .linear = "grad"

/* A gradient times a slope, in one pass; by the output where that says it. */
const tsr_op tsr__ops_activation_grad[] = {
    {BACKWARD(RELU, relu), .inputs = "grad,y",
     .doc =
         "Computes the gradient of relu's input from grad and the output y: 0 where y <= 0, else "
         "grad.",
     .monotone = "+grad", .cases = slope_cases},
    {BACKWARD(TANH, tanh), .inputs = "grad,y",
     .doc = "Computes the gradient of tanh's input from grad and the output y: grad (1 - y^2).",
     .cases = slope_cases},
    {BACKWARD(SIGMOID, sigmoid), .inputs = "grad,y",
     .doc = "Computes the gradient of sigmoid's input from grad and the output y: grad y (1 - y).",
     .cases = slope_cases},
    {BACKWARD(SILU, silu), .inputs = "grad,x",
     .doc = "Computes the gradient of silu's input x from grad.", .cases = slope_cases},
    {BACKWARD(MISH, mish), .inputs = "grad,x",
     .doc = "Computes the gradient of mish's input x from grad.", .cases = slope_cases},
    {BACKWARD(GELU, gelu), .inputs = "grad,x", .attrs = "tanh:bool=false",
     .params = "grad, x, tanh:by_tanh",
     .doc = "Computes the gradient of gelu's input x from grad; tanh as in gelu.",
     .cases = gelu_slope_cases},
    {0},
};

static const char *const compare_cases[] = {
    "f64[4,6] f64[4,6]", "f64[5,3] f64[5,3]", "f64[4,1] f64[6]", "f64[5,1] f64[7]", NULL,
};
static const char *const logic_cases[] = {
    "bool[4,6] bool[4,6]", "bool[5,3] bool[5,3]", "bool[4,1] bool[6]", "bool[5,1] bool[7]", NULL,
};
static const char *const not_cases[] = {"bool[8]", "bool[7]", "bool[4,6]", "bool[5,3]", NULL};

#define COMPARES(OP, id, text, tries)                                                              \
    .name = #id, .inputs = "a,b", .doc = text, .kind = TSR_POINTWISE_##OP, .axes = BINARY,         \
    .kernel = tsr__kernel_pointwise, .grad = tsr_grad_none, .shape = pointwise_shape,              \
    .cases = tries

/* Those whose output is of another dtype than the first input. */
const tsr_op tsr__ops_compare[] = {
    {COMPARES(EQ, eq, "True where a == b.", compare_cases)},
    {COMPARES(NE, ne, "True where a != b.", compare_cases)},
    {COMPARES(LT, lt, "True where a < b.", compare_cases)},
    {COMPARES(LE, le, "True where a <= b.", compare_cases)},
    {COMPARES(GT, gt, "True where a > b.", compare_cases)},
    {COMPARES(GE, ge, "True where a >= b.", compare_cases)},
    {COMPARES(LOGICAL_AND, logical_and, "True where both a and b are nonzero.", logic_cases)},
    {COMPARES(LOGICAL_OR, logical_or, "True where a or b is nonzero.", logic_cases)},
    {.name = "logical_not",
     .inputs = "x",
     .doc = "True where x is zero.",
     .kind = TSR_POINTWISE_LOGICAL_NOT,
     .axes = UNARY,
     .kernel = tsr__kernel_pointwise,
     .grad = tsr_grad_none,
     .shape = pointwise_shape,
     .cases = not_cases},
    {.name = "where",
     .inputs = "cond,a,b",
     .doc = "Selects a where cond is true, else b. cond is bool.",
     .kind = TSR_POINTWISE_WHERE,
     .rule = special_rule,
     .kernel = tsr__kernel_pointwise,
     .grad_expr = "a: masked_fill(g, logical_not(cond)); b: masked_fill(g, cond)",
     .shape = pointwise_shape,
     .cases = where_cases},
    {.name = "cast",
     .inputs = "x",
     .attrs = "dtype:dtype",
     .doc = "Converts x to another dtype. Float-to-integer conversion truncates toward zero; "
            "out-of-range values saturate.",
     .kind = TSR_POINTWISE_CAST,
     .rule = special_rule,
     .kernel = tsr__kernel_cast,
     .grad_expr = "x: g",
     .shape = cast_shape,
     .cases = cast_cases},
    {0},
};
