/* SPDX-License-Identifier: Apache-2.0 */
/* program_main.c - tsr_main: a job as a whole program, with its command line and exit status. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch/context.h"

static const char *const option_names[] = {"--mesh", "--world", "--cost", "--timeout"};
enum { MESH, WORLD, COST, TIMEOUT, OPTIONS };

static const char HELP[] =
    "  --mesh MESH        ranks as a grid, 2x4 or data=2,model=4; under mpirun it has all ranks\n"
    "  --world WORLD      thread, mpi or sim; auto: mpi if started by mpirun, else thread\n"
    "  --cost COST        cost numbers: default, torch, file:PATH, latency=2e-6,bandwidth=8e9 ...\n"
    "  --timeout SECONDS  timeout of each wait\n"
    "  --help             this text\n\n"
    "Environment: TESSERA_WORLD, TESSERA_COST, TESSERA_TIMEOUT, TESSERA_STRICT, TESSERA_STATS,\n"
    "TESSERA_VALIDATE, TESSERA_LOG, TESSERA_PLUGIN_DIR\n";

/* Which option argv[*i] is, and its value: --name=value, or the next word, which is skipped. */
static tsr_status read_option(int argc, char **argv, int *i, int *option, const char **value,
                              tsr_error *err)
{
    const char *arg = argv[*i];
    const size_t n = strcspn(arg, "=");

    for (*option = 0; *option < OPTIONS; ++*option)
        if (strlen(option_names[*option]) == n && strncmp(arg, option_names[*option], n) == 0)
            break;
    if (*option == OPTIONS)
        return tsr__fail(err, TSR_ERR_ARG, "unknown option %s; --help lists them", arg);
    if (!arg[n] && *i + 1 == argc)
        return tsr__fail(err, TSR_ERR_ARG, "%s needs a value", arg);
    *value = arg[n] ? arg + n + 1 : argv[++*i];
    return TSR_OK;
}

/* Words that are no options are the program's. */
static tsr_status read_arguments(int argc, char **argv, tsr_run_opts *opts, bool *help,
                                 tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *value = NULL;
        int option;

        if (strncmp(argv[i], "--", 2) != 0)
            continue;
        *help = strcmp(argv[i], "--help") == 0;
        if (*help)
            break;
        TSR_TRY(read_option(argc, argv, &i, &option, &value, err));
        switch (option) {
        case MESH: opts->mesh = value; break;
        case COST: opts->cost = value; break;
        case WORLD: TSR_TRY(tsr__world_parse(value, &opts->world, err)); break;
        case TIMEOUT:
            TSR_TRY(tsr__timeout_parse(value, &opts->timeout_ms, err));
            opts->has_timeout = true;
            break;
        }
    }
done:
    return st;
}

/* Under mpirun all processes are asked, and one answers. */
static void print_help(const char *program)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *rank = getenv(names[i]);
        if (rank && strcmp(rank, "0") != 0)
            return;
    }
    printf("usage: %s [options]\n\n%s", program, HELP);
}

/* A mesh without names, 4 or 1x2, where the program's own has some: it takes those, in order. */
static tsr_status take_names(const char *from, const char **mesh, char *buf, tsr_error *err)
{
    tsr_mesh_shape asked, own;
    tsr_status st;

    if (!from || !*mesh || *mesh == from)
        return TSR_OK;
    TSR_TRY(tsr_mesh_parse(*mesh, &asked, err));
    TSR_TRY(tsr_mesh_parse(from, &own, err));
    for (int m = 0; m < asked.ndim; m++)
        if (asked.name[m][0])
            return TSR_OK;
    for (int m = 0; m < asked.ndim && m < own.ndim; m++)
        memcpy(asked.name[m], own.name[m], sizeof asked.name[m]);
    if (asked.ndim <= own.ndim)
        *mesh = tsr_mesh_text(&asked, buf, TSR_TEXT_LEN);
done:
    return st;
}

int tsr_main(int argc, char **argv, const char *mesh, tsr_job job, void *arg)
{
    const char *program = argc > 0 && argv && argv[0] ? argv[0] : "tessera";
    tsr_run_opts opts = tsr_run_opts_default();
    char named[TSR_TEXT_LEN];
    bool known = false, help = false;
    tsr_error err = {0};
    tsr_status st;

    opts.mesh = mesh;
    if (argv)
        TSR_TRY(read_arguments(argc, argv, &opts, &help, &err));
    if (help) {
        print_help(program);
        return 0;
    }
    TSR_TRY(take_names(mesh, &opts.mesh, named, &err));
    TSR_TRY(tsr__run(&opts, job, arg, &known, &err));
done:
    /* Under MPI every rank is here; those that only heard of the error leave it to the others, and
       of those that found the same the first says it: none exits before that, in MPI_Finalize they
       wait for each other. Before they joined, the first may be ended by the others' exit. */
    if (st != TSR_OK && st != TSR_ERR_PEER && !known)
        fprintf(stderr, "%s: %s\n", program, err.text);
    return st == TSR_OK ? 0 : 1;
}
