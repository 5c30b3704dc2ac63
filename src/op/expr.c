/* SPDX-License-Identifier: Apache-2.0 */
/* expr.c - reads a composite op given as an expression of other ops, and finds the shapes that
   follow. A part that the text has twice becomes one step. Called when an entry of the op is made,
   when its row is checked, and by schema.c; dispatch/composed.c runs the steps. */
#include "op/expr.h"

#include <stdio.h>
#include <string.h>

#include "base/args.h"
#include "base/text.h"
#include "op/element_attr.h"
#include "op/schema.h"

/* ---- reading ---- */

enum { NAME = 64 }; /* longer ones are no names of ops or attributes */

typedef struct reader {
    const tsr_op *op;
    const tsr_op_table *known;
    const char *p;
    tsr_expr *out;
    tsr_error *err;
} reader;

static tsr_status read_value(reader *r, tsr_expr_value *out);

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

static tsr_status unreadable(const reader *r, const char *at)
{
    return tsr__fail(r->err, TSR_ERR_PARSE,
                     "%s: expr \"%.200s\" cannot be read at \"%.40s\", it should be like "
                     "mul(x, sigmoid(x))",
                     r->op->name, r->op->expr, at);
}

/* What a part says of its own is said of the row that names it. */
static tsr_status hand_on(const reader *r, const tsr_error *why)
{
    return tsr__fail(r->err, why->code, "%s: expr \"%.200s\": %.200s", r->op->name, r->op->expr,
                     why->text);
}

static tsr_status find_part(const reader *r, size_t n, const tsr_op **out)
{
    char name[NAME];

    snprintf(name, sizeof name, "%.*s", (int)n, r->p);
    *out = tsr__op_known(r->known, name);
    if (!*out)
        *out = tsr__op_find(name);
    if (!*out || *out == r->op)
        return tsr__fail(r->err, TSR_ERR_ARG, "%s: expr \"%.200s\": there is no other op \"%s\"",
                         r->op->name, r->op->expr, name);
    if ((*out)->inplace)
        return tsr__fail(r->err, TSR_ERR_ARG,
                         "%s: expr \"%.200s\": %s overwrites its first input, parts cannot",
                         r->op->name, r->op->expr, name);
    return TSR_OK;
}

/* An attribute of the row as the value of one of a part: "dims", "-alpha" or "1/alpha". */
static bool read_own(const reader *r, const char *text, size_t n, int *from,
                     tsr_expr_source *source)
{
    char name[NAME];

    *source = TSR_EXPR_SAME;
    if (n > 1 && text[0] == '-') {
        *source = TSR_EXPR_MINUS;
        text++, n--;
    } else if (n > 2 && strncmp(text, "1/", 2) == 0) {
        *source = TSR_EXPR_OVER;
        text += 2, n -= 2;
    }
    if (word_length(text) != n || n >= sizeof name)
        return false;
    snprintf(name, sizeof name, "%.*s", (int)n, text);
    *from = tsr__attr_index(r->op, name);
    return *from >= 0;
}

static bool is_real(tsr_attr_type type)
{
    return type == TSR_ATTR_FLOAT || type == TSR_ATTR_NUMBER;
}

/* Can the row's attribute `from` stand for this one of the part? An int is also a list of one, and
   a number; choices have the same names. */
static bool is_fitting(const reader *r, int from, const tsr_op *part, int attr,
                       tsr_expr_source source)
{
    const tsr_attr_type own = tsr__attr_type(r->op, from), wanted = tsr__attr_type(part, attr);

    if (own == TSR_ATTR_CHOICE && wanted == TSR_ATTR_CHOICE)
        return source == TSR_EXPR_SAME && tsr__attr_choices_equal(r->op, from, part, attr);
    if (is_real(wanted))
        return is_real(own) || own == TSR_ATTR_INT;
    if (source != TSR_EXPR_SAME)
        return source == TSR_EXPR_MINUS && own == TSR_ATTR_INT &&
               (wanted == TSR_ATTR_INT || wanted == TSR_ATTR_INTS);
    return own == wanted || (own == TSR_ATTR_INT && wanted == TSR_ATTR_INTS);
}

