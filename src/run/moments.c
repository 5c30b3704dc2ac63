/* SPDX-License-Identifier: Apache-2.0 */
/* moments.c - normalisation where several ranks hold parts of one statistic: every rank takes the
   numbers of its own part (kernel/norm.h), all of them are gathered, and every rank merges them in
   the order of ranks, so that all have the same statistics bit by bit. The run of all rows of
   op/norms.c. */
#include "kernel/norm.h"
#include "op/families.h"
#include "op/local_call.h"
#include "run/gather.h"
#include "run/held.h"

/* The kernel's call on the parts that are here. */
static void make_call(const tsr_run_call *run, const tsr_spec *in, const tsr_spec *out,
                      tsr_kernel_call *call)
{
    const tsr_schema *s = run->schema;
    const tsr_windows none = {0};

    *call = (tsr_kernel_call){0};
    tsr__local_call(s, in, out, &none, run->mesh->coord, call);
    for (int k = 0; k < s->n_in; k++)
        call->in[k].data = run->in[k] ? tsr__tensor_data(run->in[k]) : NULL;
    for (int k = 0; k < s->n_out; k++)
        call->out[k].data = run->out[k] ? tsr__tensor_data(run->out[k]) : NULL;
}

tsr_status tsr__run_norm(const tsr_run_call *run, tsr_error *err)
{
    const tsr_op *op = run->schema->op;
    const tsr_norm_steps *steps = tsr__norm_steps(op->kernel);
    tsr_ctx *ctx = run->mesh->ctx;
    tsr_held held = {.ctx = ctx};
    tsr_spec in[TSR_MAX_IN], out[TSR_MAX_OUT];
    tsr_kernel_call call;
    tsr_group *group;
    double *numbers;
    int64_t count;
    tsr_status st;

    (void)err; /* the calls below have said what went wrong */
    tsr__run_specs(run, in, out);
    make_call(run, in, out, &call);
    count = steps->count(&call);
    TSR_TRY(tsr__mesh_group(run->mesh, tsr__norm_mdims(run->schema, in), &group));
    TSR_TRY(tsr__hold(&held, op->scratch(&call), &call.scratch));
    TSR_TRY(tsr__hold(&held, (size_t)group->n * (size_t)count * sizeof *numbers, &numbers));
    steps->local(&call, numbers + group->me * count);
    TSR_TRY(tsr__gather(ctx, group, op->name, count, numbers));
    for (int i = 1; i < group->n; i++)
        steps->merge(count, numbers, numbers + i * count);
    steps->finish(&call, numbers);
done:
    tsr__held_release(&held);
    return st;
}
