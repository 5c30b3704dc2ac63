/* SPDX-License-Identifier: Apache-2.0 */
/* expr.h - a composite op given as an expression of other ops, "mul(x, sigmoid(x))": read once,
   then a list of steps in the order in which they run. Pure. */
#ifndef TSR_OP_EXPR_H
#define TSR_OP_EXPR_H

#include "op/op_table.h"

enum { TSR_EXPR_STEPS = 48 };

/* A value in the text: output k of a step, or input k of the row. */
enum { TSR_EXPR_INPUT = -1 };
typedef struct tsr_expr_value {
    int step, k;
} tsr_expr_value;

/* Where the value of a part's attribute comes from. */
typedef enum tsr_expr_source {
    TSR_EXPR_GIVEN, /* the text says it, or it is the default */
    TSR_EXPR_SAME,  /* the row's attribute `from` */
    TSR_EXPR_MINUS, /* that, negative */
    TSR_EXPR_OVER   /* 1 divided by it */
} tsr_expr_source;

typedef struct tsr_expr_step {
    const tsr_op *op;
    int n_in;
    bool list; /* its inputs are the row's, which is a list */
    tsr_expr_value in[TSR_MAX_IN];
    tsr_attrs attrs; /* those that are given */
    struct {
        tsr_expr_source source;
        int from;
        tsr_attr_type own, wanted; /* of `from`, and of the part's */
    } attr[TSR_MAX_ATTR];
    int last; /* the last step that uses it, itself if none; TSR_EXPR_STEPS: it is an output */
} tsr_expr_step;

typedef struct tsr_expr {
    unsigned needed; /* inputs that cannot be absent, as bits */
    int n_out;
    tsr_expr_value out[TSR_MAX_OUT];
    int n;
    tsr_expr_step step[];
} tsr_expr;

/* Reads the row's text; ops are built in or known to the table, which may be NULL. The error is one
   sentence that names the op. Freed by tsr__free. */
tsr_status tsr__expr_read(tsr_heap *heap, const tsr_op_table *known, const tsr_op *op,
                          tsr_expr **out, tsr_error *err);

/* The attributes of a step, for those of a call. */
void tsr__expr_attrs(const tsr_expr_step *step, const tsr_attrs *own, tsr_attrs *out);
/* How many inputs it has, for a call of n_in inputs, and where the k-th comes from. */
static inline int tsr__expr_inputs(const tsr_expr_step *step, int n_in)
{
    return step->list ? n_in : step->n_in;
}
static inline tsr_expr_value tsr__expr_input(const tsr_expr_step *step, int k)
{
    return step->list ? (tsr_expr_value){TSR_EXPR_INPUT, k} : step->in[k];
}

/* An error of a part becomes one of the composite op that the user called: its name comes first,
   the part and the call's inputs (tsr_schema_text) last. What names the op already stays. */
void tsr__part_error(const tsr_op *op, const char *inputs, tsr_error *err);

/* Shapes and dtypes of the outputs of a call whose inputs are set; n_out stays 0 where a part does
   not tell, or is an op of a program. */
tsr_status tsr__expr_shapes(tsr_schema *schema, tsr_error *err);

#endif
