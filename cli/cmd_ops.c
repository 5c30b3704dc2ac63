/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_ops.c - tessera ops: the table of ops that the library has. */
#include "cli.h"

#include <tessera_ext.h>

/* How it shards, in a word or as axes. */
static const char *shards(const tsr_op *op)
{
    if (op->axes)
        return op->axes;
    if (op->compose)
        return "as composed";
    return op->rule || op->strategies || op->propagate ? "by function" : "replicated";
}

static void print_table(void)
{
    cli_table table;

    cli_table_open(&table, "llllll");
    cli_table_row(
        &table, (const char *[]){"op", "inputs", "attributes", "shards", "gradient", "what it is"});
    for (int i = 0; i < tsr_op_count(); i++) {
        const tsr_op *op = tsr_op_row(i);

        cli_table_row(&table, (const char *[]){op->name, op->inputs, op->attrs ? op->attrs : "-",
                                               shards(op), op->grad ? "yes" : "-", op->doc});
    }
    cli_table_close(&table, 0);
    printf("\ninputs      ? may be left out or -, * is a list\n"
           "attributes  name:type=default; ints are 0,2\n"
           "shards      letters are axes, ... leading ones: an axis can be sharded wherever it\n"
           "            stands, and yields a partial output where the output lacks it\n");
}

int cli_ops(const cli_args *args)
{
    json_t *results;

    if (args->n_words > 0)
        return cli_bad("ops: nothing expected at \"%s\"", args->text);
    if (!cli_speaks())
        return CLI_OK;
    if (!cli_option_of(args, "json")) {
        print_table();
        return CLI_OK;
    }
    results = json_array();
    for (int i = 0; i < tsr_op_count(); i++) {
        const tsr_op *op = tsr_op_row(i);

        json_array_append_new(results, json_pack("{s:s, s:s, s:s, s:s, s:b, s:s}", "name", op->name,
                                                 "inputs", op->inputs, "attributes",
                                                 op->attrs ? op->attrs : "", "axes",
                                                 op->axes ? op->axes : "", "gradient",
                                                 op->grad != NULL, "doc", op->doc));
    }
    return cli_print_json(json_pack("{s:s, s:o}", "command", "ops", "results", results));
}
