/* SPDX-License-Identifier: Apache-2.0 */
/* expr.c - reads ops given as expressions of others: composite ops, and gradients. A part that the
   text has twice becomes one step. Called when an entry of the op is made, when its row is checked,
   and by expr_call.c; dispatch/expr_run.c runs the steps. */
#include "op/expr.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "op/schema.h"

enum { NAME = 64 }; /* longer ones are no names of ops or attributes */

typedef struct reader {
    const tsr_op *op;
    const tsr_op_table *known;
    const char *slot, *text; /* of the row */
    bool grad;               /* it is that of a gradient */
    const char *p;
    tsr_expr *out;
    int first, n; /* gradients: the results that the statement at p gives */
    tsr_error *err;
} reader;

static tsr_status read_value(reader *r, tsr_expr_value *out);

/* ---- words ---- */

static void skip(reader *r)
{
    while (*r->p == ' ' || *r->p == '\n')
        r->p++;
}

static bool take(reader *r, char c)
{
    skip(r);
    if (*r->p != c)
        return false;
    r->p++;
    skip(r);
    return true;
}

static size_t word_length(const char *p)
{
    size_t n = 0;

    while (tsr__is_word(p[n]))
        n++;
    return tsr__is_letter(p[0]) ? n : 0;
}

static bool word_is(const char *p, size_t n, const char *word)
{
    return strlen(word) == n && strncmp(p, word, n) == 0;
}

/* ---- errors ---- */

__attribute__((format(printf, 3, 4))) static tsr_status wrong(const reader *r, tsr_status code,
                                                              const char *format, ...)
{
    char why[TSR_ERROR_LEN];
    va_list args;

    va_start(args, format);
    tsr__vformat(why, sizeof why, format, args);
    va_end(args);
    return tsr__fail(r->err, code, "%s: %s \"%.200s\"%s", r->op->name, r->slot, r->text, why);
}

static tsr_status unreadable(const reader *r, const char *at)
{
    return wrong(r, TSR_ERR_PARSE, " cannot be read at \"%.40s\", it should be like %s", at,
                 r->grad ? "a: mul(g, b); b: mul(g, a)" : "mul(x, sigmoid(x))");
}

/* What a part says of its own is said of the row that names it. */
static tsr_status hand_on(const reader *r, const tsr_error *why)
{
    return wrong(r, why->code, ": %.200s", why->text);
}

/* ---- values ---- */

static tsr_status find_part(const reader *r, size_t n, const tsr_op **out)
{
    char name[NAME];

    snprintf(name, sizeof name, "%.*s", (int)n, r->p);
    *out = tsr__op_known(r->known, name);
    if (!*out)
        *out = tsr__op_find(name);
    if (!*out && r->grad && strcmp(name, r->op->name) == 0)
        *out = r->op;
    if (*out == r->op && !r->grad)
        return wrong(r, TSR_ERR_ARG, ": %s is the op itself", name);
    if (!*out)
        return wrong(r, TSR_ERR_ARG, ": unknown op \"%s\"", name);
    if ((*out)->inplace)
        return wrong(r, TSR_ERR_ARG, ": %s works in place, which an expression cannot contain",
                     name);
    return TSR_OK;
}

/* An input of the row, and in gradients an output or the gradient of one, by its name. */
static bool find_tensor(const reader *r, const char *name, size_t n, tsr_expr_value *out)
{
    *out = (tsr_expr_value){TSR_EXPR_INPUT, tsr__op_input(r->op, name, n)};
    if (out->k < 0 && r->grad)
        *out = (tsr_expr_value){TSR_EXPR_OUTPUT, tsr__op_output("out", name, n)};
    if (out->k < 0 && r->grad)
        *out = (tsr_expr_value){TSR_EXPR_GRAD, tsr__op_output("g", name, n)};
    if (out->step != TSR_EXPR_INPUT && out->k >= r->out->n_named)
        r->out->n_named = out->k + 1;
    return out->k >= 0;
}

static tsr_status read_tensor(reader *r, tsr_expr_value *out)
{
    const size_t n = word_length(r->p);

    if (n == 0)
        return unreadable(r, r->p);
    if (!find_tensor(r, r->p, n, out))
        return wrong(r, TSR_ERR_ARG, ": %.*s is not one of its inputs %s%s", (int)n, r->p,
                     r->op->inputs, r->grad ? ", nor out, out1, ... or g, g1, ..." : "");
    r->p += n;
    skip(r);
    return TSR_OK;
}

