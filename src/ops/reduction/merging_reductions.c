/* SPDX-License-Identifier: Apache-2.0 */
/* merging_reductions.c - reductions whose parts on several ranks are not simply added up: norms,
   variances, logsumexp, any and all, and where the largest and smallest elements are. A shard of a
   reduced dim leaves every rank with a few words per result; they are exchanged and merged
   (run/merged.c), which costs what comm says. */
#include <math.h>

#include "ops/reduction/reduction_ops.h"
#include "ops/reduction/statistic.h"
#include "kernel/kinds.h"
#include "op/infer.h"
#include "ops/reduction/arg.h"
#include "ops/reduction/merged_dims.h"

/* ---- shapes ---- */

static tsr_status reduced_shape(tsr_schema *s, tsr_dtype dtype, tsr_error *err)
{
    unsigned reduced;
    tsr_status st;

    TSR_TRY(tsr__merged_dims(s, &reduced, err));
    s->out_dtype[0] = dtype;
    s->out_shape[0] = tsr__reduced_shape(s, reduced);
done:
    return st;
}

static tsr_status float_shape(tsr_schema *s, tsr_error *err)
{
    char text[TSR_TEXT_LEN];

    if (!tsr__dtype_is_float(s->in[0].dtype))
        return tsr__fail(err, TSR_ERR_DTYPE, "%s: needs a floating-point dtype, not %s",
                         s->op->name, tsr_spec_text(&s->in[0], text, sizeof text));
    return reduced_shape(s, s->in[0].dtype, err);
}

static tsr_status norm_shape(tsr_schema *s, tsr_error *err)
{
    double p = tsr_schema_attr(s, "p")->f;

    if (p == 1 || p == 2 || (isinf(p) && p > 0))
        return float_shape(s, err);
    return tsr__fail(err, TSR_ERR_ARG, "%s: p must be 1, 2 or inf, not %g", s->op->name, p);
}

static tsr_status any_all_shape(tsr_schema *s, tsr_error *err)
{
    return reduced_shape(s, TSR_BOOL, err);
}

static tsr_status arg_shape(tsr_schema *s, tsr_error *err)
{
    unsigned reduced;
    tsr_status st;

    TSR_TRY(tsr__merged_dims(s, &reduced, err));
    TSR_TRY(tsr__not_empty(s, reduced, "largest or smallest element", err));
    TSR_TRY(reduced_shape(s, TSR_I64, err));
done:
    return st;
}

/* ---- rules ---- */

/* A dim that stays is sharded here and there. Parts of a reduced one are merged, or stay partial if
   `partial` is the op's reduction; places are told from where parts begin, so of those whose op
   asks for places they are not in pieces. */
static tsr_status add_rules(const tsr_schema *s, const tsr_rule_placement *reduced, bool plain,
                            tsr_rules *out, tsr_error *err)
{
    bool keep = tsr_schema_attr(s, "keepdim")->i[0];
    unsigned gone;
    int to = 0;
    tsr_status st;

    TSR_TRY(tsr__merged_dims(s, &gone, err));
    for (int d = 0; d < s->in[0].shape.ndim; d++) {
        bool merged = gone >> d & 1;
        tsr_rule rule = {.in = {tsr_rule_shard(d)}};

        if (merged && plain)
            rule.in[0].open = false;
        rule.out[0] = merged ? *reduced : tsr_rule_shard(to);
        to += !merged || keep;
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
done:
    return st;
}

static tsr_status merging_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    return add_rules(s, &(tsr_rule_placement){.open = false}, false, out, err);
}

static tsr_status norm_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    double p = tsr_schema_attr(s, "p")->f;
    tsr_rule_placement partial = tsr_rule_partial(p == 1 ? TSR_SUM : TSR_MAX);

    return p == 2 ? merging_rule(s, out, err) : add_rules(s, &partial, false, out, err);
}

static tsr_status arg_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    return add_rules(s, &(tsr_rule_placement){.open = false}, true, out, err);
}

/* ---- rows ---- */

