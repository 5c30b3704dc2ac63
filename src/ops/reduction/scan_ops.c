/* SPDX-License-Identifier: Apache-2.0 */
/* scan_ops.c - sums and products of all elements so far along a dim. Where that dim is sharded the
   ranks before have sums too: these are exchanged, never the data (run/merged.c). */
#include "ops/reduction/reduction_ops.h"
#include "ops/reduction/scan.h"
#include "kernel/kinds.h"
#include "op/infer.h"
#include "op/linear.h"
#include "ops/reduction/merged_dims.h"

static tsr_status scan_shape(tsr_schema *s, tsr_error *err)
{
    const tsr_attr *attr = tsr_schema_attr(s, "dim");
    char text[TSR_TEXT_LEN];
    int dim;
    tsr_status st;

    if (attr->n < 1)
        TSR_TRY(tsr__fail(err, TSR_ERR_ARG, "%s: missing required attribute dim", s->op->name));
    TSR_TRY(tsr__dim_normalise(s, attr->i[0], s->in[0].shape.ndim, &dim, err));
    if (s->in[0].dtype == TSR_BOOL)
        TSR_TRY(tsr__fail(err, TSR_ERR_DTYPE, "%s: needs a numeric dtype, not bool, %s",
                          s->op->name, tsr_spec_text(&s->in[0], text, sizeof text)));
    TSR_TRY(tsr__shape_same(s, err));
done:
    return st;
}

/* Parts of the scanned dim come one after the other: they are not in pieces. */
static tsr_status scan_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    int dim, ndim = s->in[0].shape.ndim;
    tsr_status st;

    TSR_TRY(tsr__dim_normalise(s, tsr_schema_attr(s, "dim")->i[0], ndim, &dim, err));
    for (int d = 0; d < ndim; d++) {
        tsr_rule rule = {.in = {tsr_rule_shard(d)}, .out = {tsr_rule_shard(d)}};

        rule.in[0].open = rule.out[0].open = d != dim;
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
    if (!s->op->linear && tsr__dtype_has_partial_products(s->in[0].dtype)) {
        /* factors are multiplied in any order */
        tsr_rule_placement product = tsr_rule_partial(TSR_PROD);
        TSR_TRY(tsr_rule_add(out, &(tsr_rule){.in = {product}, .out = {product}}, err));
    }
done:
    return st;
}

static const char *const scan_cases[] = {
    "f64[4,6] dim=0",
    "f64[5,3] dim=0",
    "f64[4,6] dim=-1 reverse=true",
    "f64[5,7] dim=-1 reverse=true",
    NULL,
};

/* What rows have in common. */
#define SCAN                                                                                       \
    .inputs = "x", .attrs = "dim:dim,reverse:bool=false", .rule = scan_rule, .shape = scan_shape,  \
    .kernel = tsr__kernel_scan, .merge = &(const tsr_merge){&tsr__scan_steps, tsr__merged_mdims},  \
    .cross_rank_reduction = true, .in_field = true, .cases = scan_cases

const tsr_op tsr__ops_scan[] = {
    {SCAN, .name = "cumsum",
     .doc = "Computes the cumulative sum along dim; reverse sums from the end.", .linear = "x",
     .kind = TSR_REDUCTION_CUMSUM, .grad = tsr__grad_cumsum, .saves = ""},
    {SCAN, .name = "cumprod",
     .doc = "Computes the cumulative product along dim; reverse multiplies from the end.",
     .kind = TSR_REDUCTION_CUMPROD, .grad = tsr__grad_cumprod, .saves = "x,out"},
    {0},
};
