/* SPDX-License-Identifier: Apache-2.0 */
/* op_case.c - reads and writes the cases of a row. */
#include "op/op_case.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "op/schema.h"

static bool is_attr(const char *word)
{
    return strchr(word, '=') != NULL;
}

/* The next word of a case; false at its end. */
static bool next_word(const char **p, char word[TSR_TEXT_LEN])
{
    size_t n;

    *p += strspn(*p, " ");
    n = strcspn(*p, " ");
    snprintf(word, TSR_TEXT_LEN, "%.*s", (int)n, *p);
    *p += n;
    return n > 0;
}

/* "i64[7]<10": where the range begins and ends in a word, behind the shape. */
static size_t find_range(const char *word, size_t *n)
{
    size_t at = strcspn(word, "]");

    at += word[at] == ']';
    *n = word[at] && strchr("</+", word[at]) ? strcspn(word + at, "@") : 0;
    return at;
}

static tsr_range read_range(const char *word)
{
    size_t n, at = find_range(word, &n);
    tsr_range r = {0};
    char *end;

    if (n == 0)
        return r;
    if (word[at] == '+')
        return (tsr_range){.kind = TSR_RANGE_POSITIVE, .limit = n == 1 ? 0 : -1};
    r.kind = word[at] == '<' ? TSR_RANGE_BELOW : TSR_RANGE_OFFSETS;
    r.limit = tsr__parse_i64(word + at + 1, &end);
    if (end != word + at + n || !tsr__is_digit(word[at + 1]))
        r.limit = -1;
    return r;
}

static tsr_status check_range(const tsr_op *op, const char *word, const tsr_range *r,
                              const tsr_spec *spec, tsr_error *err)
{
    if (r->kind == TSR_RANGE_NONE)
        return TSR_OK;
    if (r->kind == TSR_RANGE_POSITIVE && (r->limit < 0 || !tsr__dtype_is_float(spec->dtype)))
        return tsr__fail(err, TSR_ERR_ARG, "%s: \"%s\" is not of positive floating point numbers",
                         op->name, word);
    if (r->kind == TSR_RANGE_POSITIVE)
        return TSR_OK;
    if (r->limit < (r->kind == TSR_RANGE_BELOW ? 1 : 0) || r->limit > INT32_MAX)
        return tsr__fail(err, TSR_ERR_ARG, "%s: \"%s\" has no limit such as <10 or /12", op->name,
                         word);
    if (spec->dtype != TSR_I32 && spec->dtype != TSR_I64)
        return tsr__fail(err, TSR_ERR_ARG, "%s: \"%s\" has a range, which is for i32 and i64",
                         op->name, word);
    if (r->kind == TSR_RANGE_OFFSETS && spec->shape.ndim != 1)
        return tsr__fail(err, TSR_ERR_ARG, "%s: \"%s\" are offsets, which have one dim", op->name,
                         word);
    return TSR_OK;
}

/* One input of a case: what is behind the shape is no part of its spec. */
static tsr_status read_input(const tsr_op *op, const char *word, const tsr_mesh_shape *mesh,
                             tsr_spec *out, tsr_error *err)
{
    char plain[TSR_TEXT_LEN];
    size_t n, at = find_range(word, &n);
    tsr_range range = read_range(word);
    tsr_status st;

    snprintf(plain, sizeof plain, "%.*s%s", (int)at, word, word + at + n);
    TSR_TRY(tsr_spec_parse(plain, mesh, out, err));
    TSR_TRY(check_range(op, word, &range, out, err));
done:
    return st;
}

tsr_range tsr__case_range(const char *text, int k)
{
    char word[TSR_TEXT_LEN];

    for (const char *p = text; next_word(&p, word);)
        if (!is_attr(word) && k-- == 0)
            return read_range(word);
    return (tsr_range){0};
}

