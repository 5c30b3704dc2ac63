/* SPDX-License-Identifier: Apache-2.0 */
/* op_rivals.c - the rules of an op's call as text, and what it would cost to apply one of them on
   every mesh dim (op_rivals.h). */
#include "op_rivals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- rules ---- */

int op_rules_make(const op_problem *p, op_rules *out)
{
    tsr_error err = {0};

    *out = (op_rules){.rule = calloc(OP_RULES, sizeof *out->rule)};
    if (!out->rule)
        return cli_failed("out of memory");
    if (tsr_op_rules(&p->schema, out->rule, OP_RULES, &out->n, &err) != TSR_OK)
        return cli_error(&err);
    if (out->n > OP_RULES)
        return cli_failed("%s has %d rules here, more than %d", p->op->name, out->n, OP_RULES);
    return CLI_OK;
}

void op_rules_free(op_rules *rules)
{
    free(rules->rule);
}

const char *op_placement_text(const tsr_placement *place, char buf[CLI_TEXT])
{
    tsr_spec spec = {.mesh = {.ndim = 1, .size = {1}, .stride = {1}}, .place = {*place}};
    char text[TSR_TEXT_LEN];

    tsr_placements_text(&spec, text, sizeof text); /* "[S(0)]" */
    snprintf(buf, CLI_TEXT, "%.*s", (int)strlen(text) - 2, text + 1);
    return buf;
}

const char *op_rule_text(const op_problem *p, const op_rules *rules, int i, char *buf, size_t n)
{
    char place[CLI_TEXT];
    size_t used = 0;

    for (int k = 0; k < p->n_in && used < n; k++)
        if (op_problem_has(p, k))
            used += (size_t)snprintf(buf + used, n - used, "%s%s", used ? "," : "",
                                     op_placement_text(&rules->rule[i].in[k].place, place));
    for (int k = 0; k < p->schema.n_out && used < n; k++)
        if (p->schema.out_shape[k].ndim >= 0)
            used += (size_t)snprintf(buf + used, n - used, "%s%s", k ? "," : " -> ",
                                     op_placement_text(&rules->rule[i].out[k].place, place));
    return buf;
}

/* ---- costs ---- */

/* A rule on every mesh dim; along one rank all are alike, and all-replicate stands for them. */
static void place_all(const tsr_placement *place, tsr_spec *spec)
{
    for (int m = 0; m < spec->mesh.ndim; m++)
        spec->place[m] = spec->mesh.size[m] > 1 ? *place : (tsr_placement){.kind = TSR_REPLICATE};
}

/* What cannot be done: the first mesh dim that makes a move impossible. */
static void say_impossible(const op_problem *p, int k, const tsr_spec *to, op_rival *r)
{
    char name[CLI_TEXT], a[TSR_TEXT_LEN], b[TSR_TEXT_LEN];
    const char *what = "resolving a partial dim that stays";

    for (int m = 0; m < to->mesh.ndim; m++) {
        const tsr_placement *x = &p->in[k].place[m], *y = &to->place[m];

        if (y->kind != TSR_PARTIAL || to->mesh.size[m] == 1)
            continue;
        if (x->kind == TSR_PARTIAL && x->reduce != y->reduce)
            what = "P -> other P";
        else if (x->kind == TSR_SHARD || x->kind == TSR_STRIDED)
            what = "S -> P";
    }
    snprintf(r->why, sizeof r->why, "%s %s -> %s needs %s", op_problem_input_name(p, k, name),
             tsr_placements_text(&p->in[k], a, sizeof a), tsr_placements_text(to, b, sizeof b),
             what);
}

static void explain_cost(const op_problem *p, op_rival *r)
{
    double best = p->strategy.seconds;
    char total[CLI_TEXT];

    if (r->chosen)
        snprintf(r->why, sizeof r->why, "is the chosen strategy");
    else if (p->set.cost.randomise)
        snprintf(r->why, sizeof r->why, "costs are random here");
    else if (r->seconds <= best * 1.005)
        snprintf(r->why, sizeof r->why, "equally cheap, without fewer bytes or steps");
    else if (best == 0)
        snprintf(r->why, sizeof r->why, "%s where the chosen strategy costs nothing",
                 cli_seconds(r->seconds, total));
    else
        snprintf(r->why, sizeof r->why, "%.*f times the cost", r->seconds < 100 * best ? 2 : 0,
                 r->seconds / best);
}

bool op_is_chosen(const op_problem *p, const tsr_op_strategy *strategy)
{
    for (int k = 0; k < p->n_in; k++)
        if (op_problem_has(p, k) && !tsr_spec_equal(&strategy->in[k], &p->strategy.in[k]))
            return false;
    return tsr_spec_equal(&strategy->out[0], &p->strategy.out[0]);
}

/* The first input that cannot be redistributed there, or what else prevents it. */
static void report_infeasible(const op_problem *p, const tsr_op_strategy *strategy, op_rival *r)
{
    tsr_error err = {0};

    for (int k = 0; k < p->n_in; k++) {
        double seconds = 0;

        if (op_problem_has(p, k) &&
            tsr_redist_costs(&p->in[k], (const tsr_placement(*)[TSR_MAX_MESH])strategy->in[k].place,
                             1, &p->set.cost, &seconds, &err) == TSR_OK &&
            isinf(seconds)) {
            say_impossible(p, k, &strategy->in[k], r);
            return;
        }
    }
    snprintf(r->why, sizeof r->why, "%s",
             isinf(strategy->pending)   ? "its output cannot be redistributed as requested"
             : p->set.cost.reproducible ? "it reduces over ranks, or shard boundaries do not align"
                                        : "shard boundaries do not align");
}

int op_rival_look(const op_problem *p, const op_rules *rules, int i, op_rival *r)
{
    tsr_op_strategy strategy = p->strategy;
    tsr_error err = {0};

    for (int k = 0; k < p->n_in; k++)
        if (op_problem_has(p, k))
            place_all(&rules->rule[i].in[k].place, &strategy.in[k]);
    for (int k = 0; k < p->schema.n_out; k++)
        place_all(&rules->rule[i].out[k].place, &strategy.out[k]);
    if (tsr_op_price(&p->schema, &p->set.cost, op_problem_want(p), &strategy, &err) != TSR_OK)
        return cli_error(&err);
    *r = (op_rival){.possible = !isinf(strategy.seconds),
                    .inputs = strategy.inputs,
                    .comm = strategy.comm,
                    .pending = strategy.pending,
                    .seconds = strategy.seconds};
    r->chosen = r->possible && op_is_chosen(p, &strategy);
    if (r->possible)
        explain_cost(p, r);
    else
        report_infeasible(p, &strategy, r);
    return CLI_OK;
}
