/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_explain_op.c - tessera explain for ops: where each input goes and how, what the output is,
   what it all costs, and what each rule on every mesh dim would cost instead. Pure. */
#include "op_halo.h"
#include "op_rivals.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_STRATEGIES = 5000 };

/* All that is to be said. */
typedef struct story {
    op_problem p;
    cli_plan in[TSR_OP_INPUTS], out; /* redistributions; out: to what was asked for */
    op_halo halo[TSR_OP_WINDOWS];    /* operands seen through windows */
    int n_halos;
    op_rules rules;
    op_rival *rival;     /* one per rule */
    double n_strategies; /* rules to the power of mesh dims */
    bool tried, agrees;  /* all of them, with the same answer */
    double usual;        /* in reproducible mode: seconds without it */
} story;

static int look_move(const problem *set, const tsr_spec *from, const tsr_spec *to, cli_plan *m)
{
    tsr_redist *plan = NULL;
    tsr_error err = {0};

    if (tsr_redist_plan(from, to, &set->cost, (size_t)set->limit, TSR_RIVAL_BEST, &plan, &err) !=
        TSR_OK)
        return cli_error(&err);
    *m = cli_plan_of(plan);
    return m->step ? CLI_OK : cli_failed("out of memory");
}

static int look_moves(story *s)
{
    op_problem *p = &s->p;
    int status = CLI_OK;

    for (int k = 0; k < p->n_in && status == CLI_OK; k++)
        if (op_problem_has(p, k))
            status = look_move(&p->set, &p->in[k], &p->strategy.in[k], &s->in[k]);
    if (status == CLI_OK && p->want_text[0])
        status = look_move(&p->set, &p->strategy.out[0], &p->want, &s->out);
    return status;
}

/* A large mesh is explained without them. */
static int look_halos(story *s)
{
    if (cli_mesh_size(&s->p.set.from.mesh) > OP_HALO_RANKS)
        return CLI_OK;
    return op_halos_make(&s->p, s->halo, &s->n_halos);
}

static int look_usual(story *s)
{
    const op_problem *p = &s->p;
    tsr_cost cost = p->set.cost;
    tsr_error err = {0};
    tsr_op_strategy strategy;

    cost.reproducible = false;
    if (p->set.cost.reproducible &&
        tsr_op_plan(&p->schema, &cost, op_problem_want(p), false, &strategy, &err) != TSR_OK)
        return cli_error(&err);
    s->usual = p->set.cost.reproducible ? strategy.seconds : 0;
    return CLI_OK;
}

/* Does trying everything give the same strategy? */
static int look_agreement(story *s)
{
    const op_problem *p = &s->p;
    tsr_error err = {0};
    tsr_op_strategy strategy;

    s->n_strategies = 1;
    for (int m = 0; m < p->set.from.mesh.ndim; m++)
        s->n_strategies *= p->set.from.mesh.size[m] > 1 ? s->rules.n : 1;
    s->tried = s->n_strategies <= MOST_STRATEGIES;
    if (!s->tried)
        return CLI_OK;
    if (tsr_op_plan(&p->schema, &p->set.cost, op_problem_want(p), true, &strategy, &err) != TSR_OK)
        return cli_error(&err);
    s->agrees = op_is_chosen(p, &strategy);
    return CLI_OK;
}

static int look_rivals(story *s)
{
    int status = CLI_OK;

    s->rival = calloc((size_t)s->rules.n + 1, sizeof *s->rival);
    if (!s->rival)
        return cli_failed("out of memory");
    for (int i = 0; i < s->rules.n && status == CLI_OK; i++)
        status = op_rival_look(&s->p, &s->rules, i, &s->rival[i]);
    return status;
}

static void free_story(story *s)
{
    for (int k = 0; k < TSR_OP_INPUTS; k++)
        free(s->in[k].step);
    free(s->out.step);
    free(s->rival);
    op_halos_free(s->halo, s->n_halos);
    op_rules_free(&s->rules);
}

/* ---- text ---- */

static void move_row(cli_table *table, const char *name, const tsr_spec *from, const tsr_spec *to,
                     const cli_plan *m)
{
    char tensor[TSR_TEXT_LEN], a[TSR_TEXT_LEN], b[TSR_TEXT_LEN], bytes[CLI_TEXT], time[CLI_TEXT],
        steps[2048];

    tsr_spec_text(from, tensor, sizeof tensor);
    tensor[strcspn(tensor, "@")] = 0;
    cli_table_row(table, (const char *[]){name, tensor, tsr_placements_text(from, a, sizeof a),
                                          tsr_placements_text(to, b, sizeof b),
                                          cli_bytes((double)m->info.bytes, bytes),
                                          cli_seconds(m->info.seconds, time),
                                          cli_steps_text(&from->mesh, m, steps, sizeof steps)});
}

static void print_halo(const op_halo *h)
{
    char name[CLI_TEXT], text[TSR_TEXT_LEN];

    printf("  halo    %s %s: %s\n", op_halo_name(h, name),
           h->reverse ? "scattered back" : "fetched", op_halo_text(h, text, sizeof text));
}

