/* SPDX-License-Identifier: Apache-2.0 */
/* op.h - an op is one row (tsr_op in tessera_ext.h). Rows stand in their family's file beside their
   functions; this is what the engine does with a row and what rows are made of. Pure: no world, no
   data. */
#ifndef TSR_OP_OP_H
#define TSR_OP_OP_H

#include "kernel/kernel.h"
#include "layout/spec.h"

enum { TSR_MAX_IN = TSR_OP_INPUTS, TSR_MAX_OUT = TSR_OP_OUTPUTS, TSR_MAX_ATTR = TSR_OP_ATTRS };

/* All rules of a call, all-replicate first; or, if they are whole, its strategies, each a rule for
   every mesh dim. */
struct tsr_rules {
    tsr_heap *heap;
    int n, cap; /* rules */
    tsr_rule *rule;
    bool whole;
    const tsr_schema *schema; /* of a row's function that adds to them */
};

/* rows.c: a built-in row by name, NULL if there is none. In-place forms, NAME_inplace, are found
   but not listed. */
const tsr_op *tsr__op_find(const char *name);
/* By its number, as ops/op_ids.h names them; how many there are, in-place forms too. */
const tsr_op *tsr__op_by_id(int id);
int tsr__op_total(void);

/* ---- helpers for rows ---- */

/* attrs.c */
int tsr__attr_index(const tsr_op *op, const char *name); /* -1: the op has none of that name */
int tsr__attrs_count(const tsr_op *op);
/* One declaration of a row's attrs, "dim:dim=-1": parts of that text. */
typedef struct tsr_attr_declared {
    const char *name, *type, *value; /* value NULL: no default */
    size_t name_len, type_len, value_len;
    bool optional; /* it may be left out, and has no default */
} tsr_attr_declared;
/* Reads the declaration at *p and moves on; false at the end. */
bool tsr__attr_declared(const char **p, tsr_attr_declared *out);
typedef enum tsr_attr_type {
    TSR_ATTR_INT,
    TSR_ATTR_INTS,
    TSR_ATTR_BOOL,
    TSR_ATTR_DTYPE,
    TSR_ATTR_TEXT_TYPE,
    TSR_ATTR_FLOAT,
    TSR_ATTR_NUMBER,
    TSR_ATTR_CHOICE
} tsr_attr_type;
tsr_attr_type tsr__attr_type(const tsr_op *op, int index); /* of a row whose attributes are right */
/* Do two attributes have the same type, choices the same names in the same order? Is this one of
   the names of a choice (false of other types)? And are the numbers of a call, which need not come
   from names, in range? */
bool tsr__attr_types_equal(const tsr_op *a, int i, const tsr_op *b, int k);
bool tsr__attr_has_choice(const tsr_op *op, int index, const char *text, size_t n);
tsr_status tsr__choices_check(const tsr_op *op, const tsr_attrs *attrs, tsr_error *err);
/* The attribute of type number with this value; and which attributes of an op are of that type, as
   a mask. */
tsr_attr tsr__number(double x);
/* The name of attribute i and its length. */
const char *tsr__attr_name(const tsr_op *op, int i, int *length);
unsigned tsr__attrs_numbers(const tsr_op *op);
tsr_status tsr__attrs_default(const tsr_op *op, tsr_attrs *out, tsr_error *err);
/* "dim=1" or "dims=0,2" */
tsr_status tsr__attr_parse(const tsr_op *op, const char *text, size_t n, tsr_attrs *out,
                           tsr_error *err);
/* n of them, each once */
tsr_status tsr__attrs_parse(const tsr_op *op, const char *const *text, int n, tsr_attrs *out,
                            tsr_error *err);
/* A text of at most TSR_ATTR_TEXT characters as a value, compared and hashed as numbers are. */
enum { TSR_ATTR_TEXT = 8 * TSR_MAX_DIM - 1 };
tsr_attr tsr__attr_text(const char *text, size_t n);
/* A dim counted from the end if negative; an error that names op and dim if out of range. */
tsr_status tsr__dim_normalise(const tsr_schema *schema, int64_t dim, int ndim, int *out,
                              tsr_error *err);

/* schema.c: number of inputs, optional ones, meshes alike; then the row's shape function */
tsr_status tsr__schema_check(tsr_schema *schema, tsr_error *err);

/* row_check.c: does the row contradict itself? An error that names the op. Expressions of other ops
   name built-in ones or those of the table, which may be NULL. */
struct tsr_op_table;
tsr_status tsr__row_check(const tsr_op *op, const struct tsr_op_table *known, tsr_error *err);

/* rules.c: the rules of a call, filled and without doubles; or its strategies for the whole mesh */
tsr_status tsr__rules_make(const tsr_schema *schema, tsr_rules *out, tsr_error *err);
void tsr__rules_free(tsr_rules *rules);
/* For rows with one input: a shard of its dim `from` becomes one of the output's dim `to`. */
tsr_status tsr__rule_pass(tsr_rules *rules, int from, int to, tsr_error *err);

/* axes.c: does the row's text fit it? And open rules from a text, the row's or one that fits, for a
   call. */
tsr_status tsr__axes_check(const tsr_op *op, tsr_error *err);
tsr_status tsr__axes_rules(const tsr_schema *schema, const char *axes, tsr_rules *out,
                           tsr_error *err);

#endif
