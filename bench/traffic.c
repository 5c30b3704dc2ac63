/* SPDX-License-Identifier: Apache-2.0 */
/* traffic.c - see traffic.h. Runs go on through buffers that are larger than caches. */
#include "traffic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MIB = 1 << 20, BUFFER = 128 * MIB };

void *traffic_memory(size_t bytes)
{
    void *p = NULL;

    if (posix_memalign(&p, 2 * MIB, bytes + 64)) {
        fprintf(stderr, "tessera_bench: out of memory\n");
        exit(1);
    }
    madvise(p, bytes, MADV_HUGEPAGE);
    memset(p, 1, bytes + 64);
    return p;
}

void traffic_open(traffic *t)
{
    t->from = traffic_memory(BUFFER);
    t->to = traffic_memory(BUFFER);
}

void traffic_close(traffic *t)
{
    free(t->from);
    free(t->to);
}

/* Eight independent sums are enough to wait for memory only. */
static void read_bytes(traffic *t, size_t at, size_t n)
{
    const uint64_t *x = (const uint64_t *)(t->from + at);
    uint64_t sum[8] = {0};

    for (size_t i = 0; i + 8 <= n / 8; i += 8)
        for (int k = 0; k < 8; k++)
            sum[k] += x[i + (size_t)k];
    t->sum += sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
}

static void copy_bytes(traffic *t, size_t at, size_t n)
{
    memcpy(t->to + at, t->from + at, n);
}

static void zero_bytes(traffic *t, size_t at, size_t n)
{
    memset(t->to + at, 0, n);
}

static void run_part(traffic *t, void (*part)(traffic *t, size_t at, size_t n), double bytes)
{
    for (size_t rest = (size_t)bytes / 64 * 64; rest > 0;) {
        size_t n = BUFFER - t->at < rest ? BUFFER - t->at : rest;

        part(t, t->at, n);
        t->at = (t->at + n) % BUFFER;
        rest -= n;
    }
}

tsr_status traffic_run(void *arg)
{
    traffic *t = arg;

    run_part(t, read_bytes, t->read);
    run_part(t, copy_bytes, t->copy);
    run_part(t, zero_bytes, t->zero);
    return TSR_OK;
}
