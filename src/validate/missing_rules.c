/* SPDX-License-Identifier: Apache-2.0 */
/* missing_rules.c - which placements hold though no rule says so? All tuples on one mesh dim of 2
   to 4 ranks; cases that differ in sizes only are judged together, so that a tuple which holds by
   chance for some sizes does not count. Moves that cost nothing do not make a new rule. A tuple has
   all inputs and all outputs; where that would be thousands of tuples, outputs are looked at one by
   one instead: a tuple has all inputs and one output, it is known if a rule says so of that output,
   and the other outputs may be anywhere (bind_rank sees them replicated). It is missing then if the
   other outputs have placements for these inputs too; that two outputs have known placements which
   no rule has together is not seen. Of ops with many inputs a sample of the inputs' placements is
   tried. */
#include "base/reduce.h"
#include "op/schema.h"
#include "op/op_case.h"
#include "validate/trial.h"
#include "validate/validate.h"

enum {
    CHOICES = 1 + TSR_MAX_DIM + 4,
    MOST_CASES = 32,
    LEAST_RANKS = 2,
    MOST_RANKS = 4,
    MOST_TUPLES = 2000,  /* of an op with several outputs, for one case */
    MOST_TRIED = 500000, /* tuples of one case, */
    MOST_ALONE = 20000,  /* and where each is judged by itself; of more, a sample: */
    SAMPLE = 3000
};

/* ---- tuples ---- */

/* The placements of one tensor. */
typedef struct choices {
    int n;
    tsr_placement place[CHOICES];
} choices;

static choices choices_of(tsr_dtype dtype, const tsr_shape *shape)
{
    static const tsr_reduce reduce[] = {TSR_SUM, TSR_AVG, TSR_MAX, TSR_MIN};
    choices c = {.n = 1};

    for (int d = 0; d < shape->ndim; d++)
        c.place[c.n++] = (tsr_placement){.kind = TSR_SHARD, .dim = d};
    for (int i = 0; i < 4; i++)
        if (tsr__reduce_check(dtype, reduce[i], NULL) == TSR_OK)
            c.place[c.n++] = (tsr_placement){.kind = TSR_PARTIAL, .reduce = reduce[i]};
    return c;
}

/* Tuples of a call are numbered: inputs from the first on, the outputs count fastest. */
typedef struct tuples {
    choices in[TSR_MAX_IN], out[TSR_MAX_OUT];
    bool one_by_one;        /* outputs */
    int64_t n_in, n_out, n; /* of inputs alone, of outputs alone, and all */
    int64_t stride;         /* one of this many placements of inputs is tried */
} tuples;

/* Of too many a sample: steps that divide no number of placements, so that those of all inputs
   change. */
static void set_sample(tuples *t, bool alone)
{
    const int64_t all = t->n_in;

    t->stride = 1;
    if (all * t->n_out > (alone ? MOST_ALONE : MOST_TRIED))
        t->stride = all * t->n_out / SAMPLE + 1;
    while (t->stride > 1 && (t->stride % 2 == 0 || t->stride % 3 == 0 || t->stride % 5 == 0 ||
                             t->stride % 7 == 0 || t->stride % 11 == 0 || t->stride % 13 == 0))
        t->stride++;
    t->n_in = (all + t->stride - 1) / t->stride;
    t->n = t->n_in * t->n_out;
}

static tuples tuples_of(const tsr_schema *s)
{
    tuples t = {.n_in = 1, .n_out = 1};
    int64_t sum = 0;
    int n_given = 0;

    for (int k = 0; k < s->n_in; k++) {
        t.in[k].n = 1;
        if (tsr__schema_has(s, k))
            t.in[k] = choices_of(s->in[k].dtype, &s->in[k].shape);
        t.n_in *= t.in[k].n;
    }
    for (int k = 0; k < s->n_out; k++) {
        if (!tsr__schema_gives(s, k))
            continue;
        t.out[k] = choices_of(s->out_dtype[k], &s->out_shape[k]);
        t.n_out *= t.out[k].n;
        sum += t.out[k].n;
        n_given++;
    }
    t.one_by_one = n_given > 1 && t.n_in * t.n_out > MOST_TUPLES;
    if (t.one_by_one)
        t.n_out = sum;
    set_sample(&t, s->op->feasible != NULL);
    return t;
}

/* Outputs number i: of those that are switched off nothing is said, others are open where only one
   is looked at. */
