/* SPDX-License-Identifier: Apache-2.0 */
/* measure.c - medians of times that the slowest rank needs. Used by calibrate and bench. */
#include "measure.h"

#include <stdlib.h>
#include <time.h>

enum { LEAST = 5, MOST = 51 };

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
    tsr_status st = tsr_barrier(world);
    double start = measure_now();

    if (st == TSR_OK)
        st = w->run(w->arg);
    if (st == TSR_OK)
        st = tsr_barrier(world);
    *seconds = measure_now() - start;
    return st;
}

tsr_status measure_together(tsr_mesh *world, measure_work *works, int n, double budget)
{
    double mine[MOST], all[MOST], (*times)[MOST] = calloc((size_t)n, sizeof *times), slow = 0;
    int repeats = LEAST;
    tsr_status st = times ? TSR_OK : TSR_ERR_MEMORY;

    for (int round = 0; round < 2; round++)
        for (int i = 0; i < n && st == TSR_OK; i++) {
            st = once(world, &works[i], &mine[i]);
            slow = round == 1 && mine[i] > slow ? mine[i] : slow;
        }
    if (st == TSR_OK)
        st = tsr_all_reduce(world, TSR_F64, TSR_MAX, &slow, 1, &slow);
    if (slow * LEAST < budget)
        repeats = slow * MOST > budget ? (int)(budget / slow) : MOST;
    for (int r = 0; r < repeats && st == TSR_OK; r++)
        for (int i = 0; i < n && st == TSR_OK; i++)
            st = once(world, &works[i], &times[i][r]);
    for (int i = 0; i < n && st == TSR_OK; i++) {
        st = tsr_all_reduce(world, TSR_F64, TSR_MAX, times[i], repeats, all);
        works[i].seconds = measure_median(all, repeats);
    }
    free(times);
    return st;
}
