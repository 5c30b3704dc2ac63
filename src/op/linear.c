/* SPDX-License-Identifier: Apache-2.0 */
/* linear.c - how partial inputs pass through an op. Sums and averages pass where the op is linear:
   in every term exactly one factor is partial. Max and min pass along one input in which the op is
   monotone, unless it computes with integers, which wrap around. Every reduction passes through an
   op that only moves elements. */
#include "op/linear.h"

#include <string.h>

#include "base/reduce.h"
#include "op/schema.h"

tsr_status tsr__terms_parse(const tsr_schema *s, tsr_terms *out, tsr_error *err)
{
    bool seen[TSR_MAX_IN] = {false};
    const char *p = s->op->linear;

    memset(out, 0, sizeof *out);
    if (tsr__op_takes_list(s->op)) {
        for (int k = 0; k < s->n_in; k++) {
            out->count[k] = 1;
            out->input[k][0] = k;
        }
        out->n = s->n_in;
        return TSR_OK;
    }
    while (*p) {
        bool absent = false;
        do {
            size_t n = strcspn(p, "*+-?");
            int k = tsr__op_input(s->op, p, n);
            bool has = k >= 0 && tsr__schema_has(s, k);
            if (k < 0 || seen[k])
                return tsr__fail(err, TSR_ERR_ARG,
                                 "%s: linear \"%s\" names %.*s, which is not an input or is there "
                                 "twice",
                                 s->op->name, s->op->linear, (int)n, p);
            seen[k] = true;
            p += n;
            absent = absent || (!has && *p != '?');
            if (has)
                out->input[out->n][out->count[out->n]++] = k;
            p += *p == '?';
        } while (*p == '*' && p++);
        if (absent)
            out->count[out->n] = 0;
        else
            out->n++;
        p += *p == '+' || *p == '-';
    }
    return TSR_OK;
}

/* Reductions that have no meaning for a dtype: averages of integers, any of bool. */
static bool has_meaning(const tsr_schema *s, const tsr_rule *rule)
{
    for (int k = 0; k < s->n_in; k++)
        if (rule->in[k].place.kind == TSR_PARTIAL &&
            tsr__reduce_check(s->in[k].dtype, rule->in[k].place.reduce, NULL) != TSR_OK)
            return false;
    for (int k = 0; k < s->n_out; k++)
        if (rule->out[k].place.kind == TSR_PARTIAL &&
            tsr__reduce_check(s->out_dtype[k], rule->out[k].place.reduce, NULL) != TSR_OK)
            return false;
    return true;
}

static tsr_status add_if_meant(const tsr_schema *s, tsr_rules *out, const tsr_rule *rule,
                               tsr_error *err)
{
    return has_meaning(s, rule) ? tsr_rule_add(out, rule, err) : TSR_OK;
}

static void set_outputs(const tsr_schema *s, tsr_rule *rule, tsr_reduce reduce)
{
    for (int k = 0; k < s->n_out; k++)
        if (tsr__schema_gives(s, k))
            rule->out[k] = tsr_rule_partial(reduce);
}

/* One partial factor in every term, all choices. */
static tsr_status linear_rules(const tsr_schema *s, const tsr_terms *terms, int term,
                               tsr_reduce reduce, tsr_rule *rule, tsr_rules *out, tsr_error *err)
{
    tsr_status st = TSR_OK;

    if (term == terms->n)
        return add_if_meant(s, out, rule, err);
    for (int i = 0; i < terms->count[term]; i++) {
        int k = terms->input[term][i];
        rule->in[k] = tsr_rule_partial(reduce);
        TSR_TRY(linear_rules(s, terms, term + 1, reduce, rule, out, err));
        rule->in[k] = (tsr_rule_placement){0};
    }
done:
    return st;
}

/* "+a-b": grows with a, shrinks with b. A row says that of numbers; if it is linear too, it adds
   and multiplies, and of integers that wrap around the larger may then become the smaller. */
static tsr_status monotone_rules(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (const char *p = s->op->monotone; *p;) {
        bool grows = *p == '+';
        size_t n = strcspn(p + 1, "+-");
        int k = tsr__op_input(s->op, p + 1, n);
        if (k < 0)
            return tsr__fail(err, TSR_ERR_ARG,
                             "%s: monotone \"%s\" names %.*s, which is not an input", s->op->name,
                             s->op->monotone, (int)n, p + 1);
        p += 1 + n;
        if (!tsr__schema_has(s, k) || (s->op->linear && tsr__dtype_is_integer(s->in[k].dtype)))
            continue;
        for (int max = 0; max < 2; max++) {
            tsr_rule rule = {0};
            rule.in[k] = tsr_rule_partial(max ? TSR_MAX : TSR_MIN);
            set_outputs(s, &rule, (max != 0) == grows ? TSR_MAX : TSR_MIN);
            TSR_TRY(add_if_meant(s, out, &rule, err));
        }
    }
done:
    return st;
}

static tsr_status move_rules(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (int op = TSR_SUM; op <= TSR_PROD; op++) {
        tsr_rule rule = {0};
        for (int k = 0; k < s->n_in; k++)
            if (tsr__schema_has(s, k))
                rule.in[k] = tsr_rule_partial((tsr_reduce)op);
        set_outputs(s, &rule, (tsr_reduce)op);
        TSR_TRY(add_if_meant(s, out, &rule, err));
    }
done:
    return st;
}

tsr_status tsr__partial_rules(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    static const tsr_reduce additive[] = {TSR_SUM, TSR_AVG};
    tsr_terms terms;
    tsr_status st = TSR_OK;

    if (s->op->permutes)
        return move_rules(s, out, err);
    for (int i = 0; i < 2 && s->op->linear; i++) {
        tsr_rule rule = {0};
        TSR_TRY(tsr__terms_parse(s, &terms, err));
        set_outputs(s, &rule, additive[i]);
        TSR_TRY(linear_rules(s, &terms, 0, additive[i], &rule, out, err));
    }
    if (s->op->monotone)
        TSR_TRY(monotone_rules(s, out, err));
done:
    return st;
}
