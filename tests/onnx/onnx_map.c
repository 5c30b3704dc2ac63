/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_map.c - see onnx_map.h: running a node by its row, what rows' functions use, and the rows of
   operators that are one op of ours. */
#include "onnx_map.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "support/opts.h"

/* ---- calls ---- */

static int split(char *text, const char **word, int cap)
{
    int n = 0;
    char *rest;

    for (char *w = strtok_r(text, " ", &rest); w && n < cap; w = strtok_r(NULL, " ", &rest))
        word[n++] = w;
    return n;
}

void onnx_run_all(onnx_call *c, const char *op, tsr_tensor *const *in, int n, const char *attrs,
                  tsr_tensor **out)
{
    char text[1024];
    const char *word[TSR_OP_ATTRS];

    for (int k = 0; k < TSR_OP_OUTPUTS; k++)
        out[k] = NULL;
    if (!tsr_op_find(c->mesh, op)) {
        snprintf(c->missing, sizeof c->missing, "%s", op);
        return;
    }
    while (n > 0 && !in[n - 1]) /* absent ones at the end */
        n--;
    if (n == 0)
        return;
    snprintf(text, sizeof text, "%s", attrs);
    tsr_op_run_all(c->mesh, op, in, n, word, split(text, word, TSR_OP_ATTRS), out);
}

tsr_tensor *onnx_run(onnx_call *c, const char *op, tsr_tensor *const *in, int n, const char *format,
                     ...)
{
    tsr_tensor *out[TSR_OP_OUTPUTS];
    char attrs[1024];
    va_list list;

    va_start(list, format);
    vsnprintf(attrs, sizeof attrs, format, list);
    va_end(list);
    if (!in[0])
        return NULL;
    onnx_run_all(c, op, in, n, attrs, out);
    return out[0];
}

tsr_tensor *onnx_run1(onnx_call *c, const char *op, tsr_tensor *x)
{
    return onnx_run(c, op, &x, 1, "%s", "");
}

tsr_tensor *onnx_run2(onnx_call *c, const char *op, tsr_tensor *a, tsr_tensor *b)
{
    tsr_tensor *in[] = {a, b};

    return b ? onnx_run(c, op, in, 2, "%s", "") : NULL;
}

void onnx_differs(onnx_call *c, const char *why)
{
    snprintf(c->differs, sizeof c->differs, "%s", why);
}

/* ---- attributes and values ---- */

const Onnx__AttributeProto *onnx_attr(const onnx_call *c, const char *name)
{
    for (size_t i = 0; i < c->node->n_attribute; i++)
        if (strcmp(c->node->attribute[i]->name, name) == 0)
            return c->node->attribute[i];
    return NULL;
}

int64_t onnx_int(const onnx_call *c, const char *name, int64_t otherwise)
{
    const Onnx__AttributeProto *a = onnx_attr(c, name);

    return a ? a->i : otherwise;
}

double onnx_float(const onnx_call *c, const char *name, double otherwise)
{
    const Onnx__AttributeProto *a = onnx_attr(c, name);

    return a ? (double)a->f : otherwise;
}

const char *onnx_text(const onnx_call *c, const char *name, const char *otherwise)
{
    static const char *const known[] = {"NOTSET",
                                        "SAME_UPPER",
                                        "SAME_LOWER",
                                        "VALID",
                                        "none",
                                        "sum",
                                        "mean",
                                        "constant",
                                        "edge",
                                        "wrap",
                                        "tanh",
                                        "reflect",
                                        "nearest",
                                        "linear",
                                        "cubic",
                                        "asymmetric",
                                        "half_pixel",
                                        "align_corners",
                                        "floor",
                                        "DCR",
                                        "CRD",
                                        "pytorch_half_pixel",
                                        "add",
                                        "mul",
                                        "round_prefer_floor",
                                        "ceil"};
    const Onnx__AttributeProto *a = onnx_attr(c, name);

    if (!a)
        return otherwise;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strlen(known[i]) == a->s.len && memcmp(known[i], a->s.data, a->s.len) == 0)
            return known[i];
    return "?";
}

/* All values of an input, as numbers; how many there are. Collective. */
static int64_t values_of(tsr_tensor *x, double *out, int64_t cap)
{
    const tsr_spec *s = tsr_tensor_spec(x);
    const int64_t n = tsr_shape_count(&s->shape);
    void *data = malloc((size_t)n * tsr_dtype_size(s->dtype) + 1);

    if (!data || tsr_to_host(x, data, (size_t)n * tsr_dtype_size(s->dtype)) != TSR_OK) {
        free(data);
        return 0;
    }
    for (int64_t i = 0; i < n && i < cap; i++)
        out[i] = tsr__get(s->dtype, data, i);
    free(data);
    return n < cap ? n : cap;
}

