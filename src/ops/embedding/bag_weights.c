/* SPDX-License-Identifier: Apache-2.0 */
/* bag_weights.c - the gradient of bags' weights where ids are sharded with the bags' offsets: each
   rank computes those of its bags, and they go back to where the ids came from. Called through the
   row of bag_weights_backward; other strategies run its kernel. */
#include <string.h>

#include "ops/embedding/embedding_ops.h"
#include "ops/embedding/lookups.h"
#include "run/bad_values.h"
#include "ops/embedding/local_bags.h"

enum { GRAD = 0, TABLE = 1, IDS = 2 };

tsr_status tsr__run_bag_weights(const tsr_run_call *call, tsr_error *err)
{
    const tsr_schema *s = call->schema;
    const tsr_local_spec *table = call->in[TABLE]->local_spec, *out = call->out[0]->local_spec;
    const size_t size = tsr_dtype_size(out->spec.dtype);
    tsr_call_arena arena = {.ctx = call->mesh->ctx};
    tsr_bag_pool pool = {.dtype = table->spec.dtype,
                         .dim = table->local.size[1],
                         .table = tsr__tensor_data(call->in[TABLE])};
    tsr_ids *ids = &pool.bags.ids;
    tsr_ranges ranges = {0};
    tsr_owners here = {0};
    const char *weights = NULL;
    tsr_error bad = {0};
    void *own;
    tsr_status st;

    (void)err;
    tsr__ids_open(call->in[IDS], table->spec.shape.size[0], tsr_schema_attr(s, "padding_idx"),
                  tsr__ids_check(s), s->op->name, ids, &bad);
    TSR_TRY(tsr__local_bags(call, &arena, &pool.bags, &weights, &ranges, &bad));
    TSR_TRY(tsr__bad_values(call->mesh, call->in, s->n_in, NULL, &bad));
    TSR_TRY(tsr__owners_open(call->mesh, &call->in_spec[TABLE], 0, 0, &here));
    ids->row_first = here.first;
    ids->n_rows = here.rows;
    TSR_TRY(tsr__arena_alloc(&arena, tsr__bag_bytes(&pool.bags), &pool.scratch));
    TSR_TRY(tsr__arena_alloc(&arena, (size_t)ids->n * size, &own));
    tsr__bag_weights_backward(&pool, tsr__tensor_data(call->in[GRAD]), own);
    if (out->bytes > 0)
        memset(tsr__tensor_data(call->out[0]), 0, out->bytes); /* ids of no bag */
    TSR_TRY(tsr__ranges_return(&ranges, own, size, tsr__tensor_data(call->out[0])));
done:
    tsr__ranges_close(&ranges);
    tsr__owners_close(arena.ctx, &here);
    tsr__arena_release(&arena);
    return st;
}
