/* SPDX-License-Identifier: Apache-2.0 */
/* class_merge.c - losses of rows whose classes are on several ranks, or whose mean is over rows of
   several ranks: what is exchanged is numbers of rows and of sums (ops/loss/class_loss.h), merged
   in the order of ranks. The run of cross_entropy and nll_loss, ops/loss/class_losses.c. */
#include "ops/loss/class_loss.h"
#include "kernel/kinds.h"
#include "ops/loss/loss_ops.h"
#include "op/local_call.h"
#include "run/bad_values.h"
#include "run/call_arena.h"
#include "run/merged.h"

/* The two sums of all ranks that have other rows. */
static tsr_status add_up(const tsr_run_call *run, unsigned mdims, tsr_call_arena *arena,
                         double sum[2])
{
    tsr_group *group;
    double *all;
    tsr_status st;

    TSR_TRY(tsr__mesh_group(run->mesh, mdims, &group));
    TSR_TRY(tsr__arena_alloc(arena, (size_t)group->n * 2 * sizeof *all, &all));
    memcpy(all + (ptrdiff_t)2 * group->me, sum, 2 * sizeof *all);
    TSR_TRY(tsr__numbers_gather(run->mesh->ctx, group, run->schema->op->name, 2, all));
    sum[0] = sum[1] = 0;
    for (int i = 0; i < group->n; i++) {
        sum[0] += all[2 * i];
        sum[1] += all[2 * i + 1];
    }
done:
    return st;
}

/* Numbers of all rows here, of all their classes. */
static tsr_status merge_classes(const tsr_run_call *run, const tsr_kernel_call *call,
                                unsigned mdims, tsr_call_arena *arena, double **numbers)
{
    const int64_t count = tsr__class_count(call);
    tsr_group *group = NULL;
    tsr_status st;

    if (mdims)
        TSR_TRY(tsr__mesh_group(run->mesh, mdims, &group));
    TSR_TRY(tsr__arena_alloc(arena, (size_t)(group ? group->n : 1) * (size_t)count * sizeof(double),
                             numbers));
    tsr__class_local(call, *numbers + (group ? group->me * count : 0));
    if (!group)
        goto done;
    TSR_TRY(tsr__numbers_gather(run->mesh->ctx, group, run->schema->op->name, count, *numbers));
    for (int i = 1; i < group->n; i++)
        tsr__class_merge(count, *numbers, *numbers + i * count);
done:
    return st;
}

tsr_status tsr__run_class_loss(const tsr_run_call *run, tsr_error *err)
{
    const tsr_schema *s = run->schema;
    tsr_call_arena arena = {.ctx = run->mesh->ctx};
    tsr_error error = {0};
    tsr_kernel_call call;
    unsigned classes, rows;
    double *numbers, sum[2];
    tsr_status st;

    tsr__class_mdims(s, run->in_spec, &classes, &rows);
    TSR_TRY(tsr__merge_call(run, &call));
    call.error = &error;
    if (s->op->kind == TSR_LOSS_CROSS_ENTROPY) {
        TSR_TRY(tsr__arena_alloc(&arena, s->op->scratch(&call), &call.scratch));
        TSR_TRY(merge_classes(run, &call, classes, &arena, &numbers));
        tsr__class_rows(&call, numbers, sum);
    } else {
        tsr__nll_rows(&call, sum);
    }
    if (error.code != TSR_OK)
        tsr__fail(err, error.code, "%s: %s", s->op->name, error.text);
    TSR_TRY(tsr__bad_values(run->mesh, run->in, s->n_in, NULL, err));
    if (rows)
        TSR_TRY(add_up(run, rows, &arena, sum));
    tsr__class_put(&call, sum);
done:
    tsr__positions_free(&run->mesh->ctx->heap, &call);
    tsr__arena_release(&arena);
    return st;
}
