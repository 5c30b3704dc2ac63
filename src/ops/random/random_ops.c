/* SPDX-License-Identifier: Apache-2.0 */
/* random_ops.c - rows of random numbers. Each element has those of its place in the whole tensor
   (ops/random/random.h), so meshes, layouts and worlds do not matter. Seed and offset choose the
   stream. */
#include <inttypes.h>
#include <math.h>

#include "ops/random/random.h"
#include "kernel/kinds.h"
#include "ops/random/creation_ops.h"
#include "ops/random/random_ops.h"
#include "op/infer.h"

#define STREAM "seed:seed=0,offset:seed=0"

static tsr_status check_probability(const tsr_schema *s, tsr_error *err)
{
    const double p = tsr_schema_attr(s, "p")->f;

    if (p >= 0 && p <= 1)
        return TSR_OK;
    return tsr__fail(err, TSR_ERR_ARG, "%s: p is %g, must be in [0, 1]", s->op->name, p);
}

static tsr_status uniform_shape(tsr_schema *s, tsr_error *err)
{
    const double low = tsr_schema_attr(s, "low")->f, high = tsr_schema_attr(s, "high")->f;
    tsr_status st;

    TSR_TRY(tsr__needs_float(s, err));
    if (isinf(low) || isinf(high))
        TSR_TRY(tsr__fail(err, TSR_ERR_ARG, "uniform: low and high are %g and %g, not finite", low,
                          high));
    if (!(low <= high))
        TSR_TRY(
            tsr__fail(err, TSR_ERR_ARG, "uniform: low is %g, greater than high, %g", low, high));
    TSR_TRY(tsr__shape_same(s, err));
done:
    return st;
}

static tsr_status normal_shape(tsr_schema *s, tsr_error *err)
{
    const double std = tsr_schema_attr(s, "std")->f;
    tsr_status st;

    TSR_TRY(tsr__needs_float(s, err));
    if (!(std >= 0))
        TSR_TRY(tsr__fail(err, TSR_ERR_ARG, "normal: std is %g, must be at least 0", std));
    TSR_TRY(tsr__shape_same(s, err));
done:
    return st;
}

static tsr_status bernoulli_shape(tsr_schema *s, tsr_error *err)
{
    tsr_status st;

    TSR_TRY(check_probability(s, err));
    TSR_TRY(tsr__shape_same(s, err));
done:
    return st;
}

static tsr_status dropout_shape(tsr_schema *s, tsr_error *err)
{
    tsr_status st;

    TSR_TRY(tsr__needs_float(s, err));
    TSR_TRY(bernoulli_shape(s, err));
done:
    return st;
}

/* All of low to high - 1 must be numbers of the dtype. */
static tsr_status randint_shape(tsr_schema *s, tsr_error *err)
{
    const int64_t low = tsr_schema_attr(s, "low")->i[0], high = tsr_schema_attr(s, "high")->i[0];
    const tsr_dtype dtype = s->in[0].dtype;
    char text[TSR_TEXT_LEN];

    if (!tsr__dtype_is_integer(dtype))
        return tsr__fail(err, TSR_ERR_DTYPE, "randint: needs an integer type, not %s",
                         tsr_spec_text(&s->in[0], text, sizeof text));
    if (tsr_schema_attr(s, "high")->n < 0)
        return tsr__fail(err, TSR_ERR_ARG, "randint: missing required attribute high");
    if (low >= high)
        return tsr__fail(err, TSR_ERR_ARG,
                         "randint: low is %" PRId64 ", must be less than high, %" PRId64, low,
                         high);
    if (low < tsr__dtype_min(dtype) || (high > 1 && (uint64_t)high - 1 > tsr__dtype_max(dtype)))
        return tsr__fail(err, TSR_ERR_ARG,
                         "randint: %" PRId64 " to %" PRId64 " do not all fit dtype %s", low,
                         high - 1, tsr_spec_text(&s->in[0], text, sizeof text));
    return tsr__shape_same(s, err);
}

