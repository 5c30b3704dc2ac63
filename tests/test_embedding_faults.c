/* SPDX-License-Identifier: Apache-2.0 */
/* test_embedding_faults.c - lookups by all-to-all, bags and gradients in which each allocation and
   each collective call fails once on some rank: an error on all ranks, in time, and nothing that
   stays behind. First calls plan and fill caches; later ones must leave the memory as it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <tessera_ext.h>
#include <tessera_ops.h>

enum { IDS = 24, RANKS = 4 };

/* Tables so large that rows travel, not tables. */
#define TABLE "f32[4001,4]"
#define SMALL "f32[24,4]"
enum { ROWS = 4001 };

typedef tsr_tensor *(*program)(tsr_mesh *mesh, const char *where);

static tsr_tensor *make(tsr_mesh *mesh, const char *what, const char *where, double step)
{
    char spec[TSR_TEXT_LEN];

    snprintf(spec, sizeof spec, "%s@%s", what, where);
    return tsr_arange(mesh, spec, 0, step);
}

static tsr_tensor *lookup(tsr_mesh *mesh, const char *where)
{
    tsr_tensor *ids = make(mesh, "i64[24]", where, 161);
    tsr_tensor *y = tsr_embedding(make(mesh, TABLE, where, 1), ids, NULL);

    return tsr_embedding_backward(y, ids, ROWS, NULL);
}

static tsr_tensor *lookup_by_frequency(tsr_mesh *mesh, const char *where)
{
    const tsr_embedding_opts opts = {.scale_grad_by_freq = true};

    return tsr_embedding_backward(make(mesh, "f32[24,4]", where, 1),
                                  make(mesh, "i64[24]", where, 161), ROWS, &opts);
}

static tsr_tensor *sum(tsr_mesh *mesh, const char *where)
{
    tsr_tensor *ids = make(mesh, "i64[8,3]", where, 161), *w = make(mesh, "f32[8,3]", where, 1);
    tsr_tensor *y = tsr_bag_sum(make(mesh, TABLE, where, 1), ids, NULL, w, NULL);

    return tsr_bag_sum_backward(y, ids, NULL, w, ROWS, NULL);
}

static tsr_tensor *mean(tsr_mesh *mesh, const char *where)
{
    tsr_tensor *ids = make(mesh, "i64[8,3]", where, 161);
    tsr_tensor *y = tsr_bag_mean(make(mesh, TABLE, where, 1), ids, NULL, NULL);

    return tsr_bag_mean_backward(y, ids, NULL, ROWS, NULL);
}

static tsr_tensor *max(tsr_mesh *mesh, const char *where)
{
    tsr_tensor *ids = make(mesh, "i64[8,3]", where, 161), *index;
    tsr_tensor *y = tsr_bag_max(make(mesh, TABLE, where, 1), ids, NULL, NULL, &index);

    return tsr_bag_max_backward(y, index, ROWS);
}

static tsr_tensor *max_by_offsets(tsr_mesh *mesh, const char *where)
{
    return tsr_bag_max(make(mesh, TABLE, where, 1), make(mesh, "i64[24]", "[R]", 161),
                       make(mesh, "i64[6]", "[R]", 3), NULL, NULL);
}

/* Offsets, ids and weights come from other ranks, and rows too. */
static tsr_tensor *sum_by_offsets(tsr_mesh *mesh, const char *where)
{
    tsr_tensor *ids = make(mesh, "i64[24]", where, 161), *offsets = make(mesh, "i64[6]", where, 3);
    tsr_tensor *w = make(mesh, "f32[24]", where, 1);
    tsr_tensor *table = make(mesh, TABLE, where, 1);
    tsr_tensor *y = tsr_bag_sum(table, ids, offsets, w, NULL);

    return tsr_bag_sum_backward(y, ids, offsets, w, ROWS, NULL);
}

/* The gradient of the weights goes back to where their ids are. */
static tsr_tensor *weights_by_offsets(tsr_mesh *mesh, const char *where)
{
    return tsr_bag_weights_backward(make(mesh, "f32[6,4]", where, 1), make(mesh, SMALL, "[R]", 1),
                                    make(mesh, "i64[24]", where, 1), make(mesh, "i64[6]", where, 3),
                                    NULL);
}

static const struct {
    const char *name;
    program run;
} PROGRAMS[] = {
    {"lookup", lookup},
    {"lookup by frequency", lookup_by_frequency},
    {"sum", sum},
    {"mean", mean},
    {"max", max},
    {"max by offsets", max_by_offsets},
    {"sum by offsets", sum_by_offsets},
    {"weights by offsets", weights_by_offsets},
};

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
    run(mesh, "[S(0)]");
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
    tsr_run_opts opts = {.mesh = mesh, .world = TSR_WORLD_THREAD, .timeout_ms = 20000};
    const tsr_status expected = f->calls ? TSR_ERR_STATE : TSR_ERR_MEMORY;
    tsr_error err = {0};
    tsr_status st = tsr_run(&opts, job, f, &err);
    bool good = f->hit ? st == expected && f->told == size : st == TSR_OK;

    if (!good || f->leaks)
        fail_msg("%s on %s%s: %s %lld on rank %d: status %d, %d ranks told, %d leaked: %s", name,
                 mesh, f->warm ? ", again" : "", f->calls ? "call" : "allocation", (long long)f->n,
                 f->rank, (int)st, f->told, f->leaks, err.text);
    if (!f->hit && f->bytes * 4 > ROWS * 16 / 2)
        fail_msg("%s on %s: tables travelled, %lld bytes", name, mesh, (long long)f->bytes);
    return f->hit;
}

static void every(bool calls, bool warm)
{
    static const struct {
        const char *mesh;
        int size;
    } on[] = {{"2", 2}, {"3", 3}};
    const int64_t step = getenv("TESSERA_TEST_SAMPLE") ? 7 : 1; /* sanitizer builds are slow */

    for (size_t p = 0; p < sizeof PROGRAMS / sizeof PROGRAMS[0]; p++)
        for (int m = 0; m < 2; m++)
            for (int rank = 0; rank < on[m].size; rank += on[m].size - 1) {
                bool more = true;
                int64_t n = 1;
                for (; more; n += calls ? 1 : step) {
                    fault f = {PROGRAMS[p].run, rank, calls, warm, n, 0, 0, false, 0};
                    more = try_one(PROGRAMS[p].name, on[m].mesh, on[m].size, &f);
                    assert_true(n < 2000);
                }
                assert_true(n > 3); /* the agreement, ids, rows: at least */
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
