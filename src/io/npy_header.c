/* SPDX-License-Identifier: Apache-2.0 */
/* npy_header.c - reads and writes npy headers, versions 1.0 to 3.0: a magic word, a length, and a
   Python dict {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }. Whatever a file claims
   is checked against its size here, so that npy.c can trust it. */
#include "io/npy_header.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/dtype.h"
#include "base/text.h"
#include "layout/spec.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "npy files hold little-endian numbers, which this code reads as they are"
#endif

static const unsigned char MAGIC[] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
enum { TEXT_MAX = 1 << 20 }; /* no honest header is longer: 8 dims need 200 bytes */
enum { WORD_LEN = 32 };

/* "<f4"; numpy has no bf16, arrays of ml_dtypes' bfloat16 are saved as V2. */
static const char *descr_of(tsr_dtype dtype, char text[WORD_LEN])
{
    const int size = (int)tsr_dtype_size(dtype);
    const char kind = dtype == TSR_BF16            ? 'V'
                      : tsr__dtype_is_float(dtype) ? 'f'
                      : dtype == TSR_BOOL          ? 'b'
                      : tsr__dtype_min(dtype) == 0 ? 'u'
                                                   : 'i';

    snprintf(text, WORD_LEN, "%c%c%d", size == 1 ? '|' : '<', kind, size);
    return text;
}

/* ---- the prefix ---- */

tsr_status tsr__npy_prefix(const char *path, const unsigned char *bytes, size_t n, int64_t file,
                           int64_t *begin, int64_t *length, tsr_error *err)
{
    int64_t at, size;

    if (n < sizeof MAGIC || memcmp(bytes, MAGIC, sizeof MAGIC) != 0)
        return tsr__fail(err, TSR_ERR_FORMAT, "npy file %s: bad magic bytes", path);
    if (n < 8)
        return tsr__fail(err, TSR_ERR_FORMAT, "npy file %s: only %" PRId64 " bytes, no version",
                         path, file);
    if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0)
        return tsr__fail(err, TSR_ERR_FORMAT,
                         "npy file %s: version %d.%d is unknown; expected 1.0, 2.0 or 3.0", path,
                         bytes[6], bytes[7]);
    at = bytes[6] == 1 ? 10 : 12;
    if (n < (size_t)at)
        return tsr__fail(err, TSR_ERR_FORMAT,
                         "npy file %s: only %" PRId64 " bytes, it ends before its header", path,
                         file);
    size = bytes[8] | bytes[9] << 8;
    if (at == 12)
        size |= (int64_t)bytes[10] << 16 | (int64_t)bytes[11] << 24;
    if (size > file - at)
        return tsr__fail(err, TSR_ERR_FORMAT,
                         "npy file %s: a header of %" PRId64
                         " bytes goes beyond the file's %" PRId64,
                         path, size, file);
    if (size > TEXT_MAX)
        return tsr__fail(err, TSR_ERR_FORMAT,
                         "npy file %s: a header of %" PRId64 " bytes; at most %d are accepted",
                         path, size, TEXT_MAX);
    *begin = at;
    *length = size;
    return TSR_OK;
}

/* ---- the text: words and numbers ---- */

typedef struct cursor {
    const char *path;
    const char *text, *p, *end;
    tsr_error *err;
} cursor;

static void skip_blanks(cursor *c)
{
    while (c->p < c->end && (*c->p == ' ' || *c->p == '\n' || *c->p == '\t' || *c->p == '\r'))
        c->p++;
}

/* Says where, not what stands there: messages do not quote files. */
static tsr_status unexpected(const cursor *c, const char *expected)
{
    return tsr__fail(c->err, TSR_ERR_FORMAT, "npy file %s: header: expected %s at byte %td",
                     c->path, expected, c->p - c->text);
}

static bool accept(cursor *c, const char *word)
{
    size_t n = strlen(word);

    skip_blanks(c);
    if ((size_t)(c->end - c->p) < n || memcmp(c->p, word, n) != 0)
        return false;
    c->p += n;
    return true;
}

static tsr_status expect(cursor *c, const char *word)
{
    char quoted[WORD_LEN];

    if (accept(c, word))
        return TSR_OK;
    snprintf(quoted, sizeof quoted, "'%s'", word);
    return unexpected(c, quoted);
}

/* 'word' or "word", without escapes: no honest header has any */
static tsr_status string(cursor *c, const char *what, char word[WORD_LEN])
{
    const char *p, *close;

    skip_blanks(c);
    if (c->p == c->end || (*c->p != '\'' && *c->p != '"'))
        return unexpected(c, what);
    p = c->p + 1;
    close = memchr(p, *c->p, (size_t)(c->end - p));
    if (!close || close - p >= WORD_LEN || memchr(p, '\\', (size_t)(close - p)))
        return unexpected(c, what);
    for (const char *q = p; q < close; q++)
        if (*q < ' ' || *q > '~')
            return unexpected(c, what);
    memcpy(word, p, (size_t)(close - p));
    word[close - p] = 0;
    c->p = close + 1;
    return TSR_OK;
}