int onnx_ints(const onnx_call *c, const char *name, int k, int64_t out[64])
{
    const Onnx__AttributeProto *a = onnx_attr(c, name);
    double values[64];
    int n;

    if (a) {
        for (size_t i = 0; i < a->n_ints && i < 64; i++)
            out[i] = a->ints[i];
        return (int)a->n_ints;
    }
    if (k < 0 || k >= c->n_in || !c->in[k])
        return -1;
    n = (int)values_of(c->in[k], values, 64);
    for (int i = 0; i < n; i++) {
        out[i] = INT64_MAX;
        if (fabs(values[i]) < 0x1p62)
            out[i] = (int64_t)values[i];
        else if (values[i] < 0)
            out[i] = INT64_MIN + 1;
    }
    return n;
}

double onnx_number(onnx_call *c, int k)
{
    double value = 0;

    if (k < c->n_in && c->in[k])
        values_of(c->in[k], &value, 1);
    return value;
}

const char *onnx_list(const int64_t *v, int n, char buf[512])
{
    size_t used = 0;

    buf[0] = 0;
    for (int i = 0; i < n; i++)
        used += (size_t)snprintf(buf + used, 512 - used, "%s%lld", i ? "/" : "", (long long)v[i]);
    return buf;
}

tsr_tensor *onnx_from(onnx_call *c, tsr_dtype dtype, const int64_t *size, int ndim,
                      const void *data)
{
    tsr_spec spec = {.dtype = dtype, .mesh = *tsr_mesh_shape_get(c->mesh), .shape = {.ndim = ndim}};
    char text[TSR_TEXT_LEN];

    for (int d = 0; d < ndim; d++)
        spec.shape.size[d] = size[d];
    return from_host(c->mesh, tsr_spec_text(&spec, text, sizeof text), data);
}

tsr_tensor *onnx_scalar(onnx_call *c, tsr_dtype dtype, double value)
{
    double room;

    tsr__put(dtype, &room, 0, value);
    return onnx_from(c, dtype, NULL, 0, &room);
}

tsr_tensor *onnx_reshape(onnx_call *c, tsr_tensor *x, const int64_t *size, int n)
{
    char list[512];

    return onnx_run(c, "reshape", &x, 1, "shape=%s", onnx_list(size, n, list));
}

/* ---- one op ---- */

/* "dim=axis:-1", one word of a row; false: a default was not there, so it is left out. */
static bool translate(const onnx_call *c, const char *word, char out[600])
{
    char ours[32] = "", theirs[32] = "", otherwise[32] = "", list[512];
    const Onnx__AttributeProto *a;
    int64_t v[64];
    int input = -1, n;
    const char *at, *colon = strchr(word, ':');

    sscanf(word, "%31[^=]=%31[^@:]", ours, theirs);
    at = strchr(word, '@');
    if (at)
        input = atoi(at + 1);
    if (colon)
        snprintf(otherwise, sizeof otherwise, "%s", colon + 1);
    a = onnx_attr(c, theirs);
    if (a && a->type == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT)
        return snprintf(out, 600, "%s=%.9g", ours, (double)a->f) > 0;
    if (a && a->type == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT)
        return snprintf(out, 600, "%s=%lld", ours, (long long)a->i) > 0;
    n = onnx_ints(c, theirs, input, v);
    if (n >= 0)
        return snprintf(out, 600, "%s=%s", ours, onnx_list(v, n, list)) > 0;
    if (!colon)
        return false;
    return snprintf(out, 600, "%s=%s", ours, otherwise) > 0;
}

static void run_row(onnx_call *c, const onnx_row *row)
{
    char text[256], attrs[1024] = "", one[600];
    const char *word[TSR_OP_ATTRS];
    tsr_tensor *out[TSR_OP_OUTPUTS];
    size_t used = 0;
    int n = 0;

    snprintf(text, sizeof text, "%s", row->attrs ? row->attrs : "");
    n = split(text, word, TSR_OP_ATTRS);
    for (int i = 0; i < n; i++)
        if (translate(c, word[i], one))
            used += (size_t)snprintf(attrs + used, sizeof attrs - used, "%s ", one);
    onnx_run_all(c, row->op, c->in, row->n_in && row->n_in < c->n_in ? row->n_in : c->n_in, attrs,
                 out);
    for (int k = 0; k < TSR_OP_OUTPUTS && k < ONNX_OUT; k++)
        c->out[k] = out[k];
}

const onnx_row *onnx_row_at(int i)
{
    const onnx_row *const tables[] = {onnx_rows, onnx_shape_rows, onnx_quantised_rows};

    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        for (const onnx_row *r = tables[t]; r->onnx; r++)
            if (i-- == 0)
                return r;
    return NULL;
}

static const onnx_row *find_row(const char *name)
{
    const onnx_row *r;

    for (int i = 0; (r = onnx_row_at(i)); i++)
        if (strcmp(r->onnx, name) == 0)
            break;
    return r;
}

bool onnx_node_run(onnx_call *c)
{
    const onnx_row *row = find_row(c->node->op_type);

    c->missing[0] = c->differs[0] = 0;
    for (int k = 0; k < ONNX_OUT; k++)
        c->out[k] = NULL;
    if (!row || (c->node->domain && c->node->domain[0]))
        return false;
    if (row->run)
        row->run(c);
    else
        run_row(c, row);
    return true;
}