/* zeros(x), from the bracket on. */
static tsr_status read_zeros(reader *r, tsr_expr_value *out)
{
    tsr_status st;

    take(r, '(');
    TSR_TRY(read_tensor(r, out));
    if (out->step != TSR_EXPR_INPUT || !take(r, ')'))
        return unreadable(r, r->p);
    out->step = TSR_EXPR_ZEROS;
done:
    return st;
}

/* ---- attributes of parts ---- */

/* An attribute of the row as the value of one of a part: "dims", "-alpha" or "1/alpha". */
static bool read_own(const reader *r, const char *text, size_t n, tsr_expr_attr *out)
{
    char name[NAME];

    out->source = TSR_EXPR_SAME;
    if (n > 1 && text[0] == '-') {
        out->source = TSR_EXPR_MINUS;
        text++, n--;
    } else if (n > 2 && strncmp(text, "1/", 2) == 0) {
        out->source = TSR_EXPR_OVER;
        text += 2, n -= 2;
    }
    if (word_length(text) != n || n >= sizeof name)
        return false;
    snprintf(name, sizeof name, "%.*s", (int)n, text);
    out->from = tsr__attr_index(r->op, name);
    if (out->from >= 0)
        out->own = tsr__attr_type(r->op, out->from);
    return out->from >= 0;
}

/* Sizes of an input or output: "x.shape", "x.shape[2:]", "x.shape[0]" or "x.shape[dim]". */
static bool read_shape(const reader *r, const char *text, size_t n, tsr_expr_attr *out)
{
    const size_t word = word_length(text);
    const char *p = text + word, *end = text + n;
    char name[NAME];
    size_t length;

    if (n < word + 6 || strncmp(p, ".shape", 6) != 0 || !find_tensor(r, text, word, &out->of) ||
        out->of.step == TSR_EXPR_GRAD)
        return false;
    out->source = TSR_EXPR_SHAPE;
    out->from = 0;
    p += 6;
    if (p == end)
        return true;
    if (*p != '[' || end[-1] != ']' || end - p < 3)
        return false;
    p++, end--;
    length = word_length(p);
    if (length > 0) {
        snprintf(name, sizeof name, "%.*s", (int)length, p);
        out->source = TSR_EXPR_SIZE_AT;
        out->from = tsr__attr_index(r->op, name);
        return p + length == end && out->from >= 0 &&
               tsr__attr_type(r->op, out->from) == TSR_ATTR_INT;
    }
    out->from = *p - '0';
    if (end - p == 1)
        out->source = TSR_EXPR_SIZE;
    return out->from >= 0 && out->from < TSR_MAX_DIM &&
           (end - p == 1 || (end - p == 2 && p[1] == ':'));
}

/* From where it comes if the text does not say the value itself. */
static bool read_source(const reader *r, const char *text, size_t n, tsr_expr_attr *out)
{
    *out = (tsr_expr_attr){0};
    if (read_own(r, text, n, out) || read_shape(r, text, n, out))
        return true;
    out->source = TSR_EXPR_WANTED;
    return r->grad && word_is(text, n, "wanted");
}

static bool is_real(tsr_attr_type type)
{
    return type == TSR_ATTR_FLOAT || type == TSR_ATTR_NUMBER;
}

/* Can this stand for attribute `i` of the part? An int is also a list of one, and a number; choices
   have the same names. */
static bool is_fitting(const tsr_expr_attr *a)
{
    const bool ints = a->wanted == TSR_ATTR_INTS, integer = ints || a->wanted == TSR_ATTR_INT;

    switch (a->source) {
    case TSR_EXPR_SHAPE:
    case TSR_EXPR_WANTED: return ints;
    case TSR_EXPR_SIZE:
    case TSR_EXPR_SIZE_AT: return integer;
    default: break;
    }
    if (a->copied)
        return true;
    if (a->own == TSR_ATTR_CHOICE || a->wanted == TSR_ATTR_CHOICE)
        return false;
    if (is_real(a->wanted))
        return is_real(a->own) || a->own == TSR_ATTR_INT;
    if (a->source == TSR_EXPR_MINUS)
        return integer && (a->own == TSR_ATTR_INT || (ints && a->own == TSR_ATTR_INTS));
    return a->source == TSR_EXPR_SAME && a->own == TSR_ATTR_INT && ints;
}

