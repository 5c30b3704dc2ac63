/* SPDX-License-Identifier: Apache-2.0 */
/* schema.h - inputs of an op by the row's text, and of a call. Pure. */
#ifndef TSR_OP_SCHEMA_H
#define TSR_OP_SCHEMA_H

#include "op/op.h"

int tsr__op_inputs(const tsr_op *op); /* as declared; a list counts as one */
bool tsr__op_takes_list(const tsr_op *op);
bool tsr__op_optional(const tsr_op *op, int k);                     /* may input k be absent? */
int tsr__op_input(const tsr_op *op, const char *name, size_t n);    /* by name, -1 if none */
const char *tsr__op_input_name(const tsr_op *op, int k, size_t *n); /* without ? or * */
/* "out" is 0, "out2" is 2, for what "out"; -1: no output is called so. */
int tsr__op_output(const char *what, const char *name, size_t n);
/* Inputs and outputs whose values the row's gradient function reads, as masks: bit k is number k.
   */
tsr_status tsr__op_saves(const tsr_op *op, unsigned *in, unsigned *out, tsr_error *err);

/* An optional input that was not given has ndim -1. */
static inline bool tsr__schema_has(const tsr_schema *s, int k)
{
    return k < s->n_in && s->in[k].shape.ndim >= 0;
}

/* An output that was switched off has ndim -1. */
static inline bool tsr__schema_gives(const tsr_schema *s, int k)
{
    return k < s->n_out && s->out_shape[k].ndim >= 0;
}

/* The call as planning sees it: the effective specs of its inputs. */
tsr_schema tsr__schema_effective(const tsr_schema *schema);
/* Says that input k is not there. */
tsr_status tsr__input_missing(const tsr_op *op, int k, tsr_error *err);
/* Are n attributes the same for planning? Of those in `numbers` only what tsr__number says of them
   counts. */
bool tsr__attrs_equal(const tsr_attr *a, const tsr_attr *b, int n, unsigned numbers);
/* Says how many inputs the op takes instead of n. */
tsr_status tsr__inputs_wrong(const tsr_op *op, int n, tsr_error *err);

/* What a rule says of an input or output, if it is there. */
static inline void tsr__rule_in(const tsr_schema *s, tsr_rule *rule, int k, tsr_rule_placement mark)
{
    if (tsr__schema_has(s, k))
        rule->in[k] = mark;
}
static inline void tsr__rule_out(const tsr_schema *s, tsr_rule *rule, int k,
                                 tsr_rule_placement mark)
{
    if (tsr__schema_gives(s, k))
        rule->out[k] = mark;
}

#endif
