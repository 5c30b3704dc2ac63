/* SPDX-License-Identifier: Apache-2.0 */
/* schema.c - a call as planning sees it: are there as many inputs as the row asks for, are they on
   one mesh, and what shape follows. Also whether attributes are equal, for the plan cache. */
#include "op/schema.h"

#include <string.h>

#include "base/args.h"
#include "op/expr.h"

int tsr__op_inputs(const tsr_op *op)
{
    int n = 1;
    for (const char *p = op->inputs; *p; p++)
        n += *p == ',';
    return n;
}

/* The text of the k-th input in the row, with ? or * behind it. */
static const char *input_text(const tsr_op *op, int k, size_t *n)
{
    const char *p = op->inputs;

    while (k-- > 0)
        p += strcspn(p, ",") + 1;
    *n = strcspn(p, ",");
    return p;
}

bool tsr__op_takes_list(const tsr_op *op)
{
    return strchr(op->inputs, '*') != NULL;
}

int tsr__op_input(const tsr_op *op, const char *name, size_t n)
{
    for (int k = 0; k < tsr__op_inputs(op); k++) {
        size_t len;
        const char *p = tsr__op_input_name(op, k, &len);

        if (len == n && strncmp(p, name, n) == 0)
            return k;
    }
    return -1;
}

bool tsr__op_optional(const tsr_op *op, int k)
{
    size_t n;
    const char *p = input_text(op, k, &n);

    return p[n - 1] == '?';
}

const char *tsr__op_input_name(const tsr_op *op, int k, size_t *n)
{
    const char *p = input_text(op, k, n);

    *n -= strchr("?*", p[*n - 1]) != NULL;
    return p;
}

int tsr__op_output(const char *what, const char *name, size_t n)
{
    const size_t length = strlen(what);
    const int k = n == length + 1 ? name[length] - '0' : 0;

    return (n == length || (n == length + 1 && k >= 0)) && strncmp(name, what, length) == 0 &&
                   k < TSR_MAX_OUT
               ? k
               : -1;
}

tsr_status tsr__op_saves(const tsr_op *op, unsigned *in, unsigned *out, tsr_error *err)
{
    const bool any = op->grad != tsr_grad_none;
    size_t n;

    *in = *out = any && !op->saves ? ~0U : 0;
    for (const char *p = op->saves ? op->saves : ""; *p; p += n + (p[n] == ',')) {
        n = strcspn(p, ",");
        const int k = tsr__op_input(op, p, n), o = tsr__op_output("out", p, n);

        if (k < 0 && o < 0)
            return tsr__fail(
                err, TSR_ERR_ARG,
                "%s: saves \"%s\" names %.*s, which is neither an input nor out, out1, ...",
                op->name, op->saves, (int)n, p);
        if (any && k >= 0) /* a list, from its first on */
            *in |= tsr__op_takes_list(op) ? ~0U << k : 1U << k;
        else if (any)
            *out |= 1U << o;
    }
    return TSR_OK;
}

tsr_status tsr__inputs_wrong(const tsr_op *op, int n, tsr_error *err)
{
    if (tsr__op_takes_list(op))
        return tsr__fail(err, TSR_ERR_ARG, "%s: takes 1 to %d inputs, not %d", op->name, TSR_MAX_IN,
                         n);
    return tsr__fail(err, TSR_ERR_ARG, "%s: takes inputs %s, but %d were given", op->name,
                     op->inputs, n);
}

tsr_status tsr__input_missing(const tsr_op *op, int k, tsr_error *err)
{
    size_t n;
    const char *p = input_text(op, k, &n);

    return tsr__fail(err, TSR_ERR_ARG, "%s: input %.*s is missing", op->name, (int)n, p);
}

static tsr_status check_inputs(tsr_schema *s, tsr_error *err)
{
    const tsr_op *op = s->op;
    int declared = tsr__op_inputs(op);

    if (s->n_in < 1 || s->n_in > (tsr__op_takes_list(op) ? TSR_MAX_IN : declared))
        return tsr__inputs_wrong(op, s->n_in, err);
    for (int k = 0; k < s->n_in && tsr__op_takes_list(op); k++)
        if (!tsr__schema_has(s, k))
            return tsr__fail(err, TSR_ERR_ARG, "%s: input %d of its list is NULL", op->name, k);
    for (int k = 0; k < declared && !tsr__op_takes_list(op); k++) {
        if (k >= s->n_in)
            s->in[k].shape.ndim = -1;
        if (!tsr__schema_has(s, k) && !tsr__op_optional(op, k))
            return tsr__input_missing(op, k, err);
    }
    if (!tsr__op_takes_list(op))
        s->n_in = declared;
    return TSR_OK;
}

