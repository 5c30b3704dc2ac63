/* SPDX-License-Identifier: Apache-2.0 */
/* attrs.c - attributes as the row declares them ("dim:dim=-1,keepdim:bool=false,by:mean|sum") and
   as the user writes them ("dim=1"). Values are plain numbers, a choice that of its name, or short
   texts; names are looked up when planning only. Of a `number` planning sees how it compares with 0
   and 1, and whether it is whole, no more: a learning rate that changes with every step is the same
   call. Of an `element`, a number that becomes an element of a tensor, also which integer dtypes
   have it. Of a `seed` it sees nothing. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype_range.h"
#include "base/text.h"
#include "kernel/seed.h"
#include "op/element_attr.h"

typedef tsr_attr_declared declared;

bool tsr__attr_declared(const char **p, tsr_attr_declared *out)
{
    const char *s = *p;

    if (!s || !*s)
        return false;
    memset(out, 0, sizeof *out);
    out->name = s;
    out->name_len = strcspn(s, ":");
    out->type = s + out->name_len + (s[out->name_len] == ':');
    out->type_len = strcspn(out->type, "=,");
    s = out->type + out->type_len;
    out->optional = out->type_len > 0 && s[-1] == '?';
    out->type_len -= out->optional;
    if (*s == '=') {
        out->value = s + 1;
        out->value_len = strcspn(out->value, ",");
        s = out->value + out->value_len;
    }
    *p = *s == ',' ? s + 1 : s;
    return true;
}

static bool word_is(const char *text, size_t n, const char *word)
{
    return strlen(word) == n && strncmp(text, word, n) == 0;
}

/* A dim is an int and dims are ints: only C functions and docs tell them apart. */
static bool is_type(const declared *d, const char *type)
{
    if (word_is(d->type, d->type_len, "dim"))
        return strcmp(type, "int") == 0;
    if (word_is(d->type, d->type_len, "dims"))
        return strcmp(type, "ints") == 0;
    return word_is(d->type, d->type_len, type);
}

/* ---- choices, "mean|sum|none" ---- */

static bool is_choice(const declared *d)
{
    return memchr(d->type, '|', d->type_len) != NULL;
}

/* Moves *p, NULL at first, to the next name and gives its length; false after the last. */
static bool next_choice(const declared *d, const char **p, size_t *n)
{
    const char *stop = d->type + d->type_len;

    if (*p && *p + *n == stop)
        return false;
    *p = *p ? *p + *n + 1 : d->type;
    *n = 0;
    while (*p + *n < stop && (*p)[*n] != '|')
        ++*n;
    return true;
}

/* -1: none of them */
static int find_choice(const declared *d, const char *text, size_t length)
{
    const char *p = NULL;
    size_t n = 0;

    for (int i = 0; next_choice(d, &p, &n); i++)
        if (n == length && strncmp(p, text, n) == 0)
            return i;
    return -1;
}

/* Names of small letters, digits and _, from a letter on, each once. */
static bool are_choices(const declared *d)
{
    const char *p = NULL;
    size_t n = 0;

    for (int i = 0; next_choice(d, &p, &n); i++) {
        if (n == 0 || !tsr__is_lower(p[0]) || find_choice(d, p, n) != i)
            return false;
        for (size_t k = 0; k < n; k++)
            if (!tsr__is_lower(p[k]) && !tsr__is_digit(p[k]) && p[k] != '_')
                return false;
    }
    return true;
}

static tsr_status wrong_choice(const tsr_op *op, const declared *d, const char *text, size_t n,
                               tsr_status code, tsr_error *err)
{
    char names[TSR_TEXT_LEN] = "";
    const char *p = NULL;
    size_t length = 0, used = 0;

    for (int i = 0; next_choice(d, &p, &length) && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%.*s",
                                 i == 0                                ? ""
                                 : p + length == d->type + d->type_len ? " or "
                                                                       : ", ",
                                 (int)length, p);
    return tsr__fail(err, code, "%s: %.*s is %s, not %.*s", op->name, (int)d->name_len, d->name,
                     names, n ? (int)n : 2, n ? text : "\"\"");
}

/* ---- values ---- */

static tsr_status wrong_value(const tsr_op *op, const declared *d, const char *text, size_t n,
                              tsr_error *err)
{
    const bool element = is_type(d, "element"); /* for who calls, a number like others */

    return tsr__fail(err, TSR_ERR_PARSE, "%s: %.*s=%.*s is not of type %.*s", op->name,
                     (int)d->name_len, d->name, (int)n, text, element ? 6 : (int)d->type_len,
                     element ? "number" : d->type);
}

