/* SPDX-License-Identifier: Apache-2.0 */
/* op_rivals.h - what other strategies of an op would cost: each of its rules, all-replicate
   first, applied on every mesh dim. For explain. */
#ifndef CLI_OP_RIVALS_H
#define CLI_OP_RIVALS_H

#include "op_problem.h"

enum { OP_RULES = 256, RIVAL_WHY = 2 * TSR_TEXT_LEN };

typedef struct op_rules {
    int n;
    tsr_rule *rule; /* [OP_RULES] */
} op_rules;

typedef struct op_rival {
    bool possible, chosen;
    double inputs, comm, pending, seconds;
    char why[RIVAL_WHY]; /* why it is not chosen */
} op_rival;

/* The rules of a problem for one mesh dim; gives an exit status. */
int op_rules_make(const op_problem *p, op_rules *out);
void op_rules_free(op_rules *rules);
/* Rule i as "S(0),R -> S(0)", and one placement of it as "S(0)". */
const char *op_rule_text(const op_problem *p, const op_rules *rules, int i, char *buf, size_t n);
const char *op_placement_text(const tsr_placement *place, char buf[CLI_TEXT]);

/* Rule i on all mesh dims of more than one rank: what it costs, and why it loses. */
int op_rival_look(const op_problem *p, const op_rules *rules, int i, op_rival *out);

/* Are inputs and first output where the problem's own strategy has them? */
bool op_is_chosen(const op_problem *p, const tsr_op_strategy *strategy);

#endif