tsr_status tsr__case_read(const tsr_op *op, const char *text, const tsr_mesh_shape *mesh,
                          tsr_schema *out, tsr_error *err)
{
    tsr_schema s = {.op = op};
    char word[TSR_TEXT_LEN];
    tsr_status st;

    TSR_TRY(tsr__attrs_default(op, &s.attrs, err));
    for (const char *p = text; next_word(&p, word);) {
        if (is_attr(word)) {
            TSR_TRY(tsr__attr_parse(op, word, strlen(word), &s.attrs, err));
            continue;
        }
        if (s.n_in == TSR_MAX_IN)
            return tsr__fail(err, TSR_ERR_ARG, "%s: case \"%s\" has more than %d inputs", op->name,
                             text, TSR_MAX_IN);
        if (strcmp(word, "-") == 0)
            s.in[s.n_in].shape.ndim = -1;
        else
            TSR_TRY(read_input(op, word, mesh, &s.in[s.n_in], err));
        s.n_in++;
    }
    TSR_TRY(tsr__schema_check(&s, err));
    *out = s;
done:
    return st;
}

bool tsr__case_in_dtype(const tsr_schema *schema, tsr_dtype dtype, tsr_schema *out)
{
    bool changed = false;

    *out = *schema;
    for (int k = 0; k < out->n_in; k++)
        if (tsr__schema_has(out, k) && out->in[k].dtype == TSR_F64) {
            out->in[k].dtype = dtype;
            changed = true;
        }
    return changed && tsr__schema_check(out, NULL) == TSR_OK;
}

tsr_mesh_shape tsr__case_mesh(int ranks)
{
    return (tsr_mesh_shape){.ndim = 1, .size = {ranks}, .stride = {1}};
}

static bool shapes_alike(const tsr_shape *a, const tsr_shape *b)
{
    if (a->ndim != b->ndim)
        return false;
    for (int d = 0; d < a->ndim; d++)
        if ((a->size[d] == 1) != (b->size[d] == 1))
            return false;
    return true;
}

bool tsr__case_alike(const tsr_schema *a, const tsr_schema *b)
{
    if (a->n_in != b->n_in)
        return false;
    for (int k = 0; k < a->n_in; k++)
        if (!shapes_alike(&a->in[k].shape, &b->in[k].shape))
            return false;
    for (int i = 0; i < TSR_MAX_ATTR; i++) {
        const tsr_attr *x = &a->attrs.value[i], *y = &b->attrs.value[i];
        if (x->n != y->n || x->f != y->f)
            return false;
        for (int j = 0; j < x->n; j++)
            if (x->i[j] != y->i[j])
                return false;
    }
    return true;
}

/* Append to buf, which stays a string. */
static void append(char *buf, size_t n, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void append(char *buf, size_t n, const char *format, ...)
{
    size_t used = strlen(buf);
    va_list list;

    va_start(list, format);
    tsr__vformat(buf + used, n - used, format, list);
    va_end(list);
}

/* Append the words of the case, inputs as they are in the schema, each after a blank. */
static void append_words(char *buf, size_t n, const tsr_schema *schema, const char *text,
                         bool placed)
{
    char word[TSR_TEXT_LEN], spec[TSR_TEXT_LEN];
    int k = 0;

    for (const char *p = text; next_word(&p, word);) {
        if (!is_attr(word) && tsr__schema_has(schema, k)) {
            size_t length, at = find_range(word, &length), shape;
            tsr_spec_text(&schema->in[k], spec, sizeof spec);
            shape = strcspn(spec, "@");
            append(buf, n, " %.*s%.*s%s", (int)shape, spec, (int)length, word + at,
                   placed ? spec + shape : "");
        } else {
            append(buf, n, " %s", word);
        }
        k += !is_attr(word);
    }
}

const char *tsr__case_text(const tsr_schema *schema, const char *text, char *buf, size_t n)
{
    buf[0] = 0;
    append_words(buf, n, schema, text, false);
    return buf + (buf[0] == ' ');
}

const char *tsr__case_line(const tsr_schema *schema, const char *text, const char *cost, char *buf,
                           size_t n)
{
    char spec[TSR_TEXT_LEN];

    buf[0] = 0;
    append(buf, n, "tessera verify \"%s", schema->op->name);
    append_words(buf, n, schema, text, true);
    append(buf, n, " mesh=%s world=thread cost=%s\"",
           tsr_mesh_text(&schema->in[0].mesh, spec, sizeof spec), cost);
    return buf;
}
