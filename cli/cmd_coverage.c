/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_coverage.c - tessera ops --coverage: which operators of ONNX the ops stand for, and which are
   missing. Called by cmd_ops.c. */
#include "op_problem.h"

#include <string.h>

#include "onnx_ops.h"

enum { LINE = 90 };

static const char *how(const onnx_operator *x)
{
    return x->by ? "by" : x->host ? "without an op" : x->never ? "never" : "missing";
}

static int count(const char *group, const char *what)
{
    int n = 0;

    for (const onnx_operator *x = onnx_operators; x->name; x++)
        n += (!group || strcmp(x->group, group) == 0) && (!what || strcmp(how(x), what) == 0);
    return n;
}

/* Names that fill lines, each behind an indent. */
static void print_names(const char *group, const char *what, const char *title)
{
    size_t used = 0;
    bool first = true;

    for (const onnx_operator *x = onnx_operators; x->name; x++) {
        char word[2 * TSR_TEXT_LEN];

        if (strcmp(x->group, group) != 0 || strcmp(how(x), what) != 0)
            continue;
        if (x->by && !strchr(x->by, ',') && strcasecmp(x->by, x->name) == 0)
            snprintf(word, sizeof word, "%s", x->name);
        else
            snprintf(word, sizeof word, "%s%s%s%s", x->name, x->by || x->host ? " (" : "",
                     x->by     ? x->by
                     : x->host ? x->host
                               : "",
                     x->by || x->host ? ")" : "");
        if (first || used + strlen(word) + 2 > LINE) {
            printf("%s  %-9s", first ? "" : ",\n", first ? title : "");
            used = 11;
            first = false;
            used += (size_t)printf("%s", word);
        } else {
            used += (size_t)printf(", %s", word);
        }
    }
    if (!first)
        printf("\n");
}

static void print_group(const char *group)
{
    const int there = count(group, "by") + count(group, "without an op");
    const int never = count(group, "never"), all = count(group, NULL);

    if (never == all)
        printf("\n%s: %d non-tensor operators\n", group, all);
    else
        printf("\n%s: %d of %d\n", group, there, all - never);
}

static json_t *to_json(void)
{
    json_t *results = json_array();

    for (const onnx_operator *x = onnx_operators; x->name; x++)
        json_array_append_new(results, json_pack("{s:s, s:s, s:s, s:s}", "name", x->name, "group",
                                                 x->group, "how", how(x), "by",
                                                 x->by      ? x->by
                                                 : x->host  ? x->host
                                                 : x->never ? x->never
                                                            : ""));
    return json_pack("{s:s, s:i, s:i, s:i, s:i, s:o}", "command", "ops --coverage", "covered",
                     count(NULL, "by"), "without_op", count(NULL, "without an op"), "missing",
                     count(NULL, "missing"), "never", count(NULL, "never"), "results", results);
}

int ops_coverage(bool as_json)
{
    const int by = count(NULL, "by"), host = count(NULL, "without an op");
    const int never = count(NULL, "never");

    if (!cli_speaks())
        return CLI_OK;
    if (as_json)
        return cli_print_json(to_json());
    printf("ONNX, opset 17: %d of %d tensor operators, %d by ops and %d without; "
           "%d are not tensor operators\n",
           by + host, count(NULL, NULL) - never, by, host, never);
    for (const onnx_operator *x = onnx_operators; x->name; x++) {
        if (x != onnx_operators && strcmp(x[-1].group, x->group) == 0)
            continue;
        print_group(x->group);
        print_names(x->group, "by", "by ops");
        print_names(x->group, "without an op", "without");
        print_names(x->group, "missing", "missing");
        print_names(x->group, "never", "never");
    }
    return CLI_OK;
}