tsr_attr tsr__attr_text(const char *text, size_t n)
{
    tsr_attr value = {.n = (int)(n / sizeof value.i[0]) + 1};

    memcpy(value.text, text, n);
    return value;
}

static bool is_real(const declared *d)
{
    return is_type(d, "float") || is_type(d, "number") || is_type(d, "element");
}

/* Are all n characters one integer of 64 bits? f64 would round those above 2^53. */
static bool is_integer(const char *text, size_t n, int64_t *out)
{
    char *end;

    if (n == 0 || !(tsr__is_digit(*text) || *text == '-'))
        return false;
    errno = 0;
    *out = tsr__parse_i64(text, &end);
    return end == text + n && errno == 0;
}

/* "1", "true", "0.5", "0,2" or "0/2"; a text is what it is */
static tsr_status read_value(const tsr_op *op, const declared *d, const char *text, size_t n,
                             tsr_attr *out, tsr_error *err)
{
    const char *p = text, *stop = text + n;
    tsr_attr value = {0};
    int64_t integer;

    if (is_type(d, "text") && n > TSR_ATTR_TEXT)
        return tsr__fail(err, TSR_ERR_PARSE, "%s: %.*s has %zu characters, at most %d are allowed",
                         op->name, (int)d->name_len, d->name, n, TSR_ATTR_TEXT);
    if (is_type(d, "text")) {
        *out = tsr__attr_text(text, n);
        return TSR_OK;
    }
    if (is_choice(d)) {
        const int i = find_choice(d, text, n);
        if (i < 0)
            return wrong_choice(op, d, text, n, TSR_ERR_PARSE, err);
        *out = (tsr_attr){.n = 1, .i = {i}};
        return TSR_OK;
    }
    if (is_type(d, "dtype")) {
        tsr_dtype dtype;
        tsr_error why = {0};
        if (tsr__dtype_parse(text, n, &dtype, &why) != TSR_OK)
            return tsr__fail(err, TSR_ERR_PARSE, "%s: %.*s: %s", op->name, (int)d->name_len,
                             d->name, why.text);
        value.i[value.n++] = dtype;
        p = stop;
    }
    if (is_type(d, "seed")) { /* 64 bits, negative numbers too */
        char *end;
        value = tsr__seed(*text == '-' ? (uint64_t)tsr__parse_i64(text, &end)
                                       : tsr__parse_u64(text, &end));
        if (n == 0 || end != stop)
            return wrong_value(op, d, text, n, err);
        *out = value;
        return TSR_OK;
    }
    if (is_type(d, "bool")) {
        bool yes = word_is(text, n, "true") || word_is(text, n, "1");
        if (!yes && !word_is(text, n, "false") && !word_is(text, n, "0"))
            return wrong_value(op, d, text, n, err);
        value.i[value.n++] = yes;
        p = stop;
    }
    if (is_type(d, "element") && is_integer(text, n, &integer)) {
        *out = tsr__element_integer(integer);
        return TSR_OK;
    }
    while (p < stop) {
        char *end;
        if (is_type(d, "ints") && value.n == TSR_MAX_DIM)
            return tsr__fail(err, TSR_ERR_PARSE, "%s: %.*s=%.*s has more than %d numbers", op->name,
                             (int)d->name_len, d->name, (int)n, text, TSR_MAX_DIM);
        if (!is_type(d, "ints") && value.n == 1)
            return wrong_value(op, d, text, n, err);
        errno = 0;
        if (is_real(d))
            value.f = tsr__parse_double(p, &end);
        else
            value.i[value.n] = tsr__parse_i64(p, &end);
        if (!is_real(d) && errno == ERANGE)
            return tsr__fail(err, TSR_ERR_PARSE, "%s: %.*s=%.*s does not fit 64 bits", op->name,
                             (int)d->name_len, d->name, (int)n, text);
        if (end == p || end > stop || (end < stop && *end != ',' && *end != '/'))
            return wrong_value(op, d, text, n, err);
        value.n++;
        p = end < stop ? end + 1 : end;
    }
    if (value.n == 0 && !is_type(d, "ints"))
        return wrong_value(op, d, text, n, err);
    *out = is_type(d, "number")    ? tsr__number(value.f)
           : is_type(d, "element") ? tsr__element(value.f)
                                   : value;
    return TSR_OK;
}

