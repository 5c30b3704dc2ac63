/* SPDX-License-Identifier: Apache-2.0 */
/* test_norm_faults.c - normalisations whose statistics are merged, attention with sharded keys,
   their gradients, and slices by indices, in which each allocation and each collective call fails
   once on some rank: an error on all ranks, in time, and nothing that stays behind. First calls
   plan and fill caches; later ones must leave the memory as it was. */
#include <stdatomic.h>

#include "support/test.h"
#include "support/sampling.h"

typedef tsr_tensor *(*program)(tsr_mesh *mesh, const char *where);

enum { X_BYTES = 4 * 6 * 40 * 30 * 4 }; /* that are exchanged if x is, not its statistics */

static tsr_tensor *make(tsr_mesh *mesh, const char *what, const char *where, double step)
{
    char spec[TSR_TEXT_LEN];

    snprintf(spec, sizeof spec, "%s@%s", what, where);
    return tsr_arange(mesh, spec, 0, step);
}

static tsr_tensor *batch(tsr_mesh *mesh, const char *where)
{
    tsr_tensor *x = make(mesh, "f32[4,6,40,30]", where, 1), *w = make(mesh, "f32[6]", "[R]", 1);
    tsr_tensor *mean, *rstd, *gx = NULL, *gw, *gb;
    tsr_tensor *y = tsr_batch_norm(x, w, w, NULL, NULL, NULL, &mean, &rstd);

    tsr_batch_norm_backward(y, x, w, mean, rstd, NULL, &gx, &gw, &gb);
    return gx;
}

static tsr_tensor *running(tsr_mesh *mesh, const char *where)
{
    tsr_tensor *x = make(mesh, "bf16[4,6,40,30]", where, 1);
    tsr_tensor *mean = make(mesh, "f32[6]", "[R]", 1), *var = make(mesh, "f32[6]", "[R]", 1);

    return tsr_batch_norm(x, NULL, NULL, mean, var, NULL, NULL, NULL);
}

static tsr_tensor *group(tsr_mesh *mesh, const char *where)
{
    tsr_tensor *x = make(mesh, "f32[4,6,40,30]", where, 1), *w = make(mesh, "f32[6]", "[R]", 1);
    tsr_tensor *mean, *rstd, *gx = NULL, *gw, *gb;
    tsr_tensor *y = tsr_group_norm(x, w, w, 2, NULL, &mean, &rstd);

    tsr_group_norm_backward(y, x, w, mean, rstd, 2, &gx, &gw, &gb);
    return gx;
}

static tsr_tensor *instance(tsr_mesh *mesh, const char *where)
{
    return tsr_instance_norm(make(mesh, "f32[4,6,40,30]", where, 1), NULL, NULL, NULL, NULL, NULL);
}

/* Keys in pieces, of which the kernel knows where they are. */
static tsr_tensor *attention(tsr_mesh *mesh, const char *where)
{
    const tsr_attention_opts opts = ATTENTION_OPTS(.causal = true);
    tsr_tensor *q = make(mesh, "f32[1,1,2,8]", "[R]", 1e-3);
    tsr_tensor *k = make(mesh, "f32[1,1,60,8]", "[SS(2,2)]", 1e-3), *lse, *g[3] = {NULL};
    tsr_tensor *y = tsr_attention(q, k, k, NULL, &opts, &lse);
    (void)where;

    tsr_attention_backward(q, q, k, k, y, lse, NULL, NULL, &opts, &g[0], &g[1], &g[2], NULL);
    return g[0];
}

static tsr_tensor *slices(tsr_mesh *mesh, const char *where)
{
    (void)where;
    return tsr_index_select(make(mesh, "f32[4000,16]", "[S(0)]", 1), 0,
                            make(mesh, "i64[12]", "[S(0)]", 300));
}

static const struct {
    const char *name;
    program run;
} PROGRAMS[] = {{"batch", batch},       {"running", running},     {"group", group},
                {"instance", instance}, {"attention", attention}, {"slices", slices}};

typedef struct fault {
    program run;
    int rank;
    bool calls; /* calls fail, not allocations */
    bool warm;  /* the program has run before */
    int64_t n;
    atomic_int told, leaks;
    atomic_bool hit; /* was there an n-th one? */
    int64_t bytes;   /* that the first rank got */
} fault;

