/* SPDX-License-Identifier: Apache-2.0 */
/* measure.c - medians of times that the slowest rank needs. Used by calibrate.c and by the
   benchmarks. */
#include "measure.h"

#include <stdlib.h>
#include <time.h>

enum { LEAST = 5, MOST = 51 };

/* Seconds before anything counts. Thread ranks may begin on one CPU, where a barrier takes 20 times
   as long, and the kernel spreads them only after some milliseconds. */
static const double WARM_UP = 0.1;

double measure_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double measure_median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, by_value);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* The second barrier makes every rank's time that of the slowest; the one that left the first
   barrier first has it all. */
static tsr_status once(tsr_mesh *world, measure_work *w, double *seconds)
{
    const int calls = w->calls ? w->calls : 1;
    tsr_status st = world ? tsr_barrier(world) : TSR_OK;
    double start = measure_now();

    for (int i = 0; i < calls && st == TSR_OK; i++)
        st = w->run(w->arg);
    if (st == TSR_OK && world)
        st = tsr_barrier(world);
    *seconds = measure_now() - start;
    return st;
}

/* values[i] = the largest over all ranks */
static tsr_status slowest(tsr_mesh *world, double *values, int n)
{
    return world ? tsr_all_reduce(world, TSR_F64, TSR_MAX, values, n, values) : TSR_OK;
}

/* At least two rounds; *slow: the longest work of the last one, equal on all ranks. */
static tsr_status warm_up(tsr_mesh *world, measure_work *works, int n, double *slow)
{
    double start = measure_now(), mine, seen[2] = {0}; /* longest work, seconds gone */
    tsr_status st = TSR_OK;

    for (int round = 0; (round < 2 || seen[1] < WARM_UP) && st == TSR_OK; round++) {
        seen[0] = 0;
        for (int i = 0; i < n && st == TSR_OK; i++) {
            st = once(world, &works[i], &mine);
            seen[0] = mine > seen[0] ? mine : seen[0];
        }
        seen[1] = measure_now() - start;
        if (st == TSR_OK)
            st = slowest(world, seen, 2);
    }
    *slow = seen[0];
    return st;
}

tsr_status measure_together(tsr_mesh *world, measure_work *works, int n, double budget)
{
    double(*times)[MOST] = calloc((size_t)n, sizeof *times), slow = 0;
    int repeats = LEAST;
    tsr_status st = times ? warm_up(world, works, n, &slow) : TSR_ERR_MEMORY;

    if (slow * LEAST < budget)
        repeats = slow * MOST > budget ? (int)(budget / slow) : MOST;
    for (int r = 0; r < repeats && st == TSR_OK; r++)
        for (int i = 0; i < n && st == TSR_OK; i++)
            st = once(world, &works[i], &times[i][r]);
    for (int i = 0; i < n && st == TSR_OK; i++) {
        st = slowest(world, times[i], repeats);
        works[i].seconds =
            measure_median(times[i], repeats) / (works[i].calls ? works[i].calls : 1);
    }
    free(times);
    return st;
}
