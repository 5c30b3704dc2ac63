/* SPDX-License-Identifier: Apache-2.0 */
/* runs.h - index sets along one tensor dim as lists of runs {begin, len, step, count}, ascending
   and without overlap, and where two of them meet. Pure. */
#ifndef TSR_LAYOUT_RUNS_H
#define TSR_LAYOUT_RUNS_H

#include "base/heap.h"

enum {
    TSR_RUNS_FIXED = 4
}; /* enough for a strided shard of a plain one; more come from the heap */

enum { TSR_RUNS_MAX = 1 << 20 }; /* pieces of nested strided shards */

typedef struct tsr_runs {
    int n, cap;
    tsr_index_run *more; /* all of them, once they are too many for fixed[] */
    tsr_index_run fixed[TSR_RUNS_FIXED];
} tsr_runs;

static inline const tsr_index_run *tsr__runs_at(const tsr_runs *runs, int i)
{
    return runs->more ? &runs->more[i] : &runs->fixed[i];
}

void tsr__runs_free(tsr_heap *heap, tsr_runs *runs);
int64_t tsr__runs_count(const tsr_runs *runs); /* indices */
/* Append indices that lie above all others; joins them to the last run where that is possible. */
tsr_status tsr__runs_append(tsr_heap *heap, tsr_runs *runs, tsr_index_run run, tsr_error *err);
/* Append to `out` the indices at positions begin <= i < end of `runs`. */
tsr_status tsr__runs_slice(tsr_heap *heap, const tsr_runs *runs, int64_t begin, int64_t end,
                           tsr_runs *out, tsr_error *err);
int64_t tsr__runs_index(const tsr_runs *runs, int64_t i); /* the i-th index, -1 if none */

/* Where two index sets meet, in positions: a + j * a_step + i in the one is b + j * b_step + i in
   the other, for 0 <= j < count, 0 <= i < len. */
typedef struct tsr_overlap {
    int64_t a, b, len, a_step, b_step, count;
} tsr_overlap;

typedef struct tsr_overlaps {
    int n, cap;
    tsr_overlap *v;
} tsr_overlaps;

tsr_status tsr__runs_meet(tsr_heap *heap, const tsr_runs *a, const tsr_runs *b, tsr_overlaps *out,
                          tsr_error *err);
int64_t tsr__runs_meet_count(const tsr_runs *a, const tsr_runs *b);

/* The chunk rule: part r of p of n indices is [begin, end). */
static inline void tsr__chunk(int64_t n, int p, int r, int64_t *begin, int64_t *end)
{
    int64_t c = n / p + (n % p != 0);
    *begin = r * c < n ? r * c : n;
    *end = *begin + c < n ? *begin + c : n;
}

#endif
