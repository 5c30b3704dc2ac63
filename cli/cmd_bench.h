/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_bench.h - what the benchmarks of tessera bench share: each adds rows to a JSON array, from
   which cmd_bench.c prints a table. */
#ifndef CLI_CMD_BENCH_H
#define CLI_CMD_BENCH_H

#include "cli.h"

enum { BENCH_MAX = 8 };

typedef struct bench_ask {
    tsr_world_kind world; /* THREAD or MPI */
    int n_sizes, n_ranks;
    int64_t size[BENCH_MAX]; /* bytes of the whole tensor */
    int ranks[BENCH_MAX];
    bool sizes_given; /* else they are a guess */
    const char *mesh; /* propagate: this one only; NULL: several */
    json_t *results;
} bench_ask;

/* Each appends its rows on the first rank; gives an exit status. */
int bench_redistribute(const bench_ask *ask, int ranks);
int bench_propagate(const bench_ask *ask, int ranks);
int bench_dispatch(const bench_ask *ask, int ranks);
int bench_conv(const bench_ask *ask, int ranks);
int bench_ops(const bench_ask *ask, int ranks);
int bench_embedding(const bench_ask *ask, int ranks);
int bench_train(const bench_ask *ask, int ranks);
int bench_plan(const bench_ask *ask, int ranks);
int bench_latency(const bench_ask *ask, int ranks);

#endif
