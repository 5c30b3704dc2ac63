/* SPDX-License-Identifier: Apache-2.0 */
/* op_problem.c - reads the texts of ops (op_problem.h). The library knows ops, inputs and
   attributes; this file finds them in the text and says what is unknown. */
#include "op_problem.h"
#include "values.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"

enum { MAX_NAMES = 256 };

static const tsr_op *find_op(const char *name, size_t n)
{
    char text[TSR_TEXT_LEN];

    snprintf(text, sizeof text, "%.*s", (int)n, name);
    return tsr_op_find(NULL, text);
}

/* A redistribution begins with its name, with a tensor f32[..], or with placements. */
bool op_problem_is(const char *text)
{
    size_t n;

    for (;;) {
        text += strspn(text, " \t\r\n");
        if (reader_name(text) == 0)
            break;
        text += strcspn(text, " \t\r\n");
    }
    n = reader_word(text);
    if (find_op(text, n))
        return true;
    if (n == 0 || text[n] == '@' || (n == 12 && strncmp(text, "redistribute", 12) == 0))
        return false;
    return text[n + strspn(text + n, " \t\r\n")] != '[';
}

/* ---- the parts of the text ---- */

/* NULL: no op is like that, nor the other name, if there is one */
static const char *nearest_op(const char *name, const char *other)
{
    const char *names[MAX_NAMES];
    int n = 0;

    for (; n < tsr_op_count() && n < MAX_NAMES - 1; n++)
        names[n] = tsr_op_row(n)->name;
    if (other)
        names[n++] = other;
    return cli_nearest(name, names, n);
}

static bool unknown_op(const reader *r, size_t n)
{
    char name[TSR_TEXT_LEN];
    const char *near;

    if (!reader_copy(r, r->p, r->p + n, name))
        return false;
    near = nearest_op(name, "redistribute");
    if (near)
        return reader_wrong(r, r->p, "unknown op \"%.40s\"; did you mean %s?", name, near);
    return reader_wrong(r, r->p, "unknown op \"%.40s\"; tessera ops lists them", name);
}

static bool read_op(reader *r, op_problem *p)
{
    size_t n = reader_word(r->p);

    p->op = find_op(r->p, n);
    if (!p->op)
        return unknown_op(r, n);
    r->p += n;
    return true;
}

/* The names of the op's attributes, cut out of "dim:dim=-1,keepdim:bool=false". */
static int attr_names(const tsr_op *op, char name[OP_ATTRS][CLI_TEXT])
{
    int n = 0;

    for (const char *a = op->attrs ? op->attrs : ""; *a && n < OP_ATTRS; n++) {
        snprintf(name[n], CLI_TEXT, "%.*s", (int)strcspn(a, ":"), a);
        a += strcspn(a, ",");
        a += *a == ',';
    }
    return n;
}

static bool unknown_attr(const reader *r, const op_problem *p, const char *name)
{
    const char *names[OP_ATTRS + READER_SETTINGS], *near;
    char attr[OP_ATTRS][CLI_TEXT];
    int n = attr_names(p->op, attr), n_names;

    n_names = reader_setting_names(names);
    for (int i = 0; i < n; i++)
        names[n_names++] = attr[i];
    near = cli_nearest(name, names, n_names);
    if (near)
        return reader_wrong(r, r->p, "%s has no attribute \"%.40s\"; did you mean %s=?",
                            p->op->name, name, near);
    return reader_wrong(r, r->p, "%s has no attribute \"%.40s\"; it has %s", p->op->name, name,
                        p->op->attrs ? p->op->attrs : "none");
}

static bool has_attr(const tsr_op *op, const char *name)
{
    char attr[OP_ATTRS][CLI_TEXT];
    int n = attr_names(op, attr), i = 0;

    while (i < n && strcmp(attr[i], name) != 0)
        i++;
    return i < n;
}

/* The NAME=VALUE at `at` is one of the op's attributes. */
static bool add_attr(const reader *r, op_problem *p, const char *at)
{
    for (int i = 0; i < p->n_attrs; i++)
        if (strncmp(p->attr[i], at, reader_name(at) + 1) == 0)
            return reader_wrong(r, at, "attribute %.*s is given twice", (int)reader_name(at), at);
    if (p->n_attrs == OP_ATTRS)
        return reader_wrong(r, at, "more than %d attributes", OP_ATTRS);
    if (!reader_copy(r, at, at + strcspn(at, " \t\r\n"), p->attr_text[p->n_attrs]))
        return false;
    p->attr[p->n_attrs] = p->attr_text[p->n_attrs];
    p->n_attrs++;
    return true;
}