static tsr_status size_of_dim(cursor *c, int64_t *out)
{
    int64_t value = 0;
    cursor start;

    skip_blanks(c);
    start = *c;
    if (c->p < c->end && *c->p == '-')
        return unexpected(c, "a size that is not negative");
    if (c->p == c->end || !tsr__is_digit(*c->p))
        return unexpected(c, "a size");
    for (; c->p < c->end && tsr__is_digit(*c->p); c->p++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *c->p - '0', &value))
            return unexpected(&start, "a size below 2^63");
    if (c->p < c->end && *c->p == 'L') /* as Python 2 wrote them */
        c->p++;
    *out = value;
    return TSR_OK;
}

/* ---- the values ---- */

/* "c16" without its byte order: nothing else of a file is quoted. */
static bool is_type_code(const char *name)
{
    return tsr__is_letter(name[0]) && strspn(name + 1, "0123456789") == strlen(name + 1);
}

static tsr_status type(cursor *c, tsr_npy *npy)
{
    char word[WORD_LEN], descr[WORD_LEN];
    const char *name = word;
    bool big = false;
    tsr_status st;

    skip_blanks(c);
    if (c->p < c->end && (*c->p == '[' || *c->p == '(' || *c->p == '{'))
        return tsr__fail(c->err, TSR_ERR_DTYPE, "npy file %s: structured dtypes are not supported",
                         c->path);
    TSR_TRY(string(c, "a type like '<f4'", word));
    if (*name && strchr("<>=|", *name))
        big = *name++ == '>';
    for (int d = 0; d < TSR__FIELD; d++) {
        if (strcmp(descr_of((tsr_dtype)d, descr) + 1, name) != 0)
            continue;
        if (big && d == TSR_BF16)
            return tsr__fail(c->err, TSR_ERR_DTYPE,
                             "npy file %s: type '%s' has no byte order, expected |V2", c->path,
                             word);
        npy->dtype = (tsr_dtype)d;
        npy->swapped = big && tsr_dtype_size(npy->dtype) > 1;
        return TSR_OK;
    }
    return tsr__fail(c->err, TSR_ERR_DTYPE,
                     "npy file %s: %s%s%s is not among f2 f4 f8 V2 i1 i2 i4 i8 u1 u2 u4 u8 b1",
                     c->path, is_type_code(name) ? "type '" : "its type",
                     is_type_code(name) ? word : "", is_type_code(name) ? "'" : "");
done:
    return st;
}

static tsr_status order(cursor *c, bool *fortran)
{
    *fortran = accept(c, "True");
    return *fortran || accept(c, "False") ? TSR_OK : unexpected(c, "True or False");
}

static tsr_status shape(cursor *c, tsr_shape *out)
{
    bool comma = true; /* (3) is a number in Python, and (3,) a tuple */
    tsr_status st;

    out->ndim = 0;
    TSR_TRY(expect(c, "("));
    while (!accept(c, ")")) {
        if (out->ndim == TSR_MAX_DIM)
            return tsr__fail(c->err, TSR_ERR_SHAPE, "npy file %s: its shape has more than %d dims",
                             c->path, TSR_MAX_DIM);
        if (!comma)
            return unexpected(c, "','");
        TSR_TRY(size_of_dim(c, &out->size[out->ndim]));
        out->ndim++;
        comma = accept(c, ",");
    }
    if (out->ndim == 1 && !comma)
        return tsr__fail(c->err, TSR_ERR_FORMAT,
                         "npy file %s: header: the shape is a number, expected a tuple like (3,)",
                         c->path);
done:
    return st;
}

/* ---- the whole ---- */

static tsr_status dict(cursor *c, tsr_npy *npy)
{
    static const char *const key[] = {"descr", "fortran_order", "shape"};
    bool seen[3] = {false};
    char word[WORD_LEN];
    tsr_status st;

    TSR_TRY(expect(c, "{"));
    while (!accept(c, "}")) {
        int k = 0;
        TSR_TRY(string(c, "a key", word));
        while (k < 3 && strcmp(word, key[k]) != 0)
            k++;
        if (k == 3)
            return tsr__fail(c->err, TSR_ERR_FORMAT, "npy file %s: header: unknown key at byte %td",
                             c->path, c->p - c->text - (ptrdiff_t)strlen(word) - 2);
        if (seen[k])
            return tsr__fail(c->err, TSR_ERR_FORMAT, "npy file %s: header: repeated key '%s'",
                             c->path, key[k]);
        seen[k] = true;
        TSR_TRY(expect(c, ":"));
        TSR_TRY(k == 0 ? type(c, npy) : k == 1 ? order(c, &npy->fortran) : shape(c, &npy->shape));
        if (!accept(c, ",")) {
            TSR_TRY(expect(c, "}"));
            break;
        }
    }
    skip_blanks(c);
    if (c->p < c->end)
        return unexpected(c, "the end");
    for (int k = 0; k < 3; k++)
        if (!seen[k])
            return tsr__fail(c->err, TSR_ERR_FORMAT, "npy file %s: header: no key '%s'", c->path,
                             key[k]);
done:
    return st;
}

