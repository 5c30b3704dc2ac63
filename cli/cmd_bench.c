/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_bench.c - tessera bench: picks the benchmark, starts the ranks it is to run on, and prints
   its rows. Under mpirun it runs on the ranks there are; world=mpi without mpirun starts one
   mpirun per number of ranks and collects their rows. */
#include "cmd_bench.h"
#include "problem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct column {
    const char *heading, *key;
    enum { TEXT, COUNT, BYTES, SECONDS, NUMBER } kind;
} column;

enum { MAX_COLUMNS = 16 };

typedef struct benchmark {
    const char *name;
    bool needs_ranks;
    int (*run)(const bench_ask *ask, int ranks);
    column columns[MAX_COLUMNS];
    const char *note;
} benchmark;

static const benchmark benchmarks[] = {
    {"redistribute",
     true,
     bench_redistribute,
     {{"ranks", "ranks", COUNT},
      {"tensor", "bytes", BYTES},
      {"redistribute", "case", TEXT},
      {"time", "seconds", SECONDS},
      {"GB/s", "gb_per_s", NUMBER},
      {"yardstick", "yardstick", TEXT},
      {"its time", "yardstick_seconds", SECONDS},
      {"ratio", "ratio", NUMBER}},
     "GB/s: bytes that the busiest rank writes into its output.\n"
     "ratio: time divided by the yardstick's, measured in turns with it; less is better."},
    {"plan",
     false,
     bench_plan,
     {{"mesh", "mesh", TEXT},
      {"what", "case", TEXT},
      {"targets", "targets", COUNT},
      {"time", "seconds", SECONDS}},
     "one pair: tsr_redist_plan and tsr_redist_free. all targets: one tsr_redist_costs.\n"
     "again: tsr_redistribute in the sim world with the plan in the cache: reads the placements,\n"
     "finds the plan, makes the tensor handle; moves no data."},
    {"propagate",
     false,
     bench_propagate,
     {{"mesh", "mesh", TEXT},
      {"op", "op", TEXT},
      {"calls", "calls", COUNT},
      {"mean", "seconds", SECONDS},
      {"longest", "seconds_max", SECONDS},
      {"goal", "goal_seconds", SECONDS},
      {"met", "goal", TEXT},
      {"compared", "compared", COUNT},
      {"trying all", "all_seconds", SECONDS}},
     "calls: all ways to place the inputs by R, P(sum) and S(d), or 1000, fewer after 10 s. mean,\n"
     "longest: one search for the cheapest strategy without the cache, the best of some tries.\n"
     "compared: calls for which trying all strategies, in that time, found the same cost."},
    {"dispatch",
     false,
     bench_dispatch,
     {{"op", "op", TEXT},
      {"call", "seconds", SECONDS},
      {"kernel", "kernel_seconds", SECONDS},
      {"dispatch", "dispatch_seconds", SECONDS},
      {"goal", "goal_seconds", SECONDS},
      {"met", "goal", TEXT}},
     "f32[8,8] on one rank, with the plan in the cache and the output from the pool. dispatch is\n"
     "the call without its kernel, which is measured in turns with it on an output that is there."},
    {"embedding",
     false,
     bench_embedding,
     {{"ranks", "ranks", COUNT},
      {"columns", "columns", COUNT},
      {"dtype", "dtype", TEXT},
      {"what", "case", TEXT},
      {"time", "seconds", SECONDS},
      {"memcpy", "copy_seconds", SECONDS},
      {"naive", "naive_seconds", SECONDS},
      {"received", "bytes_in", BYTES},
      {"to 1 rank", "ratio", NUMBER},
      {"peer", "peer_seconds", SECONDS},
      {"speed-up", "speedup", NUMBER},
      {"goal", "goal_speedup", NUMBER},
      {"met", "goal", TEXT}},
     "65,536 uniform ids, or 3,276 bags of 20; other ids every time. A table of 1,000,000 rows,\n"
     "or --size bytes of f32. memcpy: of as many bytes as are read or written at least, in turns.\n"
     "received: by the rank that gets most. -> R, -> S(0): the output is brought there.\n"
     "to 1 rank: time divided by that on one rank. peer: its time on such a machine, for dense\n"
     "gradients also beside touched rows."},
    {"conv",
     false,
     bench_conv,
     {{"mesh", "mesh", TEXT},
      {"dtype", "dtype", TEXT},
      {"x and weight", "case", TEXT},
      {"x", "placements", TEXT},
      {"what", "product", TEXT},
      {"time", "seconds", SECONDS},
      {"Gflop/s", "gflops", NUMBER},
      {"peer", "peer_gflops", NUMBER},
      {"bare", "bare_seconds", SECONDS},
      {"received", "bytes_in", BYTES},
      {"halo", "halo_seconds", SECONDS},
      {"hidden", "hidden", NUMBER},
      {"always", "hidden_always", NUMBER},
      {"ratio", "ratio", NUMBER},
      {"goal", "goal_ratio", NUMBER},
      {"met", "goal", TEXT}},
     "From and to plain layout. bare: oneDNN called directly on layouts of its own choice, in\n"
     "turns with ours. peer: its Gflop/s on such a machine, one thread. ratio: time to bare; on\n"
     "several ranks to one rank's time divided by the ranks, or by the processors if there are\n"
     "fewer. received: by the rank that gets most. halo: filling windows when nothing else is\n"
     "done; hidden: the share of it that passes behind the interior by the model's choice, and if\n"
     "the interior is always computed meanwhile."},
    {"ops",
     false,
     bench_ops,
     {{"ranks", "ranks", COUNT},
      {"op", "op", TEXT},
      {"inputs", "case", TEXT},
      {"time", "seconds", SECONDS},
      {"GB/s", "gb_per_s", NUMBER},
      {"yardstick", "yardstick", TEXT},
      {"its time", "yardstick_seconds", SECONDS},
      {"ratio", "ratio", NUMBER}},
     "f32. GB/s: bytes of inputs and outputs. memcpy moves as many, half of them read and half\n"
     "written; sgemm is oneDNN's, for as many products; both in turns with ours. On two ranks the\n"
     "yardstick is half of one rank's time. ratio: time divided by the yardstick's."},
    {"train",
     false,
     bench_train,
     {{"model", "model", TEXT},
      {"ranks", "ranks", COUNT},
      {"step", "seconds", SECONDS},
      {"outside", "outside", NUMBER},
      {"received", "bytes_in", BYTES},
      {"memory", "memory_bytes", BYTES},
      {"peer", "peer_seconds", SECONDS},
      {"speed-up", "speedup", NUMBER},
      {"goal", "goal_speedup", NUMBER},
      {"met", "goal", TEXT}},
     "f32, plain SGD, one batch again and again: forward, backward and update. outside: the share\n"
     "of a step that is neither in a kernel nor in moving data. received: per step, by the rank\n"
     "that gets most. memory: of the first rank at the most. peer: its time on such a machine."},
    {"world",
     true,
     bench_latency,
     {{"ranks", "ranks", COUNT},
      {"call", "case", TEXT},
      {"bytes", "bytes", BYTES},
      {"time", "seconds", SECONDS}},
     "Each call's share of 200 in a row, on the slowest rank."},
};
enum { N_BENCHMARKS = sizeof benchmarks / sizeof benchmarks[0] };

