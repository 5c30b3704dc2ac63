/* SPDX-License-Identifier: Apache-2.0 */
/* expr.h - ops given as expressions of others, read once, then a list of steps in the order in
   which they run: a composite op, "mul(x, sigmoid(x))", or a gradient, "a: mul(g, b); b: mul(g,
   a)". Pure. */
#ifndef TSR_OP_EXPR_H
#define TSR_OP_EXPR_H

#include "op/op_table.h"

enum { TSR_EXPR_STEPS = 48 };

/* A value in the text: output k of a step; or number k of the call's inputs and, in gradients, of
   its outputs, of their gradients, or zeros like an input. */
enum {
    TSR_EXPR_INPUT = -1,
    TSR_EXPR_OUTPUT = -2,
    TSR_EXPR_GRAD = -3,
    TSR_EXPR_ZEROS = -4 /* of the input only the spec is read */
};
typedef struct tsr_expr_value {
    int step, k;
} tsr_expr_value;

/* Where the value of a part's attribute comes from. */
typedef enum tsr_expr_source {
    TSR_EXPR_GIVEN,   /* the text says it, or it is the default */
    TSR_EXPR_SAME,    /* the row's attribute `from` */
    TSR_EXPR_MINUS,   /* that, negative */
    TSR_EXPR_OVER,    /* 1 divided by it */
    TSR_EXPR_SHAPE,   /* sizes of the dims of `of`, from number `from` on */
    TSR_EXPR_SIZE,    /* of one dim, number `from` */
    TSR_EXPR_SIZE_AT, /* of the dim that the row's attribute `from` names */
    TSR_EXPR_WANTED   /* gradients: which of the inputs named before the colon, one by one */
} tsr_expr_source;

typedef struct tsr_expr_attr {
    tsr_expr_source source;
    int from;
    bool copied;               /* it is of the same type as the row's */
    tsr_expr_value of;         /* an input or output */
    tsr_attr_type own, wanted; /* of the row's attribute, and of the part's */
} tsr_expr_attr;

typedef struct tsr_expr_step {
    const tsr_op *op;
    struct tsr_op_entry *entry; /* of op, where the expression belongs to one; NULL: not yet run */
    int n_in;
    bool list; /* its inputs are the row's, which is a list */
    bool own;  /* some attributes are not given by the text */
    tsr_expr_value in[TSR_MAX_IN];
    tsr_attrs attrs; /* those that are given */
    tsr_expr_attr attr[TSR_MAX_ATTR];
    int result, results; /* of gradients: those named before the colon, for TSR_EXPR_WANTED */
    int last; /* the last step that uses it, itself if none; TSR_EXPR_STEPS: it is a result */
} tsr_expr_step;

typedef struct tsr_expr_result {
    tsr_expr_value value;
    int of;         /* gradients: the input that it is of */
    uint64_t steps; /* that it needs, as bits */
} tsr_expr_result;

typedef struct tsr_expr {
    unsigned needed;              /* inputs that cannot be absent, as bits */
    unsigned reads_in, reads_out; /* inputs and outputs whose values are read, as bits */
    int n_named;                  /* outputs of the row, up to the last that it names */
    int n_out;
    tsr_expr_result out[TSR_MAX_IN > TSR_MAX_OUT ? TSR_MAX_IN : TSR_MAX_OUT];
    int n;
    tsr_expr_step step[];
} tsr_expr;

/* Reads the row's text, or that of its gradient; ops are built in or known to the table, which may
   be NULL. The error is one sentence that names the op. Freed by tsr__free. */
tsr_status tsr__expr_read(tsr_heap *heap, const tsr_op_table *known, const tsr_op *op,
                          tsr_expr **out, tsr_error *err);
tsr_status tsr__expr_read_grad(tsr_heap *heap, const tsr_op_table *known, const tsr_op *op,
                               tsr_expr **out, tsr_error *err);

/* What attributes of steps depend on. */
typedef struct tsr_expr_facts {
    const tsr_attrs *attrs;          /* of the call */
    const tsr_shape *in[TSR_MAX_IN]; /* NULL: absent */
    const tsr_shape *out[TSR_MAX_OUT];
    const bool *wanted; /* gradients, of every input */
} tsr_expr_facts;

/* expr_call.c: the attributes of a step, for those of a call. */
void tsr__expr_attrs(const tsr_expr *expr, const tsr_expr_step *step, const tsr_expr_facts *facts,
                     tsr_attrs *out);
/* How many inputs it has, for a call of n_in inputs, and where the k-th comes from. */
static inline int tsr__expr_inputs(const tsr_expr_step *step, int n_in)
{
    return step->list ? n_in : step->n_in;
}
static inline tsr_expr_value tsr__expr_input(const tsr_expr_step *step, int k)
{
    return step->list ? (tsr_expr_value){TSR_EXPR_INPUT, k} : step->in[k];
}

/* expr_call.c: an error of a part becomes one of the composite op that the user called: its name
   comes first, the part and the call's inputs (tsr_schema_text) last. What names the op already
   stays. */
void tsr__part_error(const tsr_op *op, const char *inputs, tsr_error *err);

/* expr_call.c: shapes and dtypes of the outputs of a call whose inputs are set; n_out stays 0 where
   a part does not tell, or is an op of a program. */
tsr_status tsr__expr_shapes(tsr_schema *schema, tsr_error *err);

#endif
