/* SPDX-License-Identifier: Apache-2.0 */
/* explain_composed.c - tessera explain for ops that are composed of others: they have no plan, but
   a run in the sim world tells which ops were called and what each of them would move. Called by
   cmd_explain_op.c. */
#include "op_problem.h"

enum { MAX_PARTS = 64 };

typedef struct part {
    const char *op;
    tsr_op_counters counters;
} part;

typedef struct composition {
    const op_problem *p;
    part part[MAX_PARTS];
    int n;
    tsr_spec out[TSR_OP_OUTPUTS]; /* ndim -1: not there */
    tsr_counters all;
} composition;

static tsr_status job(tsr_mesh *world, tsr_mesh *mesh, tsr_mesh *same, void *arg)
{
    composition *c = arg;
    const op_problem *p = c->p;
    tsr_tensor *in[TSR_OP_INPUTS] = {NULL}, *out[TSR_OP_OUTPUTS];
    tsr_status st;

    (void)world, (void)same;
    for (int k = 0; k < p->n_in; k++)
        if (op_problem_has(p, k))
            in[k] = tsr_tensor_new(mesh, &p->in[k]);
    tsr_counters_reset(mesh);
    st = op_problem_run(p, mesh, in, out);
    c->all = tsr_counters_get(mesh);
    for (int k = 0; k < TSR_OP_OUTPUTS && st == TSR_OK; k++)
        if (out[k])
            c->out[k] = *tsr_tensor_spec(out[k]);
    for (int i = 0; i < tsr_op_count() && st == TSR_OK && c->n < MAX_PARTS; i++) {
        const tsr_op *op = tsr_op_row(i);
        part *x = &c->part[c->n];

        *x = (part){op->name, tsr_op_counters_get(mesh, op->name)};
        c->n += x->counters.calls > 0 && op != p->op;
    }
    return st;
}

/* Inputs of an op that were redistributed for it. */
static int64_t moved(const part *x)
{
    int64_t bytes = 0;

    for (int m = 0; m <= TSR_MAX_MESH; m++)
        bytes += x->counters.along[m];
    return bytes;
}

static void print_text(const composition *c)
{
    const op_problem *p = c->p;
    char text[OP_TEXT], a[CLI_TEXT], b[CLI_TEXT], calls[CLI_TEXT];
    cli_table table;

    printf("%s\n", op_problem_call_text(p, p->in, text, sizeof text));
    problem_print_settings(&p->set);
    if (p->op->expr)
        printf("  %s is %s; a simulated run calls\n\n", p->op->name, p->op->expr);
    else
        printf("  %s is a composite op; a simulated run calls\n\n", p->op->name);
    cli_table_open(&table, "lrrr");
    cli_table_row(&table, (const char *[]){"op", "calls", "inputs, received/rank", "moving"});
    for (int i = 0; i < c->n; i++) {
        snprintf(calls, sizeof calls, "%lld", (long long)c->part[i].counters.calls);
        cli_table_row(&table, (const char *[]){c->part[i].op, calls,
                                               cli_bytes((double)moved(&c->part[i]), a),
                                               cli_seconds(c->part[i].counters.predicted, b)});
    }
    cli_table_close(&table, 2);
    printf("\n");
    for (int k = 0; k < TSR_OP_OUTPUTS; k++)
        if (c->out[k].shape.ndim >= 0)
            printf("  output %d  %s\n", k, tsr_spec_text(&c->out[k], text, sizeof text));
    printf("  in all    %s received by the busiest rank, %s predicted for moving\n",
           cli_bytes((double)c->all.bytes_in, a), cli_seconds(c->all.seconds, b));
}

static json_t *to_json(const composition *c)
{
    json_t *results = json_array(), *outputs = json_array();
    char text[OP_TEXT];

    for (int i = 0; i < c->n; i++)
        json_array_append_new(results, json_pack("{s:s, s:I, s:I, s:f}", "op", c->part[i].op,
                                                 "calls", (json_int_t)c->part[i].counters.calls,
                                                 "inputs", (json_int_t)moved(&c->part[i]),
                                                 "seconds", c->part[i].counters.predicted));
    for (int k = 0; k < TSR_OP_OUTPUTS; k++)
        json_array_append_new(outputs,
                              c->out[k].shape.ndim < 0
                                  ? json_null()
                                  : json_string(tsr_spec_text(&c->out[k], text, sizeof text)));
    return json_pack("{s:s, s:s, s:s, s:s, s:b, s:s, s:o, s:I, s:f, s:o}", "command", "explain",
                     "problem", op_problem_text(c->p, text, sizeof text), "op", c->p->op->name,
                     "cost", c->p->set.cost_text, "composed", 1, "means",
                     c->p->op->expr ? c->p->op->expr : "", "outputs", outputs, "bytes",
                     (json_int_t)c->all.bytes_in, "seconds", c->all.seconds, "results", results);
}

int explain_composed(const op_problem *p, bool rules_only, bool as_json)
{
    composition c = {.p = p};
    tsr_error err = {0};

    if (rules_only)
        return cli_bad("%s is a composite op: it has no rules of its own", p->op->name);
    for (int k = 0; k < TSR_OP_OUTPUTS; k++)
        c.out[k].shape.ndim = -1;
    if (problem_run(&p->set, TSR_WORLD_SIM, job, &c, &err) != TSR_OK)
        return cli_error(&err);
    if (as_json)
        return cli_print_json(to_json(&c));
    print_text(&c);
    return CLI_OK;
}
