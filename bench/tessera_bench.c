/* SPDX-License-Identifier: Apache-2.0 */
/* tessera_bench.c - the benchmark program, which is built and not installed: picks the benchmark,
   reads what all of them take, and prints its rows. Each benchmark is a file of its own,
   bench_NAME.c. With world=mpi it starts itself under mpirun. */
#include "../cli/problem.h"
#include "bench.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const benchmark *const benchmarks[] = {
    &bench_redistribute, &bench_plan, &bench_propagate, &bench_dispatch,
    &bench_embedding,    &bench_conv, &bench_ops,       &bench_train,
    &bench_world,        &bench_mpi,  &bench_kernel,    &bench_piece};
enum { N_BENCHMARKS = sizeof benchmarks / sizeof benchmarks[0] };

static const char SYNTAX[] =
    "\nLIST   numbers with commas, 2,4 or 4MiB,64MiB\n"
    "FILE   what a peer's own run wrote on this machine, or a folder of such files\n"
    "MESH   2x4; WORLD thread or mpi\n";

/* ---- the command line ---- */

/* "4MiB,64MiB" or "2,4"; false: a sentence was printed */
static bool read_list(const char *option, const char *text, int64_t least, int64_t most,
                      int64_t *out, int *n)
{
    *n = 0;
    for (const char *p = text;; p++) {
        size_t length = strcspn(p, ",");

        if (*n == BENCH_LIST || !cli_bytes_parse(p, length, &out[*n]) || out[*n] < least ||
            out[*n] > most) {
            cli_bad("--%s is \"%s\"; expected up to %d numbers like %s", option, text, BENCH_LIST,
                    strcmp(option, "size") == 0 ? "4MiB,64MiB" : "2,4");
            return false;
        }
        ++*n;
        p += length;
        if (!*p)
            return true;
    }
}

/* Under mpirun the ranks are as many as it started; else those asked for, one number for MPI. */
static bool read_lists(const cli_args *args, bench *b)
{
    const bool mpi = b->world == TSR_WORLD_MPI;
    const char *size = cli_option_of(args, "size"), *ranks = cli_option_of(args, "ranks");
    const int started = mpi ? cli_mpi_size() : 0;
    int64_t counts[BENCH_LIST];

    if (size && !read_list("size", size, 4, INT64_C(1) << 36, b->size, &b->n_sizes))
        return false;
    if (!read_list("ranks", ranks ? ranks : mpi ? "2" : "2,4", 2, 64, counts, &b->n_ranks))
        return false;
    if (mpi && b->n_ranks > 1)
        return cli_bad("--ranks: one number for world=mpi") == CLI_OK;
    for (int i = 0; i < b->n_ranks; i++)
        b->ranks[i] = (int)counts[i];
    if (started && (started < 2 || (ranks && b->ranks[0] != started)))
        return cli_bad("mpirun started %d ranks; --ranks must say the same, 2 to 64", started) ==
               CLI_OK;
    b->ranks[0] = started ? started : b->ranks[0];
    return true;
}

static bool read_ask(const benchmark *what, const cli_args *args, bench *b, char mesh[TSR_TEXT_LEN])
{
    problem p = {.world = TSR_WORLD_AUTO};

    if (what->takes & BENCH_WORDS)
        b->words = args->text;
    else if (!problem_read(what->name, PROBLEM_MESH, args->text, &p))
        return false;
    if (what->mpi_only)
        p.world = TSR_WORLD_MPI;
    if (!(what->takes & BENCH_WORLD) && p.world != TSR_WORLD_AUTO && !what->mpi_only)
        return cli_bad("%s: its worlds are fixed", what->name) == CLI_OK;
    if (!(what->takes & BENCH_WORLD))
        p.world = what->mpi_only ? TSR_WORLD_MPI : TSR_WORLD_THREAD;
    if (!cli_world_resolve(&p.world))
        return false;
    if (p.world == TSR_WORLD_SIM)
        return cli_bad("%s: the sim world moves no data, so nothing can be timed", what->name) ==
               CLI_OK;
    if (p.has_mesh && !(what->takes & BENCH_MESH))
        return cli_bad("%s: its meshes are fixed%s", what->name,
                       what->takes & BENCH_RANKS ? "; use --ranks" : "") == CLI_OK;
    b->world = p.world;
    b->mesh = p.has_mesh ? tsr_mesh_text(&p.from.mesh, mesh, TSR_TEXT_LEN) : NULL;
    return read_lists(args, b);
}

