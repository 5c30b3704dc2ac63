/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_validate.c - tessera validate: do the rules of ops hold, are they all, and do runs on threads
   agree? What the library finds, as a table and sentences. */
#include "op_problem.h"

#include <string.h>
#include <tessera_ext.h>

static const char *const kinds[] = {
    [TSR_FLAW_UNSOUND] = "unsound", [TSR_FLAW_MISSING] = "missing", [TSR_FLAW_WRONG] = "wrong"};

/* ---- validating ---- */

static json_t *result_of(const char *name, const tsr_validation *v)
{
    json_t *flaws = json_array();

    for (int i = 0; i < v->n_flaws; i++)
        json_array_append_new(flaws, json_pack("{s:s, s:s, s:s}", "kind", kinds[v->flaw[i].kind],
                                               "text", v->flaw[i].text, "line", v->flaw[i].line));
    return json_pack("{s:s, s:i, s:b, s:i, s:I, s:I, s:i, s:i, s:i, s:f, s:o}", "op", name, "cases",
                     v->cases, "runs_only", v->runs_only, "rules", v->rules, "tuples",
                     (json_int_t)v->tuples, "runs", (json_int_t)v->runs, "unsound", v->unsound,
                     "missing", v->missing, "wrong", v->wrong, "seconds", v->seconds, "flaws",
                     flaws);
}

/* Adds to results; *flaws counts all of them. */
static int validate(const char *name, json_t *results, int *flaws)
{
    const tsr_op *op = tsr_op_find(NULL, name);
    tsr_validation v;
    tsr_error err = {0};

    if (!op)
        return op_unknown("validate", name);
    cli_progress("validating %s", name);
    if (tsr_validate(op, &v, &err) != TSR_OK)
        return cli_error(&err);
    cli_progress(NULL);
    json_array_append_new(results, result_of(name, &v));
    *flaws += v.unsound + v.missing + v.wrong;
    return CLI_OK;
}

/* The ops that were named, or all of them. */
static int validate_all(const cli_args *args, json_t *results, int *flaws)
{
    char *rest = args->text, *word;
    int status = CLI_OK;

    while (status == CLI_OK && (word = strtok_r(rest, " \t\n", &rest)))
        status = validate(word, results, flaws);
    for (int i = 0; status == CLI_OK && args->n_words == 0 && i < tsr_op_count(); i++)
        status = validate(tsr_op_row(i)->name, results, flaws);
    return status;
}

/* ---- printing ---- */

static void print_text(const json_t *results, int flaws)
{
    static const char *const counts[] = {"cases",   "rules",   "tuples", "runs",
                                         "unsound", "missing", "wrong"};
    /* by rank after rank, which is not possible for ops that move data themselves */
    static const bool tried[] = {false, true, true, false, true, true, false};
    cli_table table;
    size_t i, k;
    json_t *one, *flaw;
    int more = flaws;

    cli_table_open(&table, "lrrrrrrrr");
    cli_table_row(&table, (const char *[]){"op", "cases", "rules", "tuples", "runs", "unsound",
                                           "missing", "wrong", "time"});
    json_array_foreach(results, i, one)
    {
        char text[7][CLI_TEXT], time[CLI_TEXT];

        for (int c = 0; c < 7; c++)
            if (tried[c] && json_is_true(json_object_get(one, "runs_only")))
                snprintf(text[c], CLI_TEXT, "-");
            else
                snprintf(text[c], CLI_TEXT, "%lld",
                         (long long)json_integer_value(json_object_get(one, counts[c])));
        cli_seconds(json_real_value(json_object_get(one, "seconds")), time);
        cli_table_row(&table,
                      (const char *[]){json_string_value(json_object_get(one, "op")), text[0],
                                       text[1], text[2], text[3], text[4], text[5], text[6], time});
    }
    cli_table_close(&table, 0);
    json_array_foreach(results, i, one)
    {
        json_array_foreach(json_object_get(one, "flaws"), k, flaw)
        {
            printf("\n%s  %s\n  %s\n", json_string_value(json_object_get(flaw, "kind")),
                   json_string_value(json_object_get(flaw, "text")),
                   json_string_value(json_object_get(flaw, "line")));
            more--;
        }
    }
    if (more > 0)
        printf("\nand %d more\n", more);
    if (flaws == 0)
        printf("\nall rules hold, none is missing, all runs agree\n");
}

int cli_validate(const cli_args *args)
{
    json_t *results = json_array();
    int flaws = 0, status = CLI_OK;

    if (!results)
        return cli_failed("out of memory");
    if (cli_speaks()) /* under mpirun once is enough */
        status = validate_all(args, results, &flaws);
    if (status != CLI_OK || !cli_speaks()) {
        json_decref(results);
        return status;
    }
    if (cli_option_of(args, "json")) {
        status = cli_print_json(json_pack("{s:s, s:i, s:o}", "command", "validate", "flaws", flaws,
                                          "results", results));
    } else {
        print_text(results, flaws);
        json_decref(results);
    }
    return status == CLI_OK && flaws > 0 ? CLI_FAILED : status;
}
