/* SPDX-License-Identifier: Apache-2.0 */
/* slices.c - slices of a tensor along a dim that others own, by a list of which every rank has a
   part: indices are sent to the owners, which return the slices (alltoallv.h). The run of
   index_select, ops/indexing/indexing_ops.c. */
#include <string.h>

#include "ops/indexing/indexing.h"
#include "ops/indexing/indexing_ops.h"
#include "op/local_call.h"
#include "run/bad_values.h"
#include "run/call_arena.h"
#include "run/merged.h"
#include "run/owners.h"
#include "run/alltoallv.h"

enum { X = 0, INDEX = 1 };

/* A slice is `outer` pieces of as many bytes each. Those that go to one rank are [outer][slices],
   as in a tensor: memory is gone through from one end to the other. */
typedef struct slices {
    int64_t outer;
    size_t bytes;
} slices;

static slices slices_of(const tsr_operand *x, int dim)
{
    slices s = {.outer = 1, .bytes = tsr_dtype_size(x->dtype)};

    for (int d = 0; d < x->shape.ndim; d++)
        if (d < dim)
            s.outer *= x->shape.size[d];
        else if (d > dim)
            s.bytes *= (size_t)x->shape.size[d];
    return s;
}

/* Elements are copied by an instruction, not by a call. */
static void copy_piece(char *to, const char *from, size_t bytes)
{
    if (bytes == 4)
        memcpy(to, from, 4);
    else if (bytes == 8)
        memcpy(to, from, 8);
    else
        memcpy(to, from, bytes);
}

/* From x to what goes back to each rank: got[rank] slices, by their indices. */
static void pick(const slices *s, const tsr_operand *x, int dim, int ranks, const int64_t *got,
                 const int64_t *index, char *to)
{
    for (int r = 0; r < ranks; index += got[r++])
        for (int64_t o = 0; o < s->outer; o++) {
            const char *row = (const char *)x->data + (size_t)(o * x->shape.size[dim]) * s->bytes;

            for (int64_t i = 0; i < got[r]; i++, to += s->bytes)
                copy_piece(to, row + (size_t)(index[i] - x->first[dim]) * s->bytes, s->bytes);
        }
}

/* From what came from each rank, sent[rank] slices from its item first[rank] on, to n of y; zeros
   where no owner was asked: another group's are the other term of a partial sum. next: as many
   numbers as ranks. */
static void lay(const slices *s, const char *from, const tsr_alltoallv *t, const int64_t *first,
                const int *owner, int64_t n, int64_t *next, char *y)
{
    for (int64_t o = 0; o < s->outer; o++) {
        for (int r = 0; r < t->group->n; r++)
            next[r] = first[r] * s->outer + o * t->sent[r];
        for (int64_t i = 0; i < n; i++, y += s->bytes)
            if (owner[i] < 0)
                memset(y, 0, s->bytes);
            else
                copy_piece(y, from + (size_t)next[owner[i]]++ * s->bytes, s->bytes);
    }
}

/* The dim of x that is selected from, alone. */
static tsr_spec line_of(const tsr_spec *x, int dim)
{
    tsr_spec line = {
        .dtype = x->dtype, .shape = {.ndim = 1, .size = {x->shape.size[dim]}}, .mesh = x->mesh};

    for (int m = 0; m < TSR_MAX_MESH; m++)
        if (x->place[m].kind == TSR_SHARD && x->place[m].dim == dim)
            line.place[m] = (tsr_placement){.kind = TSR_SHARD};
    return line;
}

/* Request and response. owner[i] has the slice of index i; first and next are for as many numbers
   as ranks. */
static tsr_status fetch(tsr_alltoallv *t, const tsr_kernel_call *call, int dim, const int *owner,
                        int64_t *first, int64_t *next)
{
    const tsr_operand *index = &call->in[INDEX], *y = &call->out[0];
    const int64_t n = tsr_shape_count(&index->shape);
    const slices s = slices_of(y, dim);
    tsr_payload request = {.width = sizeof(int64_t)};
    tsr_payload response = {.width = (size_t)s.outer * s.bytes, .is_response = true},
                *payload[] = {&request, &response};
    tsr_status st;

    TSR_TRY(tsr__alltoallv_exchange_counts(t));
    TSR_TRY(tsr__alltoallv_alloc(t, &payload[0], 1));
    tsr__alltoallv_first_items(t, t->sent, first);
    memcpy(next, first, (size_t)t->group->n * sizeof *next);
    for (int64_t i = 0; i < n; i++)
        if (owner[i] >= 0)
            ((int64_t *)request.out)[next[owner[i]]++] = tsr__index_at(index, i);
    TSR_TRY(tsr__alltoallv_exchange(t, &payload[0], 1));
    TSR_TRY(tsr__received_check(t->ctx, t->what, "index", request.in,
                                tsr__alltoallv_count(t, t->got), call->in[X].first[dim],
                                call->in[X].first[dim] + call->in[X].shape.size[dim] - 1));
    TSR_TRY(tsr__alltoallv_alloc(t, &payload[1], 1));
    pick(&s, &call->in[X], dim, t->group->n, t->got, request.in, response.out);
    TSR_TRY(tsr__alltoallv_exchange(t, &payload[1], 1));
    lay(&s, response.in, t, first, owner, n, next, y->data);
done:
    return st;
}

tsr_status tsr__run_select(const tsr_run_call *run, tsr_error *err)
{
    tsr_ctx *ctx = run->mesh->ctx;
    tsr_call_arena arena = {.ctx = ctx};
    tsr_alltoallv comm = {.ctx = ctx};
    tsr_owners owners = {0};
    tsr_spec line;
    tsr_error error = {0};
    tsr_kernel_call call;
    const tsr_operand *index = &call.in[INDEX];
    int64_t n, *first, *next;
    unsigned mdims;
    int dim, *owner;
    tsr_status st;

    mdims = tsr__select_mdims(run->schema, run->in_spec, &dim);
    line = line_of(&run->in_spec[X], dim);
    TSR_TRY(tsr__merge_call(run, &call));
    call.error = &error;
    n = tsr_shape_count(&index->shape);
    if (!tsr__indices_good(&call, index, tsr__indices_of(line.shape.size[0])))
        tsr__fail(err, error.code, "%s: %s", run->schema->op->name, error.text);
    TSR_TRY(tsr__bad_values(run->mesh, run->in, run->schema->n_in, NULL, err));
    TSR_TRY(tsr__owners_open(run->mesh, &line, mdims, mdims, &owners));
    TSR_TRY(tsr__alltoallv_open(&comm, run->mesh, mdims, 1, run->schema->op->name));
    TSR_TRY(tsr__arena_alloc(&arena, (size_t)comm.group->n * sizeof *first, &first));
    TSR_TRY(tsr__arena_alloc(&arena, (size_t)comm.group->n * sizeof *next, &next));
    TSR_TRY(tsr__arena_alloc(&arena, (size_t)n * sizeof *owner, &owner));
    for (int64_t i = 0; i < n; i++) {
        owner[i] = tsr__owner_of(&owners, tsr__index_at(index, i));
        if (owner[i] >= 0)
            comm.sent[owner[i]]++;
    }
    TSR_TRY(fetch(&comm, &call, dim, owner, first, next));
done:
    tsr__positions_free(&ctx->heap, &call);
    tsr__owners_close(ctx, &owners);
    tsr__alltoallv_close(&comm);
    tsr__arena_release(&arena);
    return st;
}
