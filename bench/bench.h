/* SPDX-License-Identifier: Apache-2.0 */
/* bench.h - what benchmarks share. Each is a row with its columns, in a file of its own, and adds
   rows of results to a JSON array, from which tessera_bench.c prints a table. Times are medians of
   what measure.h times in turns; a yardstick in the same run, or a peer's own run on the same
   machine (peer.h), says what a time is worth. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "../cli/cli.h"
#include "../cli/measure.h"
#include "peer.h"

enum { BENCH_LIST = 8, BENCH_COLUMNS = 16 };

/* One run of a benchmark. */
typedef struct bench {
    tsr_world_kind world; /* THREAD or MPI */
    int n_sizes;          /* 0: none were given */
    int64_t size[BENCH_LIST];
    int n_ranks, ranks[BENCH_LIST];
    const char *mesh;  /* NULL: none was given */
    const char *words; /* what else was given, "" if nothing */
    const peer_files *peers;
    json_t *results;
} bench;

typedef struct bench_column {
    const char *heading, *key;
    enum { TEXT, COUNT, BYTES, SECONDS, NUMBER } kind;
} bench_column;

/* What bench_beside and bench_peer set. */
#define BENCH_YARDSTICK_COLUMNS                                                                    \
    {"yardstick", "yardstick", TEXT}, {"its time", "yardstick_seconds", SECONDS},                  \
    {                                                                                              \
        "ratio", "ratio", NUMBER                                                                   \
    }
#define BENCH_PEER_COLUMNS                                                                         \
    {"peer", "peer_seconds", SECONDS},                                                             \
    {                                                                                              \
        "speed-up", "speedup", NUMBER                                                              \
    }

/* What a benchmark reads of the command line besides --json, --markdown and --peer. */
typedef enum bench_takes {
    BENCH_SIZES = 1, /* --size LIST */
    BENCH_RANKS = 2, /* --ranks LIST */
    BENCH_WORLD = 4, /* world=thread|mpi: run is called on the ranks of mpirun, too */
    BENCH_MESH = 8,  /* mesh=MESH */
    BENCH_WORDS = 16 /* any words */
} bench_takes;

typedef struct benchmark {
    const char *name, *synopsis, *help;
    unsigned takes;
    const char *sizes;    /* what --size means */
    bool mpi_only;        /* world=mpi goes without saying */
    int (*run)(bench *b); /* gives an exit status */
    bench_column columns[BENCH_COLUMNS];
    const char *note; /* what the columns mean, below the table */
} benchmark;

extern const benchmark bench_redistribute, bench_plan, bench_propagate, bench_dispatch,
    bench_embedding, bench_conv, bench_ops, bench_train, bench_world, bench_kernel, bench_piece,
    bench_mpi;

/* ---- bench_rows.c ---- */

/* Run a job on `ranks` ranks of the world, or on all those of a mesh; gives an exit status. */
int bench_on_ranks(tsr_world_kind world, int ranks, tsr_job job, void *arg);
/* On each of the numbers of ranks that were asked for, with the bench. */
int bench_on_each(bench *b, tsr_job job);
int bench_on_mesh(tsr_world_kind world, const char *mesh, tsr_job job, void *arg);
/* Append a row, as json_pack makes it; it stays the array's. On the first rank only. */
json_t *bench_row(bench *b, const char *format, ...);
/* yardstick, yardstick_seconds and ratio: row's seconds divided by those. */
void bench_beside(json_t *row, const char *yardstick, double seconds);
/* If a peer has a result of that name (peer.h): peer_seconds and speedup, how many times as fast
   row's `key` is. */
void bench_peer(const bench *b, json_t *row, const char *key, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* *value = the largest over all ranks. Collective. */
tsr_status bench_most(tsr_mesh *mesh, int64_t *value);

/* Print as a table of a terminal, or of markdown. Columns without a value are left out. */
void bench_print(const benchmark *what, const bench *b, bool markdown, const char *command);
json_t *bench_json(const benchmark *what, const bench *b);
/* "AMD EPYC 7763, 2 CPUs" */
const char *bench_machine(char buf[256]);

#endif
