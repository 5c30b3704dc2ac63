/* SPDX-License-Identifier: Apache-2.0 */
/* reduction.c - reductions over any dims. Which axes are reduced is an attribute, so the rule is a
   function: a dim that stays is sharded here and there, a reduced one yields a partial result. */
#include "base/reduce.h"
#include "kernel/index.h"
#include "kernel/kinds.h"
#include "ops/reduction/reduction_ops.h"
#include "op/infer.h"
#include "op/linear.h"
#include "ops/reduction/merged_dims.h"
#include "ops/reduction/reduction_attrs.h"

/* Kernels of all of these find the dims in one place. */
_Static_assert(
    (int)TSR_ATTR_SUM_DIMS == TSR_REDUCED_DIMS && (int)TSR_ATTR_MEAN_DIMS == TSR_REDUCED_DIMS &&
        (int)TSR_ATTR_MAX_DIMS == TSR_REDUCED_DIMS && (int)TSR_ATTR_MIN_DIMS == TSR_REDUCED_DIMS &&
        (int)TSR_ATTR_PROD_DIMS == TSR_REDUCED_DIMS &&
        (int)TSR_ATTR_NORM_DIMS == TSR_REDUCED_DIMS && (int)TSR_ATTR_VAR_DIMS == TSR_REDUCED_DIMS &&
        (int)TSR_ATTR_STD_DIMS == TSR_REDUCED_DIMS &&
        (int)TSR_ATTR_LOGSUMEXP_DIMS == TSR_REDUCED_DIMS &&
        (int)TSR_ATTR_ANY_DIMS == TSR_REDUCED_DIMS && (int)TSR_ATTR_ALL_DIMS == TSR_REDUCED_DIMS,
    "dims come first");

tsr_shape tsr__reduced_shape(const tsr_schema *s, unsigned reduced)
{
    const tsr_shape *x = &s->in[0].shape;
    bool keep = tsr_schema_attr(s, "keepdim")->i[0];
    tsr_shape out = {0};

    for (int d = 0; d < x->ndim; d++) {
        if (!(reduced >> d & 1))
            out.size[out.ndim++] = x->size[d];
        else if (keep)
            out.size[out.ndim++] = 1;
    }
    return out;
}

tsr_status tsr__not_empty(const tsr_schema *s, unsigned reduced, const char *what, tsr_error *err)
{
    const tsr_shape *x = &s->in[0].shape;
    char text[TSR_TEXT_LEN];

    for (int d = 0; d < x->ndim; d++)
        if ((reduced >> d & 1) && x->size[d] == 0)
            return tsr__fail(err, TSR_ERR_SHAPE, "%s: dim %d of %s is empty, it has no %s",
                             s->op->name, d, tsr_spec_text(&s->in[0], text, sizeof text), what);
    return TSR_OK;
}

static tsr_status reduction_shape(tsr_schema *s, tsr_error *err)
{
    unsigned reduced;
    tsr_status st;

    TSR_TRY(tsr__dims_mask(s, &reduced, err));
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0] = tsr__reduced_shape(s, reduced);
done:
    return st;
}

static tsr_status mean_shape(tsr_schema *s, tsr_error *err)
{
    tsr_status st = tsr__needs_float(s, err);
    return st == TSR_OK ? reduction_shape(s, err) : st;
}

static tsr_status extreme_shape(tsr_schema *s, tsr_error *err)
{
    unsigned reduced;
    tsr_status st;

    TSR_TRY(tsr__dims_mask(s, &reduced, err));
    TSR_TRY(tsr__not_empty(s, reduced, s->op->reduce == TSR_MAX ? "maximum" : "minimum", err));
    TSR_TRY(reduction_shape(s, err));
done:
    return st;
}

/* Is a sharded dim reduced to P(avg)? */
static bool is_averaged(const tsr_placement *in, const tsr_placement *out)
{
    return (in->kind == TSR_SHARD || in->kind == TSR_STRIDED) && out->kind == TSR_PARTIAL &&
           out->reduce == TSR_AVG;
}

/* The sum is divided by the number of elements that the whole result stands for, so parts add up to
   it; where they will be averaged, a part counts as many times as there are parts. Of nothing every
   part is NaN, and so is what they add up to. */
static void mean_bind_rank(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                           const int *coord, tsr_kernel_call *call)
{
    int64_t n = tsr_shape_count(&s->in[0].shape), results = tsr_shape_count(&s->out_shape[0]);

    (void)coord;
    call->number[0] = results == 0 ? 1 : n > 0 ? n / results : TSR_MEAN_OF_NOTHING;
    call->number[1] = 1;
    for (int m = 0; m < in->mesh.ndim; m++)
        if (is_averaged(&in->place[m], &out->place[m]))
            call->number[1] *= in->mesh.size[m];
}