static void set_outputs(const tuples *t, int64_t i, tsr_rule_placement out[TSR_MAX_OUT])
{
    for (int k = 0; k < TSR_MAX_OUT; k++)
        out[k] = (tsr_rule_placement){.open = t->one_by_one && t->out[k].n > 0};
    if (t->one_by_one) {
        int k = 0;
        while (i >= t->out[k].n)
            i -= t->out[k++].n;
        out[k] = (tsr_rule_placement){.place = t->out[k].place[i]};
        return;
    }
    for (int k = TSR_MAX_OUT - 1; k >= 0; k--)
        if (t->out[k].n > 0) {
            out[k].place = t->out[k].place[i % t->out[k].n];
            i /= t->out[k].n;
        }
}

static tsr_rule tuple_at(const tuples *t, int n_in, int64_t i)
{
    tsr_rule rule = {0};

    set_outputs(t, i % t->n_out, rule.out);
    i = i / t->n_out * t->stride;
    for (int k = n_in - 1; k >= 0; k--) {
        rule.in[k].place = t->in[k].place[i % t->in[k].n];
        i /= t->in[k].n;
    }
    return rule;
}

/* ---- what is known ---- */

/* From replicated to anything costs nothing. */
static bool is_free(const tsr_placement *from, const tsr_placement *to)
{
    return from->kind == TSR_REPLICATE || tsr__placement_equal(from, to);
}

/* From a rule, inputs being moved for nothing or, with `in_place`, left where they are. */
static bool follows(const tsr_schema *s, const tsr_rules *rules, const tsr_rule *tuple,
                    bool in_place)
{
    for (int i = 0; i < rules->n; i++) {
        const tsr_rule *rule = &rules->rule[i];
        bool yes = true;
        for (int k = 0; k < s->n_out && yes; k++)
            yes = tuple->out[k].open || is_free(&rule->out[k].place, &tuple->out[k].place);
        for (int k = 0; k < s->n_in && yes; k++)
            yes = in_place ? tsr__placement_equal(&tuple->in[k].place, &rule->in[k].place)
                           : is_free(&tuple->in[k].place, &rule->in[k].place);
        if (yes)
            return true;
    }
    return false;
}

static tsr_status offered_rules(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    tsr_rules all = {.heap = out->heap};
    tsr_status st;

    TSR_TRY(tsr__all_rules(s, &all, err));
    for (int i = 0; i < all.n; i++)
        if (tsr__rule_offered(s, &all.rule[i]))
            TSR_TRY(tsr_rule_add(out, &all.rule[i], err));
done:
    tsr__rules_free(&all);
    return st;
}

/* ---- trying ---- */

/* What was found of a tuple over cases and ranks that are judged together. */
typedef struct finding {
    bool fails;   /* somewhere it does not hold */
    bool unknown; /* somewhere it follows from no rule */
    bool moves;   /* it follows, but only where inputs are moved first */
} finding;

/* All outputs for inputs that are filled; `found` is that of the first ones. */
static tsr_status try_outputs(tsr_trial *trial, const tuples *t, const tsr_rules *rules,
                              tsr_rule tuple, finding *found, tsr_error *err)
{
    char why[TSR_TEXT_LEN];
    bool holds, known;
    tsr_status st = TSR_OK;

    for (int64_t i = 0; i < t->n_out; i++) {
        set_outputs(t, i, tuple.out);
        if (found[i].fails)
            continue;
        known = follows(&trial->schema, rules, &tuple, false);
        if (known &&
            (!t->one_by_one || found[i].moves || follows(&trial->schema, rules, &tuple, true)))
            continue;
        TSR_TRY(tsr__trial_holds(trial, tuple.out, &holds, why, err));
        found[i].unknown = found[i].unknown || !known;
        found[i].fails = !known && !holds;
        found[i].moves = known && !holds;
    }
done:
    return st;
}

static tsr_status try_tuples(tsr_validator *v, const tsr_schema *schema, const char *text,
                             const tuples *t, const tsr_rules *rules, finding *found,
                             tsr_error *err)
{
    tsr_trial trial;
    tsr_status st;

    TSR_TRY(tsr__trial_open(&trial, v->heap, schema, text, 17, err));
    for (int64_t i = 0; i < t->n; i += t->n_out) {
        tsr_rule tuple = tuple_at(t, schema->n_in, i);
        tsr_domain domain[2];
        int n;

        for (int k = 0; k < schema->n_in; k++)
            trial.schema.in[k].place[0] = tuple.in[k].place;
        n = tsr__domains_of(&trial, domain);
        for (int d = 0; d < n; d++) {
            TSR_TRY(tsr__trial_fill(&trial, domain[d], err));
            TSR_TRY(try_outputs(&trial, t, rules, tuple, &found[i], err));
        }
    }
    v->report->tuples += t->n;
done:
    tsr__trial_close(&trial);
    return st;
}