/* dims=dims, keepdim=true: from the name on. */
static tsr_status read_attr(reader *r, size_t name_length, tsr_expr_step *step)
{
    const char *text = r->p, *value;
    char name[NAME];
    size_t n = strcspn(text, ",);");
    tsr_error why = {0};
    tsr_expr_source source;
    int i, from;

    r->p += n;
    while (n > 0 && text[n - 1] == ' ')
        n--;
    value = text + name_length + 1;
    snprintf(name, sizeof name, "%.*s", (int)name_length, text);
    i = tsr__attr_index(step->op, name);
    if (i < 0 || tsr__attr_has_choice(step->op, i, value, n - name_length - 1) ||
        !read_own(r, value, n - name_length - 1, &from, &source)) {
        if (tsr__attr_parse(step->op, text, n, &step->attrs, &why) != TSR_OK)
            return hand_on(r, &why);
        return TSR_OK;
    }
    if (!is_fitting(r, from, step->op, i, source))
        return tsr__fail(r->err, TSR_ERR_ARG,
                         "%s: expr \"%.200s\": %s=%.*s is of another type than %s's %s",
                         r->op->name, r->op->expr, name, (int)(n - name_length - 1), value,
                         step->op->name, name);
    step->attr[i].source = source;
    step->attr[i].from = from;
    step->attr[i].own = tsr__attr_type(r->op, from);
    step->attr[i].wanted = tsr__attr_type(step->op, i);
    return TSR_OK;
}

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
        return tsr__fail(r->err, TSR_ERR_ARG,
                         "%s: expr \"%.200s\": its list of inputs can only be the list of an op",
                         r->op->name, r->op->expr);
    if (step->n_in < 1 || step->n_in > (takes_list ? TSR_MAX_IN : declared)) {
        tsr__inputs_wrong(step->op, step->n_in, &why);
        return hand_on(r, &why);
    }
    for (int k = 0; k < (takes_list ? step->n_in : declared) && !step->list; k++) {
        const tsr_expr_value *v = &step->in[k];
        const bool given = k < step->n_in, optional = !takes_list && tsr__op_optional(step->op, k);

        if (!optional && (!given || (v->step == TSR_EXPR_INPUT && tsr__op_optional(r->op, v->k))))
            return tsr__fail(r->err, TSR_ERR_ARG,
                             "%s: expr \"%.200s\": %s needs its input %d, which %s", r->op->name,
                             r->op->expr, step->op->name, k,
                             given ? "may be absent" : "is missing");
    }
    return TSR_OK;
}

static bool is_same(const tsr_expr_step *a, const tsr_expr_step *b)
{
    bool same = a->op == b->op && a->n_in == b->n_in && a->list == b->list &&
                tsr__attrs_equal(a->attrs.value, b->attrs.value, tsr__attrs_count(a->op), 0);

    for (int k = 0; k < a->n_in && same; k++)
        same = a->in[k].step == b->in[k].step && a->in[k].k == b->in[k].k;
    for (int i = 0; i < TSR_MAX_ATTR && same; i++)
        same = a->attr[i].source == b->attr[i].source && a->attr[i].from == b->attr[i].from;
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
    if (n == 0)
        return unreadable(r, r->p);
    if (r->p[n] == '(')
        return read_part(r, n, out);
    *out = (tsr_expr_value){TSR_EXPR_INPUT, tsr__op_input(r->op, r->p, n)};
    if (out->k < 0)
        return tsr__fail(r->err, TSR_ERR_ARG, "%s: expr \"%.200s\": %.*s is none of its inputs %s",
                         r->op->name, r->op->expr, (int)n, r->p, r->op->inputs);
    r->p += n;
    skip(r);
    return TSR_OK;
}

/* Outputs, one after the other. */
static tsr_status read_all(reader *r)
{
    tsr_status st;

    do {
        tsr_expr_value *out = &r->out->out[r->out->n_out];

        if (r->out->n_out == TSR_MAX_OUT)
            return tsr__fail(r->err, TSR_ERR_ARG, "%s: expr \"%.200s\" has more than %d outputs",
                             r->op->name, r->op->expr, TSR_MAX_OUT);
        TSR_TRY(read_value(r, out));
        if (out->step == TSR_EXPR_INPUT)
            return tsr__fail(r->err, TSR_ERR_ARG,
                             "%s: expr \"%.200s\": output %d is an input, it should be an op",
                             r->op->name, r->op->expr, r->out->n_out);
        r->out->n_out++;
    } while (take(r, ';'));
    if (*r->p)
        return unreadable(r, r->p);
done:
    return st;
}

