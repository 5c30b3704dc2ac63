/* SPDX-License-Identifier: Apache-2.0 */
/* runs.c - building and intersecting lists of runs. Lists stay short because neighbours are joined:
   a strided shard with thousands of pieces is one or two runs. */
#include "layout/runs.h"

#include <string.h>

void tsr__runs_free(tsr_heap *heap, tsr_runs *runs)
{
    tsr__free(heap, runs->more);
    memset(runs, 0, sizeof *runs);
}

int64_t tsr__runs_count(const tsr_runs *runs)
{
    int64_t n = 0;
    for (int i = 0; i < runs->n; i++)
        n += tsr__runs_at(runs, i)->len * tsr__runs_at(runs, i)->count;
    return n;
}

/* Join `next` to `last` if both together are one run. */
static bool join(tsr_index_run *last, const tsr_index_run *next)
{
    if (last->count == 1 && next->count == 1 && next->begin == last->begin + last->len) {
        last->len += next->len;
        last->step = last->len;
        return true;
    }
    if (next->len != last->len || (next->count > 1 && last->count > 1 && next->step != last->step))
        return false;
    int64_t step = last->count > 1 ? last->step : next->begin - last->begin;
    if (next->begin != last->begin + last->count * step || (next->count > 1 && next->step != step))
        return false;
    last->step = step;
    last->count += next->count;
    return true;
}

tsr_status tsr__runs_append(tsr_heap *heap, tsr_runs *runs, tsr_index_run run, tsr_error *err)
{
    tsr_status st = TSR_OK;

    if (run.len <= 0 || run.count <= 0)
        return TSR_OK;
    if (run.count > 1 && run.step == run.len) {
        run.len *= run.count;
        run.count = 1;
    }
    if (run.count == 1)
        run.step = run.len;
    if (runs->n > 0) {
        tsr_index_run *last = runs->more ? &runs->more[runs->n - 1] : &runs->fixed[runs->n - 1];
        if (join(last, &run))
            return TSR_OK;
    }
    if (!runs->more && runs->n < TSR_RUNS_FIXED) {
        runs->fixed[runs->n++] = run;
        return TSR_OK;
    }
    bool move = !runs->more;
    TSR_TRY(tsr__grow(heap, &runs->more, &runs->cap, runs->n, sizeof *runs->more, err));
    if (move)
        memcpy(runs->more, runs->fixed, sizeof runs->fixed);
    runs->more[runs->n++] = run;
done:
    return st;
}

/* Positions begin .. end of one run: a cut first block, whole blocks, a cut last block. */
static tsr_status slice_run(tsr_heap *heap, const tsr_index_run *run, int64_t begin, int64_t end,
                            tsr_runs *out, tsr_error *err)
{
    int64_t j = begin / run->len, k = end / run->len;
    int64_t from = begin % run->len, to = end % run->len;
    tsr_status st = TSR_OK;

    if (j == k)
        return tsr__runs_append(
            heap, out, (tsr_index_run){run->begin + j * run->step + from, to - from, 0, 1}, err);
    if (from > 0) {
        TSR_TRY(tsr__runs_append(
            heap, out, (tsr_index_run){run->begin + j * run->step + from, run->len - from, 0, 1},
            err));
        j++;
    }
    TSR_TRY(tsr__runs_append(
        heap, out, (tsr_index_run){run->begin + j * run->step, run->len, run->step, k - j}, err));
    TSR_TRY(
        tsr__runs_append(heap, out, (tsr_index_run){run->begin + k * run->step, to, 0, 1}, err));
done:
    return st;
}

tsr_status tsr__runs_slice(tsr_heap *heap, const tsr_runs *runs, int64_t begin, int64_t end,
                           tsr_runs *out, tsr_error *err)
{
    int64_t seen = 0;
    tsr_status st = TSR_OK;

    for (int i = 0; i < runs->n && seen < end; i++) {
        const tsr_index_run *run = tsr__runs_at(runs, i);
        int64_t n = run->len * run->count;
        int64_t lo = begin > seen ? begin - seen : 0;
        int64_t hi = end - seen < n ? end - seen : n;
        if (lo < hi)
            TSR_TRY(slice_run(heap, run, lo, hi, out, err));
        seen += n;
    }
done:
    return st;
}