/* seed= is a setting, but of a random op its attribute too; nothing to do if there is none. */
static bool add_seed(const reader *r, op_problem *p)
{
    return !r->seed_at || !has_attr(p->op, "seed") || add_attr(r, p, r->seed_at);
}

/* NAME=VALUE, whose name has n letters */
static bool read_named(reader *r, op_problem *p, size_t n)
{
    char name[TSR_TEXT_LEN];
    bool known;

    if (!reader_setting(r, n, &known))
        return false;
    if (known)
        return true;
    if (!reader_copy(r, r->p, r->p + n, name))
        return false;
    if (!has_attr(p->op, name))
        return unknown_attr(r, p, name);
    if (!add_attr(r, p, r->p))
        return false;
    r->p += strcspn(r->p, " \t\r\n");
    return true;
}

/* "<10", "/12" or "+" behind the shape of input k, if it is there */
static bool read_range(reader *r, op_problem *p, int k)
{
    const tsr_spec *spec = &p->in[k];
    const char *at = r->p;
    char *end;

    if (*at != '<' && *at != '/' && *at != '+')
        return true;
    p->range[k] = *at;
    if (*at == '+') {
        if (!value_is_float(spec->dtype))
            return reader_wrong(r, at, "only floating point numbers are said to be positive");
        r->p++;
        return true;
    }
    p->limit[k] = isdigit((unsigned char)at[1]) ? strtoll(at + 1, &end, 10) : -1;
    if (p->limit[k] < (*at == '<') || p->limit[k] > INT32_MAX)
        return reader_wrong(r, at, "expected a limit like <10 or /12");
    if (spec->dtype != TSR_I32 && spec->dtype != TSR_I64)
        return reader_wrong(r, at, "only i32 and i64 have a range of values");
    if (*at == '/' && spec->shape.ndim != 1)
        return reader_wrong(r, at, "offsets have one dim");
    r->p = end;
    return true;
}

/* Whether the attribute that was read last is a text, in which a blank may have been meant. */
static bool behind_text(const op_problem *p)
{
    const char *last = p->n_attrs ? p->attr[p->n_attrs - 1] : "", *known = p->op->attrs;
    size_t n = reader_name(last);

    while (n > 0 && *known && (strncmp(known, last, n) != 0 || known[n] != ':')) {
        known += strcspn(known, ",");
        known += *known == ',';
    }
    return n > 0 && *known && strncmp(known + n, ":text", 5) == 0;
}

/* "f32[5,3]@[S(0),R]", "i64[7]<10@[S(0),R]", "f32[7]+", "@[S(0),R]" or "-" */
static bool read_input(reader *r, op_problem *p, bool files)
{
    const char *begin = r->p;
    tsr_mesh_shape none = {.ndim = 0};
    char shape[TSR_TEXT_LEN], tensor[TSR_TEXT_LEN];
    tsr_error err = {0};
    int k = p->n_in;

    if (k == TSR_OP_INPUTS)
        return reader_wrong(r, r->p, "more than %d inputs", TSR_OP_INPUTS);
    p->n_in++;
    p->in[k].shape.ndim = -1;
    if (*r->p == '-') {
        r->p++;
        return true;
    }
    r->p += reader_word(r->p);
    p->bare[k] = r->p == begin;
    if (p->bare[k] && !(files && *r->p == '@'))
        return reader_wrong(r, r->p,
                            "expected an input like f32[5,3]@[S(0),R], - for none, -> and "
                            "placements, or NAME=VALUE");
    if (!p->bare[k]) {
        if (!reader_bracket(r,
                            behind_text(p) ? "a shape like [5,3]; values have no blanks in them"
                                           : "a shape like [5,3]",
                            shape) ||
            !reader_copy(r, begin, r->p, tensor))
            return false;
        if (tsr_spec_parse(tensor, &none, &p->in[k], &err) != TSR_OK)
            return reader_wrong(r, begin, "%s", err.text);
        if (!read_range(r, p, k))
            return false;
    }
    if (*r->p != '@')
        return true;
    r->p++;
    return reader_bracket(r, "placements like [S(0),R]", p->place[k]);
}

