/* SPDX-License-Identifier: Apache-2.0 */
/* softmax.c - softmax and its log along a dim, and their gradients. All dims shard; where that dim
   does, every rank has numbers of its part of a row: they are gathered and merged
   (.merge). */
#include "kernel/kinds.h"
#include "kernel/softmax_loops.h"
#include "ops/normalisation/normalisation_ops.h"
#include "op/infer.h"
#include "op/row_parts.h"
#include "op/schema.h"

static tsr_status dim_of(const tsr_schema *s, int *dim, tsr_error *err)
{
    return tsr__dim_normalise(s, tsr_schema_attr(s, "dim")->i[0], s->in[0].shape.ndim, dim, err);
}

static tsr_status softmax_shape(tsr_schema *s, tsr_error *err)
{
    int dim;
    tsr_status st;

    TSR_TRY(tsr__needs_float(s, err));
    TSR_TRY(dim_of(s, &dim, err));
    TSR_TRY(tsr__shape_same(s, err));
done:
    return st;
}

static tsr_status backward_shape(tsr_schema *s, tsr_error *err)
{
    char text[2 * TSR_TEXT_LEN];
    tsr_status st;

    TSR_TRY(tsr__same_dtype(s, err));
    if (!tsr_shape_equal(&s->in[0].shape, &s->in[1].shape))
        TSR_TRY(tsr__fail(err, TSR_ERR_SHAPE, "%s: grad does not have the shape of y, %s",
                          s->op->name, tsr_schema_text(s, text, sizeof text)));
    TSR_TRY(softmax_shape(s, err));
done:
    return st;
}

static tsr_status softmax_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    int ndim = s->in[0].shape.ndim;
    tsr_status st = TSR_OK;

    for (int d = 0; d < ndim; d++) {
        tsr_rule rule = {.in = {tsr_rule_shard(d)}, .out = {tsr_rule_shard(d)}};

        if (s->n_in > 1)
            rule.in[1] = rule.in[0];
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
done:
    return st;
}

/* ---- communication ---- */

static unsigned softmax_mdims(const tsr_schema *s, const tsr_spec *in)
{
    int dim;

    if (dim_of(s, &dim, NULL) != TSR_OK)
        return 0;
    return tsr__sharded_mdims(&in[0], 1u << dim);
}

static const char *const softmax_cases[] = {
    "f64[4,6]",         "f64[5,7]", "f64[4,6] dim=0", "f64[5,3] dim=0", "f64[4,2,6] dim=1",
    "f64[5,3,2] dim=1", NULL,
};
static const char *const backward_cases[] = {
    "f64[4,6] f64[4,6]",
    "f64[5,7] f64[5,7]",
    "f64[4,2,6] f64[4,2,6] dim=1",
    "f64[5,3,2] f64[5,3,2] dim=1",
    NULL,
};

/* What rows have in common. */
#define SOFTMAX                                                                                    \
    .attrs = "dim:dim=-1", .rule = softmax_rule, .kernel = tsr__kernel_softmax,                    \
    .cross_rank_reduction = true
#define FORWARD                                                                                    \
    SOFTMAX, .inputs = "x", .shape = softmax_shape,                                                \
        .merge = &(const tsr_merge){&tsr__softmax_steps, softmax_mdims}, .cases = softmax_cases
#define BACKWARD                                                                                   \
    SOFTMAX, .inputs = "grad,y", .linear = "grad", .shape = backward_shape,                        \
        .merge = &(const tsr_merge){&tsr__softmax_backward_steps, softmax_mdims},                  \
        .cases = backward_cases

const tsr_op tsr__ops_softmax[] = {
    {FORWARD, .name = "softmax", .doc = "Computes softmax along dim.", .kind = TSR_SOFTMAX,
     .grad_expr = "x: softmax_backward(g, out, ...)"},
    {FORWARD, .name = "log_softmax", .doc = "Computes the logarithm of softmax along dim.",
     .kind = TSR_LOG_SOFTMAX, .grad_expr = "x: log_softmax_backward(g, out, ...)"},
    {BACKWARD, .name = "softmax_backward",
     .doc = "Computes the gradient of softmax's input from grad and the output y.",
     .kind = TSR_SOFTMAX_BACKWARD},
    {BACKWARD, .name = "log_softmax_backward",
     .doc = "Computes the gradient of log_softmax's input from grad and the output y.",
     .kind = TSR_LOG_SOFTMAX_BACKWARD},
    {0},
};
