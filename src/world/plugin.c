/* SPDX-License-Identifier: Apache-2.0 */
/* plugin.c - finds and loads the network plugins, and tells whether a launcher started us. The
   library itself is not linked to MPI, so programs run where none is installed. */
#include "world/net.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
#include "world/world.h"

/* Where an installation has its plugins, seen from the shared library and from a program that the
   library is linked into. In a build directory they stand beside both. */
#define FROM_LIBRARY "tessera"
#ifndef TSR_PLUGINS_FROM_PROGRAM
#define TSR_PLUGINS_FROM_PROGRAM "../lib/tessera"
#endif

enum { PATH_LEN = PATH_MAX + 256 };

bool tsr__mpi_launched(void)
{
    return tsr__mpi_launched_size() > 0 || getenv("PMIX_RANK");
}

/* Open MPI's mpirun; those of MPICH and its relatives. */
int tsr__mpi_launched_size(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
    char *end;

    for (int i = 0; i < 2; i++) {
        const char *text = getenv(names[i]);
        int64_t n = text ? tsr__parse_i64(text, &end) : 0;
        if (n > 0 && n <= INT_MAX && !*end)
            return (int)n;
    }
    return 0;
}

/* Open MPI opens components of its own, which need to see its symbols: RTLD_GLOBAL. MPI libraries
   leave threads and exit handlers behind: RTLD_NODELETE. */
static void *load(const char *path)
{
    return dlopen(path, RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
}

/* The directory of the file that this code was loaded from, links resolved. *program: it is the
   program itself, not the shared library. */
static bool own_directory(char dir[PATH_MAX], bool *program)
{
    static const char here;
    char path[PATH_MAX];
    struct link_map *map;
    Dl_info info;

    if (!dladdr1(&here, &info, (void **)&map, RTLD_DL_LINKMAP))
        return false;
    *program = !map->l_name[0]; /* dladdr would give the program's name as it was typed */
    if (!realpath(*program ? "/proc/self/exe" : map->l_name, path))
        return false;
    *strrchr(path, '/') = 0;
    strcpy(dir, path);
    return true;
}

/* Only in directories that belong to this library, or that the user names: whoever could put a file
   elsewhere, into a build directory that is gone, say, could make it run. *path is the file that
   was found, or where it was looked for. */
static void *search(const char *file, char path[PATH_LEN], bool *found)
{
    const char *named = secure_getenv("TESSERA_PLUGIN_DIR");
    char dir[PATH_MAX] = "";
    bool program = false;
    bool known = own_directory(dir, &program);

    *found = false;
    path[0] = 0;
    for (int i = 0; i < 3; i++) {
        if (i == 0 ? !named || !*named : !known)
            continue;
        snprintf(path, PATH_LEN, "%s%s%s/%s", i == 0 ? named : dir, i == 1 ? "/" : "",
                 i != 1    ? ""
                 : program ? TSR_PLUGINS_FROM_PROGRAM
                           : FROM_LIBRARY,
                 file);
        if (access(path, R_OK) != 0)
            continue;
        *found = true;
        return load(path);
    }
    return NULL;
}

tsr_status tsr__plugin_load(const char *name, const tsr_net_ops **out, tsr_error *err)
{
    char file[64], path[PATH_LEN];
    bool found;

    snprintf(file, sizeof file, "libtessera_%s.so", name);
    void *handle = search(file, path, &found);
    if (!handle && found)
        return tsr__fail(err, TSR_ERR_UNAVAILABLE, "the plugin of the %s world does not load: %s",
                         name, dlerror());
    if (!handle)
        return tsr__fail(err, TSR_ERR_UNAVAILABLE,
                         "the %s world needs the plugin %s, which was not found with the library "
                         "(%s): install libopenmpi-dev and openmpi-bin and build Tessera again, or "
                         "set TESSERA_PLUGIN_DIR to its directory",
                         name, file, path);
    void *symbol = dlsym(handle, TSR_NET_SYMBOL);
    const tsr_net_ops *ops = NULL;
    if (symbol) {
        tsr_net_entry *entry;
        *(void **)&entry = symbol; /* POSIX's way from an object to a function pointer */
        ops = entry(TSR_NET_ABI);
    }
    if (!ops || ops->abi != TSR_NET_ABI)
        return tsr__fail(err, TSR_ERR_UNAVAILABLE,
                         "the plugin %s is of another version than the library: build and install "
                         "both together",
                         file);
    *out = ops;
    return TSR_OK;
}

bool tsr_world_available(tsr_world_kind kind, tsr_error *err)
{
    const tsr_net_ops *ops;

    if ((unsigned)kind > TSR_WORLD_SIM)
        return tsr__fail(err, TSR_ERR_ARG, "%d is not a tsr_world_kind", (int)kind) == TSR_OK;
    return kind != TSR_WORLD_MPI || tsr__plugin_load("mpi", &ops, err) == TSR_OK;
}