static bool read_parts(reader *r, op_problem *p, bool files)
{
    for (;;) {
        size_t n;

        reader_skip_blanks(r);
        n = reader_name(r->p);
        if (!*r->p)
            return true;
        if (n > 0) {
            if (!read_named(r, p, n))
                return false;
        } else if (p->want_text[0]) {
            return reader_wrong(r, r->p, "unexpected text");
        } else if (strncmp(r->p, "->", 2) == 0) {
            r->p += 2;
            if (!reader_bracket(r,
                                behind_text(p) ? "the placements of the output, like [R,R]; values "
                                                 "have no blanks in them"
                                               : "the placements of the output, like [R,R]",
                                p->want_text))
                return false;
        } else if (!read_input(r, p, files)) {
            return false;
        }
    }
}

/* ---- the whole ---- */

int op_problem_set_input(op_problem *p, int k, tsr_dtype dtype, const tsr_shape *shape)
{
    tsr_error err = {0};
    tsr_spec spec = {.dtype = dtype, .shape = *shape, .mesh = p->set.from.mesh};

    if (p->place[k][0] && tsr_placements_parse(p->place[k], &spec, &spec, &err) != TSR_OK)
        return cli_error(&err);
    p->in[k] = spec;
    return CLI_OK;
}

int op_problem_complete(op_problem *p)
{
    const tsr_cost *cost = &p->set.cost;
    tsr_error err = {0};

    if (tsr_schema_make(p->op, p->in, p->n_in, p->attr, p->n_attrs, &p->schema, &err) != TSR_OK)
        return cli_error(&err);
    if (tsr_op_is_composed(p->op) && p->want_text[0])
        return cli_bad("%s is a composite op, whose ops place its outputs: leave out -> %s",
                       p->op->name, p->want_text);
    if (tsr_op_is_composed(p->op))
        return CLI_OK;
    if (p->schema.n_out > 0 && p->schema.out_shape[0].ndim < 0)
        return cli_bad("%s: its first output is switched off, and the tool shows that one",
                       p->op->name);
    if (tsr_op_plan(&p->schema, cost, NULL, false, &p->strategy, &err) != TSR_OK)
        return cli_error(&err);
    if (!p->want_text[0])
        return CLI_OK;
    if (tsr_placements_parse(p->want_text, &p->strategy.out[0], &p->want, &err) != TSR_OK ||
        tsr_op_plan(&p->schema, cost, p->want.place, false, &p->strategy, &err) != TSR_OK)
        return cli_error(&err);
    return CLI_OK;
}

const tsr_placement *op_problem_want(const op_problem *p)
{
    return p->want_text[0] ? p->want.place : NULL;
}

int op_problem_read(const char *command, bool files, const char *text, op_problem *out)
{
    reader r;
    int status = CLI_OK;

    memset(out, 0, sizeof *out);
    if (!reader_open(&r, command, text, &out->set) || !reader_settings(&r) || !read_op(&r, out) ||
        !read_parts(&r, out, files) || !add_seed(&r, out) || !reader_needs_mesh(&r) ||
        !reader_mesh(&r, r.mesh, r.mesh_at, &out->set.from.mesh))
        return CLI_USAGE;
    if (r.target_mesh[0]) {
        reader_wrong(&r, r.target_mesh_at, "to= is for redistributions only");
        return CLI_USAGE;
    }
    out->set.has_mesh = true;
    out->set.to.mesh = out->set.from.mesh;
    for (int k = 0; k < out->n_in && status == CLI_OK; k++)
        if (op_problem_has(out, k))
            status = op_problem_set_input(out, k, out->in[k].dtype, &out->in[k].shape);
    return status == CLI_OK && !files ? op_problem_complete(out) : status;
}

/* ---- as text ---- */

bool op_problem_has(const op_problem *p, int k)
{
    return p->in[k].shape.ndim >= 0;
}

const char *op_problem_input_name(const op_problem *p, int k, char buf[CLI_TEXT])
{
    const char *name = p->op->inputs;
    size_t n = strcspn(name, ",?*");

    if (name[n] == '*') {
        snprintf(buf, CLI_TEXT, "%.*s%d", (int)n, name, k);
        return buf;
    }
    for (int i = 0; i < k && *name; i++) {
        name += strcspn(name, ",");
        name += *name == ',';
    }
    snprintf(buf, CLI_TEXT, "%.*s", (int)strcspn(name, ",?*"), name);
    return buf;
}

