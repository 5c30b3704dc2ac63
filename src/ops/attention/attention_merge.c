/* SPDX-License-Identifier: Apache-2.0 */
/* attention_merge.c - attention where several ranks hold parts of the keys: which numbers of rows
   are merged (kernel/merge.h), among which ranks. The run of all rows of
   ops/attention/attention_op.c. */
#include "ops/attention/attention.h"
#include "ops/attention/attention_ops.h"
#include "run/merged.h"

tsr_status tsr__run_attention(const tsr_run_call *run, tsr_error *err)
{
    (void)err; /* what is called has said what went wrong */
    return tsr__run_merged(run, tsr__attention_steps(run->schema->op->kind),
                           tsr__attention_mdims(run->schema, run->in_spec));
}
