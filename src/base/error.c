/* SPDX-License-Identifier: Apache-2.0 */
/* error.c - records the first error and names status codes. Called by everything. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/args.h"

#include "base/text.h"

#define TEXT(number) #number
#define VERSION(major, minor, patch) TEXT(major) "." TEXT(minor) "." TEXT(patch)

tsr_status tsr__fail(tsr_error *err, tsr_status code, const char *format, ...)
{
    va_list args;

    if (!err || err->code != TSR_OK)
        return code;
    err->code = code;
    va_start(args, format);
    tsr__vformat(err->text, sizeof err->text, format, args);
    va_end(args);
    tsr__escape(err->text, sizeof err->text); /* names and file contents may be anything */
    return code;
}

tsr_status tsr__fail_null(tsr_error *err, const char *function, const char *names, unsigned i)
{
    for (; i > 0; i--)
        names = strchr(names, ',') + 2;
    return tsr__fail(err, TSR_ERR_ARG, "%s: %.*s is NULL", function, (int)strcspn(names, ","),
                     names);
}

tsr_status tsr__fail_size(tsr_error *err, const char *function, size_t given, size_t known,
                          const char *by)
{
    return tsr__fail(err, TSR_ERR_ARG,
                     "%s: the size of a struct is given as %zu bytes, this library knows %zu; "
                     "%s sets it",
                     function, given, known, by);
}

#define STATUS_CASE(code, value, text)                                                             \
    case code: return text;

const char *tsr_status_text(tsr_status status)
{
    switch (status) {
        TSR_STATUS_LIST(STATUS_CASE)
    }
    return "unknown status";
}

const char *tsr_version(void)
{
    return VERSION(TSR_VERSION_MAJOR, TSR_VERSION_MINOR, TSR_VERSION_PATCH);
}

int tsr_version_number(void)
{
    return TSR_VERSION;
}
