/* SPDX-License-Identifier: Apache-2.0 */
/* program_main.c - tsr_main: a job as a whole program, with its command line and exit status. */
#include <stdio.h>
#include <string.h>

#include "dispatch/context.h"

/* The value of --name=value, or NULL. */
static const char *value_of(const char *arg, const char *name)
{
    size_t n = strlen(name);
    return strncmp(arg, name, n) == 0 ? arg + n : NULL;
}

static tsr_status read_arguments(int argc, char **argv, tsr_run_opts *opts, tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (int i = 1; i < argc; i++) {
        const char *value;
        if ((value = value_of(argv[i], "--mesh=")))
            opts->mesh = value;
        else if ((value = value_of(argv[i], "--cost=")))
            opts->cost = value;
        else if ((value = value_of(argv[i], "--world=")))
            TSR_TRY(tsr__world_parse(value, &opts->world, err));
        else if ((value = value_of(argv[i], "--timeout=")))
            TSR_TRY(tsr__timeout_parse(value, &opts->timeout_ms, err));
    }
done:
    return st;
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
    tsr_run_opts opts = {.mesh = mesh};
    char named[TSR_TEXT_LEN];
    bool known = false;
    tsr_error err = {0};
    tsr_status st;

    TSR_TRY(read_arguments(argc, argv, &opts, &err));
    TSR_TRY(take_names(mesh, &opts.mesh, named, &err));
    TSR_TRY(tsr__run(&opts, job, arg, &known, &err));
done:
    /* Under MPI every rank is here; those that only heard of the error leave it to the others, and
       of those that found the same the first says it: none exits before that, in MPI_Finalize they
       wait for each other. Before they joined, the first may be ended by the others' exit. */
    if (st != TSR_OK && st != TSR_ERR_PEER && !known)
        fprintf(stderr, "%s: %s\n", argc > 0 ? argv[0] : "tessera", err.text);
    return st == TSR_OK ? 0 : 1;
}