tsr_attr tsr__number(double x)
{
    tsr_attr attr = {.n = 1, .f = x};

    attr.i[0] = (x >= 0) + (x > 0) + (x >= 1) + (x > 1) + 8 * (x == rint(x)) + 16 * (x != x);
    return attr;
}

/* The class of a number, and which dtypes have it: what comes of it differs by no more. */
tsr_attr tsr__element(double x)
{
    tsr_attr attr = tsr__number(x);

    attr.i[0] += 32 * (isinf(x) != 0);
    for (int d = 0; d < TSR__FIELD; d++)
        attr.i[0] += (int64_t)tsr__dtype_has((tsr_dtype)d, x) << (8 + d);
    attr.i[TSR_ELEMENT_IS_INTEGER] = tsr__dtype_has(TSR_I64, x);
    if (attr.i[TSR_ELEMENT_IS_INTEGER])
        attr.i[TSR_ELEMENT_INTEGER] = (int64_t)x;
    return attr;
}

tsr_attr tsr__element_integer(int64_t x)
{
    tsr_attr attr = tsr__element((double)x);

    attr.i[0] |= INT64_C(1) << (8 + TSR_I64); /* the largest ones are rounded to 2^63 */
    attr.i[TSR_ELEMENT_IS_INTEGER] = 1;
    attr.i[TSR_ELEMENT_INTEGER] = x;
    return attr;
}

const char *tsr__attr_name(const tsr_op *op, int i, int *length)
{
    const char *p = op->attrs;
    declared d = {.name = ""};

    while (i-- >= 0 && tsr__attr_declared(&p, &d))
        ;
    *length = (int)d.name_len;
    return d.name;
}

unsigned tsr__attrs_numbers(const tsr_op *op)
{
    const char *p = op->attrs;
    unsigned mask = 0;
    declared d;

    for (int i = 0; tsr__attr_declared(&p, &d); i++)
        mask |= (unsigned)(is_type(&d, "number") || is_type(&d, "element") || is_type(&d, "seed"))
                << i;
    return mask;
}

int tsr__attr_index(const tsr_op *op, const char *name)
{
    const char *p = op->attrs;
    declared d;

    for (int i = 0; tsr__attr_declared(&p, &d); i++)
        if (word_is(d.name, d.name_len, name))
            return i;
    return -1;
}

/* Of a row that has at least index + 1 of them. */
static declared declared_at(const tsr_op *op, int index)
{
    const char *p = op->attrs;
    declared d = {0};

    while (index-- >= 0)
        tsr__attr_declared(&p, &d);
    return d;
}

tsr_attr_type tsr__attr_type(const tsr_op *op, int index)
{
    static const char *const types[] = {"int", "ints", "bool", "dtype", "text", "float", "number"};
    const declared d = declared_at(op, index);
    int type = 0;

    if (is_choice(&d))
        return TSR_ATTR_CHOICE;
    while (type < TSR_ATTR_NUMBER && !is_type(&d, types[type]))
        type++;
    return (tsr_attr_type)type;
}

bool tsr__attr_is_element(const tsr_op *op, int index)
{
    const declared d = declared_at(op, index);

    return is_type(&d, "element");
}

bool tsr__attr_types_equal(const tsr_op *a, int i, const tsr_op *b, int k)
{
    const declared x = declared_at(a, i), y = declared_at(b, k);

    return (x.type_len == y.type_len && strncmp(x.type, y.type, x.type_len) == 0) ||
           (is_type(&x, "int") && is_type(&y, "int")) ||
           (is_type(&x, "ints") && is_type(&y, "ints"));
}

bool tsr__attr_has_choice(const tsr_op *op, int index, const char *text, size_t n)
{
    const declared d = declared_at(op, index);

    return is_choice(&d) && find_choice(&d, text, n) >= 0;
}

tsr_status tsr__choices_check(const tsr_op *op, const tsr_attrs *attrs, tsr_error *err)
{
    const char *p = op->attrs;
    declared d;

    for (int i = 0; tsr__attr_declared(&p, &d); i++) {
        const int64_t value = attrs->value[i].i[0];
        const char *name = NULL;
        size_t n = 0;
        char text[32];
        int count = 0;

        if (!is_choice(&d) || attrs->value[i].n < 0)
            continue;
        while (next_choice(&d, &name, &n))
            count++;
        snprintf(text, sizeof text, "%" PRId64, value);
        if (value < 0 || value >= count)
            return wrong_choice(op, &d, text, strlen(text), TSR_ERR_ARG, err);
    }
    return TSR_OK;
}

