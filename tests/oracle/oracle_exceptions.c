/* SPDX-License-Identifier: Apache-2.0 */
/* oracle_exceptions.c - the list of cases in which PyTorch is wrong. There is one mistake so
   far: it reduces a partial mesh dim before an inner one of another kind, which changes the
   value. A line names the case, the input, and terms of one element; they are reduced in both
   orders, and the results must be the two different numbers of the line. A case that is not
   listed is an exception too if such terms can be found, and its line is printed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "oracle.h"

struct oracle_exceptions {
    json_t *lines; /* all of them proven */
};

/* ---- the list ---- */

static tsr_status read_spec(const tsr_mesh_shape *mesh, const json_t *list, size_t i, tsr_spec *out,
                            tsr_error *err)
{
    tsr_spec like = {.dtype = TSR_F32, .shape.ndim = TSR_MAX_DIM, .mesh = *mesh};
    const char *text = json_string_value(json_array_get(list, i));

    for (int d = 0; d < TSR_MAX_DIM; d++)
        like.shape.size[d] = 2; /* the order of steps does not depend on it */
    if (!text)
        return tsr__fail(err, TSR_ERR_FORMAT, "input %zu has no placements", i);
    return tsr_placements_parse(text, &like, out, err);
}

/* Executes the counter-example of a line. */
static tsr_status prove(const json_t *line, tsr_error *err)
{
    const char *name = json_string_value(json_object_get(line, "mesh"));
    const json_t *list = json_object_get(line, "terms"), *x;
    size_t k = (size_t)json_integer_value(json_object_get(line, "input")), i;
    double terms[ORACLE_TERMS], value, torch;
    oracle_mesh mesh = {0};
    oracle_steps steps;
    tsr_spec from, to;
    tsr_status st;

    TSR_TRY(tsr_mesh_parse(name ? name : "", &mesh.shape, err));
    TSR_TRY(read_spec(&mesh.shape, json_object_get(line, "in"), k, &from, err));
    TSR_TRY(read_spec(&mesh.shape, json_object_get(line, "use"), k, &to, err));
    if (json_array_size(list) != (size_t)oracle_n_terms(&from) ||
        json_array_size(list) > ORACLE_TERMS)
        return tsr__fail(err, TSR_ERR_FORMAT, "%d terms are needed", oracle_n_terms(&from));
    json_array_foreach(list, i, x) terms[i] = json_number_value(x);
    oracle_torch_steps(&mesh, &from, &to, &steps);
    value = oracle_value(&from, terms);
    torch = oracle_torch_value(&from, &steps, terms);
    if (value == torch || value != json_number_value(json_object_get(line, "value")) ||
        torch != json_number_value(json_object_get(line, "torch")))
        st = tsr__fail(err, TSR_ERR_MISMATCH,
                       "nothing is proven: the terms are worth %g, in PyTorch's order %g", value,
                       torch);
done:
    return st;
}

tsr_status oracle_exceptions_read(const char *path, oracle_exceptions **out, tsr_error *err)
{
    oracle_exceptions *list = calloc(1, sizeof *list);
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t cap = 0;
    tsr_status st = TSR_OK;

    if (!list || !file)
        TSR_TRY(tsr__fail(err, TSR_ERR_IO, "%s: %s", path, strerror(errno)));
    list->lines = json_array();
    for (int n = 1; getline(&text, &cap, file) > 0; n++) {
        json_error_t wrong;
        tsr_error why = {0};
        json_t *line = json_loads(text, 0, &wrong);
        json_array_append_new(list->lines, line);
        if (!line)
            TSR_TRY(tsr__fail(err, TSR_ERR_FORMAT, "%s:%d: %s", path, n, wrong.text));
        if (prove(line, &why) != TSR_OK)
            TSR_TRY(tsr__fail(err, why.code, "%s:%d: %s", path, n, why.text));
    }
    *out = list;
    list = NULL;
done:
    if (file)
        fclose(file);
    free(text);
    oracle_exceptions_free(list);
    return st;
}

void oracle_exceptions_free(oracle_exceptions *list)
{
    if (list)
        json_decref(list->lines);
    free(list);
}

/* ---- is a case one? ---- */

static bool is_listed(const oracle_exceptions *list, const oracle_case *c)
{
    static const char *const keys[] = {"aten", "mesh", "args", "in", "use"};
    const json_t *line;
    size_t i;

    json_array_foreach(list ? list->lines : NULL, i, line)
    {
        size_t same = 0;
        while (same < 5 && json_equal(json_object_get(line, keys[same]),
                                      json_object_get(c->line.json, keys[same])))
            same++;
        if (same == 5)
            return true;
    }
    return false;
}

static void print_line(const oracle_case *c, int input, const oracle_steps *steps,
                       const double *terms)
{
    const json_t *j = c->line.json;
    json_t *list = json_array(), *line;
    int n = oracle_n_terms(&c->in[input]);

    for (int i = 0; i < n; i++)
        json_array_append_new(list, json_integer((json_int_t)terms[i]));
    line =
        json_pack("{s:O,s:O,s:O,s:O,s:O,s:i,s:O,s:f,s:f,s:s}", "aten", json_object_get(j, "aten"),
                  "mesh", json_object_get(j, "mesh"), "args", json_object_get(j, "args"), "in",
                  json_object_get(j, "in"), "use", json_object_get(j, "use"), "input",
                  c->aten_place[input], "terms", list, "value", oracle_value(&c->in[input], terms),
                  "torch", oracle_torch_value(&c->in[input], steps, terms), "reason",
                  "PyTorch reduces a partial mesh dim before an inner one of another kind");
    json_dumpf(line, stderr, JSON_REAL_PRECISION(12));
    fputc('\n', stderr);
    json_decref(line);
    json_decref(list);
}

bool oracle_excused(const oracle_exceptions *list, const oracle_case *parts, int n,
                    const oracle_findings *f, bool *listed)
{
    double terms[ORACLE_TERMS], all = 0;
    const oracle_case *wrong = NULL;
    int input = 0;

    /* its strategy is fine, and by right steps, if there are any, it costs no less than ours */
    if (f->unknown_rule || f->chosen_us > f->implicit_us * (1 + 1e-6))
        return false;
    for (int p = 0; p < n; p++)
        for (int k = 0; k < parts[p].n_in; k++) {
            const oracle_case *c = &parts[p];
            oracle_steps steps;
            if (!oracle_is_first(parts, p, k))
                continue;
            oracle_torch_steps(c->mesh, &c->in[k], &c->use[k], &steps);
            all += steps.us;
            if (oracle_disproof(&c->in[k], &steps, terms)) {
                wrong = c;
                input = k;
            } else if (f->move_us[c->aten_place[k]] > steps.us * (1 + 1e-6) + 1e-9) {
                return false; /* dearer where PyTorch is right */
            }
        }
    /* are these the steps that PyTorch took? */
    if (!wrong || all > parts->cost_us * (1 + 1e-6) || all < parts->cost_us * (1 - 1e-6))
        return false;
    *listed = is_listed(list, parts);
    if (!*listed) {
        oracle_steps steps;
        oracle_torch_steps(wrong->mesh, &wrong->in[input], &wrong->use[input], &steps);
        oracle_disproof(&wrong->in[input], &steps, terms);
        print_line(wrong, input, &steps, terms);
    }
    return true;
}