static void print_moves(const story *s)
{
    const op_problem *p = &s->p;
    char name[CLI_TEXT], text[TSR_TEXT_LEN], a[CLI_TEXT], b[CLI_TEXT], c[CLI_TEXT];
    cli_table table;

    cli_table_open(&table, "llllrrl");
    cli_table_row(&table, (const char *[]){"input", "tensor", "from", "to", "received/rank",
                                           "predicted", "steps"});
    for (int k = 0; k < p->n_in; k++)
        if (op_problem_has(p, k))
            move_row(&table, op_problem_input_name(p, k, name), &p->in[k], &p->strategy.in[k],
                     &s->in[k]);
    if (p->want_text[0])
        move_row(&table, "(output)", &p->strategy.out[0], &p->want, &s->out);
    cli_table_close(&table, 2);
    printf("\n  output  %s", tsr_spec_text(&p->strategy.out[0], text, sizeof text));
    if (p->want_text[0])
        printf(", then %s", tsr_placements_text(&p->want, text, sizeof text));
    printf("\n");
    for (int i = 0; i < s->n_halos; i++)
        print_halo(&s->halo[i]);
    printf("  cost    %s for inputs", cli_seconds(p->strategy.inputs, a));
    if (p->op->comm || p->op->merge || p->op->windows)
        printf(" + %s %s", cli_seconds(p->strategy.comm, a),
               s->n_halos > 0 ? "for halos" : "own exchange");
    printf(" + %s pending = %s\n", cli_seconds(p->strategy.pending, b),
           cli_seconds(p->strategy.seconds, c));
    if (p->set.cost.reproducible)
        printf("  reproducible mode costs %s more, without it: %s\n",
               cli_seconds(p->strategy.seconds - s->usual, a), cli_seconds(s->usual, b));
}

static void print_rivals(const story *s)
{
    const op_problem *p = &s->p;
    char rule[OP_TEXT], a[CLI_TEXT], b[CLI_TEXT], c[CLI_TEXT], d[CLI_TEXT];
    cli_table table;

    cli_table_open(&table, "lrrrrl");
    cli_table_row(&table, (const char *[]){"on every mesh dim", "inputs", "exchange", "pending",
                                           "total", "why not"});
    cli_table_row(&table, (const char *[]){"(chosen)", cli_seconds(p->strategy.inputs, a),
                                           cli_seconds(p->strategy.comm, d),
                                           cli_seconds(p->strategy.pending, b),
                                           cli_seconds(p->strategy.seconds, c), ""});
    for (int i = 0; i < s->rules.n; i++) {
        const op_rival *r = &s->rival[i];

        op_rule_text(p, &s->rules, i, rule, sizeof rule);
        if (r->possible)
            cli_table_row(&table,
                          (const char *[]){rule, cli_seconds(r->inputs, a), cli_seconds(r->comm, d),
                                           cli_seconds(r->pending, b), cli_seconds(r->seconds, c),
                                           r->why});
        else
            cli_table_row(&table, (const char *[]){rule, "-", "-", "-", "-", r->why});
    }
    printf("\n");
    cli_table_close(&table, 2);
}

static void print_text(const story *s)
{
    const op_problem *p = &s->p;
    char text[OP_TEXT];

    printf("%s\n", op_problem_call_text(p, p->in, text, sizeof text));
    problem_print_settings(&p->set);
    print_moves(s);
    print_rivals(s);
    if (s->tried)
        printf("\n  search: trying all %.0f strategies one by one gives %s\n", s->n_strategies,
               s->agrees ? "the same" : "A DIFFERENT STRATEGY, which is a bug");
    else
        printf("\n  search: %.3g strategies are too many to try one by one\n", s->n_strategies);
}

/* ---- json ---- */

static json_t *move_json(const char *name, const tsr_spec *from, const tsr_spec *to,
                         const cli_plan *m)
{
    char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN];

    return json_pack("{s:s, s:s, s:s, s:f, s:I, s:o}", "name", name, "from",
                     tsr_spec_text(from, a, sizeof a), "to", tsr_placements_text(to, b, sizeof b),
                     "seconds", m->info.seconds, "bytes", (json_int_t)m->info.bytes, "steps",
                     cli_steps_json(&from->mesh, m));
}

static json_t *halo_json(const op_halo *h)
{
    int busiest = op_halo_busiest(h, false), peers, coord[TSR_MAX_MESH];
    int64_t bytes = op_halo_received(h, busiest, &peers);
    char name[CLI_TEXT], text[TSR_TEXT_LEN];

    return json_pack("{s:s, s:b, s:s, s:i, s:I, s:i}", "operand", op_halo_name(h, name), "reverse",
                     h->reverse, "text", op_halo_text(h, text, sizeof text), "rank",
                     cli_mesh_rank(&h->spec->mesh, busiest, coord), "bytes", (json_int_t)bytes,
                     "peers", peers);
}