/* Attribute i of the part comes from there, if it can. */
static bool set_source(const reader *r, tsr_expr_step *step, int i, const tsr_expr_attr *source)
{
    tsr_expr_attr *a = &step->attr[i];

    *a = *source;
    a->wanted = tsr__attr_type(step->op, i);
    a->copied = a->source == TSR_EXPR_SAME && tsr__attr_types_equal(r->op, a->from, step->op, i);
    step->own = true;
    if (a->source == TSR_EXPR_WANTED) {
        step->result = r->first;
        step->results = r->n;
    }
    return is_fitting(a);
}

/* The length of the text from name to value; a value in quotes may have commas. */
static size_t attr_length(const char *text, size_t name_length)
{
    const char *value = text + name_length + 1, *end;

    if (*value == '\'' && (end = strchr(value + 1, '\'')))
        return (size_t)(end + 1 - text);
    return strcspn(text, ",);");
}

/* What the text itself says. */
static tsr_status read_given(const reader *r, const char *name, const char *value, size_t n,
                             tsr_expr_step *step)
{
    char text[NAME + TSR_ATTR_TEXT + 2];
    tsr_error why = {0};

    if (n > 1 && value[0] == '\'' && value[n - 1] == '\'')
        value++, n -= 2;
    n = (size_t)snprintf(text, sizeof text, "%s=%.*s", name, (int)n, value);
    if (n >= sizeof text)
        return unreadable(r, value);
    if (tsr__attr_parse(step->op, text, n, &step->attrs, &why) != TSR_OK)
        return hand_on(r, &why);
    return TSR_OK;
}

/* dims=dims, keepdim=true: from the name on. */
static tsr_status read_attr(reader *r, size_t name_length, tsr_expr_step *step)
{
    const char *text = r->p, *value = text + name_length + 1;
    size_t n = attr_length(text, name_length);
    tsr_expr_attr source;
    char name[NAME];
    int i;

    r->p += n;
    skip(r);
    while (n > 0 && text[n - 1] == ' ')
        n--;
    n -= name_length + 1;
    snprintf(name, sizeof name, "%.*s", (int)name_length, text);
    i = tsr__attr_index(step->op, name);
    if (i < 0 || tsr__attr_has_choice(step->op, i, value, n) || !read_source(r, value, n, &source))
        return read_given(r, name, value, n, step);
    if (!set_source(r, step, i, &source))
        return wrong(r, TSR_ERR_ARG, ": %s=%.*s is of another type than %s's %s", name, (int)n,
                     value, step->op->name, name);
    return TSR_OK;
}

/* ...: attributes that the row and the part have by the same name and type. */
static void read_all_own(const reader *r, tsr_expr_step *step)
{
    for (int i = 0; i < tsr__attrs_count(step->op); i++) {
        char name[NAME];
        int length, from;
        const char *text = tsr__attr_name(step->op, i, &length);

        snprintf(name, sizeof name, "%.*s", length, text);
        from = tsr__attr_index(r->op, name);
        if (from >= 0 && tsr__attr_types_equal(r->op, from, step->op, i))
            set_source(r, step, i,
                       &(tsr_expr_attr){.source = TSR_EXPR_SAME,
                                        .from = from,
                                        .own = tsr__attr_type(r->op, from)});
    }
}

/* ---- parts ---- */

/* Everything between the brackets of a part. */
static tsr_status read_arguments(reader *r, tsr_expr_step *step)
{
    tsr_status st;

    do {
        size_t n = word_length(r->p);
        tsr_expr_value value;

        if (n > 0 && r->p[n] == '=') {
            TSR_TRY(read_attr(r, n, step));
            continue;
        }
        if (strncmp(r->p, "...", 3) == 0) {
            read_all_own(r, step);
            r->p += 3;
            continue;
        }
        TSR_TRY(read_value(r, &value));
        if (step->n_in == TSR_MAX_IN)
            return tsr__inputs_wrong(step->op, step->n_in + 1, r->err);
        if (value.step == TSR_EXPR_INPUT && tsr__op_takes_list(r->op))
            step->list = true;
        step->in[step->n_in++] = value;
    } while (take(r, ','));
    st = take(r, ')') ? TSR_OK : unreadable(r, r->p);
done:
    return st;
}

