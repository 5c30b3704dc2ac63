/* SPDX-License-Identifier: Apache-2.0 */
/* local_call.c - see local_call.h. Called by the search, by dispatch and by the validator. */
#include "op/local_call.h"

#include "op/row_parts.h"
#include "op/schema.h"

static tsr_operand operand_at(const tsr_windows *windows, const tsr_spec *in, const tsr_spec *out,
                              int operand, const int *coord)
{
    tsr_layout layout = tsr__windows_layout(windows, in, out, operand);
    tsr_operand x = {.dtype = layout.dtype, .shape = {.ndim = layout.shape.ndim}};

    for (int d = 0; d < x.shape.ndim; d++) {
        int64_t begin, end;

        if (tsr__layout_interval(&layout, d, coord, &begin, &end)) {
            x.shape.size[d] = end - begin;
            x.first[d] = begin;
        } else {
            x.shape.size[d] = tsr__layout_extent(&layout, d, coord);
            x.first[d] = -1;
        }
    }
    return x;
}

void tsr__local_call(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                     const tsr_windows *windows, const int *coord, tsr_kernel_call *call)
{
    call->kind = s->op->kind;
    call->n_in = s->n_in;
    call->n_out = s->n_out;
    call->attrs = s->attrs;
    for (int k = 0; k < s->n_in; k++) {
        call->in[k] = (tsr_operand){.dtype = s->in[k].dtype, .shape = {.ndim = -1}};
        if (tsr__schema_has(s, k))
            call->in[k] = operand_at(windows, in, out, k, coord);
    }
    for (int k = 0; k < s->n_out; k++) {
        call->out[k] = (tsr_operand){.dtype = s->out_dtype[k], .shape = {.ndim = -1}};
        if (tsr__schema_gives(s, k))
            call->out[k] = operand_at(windows, in, out, TSR_OUTPUT(k), coord);
    }
    if (s->op->bind_rank)
        s->op->bind_rank(s, in, out, coord, call);
}

static tsr_status list_indices(tsr_heap *heap, const tsr_layout *layout, int dim, const int *coord,
                               const int64_t **out, tsr_error *err)
{
    tsr_runs runs = {0};
    int64_t *list = NULL, n = 0;
    tsr_status st;

    TSR_TRY(tsr__layout_runs(heap, layout, dim, coord, &runs, err));
    TSR_TRY(tsr__alloc(heap, tsr__runs_count(&runs) + 1, sizeof *list, &list, err));
    for (int i = 0; i < runs.n; i++) {
        const tsr_index_run *run = tsr__runs_at(&runs, i);

        for (int64_t j = 0; j < run->count; j++)
            for (int64_t k = 0; k < run->len; k++)
                list[n++] = run->begin + j * run->step + k;
    }
    *out = list;
done:
    tsr__runs_free(heap, &runs);
    return st;
}

static tsr_status set_positions(tsr_heap *heap, const tsr_layout *layout, const int *coord,
                                tsr_operand *x, tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (int d = 0; d < x->shape.ndim; d++)
        if (x->first[d] < 0)
            TSR_TRY(list_indices(heap, layout, d, coord, &x->index[d], err));
done:
    return st;
}

tsr_status tsr__positions_make(tsr_heap *heap, const tsr_schema *s, const tsr_spec *in,
                               const tsr_spec *out, const tsr_windows *windows, const int *coord,
                               tsr_kernel_call *call, tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (int k = 0; k < s->n_in && s->op->positions; k++) {
        if (!tsr__schema_has(s, k))
            continue;
        tsr_layout layout = tsr__windows_layout(windows, in, out, k);
        TSR_TRY(set_positions(heap, &layout, coord, &call->in[k], err));
    }
    for (int k = 0; k < s->n_out && s->op->positions; k++) {
        if (!tsr__schema_gives(s, k))
            continue;
        tsr_layout layout = tsr__windows_layout(windows, in, out, TSR_OUTPUT(k));
        TSR_TRY(set_positions(heap, &layout, coord, &call->out[k], err));
    }
done:
    if (st != TSR_OK)
        tsr__positions_free(heap, call);
    return st;
}

static void forget_positions(tsr_heap *heap, tsr_operand *x)
{
    for (int d = 0; d < x->shape.ndim; d++) {
        tsr__free(heap, (void *)(uintptr_t)x->index[d]);
        x->index[d] = NULL;
    }
}

void tsr__positions_free(tsr_heap *heap, tsr_kernel_call *call)
{
    for (int k = 0; k < call->n_in; k++)
        forget_positions(heap, &call->in[k]);
    for (int k = 0; k < call->n_out; k++)
        forget_positions(heap, &call->out[k]);
}

tsr_status tsr__kernel_once(tsr_heap *heap, const tsr_op *op, tsr_kernel_call *call, tsr_error *err)
{
    tsr_error error = {0};
    tsr_pool pool;
    tsr_memory memory = {.heap = heap, .pool = &pool};
    tsr_status st = TSR_OK;

    tsr__pool_open(&pool, heap);
    call->kind = op->kind;
    call->memory = &memory;
    call->error = &error;
    if (op->prepare)
        TSR_TRY(op->prepare(call, err));
    if (op->scratch)
        TSR_TRY(tsr__alloc(heap, (int64_t)op->scratch(call) + 1, 1, &call->scratch, err));
    op->kernel(call);
    if (error.code != TSR_OK)
        st = tsr__fail(err, error.code, "%s: %s", op->name, error.text);
done:
    if (op->release && call->state)
        op->release(call);
    tsr__free(heap, call->scratch);
    call->scratch = NULL;
    tsr__pool_trim(&pool);
    return st;
}

tsr_algorithm tsr__op_algorithm(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                                const tsr_cost *cost)
{
    tsr_algorithm a = {0};
    tsr_comm halo;

    if (s->op->comm)
        a.comm = s->op->comm(s, in, out, cost);
    else if (s->op->merge)
        a.comm = tsr__merge_comm(s, in, out, cost);
    a.own_run = (s->op->run || s->op->merge) && (!s->op->kernel || a.comm.bytes > 0);
    if (!s->op->windows || a.own_run) /* a run exchanges all it needs */
        return a;
    halo = tsr__windows_comm(s, in, out, cost, &a.reverse_halo);
    a.comm.seconds += halo.seconds;
    a.comm.bytes += halo.bytes;
    return a;
}

bool tsr__op_feasible(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out)
{
    return (!s->op->feasible || s->op->feasible(s, in, out)) &&
           (!s->op->windows || tsr__windows_feasible(s, in, out));
}