static json_t *rival_json(const story *s, int i)
{
    const op_rival *r = &s->rival[i];
    char rule[OP_TEXT];

    op_rule_text(&s->p, &s->rules, i, rule, sizeof rule);
    if (!r->possible)
        return json_pack("{s:s, s:s, s:b, s:s}", "way", "rule", "rule", rule, "possible", 0, "why",
                         r->why);
    return json_pack("{s:s, s:s, s:b, s:b, s:f, s:f, s:f, s:f, s:s}", "way", "rule", "rule", rule,
                     "possible", 1, "chosen", r->chosen, "inputs", r->inputs, "comm", r->comm,
                     "pending", r->pending, "seconds", r->seconds, "why", r->why);
}

static json_t *to_json(const story *s)
{
    const op_problem *p = &s->p;
    json_t *inputs = json_array(), *windows = json_array(), *results = json_array(), *object;
    char text[OP_TEXT], name[CLI_TEXT], out[TSR_TEXT_LEN];

    for (int k = 0; k < p->n_in; k++)
        if (op_problem_has(p, k))
            json_array_append_new(inputs, move_json(op_problem_input_name(p, k, name), &p->in[k],
                                                    &p->strategy.in[k], &s->in[k]));
    json_array_append_new(results, json_pack("{s:s, s:b, s:f, s:f, s:f, s:f}", "way", "chosen",
                                             "possible", 1, "inputs", p->strategy.inputs, "comm",
                                             p->strategy.comm, "pending", p->strategy.pending,
                                             "seconds", p->strategy.seconds));
    for (int i = 0; i < s->rules.n; i++)
        json_array_append_new(results, rival_json(s, i));
    for (int i = 0; i < s->n_halos; i++)
        json_array_append_new(windows, halo_json(&s->halo[i]));
    object = json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:s, s:f, s:o, s:o}", "command", "explain",
                       "problem", op_problem_text(p, text, sizeof text), "op", p->op->name, "cost",
                       p->set.cost_text, "inputs", inputs, "windows", windows, "output",
                       tsr_spec_text(&p->strategy.out[0], out, sizeof out), "strategies",
                       s->n_strategies, "search_agrees",
                       s->tried ? json_boolean(s->agrees) : json_null(), "results", results);
    if (object && p->set.cost.reproducible)
        json_object_set_new(object, "seconds_unless_reproducible", json_real(s->usual));
    if (object && p->want_text[0])
        json_object_set_new(object, "asked",
                            move_json("output", &p->strategy.out[0], &p->want, &s->out));
    return object;
}

/* ---- rules ---- */

static int print_rules(const story *s, bool as_json)
{
    const op_problem *p = &s->p;
    char text[OP_TEXT], place[CLI_TEXT];
    json_t *results = json_array();

    for (int i = 0; i < s->rules.n && !as_json; i++)
        printf("%s\n", op_rule_text(p, &s->rules, i, text, sizeof text));
    for (int i = 0; i < s->rules.n && as_json; i++) {
        json_t *in = json_array();

        for (int k = 0; k < p->n_in; k++)
            if (op_problem_has(p, k))
                json_array_append_new(
                    in, json_string(op_placement_text(&s->rules.rule[i].in[k].place, place)));
        json_array_append_new(results,
                              json_pack("{s:o, s:s}", "inputs", in, "output",
                                        op_placement_text(&s->rules.rule[i].out[0].place, place)));
    }
    if (!as_json) {
        json_decref(results);
        return CLI_OK;
    }
    return cli_print_json(json_pack("{s:s, s:s, s:o}", "command", "explain", "problem",
                                    op_problem_text(p, text, sizeof text), "results", results));
}

static int tell(story *s, bool rules_only, bool as_json)
{
    int status;

    if (tsr_op_is_composed(s->p.op))
        return explain_composed(&s->p, rules_only, as_json);
    status = op_rules_make(&s->p, &s->rules);

    if (status == CLI_OK && rules_only)
        return print_rules(s, as_json);
    if (status == CLI_OK)
        status = look_moves(s);
    if (status == CLI_OK)
        status = look_halos(s);
    if (status == CLI_OK)
        status = look_rivals(s);
    if (status == CLI_OK)
        status = look_usual(s);
    if (status == CLI_OK)
        status = look_agreement(s);
    if (status == CLI_OK && as_json)
        status = cli_print_json(to_json(s));
    else if (status == CLI_OK)
        print_text(s);
    return status == CLI_OK && s->tried && !s->agrees ? CLI_FAILED : status;
}

int cli_explain_op(const cli_args *args)
{
    story *s = calloc(1, sizeof *s);
    int status;

    if (!s)
        return cli_failed("out of memory");
    status = op_problem_read("explain", false, args->text, &s->p);
    if (status == CLI_OK && cli_speaks())
        status = tell(s, cli_option_of(args, "rules"), cli_option_of(args, "json"));
    free_story(s);
    free(s);
    return status;
}
