/* SPDX-License-Identifier: Apache-2.0 */
/* op_rivals.c - the rules of an op's call as text, and what it would cost to apply one of them on
   every mesh dim (op_rivals.h). Public planning functions only: inputs by tsr_redist_costs, a
   partial output by planning an op that leaves it as it is. */
#include "op_rivals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- rules ---- */

int op_rules_make(const op_problem *p, op_rules *out)
{
    tsr_error err = {0};

    *out = (op_rules){.in = calloc(OP_RULES, sizeof *out->in),
                      .out = calloc(OP_RULES, sizeof *out->out)};
    if (!out->in || !out->out)
        return cli_failed("out of memory");
    if (tsr_op_rules(p->op.name, p->in, p->n_in, p->attr, p->n_attrs, out->in, out->out, OP_RULES,
                     &out->n, &err) != TSR_OK)
        return cli_error(&err);
    if (out->n > OP_RULES)
        return cli_failed("%s has %d rules here, more than %d", p->op.name, out->n, OP_RULES);
    return CLI_OK;
}

void op_rules_free(op_rules *rules)
{
    free(rules->in);
    free(rules->out);
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
                                     op_placement_text(&rules->in[i][k], place));
    if (used < n)
        snprintf(buf + used, n - used, " -> %s", op_placement_text(&rules->out[i], place));
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

/* What the library charges for leaving an output partial on all mesh dims: seen by planning an op
   that can do nothing but leave it so, or reduce it. Random costs are those of one spec only, so
   they cannot be seen. */
static tsr_status look_partial(const op_problem *p, const tsr_spec *out, op_rival *r,
                               tsr_error *err)
{
    tsr_spec flat = *out;
    tsr_op_way way;
    tsr_status st;

    flat.shape = (tsr_shape){.ndim = 1, .size = {tsr_shape_count(&out->shape)}};
    if (p->set.cost.randomise) {
        r->priced = false;
        return TSR_OK;
    }
    st = tsr_op_plan("cat", &flat, 1, NULL, 0, &p->set.cost, NULL, false, &way, err);
    if (st == TSR_OK)
        r->pending = way.seconds;
    return st;
}

static tsr_status look_pending(const op_problem *p, const tsr_placement *rule, const tsr_spec *out,
                               op_rival *r, tsr_error *err)
{
    if (p->want_text[0])
        return tsr_redist_costs(out, (const tsr_placement(*)[TSR_MAX_MESH])p->want.place, 1,
                                &p->set.cost, &r->pending, err);
    return rule->kind == TSR_PARTIAL ? look_partial(p, out, r, err) : TSR_OK;
}

/* From its own specs a rule costs what is pending and no more; if the planner pays more, the op
   does not allow it for these shapes on this mesh. */
static tsr_status look_fit(const op_problem *p, const tsr_spec *in, op_rival *r, tsr_error *err)
{
    tsr_op_way way;
    tsr_status st = tsr_op_plan(p->op.name, in, p->n_in, p->attr, p->n_attrs, &p->set.cost,
                                p->want_text[0] ? p->want.place : NULL, false, &way, err);

    if (st == TSR_OK && r->priced && way.seconds > r->pending * (1 + 1e-9)) {
        r->possible = false;
        snprintf(r->why, sizeof r->why, "the cuts do not fall on the same elements");
    }
    return st;
}

static void say_why(const op_problem *p, op_rival *r)
{
    double best = p->way.seconds;
    char total[CLI_TEXT];

    if (r->chosen)
        snprintf(r->why, sizeof r->why, "is the chosen way");
    else if (p->set.cost.randomise)
        snprintf(r->why, sizeof r->why, "costs are random here");
    else if (r->seconds <= best * 1.005)
        snprintf(r->why, sizeof r->why, "as cheap, but not fewer bytes or steps, nor earlier");
    else if (best == 0)
        snprintf(r->why, sizeof r->why, "%s where the chosen way costs nothing",
                 cli_seconds(r->seconds, total));
    else
        snprintf(r->why, sizeof r->why, "%.*f times the cost", r->seconds < 100 * best ? 2 : 0,
                 r->seconds / best);
}

static bool is_chosen(const op_problem *p, const tsr_spec *in, const tsr_spec *out)
{
    for (int k = 0; k < p->n_in; k++)
        if (op_problem_has(p, k) && !tsr_spec_equal(&in[k], &p->way.in[k]))
            return false;
    return tsr_spec_equal(out, &p->way.out);
}

int op_rival_look(const op_problem *p, const op_rules *rules, int i, op_rival *r)
{
    tsr_spec in[TSR_OP_INPUTS], out = p->way.out;
    tsr_error err = {0};
    tsr_status st = TSR_OK;

    *r = (op_rival){.possible = true, .priced = true};
    place_all(&rules->out[i], &out);
    for (int k = 0; k < p->n_in && st == TSR_OK; k++) {
        double seconds = 0;

        in[k] = p->in[k];
        if (!op_problem_has(p, k))
            continue;
        place_all(&rules->in[i][k], &in[k]);
        st = tsr_redist_costs(&p->in[k], (const tsr_placement(*)[TSR_MAX_MESH])in[k].place, 1,
                              &p->set.cost, &seconds, &err);
        if (isinf(seconds) && r->possible) {
            r->possible = false;
            say_impossible(p, k, &in[k], r);
        }
        r->inputs += seconds;
    }
    if (st == TSR_OK && r->possible)
        st = look_pending(p, &rules->out[i], &out, r, &err);
    if (st == TSR_OK && r->possible && isinf(r->pending)) {
        r->possible = false;
        snprintf(r->why, sizeof r->why, "its output cannot be brought to what is asked for");
    }
    if (st == TSR_OK && r->possible)
        st = look_fit(p, in, r, &err);
    if (st != TSR_OK)
        return cli_error(&err);
    r->seconds = r->inputs + r->pending;
    r->chosen = r->possible && is_chosen(p, in, &out);
    if (r->possible)
        say_why(p, r);
    return CLI_OK;
}