/* As many inputs as the part takes, none absent that it needs. */
static tsr_status check_inputs(const reader *r, tsr_expr_step *step)
{
    const bool takes_list = tsr__op_takes_list(step->op);
    const int declared = tsr__op_inputs(step->op);
    tsr_error why = {0};

    if (step->list && (!takes_list || step->n_in != 1))
        return wrong(r, TSR_ERR_ARG, ": its list of inputs can only be the list of an op");
    if (step->n_in < 1 || step->n_in > (takes_list ? TSR_MAX_IN : declared)) {
        tsr__inputs_wrong(step->op, step->n_in, &why);
        return hand_on(r, &why);
    }
    for (int k = 0; k < (takes_list ? step->n_in : declared) && !step->list; k++) {
        const tsr_expr_value *v = &step->in[k];
        const bool given = k < step->n_in, optional = !takes_list && tsr__op_optional(step->op, k);

        if (!optional && (!given || (v->step == TSR_EXPR_INPUT && tsr__op_optional(r->op, v->k))))
            return wrong(r, TSR_ERR_ARG, ": %s needs its input %d, which %s", step->op->name, k,
                         given ? "may be absent" : "is missing");
    }
    return TSR_OK;
}

static bool is_same(const tsr_expr_step *a, const tsr_expr_step *b)
{
    bool same = a->op == b->op && a->n_in == b->n_in && a->list == b->list &&
                a->result == b->result && a->results == b->results &&
                tsr__attrs_equal(a->attrs.value, b->attrs.value, tsr__attrs_count(a->op), 0);

    for (int k = 0; k < a->n_in && same; k++)
        same = a->in[k].step == b->in[k].step && a->in[k].k == b->in[k].k;
    for (int i = 0; i < TSR_MAX_ATTR && same; i++)
        same = a->attr[i].source == b->attr[i].source && a->attr[i].from == b->attr[i].from &&
               a->attr[i].of.step == b->attr[i].of.step && a->attr[i].of.k == b->attr[i].of.k;
    return same;
}

/* op(...) or op(...)[1], from the name on. */
static tsr_status read_part(reader *r, size_t name_length, tsr_expr_value *out)
{
    tsr_expr_step step = {0};
    const char *at;
    int i = 0;
    tsr_status st;

    TSR_TRY(find_part(r, name_length, &step.op));
    TSR_TRY(tsr__attrs_default(step.op, &step.attrs, r->err));
    r->p += name_length;
    take(r, '(');
    TSR_TRY(read_arguments(r, &step));
    TSR_TRY(check_inputs(r, &step));
    *out = (tsr_expr_value){0};
    at = r->p;
    if (take(r, '[')) {
        out->k = *r->p - '0';
        if (out->k < 0 || out->k >= TSR_MAX_OUT || r->p[1] != ']')
            return unreadable(r, at);
        r->p += 2;
    }
    while (i < r->out->n && !is_same(&r->out->step[i], &step))
        i++;
    if (i == r->out->n)
        r->out->step[r->out->n++] = step;
    out->step = i;
done:
    return st;
}

static tsr_status read_value(reader *r, tsr_expr_value *out)
{
    size_t n;

    skip(r);
    n = word_length(r->p);
    if (n == 0 || r->p[n] != '(')
        return read_tensor(r, out);
    if (r->grad && word_is(r->p, n, "zeros")) {
        r->p += n;
        return read_zeros(r, out);
    }
    return read_part(r, n, out);
}

/* ---- whole texts ---- */

/* Outputs, one after the other. */
static tsr_status read_outputs(reader *r)
{
    tsr_status st;

    do {
        tsr_expr_value *out = &r->out->out[r->out->n_out].value;

        if (r->out->n_out == TSR_MAX_OUT)
            return wrong(r, TSR_ERR_ARG, " has more than %d outputs", TSR_MAX_OUT);
        TSR_TRY(read_value(r, out));
        if (out->step == TSR_EXPR_INPUT)
            return wrong(r, TSR_ERR_ARG, ": output %d is an input, it should be an op",
                         r->out->n_out);
        r->out->n_out++;
    } while (take(r, ';'));
    if (*r->p)
        return unreadable(r, r->p);
done:
    return st;
}

