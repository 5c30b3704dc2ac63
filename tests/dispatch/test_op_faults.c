/* SPDX-License-Identifier: Apache-2.0 */
/* test_op_faults.c - ops that communicate by themselves (lookups by all-to-all, bags, convolution
   by halos, and their gradients), in which each allocation and each collective call fails once on
   some rank: an error on all ranks, in time, and nothing that stays behind. First calls plan and
   fill caches; later ones must leave the memory as it was. */
#include <stdatomic.h>

#include "support/test.h"
#include "support/sampling.h"

enum { IDS = 24, RANKS = 4 };

/* Tables so large that rows are exchanged, not tables. */
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
    const tsr_embedding_opts opts = EMBEDDING_OPTS(.scale_grad_by_freq = true);

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

/* Each mesh dim cuts space: what a rank lacks comes from up to three others. */
static tsr_tensor *conv(tsr_mesh *mesh, const char *where)
{
    const tsr_conv_opts opts = CONV_OPTS(.padding = {1, 1});

    return tsr_conv(make(mesh, "f32[2,3,6,8]", where, 1), tsr_full(mesh, "f32[2,3,3,3]", 1),
                    tsr_full(mesh, "f32[2]", 1), &opts);
}

static tsr_tensor *conv_backward(tsr_mesh *mesh, const char *where)
{
    const tsr_conv_opts opts = CONV_OPTS(.padding = {1, 1});
    tsr_tensor *out[3];

    tsr_conv_backward(make(mesh, "f32[2,2,6,8]", where, 1), make(mesh, "f32[2,3,6,8]", where, 1),
                      tsr_full(mesh, "f32[2,3,3,3]", 1), &opts, &out[0], &out[1], &out[2]);
    return out[0];
}

static tsr_tensor *conv_transposed(tsr_mesh *mesh, const char *where)
{
    const tsr_conv_opts opts = CONV_OPTS(.padding = {1, 1}, .stride = {2, 2}, .transposed = true);

    return tsr_conv(make(mesh, "f32[2,3,6,8]", where, 1), tsr_full(mesh, "f32[3,2,3,3]", 1), NULL,
                    &opts);
}

typedef struct place {
    const char *mesh;
    int size;
    const char *where;
} place;

static const place LOOKUPS[] = {{"2", 2, "[S(0)]"}, {"3", 3, "[S(0)]"}};
static const place SPACE[] = {{"2", 2, "[S(3)]"}, {"2x2", 4, "[S(2),S(3)]"}};

static const struct {
    const char *name;
    program run;
    const place *at;    /* two of them */
    int64_t most_bytes; /* into a rank: neither tables nor more than a halo are communicated */
    bool agrees;        /* ids are agreed on: several calls */
} PROGRAMS[] = {
    {"lookup", lookup, LOOKUPS, ROWS * 2, true},
    {"lookup by frequency", lookup_by_frequency, LOOKUPS, ROWS * 2, true},
    {"sum", sum, LOOKUPS, ROWS * 2, true},
    {"mean", mean, LOOKUPS, ROWS * 2, true},
    {"max", max, LOOKUPS, ROWS * 2, true},
    {"max by offsets", max_by_offsets, LOOKUPS, ROWS * 2, true},
    {"sum by offsets", sum_by_offsets, LOOKUPS, ROWS * 2, true},
    {"weights by offsets", weights_by_offsets, LOOKUPS, ROWS * 2, true},
    {"convolution", conv, SPACE, 200, false},
    {"convolution backward", conv_backward, SPACE, 400, false},
    {"transposed convolution", conv_transposed, SPACE, 400, false},
};

typedef struct fault {
    program run;
    const char *where;
    int rank;
    bool calls; /* calls fail, not allocations */
    bool warm;  /* the program has run before */
    int64_t n;
    atomic_int told, leaks;
    atomic_bool hit; /* was there an n-th one? */
    int64_t bytes;   /* that the first rank got */
} fault;

/* All in a scope of its own; what is left after it. */
static tsr_status run_once(tsr_mesh *mesh, const fault *f, int64_t *live)
{
    tsr_status st = tsr_scope_push(mesh);

    if (st != TSR_OK)
        return st;
    f->run(mesh, f->where);
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
        st = run_once(mesh, f, &before);
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
    st = run_once(mesh, f, &after);
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
static bool try_one(const char *name, const place *at, int64_t most_bytes, fault *f)
{
    tsr_run_opts opts = RUN_OPTS(.mesh = at->mesh, .world = TSR_WORLD_THREAD, .has_timeout = true,
                                 .timeout_ms = 20000);
    const tsr_status expected = f->calls ? TSR_ERR_STATE : TSR_ERR_MEMORY;
    tsr_error err = {0};
    tsr_status st = tsr_run(&opts, job, f, &err);
    bool good = f->hit ? st == expected && f->told == at->size : st == TSR_OK;

    if (!good || f->leaks)
        fail_msg("%s on %s%s: %s %lld on rank %d: status %d, %d ranks told, %d leaked: %s", name,
                 at->mesh, f->warm ? ", again" : "", f->calls ? "call" : "allocation",
                 (long long)f->n, f->rank, (int)st, f->told, f->leaks, err.text);
    if (!f->hit && (f->bytes == 0 || f->bytes > most_bytes))
        fail_msg("%s on %s: %lld bytes travelled", name, at->mesh, (long long)f->bytes);
    return f->hit;
}

static void every(bool calls, bool warm)
{
    const int64_t step = sample_every() > 1 ? 7 : 1;

    for (size_t p = 0; p < sizeof PROGRAMS / sizeof PROGRAMS[0]; p++)
        for (const place *at = PROGRAMS[p].at; at < PROGRAMS[p].at + 2; at++)
            for (int rank = 0; rank < at->size; rank += at->size - 1) {
                bool more = true;
                int64_t n = 1 + (calls ? 0 : sample_first(step));
                for (; more; n += calls ? 1 : step) {
                    fault f = {.run = PROGRAMS[p].run,
                               .where = at->where,
                               .rank = rank,
                               .calls = calls,
                               .warm = warm,
                               .n = n};
                    more = try_one(PROGRAMS[p].name, at, PROGRAMS[p].most_bytes, &f);
                    assert_true(n < 2000);
                }
                assert_true(n > 2);                        /* at least one, and then none */
                assert_true(n > 3 || !PROGRAMS[p].agrees); /* the agreement, ids, rows */
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