/* All in a scope of its own; what is left after it. */
static tsr_status run_once(tsr_mesh *mesh, program run, int64_t *live)
{
    tsr_status st = tsr_scope_push(mesh);

    if (st != TSR_OK)
        return st;
    run(mesh, "[S(2)]");
    st = tsr_mesh_status(mesh);
    if (st == TSR_OK)
        st = tsr_barrier(mesh);
    tsr_scope_pop(mesh);
    tsr_memory_trim(mesh);
    *live = tsr_allocations_live(mesh);
    return st;
}

static int64_t done_so_far(tsr_mesh *mesh, const fault *f)
{
    return f->calls ? tsr_counters_get(mesh).calls : tsr_allocations(mesh);
}

static tsr_status job(tsr_mesh *mesh, void *arg)
{
    fault *f = arg;
    int64_t before = 0, after = 0, first;
    tsr_status st = TSR_OK;

    for (int i = 0; i < 2 && f->warm && st == TSR_OK; i++)
        st = run_once(mesh, f->run, &before);
    if (st == TSR_OK)
        st = tsr_barrier(mesh);
    if (st != TSR_OK) { /* a faster rank has failed already */
        atomic_fetch_add(&f->told, 1);
        return st;
    }
    tsr_counters_reset(mesh);
    after = before;
    first = done_so_far(mesh, f);
    if (tsr_mesh_rank(mesh) == f->rank)
        (f->calls ? tsr_fault_call : tsr_fault_alloc)(mesh, f->n);
    st = run_once(mesh, f->run, &after);
    if (f->warm && after != before)
        atomic_fetch_add(&f->leaks, 1);
    if (tsr_mesh_rank(mesh) == f->rank) /* a call that failed is not counted */
        atomic_store(&f->hit, done_so_far(mesh, f) - first + f->calls >= f->n &&
                                  (st != TSR_OK || !f->calls));
    if (tsr_mesh_rank(mesh) == 0)
        f->bytes = tsr_counters_get(mesh).bytes_in;
    if (st != TSR_OK)
        atomic_fetch_add(&f->told, 1);
    return st;
}

/* Whether there was an n-th to fail. */
static bool try_one(const char *name, const char *mesh, int size, fault *f)
{
    tsr_run_opts opts =
        RUN_OPTS(.mesh = mesh, .world = TSR_WORLD_THREAD, .has_timeout = true, .timeout_ms = 20000);
    const tsr_status expected = f->calls ? TSR_ERR_STATE : TSR_ERR_MEMORY;
    tsr_error err = {0};
    tsr_status st = tsr_run(&opts, job, f, &err);
    bool good = f->hit ? st == expected && f->told == size : st == TSR_OK;

    if (!good || f->leaks)
        fail_msg("%s on %s%s: %s %lld on rank %d: status %d, %d ranks told, %d leaked: %s", name,
                 mesh, f->warm ? ", again" : "", f->calls ? "call" : "allocation", (long long)f->n,
                 f->rank, (int)st, f->told, f->leaks, err.text);
    if (!f->hit && (f->bytes == 0 || f->bytes > X_BYTES / 2))
        fail_msg("%s on %s: %lld bytes travelled", name, mesh, (long long)f->bytes);
    return f->hit;
}

static void every(bool calls, bool warm)
{
    static const struct {
        const char *mesh;
        int size;
    } on[] = {{"2", 2}, {"3", 3}};
    const int64_t step = sample_every() > 1 ? 7 : 1;

    for (size_t p = 0; p < sizeof PROGRAMS / sizeof PROGRAMS[0]; p++)
        for (int m = 0; m < 2; m++)
            for (int rank = 0; rank < on[m].size; rank += on[m].size - 1) {
                bool more = true;
                int64_t n = 1 + (calls ? 0 : sample_first(step));
                for (; more; n += calls ? 1 : step) {
                    fault f = {PROGRAMS[p].run, rank, calls, warm, n, 0, 0, false, 0};
                    more = try_one(PROGRAMS[p].name, on[m].mesh, on[m].size, &f);
                    assert_true(n < 2000);
                }
                assert_true(n > 2); /* the statistics: at least */
            }
}

static void every_allocation(void **state)
{
    (void)state;
    every(false, false);
}

static void every_allocation_again(void **state)
{
    (void)state;
    every(false, true);
}

static void every_call(void **state)
{
    (void)state;
    every(true, true);
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