static void find_last(tsr_expr *m)
{
    for (int i = 0; i < m->n; i++) {
        m->step[i].last = i;
        for (int k = 0; k < m->step[i].n_in; k++)
            if (m->step[i].in[k].step != TSR_EXPR_INPUT)
                m->step[m->step[i].in[k].step].last = i;
    }
    for (int k = 0; k < m->n_out; k++)
        m->step[m->out[k].step].last = TSR_EXPR_STEPS;
}

tsr_status tsr__expr_read(tsr_heap *heap, const tsr_op_table *known, const tsr_op *op,
                          tsr_expr **out, tsr_error *err)
{
    reader r = {.op = op, .known = known, .p = op->expr, .err = err};
    int parts = 0;
    tsr_status st;

    for (const char *p = op->expr; *p; p++)
        parts += *p == '(';
    if (parts > TSR_EXPR_STEPS)
        return tsr__fail(err, TSR_ERR_ARG, "%s: expr \"%.200s\" has %d parts, at most %d work",
                         op->name, op->expr, parts, TSR_EXPR_STEPS);
    TSR_TRY(
        tsr__alloc(heap, 1, sizeof *r.out + (size_t)parts * sizeof r.out->step[0], &r.out, err));
    TSR_TRY(read_all(&r));
    find_last(r.out);
    for (int k = 0; k < tsr__op_inputs(op); k++)
        if (!tsr__op_optional(op, k))
            r.out->needed |= 1u << k;
    *out = r.out;
    r.out = NULL;
done:
    tsr__free(heap, r.out);
    return st;
}

/* ---- for a call ---- */

/* A number of the part: f, or the row's attribute itself if it may be more exact than that. */
static tsr_attr number_for(const tsr_expr_step *step, int i, const tsr_attr *from, double f)
{
    if (!tsr__attr_is_element(step->op, i))
        return tsr__number(f);
    return step->attr[i].source == TSR_EXPR_SAME && step->attr[i].own == TSR_ATTR_NUMBER &&
                   from->i[TSR_ELEMENT_IS_INTEGER]
               ? *from
               : tsr__element(f);
}

void tsr__expr_attrs(const tsr_expr_step *step, const tsr_attrs *own, tsr_attrs *out)
{
    const int n = tsr__attrs_count(step->op);

    *out = step->attrs;
    for (int i = 0; i < n; i++) {
        const tsr_attr *from = &own->value[step->attr[i].from];
        double f = step->attr[i].own == TSR_ATTR_INT ? (double)from->i[0] : from->f;

        if (step->attr[i].source == TSR_EXPR_GIVEN ||
            from->n < 0) /* left out: as the part has it */
            continue;
        if (step->attr[i].source == TSR_EXPR_OVER)
            f = 1 / f;
        if (step->attr[i].source == TSR_EXPR_MINUS)
            f = -f;
        out->value[i] = *from;
        if (step->attr[i].wanted == TSR_ATTR_NUMBER)
            out->value[i] = number_for(step, i, from, f);
        else if (step->attr[i].wanted == TSR_ATTR_FLOAT)
            out->value[i] = (tsr_attr){.n = 1, .f = f};
        else if (step->attr[i].source == TSR_EXPR_MINUS)
            out->value[i].i[0] = -from->i[0];
    }
}

bool tsr_op_has_grad(const tsr_op *op)
{
    TSR_NEED(false, NULL, op);

    tsr_heap heap = {0};
    tsr_expr *m = NULL;
    bool known = op->grad != NULL;

    if (!known && op->expr && tsr__expr_read(&heap, NULL, op, &m, NULL) == TSR_OK) {
        known = true;
        for (int i = 0; i < m->n; i++)
            known = known && tsr_op_has_grad(m->step[i].op);
    }
    tsr__free(&heap, m);
    return known;
}

