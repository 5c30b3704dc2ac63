/* SPDX-License-Identifier: Apache-2.0 */
/* op_table.h - the ops that one rank knows, and what it did with them: rows are constant and
   shared, an entry is the context's own. */
#ifndef TSR_OP_OP_TABLE_H
#define TSR_OP_OP_TABLE_H

#include "op/op.h"

/* What a row's texts say, read once. */
typedef struct tsr_op_entry {
    const tsr_op *op;
    uint64_t hash; /* of the name */
    bool registered;
    bool list; /* takes a list of inputs */
    int n_in;  /* inputs as declared */
    int n_attrs;
    tsr_attrs defaults;
    struct tsr_means *means; /* of a row that is a text of other ops (op/means.h), else NULL */
    tsr_op_counters counters;
    struct tsr_op_entry *next, *later; /* in its bucket; in the order of first use */
} tsr_op_entry;

enum { TSR_OP_BUCKETS = 64 };

typedef struct tsr_op_table {
    tsr_op_entry *bucket[TSR_OP_BUCKETS]; /* by name */
    tsr_op_entry *first, **last;          /* in the order of first use */
    /* typed functions name their op by a literal, whose address does not change */
    struct {
        const char *literal;
        tsr_op_entry *entry;
    } seen[TSR_OP_BUCKETS];
} tsr_op_table;

/* The entry of a row, made at its first use. */
tsr_status tsr__op_entry_of(tsr_heap *heap, tsr_op_table **table, const tsr_op *op,
                            tsr_op_entry **out, tsr_error *err);
/* The row of that name that was registered, NULL if none was. */
const tsr_op *tsr__op_registered(const tsr_op_table *table, const char *name);
void tsr__op_table_free(tsr_heap *heap, tsr_op_table *table);

/* The entry of a built-in op whose name is a literal of the caller; NULL: use tsr__op_entry_of. */
static inline tsr_op_entry *tsr__op_seen(const tsr_op_table *table, const char *literal)
{
    size_t i = ((size_t)(uintptr_t)literal >> 2) % TSR_OP_BUCKETS;

    return table && table->seen[i].literal == literal ? table->seen[i].entry : NULL;
}
static inline void tsr__op_remember(tsr_op_table *table, const char *literal, tsr_op_entry *entry)
{
    size_t i = ((size_t)(uintptr_t)literal >> 2) % TSR_OP_BUCKETS;

    table->seen[i].literal = literal;
    table->seen[i].entry = entry;
}

#endif