/* ---- the command line ---- */

/* "4MiB,64MiB" or "2,4"; false: a sentence was printed */
static bool read_list(const char *option, const char *text, int64_t least, int64_t most,
                      int64_t *out, int *n)
{
    *n = 0;
    for (const char *p = text;; p++) {
        size_t length = strcspn(p, ",");

        if (*n == BENCH_MAX || !cli_bytes_parse(p, length, &out[*n]) || out[*n] < least ||
            out[*n] > most) {
            cli_bad("bench: --%s is \"%s\"; expected up to %d numbers like %s", option, text,
                    BENCH_MAX, strcmp(option, "size") == 0 ? "4MiB,64MiB" : "2,4");
            return false;
        }
        ++*n;
        p += length;
        if (!*p)
            return true;
    }
}

static bool read_ask(const cli_args *args, bench_ask *ask)
{
    const char *size = cli_option_of(args, "size"), *ranks = cli_option_of(args, "ranks");
    int64_t counts[BENCH_MAX];
    int mpi = cli_under_mpi() ? cli_mpi_size() : 0;

    if (!read_list("size", size ? size : "4MiB,64MiB", 4096, INT64_C(1) << 36, ask->size,
                   &ask->n_sizes) ||
        !read_list("ranks", ranks ? ranks : "2,4", 2, 64, counts, &ask->n_ranks))
        return false;
    ask->sizes_given = size != NULL;
    for (int i = 0; i < ask->n_ranks; i++)
        ask->ranks[i] = (int)counts[i];
    if (ask->world != TSR_WORLD_MPI || !mpi)
        return true;
    if (mpi < 2 || mpi > 64 || (ranks && (ask->n_ranks != 1 || ask->ranks[0] != mpi))) {
        cli_bad("bench: mpirun started %d ranks; --ranks must say the same, 2 to 64", mpi);
        return false;
    }
    ask->ranks[0] = mpi;
    ask->n_ranks = 1;
    return true;
}

/* The benchmark's name is the first word; the rest are options of a problem. */
static const benchmark *read_name(const char *text, const char **rest)
{
    const char *names[N_BENCHMARKS], *near;
    size_t n = 0;
    char name[40];

    while (text[n] && !isspace((unsigned char)text[n]))
        n++;
    snprintf(name, sizeof name, "%.*s", (int)n, text);
    *rest = text + n;
    for (int i = 0; i < N_BENCHMARKS; i++) {
        if (strcmp(benchmarks[i].name, name) == 0)
            return &benchmarks[i];
        names[i] = benchmarks[i].name;
    }
    near = cli_nearest(name, names, N_BENCHMARKS);
    if (near && n)
        cli_bad("bench: unknown benchmark \"%s\"; did you mean %s?", name, near);
    else
        cli_bad("bench: which one: redistribute, plan, propagate, dispatch, embedding, conv, "
                "ops, train or world?");
    return NULL;
}