static tsr_status try_case(tsr_validator *v, const char *text, int ranks, finding *found,
                           tsr_error *err)
{
    const tsr_mesh_shape mesh = tsr__case_mesh(ranks);
    tsr_rules rules = {.heap = v->heap};
    tsr_schema schema;
    tuples t;
    tsr_status st;

    TSR_TRY(tsr__case_read(v->op, text, &mesh, &schema, err));
    TSR_TRY(offered_rules(&schema, &rules, err));
    t = tuples_of(&schema);
    TSR_TRY(try_tuples(v, &schema, text, &t, &rules, found, err));
done:
    tsr__rules_free(&rules);
    return st;
}

/* ---- judging ---- */

/* Do all outputs have some placement that holds for the inputs of tuple i where they are? */
static bool is_possible(const tuples *t, const finding *found, int64_t i)
{
    const finding *at = &found[i - i % t->n_out];

    for (int k = 0; k < TSR_MAX_OUT && t->one_by_one; k++) {
        bool possible = t->out[k].n == 0;
        for (int c = 0; c < t->out[k].n; c++)
            possible = possible || !(at[c].fails || at[c].moves);
        if (!possible)
            return false;
        at += t->out[k].n;
    }
    return true;
}

static tsr_status judge(tsr_validator *v, const char *text, int ranks, const finding *found,
                        tsr_error *err)
{
    const tsr_mesh_shape mesh = tsr__case_mesh(ranks);
    char line[TSR_TEXT_LEN], name[TSR_TEXT_LEN];
    tsr_schema s;
    tuples t;
    tsr_status st;

    TSR_TRY(tsr__case_read(v->op, text, &mesh, &s, err));
    t = tuples_of(&s);
    for (int64_t i = 0; i < t.n; i++) {
        tsr_rule tuple = tuple_at(&t, s.n_in, i);
        int before = v->missing.n;

        if (found[i].fails || !found[i].unknown || !is_possible(&t, found, i))
            continue;
        TSR_TRY(tsr_rule_add(&v->missing, &tuple, err));
        if (v->missing.n == before)
            continue;
        for (int k = 0; k < s.n_in; k++)
            s.in[k].place[0] = tuple.in[k].place;
        tsr__flaw_add(v->report, TSR_FLAW_MISSING,
                      tsr__case_line(&s, text, "torch", line, sizeof line),
                      "%s: %s holds for calls like %s, but no rule implies it", v->op->name,
                      tsr__rule_text(&s, &tuple, name, sizeof name), text);
    }
done:
    return st;
}

/* Cases like the first one, on all numbers of ranks; or it alone on some ranks, where the row
   itself asks whether a strategy fits shapes and mesh. */
static tsr_status check_together(tsr_validator *v, const char *const *text, int n, int least,
                                 int most, tsr_error *err)
{
    const tsr_mesh_shape mesh = tsr__case_mesh(least);
    finding *found = NULL;
    tsr_schema schema;
    tsr_status st;

    TSR_TRY(tsr__case_read(v->op, text[0], &mesh, &schema, err));
    TSR_TRY(tsr__alloc(v->heap, tuples_of(&schema).n, sizeof *found, &found, err));
    for (int i = 0; i < n; i++)
        for (int ranks = least; ranks <= most; ranks++)
            TSR_TRY(try_case(v, text[i], ranks, found, err));
    TSR_TRY(judge(v, text[0], least, found, err));
done:
    tsr__free(v->heap, found);
    return st;
}

tsr_status tsr__check_missing(tsr_validator *v, tsr_error *err)
{
    const tsr_mesh_shape mesh = tsr__case_mesh(LEAST_RANKS);
    tsr_schema first, other;
    bool done_with[MOST_CASES] = {false};
    tsr_status st = TSR_OK;

    if (v->report->cases > MOST_CASES)
        return tsr__fail(err, TSR_ERR_ARG, "%s: more than %d cases", v->op->name, MOST_CASES);
    for (int i = 0; i < v->report->cases; i++) {
        const char *text[MOST_CASES];
        int n = 0;

        if (done_with[i])
            continue;
        TSR_TRY(tsr__case_read(v->op, v->op->cases[i], &mesh, &first, err));
        for (int j = i; j < v->report->cases; j++) {
            TSR_TRY(tsr__case_read(v->op, v->op->cases[j], &mesh, &other, err));
            if (done_with[j] || !tsr__case_alike(&first, &other))
                continue;
            done_with[j] = true;
            text[n++] = v->op->cases[j];
        }
        if (!v->op->feasible)
            TSR_TRY(check_together(v, text, n, LEAST_RANKS, MOST_RANKS, err));
        for (int j = 0; j < n && v->op->feasible; j++)
            for (int ranks = LEAST_RANKS; ranks <= MOST_RANKS; ranks++)
                TSR_TRY(check_together(v, &text[j], 1, ranks, ranks, err));
    }
done:
    return st;
}