/* What is overwritten must be what comes out. */
static tsr_status check_overwritten(const tsr_schema *s, tsr_error *err)
{
    char text[2 * TSR_TEXT_LEN];

    for (int k = 0; k < s->op->inplace; k++)
        if (k >= s->n_out || s->out_dtype[k] != s->in[k].dtype ||
            !tsr_shape_equal(&s->out_shape[k], &s->in[k].shape))
            return tsr__fail(err, TSR_ERR_SHAPE,
                             "%s: output %d does not match input %d, which it overwrites, in %s",
                             s->op->name, k, k, tsr_schema_text(s, text, sizeof text));
    return TSR_OK;
}

tsr_status tsr__schema_check(tsr_schema *s, tsr_error *err)
{
    tsr_status st;

    TSR_TRY(check_inputs(s, err));
    TSR_TRY(tsr__choices_check(s->op, &s->attrs, err));
    for (int k = 0; k < s->n_in; k++) {
        char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN];
        if (!tsr__schema_has(s, k))
            continue;
        TSR_TRY(tsr_spec_check(&s->in[k], err));
        if (!tsr__mesh_equal(&s->in[k].mesh, &s->in[0].mesh))
            TSR_TRY(tsr__fail(err, TSR_ERR_MESH, "%s: inputs are on different meshes, %s and %s",
                              s->op->name, tsr_mesh_text(&s->in[0].mesh, a, sizeof a),
                              tsr_mesh_text(&s->in[k].mesh, b, sizeof b)));
    }
    s->n_out = s->op->shape ? 1 : 0; /* what a composed op gives is seen when it has run */
    if (s->op->shape) {
        st = s->op->shape(s, err);
        if (st != TSR_OK) /* a row's function may have left it at that */
            tsr__fail(err, st, "%s: its inputs do not match", s->op->name);
        TSR_TRY(st);
    } else if (s->op->expr) {
        TSR_TRY(tsr__expr_shapes(s, err));
    }
    if (s->n_out < 0 || s->n_out > TSR_MAX_OUT)
        TSR_TRY(tsr__fail(err, TSR_ERR_ARG, "%s: %d outputs, at most %d are allowed", s->op->name,
                          s->n_out, TSR_MAX_OUT));
    for (int k = 0; k < s->n_out; k++)
        if (tsr__schema_gives(s, k))
            TSR_TRY(tsr__shape_check(&s->out_shape[k], tsr_dtype_size(s->out_dtype[k]), err));
    TSR_TRY(check_overwritten(s, err));
done:
    return st;
}

tsr_schema tsr__schema_effective(const tsr_schema *schema)
{
    tsr_schema s = *schema;

    for (int k = 0; k < s.n_in; k++)
        if (tsr__schema_has(&s, k))
            s.in[k] = tsr__spec_effective(&s.in[k]);
    return s;
}

tsr_status tsr_schema_make(const tsr_op *op, const tsr_spec *in, int n_in, const char *const *attrs,
                           int n_attrs, tsr_schema *out, tsr_error *err)
{
    TSR_NEED(TSR_ERR_ARG, err, op, in, out);

    tsr_schema s = {.op = op, .n_in = n_in};
    tsr_status st;

    TSR_TRY(tsr__attrs_default(op, &s.attrs, err));
    TSR_TRY(tsr__attrs_parse(op, attrs, n_attrs, &s.attrs, err));
    if (n_in < 1 || n_in > TSR_MAX_IN)
        TSR_TRY(tsr__inputs_wrong(op, n_in, err));
    for (int k = 0; k < n_in; k++)
        s.in[k] = in[k];
    TSR_TRY(tsr__schema_check(&s, err));
    *out = s;
done:
    return st;
}

bool tsr__attrs_equal(const tsr_attr *a, const tsr_attr *b, int n, unsigned numbers)
{
    for (int i = 0; i < n; i++) {
        if (a[i].n != b[i].n)
            return false;
        if (!(numbers >> i & 1) && memcmp(&a[i].f, &b[i].f, sizeof a[i].f) != 0) /* NaN is itself */
            return false;
        for (int k = 0; k < a[i].n; k++)
            if (a[i].i[k] != b[i].i[k])
                return false;
    }
    return true;
}

const char *tsr_schema_text(const tsr_schema *s, char *buf, size_t n)
{
    TSR_NEED("", NULL, s, buf);

    size_t used = 0;
    char one[TSR_TEXT_LEN];

    buf[0] = 0;
    for (int k = 0; k < s->n_in && used < n; k++)
        if (tsr__schema_has(s, k)) {
            size_t len = strlen(tsr_spec_text(&s->in[k], one, sizeof one));
            if (used + len + 2 > n)
                break;
            if (used)
                buf[used++] = ' ';
            memcpy(buf + used, one, len + 1);
            used += len;
        }
    return buf;
}
