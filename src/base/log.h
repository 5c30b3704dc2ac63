/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - messages to stderr at a level set by TESSERA_LOG (off, warn, info, debug). */
#ifndef TSR_BASE_LOG_H
#define TSR_BASE_LOG_H

#include "base/ctx.h"

enum { TSR_LOG_OFF = 0, TSR_LOG_WARN = 1, TSR_LOG_INFO = 2, TSR_LOG_DEBUG = 3 };

int tsr__log_level(const char *text); /* NULL or unknown: warn */
void tsr__log(const tsr_ctx *ctx, int level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
