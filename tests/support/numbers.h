/* SPDX-License-Identifier: Apache-2.0 */
/* numbers.h - random numbers, the same on every machine, memory to put them in, and the clock. */
#ifndef TSR_TESTS_NUMBERS_H
#define TSR_TESTS_NUMBERS_H

#include "base/dtype.h"

uint64_t next_random(uint64_t *seed);
/* 0 <= value < n */
int64_t below(uint64_t *seed, int64_t n);

int64_t product_of(int n, const int64_t *size);
/* Exactly as large as it must be, so that the sanitizer sees the first byte beyond; all bits
   are set, so that floats are NaN. */
void *exact_memory(tsr_dtype dtype, int64_t n);

/* Seconds since some moment. */
double now(void);

#endif