/* "x, weight:": the inputs that the next value has gradients of, in the order of its outputs. */
static tsr_status read_names(reader *r)
{
    tsr_expr *e = r->out;
    tsr_expr_value v;
    tsr_status st;

    r->first = e->n_out;
    do {
        const char *at = r->p;

        TSR_TRY(read_tensor(r, &v));
        if (v.step != TSR_EXPR_INPUT)
            return unreadable(r, at);
        for (int i = 0; i < e->n_out; i++)
            if (e->out[i].of == v.k)
                return wrong(r, TSR_ERR_ARG, " has two gradients of one input, at \"%.40s\"", at);
        e->out[e->n_out++].of = v.k;
    } while (take(r, ','));
    r->n = e->n_out - r->first;
    st = take(r, ':') ? TSR_OK : unreadable(r, r->p);
done:
    return st;
}

/* Gradients of inputs, one statement after the other. */
static tsr_status read_gradients(reader *r)
{
    tsr_status st;

    if (tsr__op_takes_list(r->op))
        return wrong(r, TSR_ERR_ARG, ": inputs that are a list have no names");
    for (int k = 0; k < tsr__op_inputs(r->op); k++) {
        size_t n;
        const char *name = tsr__op_input_name(r->op, k, &n);

        if (tsr__op_output("out", name, n) >= 0 || tsr__op_output("g", name, n) >= 0)
            return wrong(r, TSR_ERR_ARG, ": the input %.*s has the name of an output or gradient",
                         (int)n, name);
    }
    skip(r);
    do {
        tsr_expr_value v;

        TSR_TRY(read_names(r));
        TSR_TRY(read_value(r, &v));
        if (v.step < 0 && r->n > 1)
            return wrong(r, TSR_ERR_ARG, ": only an op has several gradients");
        for (int i = 0; i < r->n; i++)
            r->out->out[r->first + i].value = (tsr_expr_value){v.step, v.k + i};
    } while (take(r, ';'));
    if (*r->p)
        return unreadable(r, r->p);
done:
    return st;
}

/* Which step uses a value last, what values of the call are read, and what each result needs. */
static void find_uses(tsr_expr *e)
{
    uint64_t needs[TSR_EXPR_STEPS];

    for (int i = 0; i < e->n; i++) {
        tsr_expr_step *step = &e->step[i];

        step->last = i;
        needs[i] = (uint64_t)1 << i;
        for (int k = 0; k < step->n_in; k++) {
            const tsr_expr_value v = step->in[k];

            if (v.step == TSR_EXPR_INPUT)
                e->reads_in |= 1u << v.k;
            if (v.step == TSR_EXPR_OUTPUT)
                e->reads_out |= 1u << v.k;
            if (v.step >= 0) {
                e->step[v.step].last = i;
                needs[i] |= needs[v.step];
            }
        }
    }
    for (int k = 0; k < e->n_out; k++)
        if (e->out[k].value.step >= 0) {
            e->out[k].steps = needs[e->out[k].value.step];
            e->step[e->out[k].value.step].last = TSR_EXPR_STEPS;
        }
}

static tsr_status read_text(tsr_heap *heap, reader *r, tsr_expr **out)
{
    int parts = 0;
    tsr_status st;

    r->p = r->text;
    for (const char *p = r->text; *p; p++)
        parts += *p == '(';
    if (parts > TSR_EXPR_STEPS)
        return wrong(r, TSR_ERR_ARG, " has %d parts, at most %d are supported", parts,
                     TSR_EXPR_STEPS);
    TSR_TRY(tsr__alloc(heap, 1, sizeof *r->out + (size_t)parts * sizeof r->out->step[0], &r->out,
                       r->err));
    TSR_TRY(r->grad ? read_gradients(r) : read_outputs(r));
    find_uses(r->out);
    for (int k = 0; k < tsr__op_inputs(r->op); k++)
        if (!tsr__op_optional(r->op, k))
            r->out->needed |= 1u << k;
    *out = r->out;
    r->out = NULL;
done:
    tsr__free(heap, r->out);
    return st;
}

tsr_status tsr__expr_read(tsr_heap *heap, const tsr_op_table *known, const tsr_op *op,
                          tsr_expr **out, tsr_error *err)
{
    reader r = {.op = op, .known = known, .slot = "expr", .text = op->expr, .err = err};

    return read_text(heap, &r, out);
}

tsr_status tsr__expr_read_grad(tsr_heap *heap, const tsr_op_table *known, const tsr_op *op,
                               tsr_expr **out, tsr_error *err)
{
    reader r = {.op = op,
                .known = known,
                .slot = "grad_expr",
                .text = op->grad_expr,
                .grad = true,
                .err = err};

    return read_text(heap, &r, out);
}
