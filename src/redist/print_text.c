/* SPDX-License-Identifier: Apache-2.0 */
/* print_text.c - sets arrays like numpy's str with precision=4: all numbers of an array in one form
   (plain, or with exponents if they differ too much), aligned, wrapped at 75 columns. Called by
   print.c. */
#include "redist/print_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { DIGITS = 4, COLUMNS = 75, WORD_LEN = 48 };

tsr_status tsr__print_add(tsr_print_text *text, const char *word, tsr_error *err)
{
    int n = (int)strlen(word);
    tsr_status st = TSR_OK;

    while (text->n + n >= text->cap)
        TSR_TRY(tsr__grow(text->heap, &text->data, &text->cap, text->cap, 1, err));
    memcpy(text->data + text->n, word, (size_t)n + 1);
    text->n += n;
done:
    return st;
}

/* ---- numbers ---- */

/* How the numbers of one array are written. */
typedef struct style {
    tsr_dtype dtype;
    bool exponents;
    int digits; /* after the point */
    int power;  /* digits of the exponent */
    int width;
} style;

/* A 16-bit float as the number with the fewest digits that rounds to it: 0.1, not 0.10009766. */
static double shortest(tsr_dtype dtype, double x)
{
    char text[WORD_LEN];
    double y = x;

    if (dtype != TSR_F16 && dtype != TSR_BF16)
        return x;
    for (int digits = 1; digits <= 5; digits++) {
        tsr__format(text, sizeof text, "%.*g", digits, x);
        y = tsr__parse_double(text, NULL);
        if ((dtype == TSR_F16 ? tsr__f16_to_f32(tsr__f64_to_f16(y))
                              : tsr__bf16_to_f32(tsr__f64_to_bf16(y))) == (float)x)
            return y;
    }
    return x;
}

/* Digits after the point, without zeros at the end. */
static int digits_of(double x, bool exponents)
{
    char text[WORD_LEN];
    char *point;
    int n = DIGITS;

    tsr__format(text, sizeof text, exponents ? "%.*e" : "%.*f", DIGITS, x);
    point = strchr(text, '.');
    while (n > 0 && point[n] == '0')
        n--;
    return n;
}

/* Digits of the exponent of 1.5e+100. */
static int powers(const char *word)
{
    const char *e = strchr(word, 'e');
    return e ? (int)strlen(e + 2) : 0;
}

static void float_word(const style *s, double x, char word[WORD_LEN])
{
    if (!isfinite(x)) {
        snprintf(word, WORD_LEN, "%s", isnan(x) ? "nan" : x < 0 ? "-inf" : "inf");
        return;
    }
    if (s->exponents) {
        int n = tsr__format(word, WORD_LEN, "%#.*e", s->digits, x),
            missing = s->power - powers(word);
        char *end = word + n - powers(word);
        if (missing > 0) {
            memmove(end + missing, end, strlen(end) + 1);
            memset(end, '0', (size_t)missing);
        }
        return;
    }
    tsr__format(word, WORD_LEN, "%#.*f", s->digits, shortest(s->dtype, x));
    /* blanks instead of zeros at the end, so that points are aligned */
    for (char *p = word + strlen(word); p > word && p[-1] == '0'; p--)
        p[-1] = ' ';
}

static void element_word(const style *s, const void *data, int64_t i, char word[WORD_LEN])
{
    int64_t integer = 0;

    if (tsr__dtype_is_float(s->dtype)) {
        float_word(s, tsr__get(s->dtype, data, i), word);
    } else if (s->dtype == TSR_BOOL) {
        snprintf(word, WORD_LEN, "%s", ((const unsigned char *)data)[i] ? "true" : "false");
    } else {
        const char *at = (const char *)data + (size_t)i * tsr_dtype_size(s->dtype);
        const bool natural = tsr__dtype_min(s->dtype) == 0;

        tsr__convert(natural ? TSR_U64 : TSR_I64, &integer, s->dtype, at, 1);
        snprintf(word, WORD_LEN, natural ? "%" PRIu64 : "%" PRId64, integer);
    }
}