static tsr_status reduction_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    bool keep = tsr_schema_attr(s, "keepdim")->i[0];
    bool partial =
        tsr__reduce_check(s->in[0].dtype, s->op->reduce, NULL) == TSR_OK && /* not bool */
        (s->op->reduce != TSR_PROD || tsr__dtype_has_partial_products(s->in[0].dtype));
    unsigned reduced;
    int to = 0;
    tsr_status st;

    TSR_TRY(tsr__dims_mask(s, &reduced, err));
    for (int d = 0; d < s->in[0].shape.ndim; d++) {
        tsr_rule rule = {.in = {tsr_rule_shard(d)}};
        bool gone = reduced >> d & 1;
        rule.out[0] = gone ? tsr_rule_partial(s->op->reduce) : tsr_rule_shard(to);
        to += !gone || keep;
        if (!gone || partial)
            TSR_TRY(tsr_rule_add(out, &rule, err));
    }
    for (int d = 0; d < s->in[0].shape.ndim && s->op->bind_rank == mean_bind_rank; d++)
        if (reduced >> d & 1)
            TSR_TRY(tsr_rule_add(
                out, &(tsr_rule){.in = {tsr_rule_shard(d)}, .out = {tsr_rule_partial(TSR_AVG)}},
                err));
    /* the largest of the largest; not so for P(min), so max is not monotone in a partial input */
    if (!s->op->linear && partial)
        TSR_TRY(tsr_rule_add(out,
                             &(tsr_rule){.in = {tsr_rule_partial(s->op->reduce)},
                                         .out = {tsr_rule_partial(s->op->reduce)}},
                             err));
done:
    return st;
}

static const char *const reduction_cases[] = {
    "f64[4,6]",
    "f64[5,3]",
    "f64[4,6] dims=0",
    "f64[5,3] dims=0",
    "f64[4,6] dims=1",
    "f64[5,7] dims=1",
    "f64[4,6,2] dims=1,2",
    "f64[5,3,7] dims=1,2",
    "f64[4,2,6] dims=0,2 keepdim=true",
    "f64[5,3,2] dims=0,2 keepdim=true",
    NULL,
};

/* Products of few elements: those of more are too large for f16. */
static const char *const few_cases[] = {
    "f64[4,2]",
    "f64[3,3]",
    "f64[4,3,2] dims=0,2 keepdim=true",
    "f64[3,2,3] dims=0,2 keepdim=true",
    "f64[4,6] dims=1",
    "f64[5,7] dims=1",
    NULL,
};

/* What rows have in common. */
#define REDUCE                                                                                     \
    .inputs = "x", .attrs = "dims:dims?,keepdim:bool=false", .rule = reduction_rule,               \
    .kernel = tsr__kernel_reduce
#define EXTREME REDUCE, .shape = extreme_shape, .grad = tsr__grad_extreme, .saves = "x,out"

const tsr_op tsr__ops_reduction[] = {
    {REDUCE, .name = "sum",
     .doc = "Sums over dims (default: all). Integers wrap in their own dtype.", .reduce = TSR_SUM,
     .linear = "x", .shape = reduction_shape, .kind = TSR_REDUCTION_SUM, .in_field = true,
     .grad = tsr__grad_total, .saves = "", .cases = reduction_cases},
    {REDUCE, .name = "mean",
     .doc = "Averages over dims (default: all). The mean of no elements is NaN.", .reduce = TSR_SUM,
     .linear = "x", .shape = mean_shape, .kind = TSR_REDUCTION_MEAN, .in_field = true,
     .bind_rank = mean_bind_rank, .grad = tsr__grad_mean, .saves = "", .cases = reduction_cases},
    {EXTREME, .name = "max",
     .doc = "Takes the maximum over dims (default: all). Equal maxima share the gradient equally.",
     .reduce = TSR_MAX, .kind = TSR_REDUCTION_MAX, .cases = reduction_cases},
    {EXTREME, .name = "min",
     .doc = "Takes the minimum over dims (default: all). Equal minima share the gradient equally.",
     .reduce = TSR_MIN, .kind = TSR_REDUCTION_MIN, .cases = few_cases},
    {REDUCE, .name = "prod",
     .doc = "Multiplies over dims (default: all). Integers wrap in their own dtype.",
     .reduce = TSR_PROD, .shape = reduction_shape, .kind = TSR_REDUCTION_PROD, .in_field = true,
     .grad = tsr__grad_prod, .saves = "x", .cases = few_cases},
    {0},
};
