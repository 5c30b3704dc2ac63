/* SPDX-License-Identifier: Apache-2.0 */
/* op.h - an op is one row. Rows stand in their family's file beside their functions and say all
   that there is to know of an op: its inputs and attributes, how it shards along one mesh dim, how
   its output's shape follows, and what computes it on one rank. Pure: no world, no data. */
#ifndef TSR_OP_OP_H
#define TSR_OP_OP_H

#include "kernel/kernel.h"
#include "layout/spec.h"

enum { TSR_MAX_IN = TSR_KERNEL_IN, TSR_MAX_OUT = TSR_KERNEL_OUT, TSR_MAX_ATTR = TSR_KERNEL_ATTR };

/* ---- rules for one mesh dim ---- */

/* What a rule says of one tensor. A shard is open until it is filled with a kind of shard that the
   inputs have: plain, or strided with some factor. */
typedef struct tsr_mark {
    tsr_placement place;
    bool open;
} tsr_mark;

typedef struct tsr_rule {
    tsr_mark out[TSR_MAX_OUT], in[TSR_MAX_IN];
} tsr_rule;

/* All rules of a call, all-replicate first. */
typedef struct tsr_rules {
    tsr_heap *heap;
    int n, cap;
    tsr_rule *rule;
} tsr_rules;

/* ---- the call as planning sees it ---- */

typedef struct tsr_op tsr_op;

typedef struct tsr_schema {
    const tsr_op *op;
    int n_in, n_out;
    tsr_spec in[TSR_MAX_IN];
    tsr_attrs attrs;
    /* found by the row's shape function */
    tsr_dtype out_dtype[TSR_MAX_OUT];
    tsr_shape out_shape[TSR_MAX_OUT];
} tsr_schema;

/* ---- the row ---- */

struct tsr_op {
    const char *name;
    const char *inputs; /* "a,b,bias?": ? is optional, * a list of one or more */
    const char *attrs;  /* "dim:int=-1,keepdim:bool=false,dims:ints"; NULL: none */
    const char *doc;    /* one sentence */

    /* How it shards: one of the two. axes: "...mk,...kn,n->...mn", a letter for every axis, ...
       for leading ones, which broadcast; a letter that the output lacks is reduced; a letter
       before ! is blocked, it is never sharded. rule: a function for the exceptions. */
    const char *axes;
    tsr_status (*rule)(const tsr_schema *schema, tsr_rules *out, tsr_error *err);
    tsr_reduce reduce; /* what a reduced axis yields: P(reduce) */
    /* optional: is a whole strategy possible for these shapes on this mesh? NULL: always */
    bool (*fits)(const tsr_schema *schema, const tsr_spec *in, const tsr_spec *out);

    /* How partial inputs pass. linear: the op as a sum of products of inputs, "a*b+bias": P(sum)
       and P(avg) pass. monotone: "+x" or "-x": P(max) and P(min) pass along one input, or change
       places. moves: the op only moves elements, so every reduction passes. */
    const char *linear;
    const char *monotone;
    bool moves;

    tsr_status (*shape)(tsr_schema *schema, tsr_error *err); /* sets out_dtype and out_shape */
    tsr_kernel_fn kernel;                                    /* NULL: the op is run in other ways */

    /* calls to try it on, ended by NULL: "f64[4,6] f64[6,2] - dim=1", - for an absent input. Those
       that differ in sizes only are judged together: some should divide by the mesh, some not. */
    const char *const *cases;
};

/* rows.c: all rows, ended by one without a name; and one by name, NULL if there is none */
const tsr_op *tsr__op_find(const char *name);
const tsr_op *const *tsr__op_families(void); /* ended by NULL */

/* ---- helpers for rows ---- */

tsr_status tsr__rule_add(tsr_rules *rules, const tsr_rule *rule, tsr_error *err);
static inline tsr_mark tsr__mark_shard(int dim)
{
    return (tsr_mark){.place = {.kind = TSR_SHARD, .dim = dim}, .open = true};
}
static inline tsr_mark tsr__mark_partial(tsr_reduce reduce)
{
    return (tsr_mark){.place = {.kind = TSR_PARTIAL, .reduce = reduce}};
}

/* attrs.c */
int tsr__attr_index(const tsr_op *op, const char *name); /* -1: the op has none of that name */
const tsr_attr *tsr__attr(const tsr_schema *schema, const char *name);
tsr_status tsr__attrs_default(const tsr_op *op, tsr_attrs *out, tsr_error *err);
/* "dim=1" or "dims=0,2" */
tsr_status tsr__attr_parse(const tsr_op *op, const char *text, size_t n, tsr_attrs *out,
                           tsr_error *err);
/* A dim counted from the end if negative; an error that names op and dim if out of range. */
tsr_status tsr__dim_normalise(const tsr_schema *schema, int64_t dim, int ndim, int *out,
                              tsr_error *err);

/* schema.c: number of inputs, optional ones, meshes alike; then the row's shape function */
tsr_status tsr__schema_check(tsr_schema *schema, tsr_error *err);

/* rules.c: the rules of a call, filled and without doubles */
tsr_status tsr__rules_make(const tsr_schema *schema, tsr_rules *out, tsr_error *err);
void tsr__rules_free(tsr_rules *rules);

/* axes.c: open rules from axes text; and does the text fit the row? */
tsr_status tsr__axes_rules(const tsr_schema *schema, tsr_rules *out, tsr_error *err);

#endif
