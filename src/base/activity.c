/* SPDX-License-Identifier: Apache-2.0 */
/* activity.c - the clock, and what is booked where. Called by dispatch, and by the public functions
   that move data themselves. */
#include "base/activity.h"

#include <string.h>
#include <time.h>

double tsr__clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

tsr_booking tsr__book_begin(const tsr_ctx *ctx)
{
    tsr_booking b = {.begin = tsr__statistics_clock(ctx)};

    memcpy(b.along, ctx->counters.along, sizeof b.along);
    return b;
}

double tsr__book_end(const tsr_ctx *ctx, const tsr_booking *b, tsr_op_counters *counters)
{
    for (int i = 0; i <= TSR_MAX_MESH; i++)
        counters->along[i] += ctx->counters.along[i] - b->along[i];
    return tsr__statistics_clock(ctx) - b->begin;
}

tsr_booking tsr__activity_begin(tsr_ctx *ctx)
{
    ctx->activities++;
    return tsr__book_begin(ctx);
}

void tsr__activity_end(tsr_ctx *ctx, const tsr_booking *b, tsr_activity activity, int calls)
{
    tsr_op_counters *counters = &ctx->activity[activity];

    if (--ctx->activities > 0)
        return;
    counters->calls += calls;
    counters->moving += tsr__book_end(ctx, b, counters);
}

const char *tsr__activity_name(tsr_activity activity)
{
    static const char *const names[TSR_ACTIVITIES] = {"redistribute", "host transfers",
                                                      "collectives", "files"};

    return names[activity];
}