/* ---- running ---- */

/* The command line again, for the heading. */
static const char *command_text(const cli_args *args, char *buf, size_t n)
{
    size_t used = (size_t)snprintf(buf, n, "tessera_bench");

    for (int i = 1; i < args->argc && used < n; i++)
        if (strcmp(args->argv[i], "--peer") == 0)
            i++;
        else if (strcmp(args->argv[i], "--markdown") != 0)
            used += (size_t)snprintf(buf + used, n - used, " %s", args->argv[i]);
    return buf;
}

static int run(const cli_args *args)
{
    const benchmark *what = NULL;
    peer_files peers;
    bench b = {.peers = &peers, .words = ""};
    char mesh[TSR_TEXT_LEN], command[512];
    int status = CLI_USAGE;

    for (int i = 0; i < N_BENCHMARKS; i++)
        if (strcmp(benchmarks[i]->name, args->command->name) == 0)
            what = benchmarks[i];
    if (!read_ask(what, args, &b, mesh))
        return CLI_USAGE;
    if (b.world == TSR_WORLD_MPI && !cli_under_mpi())
        return cli_mpi_exec(args, b.ranks[0]);
    b.results = json_array();
    if (peer_open(cli_option_of(args, "peer"), &peers))
        status = what->run(&b);
    cli_progress(NULL);
    if (status == CLI_OK && cli_option_of(args, "json"))
        status = cli_print_json(bench_json(what, &b));
    else if (status == CLI_OK && cli_speaks())
        bench_print(what, &b, cli_option_of(args, "markdown") != NULL,
                    command_text(args, command, sizeof command));
    json_decref(b.results);
    peer_close(&peers);
    return status;
}

/* The build folder has the MPI plugin one folder up. */
static void find_plugins(void)
{
    char self[PATH_MAX], *slash = NULL;

    if (!realpath("/proc/self/exe", self))
        return;
    for (int i = 0; i < 2; i++) {
        slash = strrchr(self, '/');
        if (slash)
            *slash = 0;
    }
    setenv("TESSERA_PLUGIN_DIR", self, 0);
}

static cli_command command_of(const benchmark *b)
{
    cli_command c = {
        .name = b->name, .synopsis = b->synopsis, .help = b->help, .details = b->note, .run = run};
    int n = 0;

    if (b->takes & BENCH_SIZES)
        c.options[n++] = (cli_option){"size", "LIST", b->sizes};
    if (b->takes & BENCH_RANKS)
        c.options[n++] = (cli_option){"ranks", "LIST", "numbers of ranks, 2,4 when not given"};
    c.options[n++] = (cli_option){"peer", "FILE,...", "times of a peer, from its own run here"};
    c.options[n++] = (cli_option){"markdown", NULL, "print a table for a document"};
    c.options[n] = (cli_option){"json", NULL, "print one JSON object"};
    return c;
}

int main(int argc, char **argv)
{
    cli_command commands[N_BENCHMARKS];
    const cli_program program = {.commands = commands,
                                 .n_commands = N_BENCHMARKS,
                                 .what = "BENCHMARK",
                                 .name_width = 12,
                                 .syntax = SYNTAX};

    for (int i = 0; i < N_BENCHMARKS; i++)
        commands[i] = command_of(benchmarks[i]);
    find_plugins();
    return cli_main(&program, argc, argv);
}
