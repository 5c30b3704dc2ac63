/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - messages at a level set by TESSERA_LOG (off, warn, info, debug), to stderr or to the
   program's function. */
#ifndef TSR_BASE_LOG_H
#define TSR_BASE_LOG_H

#include "base/ctx.h"

/* NULL or empty: warn. */
tsr_status tsr__log_level_parse(const char *text, tsr_log_level *out, tsr_error *err);

/* Ask before making texts that only a message needs. */
static inline bool tsr__log_is_on(const tsr_ctx *ctx, tsr_log_level level)
{
    return level <= ctx->log_level;
}

void tsr__log(const tsr_ctx *ctx, tsr_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