static const char NAME_CHARS[] = "abcdefghijklmnopqrstuvwxyz0123456789_";

/* Does the sentence, another rank's perhaps, have "name:" in it? */
static bool names(const char *sentence, const char *name)
{
    const size_t n = strlen(name);
    const char *at = sentence;

    while ((at = strstr(at, name)) &&
           (at[n] != ':' || (at > sentence && strchr(NAME_CHARS, at[-1]))))
        at++;
    return at != NULL;
}

void tsr__part_error(const tsr_op *op, const char *inputs, tsr_error *err)
{
    static const char IN_PART[] = ", in its part ";
    char part[64] = "", text[TSR_ERROR_LEN];
    const char *why = err->text;
    char *nested = strstr(err->text, IN_PART);
    size_t n = strspn(why, NAME_CHARS);

    if (names(err->text, op->name))
        return;
    if (n > 0 && why[n] == ':') { /* "sin: why" */
        snprintf(part, sizeof part, "%.*s", (int)n, why);
        why += n + 1 + (why[n + 1] == ' ');
    }
    if (nested) { /* the part is a composite op itself: its part says more */
        *nested = 0;
        nested += sizeof IN_PART - 1;
        snprintf(part, sizeof part, "%.*s", (int)strcspn(nested, " "), nested);
    }
    snprintf(text, sizeof text, "%s: %.300s%s%s%s%s %s", op->name, why, part[0] ? IN_PART : ", in ",
             part, part[0] ? " of " : "", op->name, inputs);
    memcpy(err->text, text, sizeof text);
}

/* The shapes of a step, from those of the call and of the steps before. */
static tsr_status step_shapes(const tsr_schema *call, const tsr_expr_step *step,
                              const tsr_schema *before, tsr_schema *out, tsr_error *err)
{
    *out = (tsr_schema){.op = step->op, .n_in = tsr__expr_inputs(step, call->n_in)};
    tsr__expr_attrs(step, &call->attrs, &out->attrs);
    for (int k = 0; k < out->n_in; k++) {
        const tsr_expr_value v = tsr__expr_input(step, k);

        if (v.step == TSR_EXPR_INPUT) {
            out->in[k] = call->in[v.k];
            continue;
        }
        if (before[v.step].n_out == 0) /* not known */
            return TSR_OK;
        out->in[k] = (tsr_spec){.dtype = before[v.step].out_dtype[v.k],
                                .shape = before[v.step].out_shape[v.k],
                                .mesh = call->in[0].mesh};
        if (!tsr__schema_gives(&before[v.step], v.k))
            return tsr__fail(err, TSR_ERR_ARG, "%s: its part %s has no output %d", call->op->name,
                             before[v.step].op->name, v.k);
    }
    return tsr__schema_check(out, err);
}

tsr_status tsr__expr_shapes(tsr_schema *s, tsr_error *err)
{
    tsr_heap heap = {0};
    tsr_expr *m = NULL;
    tsr_schema *made = NULL;
    char text[TSR_ERROR_LEN];
    tsr_error why = {0};
    tsr_status st = TSR_OK;

    s->n_out = 0;
    if (tsr__expr_read(&heap, NULL, s->op, &m, NULL) != TSR_OK)
        return TSR_OK; /* its row is wrong, or names ops that a program registered */
    TSR_TRY(tsr__alloc(&heap, m->n, sizeof *made, &made, err));
    for (int i = 0; i < m->n; i++)
        TSR_TRY(step_shapes(s, &m->step[i], made, &made[i], &why));
    for (int k = 0; k < m->n_out; k++) {
        const tsr_schema *from = &made[m->out[k].step];

        if (from->n_out == 0)
            goto done;
        s->out_dtype[k] = from->out_dtype[m->out[k].k];
        s->out_shape[k] = from->out_shape[m->out[k].k];
    }
    s->n_out = m->n_out;
done:
    if (why.code != TSR_OK) {
        tsr__part_error(s->op, tsr_schema_text(s, text, sizeof text), &why);
        tsr__fail(err, st, "%s", why.text);
    }
    tsr__free(&heap, made);
    tsr__free(&heap, m);
    return st;
}
