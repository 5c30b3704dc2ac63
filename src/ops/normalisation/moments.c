/* SPDX-License-Identifier: Apache-2.0 */
/* moments.c - normalisations and softmax where several ranks hold parts of one statistic or row:
   which numbers are merged (kernel/merge.h), among which ranks. The runs of all rows of
   ops/normalisation/norms.c, ops/normalisation/layer_norms.c and ops/normalisation/softmax.c. */
#include "ops/normalisation/layer_norm.h"
#include "ops/normalisation/norm.h"
#include "kernel/softmax_loops.h"
#include "ops/normalisation/normalisation_ops.h"
#include "run/merged.h"

tsr_status tsr__run_norm(const tsr_run_call *run, tsr_error *err)
{
    (void)err; /* what is called has said what went wrong */
    return tsr__run_merged(run, tsr__norm_steps(run->schema->op->kind),
                           tsr__norm_mdims(run->schema, run->in_spec));
}

tsr_status tsr__run_softmax(const tsr_run_call *run, tsr_error *err)
{
    (void)err;
    return tsr__run_merged(run, tsr__softmax_steps(run->schema->op->kind),
                           tsr__softmax_mdims(run->schema, run->in_spec));
}

tsr_status tsr__run_layer_norm(const tsr_run_call *run, tsr_error *err)
{
    (void)err;
    return tsr__run_merged(run, tsr__layer_norm_steps(run->schema->op->kind),
                           tsr__layer_norm_mdims(run->schema, run->in_spec));
}
