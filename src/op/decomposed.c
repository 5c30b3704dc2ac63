/* SPDX-License-Identifier: Apache-2.0 */
/* decomposed.c - ops that are texts of others: shapes, sharding and gradients follow from these. */
#include "op/families.h"

static const char *const unary_cases[] = {
    "f64[8]", "f64[7]", "f64[4,6]", "f64[5,3]", NULL,
};

const tsr_op tsr__ops_decomposed[] = {
    {.name = "square",
     .inputs = "x",
     .doc = "x times x",
     .means = "mul(x, x)",
     .cases = unary_cases},
    {0},
};
