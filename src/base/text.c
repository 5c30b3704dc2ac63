/* SPDX-License-Identifier: Apache-2.0 */
/* text.c - libc's conversions in the C locale, and escaping. */
#include "base/text.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

/* A constant of libc: asking for the C locale makes no new object. */
static locale_t c_locale(void)
{
    return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

double tsr__parse_double(const char *text, char **end)
{
    return strtod_l(text, end, c_locale());
}

int64_t tsr__parse_i64(const char *text, char **end)
{
    return strtoll_l(text, end, 10, c_locale());
}

uint64_t tsr__parse_u64(const char *text, char **end)
{
    return strtoull_l(text, end, 10, c_locale());
}

int tsr__vformat(char *buf, size_t n, const char *format, va_list args)
{
    locale_t before = uselocale(c_locale()); /* of this thread only */
    int length = vsnprintf(buf, n, format, args);

    uselocale(before);
    return length;
}

int tsr__format(char *buf, size_t n, const char *format, ...)
{
    va_list args;
    int length;

    va_start(args, format);
    length = tsr__vformat(buf, n, format, args);
    va_end(args);
    return length;
}

int tsr__print(FILE *to, const char *format, ...)
{
    locale_t before = uselocale(c_locale());
    va_list args;
    int length;

    va_start(args, format);
    length = vfprintf(to, format, args);
    va_end(args);
    uselocale(before);
    return length;
}

const char *tsr__errno_text(int code)
{
    const char *text = strerrordesc_np(code);

    return text ? text : "unknown error";
}

/* ---- escaping ---- */

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Bytes of the character at p, 0 if it must be escaped: a control character (also those of
   ISO 6429, U+0080 to U+009F), or not UTF-8. */
static size_t printable(const char *p)
{
    const unsigned char a = (unsigned char)p[0], b = a ? (unsigned char)p[1] : 0;
    const size_t n = a < 0x80 ? 1 : a < 0xc2 ? 0 : a < 0xe0 ? 2 : a < 0xf0 ? 3 : a < 0xf5 ? 4 : 0;

    if (n == 1)
        return a >= ' ' && a != 0x7f;
    for (size_t i = 1; i < n; i++)
        if (!is_continuation(p[i]))
            return 0;
    if ((a == 0xc2 && b < 0xa0) || (a == 0xe0 && b < 0xa0) || (a == 0xed && b >= 0xa0) ||
        (a == 0xf0 && b < 0x90) || (a == 0xf4 && b >= 0x90))
        return 0;
    return n;
}

void tsr__escape(char *buf, size_t n)
{
    static const char hex[] = "0123456789abcdef";
    size_t length = strlen(buf), i = 0;

    while (buf[i]) {
        const unsigned char c = (unsigned char)buf[i];
        const size_t good = printable(buf + i);

        if (good > 0) {
            i += good;
            continue;
        }
        if (i + 4 >= n) {
            buf[i] = 0;
            break;
        }
        if (length + 3 >= n)
            buf[length = n - 4] = 0;
        memmove(buf + i + 4, buf + i + 1, length - i);
        memcpy(buf + i, (char[]){'\\', 'x', hex[c >> 4], hex[c & 15]}, 4);
        length += 3;
        i += 4;
    }
}