int64_t tsr__runs_index(const tsr_runs *runs, int64_t i)
{
    for (int k = 0; k < runs->n && i >= 0; k++) {
        const tsr_index_run *run = tsr__runs_at(runs, k);
        if (i < run->len * run->count)
            return run->begin + i / run->len * run->step + i % run->len;
        i -= run->len * run->count;
    }
    return -1;
}

/* ---- meeting ---- */

/* Walks the blocks of a list, one interval [begin, end) at a time. */
typedef struct walk {
    const tsr_runs *runs;
    int i;
    int64_t j;          /* block of run i */
    int64_t begin, end; /* of the current block */
    int64_t position;   /* of begin */
} walk;

static bool load(walk *w)
{
    if (w->i >= w->runs->n)
        return false;
    const tsr_index_run *run = tsr__runs_at(w->runs, w->i);
    w->begin = run->begin + w->j * run->step;
    w->end = w->begin + run->len;
    return true;
}

static bool next(walk *w)
{
    const tsr_index_run *run = tsr__runs_at(w->runs, w->i);
    w->position += run->len;
    if (++w->j == run->count) {
        w->i++;
        w->j = 0;
    }
    return load(w);
}

/* Blocks of the current run that end at or before `limit` can be passed over in one go. */
static bool skip_to(walk *w, int64_t limit)
{
    const tsr_index_run *run = tsr__runs_at(w->runs, w->i);
    int64_t whole = run->count > 1 && limit > w->end ? (limit - w->end) / run->step : 0;
    if (whole > run->count - 1 - w->j)
        whole = run->count - 1 - w->j;
    w->j += whole;
    w->position += whole * run->len;
    load(w);
    return w->end > limit || next(w);
}

static bool join_overlap(tsr_overlap *last, const tsr_overlap *o)
{
    if (last->count == 1 && o->a == last->a + last->len && o->b == last->b + last->len) {
        last->len += o->len;
        return true;
    }
    if (o->len != last->len)
        return false;
    if (last->count == 1) {
        last->a_step = o->a - last->a;
        last->b_step = o->b - last->b;
    } else if (o->a != last->a + last->count * last->a_step ||
               o->b != last->b + last->count * last->b_step) {
        return false;
    }
    last->count++;
    return true;
}

tsr_status tsr__runs_meet(tsr_heap *heap, const tsr_runs *a, const tsr_runs *b, tsr_overlaps *out,
                          tsr_error *err)
{
    walk x = {.runs = a}, y = {.runs = b};
    bool more = load(&x) && load(&y);
    tsr_status st = TSR_OK;

    out->n = 0;
    while (more) {
        int64_t lo = x.begin > y.begin ? x.begin : y.begin;
        int64_t hi = x.end < y.end ? x.end : y.end;
        if (lo < hi) {
            tsr_overlap o = {.a = x.position + lo - x.begin,
                             .b = y.position + lo - y.begin,
                             .len = hi - lo,
                             .count = 1};
            if (out->n == 0 || !join_overlap(&out->v[out->n - 1], &o)) {
                TSR_TRY(tsr__grow(heap, &out->v, &out->cap, out->n, sizeof *out->v, err));
                out->v[out->n++] = o;
            }
            more = x.end == hi ? next(&x) : next(&y);
        } else {
            more = x.end <= y.begin ? skip_to(&x, y.begin) : skip_to(&y, x.begin);
        }
    }
done:
    return st;
}

int64_t tsr__runs_meet_count(const tsr_runs *a, const tsr_runs *b)
{
    walk x = {.runs = a}, y = {.runs = b};
    bool more = load(&x) && load(&y);
    int64_t n = 0;

    while (more) {
        int64_t lo = x.begin > y.begin ? x.begin : y.begin;
        int64_t hi = x.end < y.end ? x.end : y.end;
        if (lo < hi) {
            n += hi - lo;
            more = x.end == hi ? next(&x) : next(&y);
        } else {
            more = x.end <= y.begin ? skip_to(&x, y.begin) : skip_to(&y, x.begin);
        }
    }
    return n;
}