static style choose_style(tsr_dtype dtype, const void *data, int64_t n)
{
    style s = {.dtype = dtype, .width = dtype == TSR_BOOL ? 5 : 0}; /* numpy: as wide as false */
    double least = INFINITY, most = 0;
    bool floats = tsr__dtype_is_float(dtype);
    char word[WORD_LEN];

    for (int64_t i = 0; floats && i < n; i++) {
        double x = fabs(tsr__get(dtype, data, i));
        if (!isfinite(x) || x == 0)
            continue;
        least = x < least ? x : least;
        most = x > most ? x : most;
    }
    s.exponents = most > 0 && (most >= 1e8 || least < 1e-4 || most / least > 1000);
    for (int64_t i = 0; floats && i < n; i++) {
        double x = shortest(dtype, tsr__get(dtype, data, i));
        int digits = isfinite(x) ? digits_of(x, s.exponents) : 0;
        s.digits = digits > s.digits ? digits : s.digits;
    }
    for (int64_t i = 0; i < n; i++) {
        element_word(&s, data, i, word);
        s.power = s.exponents && powers(word) > s.power ? powers(word) : s.power;
        s.width = (int)strlen(word) > s.width ? (int)strlen(word) : s.width;
    }
    return s;
}

/* ---- brackets ---- */

typedef struct setting {
    tsr_print_text *text;
    const tsr_shape *shape, *shown;
    const char *data;
    style style;
    int column;
    tsr_error *err;
} setting;

static tsr_status add(setting *s, const char *word)
{
    s->column += (int)strlen(word);
    return tsr__print_add(s->text, word, s->err);
}

static tsr_status new_lines(setting *s, int n, int indent)
{
    tsr_status st = TSR_OK;

    while (s->text->n > 0 && s->text->data[s->text->n - 1] == ' ')
        s->text->data[--s->text->n] = 0;
    for (int i = 0; i < n; i++)
        TSR_TRY(tsr__print_add(s->text, "\n", s->err));
    for (int i = 0; i < indent; i++)
        TSR_TRY(tsr__print_add(s->text, " ", s->err));
    s->column = indent;
done:
    return st;
}

/* A word of a row; `closing` brackets may follow it. */
static tsr_status add_word(setting *s, const char *word, bool first, int closing)
{
    int ndim = s->shape->ndim;
    tsr_status st = TSR_OK;

    if (!first && s->column + 1 + (int)strlen(word) > COLUMNS - closing)
        TSR_TRY(new_lines(s, 1, ndim));
    else if (!first)
        TSR_TRY(add(s, " "));
    TSR_TRY(add(s, word));
done:
    return st;
}

static tsr_status add_row(setting *s, int64_t first)
{
    int d = s->shape->ndim - 1;
    int64_t n = s->shown->size[d];
    char word[WORD_LEN], padded[WORD_LEN + 1];
    tsr_status st = TSR_OK;

    for (int64_t k = 0; k < n; k++) {
        if (n < s->shape->size[d] && k == n / 2)
            TSR_TRY(add_word(s, "...", false, d + 1));
        element_word(&s->style, s->data, first + k, word);
        snprintf(padded, sizeof padded, "%*s", s->style.width, word);
        TSR_TRY(add_word(s, padded, k == 0, d + 1));
    }
done:
    return st;
}

/* The part of dims `d` on whose elements begin with number `first`. */
static tsr_status add_dims(setting *s, int d, int64_t first)
{
    int ndim = s->shape->ndim;
    int64_t n = s->shown->size[d], each = 1;
    tsr_status st;

    for (int i = d + 1; i < ndim; i++)
        each *= s->shown->size[i];
    TSR_TRY(add(s, "["));
    if (d == ndim - 1) {
        TSR_TRY(add_row(s, first));
    } else {
        for (int64_t k = 0; k < n; k++) {
            if (n < s->shape->size[d] && k == n / 2) {
                TSR_TRY(add(s, "..."));
                TSR_TRY(new_lines(s, ndim - 1 - d, d + 1));
            }
            TSR_TRY(add_dims(s, d + 1, first + k * each));
            if (k + 1 < n)
                TSR_TRY(new_lines(s, ndim - 1 - d, d + 1));
        }
    }
    TSR_TRY(add(s, "]"));
done:
    return st;
}

tsr_status tsr__print_values(tsr_print_text *text, tsr_dtype dtype, const tsr_shape *shape,
                             const tsr_shape *shown, const void *data, tsr_error *err)
{
    setting s = {.text = text, .shape = shape, .shown = shown, .data = data, .err = err};
    int64_t n = 1;
    char word[WORD_LEN];

    for (int d = 0; d < shown->ndim; d++)
        n *= shown->size[d];
    if (n == 0)
        return tsr__print_add(text, "[]", err);
    s.style = choose_style(dtype, data, n);
    if (shape->ndim > 0)
        return add_dims(&s, 0, 0);
    element_word(&s.style, data, 0, word);
    return tsr__print_add(text, word, err);
}
