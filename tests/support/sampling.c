/* SPDX-License-Identifier: Apache-2.0 */
/* sampling.c - see sampling.h. */
#include "sampling.h"

#include <stdlib.h>

static int64_t step_of(const char *name)
{
    const char *text = getenv(name);
    const int64_t every = text ? strtoll(text, NULL, 10) : 1;

    return every > 1 ? every : 1;
}

int64_t sample_every(void)
{
    return step_of("TESSERA_TEST_SAMPLE");
}

int64_t sample_quick(void)
{
    return step_of("TESSERA_TEST_SAMPLE_QUICK");
}

int64_t sample_first(int64_t step)
{
    const char *text = getenv("TESSERA_TEST_SEED");

    return text ? (int64_t)(strtoull(text, NULL, 10) % (uint64_t)step) : 0;
}

bool sample_has(int64_t number, int64_t step)
{
    return number % step == sample_first(step);
}

bool is_slow_build(void)
{
    return getenv("TESSERA_TEST_SLOW") != NULL;
}
