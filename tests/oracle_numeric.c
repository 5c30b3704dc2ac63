/* SPDX-License-Identifier: Apache-2.0 */
/* oracle_numeric.c - cases with values: convolution, embedding, embedding bags, forward and
   backward. One table from the kind of case to the function that runs it; a kind without a function
   is not there yet. To add one, write the function and name it in the table. */
#include <string.h>

#include "base/error.h"
#include "oracle.h"

/* Runs the case on the options' mesh and world with the options' placements. */
typedef tsr_status (*numeric_fn)(const json_t *json, const oracle_opts *opts, tsr_error *err);

static const struct {
    const char *kind;
    numeric_fn run;
} KINDS[] = {
    {"conv", NULL},
    {"embedding", NULL},
    {"embedding_bag", NULL},
};

/* A tensor is {"shape": [..], "data": [..]} with as many numbers as the shape says. */
static tsr_status check_tensor(const char *name, const json_t *x, tsr_error *err)
{
    const json_t *shape = json_object_get(x, "shape"), *data = json_object_get(x, "data"), *n;
    json_int_t count = 1;
    size_t i;

    json_array_foreach(
        shape, i, n) if (!json_is_integer(n) || json_integer_value(n) < 0 ||
                         __builtin_mul_overflow(
                             count, json_integer_value(n),
                             &count)) return tsr__fail(err, TSR_ERR_FORMAT,
                                                       "%s: its shape holds a wrong size", name);
    if (!json_is_array(shape) || !json_is_array(data) || i > TSR_MAX_DIM ||
        json_array_size(data) != (size_t)count)
        return tsr__fail(err, TSR_ERR_FORMAT, "%s: shape and data do not fit together", name);
    json_array_foreach(data, i, n) if (!json_is_number(n)) return tsr__fail(
        err, TSR_ERR_FORMAT, "%s: element %zu is not a number", name, i);
    return TSR_OK;
}

oracle_result oracle_numeric(const oracle_line *line, const oracle_opts *opts, const char **op,
                             tsr_error *err)
{
    const char *name;
    json_t *value;
    numeric_fn run = NULL;
    tsr_status st = TSR_OK;

    *op = json_string_value(json_object_get(line->json, "kind"));
    json_object_foreach((json_t *)line->json, name, value) if (json_is_object(value))
        TSR_TRY(check_tensor(name, value, err));
    for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++)
        if (strcmp(KINDS[i].kind, *op) == 0)
            run = KINDS[i].run;
    if (!run)
        return ORACLE_NOT_THERE;
    TSR_TRY(run(line->json, opts, err));
done:
    return st == TSR_OK ? ORACLE_PASSED : ORACLE_FAILED;
}
