/* SPDX-License-Identifier: Apache-2.0 */
/* rules.c - all rules of a call for one mesh dim: all-replicate first, then those of the row, then
   those by which partial inputs pass; open shards filled with every kind of shard that the inputs
   have. Called by propagate. */
#include <string.h>

#include "op/linear.h"
#include "op/schema.h"

enum { KINDS = 2 * TSR_MAX_MESH };

static bool marks_equal(const tsr_mark *a, const tsr_mark *b, int n)
{
    for (int i = 0; i < n; i++)
        if (a[i].open != b[i].open || !tsr__placement_equal(&a[i].place, &b[i].place))
            return false;
    return true;
}

tsr_status tsr__rule_add(tsr_rules *rules, const tsr_rule *rule, tsr_error *err)
{
    tsr_status st;

    for (int i = 0; i < rules->n; i++)
        if (marks_equal(rules->rule[i].out, rule->out, TSR_MAX_OUT) &&
            marks_equal(rules->rule[i].in, rule->in, TSR_MAX_IN))
            return TSR_OK;
    TSR_TRY(tsr__grow(rules->heap, &rules->rule, &rules->cap, rules->n, sizeof *rules->rule, err));
    rules->rule[rules->n++] = *rule;
done:
    return st;
}

void tsr__rules_free(tsr_rules *rules)
{
    tsr__free(rules->heap, rules->rule);
    rules->rule = NULL;
    rules->n = rules->cap = 0;
}

/* Factors of the shards found in the inputs, 1 for a plain one; a partial input counts as plain. */
static int kinds_of(const tsr_schema *s, int64_t *factor)
{
    int n = 0;

    for (int k = 0; k < s->n_in; k++)
        for (int m = 0; tsr__schema_has(s, k) && m < s->in[k].mesh.ndim; m++) {
            const tsr_placement *p = &s->in[k].place[m];
            int64_t f = p->kind == TSR_STRIDED ? p->factor : 1;
            int i = 0;
            if (p->kind == TSR_REPLICATE)
                continue;
            while (i < n && factor[i] != f)
                i++;
            if (i == n && n < KINDS)
                factor[n++] = f;
        }
    return n;
}

static bool is_open(const tsr_rule *rule)
{
    bool open = false;

    for (int k = 0; k < TSR_MAX_IN; k++)
        open = open || rule->in[k].open;
    for (int k = 0; k < TSR_MAX_OUT; k++)
        open = open || rule->out[k].open;
    return open;
}

static void fill(tsr_mark *mark, int n, int64_t factor)
{
    for (int i = 0; i < n; i++)
        if (mark[i].open) {
            mark[i].open = false;
            mark[i].place.kind = factor > 1 ? TSR_STRIDED : TSR_SHARD;
            mark[i].place.factor = factor > 1 ? factor : 0;
        }
}

static tsr_status fill_all(const tsr_schema *s, const tsr_rules *open, tsr_rules *out,
                           tsr_error *err)
{
    int64_t factor[KINDS];
    int n = kinds_of(s, factor);
    tsr_status st = TSR_OK;

    for (int i = 0; i < open->n; i++) {
        if (!is_open(&open->rule[i])) {
            TSR_TRY(tsr__rule_add(out, &open->rule[i], err));
            continue;
        }
        for (int k = 0; k < n; k++) {
            tsr_rule rule = open->rule[i];
            fill(rule.in, TSR_MAX_IN, factor[k]);
            fill(rule.out, TSR_MAX_OUT, factor[k]);
            TSR_TRY(tsr__rule_add(out, &rule, err));
        }
    }
done:
    return st;
}

tsr_status tsr__rules_make(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    tsr_rules open = {.heap = out->heap};
    const tsr_rule replicate = {0};
    tsr_status st;

    TSR_TRY(tsr__rule_add(&open, &replicate, err));
    if (s->op->axes)
        TSR_TRY(tsr__axes_rules(s, &open, err));
    else if (s->op->rule)
        TSR_TRY(s->op->rule(s, &open, err));
    TSR_TRY(tsr__partial_rules(s, &open, err));
    TSR_TRY(fill_all(s, &open, out, err));
done:
    tsr__rules_free(&open);
    return st;
}
