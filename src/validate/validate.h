/* SPDX-License-Identifier: Apache-2.0 */
/* validate.h - are the rules of an op right, and are they all? Four checks, each a file: known
   rules hold, unknown tuples do not, runs on threads give what whole inputs give, and a program's
   own gradient is what finite differences say. */
#ifndef TSR_VALIDATE_VALIDATE_H
#define TSR_VALIDATE_VALIDATE_H

#include "op/op.h"
#include "tessera_ext.h"

typedef struct tsr_validator {
    tsr_heap *heap;
    const tsr_op *op;
    tsr_validation *report;
    tsr_rules known, unsound, missing; /* over all cases */
} tsr_validator;

tsr_status tsr__check_rules(tsr_validator *v, tsr_error *err);     /* sound_rules.c */
tsr_status tsr__check_missing(tsr_validator *v, tsr_error *err);   /* missing_rules.c */
tsr_status tsr__check_runs(tsr_validator *v, tsr_error *err);      /* real_runs.c */
tsr_status tsr__check_gradients(tsr_validator *v, tsr_error *err); /* gradient_checks.c */

/* The rules of a call on one mesh dim, filled with plain shards and some strided ones. */
tsr_status tsr__all_rules(const tsr_schema *schema, tsr_rules *out, tsr_error *err);
/* Does the row offer the rule for these shapes on this mesh? */
bool tsr__rule_offered(const tsr_schema *schema, const tsr_rule *rule);
/* Does the op move data itself by this rule? Then only runs can try it. */
bool tsr__rule_communicates(const tsr_schema *schema, const tsr_rule *rule);
/* "S(0),R -> S(0)", or "S(0),R -> S(0),-" where the second output is open, so not spoken of */
const char *tsr__rule_text(const tsr_schema *schema, const tsr_rule *rule, char *buf, size_t n);

/* How jobs of the validator run: on threads, with a timeout of their own. */
static inline tsr_run_opts tsr__trial_opts(const char *mesh)
{
    tsr_run_opts opts = tsr_run_opts_default();

    opts.mesh = mesh;
    opts.world = TSR_WORLD_THREAD;
    opts.has_timeout = true;
    opts.timeout_ms = 60000;
    return opts;
}

/* Does the row refuse dtypes that its kernel cannot take? Tessera's own shape functions do; others
   may leave that to their callers, and are tried with the dtypes of their cases only. */
bool tsr__refuses_dtypes(const tsr_op *op);

/* Count a flaw; keeps it if there is room. */
void tsr__flaw_add(tsr_validation *report, tsr_flaw_kind kind, const char *line, const char *format,
                   ...) __attribute__((format(printf, 4, 5)));

#endif