static const char *const norm_cases[] = {
    "f64[4,6]",
    "f64[5,3]",
    "f64[4,6] dims=0 p=1",
    "f64[5,7] dims=0 p=1",
    "f64[4,6] dims=1 p=inf keepdim=true",
    "f64[5,3] dims=1 p=inf keepdim=true",
    NULL,
};
static const char *const var_cases[] = {
    "f64[4,6]",
    "f64[5,3]",
    "f64[4,3,2] dims=0,2 correction=0",
    "f64[5,3,3] dims=0,2 correction=0",
    "f64[4,6] dims=1 keepdim=true",
    "f64[5,3] dims=1 keepdim=true",
    NULL,
};
static const char *const merging_cases[] = {
    "f64[4,6]",
    "f64[5,3]",
    "f64[4,3,2] dims=0,2",
    "f64[5,3,3] dims=0,2",
    "f64[4,6] dims=1 keepdim=true",
    "f64[5,3] dims=1 keepdim=true",
    NULL,
};
/* Numbers are never 0 in trials. */
static const char *const any_all_cases[] = {
    "bool[2,6] dims=0",
    "bool[3,5] dims=0",
    "bool[4,2] dims=1 keepdim=true",
    "bool[5,3] dims=1 keepdim=true",
    "bool[1,4]",
    "bool[1,5]",
    "bool[3,1]",
    NULL,
};
static const char *const arg_cases[] = {
    "f64[4,6]",
    "f64[5,3]",
    "f64[4,6] dim=0",
    "f64[5,7] dim=0",
    "i64[4,6] dim=-1 keepdim=true",
    "i64[5,3] dim=-1 keepdim=true",
    NULL,
};

/* What rows have in common. */
#define MERGED(steps)                                                                              \
    .inputs = "x", .merge = &(const tsr_merge)                                                     \
    {                                                                                              \
        &(steps), tsr__merged_mdims                                                                \
    }
#define STATISTIC(steps)                                                                           \
    MERGED(steps), .rule = merging_rule, .shape = float_shape, .cross_rank_reduction = true
#define VAR                                                                                        \
    STATISTIC(tsr__var_steps), .attrs = "dims:dims?,keepdim:bool=false,correction:int=1",          \
        .kernel = tsr__kernel_var, .scratch = tsr__scratch_var, .cases = var_cases
#define ANY_ALL                                                                                    \
    MERGED(tsr__any_all_steps), .attrs = "dims:dims?,keepdim:bool=false", .rule = merging_rule,    \
        .shape = any_all_shape, .kernel = tsr__kernel_reduce, .grad = tsr_grad_none,               \
        .cases = any_all_cases
#define ARG                                                                                        \
    MERGED(tsr__arg_steps), .attrs = "dim:dim?,keepdim:bool=false", .rule = arg_rule,              \
        .shape = arg_shape, .kernel = tsr__kernel_arg, .scratch = tsr__scratch_arg,                \
        .bind_rank = tsr__bind_sizes, .grad = tsr_grad_none, .cases = arg_cases

const tsr_op tsr__ops_merging[] = {
    {MERGED(tsr__norm2_steps), .name = "norm", .attrs = "dims:dims?,keepdim:bool=false,p:float=2",
     .params = "x, p, dims, keepdim",
     .doc = "Computes the p-norm over dims (default: all); p is 1, 2 or inf.", .rule = norm_rule,
     .shape = norm_shape, .kind = TSR_REDUCTION_NORM, .kernel = tsr__kernel_norm,
     .scratch = tsr__scratch_norm, .cross_rank_reduction = true, .grad = tsr__grad_norm,
     .saves = "x,out", .cases = norm_cases},
    {VAR, .name = "var", .params = "x, dims, correction, keepdim",
     .doc =
         "Computes the variance over dims (default: all), divided by the number of elements minus "
         "correction.",
     .kind = TSR_REDUCTION_VAR, .grad = tsr__grad_var, .saves = "x"},
    {VAR, .name = "std", .params = "x, dims, correction, keepdim",
     .doc = "Computes the standard deviation over dims (default: all): the square root of var.",
     .kind = TSR_REDUCTION_STD, .grad = tsr__grad_std, .saves = "x,out"},
    {STATISTIC(tsr__log_sum_steps), .name = "logsumexp", .attrs = "dims:dims?,keepdim:bool=false",
     .doc = "Computes log(sum(exp(x))) over dims (default: all) without overflow.",
     .kind = TSR_REDUCTION_LOGSUMEXP, .kernel = tsr__kernel_logsumexp,
     .scratch = tsr__scratch_logsumexp, .grad = tsr__grad_logsumexp, .saves = "x,out",
     .cases = merging_cases},
    {ANY_ALL, .name = "any",
     .doc = "True where any element over dims (default: all) is nonzero. The result is bool.",
     .kind = TSR_REDUCTION_ANY},
    {ANY_ALL, .name = "all",
     .doc = "True where all elements over dims (default: all) are nonzero. The result is bool.",
     .kind = TSR_REDUCTION_ALL},
    {ARG, .name = "argmax",
     .doc = "Returns the index of the maximum along dim as i64, or in the flattened tensor. The "
            "first of equal elements wins; NaN counts as the maximum.",
     .kind = TSR_REDUCTION_ARGMAX},
    {ARG, .name = "argmin",
     .doc = "Returns the index of the minimum along dim as i64, or in the flattened tensor. The "
            "first of equal elements wins; NaN counts as the minimum.",
     .kind = TSR_REDUCTION_ARGMIN},
    {0},
};
