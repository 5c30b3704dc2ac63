/* SPDX-License-Identifier: Apache-2.0 */
/* oracle_check.c - the checks of a propagation case under the preset torch: our strategy is not
   dearer than PyTorch's, its redistributions are not dearer by our planner, and its strategy is one
   by our rules. And what we chose, as JSON. */
#include <math.h>
#include <string.h>

#include "layout/redist_plan.h"
#include "op/schema.h"
#include "oracle.h"

static void attr_list(const oracle_case *c, const char *attrs[ORACLE_ATTRS])
{
    for (int i = 0; i < c->n_attrs; i++)
        attrs[i] = c->attr[i];
}

static bool more(double a, double b)
{
    return a > b * (1 + 1e-6) + 1e-9;
}

static tsr_status move_us(const oracle_case *c, const tsr_spec *from, const tsr_spec *to,
                          double *out, tsr_error *err)
{
    tsr_redist *plan;
    tsr_status st = tsr_redist_plan(from, to, &c->mesh->cost, 0, TSR_RIVAL_BEST, &plan, err);

    if (st != TSR_OK)
        return st;
    *out = tsr_redist_info_get(plan).seconds * 1e6;
    tsr_redist_free(plan);
    return TSR_OK;
}

/* Moving all inputs, each by its own plan. */
static tsr_status moves_us(const oracle_case *c, const tsr_spec *from, const tsr_spec *to,
                           double *out, tsr_error *err)
{
    double us;
    tsr_status st = TSR_OK;

    *out = 0;
    for (int k = 0; k < c->n_in; k++) {
        TSR_TRY(move_us(c, &from[k], &to[k], &us, err));
        *out += us;
    }
done:
    return st;
}

bool oracle_is_first(const oracle_case *parts, int part, int k)
{
    for (int p = 0; p < part; p++)
        for (int i = 0; i < parts[p].n_in; i++)
            if (parts[p].aten_place[i] == parts[part].aten_place[k])
                return false;
    return true;
}

/* To PyTorch's placements, every tensor once: by our plans, and as our search over strategies sees
   it, infinite where a partial mesh dim that stays would have to be resolved on the way. */
static tsr_status torch_moves(const oracle_case *parts, int n, oracle_findings *f, tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (int p = 0; p < n; p++)
        for (int k = 0; k < parts[p].n_in; k++) {
            const oracle_case *c = &parts[p];
            double *us = &f->move_us[c->aten_place[k]], seconds;

            if (!oracle_is_first(parts, p, k))
                continue;
            TSR_TRY(move_us(c, &c->in[k], &c->use[k], us, err));
            TSR_TRY(tsr_redist_costs(&c->in[k],
                                     (const tsr_placement(*)[TSR_MAX_MESH]) & c->use[k].place, 1,
                                     &c->mesh->cost, &seconds, err));
            f->moves_us += *us;
            f->implicit_us += seconds * 1e6;
        }
done:
    return st;
}

/* ---- (3): is it a strategy by our rules? ---- */

typedef struct lookup {
    const oracle_case *c;
    tsr_schema schema;
    tsr_rules rules;
    tsr_spec in[TSR_MAX_IN]; /* of the rules taken so far */
    bool free_moves;         /* allowed */
} lookup;

/* A replicated input can be sliced, or taken as a term by one rank, for nothing. */
static bool input_matches(const lookup *l, const tsr_placement *use, const tsr_placement *rule)
{
    return tsr__placement_equal(use, rule) || (l->free_moves && use->kind == TSR_REPLICATE);
}

static bool rule_matches(const lookup *l, const tsr_rule *rule, int m)
{
    for (int k = 0; k < l->c->n_in; k++)
        if (!input_matches(l, &l->c->use[k].place[m], &rule->in[k].place))
            return false;
    for (int k = 0; k < l->c->n_out; k++)
        if (!tsr__placement_equal(&l->c->out[k].place[m], &rule->out[k].place))
            return false;
    return true;
}

