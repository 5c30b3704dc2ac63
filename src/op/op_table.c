/* SPDX-License-Identifier: Apache-2.0 */
/* op_table.c - entries of ops, by row and by name. Called by dispatch, and when registering. */
#include "op/op_table.h"

#include <string.h>

#include "base/hash.h"
#include "op/expr.h"
#include "op/schema.h"

static uint64_t hash_of(const char *name)
{
    uint64_t h = 0;

    for (; *name; name++)
        h = tsr__hash_mix(h, (uint8_t)*name);
    return tsr__hash_final(h);
}

tsr_status tsr__op_entry_of(tsr_heap *heap, tsr_op_table **table, const tsr_op *op,
                            tsr_op_entry **out, tsr_error *err)
{
    uint64_t hash = hash_of(op->name);
    tsr_op_entry *e = NULL, **bucket;
    tsr_expr *expr = NULL;
    tsr_status st = TSR_OK;

    if (!*table) {
        TSR_TRY(tsr__alloc(heap, 1,
                           sizeof **table + (size_t)tsr__op_total() * sizeof *(*table)->by_id,
                           table, err));
        (*table)->last = &(*table)->first;
    }
    bucket = &(*table)->bucket[hash % TSR_OP_BUCKETS];
    for (e = *bucket; e && e->op != op;)
        e = e->next;
    if (!e) {
        tsr_attrs defaults;
        unsigned saves_in, saves_out;

        TSR_TRY(tsr__attrs_default(op, &defaults, err));
        TSR_TRY(tsr__op_saves(op, &saves_in, &saves_out, err));
        if (op->expr)
            TSR_TRY(tsr__expr_read(heap, *table, op, &expr, err));
        TSR_TRY(tsr__alloc(heap, 1, sizeof *e, &e, err));
        *e = (tsr_op_entry){.op = op,
                            .hash = hash,
                            .list = tsr__op_takes_list(op),
                            .n_in = tsr__op_inputs(op),
                            .n_attrs = tsr__attrs_count(op),
                            .numbers = tsr__attrs_numbers(op),
                            .defaults = defaults,
                            .saves_in = saves_in,
                            .saves_out = saves_out,
                            .expr = expr,
                            .next = *bucket};
        *bucket = e;
        *(*table)->last = e;
        (*table)->last = &e->later;
        expr = NULL;
    }
    *out = e;
done:
    tsr__free(heap, expr);
    return st;
}

tsr_status tsr__op_entry_by_id(tsr_heap *heap, tsr_op_table **table, int id, tsr_op_entry **out,
                               tsr_error *err)
{
    tsr_status st = TSR_OK;

    if (!*table || !(*table)->by_id[id]) {
        TSR_TRY(tsr__op_entry_of(heap, table, tsr__op_by_id(id), out, err));
        (*table)->by_id[id] = *out;
    }
    *out = (*table)->by_id[id];
done:
    return st;
}

tsr_status tsr__op_entry_grad(tsr_heap *heap, const tsr_op_table *table, tsr_op_entry *e,
                              tsr_error *err)
{
    tsr_status st = TSR_OK;

    if (!e->op->grad_expr || e->grad)
        return TSR_OK;
    TSR_TRY(tsr__expr_read_grad(heap, table, e->op, &e->grad, err));
    e->saves_in = e->grad->reads_in;
    e->saves_out = e->grad->reads_out;
done:
    return st;
}

const tsr_op *tsr__op_known(const tsr_op_table *table, const char *name)
{
    const tsr_op_entry *e = table ? table->bucket[hash_of(name) % TSR_OP_BUCKETS] : NULL;

    for (; e; e = e->next)
        if (strcmp(e->op->name, name) == 0)
            return e->op;
    return NULL;
}

void tsr__op_table_free(tsr_heap *heap, tsr_op_table *table)
{
    tsr_op_entry *later;

    for (tsr_op_entry *e = table ? table->first : NULL; e; e = later) {
        later = e->later;
        tsr__free(heap, e->expr);
        tsr__free(heap, e->grad);
        tsr__free(heap, e);
    }
    tsr__free(heap, table);
}
