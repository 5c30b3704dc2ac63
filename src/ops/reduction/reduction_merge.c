/* SPDX-License-Identifier: Apache-2.0 */
/* reduction_merge.c - reductions and scans where several ranks hold parts of one result: which
   numbers are merged (kernel/merge.h), among which ranks. The run of the rows of
   ops/reduction/merging_reductions.c and ops/reduction/scan_ops.c. */
#include "ops/reduction/statistic.h"
#include "ops/reduction/reduction_ops.h"
#include "ops/reduction/merged_dims.h"
#include "run/merged.h"

tsr_status tsr__run_reduction(const tsr_run_call *run, tsr_error *err)
{
    (void)err; /* what is called has said what went wrong */
    return tsr__run_merged(run, tsr__reduction_steps(run->schema->op->kind),
                           tsr__merged_mdims(run->schema, run->in_spec));
}