/* With a rule for every mesh dim: were the moves free, and do the shards fit together? */
static bool complete(const lookup *l)
{
    const tsr_op *op = l->schema.op;
    double us;

    if (moves_us(l->c, l->c->use, l->in, &us, NULL) != TSR_OK || us > 0)
        return false;
    return !op->feasible || op->feasible(&l->schema, l->in, l->c->out);
}

static bool match_from(lookup *l, int m)
{
    const oracle_case *c = l->c;

    if (m == c->out[0].mesh.ndim)
        return complete(l);
    if (c->out[0].mesh.size[m] == 1)
        return match_from(l, m + 1);
    for (int r = 0; r < l->rules.n; r++) {
        if (!rule_matches(l, &l->rules.rule[r], m))
            continue;
        for (int k = 0; k < c->n_in; k++)
            l->in[k].place[m] = l->rules.rule[r].in[k].place;
        if (match_from(l, m + 1))
            return true;
    }
    return false;
}

/* Rules are filled with the kinds of shards that the inputs have: once as PyTorch wants them, once
   as they are given, for what PyTorch slices itself. */
static tsr_status match(const oracle_case *c, const tsr_spec *in, bool free_moves, bool *found,
                        tsr_error *err)
{
    tsr_heap heap = {0};
    lookup l = {.c = c, .rules = {.heap = &heap}, .free_moves = free_moves};
    tsr_status st = TSR_OK;

    l.schema.op = tsr__op_find(c->op);
    l.schema.n_in = c->n_in;
    for (int k = 0; k < c->n_in; k++) {
        l.schema.in[k] = in[k];
        l.in[k] = c->use[k];
    }
    TSR_TRY(tsr__attrs_default(l.schema.op, &l.schema.attrs, err));
    for (int i = 0; i < c->n_attrs; i++)
        TSR_TRY(tsr__attr_parse(l.schema.op, c->attr[i], strlen(c->attr[i]), &l.schema.attrs, err));
    TSR_TRY(tsr__schema_check(&l.schema, err));
    TSR_TRY(tsr__rules_make(&l.schema, &l.rules, err));
    *found = match_from(&l, 0);
done:
    tsr__rules_free(&l.rules);
    return st;
}

static tsr_status known_rule(const oracle_case *c, bool *exact, bool *free_moves, tsr_error *err)
{
    tsr_status st;

    TSR_TRY(match(c, c->use, false, exact, err));
    *free_moves = false;
    if (!*exact)
        TSR_TRY(match(c, c->use, true, free_moves, err));
    if (!*exact && !*free_moves)
        TSR_TRY(match(c, c->in, true, free_moves, err));
done:
    return st;
}

/* ---- all three ---- */

/* Does a part before this one bring the tensor there already? */
static bool is_brought(const oracle_case *parts, int part, int k, const oracle_findings *f)
{
    const oracle_case *c = &parts[part];

    for (int p = 0; p < part; p++)
        for (int i = 0; i < parts[p].n_in; i++)
            if (parts[p].aten_place[i] == c->aten_place[k] &&
                tsr_spec_equal(&f->way[p].in[i], &f->way[part].in[k]))
                return true;
    return false;
}

