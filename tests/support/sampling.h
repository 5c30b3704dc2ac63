/* SPDX-License-Identifier: Apache-2.0 */
/* sampling.h - how much of an exhaustive test runs. TESSERA_TEST_SAMPLE=n asks for every n-th case,
   beginning where TESSERA_TEST_SEED says, so that each commit tries others; without it all of them
   run. TESSERA_TEST_SAMPLE_QUICK=n is the same for cases that are quick one by one, of which a
   sanitizer's build has too many all the same. tools/check sets them and prints the seed. */
#ifndef TSR_TESTS_SAMPLING_H
#define TSR_TESTS_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

int64_t sample_every(void); /* 1: all */
int64_t sample_quick(void);
/* Of every `step` cases one: is it this one? All ranks of a test answer alike. */
bool sample_has(int64_t number, int64_t step);
/* The first of them, less than step. */
int64_t sample_first(int64_t step);
/* A sanitizer's build, which takes ten times as long for the same. */
bool is_slow_build(void);

#endif
