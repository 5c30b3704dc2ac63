/* SPDX-License-Identifier: Apache-2.0 */
/* merged.h - running kernels of which several ranks hold parts of one row or statistic. */
#ifndef TSR_RUN_MERGED_H
#define TSR_RUN_MERGED_H

#include "kernel/merge.h"
#include "tensor/tensor.h"

/* The kernel's call on the parts that are here; tsr__positions_free when it is done with. */
tsr_status tsr__merge_call(const tsr_run_call *run, tsr_kernel_call *call);
/* Every rank's `count` numbers of 8 bytes to all of them: numbers[rank][count], the own ones are
   there. Collective over the group. */
tsr_status tsr__numbers_gather(tsr_ctx *ctx, tsr_group *group, const char *what, int64_t count,
                               void *numbers);
/* The steps of an op's kernel, and the merging between them. Collective over the mesh. */
tsr_status tsr__run_merged(const tsr_run_call *run, const tsr_merge *merge);

#endif
