/* SPDX-License-Identifier: Apache-2.0 */
/* history.c - comparing the calls of two ranks, and how a verdict spreads over a mesh (history.h).
   Pure; called by the transports, mesh_handle.c and verdict.c. */
#include "world/history.h"

#include <stdio.h>

#include "base/error.h"

void tsr__history_forget(tsr_history *h, const tsr_cached *subject)
{
    for (int i = 0; i < TSR_HISTORY_LEN; i++)
        if (h->past[i].subject == subject)
            h->past[i].subject = NULL;
}

static const tsr_past_call *past_at(const tsr_history *h, uint64_t number)
{
    return &h->past[(number - 1) % TSR_HISTORY_LEN];
}

/* The oldest call that is still known when this many were made. */
static uint64_t oldest(uint64_t count)
{
    return count > TSR_HISTORY_LEN ? count - TSR_HISTORY_LEN + 1 : 1;
}

uint64_t tsr__history_clock(const tsr_history *h, uint64_t number)
{
    return number >= oldest(h->count) && number <= h->count ? past_at(h, number)->clock : 0;
}

uint64_t tsr__history_differs(const tsr_history *h, uint64_t count, const uint64_t *hash)
{
    const uint64_t last = h->count < count ? h->count : count;
    uint64_t number = oldest(h->count > count ? h->count : count);

    if (number > last + 1)
        return 0;
    if (number > 1 && number <= last &&
        past_at(h, number)->hash != hash[(number - 1) % TSR_HISTORY_LEN])
        return 0; /* the oldest differ already: it may have been before */
    while (number <= last && past_at(h, number)->hash == hash[(number - 1) % TSR_HISTORY_LEN])
        number++;
    return number;
}

const char *tsr__history_text(const tsr_history *h, uint64_t number, char *buf, size_t n)
{
    if (number > h->count)
        snprintf(buf, n, "no further op");
    else if (number < oldest(h->count))
        snprintf(buf, n, "an op more than %d calls ago", TSR_HISTORY_LEN);
    else if (!past_at(h, number)->text)
        snprintf(buf, n, "an op that failed");
    else if (!past_at(h, number)->subject)
        snprintf(buf, n, "an op whose plan was dropped");
    else
        past_at(h, number)->text(past_at(h, number)->subject, buf, n);
    return buf;
}

tsr_status tsr__histories_diverged(const char *what, int rank, const char *call, int other_rank,
                                   const char *other_call, tsr_error *err)
{
    return tsr__fail(err, TSR_ERR_DIVERGED,
                     "ranks diverged before %s: rank %d called %.160s, rank %d called %.160s", what,
                     rank, call, other_rank, other_call);
}

void tsr__verdict_merge(tsr_verdict *v, const tsr_verdict *other)
{
    if (!other->number)
        return;
    if (v->number == other->number && v->rank == other->rank)
        v->known |= other->known;
    else if (!v->number || other->number < v->number ||
             (other->number == v->number && other->rank < v->rank))
        *v = *other;
}
