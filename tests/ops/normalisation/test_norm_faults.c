/* SPDX-License-Identifier: Apache-2.0 */
/* test_norm_faults.c - normalisations whose statistics are merged, attention with sharded keys,
   their gradients, and slices by indices, in which each allocation and each collective call fails
   once on some rank: an error on all ranks, in time, and nothing that stays behind. First calls
   plan and fill caches; later ones must leave the memory as it was. */
#include "support/test.h"
#include "support/fault_driver.h"

enum { X_BYTES = 4 * 6 * 40 * 30 * 4 }; /* that are exchanged if x is, not its statistics */

static tsr_tensor *batch(tsr_mesh *mesh, const char *where)
{
    tsr_tensor *x = fault_input(mesh, "f32[4,6,40,30]", where, 1),
               *w = fault_input(mesh, "f32[6]", "[R]", 1);
    tsr_tensor *mean, *rstd, *gx = NULL, *gw, *gb;
    tsr_tensor *y = tsr_batch_norm(x, w, w, NULL, NULL, NULL, &mean, &rstd);

    tsr_batch_norm_backward(y, x, w, mean, rstd, NULL, &gx, &gw, &gb);
    return gx;
}

static tsr_tensor *running(tsr_mesh *mesh, const char *where)
{
    tsr_tensor *x = fault_input(mesh, "bf16[4,6,40,30]", where, 1);
    tsr_tensor *mean = fault_input(mesh, "f32[6]", "[R]", 1),
               *var = fault_input(mesh, "f32[6]", "[R]", 1);

    return tsr_batch_norm(x, NULL, NULL, mean, var, NULL, NULL, NULL);
}

static tsr_tensor *group(tsr_mesh *mesh, const char *where)
{
    tsr_tensor *x = fault_input(mesh, "f32[4,6,40,30]", where, 1),
               *w = fault_input(mesh, "f32[6]", "[R]", 1);
    tsr_tensor *mean, *rstd, *gx = NULL, *gw, *gb;
    tsr_tensor *y = tsr_group_norm(x, w, w, 2, NULL, &mean, &rstd);

    tsr_group_norm_backward(y, x, w, mean, rstd, 2, &gx, &gw, &gb);
    return gx;
}

static tsr_tensor *instance(tsr_mesh *mesh, const char *where)
{
    return tsr_instance_norm(fault_input(mesh, "f32[4,6,40,30]", where, 1), NULL, NULL, NULL, NULL,
                             NULL);
}

/* Keys in pieces, of which the kernel knows where they are. */
static tsr_tensor *attention(tsr_mesh *mesh, const char *where)
{
    const tsr_attention_opts opts = ATTENTION_OPTS(.causal = true);
    tsr_tensor *q = fault_input(mesh, "f32[1,1,2,8]", "[R]", 1e-3);
    tsr_tensor *k = fault_input(mesh, "f32[1,1,60,8]", "[SS(2,2)]", 1e-3), *lse, *g[3] = {NULL};
    tsr_tensor *y = tsr_attention(q, k, k, NULL, &opts, &lse);
    (void)where;

    tsr_attention_backward(q, q, k, k, y, lse, NULL, NULL, &opts, &g[0], &g[1], &g[2], NULL);
    return g[0];
}

static tsr_tensor *slices(tsr_mesh *mesh, const char *where)
{
    (void)where;
    return tsr_index_select(fault_input(mesh, "f32[4000,16]", "[S(0)]", 1), 0,
                            fault_input(mesh, "i64[12]", "[S(0)]", 300));
}

/* Statistics travel and no x. */
#define JOB(f, on, last)                                                                           \
    {.name = #f,                                                                                   \
     .mesh = on,                                                                                   \
     .ranks = {0, last},                                                                           \
     .call = f,                                                                                    \
     .where = "[S(2)]",                                                                            \
     .least = 1,                                                                                   \
     .most_bytes = X_BYTES / 2}
#define JOBS_OF(f) JOB(f, "2", 1), JOB(f, "3", 2)

static const fault_job JOBS[] = {
    JOBS_OF(batch),    JOBS_OF(running),   JOBS_OF(group),
    JOBS_OF(instance), JOBS_OF(attention), JOBS_OF(slices),
};

static void every(fault_kind kind)
{
    for (size_t i = 0; i < sizeof JOBS / sizeof *JOBS; i++)
        fault_each(&JOBS[i], kind);
}

static void every_allocation(void **state)
{
    (void)state;
    every(FAULT_ALLOCATION);
}

static void every_allocation_again(void **state)
{
    (void)state;
    every(FAULT_ALLOCATION_AGAIN);
}

static void every_call(void **state)
{
    (void)state;
    every(FAULT_CALL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation),
        cmocka_unit_test(every_allocation_again),
        cmocka_unit_test(every_call),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
