/* SPDX-License-Identifier: Apache-2.0 */
/* launch.c - whether mpirun started this process, and starting the tool again under it, with an
   environment in which root and more ranks than cores work. What the user has set stays. */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
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

/* Replace this process by mpirun; returns only if that fails. */
static void become_mpirun(int ranks, const char *const *words, int n_words)
{
    char self[4096], number[16];
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
    const char *argv[MAX_WORDS + 5] = {"mpirun", "-n", number, self};
    int n = 4, null;

    if (len < 0)
        return;
    self[len] = 0;
    snprintf(number, sizeof number, "%d", ranks);
    for (int i = 0; i < n_words && i < MAX_WORDS; i++)
        argv[n++] = words[i];
    argv[n] = NULL;
    set_environment();
    null = open("/dev/null", O_RDONLY); /* mpirun would read all of the caller's, a loop's list */
    if (null >= 0) {
        dup2(null, STDIN_FILENO);
        close(null);
    }
    fflush(NULL);
    execvp("mpirun", (char *const *)argv);
}

int cli_mpi_exec(const cli_args *args, int ranks)
{
    become_mpirun(ranks, (const char *const *)args->argv + 1, args->argc - 1);
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

/* All that can be read from a descriptor, with a final 0. */
static char *read_all(int fd)
{
    size_t used = 0, room = 1 << 16;
    char *text = malloc(room);
    ssize_t n;

    while (text && (n = read(fd, text + used, room - used - 1)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            break;
        used += (size_t)n;
        if (used + 1 == room) {
            char *more = realloc(text, room *= 2);

            if (!more)
                free(text);
            text = more;
        }
    }
    if (text)
        text[used] = 0;
    return text;
}

char *cli_mpi_capture(int ranks, const char *const *words, int n_words)
{
    int ends[2], status = 0;
    char *text;
    pid_t child;

    fflush(NULL);
    if (pipe(ends) != 0)
        return NULL;
    child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        become_mpirun(ranks, words, n_words);
        fprintf(stderr, "tessera: mpirun cannot be started: %s\n", strerror(errno));
        _exit(CLI_FAILED);
    }
    close(ends[1]);
    text = child > 0 ? read_all(ends[0]) : NULL;
    close(ends[0]);
    if (child > 0)
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            continue;
    if (text && (!WIFEXITED(status) || WEXITSTATUS(status) != 0)) {
        free(text);
        text = NULL;
    }
    return text;
}
