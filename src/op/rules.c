/* SPDX-License-Identifier: Apache-2.0 */
/* rules.c - all rules of a call for one mesh dim: all-replicate first, then those by which partial
   inputs pass, then those of the row; open shards filled with every kind of shard that the inputs
   have. Or, for rows that speak of the whole mesh, their strategies. Called by propagate. */
#include <string.h>

#include "base/args.h"
#include "op/linear.h"
#include "op/schema.h"

enum { KINDS = 2 * TSR_MAX_MESH };

static bool marks_equal(const tsr_rule_placement *a, const tsr_rule_placement *b, int n)
{
    for (int i = 0; i < n; i++)
        if (a[i].open != b[i].open || !tsr__placement_equal(&a[i].place, &b[i].place))
            return false;
    return true;
}

tsr_status tsr_rule_add(tsr_rules *rules, const tsr_rule *rule, tsr_error *err)
{
    TSR_NEED(TSR_ERR_ARG, err, rules, rule);

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

tsr_status tsr__rule_pass(tsr_rules *rules, int from, int to, tsr_error *err)
{
    const tsr_rule rule = {.in = {tsr_rule_shard(from)}, .out = {tsr_rule_shard(to)}};

    return tsr_rule_add(rules, &rule, err);
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

static void fill(tsr_rule_placement *mark, int n, int64_t factor)
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
            TSR_TRY(tsr_rule_add(out, &open->rule[i], err));
            continue;
        }
        for (int k = 0; k < n; k++) {
            tsr_rule rule = open->rule[i];
            fill(rule.in, TSR_MAX_IN, factor[k]);
            fill(rule.out, TSR_MAX_OUT, factor[k]);
            TSR_TRY(tsr_rule_add(out, &rule, err));
        }
    }
done:
    return st;
}

/* A placement for a tensor that is not there, or along a dim that it has not, is the row's
   mistake. */
static bool mark_feasible(const tsr_rule_placement *mark, bool there, const tsr_shape *shape)
{
    const tsr_placement *p = &mark->place;

    if (p->kind == TSR_SHARD || p->kind == TSR_STRIDED)
        return there && p->dim >= 0 && p->dim < shape->ndim;
    return there || p->kind == TSR_REPLICATE;
}

static tsr_status check_rules(const tsr_schema *s, const tsr_rules *rules, tsr_error *err)
{
    char text[TSR_TEXT_LEN];

    for (int i = 0; i < rules->n; i++) {
        const tsr_rule *rule = &rules->rule[i];
        for (int k = 0; k < TSR_MAX_IN; k++)
            if (!mark_feasible(&rule->in[k], tsr__schema_has(s, k), &s->in[k].shape))
                return tsr__fail(err, TSR_ERR_ARG, "%s: rule %d puts input %d at %s, but %s%s",
                                 s->op->name, i, k,
                                 tsr__placement_text(&rule->in[k].place, text, sizeof text),
                                 k < s->n_in ? "it is of another shape" : "inputs are ",
                                 k < s->n_in ? "" : s->op->inputs);
        for (int k = 0; k < TSR_MAX_OUT; k++)
            if (!mark_feasible(&rule->out[k], tsr__schema_gives(s, k), &s->out_shape[k]))
                return tsr__fail(err, TSR_ERR_ARG, "%s: rule %d puts output %d at %s, but %s",
                                 s->op->name, i, k,
                                 tsr__placement_text(&rule->out[k].place, text, sizeof text),
                                 k < s->n_out ? "it is of another shape" : "there is none");
        if (rules->whole && is_open(rule))
            return tsr__fail(err, TSR_ERR_ARG,
                             "%s: strategies for the whole mesh must name their shards",
                             s->op->name);
    }
    return TSR_OK;
}

tsr_status tsr_strategy_add(tsr_rules *rules, const tsr_rule *rule, int n, tsr_error *err)
{
    TSR_NEED(TSR_ERR_ARG, err, rules, rule);

    int ndim = rules->schema->in[0].mesh.ndim;
    tsr_status st = TSR_OK;

    if (n != ndim)
        return tsr__fail(err, TSR_ERR_ARG, "%s: a strategy of %d rules for a mesh of %d dims",
                         rules->schema->op->name, n, ndim);
    for (int m = 0; m < n; m++) {
        TSR_TRY(tsr__grow(rules->heap, &rules->rule, &rules->cap, rules->n, sizeof *rule, err));
        rules->rule[rules->n++] = rule[m];
    }
done:
    return st;
}

/* All-replicate, and what the row's function says of the whole mesh. */
static tsr_status make_whole(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    tsr_rule rule[TSR_MAX_MESH] = {0};
    int ndim = s->in[0].mesh.ndim;
    tsr_status st;

    out->whole = true;
    out->schema = s;
    TSR_TRY(tsr_strategy_add(out, rule, ndim, err));
    if (s->op->strategies) {
        TSR_TRY(s->op->strategies(s, out, err));
    } else {
        TSR_TRY(s->op->propagate(s, rule, err));
        TSR_TRY(tsr_strategy_add(out, rule, ndim, err));
    }
    TSR_TRY(check_rules(s, out, err));
done:
    return st;
}

tsr_status tsr__rules_make(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    tsr_rules open = {.heap = out->heap, .schema = s};
    const tsr_rule replicate = {0};
    tsr_status st;

    if (s->op->strategies || s->op->propagate)
        return make_whole(s, out, err);
    TSR_TRY(tsr_rule_add(&open, &replicate, err));
    /* before the row's, so that for the same price a partial input is passed on */
    TSR_TRY(tsr__partial_rules(s, &open, err));
    if (s->op->axes)
        TSR_TRY(tsr__axes_rules(s, s->op->axes, &open, err));
    else if (s->op->rule)
        TSR_TRY(s->op->rule(s, &open, err));
    TSR_TRY(check_rules(s, &open, err));
    TSR_TRY(fill_all(s, &open, out, err));
done:
    tsr__rules_free(&open);
    return st;
}
