/* SPDX-License-Identifier: Apache-2.0 */
/* expr_call.c - an op given as an expression of others, for one call: attributes of its steps, the
   shapes that follow, whose errors they are. Called by schema.c and dispatch/. */
#include "op/expr.h"

#include <stdio.h>
#include <string.h>

#include "base/args.h"
#include "op/element_attr.h"
#include "op/schema.h"

/* ---- attributes ---- */

/* A number of the row as one of the part. */
static tsr_attr number_for(const tsr_expr_step *step, int i, const tsr_attr *from)
{
    const tsr_expr_attr *a = &step->attr[i];
    double f = a->own == TSR_ATTR_INT ? (double)from->i[0] : from->f;

    if (a->source == TSR_EXPR_OVER)
        f = 1 / f;
    if (a->source == TSR_EXPR_MINUS)
        f = -f;
    if (a->wanted == TSR_ATTR_FLOAT)
        return (tsr_attr){.n = 1, .f = f};
    return tsr__attr_is_element(step->op, i) ? tsr__element(f) : tsr__number(f);
}

static tsr_attr from_own(const tsr_expr_step *step, int i, const tsr_attr *from)
{
    const tsr_expr_attr *a = &step->attr[i];
    tsr_attr value = *from;

    if (a->copied)
        return value;
    if (a->wanted == TSR_ATTR_FLOAT || a->wanted == TSR_ATTR_NUMBER)
        return number_for(step, i, from);
    for (int k = 0; k < value.n && a->source == TSR_EXPR_MINUS; k++)
        value.i[k] = (int64_t)-(uint64_t)value.i[k]; /* the least one is itself */
    return value;
}

/* Sizes of a shape, all from one on, or one. */
static tsr_attr from_shape(const tsr_expr_attr *a, const tsr_expr_facts *facts)
{
    const tsr_shape *shape =
        a->of.step == TSR_EXPR_INPUT ? facts->in[a->of.k] : facts->out[a->of.k];
    const int ndim = shape ? shape->ndim : 0;
    int64_t begin = a->from, end = a->source == TSR_EXPR_SHAPE ? ndim : begin + 1;
    tsr_attr value = {0};

    if (a->source == TSR_EXPR_SIZE_AT) {
        begin = facts->attrs->value[a->from].i[0];
        begin += begin < 0 ? ndim : 0;
        end = begin + 1;
    }
    for (int64_t d = begin; d >= 0 && d < end && d < ndim; d++)
        value.i[value.n++] = shape->size[d];
    return value;
}

static tsr_attr wanted_results(const tsr_expr *expr, const tsr_expr_step *step,
                               const tsr_expr_facts *facts)
{
    tsr_attr value = {.n = step->results};

    for (int k = 0; k < step->results; k++)
        value.i[k] = facts->wanted[expr->out[step->result + k].of];
    return value;
}

void tsr__expr_attrs(const tsr_expr *expr, const tsr_expr_step *step, const tsr_expr_facts *facts,
                     tsr_attrs *out)
{
    const int n = tsr__attrs_count(step->op);

    *out = step->attrs;
    for (int i = 0; i < n; i++) {
        const tsr_expr_attr *a = &step->attr[i];
        const tsr_attr *own = facts->attrs->value;

        switch (a->source) {
        case TSR_EXPR_GIVEN: break;
        case TSR_EXPR_SAME:
        case TSR_EXPR_MINUS:
        case TSR_EXPR_OVER:
            if (own[a->from].n >= 0) /* left out: as the part has it */
                out->value[i] = from_own(step, i, &own[a->from]);
            break;
        case TSR_EXPR_SHAPE:
        case TSR_EXPR_SIZE:
        case TSR_EXPR_SIZE_AT: out->value[i] = from_shape(a, facts); break;
        case TSR_EXPR_WANTED: out->value[i] = wanted_results(expr, step, facts); break;
        }
    }
}

/* ---- gradients, errors ---- */

bool tsr_op_has_grad(const tsr_op *op)
{
    TSR_NEED(false, NULL, op);

    tsr_heap heap = {0};
    tsr_expr *m = NULL;
    bool known = op->grad || op->grad_expr;

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

/* ---- shapes ---- */

/* The shapes of a step, from those of the call and of the steps before. */
static tsr_status step_shapes(const tsr_schema *call, const tsr_expr *expr, int i, tsr_schema *made,
                              tsr_error *err)
{
    const tsr_expr_step *step = &expr->step[i];
    const tsr_schema *before = made;
    tsr_schema *out = &made[i];
    tsr_expr_facts facts = {.attrs = &call->attrs};

    *out = (tsr_schema){.op = step->op, .n_in = tsr__expr_inputs(step, call->n_in)};
    for (int k = 0; k < call->n_in; k++)
        facts.in[k] = tsr__schema_has(call, k) ? &call->in[k].shape : NULL;
    tsr__expr_attrs(expr, step, &facts, &out->attrs);
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
        TSR_TRY(step_shapes(s, m, i, made, &why));
    for (int k = 0; k < m->n_out; k++) {
        const tsr_schema *from = &made[m->out[k].value.step];

        if (from->n_out == 0)
            goto done;
        s->out_dtype[k] = from->out_dtype[m->out[k].value.k];
        s->out_shape[k] = from->out_shape[m->out[k].value.k];
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
