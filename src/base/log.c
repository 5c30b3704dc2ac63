/* SPDX-License-Identifier: Apache-2.0 */
/* log.c - one line per message, written at once so that lines of ranks do not mix. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

static const char *const level_names[] = {"off", "warn", "info", "debug"};
enum { LEVELS = sizeof level_names / sizeof *level_names };

tsr_status tsr__log_level_parse(const char *text, tsr_log_level *out, tsr_error *err)
{
    int i = 0;

    while (text && *text && i < LEVELS && strcmp(text, level_names[i]) != 0)
        i++;
    if (i == LEVELS)
        return tsr__fail(err, TSR_ERR_PARSE, "log level \"%s\"; expected off, warn, info or debug",
                         text);
    *out = text && *text ? (tsr_log_level)i : TSR_LOG_WARN;
    return TSR_OK;
}

void tsr__log(const tsr_ctx *ctx, tsr_log_level level, const char *format, ...)
{
    char line[TSR_ERROR_LEN + 100];
    va_list args;

    if (!tsr__log_is_on(ctx, level))
        return;
    va_start(args, format);
    tsr__vformat(line, sizeof line, format, args);
    va_end(args);
    tsr__escape(line, sizeof line);
    if (ctx->log)
        ctx->log(ctx->log_arg, level, ctx->log_rank, line);
    else
        fprintf(stderr, "tessera: %s: %s\n", level_names[level], line);
}
