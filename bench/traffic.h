/* SPDX-License-Identifier: Apache-2.0 */
/* traffic.h - a yardstick of kernels: as many bytes read, copied and zeroed as they need to move,
   in memory that is not in the caches. Used by bench_kernel.c and bench_kernel_embedding.c. */
#ifndef BENCH_TRAFFIC_H
#define BENCH_TRAFFIC_H

#include <tessera.h>

/* Memory, of large pages where there are such, as the library's pool has it; touched. Ends the
   program if there is none. */
void *traffic_memory(size_t bytes);

typedef struct traffic {
    double read, copy, zero; /* bytes; each copied one is read and written */
    char *from, *to;         /* from traffic_open */
    size_t at;               /* where the next run goes on */
    uint64_t sum;            /* of what was read, so that it is */
} traffic;

void traffic_open(traffic *t);
void traffic_close(traffic *t);
tsr_status traffic_run(void *t);

#endif
