/* SPDX-License-Identifier: Apache-2.0 */
/* measure.h - timing work, of one thread or of all ranks together. */
#ifndef CLI_MEASURE_H
#define CLI_MEASURE_H

#include <tessera.h>

double measure_now(void);                     /* seconds of a steady clock */
double measure_median(double *values, int n); /* sorts them */

/* Some work of one rank; all ranks do it together. */
typedef struct measure_work {
    tsr_status (*run)(void *arg);
    void *arg;
    double seconds; /* written: median over repeats of the slowest rank's time of one call */
    int calls;      /* of run in a row that are timed together; 0: one */
} measure_work;

/* Time several works in turns, so that all of them see the same machine: barrier, work, barrier
   on each rank, the slowest rank counts. Repeats until about `budget` seconds have gone into
   each, 5 to 51 times, after 100 ms, at least two rounds, that do not count. Collective; without a
   world, on this thread alone. */
tsr_status measure_together(tsr_mesh *world, measure_work *works, int n, double budget);

#endif
