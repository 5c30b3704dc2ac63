/* SPDX-License-Identifier: Apache-2.0 */
/* pointwise.c - ops that treat every element alike; leading axes broadcast. */
#include "op/families.h"
#include "op/infer.h"

static const char *const binary_cases[] = {
    "f64[4,6] f64[4,6]",
    "f64[5,3] f64[5,3]",
    "f64[4,6,2] f64[6,2]",
    "f64[5,3,7] f64[3,7]",
    "f64[4,1] f64[1,6]",
    "f64[5,1] f64[1,7]",
    NULL,
};

static const char *const unary_cases[] = {
    "f64[8]", "f64[7]", "f64[4,6]", "f64[5,3]", NULL,
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
     .cases = binary_cases},
    {.name = "mul",
     .inputs = "a,b",
     .doc = "a times b, element by element",
     .axes = "...,...->...",
     .linear = "a*b",
     .shape = tsr__shape_broadcast,
     .kernel = tsr__kernel_mul,
     .cases = binary_cases},
    {.name = "neg",
     .inputs = "x",
     .doc = "-x",
     .axes = "...->...",
     .linear = "x",
     .monotone = "-x",
     .shape = tsr__shape_same,
     .kernel = tsr__kernel_neg,
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
