/* SPDX-License-Identifier: Apache-2.0 */
/* merged.c - kernels in two steps (kernel/merge.h) where several ranks hold parts of one row or
   statistic (layer norm, softmax, variance): every rank takes the numbers of its own part, all of
   them are gathered, and every rank merges them in the order of ranks, so that all have the same
   bit by bit. Called by dispatch for rows with .merge, and by the run of
   ops/loss/class_merge.c. */
#include "run/merged.h"

#include <stdio.h>

#include "base/hash.h"
#include "op/local_call.h"
#include "run/call_arena.h"

tsr_status tsr__numbers_gather(tsr_ctx *ctx, tsr_group *group, const char *what, int64_t count,
                               void *numbers)
{
    const int64_t bytes = count * 8;
    tsr_call call = {.group = group,
                     .dtype = TSR_F64,
                     .send_base = numbers,
                     .recv_base = numbers,
                     .dense = true,
                     .divisor = 1};
    uint64_t hash = tsr__hash_mix(0x6e6f726d, (uint64_t)count);
    tsr_msg *msg = NULL;
    tsr_piece *piece = NULL;
    tsr_status st;

    TSR_TRY(tsr__alloc(&ctx->heap, 2 * (int64_t)group->n, sizeof *msg, &msg, &ctx->error));
    TSR_TRY(tsr__alloc(&ctx->heap, group->n, sizeof *piece, &piece, &ctx->error));
    for (int i = 0; i < group->n; i++) {
        piece[i] = (tsr_piece){.offset = i * bytes, .n = 1, .count = {count}, .stride = {8}};
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
    snprintf(call.what, sizeof call.what, "%s, an all-gather of partial results", what);
    TSR_TRY(tsr__call(&call));
done:
    tsr__free(&ctx->heap, msg);
    tsr__free(&ctx->heap, piece);
    return st;
}

tsr_status tsr__merge_call(const tsr_run_call *run, tsr_kernel_call *call)
{
    const tsr_schema *s = run->schema;
    const tsr_spec *in = run->in_spec, *out = run->out_spec;
    const tsr_windows none = {0};
    tsr_ctx *ctx = run->mesh->ctx;

    *call = (tsr_kernel_call){0};
    tsr__local_call(s, in, out, &none, run->mesh->coord, call);
    for (int k = 0; k < s->n_in; k++)
        call->in[k].data = run->in[k] ? tsr__tensor_data(run->in[k]) : NULL;
    for (int k = 0; k < s->n_out; k++)
        call->out[k].data = run->out[k] ? tsr__tensor_data(run->out[k]) : NULL;
    return tsr__positions_make(&ctx->heap, s, in, out, &none, run->mesh->coord, call, &ctx->error);
}

/* The numbers of the ranks that count here, merged; NULL if there are none. */
static double *merge_numbers(const tsr_merge_steps *steps, const tsr_kernel_call *call,
                             const tsr_group *group, int64_t count, double *numbers)
{
    const int side = steps->side ? steps->side(call) : 0;
    const int from = side > 0 ? group->n - 1 : 0, step = side > 0 ? -1 : 1;
    const int to = side ? group->me : group->n;

    if (from == to)
        return NULL;
    for (int i = from + step; i != to; i += step)
        steps->merge(call, count, numbers + from * count, numbers + i * count);
    return numbers + from * count;
}

tsr_status tsr__run_merged(const tsr_run_call *run, const tsr_merge *merge)
{
    const tsr_merge_steps *steps = merge->steps;
    const tsr_op *op = run->schema->op;
    tsr_ctx *ctx = run->mesh->ctx;
    tsr_call_arena arena = {.ctx = ctx};
    tsr_kernel_call call;
    tsr_group *group;
    double *numbers;
    int64_t count;
    tsr_status st;

    TSR_TRY(tsr__merge_call(run, &call));
    count = steps->count(&call);
    TSR_TRY(tsr__mesh_group(run->mesh, merge->mdims(run->schema, run->in_spec), &group));
    if (op->scratch)
        TSR_TRY(tsr__arena_alloc(&arena, op->scratch(&call), &call.scratch));
    TSR_TRY(tsr__arena_alloc(&arena, (size_t)group->n * (size_t)count * sizeof *numbers, &numbers));
    steps->local(&call, numbers + group->me * count);
    TSR_TRY(tsr__numbers_gather(ctx, group, op->name, count, numbers));
    steps->finish(&call, merge_numbers(steps, &call, group, count, numbers));
done:
    tsr__positions_free(&ctx->heap, &call);
    tsr__arena_release(&arena);
    return st;
}
