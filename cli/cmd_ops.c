/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_ops.c - tessera ops: the table of ops that the library has. */
#include "op_problem.h"

#include <string.h>

/* How it shards, in a word or as axes. */
static const char *shards(const tsr_op *op)
{
    if (op->axes)
        return op->axes;
    if (tsr_op_is_composed(op))
        return "composite";
    return op->rule || op->strategies || op->propagate ? "by function" : "replicated";
}

/* Does one flow through it? */
const char *ops_gradient(const tsr_op *op)
{
    if (op->grad || op->grad_expr)
        return op->grad == tsr_grad_none ? "none" : "yes";
    return tsr_op_has_grad(op) ? "composite" : "-";
}

/* The first sentence of its row's doc: what fits a line of the table. */
static const char *first_sentence(const tsr_op *op, char buf[OP_TEXT])
{
    const char *end = strstr(op->doc, ". ");

    snprintf(buf, OP_TEXT, "%.*s", end ? (int)(end - op->doc + 1) : OP_TEXT - 1, op->doc);
    return buf;
}

static void print_table(void)
{
    char text[OP_TEXT];
    cli_table table;

    cli_table_open(&table, "lllll");
    cli_table_row(&table, (const char *[]){"op", "inputs", "shards", "gradient", "what it is"});
    for (int i = 0; i < tsr_op_count(); i++) {
        const tsr_op *op = tsr_op_row(i);

        cli_table_row(&table, (const char *[]){op->name, op->inputs, shards(op), ops_gradient(op),
                                               first_sentence(op, text)});
    }
    cli_table_close(&table, 0);
    printf("\ninputs  ? may be left out or -, * is a list\n"
           "shards  letters are axes, ... leading ones: an axis can be sharded wherever it\n"
           "        stands, and yields a partial output where the output lacks it\n"
           "\ntessera ops OP shows one op in full.\n");
}

/* How partial inputs pass; NULL if only the rules of a call tell. */
const char *ops_partials(const tsr_op *op, char buf[TSR_TEXT_LEN])
{
    if (tsr_op_is_composed(op))
        return "composite";
    if (op->permutes)
        return "all reductions (it only moves elements)";
    if (!op->linear && !op->monotone)
        return op->axes ? "none" : NULL;
    snprintf(buf, TSR_TEXT_LEN, "%s%s%s%s%s", op->linear ? "sum and avg, linear in " : "",
             op->linear ? op->linear : "", op->linear && op->monotone ? "; " : "",
             op->monotone ? "max and min, monotone in " : "", op->monotone ? op->monotone : "");
    return buf;
}

static void print_op(const tsr_op *op)
{
    char text[TSR_TEXT_LEN], example[OP_TEXT];
    const char *partials;
    const tsr_op *inplace;

    snprintf(text, sizeof text, "%s_inplace", op->name);
    inplace = tsr_op_find(NULL, text);
    printf("%s  %s\n", op->name, op->doc);
    printf("  inputs      %s\n", op->inputs);
    printf("  attributes  ");
    for (const char *a = op->attrs ? op->attrs : "none"; *a; a++)
        printf(*a == ',' ? ", " : "%c", *a);
    printf("\n  shards      %s\n", shards(op));
    partials = ops_partials(op, text);
    printf("  partial     %s\n", partials ? partials : "by function; see explain --rules");
    printf("  runs        %s%s%s%s\n",
           op->expr      ? "as "
           : op->compose ? "other ops"
           : op->kernel  ? "a local kernel"
                         : "its own exchange",
           op->expr ? op->expr : "",
           op->merge               ? ", whose results are merged where ranks hold parts"
           : op->kernel && op->run ? ", or its own exchange where that is cheaper"
                                   : "",
           op->inplace > 1 ? ", in place on its first inputs"
           : op->inplace   ? ", in place on its first input"
                           : "");
    printf("  gradient    %s\n", tsr_op_has_grad(op) ? ops_gradient(op) : "not implemented");
    if (inplace)
        printf("  in place    %s\n", inplace->name);
    if (op->cases && op->cases[0] && op_problem_example(op, example, sizeof example) == CLI_OK)
        printf("  try         %s\n", example);
}

static json_t *op_json(const tsr_op *op)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:b, s:s}", "name", op->name, "inputs", op->inputs,
                     "attributes", op->attrs ? op->attrs : "", "axes", op->axes ? op->axes : "",
                     "expr", op->expr ? op->expr : "", "gradient", tsr_op_has_grad(op), "doc",
                     op->doc);
}

int cli_ops(const cli_args *args)
{
    bool as_json = cli_option_of(args, "json");
    json_t *results = json_array();
    char *rest = args->text, *word;
    bool first = true;

    if (cli_option_of(args, "markdown")) {
        json_decref(results);
        if (args->n_words)
            return cli_bad("ops: --markdown lists all ops and takes no arguments");
        return ops_markdown(as_json);
    }
    for (; args->n_words > 0 && (word = strtok_r(rest, " \t\n", &rest)); first = false) {
        const tsr_op *op = tsr_op_find(NULL, word);

        if (!op) {
            json_decref(results);
            return op_unknown("ops", word);
        }
        json_array_append_new(results, op_json(op));
        if (!as_json && cli_speaks()) {
            printf("%s", first ? "" : "\n");
            print_op(op);
        }
    }
    for (int i = 0; args->n_words == 0 && i < tsr_op_count(); i++)
        json_array_append_new(results, op_json(tsr_op_row(i)));
    if (as_json && cli_speaks())
        return cli_print_json(json_pack("{s:s, s:o}", "command", "ops", "results", results));
    json_decref(results);
    if (args->n_words == 0 && cli_speaks())
        print_table();
    return CLI_OK;
}
