/* SPDX-License-Identifier: Apache-2.0 */
/* sound_rules.c - does every rule of an op hold? On one mesh dim of 1 to 4 ranks, for all cases,
   with plain and strided shards and partial inputs. */
#include <stdio.h>

#include "layout/cost.h"
#include "op/local_call.h"
#include "op/schema.h"
#include "op/op_case.h"
#include "validate/trial.h"
#include "validate/validate.h"

enum { MOST_RANKS = 4, MOST_PIECES = 3 };

tsr_status tsr__all_rules(const tsr_schema *schema, tsr_rules *out, tsr_error *err)
{
    tsr_status st = TSR_OK;

    /* a factor of 1 is a plain shard, and fills what partial inputs would */
    for (int factor = 1; factor <= MOST_PIECES; factor++) {
        tsr_schema s = *schema;
        for (int k = 0; k < s.n_in; k++)
            if (tsr__schema_has(&s, k) && s.in[k].shape.ndim > 0)
                s.in[k].place[0] = (tsr_placement){.kind = factor > 1 ? TSR_STRIDED : TSR_SHARD,
                                                   .factor = factor > 1 ? factor : 0};
        TSR_TRY(tsr__rules_make(&s, out, err)); /* adds those that are new */
    }
done:
    return st;
}

/* On one mesh dim a rule is a strategy. */
static void rule_specs(const tsr_schema *schema, const tsr_rule *rule, tsr_spec *in, tsr_spec *out)
{
    for (int k = 0; k < schema->n_in; k++) {
        in[k] = schema->in[k];
        in[k].place[0] = rule->in[k].place;
    }
    for (int k = 0; k < schema->n_out; k++)
        out[k] = (tsr_spec){.dtype = schema->out_dtype[k],
                            .shape = schema->out_shape[k],
                            .mesh = schema->in[0].mesh,
                            .place = {rule->out[k].place}};
}

bool tsr__rule_communicates(const tsr_schema *schema, const tsr_rule *rule)
{
    tsr_spec in[TSR_MAX_IN], out[TSR_MAX_OUT];
    tsr_cost cost = tsr_cost_default();

    rule_specs(schema, rule, in, out);
    return tsr__op_algorithm(schema, in, out, &cost).own_run;
}

bool tsr__rule_offered(const tsr_schema *schema, const tsr_rule *rule)
{
    tsr_spec in[TSR_MAX_IN], out[TSR_MAX_OUT];

    rule_specs(schema, rule, in, out);
    return tsr__op_feasible(schema, in, out);
}

const char *tsr__rule_text(const tsr_schema *schema, const tsr_rule *rule, char *buf, size_t n)
{
    size_t used = 0;
    char one[TSR_TEXT_LEN];

    for (int k = 0; k < schema->n_in && used < n; k++)
        if (tsr__schema_has(schema, k))
            used += (size_t)snprintf(buf + used, n - used, "%s%s", used ? "," : "",
                                     tsr__placement_text(&rule->in[k].place, one, sizeof one));
    for (int k = 0, first = 1; k < schema->n_out && used < n; k++)
        if (tsr__schema_gives(schema, k)) {
            used += (size_t)snprintf(
                buf + used, n - used, "%s%s", first ? " -> " : ",",
                rule->out[k].open ? "-"
                                  : tsr__placement_text(&rule->out[k].place, one, sizeof one));
            first = 0;
        }
    return buf;
}

static void report(tsr_validator *v, const tsr_trial *t, const char *text, const tsr_rule *rule,
                   const char *why)
{
    char line[TSR_TEXT_LEN], name[TSR_TEXT_LEN], call[TSR_TEXT_LEN];
    tsr_schema s = t->schema;

    for (int k = 0; k < s.n_in; k++)
        if ((int)s.in[k].dtype == TSR__FIELD) /* a user cannot say that */
            s.in[k].dtype = TSR_F64;
    tsr__flaw_add(v->report, TSR_FLAW_UNSOUND, tsr__case_line(&s, text, "torch", line, sizeof line),
                  "%s: rule %s does not hold for %s on %d ranks: %s", v->op->name,
                  tsr__rule_text(&s, rule, name, sizeof name),
                  tsr__case_text(&s, text, call, sizeof call), t->ranks, why);
}

static tsr_status check_rule(tsr_validator *v, tsr_trial *t, const char *text, const tsr_rule *rule,
                             tsr_error *err)
{
    char why[TSR_TEXT_LEN];
    int n, before = v->unsound.n;
    tsr_domain domain[2];
    bool holds = true;
    tsr_status st = TSR_OK;

    for (int k = 0; k < t->schema.n_in; k++)
        t->schema.in[k].place[0] = rule->in[k].place;
    n = tsr__domains_of(t, domain);
    for (int i = 0; i < n && holds; i++) {
        TSR_TRY(tsr__trial_fill(t, domain[i], err));
        TSR_TRY(tsr__trial_holds(t, rule->out, &holds, why, err));
    }
    if (holds)
        return TSR_OK;
    TSR_TRY(tsr_rule_add(&v->unsound, rule, err));
    if (v->unsound.n > before) /* a rule is reported once, with its first counter-example */
        report(v, t, text, rule, why);
done:
    return st;
}

static tsr_status check_call(tsr_validator *v, const tsr_schema *schema, const char *text,
                             tsr_error *err)
{
    const int ranks = schema->in[0].mesh.size[0];
    tsr_rules rules = {.heap = v->heap};
    tsr_trial trial = {.heap = v->heap};
    tsr_status st;

    TSR_TRY(tsr__all_rules(schema, &rules, err));
    TSR_TRY(tsr__trial_open(&trial, v->heap, schema, text, (uint64_t)ranks, err));
    for (int i = 0; i < rules.n; i++) {
        TSR_TRY(tsr_rule_add(&v->known, &rules.rule[i], err));
        if (tsr__rule_offered(schema, &rules.rule[i]) &&
            !tsr__rule_communicates(schema, &rules.rule[i]))
            TSR_TRY(check_rule(v, &trial, text, &rules.rule[i], err));
    }
done:
    tsr__trial_close(&trial);
    tsr__rules_free(&rules);
    return st;
}

/* The case as it is written, and with integers in place of f64 where the op takes them; of the
   plain ones, which compute alike, one by turns. */
static tsr_status check_case(tsr_validator *v, const char *text, int ranks, int turn,
                             tsr_error *err)
{
    const tsr_mesh_shape mesh = tsr__case_mesh(ranks);
    tsr_schema schema, other;
    tsr_status st;

    TSR_TRY(tsr__case_read(v->op, text, &mesh, &schema, err));
    TSR_TRY(check_call(v, &schema, text, err));
    for (int d = 0, plain = 0; d < TSR__FIELD && tsr__refuses_dtypes(v->op); d++) {
        const tsr_dtype dtype = (tsr_dtype)d;

        if (tsr__dtype_is_float(dtype) ||
            (tsr__dtype_is_plain(dtype) && plain++ != (turn + ranks) % TSR__PLAIN_DTYPES))
            continue;
        if (tsr__case_in_dtype(&schema, dtype, &other))
            TSR_TRY(check_call(v, &other, text, err));
    }
done:
    return st;
}

tsr_status tsr__check_rules(tsr_validator *v, tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (const char *const *text = v->op->cases; *text; text++)
        for (int ranks = 1; ranks <= MOST_RANKS; ranks++)
            TSR_TRY(check_case(v, *text, ranks, (int)(text - v->op->cases), err));
    v->report->rules = v->known.n;
done:
    return st;
}