/* ---- running ---- */

/* One mpirun; its rows are added to the others. */
static int collect(const benchmark *b, const cli_args *args, const bench_ask *ask, int ranks)
{
    const char *size = cli_option_of(args, "size");
    char number[16];
    const char *words[10] = {"bench", b->name, "world=mpi", "--json", "--ranks", number};
    int n = 6;
    char *text;
    json_t *child, *rows;
    json_error_t err;

    snprintf(number, sizeof number, "%d", ranks);
    if (size) {
        words[n++] = "--size";
        words[n++] = size;
    }
    cli_progress("bench: mpirun -n %d", ranks);
    text = cli_mpi_capture(ranks, words, n);
    child = text ? json_loads(text, 0, &err) : NULL;
    free(text);
    rows = json_object_get(child, "results");
    if (!json_is_array(rows)) {
        json_decref(child);
        return cli_failed("bench: mpirun -n %d failed", ranks);
    }
    json_array_extend(ask->results, rows);
    json_decref(child);
    return CLI_OK;
}

static const char *cell_text(const column *c, const json_t *value, char buf[CLI_TEXT])
{
    if (!value || json_is_null(value))
        return "-";
    switch (c->kind) {
    case TEXT: return json_string_value(value);
    case COUNT: snprintf(buf, CLI_TEXT, "%d", (int)json_integer_value(value)); return buf;
    case BYTES: return cli_bytes((double)json_integer_value(value), buf);
    case SECONDS: return cli_seconds(json_real_value(value), buf);
    case NUMBER: snprintf(buf, CLI_TEXT, "%.2f", json_real_value(value)); return buf;
    }
    return "";
}

static void print_rows(const benchmark *b, const json_t *results)
{
    char align[MAX_COLUMNS + 1] = "", buf[MAX_COLUMNS][CLI_TEXT];
    const char *cells[MAX_COLUMNS];
    cli_table table;
    int n = 0;

    for (; n < MAX_COLUMNS && b->columns[n].key; n++) {
        align[n] = b->columns[n].kind == TEXT ? 'l' : 'r';
        cells[n] = b->columns[n].heading;
    }
    cli_table_open(&table, align);
    cli_table_row(&table, cells);
    for (size_t i = 0; i < json_array_size(results); i++) {
        for (int c = 0; c < n; c++)
            cells[c] =
                cell_text(&b->columns[c],
                          json_object_get(json_array_get(results, i), b->columns[c].key), buf[c]);
        cli_table_row(&table, cells);
    }
    cli_table_close(&table, 2);
    printf("\n%s\n", b->note);
}

static int run_all(const benchmark *b, const cli_args *args, const bench_ask *ask)
{
    int status = CLI_OK;

    if (!b->needs_ranks)
        return cli_speaks() ? b->run(ask, 0) : CLI_OK;
    for (int i = 0; i < ask->n_ranks && status == CLI_OK; i++)
        status = ask->world == TSR_WORLD_MPI && !cli_under_mpi()
                     ? collect(b, args, ask, ask->ranks[i])
                     : b->run(ask, ask->ranks[i]);
    return status;
}

int cli_bench(const cli_args *args)
{
    bench_ask ask = {0};
    const benchmark *b;
    const char *rest;
    char mesh[TSR_TEXT_LEN];
    problem p;
    int status;

    b = read_name(args->text, &rest);
    if (!b || !problem_read("bench", PROBLEM_MESH, rest, &p) || !cli_world_resolve(&p.world))
        return CLI_USAGE;
    ask.world = p.world;
    if (b->needs_ranks && p.world == TSR_WORLD_SIM)
        return cli_bad("bench: the sim world moves no data, so nothing can be timed");
    if (p.has_mesh && b->run != bench_propagate)
        return cli_bad("bench: the meshes are fixed; use --ranks");
    if (p.has_mesh)
        ask.mesh = tsr_mesh_text(&p.from.mesh, mesh, sizeof mesh);
    if (!read_ask(args, &ask))
        return CLI_USAGE;
    ask.results = json_array();
    status = run_all(b, args, &ask);
    cli_progress(NULL);
    if (status != CLI_OK || !cli_speaks()) {
        json_decref(ask.results);
        return status;
    }
    if (cli_option_of(args, "json"))
        return cli_print_json(json_pack("{s:s, s:s, s:o}", "command", "bench", "benchmark", b->name,
                                        "results", ask.results));
    print_rows(b, ask.results);
    json_decref(ask.results);
    return CLI_OK;
}
