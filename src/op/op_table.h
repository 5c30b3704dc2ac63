/* SPDX-License-Identifier: Apache-2.0 */
/* op_table.h - the ops that one rank knows, and what it did with them: rows are constant and
   shared, an entry is the context's own. */
#ifndef TSR_OP_OP_TABLE_H
#define TSR_OP_OP_TABLE_H

#include "op/op.h"

/* A family of built-in ops. Their table is all that the engine knows of them: it is in
   ops/families.c, and nothing else in the engine is defined above it. */
typedef struct tsr_family {
    const char *name;
    const char *folder; /* of src/ops/ */
    bool by_hand;       /* its C functions are: they take options, or are none */
    const tsr_op *rows; /* ended by one without a name */
    /* NULL but for lookups: does this op give a row-sparse gradient of its first input, a watched
       tensor (may be NULL), and is that wanted? Such a call's, added to those that the tensor has.
       Collective. */
    bool (*gives_rows)(const tsr_op *op, const tsr_tensor *table);
    tsr_status (*give_rows)(const tsr_grad_call *call, tsr_tensor *table);
} tsr_family;

const tsr_family *tsr__op_families(void); /* ended by one without rows */
const tsr_op *tsr__op_unlisted(void);     /* rows in place, found by name but not listed */

/* The ops that the engine itself runs: gradients of one tensor are added up, summed over dims along
   which it was broadcast, and converted to its dtype. Functions of families, in ops/families.c as
   well. Collective. */
typedef struct tsr_op_uses {
    tsr_tensor *(*add)(tsr_tensor *a, tsr_tensor *b);
    tsr_tensor *(*sum)(tsr_tensor *x, const int *dims, int n_dims, bool keepdim);
    tsr_tensor *(*cast)(tsr_tensor *x, tsr_dtype dtype);
} tsr_op_uses;

const tsr_op_uses *tsr__op_uses(void);

/* What a row's texts say, read once. */
typedef struct tsr_op_entry {
    const tsr_op *op;
    uint64_t hash; /* of the name */
    bool registered;
    bool list; /* takes a list of inputs */
    int n_in;  /* inputs as declared */
    int n_attrs;
    unsigned
        numbers; /* attributes of type number, as a mask: their values do not matter to plans */
    tsr_attrs defaults;
    unsigned saves_in, saves_out; /* whose values the gradient reads, as masks */
    struct tsr_expr *expr; /* of a row that is an expression of other ops (op/expr.h), else NULL */
    struct tsr_expr *grad; /* of a row whose gradient is one, once tsr__op_entry_grad read it */
    tsr_op_counters counters;
    struct tsr_op_entry *next, *later; /* in its bucket; in the order of first use */
} tsr_op_entry;

enum { TSR_OP_BUCKETS = 256 };

typedef struct tsr_op_table {
    tsr_op_entry *bucket[TSR_OP_BUCKETS]; /* by name */
    tsr_op_entry *first, **last;          /* in the order of first use */
    tsr_op_entry *by_id[];                /* of built-in ops that a C function has called */
} tsr_op_table;

/* The entry of a row, made at its first use. */
tsr_status tsr__op_entry_of(tsr_heap *heap, tsr_op_table **table, const tsr_op *op,
                            tsr_op_entry **out, tsr_error *err);
/* Reads the gradient of a row that gives it as an expression, once: what it saves follows. */
tsr_status tsr__op_entry_grad(tsr_heap *heap, const tsr_op_table *table, tsr_op_entry *entry,
                              tsr_error *err);
/* Does the row itself say what its gradient is? That of composite ops may follow from parts. */
static inline bool tsr__op_own_grad(const tsr_op *op)
{
    return op->grad || op->grad_expr;
}
/* The row of that name that was registered or used before, NULL if none was. */
const tsr_op *tsr__op_known(const tsr_op_table *table, const char *name);
void tsr__op_table_free(tsr_heap *heap, tsr_op_table *table);

/* The entry of a built-in row by its number. */
tsr_status tsr__op_entry_by_id(tsr_heap *heap, tsr_op_table **table, int id, tsr_op_entry **out,
                               tsr_error *err);

#endif
