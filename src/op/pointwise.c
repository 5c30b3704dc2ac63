/* SPDX-License-Identifier: Apache-2.0 */
/* pointwise.c - ops that treat every element alike; leading axes broadcast. */
#include "op/families.h"
#include "op/infer.h"

static const char *const binary_cases[] = {
    "f64[4,6] f64[4,6]",   "f64[5,3] f64[5,3]", "f64[4,6,2] f64[6,2]",
    "f64[5,3,7] f64[3,7]", "f64[4,1] f64[1,6]", "f64[5,1] f64[1,7]",
    "f64[5,3] f64[5,1]",   "f64[4,5,3] f64[3]", NULL,
};

static const char *const unary_cases[] = {
    "f64[8]", "f64[7]", "f64[4,6]", "f64[5,3]", NULL,
};

/* What is overwritten keeps its shape. */
static tsr_status inplace_shape(tsr_schema *s, tsr_error *err)
{
    char text[2 * TSR_TEXT_LEN];
    tsr_status st;

    TSR_TRY(tsr__shape_broadcast(s, err));
    for (int d = 0; d < s->out_shape[0].ndim; d++)
        if (s->in[0].shape.ndim != s->out_shape[0].ndim ||
            s->in[0].shape.size[d] != s->out_shape[0].size[d])
            return tsr__fail(err, TSR_ERR_SHAPE, "%s: the result does not fit its first input, %s",
                             s->op->name, tsr_schema_text(s, text, sizeof text));
done:
    return st;
}

static const char *const inplace_cases[] = {
    "f64[4,6] f64[4,6]", "f64[5,3] f64[5,3]", "f64[4,6,2] f64[6,2]", "f64[5,3,7] f64[3,7]", NULL,
};

const tsr_op tsr__ops_pointwise[] = {
    {.name = "add",
     .inputs = "a,b",
     .doc = "a + b, element by element",
     .axes = "...,...->...",
     .linear = "a+b",
     .monotone = "+a+b",
     .shape = tsr__shape_broadcast,
     .kernel = tsr__kernel_add,
     .grad = tsr__grad_add,
     .in_field = true,
     .cases = binary_cases},
    {.name = "mul",
     .inputs = "a,b",
     .doc = "a times b, element by element",
     .axes = "...,...->...",
     .linear = "a*b",
     .shape = tsr__shape_broadcast,
     .kernel = tsr__kernel_mul,
     .grad = tsr__grad_mul,
     .in_field = true,
     .cases = binary_cases},
    {.name = "add_inplace",
     .inputs = "a,b",
     .doc = "a + b into a, which keeps its placements",
     .axes = "...,...->...",
     .linear = "a+b",
     .monotone = "+a+b",
     .shape = inplace_shape,
     .kernel = tsr__kernel_add,
     .in_field = true,
     .inplace = true,
     .cases = inplace_cases},
    {.name = "mul_inplace",
     .inputs = "a,b",
     .doc = "a times b into a, which keeps its placements",
     .axes = "...,...->...",
     .linear = "a*b",
     .shape = inplace_shape,
     .kernel = tsr__kernel_mul,
     .in_field = true,
     .inplace = true,
     .cases = inplace_cases},
    {.name = "neg",
     .inputs = "x",
     .doc = "-x",
     .axes = "...->...",
     .linear = "x",
     .monotone = "-x",
     .shape = tsr__shape_same,
     .kernel = tsr__kernel_neg,
     .grad = tsr__grad_neg,
     .in_field = true,
     .cases = unary_cases},
    {.name = "relu",
     .inputs = "x",
     .doc = "x where it is positive, else 0",
     .axes = "...->...",
     .monotone = "+x",
     .shape = tsr__shape_same,
     .kernel = tsr__kernel_relu,
     .cases = unary_cases},
    {0},
};
