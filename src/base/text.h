/* SPDX-License-Identifier: Apache-2.0 */
/* text.h - reading and writing texts independently of the program's locale: numbers have a decimal
   point, letters are ASCII letters. The only place that calls the functions of libc whose results
   depend on the locale (tools/check_locale). */
#ifndef TSR_BASE_TEXT_H
#define TSR_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

static inline bool tsr__is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool tsr__is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static inline bool tsr__is_letter(char c)
{
    return tsr__is_lower(c) || (c >= 'A' && c <= 'Z');
}

/* Of a name: a letter, a digit or _. */
static inline bool tsr__is_word(char c)
{
    return tsr__is_letter(c) || tsr__is_digit(c) || c == '_';
}

static inline bool tsr__is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* strtod, strtoll and strtoull in the C locale: *end is where reading stopped, text itself if there
   is no number; out of range: errno is ERANGE and the nearest value is returned. */
double tsr__parse_double(const char *text, char **end);
int64_t tsr__parse_i64(const char *text, char **end);
uint64_t tsr__parse_u64(const char *text, char **end);

/* snprintf, vsnprintf and fprintf in the C locale. Needed for floating-point conversions only:
   integers and strings are the same in every locale. */
int tsr__format(char *buf, size_t n, const char *format, ...) __attribute__((format(printf, 3, 4)));
int tsr__vformat(char *buf, size_t n, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
int tsr__print(FILE *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What errno says, in English: strerror translates it. */
const char *tsr__errno_text(int code);

/* Replaces in place what could steer a terminal or break a line, control characters and bytes that
   are not UTF-8, by \xNN. The text in buf[n] is cut if it gets too long. */
void tsr__escape(char *buf, size_t n);

#endif
