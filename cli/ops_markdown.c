/* SPDX-License-Identifier: Apache-2.0 */
/* ops_markdown.c - tessera ops --markdown: all ops as a chapter of docs/ops.md, which make docs
   writes and a test compares. Called by cmd_ops.c. */
#include "op_rivals.h"

#include <stdlib.h>
#include <string.h>

enum { SHOWN = 12 };

/* An anchor as GitHub makes it of a heading. */
static const char *anchor(const char *heading, char buf[CLI_TEXT])
{
    size_t n = 0;

    for (; heading[n] && n + 1 < CLI_TEXT; n++)
        buf[n] = heading[n] == ' ' ? '-' : heading[n];
    buf[n] = 0;
    return buf;
}

static const char *family_of(const tsr_op *op)
{
    const char *family = tsr_op_family(op);

    return family ? family : "others";
}

static void write_contents(FILE *f)
{
    const char *last = "";

    for (int i = 0; i < tsr_op_count(); i++) {
        const tsr_op *op = tsr_op_row(i);
        char buf[CLI_TEXT];

        if (strcmp(family_of(op), last) != 0) {
            last = family_of(op);
            fprintf(f, "%s- [%s](#ops-%s): ", i ? "\n" : "", last, anchor(last, buf));
        } else {
            fprintf(f, ", ");
        }
        fprintf(f, "[%s](#%s)", op->name, anchor(op->name, buf));
    }
    fprintf(f, "\n");
}

/* `a,b` as "`a`, `b`". */
static void write_list(FILE *f, const char *text)
{
    fprintf(f, "`");
    for (; *text; text++)
        fprintf(f, *text == ',' ? "`, `" : "%c", *text);
    fprintf(f, "`");
}

static bool is_partial(const op_problem *p, const tsr_rule *rule)
{
    for (int k = 0; k < p->n_in; k++)
        if (op_problem_has(p, k) && rule->in[k].place.kind == TSR_PARTIAL)
            return true;
    return false;
}

/* Rules by which a partial input passes, where the row does not say it in words. */
static void write_partial_rules(FILE *f, const op_problem *p, const op_rules *rules)
{
    char text[OP_TEXT];
    int n = 0;

    fprintf(f, "- partial inputs: ");
    for (int i = 0; i < rules->n; i++) {
        if (!is_partial(p, &rules->rule[i]) || n++ >= SHOWN)
            continue;
        fprintf(f, "%s`%s`", n > 1 ? ", " : "", op_rule_text(p, rules, i, text, sizeof text));
    }
    fprintf(f, n > SHOWN ? ", and %d more\n" : n ? "\n" : "none\n", n - SHOWN);
}

/* For one mesh dim, of its first case with every input sharded in the plain way. */
static int write_rules(FILE *f, const tsr_op *op)
{
    char text[OP_TEXT];
    op_problem *p = malloc(sizeof *p);
    op_rules rules = {0};
    int status = p ? op_problem_case(op, p) : cli_failed("out of memory");

    if (status == CLI_OK)
        status = op_rules_make(p, &rules);
    fprintf(f, "- rules, of `%s`: ", op->cases[0]);
    for (int i = 0; i < rules.n && i < SHOWN && status == CLI_OK; i++)
        fprintf(f, "%s`%s`", i ? ", " : "", op_rule_text(p, &rules, i, text, sizeof text));
    fprintf(f, rules.n > SHOWN ? ", and %d more\n" : "\n", rules.n - SHOWN);
    if (status == CLI_OK && !ops_partials(op, text))
        write_partial_rules(f, p, &rules);
    op_rules_free(&rules);
    free(p);
    return status;
}

/* What the lines of all ops have in common. */
static const char LEGEND[] =
    "How to read an entry:\n"
    "\n"
    "- inputs: `?` marks an optional input, `*` a list.\n"
    "- attributes: `name:type=default`; `type?` marks an optional attribute, and the text says\n"
    "  what leaving it out means. `int`, `ints` (at most 8, `0,2`), `dim` and `dims` (negative:\n"
    "  from the end), `bool` (`true`, `false`), `dtype` (`f32`), `text` (no blanks). `float` and\n"
    "  `number` are floating-point values: a different `float` needs a plan of its own, while a\n"
    "  `number` (a learning rate) may change from call to call without planning again. So may a\n"
    "  `seed`, an integer of 64 bits.\n"
    "- rules: valid placements of inputs along one mesh dim and the resulting placements of the\n"
    "  outputs, for the given shapes.\n"
    "- partial inputs: which pending reductions pass through the op without being resolved first;\n"
    "  where a function of the op decides that, the rules that let them pass for these shapes.\n"
    "- gradient: `yes`; `composite`, by the chain rule through the ops of its expression; `none`,\n"
    "  no gradient flows back (its outputs are piecewise constant, indices or random numbers);\n"
    "  `not implemented`, backward through the op is an error.\n"
    "\n";

static int write_op(FILE *f, const tsr_op *op)
{
    char text[TSR_TEXT_LEN], example[OP_TEXT] = "";
    int status = CLI_OK;

    fprintf(f, "\n### %s\n\n%s\n\n- inputs: ", op->name, op->doc);
    write_list(f, op->inputs);
    fprintf(f, "; attributes: ");
    if (op->attrs)
        write_list(f, op->attrs);
    else
        fprintf(f, "none");
    fprintf(f, "\n");
    if (op->expr)
        fprintf(f, "- expression: `%s`\n", op->expr);
    else if (op->compose)
        fprintf(f, "- composite op\n");
    else if (op->cases && op->cases[0] && !op->strategies && !op->propagate)
        status = write_rules(f, op);
    if (!tsr_op_is_composed(op) && ops_partials(op, text))
        fprintf(f, "- partial inputs: %s\n", ops_partials(op, text));
    fprintf(f, "- gradient: %s%s\n", tsr_op_has_grad(op) ? ops_gradient(op) : "not implemented",
            op->inplace > 1 ? "; overwrites its first inputs"
            : op->inplace   ? "; overwrites its first input"
                            : "");
    if (status == CLI_OK && op->cases && op->cases[0]) {
        status = op_problem_example(op, example, sizeof example);
        fprintf(f, "- try: `%s`\n", example);
    }
    return status;
}

static int write_all(FILE *f)
{
    const char *last = "";
    int status = CLI_OK;

    fprintf(f, "## All ops\n\n%s", LEGEND);
    write_contents(f);
    for (int i = 0; i < tsr_op_count() && status == CLI_OK; i++) {
        const tsr_op *op = tsr_op_row(i);

        if (strcmp(family_of(op), last) != 0)
            fprintf(f, "\n## Ops: %s\n", family_of(op));
        last = family_of(op);
        status = write_op(f, op);
    }
    return status;
}

int ops_markdown(bool as_json)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f;
    int status;

    if (!cli_speaks())
        return CLI_OK;
    if (!as_json)
        return write_all(stdout);
    f = open_memstream(&text, &n);
    if (!f)
        return cli_failed("out of memory");
    status = write_all(f);
    if (fclose(f) != 0)
        status = cli_failed("out of memory");
    if (status == CLI_OK)
        status =
            cli_print_json(json_pack("{s:s, s:[s]}", "command", "ops --markdown", "results", text));
    free(text);
    return status;
}
