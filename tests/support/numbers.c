/* SPDX-License-Identifier: Apache-2.0 */
/* numbers.c - see numbers.h. */
#include "numbers.h"

#include <time.h>

#include "test.h"

uint64_t next_random(uint64_t *seed)
{
    uint64_t z = (*seed += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

int64_t below(uint64_t *seed, int64_t n)
{
    return (int64_t)(next_random(seed) % (uint64_t)n);
}

int64_t product_of(int n, const int64_t *size)
{
    int64_t all = 1;

    for (int d = 0; d < n; d++)
        all *= size[d];
    return all;
}

void *exact_memory(tsr_dtype dtype, int64_t n)
{
    const size_t bytes = (size_t)n * tsr_dtype_size(dtype);
    void *p = malloc(bytes ? bytes : 1);

    assert_non_null(p);
    memset(p, 0xff, bytes);
    return p;
}

double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
