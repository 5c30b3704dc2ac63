/* SPDX-License-Identifier: Apache-2.0 */
/* log.c - one line on stderr per message, written at once so that lines of ranks do not mix. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

static const char *const level_names[] = {"off", "warn", "info", "debug"};
enum { LEVELS = sizeof level_names / sizeof *level_names };

int tsr__log_level(const char *text)
{
    for (int i = 0; text && i < LEVELS; i++)
        if (!strcmp(text, level_names[i]))
            return i;
    return TSR_LOG_WARN;
}

void tsr__log(const tsr_ctx *ctx, int level, const char *format, ...)
{
    char line[TSR_ERROR_LEN + 100];
    va_list args;

    if (level <= TSR_LOG_OFF || level >= LEVELS || level > ctx->log_level)
        return;
    va_start(args, format);
    tsr__vformat(line, sizeof line, format, args);
    va_end(args);
    tsr__escape(line, sizeof line);
    fprintf(stderr, "tessera: %s: %s\n", level_names[level], line);
}
