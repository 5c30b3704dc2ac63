/* SPDX-License-Identifier: Apache-2.0 */
/* activity.h - bytes and time of what happens between two calls, booked on the counters of an op or
   of an activity: explicit redistributions, host transfers, collectives, files. */
#ifndef TSR_BASE_ACTIVITY_H
#define TSR_BASE_ACTIVITY_H

#include "base/ctx.h"

double tsr__clock(void); /* seconds since some point in the past */
static inline double tsr__statistics_clock(const tsr_ctx *ctx) /* 0 unless statistics are on */
{
    return ctx->statistics ? tsr__clock() : 0;
}

/* What comes in between is counted as an op's, by mesh dim; the seconds are given back, 0 unless
   statistics are on. */
typedef struct tsr_booking {
    int64_t along[TSR_MAX_MESH + 1];
    double begin;
} tsr_booking;
tsr_booking tsr__book_begin(const tsr_ctx *ctx);
double tsr__book_end(const tsr_ctx *ctx, const tsr_booking *b, tsr_op_counters *counters);

/* An activity of the program. Those inside it are part of it: a broadcast while a file is saved. */
tsr_booking tsr__activity_begin(tsr_ctx *ctx);
/* calls: 1, or 0 if this goes on with one that was counted. */
void tsr__activity_end(tsr_ctx *ctx, const tsr_booking *b, tsr_activity activity, int calls);

const char *tsr__activity_name(tsr_activity activity);

#endif