/* What we choose for one part, and whether PyTorch's way is one of ours. */
static tsr_status check_part(const oracle_case *parts, int part, oracle_findings *f, tsr_error *err)
{
    const oracle_case *c = &parts[part];
    tsr_op_strategy *way = &f->way[part];
    const char *attrs[ORACLE_ATTRS];
    tsr_schema schema;
    bool exact, free_moves;
    double moves;
    tsr_status st;

    attr_list(c, attrs);
    TSR_TRY(
        tsr_schema_make(tsr_op_find(NULL, c->op), c->in, c->n_in, attrs, c->n_attrs, &schema, err));
    TSR_TRY(tsr_op_plan(&schema, &c->mesh->cost, NULL, false, way, err));
    /* the price that the search saw, or what the plans that would run cost, whichever is more */
    TSR_TRY(moves_us(c, c->in, way->in, &moves, err));
    f->chosen_us += way->seconds * 1e6;
    if (moves > way->inputs * 1e6)
        f->chosen_us += moves - way->inputs * 1e6;
    for (int k = 0; k < c->n_in; k++)
        if (is_brought(parts, part, k, f)) {
            TSR_TRY(move_us(c, &c->in[k], &way->in[k], &moves, err));
            f->chosen_us -= moves;
        }
    TSR_TRY(known_rule(c, &exact, &free_moves, err));
    f->free_moves = f->free_moves || free_moves;
    f->unknown_rule = f->unknown_rule || (!exact && !free_moves);
done:
    return st;
}

tsr_status oracle_check(const oracle_case *parts, int n, oracle_findings *out, tsr_error *err)
{
    tsr_status st = TSR_OK;

    memset(out, 0, sizeof *out);
    for (int p = 0; p < n; p++)
        TSR_TRY(check_part(parts, p, out, err));
    TSR_TRY(torch_moves(parts, n, out, err));
    out->dearer = more(out->chosen_us, parts->cost_us);
    out->dearer_moves = more(out->moves_us, parts->cost_us);
done:
    return st;
}

/* ---- JSON ---- */

static tsr_status add_steps(const tsr_redist *plan, int input, json_t *steps, tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (int i = 0; i < tsr_redist_info_get(plan).n_steps; i++) {
        tsr_step s;
        if ((st = tsr_redist_step(plan, i, &s)) != TSR_OK)
            return tsr__fail(err, st, "step %d cannot be read", i);
        json_array_append_new(steps,
                              json_pack("{s:i,s:s,s:s,s:s,s:f,s:I}", "input", input, "step",
                                        tsr_step_name(s.kind), "from", s.from, "to", s.to,
                                        "cost_us", s.seconds * 1e6, "bytes", (json_int_t)s.bytes));
    }
    return st;
}

/* use, out, steps, cost, and the bytes that each rank receives; inputs in the order of our op. */
tsr_status oracle_chosen(const oracle_case *c, const tsr_op_strategy *way, double us, json_t **out,
                         tsr_error *err)
{
    json_t *use = json_array(), *steps = json_array(), *bytes = json_array();
    int ranks = tsr__mesh_size(&c->mesh->shape);
    char text[TSR_TEXT_LEN];
    tsr_redist *plan[TSR_OP_INPUTS] = {NULL};
    tsr_status st = TSR_OK;

    for (int k = 0; k < c->n_in; k++) {
        json_array_append_new(use,
                              json_string(tsr_placements_text(&way->in[k], text, sizeof text)));
        TSR_TRY(tsr_redist_plan(&c->in[k], &way->in[k], &c->mesh->cost, 0, TSR_RIVAL_BEST, &plan[k],
                                err));
        TSR_TRY(add_steps(plan[k], k, steps, err));
    }
    for (int r = 0; r < ranks; r++) {
        int64_t n = 0;
        for (int k = 0; k < c->n_in; k++)
            n += tsr_redist_bytes_in(plan[k], r);
        json_array_append_new(bytes, json_integer(n));
    }
    *out = json_pack("{s:s,s:i,s:s,s:s,s:s,s:O,s:s,s:O,s:f,s:f,s:O}", "file", c->line.file, "line",
                     c->line.number, "case", c->label, "aten", c->aten, "op", c->op, "use", use,
                     "out", tsr_placements_text(&way->out[0], text, sizeof text), "steps", steps,
                     "cost_us", us, "torch_us", c->cost_us, "bytes_per_rank", bytes);
done:
    for (int k = 0; k < c->n_in; k++)
        tsr_redist_free(plan[k]);
    json_decref(use);
    json_decref(steps);
    json_decref(bytes);
    return st;
}
