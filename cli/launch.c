/* SPDX-License-Identifier: Apache-2.0 */
/* launch.c - whether mpirun started this process, and starting the program again under it, with an
   environment in which root and more ranks than cores work. What the user has set stays. */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_WORDS = 64 };

static int env_int(const char *const *names, int n, int missing)
{
    for (int i = 0; i < n; i++) {
        const char *text = getenv(names[i]);

        if (text && *text)
            return atoi(text);
    }
    return missing;
}

int cli_mpi_rank(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};

    return env_int(names, 3, 0);
}

int cli_mpi_size(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};

    return env_int(names, 2, 0);
}

bool cli_under_mpi(void)
{
    return cli_mpi_size() > 0 || getenv("PMIX_RANK");
}

bool cli_world_resolve(tsr_world_kind *world)
{
    const char *text = getenv("TESSERA_WORLD");

    if (*world != TSR_WORLD_AUTO)
        return true;
    if (!text || !*text || strcmp(text, "auto") == 0) {
        *world = cli_under_mpi() ? TSR_WORLD_MPI : TSR_WORLD_THREAD;
        return true;
    }
    for (int w = TSR_WORLD_THREAD; w <= TSR_WORLD_SIM; w++)
        if (strcmp(text, cli_world_name((tsr_world_kind)w)) == 0) {
            *world = (tsr_world_kind)w;
            return true;
        }
    cli_bad("TESSERA_WORLD is \"%s\"; expected auto, thread, mpi or sim", text);
    return false;
}

/* For Open MPI 4, and PRTE_ for what starts the ranks of Open MPI 5. */
static void set_environment(void)
{
    static const char *const settings[][2] = {
        {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
        {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
        {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
        {"OMPI_MCA_mpi_yield_when_idle", "1"},
        {"OMPI_MCA_hwloc_base_binding_policy", "none"},
        {"OMPI_MCA_orte_execute_quiet", "1"}, /* the exit status says it */
        {"OMPI_MCA_btl", "^tcp"}, /* on one machine; version 5 complains of unused interfaces */
        {"PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"},
        {"PRTE_MCA_hwloc_default_binding_policy", "none"},
        {"PRTE_MCA_prte_execute_quiet", "1"},
    };

    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        setenv(settings[i][0], settings[i][1], 0);
}

int cli_mpi_exec(const cli_args *args, int ranks)
{
    char self[4096], number[16];
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
    const char *argv[MAX_WORDS + 5] = {"mpirun", "-n", number, self};
    int n = 4, null;

    snprintf(number, sizeof number, "%d", ranks);
    for (int i = 1; i < args->argc && i <= MAX_WORDS; i++)
        argv[n++] = args->argv[i];
    argv[n] = NULL;
    set_environment();
    null = open("/dev/null", O_RDONLY); /* mpirun would read all of the caller's, a loop's list */
    if (null >= 0) {
        dup2(null, STDIN_FILENO);
        close(null);
    }
    fflush(NULL);
    if (len >= 0) {
        self[len] = 0;
        execvp("mpirun", (char *const *)argv);
    }
    return cli_failed("world=mpi needs mpirun, which cannot be started: %s (Debian: openmpi-bin)",
                      strerror(errno));
}

bool cli_elsewhere(const cli_args *args, tsr_world_kind world, int ranks, int *status)
{
    if (world == TSR_WORLD_SIM)
        *status = cli_bad("%s: the sim world holds no data; use explain", args->command->name);
    else if (world == TSR_WORLD_MPI && !cli_under_mpi())
        *status = cli_mpi_exec(args, ranks);
    else
        return false;
    return true;
}