/* Empty dims do not excuse the others: even the product without them must be countable. */
static tsr_status check_size(const char *path, const tsr_npy *npy, int64_t file, tsr_error *err)
{
    int64_t bytes = (int64_t)tsr_dtype_size(npy->dtype), have = file - npy->data;
    bool empty = false;
    char text[TSR_TEXT_LEN];

    for (int d = 0; d < npy->shape.ndim; d++) {
        int64_t n = npy->shape.size[d];
        empty = empty || n == 0;
        if (n != 0 && __builtin_mul_overflow(bytes, n, &bytes))
            return tsr__fail(err, TSR_ERR_FORMAT, "npy file %s: shape %s has more than 2^63 bytes",
                             path, tsr__shape_text(&npy->shape, text, sizeof text));
    }
    if (empty)
        bytes = 0;
    if (have == bytes)
        return TSR_OK;
    return tsr__fail(err, TSR_ERR_FORMAT,
                     "npy file %s: %s%s needs %" PRId64 " bytes after the header, but there are "
                     "%" PRId64,
                     path, tsr_dtype_name(npy->dtype),
                     tsr__shape_text(&npy->shape, text, sizeof text), bytes, have);
}

tsr_status tsr__npy_text(const char *path, const char *text, size_t n, int64_t data, int64_t file,
                         tsr_npy *out, tsr_error *err)
{
    cursor c = {.path = path, .text = text, .p = text, .end = text + n, .err = err};
    tsr_npy npy = {.data = data};
    tsr_status st;

    TSR_TRY(dict(&c, &npy));
    TSR_TRY(check_size(path, &npy, file, err));
    *out = npy;
done:
    return st;
}

tsr_status tsr__npy_parse(const char *path, const unsigned char *bytes, size_t n, tsr_npy *out,
                          tsr_error *err)
{
    int64_t begin = 0, length = 0;
    tsr_status st;

    TSR_TRY(tsr__npy_prefix(path, bytes, n < TSR_NPY_PREFIX ? n : TSR_NPY_PREFIX, (int64_t)n,
                            &begin, &length, err));
    TSR_TRY(tsr__npy_text(path, (const char *)bytes + begin, (size_t)length, begin + length,
                          (int64_t)n, out, err));
done:
    return st;
}

/* ---- writing ---- */

tsr_status tsr__npy_write(tsr_dtype dtype, const tsr_shape *dims, char text[TSR_NPY_WRITTEN],
                          size_t *n, tsr_error *err)
{
    enum { BEGIN = 10, ALIGN = 64, ROOM = 21 };
    char number[24], descr[WORD_LEN];
    int at = BEGIN, end;

    if ((unsigned)dtype >= TSR__FIELD)
        return tsr__fail(err, TSR_ERR_DTYPE, "npy files have no type for dtype %d", (int)dtype);
    at += snprintf(text + at, (size_t)(TSR_NPY_WRITTEN - at),
                   "{'descr': '%s', 'fortran_order': False, 'shape': (", descr_of(dtype, descr));
    for (int d = 0; d < dims->ndim; d++)
        at += snprintf(text + at, (size_t)(TSR_NPY_WRITTEN - at), "%s%" PRId64, d ? ", " : "",
                       dims->size[d]);
    at += snprintf(text + at, (size_t)(TSR_NPY_WRITTEN - at), "%s), }", dims->ndim == 1 ? "," : "");
    end = at + 1;
    if (dims->ndim > 0) /* numpy leaves room for the first size to grow */
        end += ROOM - snprintf(number, sizeof number, "%" PRId64, dims->size[0]);
    end = (end + ALIGN - 1) / ALIGN * ALIGN;
    memset(text + at, ' ', (size_t)(end - at - 1));
    text[end - 1] = '\n';
    memcpy(text, MAGIC, sizeof MAGIC);
    text[6] = 1;
    text[7] = 0;
    text[8] = (char)((end - BEGIN) & 0xff);
    text[9] = (char)((end - BEGIN) >> 8);
    *n = (size_t)end;
    return TSR_OK;
}