const tsr_attr *tsr_schema_attr(const tsr_schema *schema, const char *name)
{
    static const tsr_attr absent = {.n = -1};
    int i = schema && name ? tsr__attr_index(schema->op, name) : -1;

    return i < 0 ? &absent : &schema->attrs.value[i];
}

int tsr__attrs_count(const tsr_op *op)
{
    const char *p = op->attrs;
    declared d;
    int n = 0;

    while (tsr__attr_declared(&p, &d))
        n++;
    return n;
}

tsr_status tsr__attrs_default(const tsr_op *op, tsr_attrs *out, tsr_error *err)
{
    const char *p = op->attrs;
    declared d;
    tsr_status st = TSR_OK;

    memset(out, 0, sizeof *out);
    for (int i = 0; tsr__attr_declared(&p, &d); i++) {
        if (i == TSR_MAX_ATTR)
            return tsr__fail(err, TSR_ERR_ARG, "%s: more than %d attributes", op->name,
                             TSR_MAX_ATTR);
        if (is_choice(&d) && !are_choices(&d))
            return tsr__fail(err, TSR_ERR_ARG,
                             "%s: attribute %.*s: %.*s is not a list of names such as "
                             "mean|sum|none",
                             op->name, (int)d.name_len, d.name, (int)d.type_len, d.type);
        if (!is_choice(&d) && !is_type(&d, "int") && !is_type(&d, "ints") && !is_type(&d, "bool") &&
            !is_real(&d) && !is_type(&d, "dtype") && !is_type(&d, "text") && !is_type(&d, "seed"))
            return tsr__fail(err, TSR_ERR_ARG, "%s: attribute %.*s is of unknown type \"%.*s\"",
                             op->name, (int)d.name_len, d.name, (int)d.type_len, d.type);
        if (d.optional && d.value)
            return tsr__fail(err, TSR_ERR_ARG, "%s: attribute %.*s is optional and has a default",
                             op->name, (int)d.name_len, d.name);
        out->value[i].n = -1;
        if (d.value)
            TSR_TRY(read_value(op, &d, d.value, d.value_len, &out->value[i], err));
    }
done:
    return st;
}

tsr_status tsr__attr_parse(const tsr_op *op, const char *text, size_t n, tsr_attrs *out,
                           tsr_error *err)
{
    size_t name = 0;
    const char *p = op->attrs;
    declared d;

    while (name < n && text[name] != '=')
        name++;
    for (int i = 0; tsr__attr_declared(&p, &d); i++)
        if (d.name_len == name && strncmp(d.name, text, name) == 0 && name < n)
            return read_value(op, &d, text + name + 1, n - name - 1, &out->value[i], err);
    return tsr__fail(err, TSR_ERR_PARSE, "%s has no attribute \"%.*s\"%s%s", op->name, (int)name,
                     text, op->attrs ? "; it has " : "", op->attrs ? op->attrs : "");
}

tsr_status tsr__attrs_parse(const tsr_op *op, const char *const *text, int n, tsr_attrs *out,
                            tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (int i = 0; i < n; i++) {
        size_t name = strcspn(text[i], "=") + 1; /* with the = */

        TSR_TRY(tsr__attr_parse(op, text[i], strlen(text[i]), out, err));
        for (int k = 0; k < i; k++)
            if (strncmp(text[k], text[i], name) == 0)
                TSR_TRY(tsr__fail(err, TSR_ERR_ARG, "%s: attribute %.*s is given twice, %s and %s",
                                  op->name, (int)name - 1, text[i], text[k], text[i]));
    }
done:
    return st;
}

tsr_status tsr__dim_normalise(const tsr_schema *schema, int64_t dim, int ndim, int *out,
                              tsr_error *err)
{
    if (ndim == 0)
        return tsr__fail(err, TSR_ERR_SHAPE,
                         "%s: dim %" PRId64 " is out of range for a tensor without dims",
                         schema->op->name, dim);
    if (dim < -ndim || dim >= ndim)
        return tsr__fail(err, TSR_ERR_SHAPE, "%s: dim %" PRId64 " is out of range %d to %d",
                         schema->op->name, dim, -ndim, ndim - 1);
    *out = (int)(dim < 0 ? dim + ndim : dim);
    return TSR_OK;
}