/* Input k as `spec`, with its range; "-" if it is absent. */
static void input_text(const op_problem *p, int k, const tsr_spec *spec, char *buf, size_t n)
{
    char text[TSR_TEXT_LEN] = "-", range[CLI_TEXT] = "";
    size_t shape;

    if (op_problem_has(p, k))
        tsr_spec_text(spec, text, sizeof text);
    if (p->range[k] == '+')
        snprintf(range, sizeof range, "+");
    else if (p->range[k])
        snprintf(range, sizeof range, "%c%lld", p->range[k], (long long)p->limit[k]);
    shape = strcspn(text, "@");
    snprintf(buf, n, "%.*s%s%s", (int)shape, text, range, text + shape);
}

const char *op_problem_call_text(const op_problem *p, const tsr_spec *in, char *buf, size_t n)
{
    size_t used = (size_t)snprintf(buf, n, "%s", p->op->name);
    char text[TSR_TEXT_LEN + CLI_TEXT];

    for (int k = 0; k < p->n_in && used < n; k++) {
        input_text(p, k, &in[k], text, sizeof text);
        used += (size_t)snprintf(buf + used, n - used, " %s", text);
    }
    for (int i = 0; i < p->n_attrs && used < n; i++)
        used += (size_t)snprintf(buf + used, n - used, " %s", p->attr[i]);
    if (p->want_text[0] && used < n)
        snprintf(buf + used, n - used, " -> %s", tsr_placements_text(&p->want, text, sizeof text));
    return buf;
}

const char *op_problem_text(const op_problem *p, char *buf, size_t n)
{
    size_t used = strlen(op_problem_call_text(p, p->in, buf, n));
    problem set = p->set;

    if (has_attr(p->op, "seed"))
        set.seed = 1; /* it is among the attributes */
    problem_settings_text(&set, buf + used, n - used);
    return buf;
}

int op_problem_case(const tsr_op *op, op_problem *out)
{
    char text[OP_TEXT];
    int status;

    snprintf(text, sizeof text, "%s %s mesh=2", op->name, op->cases[0]);
    status = op_problem_read("ops", false, text, out);
    for (int k = 0; k < out->n_in && status == CLI_OK; k++)
        if (op_problem_has(out, k) && out->in[k].shape.ndim > 0)
            out->in[k].place[0] = out->schema.in[k].place[0] = (tsr_placement){.kind = TSR_SHARD};
    return status;
}

/* Ops that give NaN for the zeros among the numbers that run fills in, so that an example shows
   little. */
static bool wants_positive(const tsr_op *op)
{
    static const char *const names[] = {"addcdiv", "addcdiv_inplace", "remainder", "fmod"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(op->name, names[i]) == 0)
            return true;
    return false;
}

int op_problem_example(const tsr_op *op, char *buf, size_t n)
{
    op_problem *p = malloc(sizeof *p);
    int status = p ? op_problem_case(op, p) : cli_failed("out of memory");
    char call[OP_TEXT];

    for (int k = 0; status == CLI_OK && wants_positive(op) && k < p->n_in; k++)
        if (op_problem_has(p, k) && value_is_float(p->in[k].dtype) && !p->range[k])
            p->range[k] = '+';
    if (status == CLI_OK)
        snprintf(buf, n, "tessera run \"%s mesh=2\"",
                 op_problem_call_text(p, p->in, call, sizeof call));
    free(p);
    return status;
}

int op_unknown(const char *command, const char *name)
{
    const char *near = nearest_op(name, NULL);

    if (near)
        return cli_bad("%s: unknown op \"%.40s\"; did you mean %s?", command, name, near);
    return cli_bad("%s: unknown op \"%.40s\"; tessera ops lists them", command, name);
}

/* ---- running ---- */

tsr_status op_problem_run(const op_problem *p, tsr_mesh *mesh, tsr_tensor *const *in,
                          tsr_tensor *out[TSR_OP_OUTPUTS])
{
    char want[TSR_TEXT_LEN];

    memset(out, 0, TSR_OP_OUTPUTS * sizeof(tsr_tensor *));
    if (!p->want_text[0])
        return tsr_op_run_all(mesh, p->op->name, in, p->n_in, p->attr, p->n_attrs, out);
    tsr_placements_text(&p->want, want, sizeof want);
    if (p->op->inplace)
        out[0] =
            tsr_redistribute(tsr_op_run(mesh, p->op->name, in, p->n_in, p->attr, p->n_attrs), want);
    else
        out[0] = tsr_op_run_to(mesh, p->op->name, in, p->n_in, p->attr, p->n_attrs, want);
    return tsr_mesh_status(mesh);
}
