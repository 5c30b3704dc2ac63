/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.c - see ranks.h. */
#include "ranks.h"

#include "test.h"

void pass_with(tsr_run_opts opts, tsr_job job, void *arg)
{
    tsr_error err = {0};

    if (!opts.has_timeout)
        opts.timeout_ms = 20000;
    opts.has_timeout = true;
    if (tsr_run(&opts, job, arg, &err) != TSR_OK)
        fail_msg("mesh %s: %s", opts.mesh, err.text);
}

void pass_on(const char *mesh, tsr_job job, void *arg)
{
    pass_with((tsr_run_opts)RUN_OPTS(.mesh = mesh, .world = TSR_WORLD_THREAD), job, arg);
}

bool op_is_asked(const char *name)
{
    const char *asked = getenv("TESSERA_TEST_OPS"), *at = asked;
    const size_t n = strlen(name);

    while (at && (at = strstr(at, name))) {
        if ((at == asked || at[-1] == ',') && (at[n] == ',' || at[n] == 0))
            return true;
        at += n;
    }
    return !asked;
}

int run_under_mpi(const char *mesh, tsr_job job, void *arg)
{
    /* ranks outside a part of the world wait until those inside have done their tests */
    char name[] = "test", world[] = "--world=mpi", timeout[] = "--timeout=600";
    char *argv[] = {name, world, timeout};

    return tsr_main(3, argv, mesh, job, arg);
}
