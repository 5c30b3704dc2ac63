/* SPDX-License-Identifier: Apache-2.0 */
/* moments.c - normalisations, softmax, attention, reductions and scans where several ranks hold
   parts of one statistic or row: which numbers are merged (kernel/merge.h), among which ranks. The
   runs of all rows of op/norms.c, op/layer_norms.c, op/softmax.c, op/attention_op.c,
   op/merging_reductions.c and op/scan_ops.c. */
#include "kernel/attention.h"
#include "kernel/layer_norm.h"
#include "kernel/norm.h"
#include "kernel/soft_rows.h"
#include "kernel/statistic.h"
#include "op/families.h"
#include "op/merged_dims.h"
#include "run/held.h"
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
    return tsr__run_merged(run, tsr__soft_steps(run->schema->op->kind),
                           tsr__softmax_mdims(run->schema, run->in_spec));
}

tsr_status tsr__run_layer_norm(const tsr_run_call *run, tsr_error *err)
{
    (void)err;
    return tsr__run_merged(run, tsr__layer_norm_steps(run->schema->op->kind),
                           tsr__layer_norm_mdims(run->schema, run->in_spec));
}

tsr_status tsr__run_attention(const tsr_run_call *run, tsr_error *err)
{
    (void)err;
    return tsr__run_merged(run, tsr__attention_steps(run->schema->op->kind),
                           tsr__attention_mdims(run->schema, run->in_spec));
}

tsr_status tsr__run_reduction(const tsr_run_call *run, tsr_error *err)
{
    (void)err;
    return tsr__run_merged(run, tsr__reduction_steps(run->schema->op->kind),
                           tsr__merged_mdims(run->schema, run->in_spec));
}
