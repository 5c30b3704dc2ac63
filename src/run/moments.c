/* SPDX-License-Identifier: Apache-2.0 */
/* moments.c - statistics, reductions and scans where several ranks hold parts of one result: every
   rank takes the words of its own part (kernel/merge_steps.h), all of them are gathered, and every
   rank merges them in the order of ranks, so that all have the same results bit by bit. The run of
   all rows of op/norms.c, op/merging_reductions.c and op/scan_ops.c. */
#include <stdio.h>

#include "base/hash.h"
#include "kernel/norm.h"
#include "op/families.h"
#include "op/local_call.h"
#include "op/merged.h"
#include "run/held.h"

/* Every rank's `count` numbers to all of them: numbers[rank][count], the own ones are there. */
static tsr_status gather(tsr_ctx *ctx, tsr_group *group, const char *what, int64_t count,
                         double *numbers)
{
    const int64_t bytes = count * (int64_t)sizeof *numbers;
    tsr_call call = {
        .group = group, .dtype = TSR_F64, .send_base = numbers, .recv_base = numbers, .divisor = 1};
    uint64_t hash = tsr__hash_mix(0x6e6f726d, (uint64_t)count);
    tsr_msg *msg = NULL;
    tsr_piece *piece = NULL;
    tsr_status st;

    TSR_TRY(tsr__alloc(&ctx->heap, 2 * (int64_t)group->n, sizeof *msg, &msg, &ctx->error));
    TSR_TRY(tsr__alloc(&ctx->heap, group->n, sizeof *piece, &piece, &ctx->error));
    for (int i = 0; i < group->n; i++) {
        piece[i] =
            (tsr_piece){.offset = i * bytes, .n = 1, .count = {count}, .stride = {sizeof *numbers}};
        if (i == group->me)
            continue;
        msg[call.n_send++] =
            (tsr_msg){.peer = i, .n_pieces = count > 0, .piece = &piece[group->me]};
        msg[group->n + call.n_recv++] =
            (tsr_msg){.peer = i, .n_pieces = count > 0, .piece = &piece[i]};
    }
    call.send = msg;
    call.recv = msg + group->n;
    for (const char *p = what; *p; p++)
        hash = tsr__hash_mix(hash, (uint8_t)*p);
    call.fingerprint = tsr__hash_final(hash);
    snprintf(call.what, sizeof call.what, "%s, a gathering of statistics", what);
    TSR_TRY(tsr__call(&call));
done:
    tsr__free(&ctx->heap, msg);
    tsr__free(&ctx->heap, piece);
    return st;
}

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

/* The words of all ranks that count here, in *out; NULL if there are none. Those of one side are
   merged from its far end on. */
static void merge_words(const tsr_merge_steps *steps, const tsr_kernel_call *call,
                        const tsr_group *group, int64_t count, double *words, double **out)
{
    const int side = steps->side ? steps->side(call) : 0;
    const int from = side > 0 ? group->n - 1 : 0, step = side > 0 ? -1 : 1;
    const int to = side ? group->me : group->n;

    *out = from == to ? NULL : words + from * count;
    for (int i = from + step; *out && i != to; i += step)
        steps->merge(call, count, *out, words + i * count);
}

/* Ranks along these mesh dims hold parts of the same results. */
static tsr_status run_steps(const tsr_run_call *run, const tsr_merge_steps *steps, unsigned mdims,
                            tsr_spec *in, tsr_spec *out)
{
    const tsr_op *op = run->schema->op;
    tsr_ctx *ctx = run->mesh->ctx;
    tsr_held held = {.ctx = ctx};
    tsr_kernel_call call;
    tsr_group *group;
    double *words, *merged;
    int64_t count;
    tsr_status st;

    make_call(run, in, out, &call);
    count = steps->count(&call);
    TSR_TRY(tsr__mesh_group(run->mesh, mdims, &group));
    if (op->scratch)
        TSR_TRY(tsr__hold(&held, op->scratch(&call), &call.scratch));
    TSR_TRY(tsr__hold(&held, (size_t)group->n * (size_t)count * sizeof *words, &words));
    steps->local(&call, words + group->me * count);
    TSR_TRY(gather(ctx, group, op->name, count, words));
    merge_words(steps, &call, group, count, words, &merged);
    steps->finish(&call, merged);
done:
    tsr__held_release(&held);
    return st;
}

tsr_status tsr__run_norm(const tsr_run_call *run, tsr_error *err)
{
    tsr_spec in[TSR_MAX_IN], out[TSR_MAX_OUT];

    (void)err; /* the calls below have said what went wrong */
    tsr__run_specs(run, in, out);
    return run_steps(run, tsr__norm_steps(run->schema->op->kernel),
                     tsr__norm_mdims(run->schema, in), in, out);
}

tsr_status tsr__run_merged(const tsr_run_call *run, tsr_error *err)
{
    tsr_spec in[TSR_MAX_IN], out[TSR_MAX_OUT];

    (void)err;
    tsr__run_specs(run, in, out);
    return run_steps(run, tsr__reduction_steps(run->schema->op->kernel),
                     tsr__merged_mdims(run->schema, in), in, out);
}
