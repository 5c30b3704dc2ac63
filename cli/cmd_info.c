/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_info.c - tessera info: what this build can do and how it is set up. */
#include "cli.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <tessera_ext.h>
#include <unistd.h>

static const char *const variables[] = {"TESSERA_WORLD", "TESSERA_COST",       "TESSERA_TIMEOUT",
                                        "TESSERA_LOG",   "TESSERA_PLUGIN_DIR", "TESSERA_STRICT",
                                        "TESSERA_STATS", "TESSERA_VALIDATE"};
enum { N_VARIABLES = sizeof variables / sizeof variables[0] };

/* Those that this process may run on. */
static int usable_cpus(void)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

static json_t *dtypes(void)
{
    json_t *list = json_array();

    for (int d = TSR_F32; d <= TSR_U64; d++)
        json_array_append_new(list, json_pack("{s:s, s:I}", "name", tsr_dtype_name((tsr_dtype)d),
                                              "bytes", (json_int_t)tsr_dtype_size((tsr_dtype)d)));
    return list;
}

static json_t *worlds(void)
{
    tsr_error err = {0};
    bool mpi = tsr_world_available(TSR_WORLD_MPI, &err);
    json_t *list = json_pack("{s:{s:b}, s:{s:b, s:b}, s:{s:b}}", "thread", "available", 1, "mpi",
                             "available", mpi, "launched", cli_under_mpi(), "sim", "available", 1);

    if (!mpi)
        json_object_set_new(json_object_get(list, "mpi"), "why", json_string(err.text));
    if (cli_mpi_size() > 0)
        json_object_set_new(json_object_get(list, "mpi"), "ranks", json_integer(cli_mpi_size()));
    return list;
}

/* Their versions, or null: own kernels serve. */
static json_t *libraries(void)
{
    json_t *set = json_object();
    char version[CLI_TEXT];

    for (int i = TSR_LIBRARY_OPENBLAS; i <= TSR_LIBRARY_ONEDNN; i++)
        json_object_set_new(
            set, tsr_library_name((tsr_library)i),
            json_pack("s?", tsr_library_version((tsr_library)i, version, sizeof version)));
    return set;
}

static json_t *environment(void)
{
    json_t *set = json_object();

    for (int i = 0; i < N_VARIABLES; i++)
        if (getenv(variables[i]))
            json_object_set_new(set, variables[i], json_string(getenv(variables[i])));
    return set;
}

static json_t *costs(void)
{
    const tsr_cost cost = tsr_cost_default();

    return json_pack("{s:f, s:f, s:f, s:f}", "latency", cost.latency[0], "bandwidth",
                     1 / cost.per_byte[0], "step", cost.per_step, "memory_bandwidth",
                     1 / cost.memory);
}

static json_t *collect(void)
{
    return json_pack("{s:s, s:s, s:{s:i, s:i}, s:o, s:o, s:o, s:{s:i, s:i}, s:o, s:o}", "command",
                     "info", "version", tsr_version(), "cpus", "usable", usable_cpus(), "online",
                     (int)sysconf(_SC_NPROCESSORS_ONLN), "worlds", worlds(), "libraries",
                     libraries(), "dtypes", dtypes(), "limits", "tensor_dims", TSR_MAX_DIM,
                     "mesh_dims", TSR_MAX_MESH, "environment", environment(), "default_cost",
                     costs());
}

static void print_mpi(const json_t *mpi)
{
    const char *why = json_string_value(json_object_get(mpi, "why"));
    const json_t *ranks = json_object_get(mpi, "ranks");

    if (why)
        printf("  mpi      not available: %s\n", why);
    else if (ranks)
        printf("  mpi      available; started by mpirun with %d ranks\n",
               (int)json_integer_value(ranks));
    else
        printf("  mpi      available; not started by mpirun, verify and run do that themselves\n");
}

static void print_libraries(void)
{
    char version[CLI_TEXT];

    for (int i = TSR_LIBRARY_OPENBLAS; i <= TSR_LIBRARY_ONEDNN; i++) {
        const char *name = tsr_library_name((tsr_library)i);
        const char *has = tsr_library_version((tsr_library)i, version, sizeof version);

        printf("%s%s %s", i ? ", " : "libraries  ", name,
               has ? has : "not in this build (own kernels serve)");
    }
    putchar('\n');
}

static void print_text(const json_t *info)
{
    const json_t *set = json_object_get(info, "environment");
    const json_t *cost = json_object_get(info, "default_cost");
    char a[CLI_TEXT], b[CLI_TEXT];

    printf("tessera %s, %d of %d CPUs usable\n\nworlds\n", tsr_version(), usable_cpus(),
           (int)sysconf(_SC_NPROCESSORS_ONLN));
    printf("  thread   available; ranks are threads of one process\n");
    print_mpi(json_object_get(json_object_get(info, "worlds"), "mpi"));
    printf("  sim      available; any number of ranks, no data\n\n");
    print_libraries();
    printf("dtypes     ");
    for (int d = TSR_F32; d <= TSR_U64; d++)
        printf("%s%s", d ? " " : "", tsr_dtype_name((tsr_dtype)d));
    printf("\nlimits     %d tensor dims, %d mesh dims\n", TSR_MAX_DIM, TSR_MAX_MESH);
    printf("costs      latency %s a message, ",
           cli_seconds(json_real_value(json_object_get(cost, "latency")), a));
    printf("%s/s between ranks, %s a step, ",
           cli_bytes(json_real_value(json_object_get(cost, "bandwidth")), a),
           cli_seconds(json_real_value(json_object_get(cost, "step")), b));
    printf("%s/s of local copies\n",
           cli_bytes(json_real_value(json_object_get(cost, "memory_bandwidth")), a));
    printf("settings   ");
    for (int i = 0, n = 0; i < N_VARIABLES; i++)
        if (getenv(variables[i]))
            printf("%s%s=%s", n++ ? " " : "", variables[i], getenv(variables[i]));
    printf("%s\n", json_object_size(set) ? "" : "none of the TESSERA_ variables is set");
}

int cli_info(const cli_args *args)
{
    json_t *info;

    if (args->n_words)
        return cli_bad("info: unexpected text at \"%s\"", args->text);
    info = collect();
    if (cli_option_of(args, "json"))
        return cli_print_json(info);
    if (info && cli_speaks())
        print_text(info);
    json_decref(info);
    return CLI_OK;
}
