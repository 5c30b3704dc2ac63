/* SPDX-License-Identifier: Apache-2.0 */
/* creation_ops.c - rows that fill a tensor, whose spec says all there is to know, by a formula of
   its elements' places: in place, as what it held does not count. */
#include "ops/random/creation_ops.h"
#include "kernel/kinds.h"

#include "base/reduce.h"
#include "ops/random/creation.h"
#include "ops/random/random_ops.h"
#include "op/infer.h"
#include "op/linear.h"

tsr_status tsr__filled_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (int reduce = TSR_SUM; reduce <= TSR_PROD; reduce++) {
        tsr_rule rule = {.in = {tsr_rule_partial((tsr_reduce)reduce)}};
        if (tsr__reduce_check(s->in[0].dtype, (tsr_reduce)reduce, NULL) == TSR_OK)
            TSR_TRY(tsr_rule_add(out, &rule, err));
    }
    for (int d = 0; d < s->in[0].shape.ndim; d++) {
        tsr_rule rule = {.in = {tsr_rule_shard(d)}, .out = {tsr_rule_shard(d)}};
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
done:
    return st;
}

static tsr_status arange_shape(tsr_schema *s, tsr_error *err)
{
    tsr_status st;

    TSR_TRY(tsr__element_check(s, 0, s->in[0].dtype, err));
    if (tsr__dtype_is_integer(s->in[0].dtype)) /* a step down too, where nothing is negative */
        TSR_TRY(tsr__element_check(s, 1, TSR_I64, err));
    TSR_TRY(tsr__shape_same(s, err));
done:
    return st;
}

static tsr_status linspace_shape(tsr_schema *s, tsr_error *err)
{
    tsr_status st;

    TSR_TRY(tsr__needs_float(s, err));
    TSR_TRY(tsr__shape_same(s, err));
done:
    return st;
}

static tsr_status eye_shape(tsr_schema *s, tsr_error *err)
{
    char text[TSR_TEXT_LEN];

    if (s->in[0].shape.ndim < 2)
        return tsr__fail(err, TSR_ERR_SHAPE, "eye: needs a matrix, not %s",
                         tsr_spec_text(&s->in[0], text, sizeof text));
    return tsr__shape_same(s, err);
}

static const char *const arange_cases[] = {"f64[4,6]",
                                           "f64[5,3]",
                                           "f64[4,6,2] start=-3 step=0.5",
                                           "f64[5,3,7] start=-3 step=0.5",
                                           "i64[8] start=2 step=3",
                                           "i64[7] start=2 step=3",
                                           NULL};
static const char *const linspace_cases[] = {"f64[4,6] start=-1 stop=2", "f64[5,3] start=-1 stop=2",
                                             NULL};
static const char *const eye_cases[] = {"f64[6,6]", "f64[5,7]", "f64[2,6,4]", "f64[3,5,5]", NULL};

/* What rows have in common. */
#define FORMULA TSR_FILLS, .kernel = tsr__kernel_formula, .bind_rank = tsr__bind_sizes

const tsr_op tsr__ops_creation[] = {
    {FORMULA, .name = "arange", .attrs = "start:element=0,step:element=1",
     .doc = "Fills x with start + i step, where i counts elements in row-major order.",
     .shape = arange_shape, .kind = TSR_CREATION_ARANGE, .cases = arange_cases},
    {FORMULA, .name = "linspace", .attrs = "start:number=0,stop:number=1",
     .doc =
         "Fills x with evenly spaced values from start to stop, both included, in row-major order.",
     .shape = linspace_shape, .kind = TSR_CREATION_LINSPACE, .cases = linspace_cases},
    {TSR_FILLS, .name = "eye",
     .doc = "Fills x with ones on the diagonal of the last two dims and zeros elsewhere.",
     .shape = eye_shape, .kernel = tsr__kernel_eye, .cases = eye_cases},
    {0},
};
