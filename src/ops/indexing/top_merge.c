/* SPDX-License-Identifier: Apache-2.0 */
/* top_merge.c - topk along a dim of which several ranks have parts: each finds the k best of its
   own, all of these are gathered, and every rank takes the k best of them. The run of topk. */
#include "ops/indexing/ordering.h"
#include "ops/indexing/indexing_ops.h"
#include "op/local_call.h"
#include "run/merged.h"
#include "run/call_arena.h"

tsr_status tsr__run_topk(const tsr_run_call *run, tsr_error *err)
{
    const tsr_schema *s = run->schema;
    tsr_ctx *ctx = run->mesh->ctx;
    tsr_call_arena arena = {.ctx = ctx};
    tsr_kernel_call call;
    tsr_candidate *all;
    tsr_group *group;
    int64_t count, *taken;
    tsr_status st;

    (void)err; /* the calls below have said what went wrong */
    TSR_TRY(tsr__merge_call(run, &call));
    count = tsr_shape_count(&call.out[0].shape); /* it has the same on all of them */
    TSR_TRY(tsr__mesh_group(run->mesh, tsr__topk_mdims(s, run->in_spec), &group));
    TSR_TRY(tsr__arena_alloc(&arena, s->op->scratch(&call), &call.scratch));
    TSR_TRY(tsr__arena_alloc(&arena, (size_t)group->n * (size_t)count * sizeof *all, &all));
    TSR_TRY(tsr__arena_alloc(&arena, (size_t)group->n * sizeof *taken, &taken));
    tsr__topk_candidates(&call, all + group->me * count);
    TSR_TRY(tsr__numbers_gather(ctx, group, s->op->name, 2 * count, all));
    tsr__topk_merge(&call, group->n, all, taken);
done:
    tsr__positions_free(&ctx->heap, &call);
    tsr__arena_release(&arena);
    return st;
}
