/* SPDX-License-Identifier: Apache-2.0 */
/* softmax.c - normalisation along a dim: that dim is blocked, all others shard. */
#include "op/families.h"
#include "op/infer.h"

static tsr_status softmax_shape(tsr_schema *s, tsr_error *err)
{
    int dim;
    tsr_status st;

    TSR_TRY(tsr__needs_float(s, err));
    TSR_TRY(tsr__dim_normalise(s, tsr_schema_attr(s, "dim")->i[0], s->in[0].shape.ndim, &dim, err));
    TSR_TRY(tsr__shape_same(s, err));
done:
    return st;
}

static tsr_status softmax_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    int dim, ndim = s->in[0].shape.ndim;
    tsr_status st;

    TSR_TRY(tsr__dim_normalise(s, tsr_schema_attr(s, "dim")->i[0], ndim, &dim, err));
    for (int d = 0; d < ndim; d++)
        if (d != dim)
            TSR_TRY(tsr_rule_add(
                out, &(tsr_rule){.in = {tsr_mark_shard(d)}, .out = {tsr_mark_shard(d)}}, err));
done:
    return st;
}

static const char *const softmax_cases[] = {
    "f64[4,6]",         "f64[5,7]", "f64[4,6] dim=0", "f64[5,3] dim=0", "f64[4,2,6] dim=1",
    "f64[5,3,2] dim=1", NULL,
};

const tsr_op tsr__ops_softmax[] = {
    {.name = "softmax",
     .inputs = "x",
     .attrs = "dim:int=-1",
     .doc = "normalised exponential along dim",
     .rule = softmax_rule,
     .shape = softmax_shape,
     .kernel = tsr__kernel_softmax,
     .cases = softmax_cases},
    {0},
};