static tsr_status permutation_shape(tsr_schema *s, tsr_error *err)
{
    const tsr_spec *x = &s->in[0];
    char text[TSR_TEXT_LEN];

    if (!tsr__dtype_is_integer(x->dtype))
        return tsr__fail(err, TSR_ERR_DTYPE, "permutation: needs an integer type, not %s",
                         tsr_spec_text(x, text, sizeof text));
    if (x->shape.ndim != 1)
        return tsr__fail(err, TSR_ERR_SHAPE, "permutation: needs a 1-D tensor, not %s",
                         tsr_spec_text(x, text, sizeof text));
    if (x->shape.size[0] > 0 && (uint64_t)x->shape.size[0] - 1 > tsr__dtype_max(x->dtype))
        return tsr__fail(err, TSR_ERR_ARG,
                         "permutation: %s has more elements than its dtype can index",
                         tsr_spec_text(x, text, sizeof text));
    return tsr__shape_same(s, err);
}

static tsr_status dropout_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (int d = 0; d < s->in[0].shape.ndim; d++) {
        tsr_rule rule = {.in = {tsr_rule_shard(d)}, .out = {tsr_rule_shard(d)}};
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
done:
    return st;
}

static const char *const uniform_cases[] = {"f64[4,6] seed=7", "f64[5,3] seed=7",
                                            "f64[4,6] low=-2 high=3 offset=5",
                                            "f64[5,3] low=-2 high=3 offset=5", NULL};
static const char *const normal_cases[] = {"f64[4,6] seed=7", "f64[5,3] seed=7",
                                           "f64[4,6] mean=9 std=0.5 offset=5",
                                           "f64[5,3] mean=9 std=0.5 offset=5", NULL};
static const char *const bernoulli_cases[] = {
    "f64[4,6] seed=7", "f64[5,3] seed=7", "i64[8] p=0.25 offset=5", "i64[7] p=0.25 offset=5", NULL};
static const char *const randint_cases[] = {
    "i64[4,6]<10 high=10 seed=7", "i64[5,3]<10 high=10 seed=7", "i64[8]<10 low=-3 high=3 offset=5",
    "i64[7]<10 low=-3 high=3 offset=5", NULL};
static const char *const permutation_cases[] = {"i64[8]<10 seed=7", "i64[13]<10 seed=7",
                                                "i64[9]<10 offset=5", NULL};
static const char *const dropout_cases[] = {"f64[4,6] seed=7", "f64[5,3] seed=7",
                                            "f64[4,6] p=0.25 offset=5", "f64[5,3] p=0.25 offset=5",
                                            NULL};

/* What rows have in common. */
#define RANDOM TSR_FILLS, .kernel = tsr__kernel_random, .bind_rank = tsr__bind_sizes

const tsr_op tsr__ops_random[] = {
    {RANDOM, .name = "uniform", .attrs = "low:float=0,high:float=1," STREAM,
     .doc = "Fills x with random numbers, uniform in [low, high).", .shape = uniform_shape,
     .kind = TSR_RANDOM_UNIFORM, .cases = uniform_cases},
    {RANDOM, .name = "normal", .attrs = "mean:number=0,std:number=1," STREAM,
     .doc = "Fills x with normally distributed random numbers.", .shape = normal_shape,
     .kind = TSR_RANDOM_NORMAL, .cases = normal_cases},
    {RANDOM, .name = "bernoulli", .attrs = "p:number=0.5," STREAM,
     .doc = "Fills x with ones with probability p, else zeros.", .shape = bernoulli_shape,
     .kind = TSR_RANDOM_BERNOULLI, .cases = bernoulli_cases},
    {RANDOM, .name = "randint", .attrs = "low:int=0,high:int," STREAM,
     .doc = "Fills x with random integers, uniform in [low, high).", .shape = randint_shape,
     .kind = TSR_RANDOM_RANDINT, .cases = randint_cases},
    {RANDOM, .name = "permutation", .attrs = STREAM,
     .doc = "Fills x with a random permutation of 0 to n - 1.", .shape = permutation_shape,
     .kind = TSR_RANDOM_PERMUTATION, .cases = permutation_cases},
    {.name = "dropout",
     .inputs = "x",
     .attrs = "p:number=0.5," STREAM,
     .doc =
         "Zeroes each element with probability p and scales the others by 1 / (1 - p). No mask is "
         "stored: the gradient draws the same random numbers again.",
     .rule = dropout_rule,
     .linear = "x",
     .monotone = "+x",
     .positions = true,
     .shape = dropout_shape,
     .kind = TSR_RANDOM_DROPOUT,
     .kernel = tsr__kernel_random,
     .bind_rank = tsr__bind_sizes,
     .grad_expr = "x: dropout(g, ...)",
     .cases = dropout_cases},
    {0},
};
