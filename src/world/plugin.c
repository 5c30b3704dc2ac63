/* SPDX-License-Identifier: Apache-2.0 */
/* plugin.c - finds and loads the network plugins, and tells whether a launcher started us. The
   library itself is not linked to MPI, so programs run where none is installed. */
#include "world/net.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "world/world.h"

#ifndef TSR_PLUGIN_DIR
#define TSR_PLUGIN_DIR "/usr/local/lib/tessera"
#endif
#ifndef TSR_PLUGIN_DIR_BUILD
#define TSR_PLUGIN_DIR_BUILD ""
#endif

enum { PATH_LEN = 1024 };

bool tsr__mpi_launched(void)
{
    return getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMI_SIZE") || getenv("PMIX_RANK");
}

/* Open MPI opens components of its own, which need to see its symbols: RTLD_GLOBAL. MPI libraries
   leave threads and exit handlers behind: RTLD_NODELETE. */
static void *load(const char *path)
{
    return dlopen(path, RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
}

/* The first of the places where the plugin is; *found is set if a file was there but did not load,
   and the linker's words are in why. */
static void *search(const char *file, bool *found, char *why, size_t n)
{
    const char *const dirs[] = {getenv("TESSERA_PLUGIN_DIR"), TSR_PLUGIN_DIR_BUILD, TSR_PLUGIN_DIR};
    char path[PATH_LEN];

    *found = false;
    for (size_t i = 0; i < sizeof dirs / sizeof dirs[0]; i++) {
        if (!dirs[i] || !dirs[i][0])
            continue;
        if (snprintf(path, sizeof path, "%s/%s", dirs[i], file) >= (int)sizeof path)
            continue;
        if (access(path, R_OK) != 0)
            continue;
        void *handle = load(path);
        if (handle)
            return handle;
        *found = true;
        snprintf(why, n, "%s", dlerror());
        return NULL;
    }
    return load(file);
}

tsr_status tsr__plugin_load(const char *name, const tsr_net_ops **out, tsr_error *err)
{
    char file[64], why[300];
    bool found;

    snprintf(file, sizeof file, "libtessera_%s.so", name);
    void *handle = search(file, &found, why, sizeof why);
    if (!handle && found)
        return tsr__fail(err, TSR_ERR_UNAVAILABLE, "the plugin of the %s world does not load: %s",
                         name, why);
    if (!handle)
        return tsr__fail(err, TSR_ERR_UNAVAILABLE,
                         "the %s world needs the plugin %s, which was not found: install "
                         "libopenmpi-dev and openmpi-bin and build Tessera again, or set "
                         "TESSERA_PLUGIN_DIR to its directory",
                         name, file);
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

    return kind != TSR_WORLD_MPI || tsr__plugin_load("mpi", &ops, err) == TSR_OK;
}
