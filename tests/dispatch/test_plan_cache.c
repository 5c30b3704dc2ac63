/* SPDX-License-Identifier: Apache-2.0 */
/* test_plan_cache.c - what a context remembers is bounded: what goes and what stays (base/cache.c),
   results do not depend on it, also if every rank forgets at another time, and memory stays. */
#include "support/test.h"
#include "base/cache.h"
#include "base/error.h"

/* ---- the cache alone ---- */

enum { ENTRIES = 64 };

static void note_drop(tsr_cached *entry, void *arg)
{
    bool *there = arg;
    there[entry->hash / TSR_CACHE_BUCKETS] = false; /* all are in one bucket */
}

/* A cache with limits of its own. */
typedef struct one_cache {
    tsr_caches all;
    tsr_cache cache;
} one_cache;

static void add(one_cache *c, int limit, tsr_cached *entry, int i, bool *there)
{
    *entry = (tsr_cached){.hash = (uint64_t)i * TSR_CACHE_BUCKETS, .bytes = 100};
    c->all.limit = limit;
    if (!c->all.limit_bytes)
        c->all.limit_bytes = TSR_PLAN_BYTES;
    tsr__cache_add(&c->all, &c->cache, entry, note_drop, there);
    there[i] = true;
}

static void check_list(const one_cache *of, const bool *there)
{
    const tsr_cache *cache = &of->cache;
    int n = 0;

    assert_int_equal(of->all.bytes, 100 * cache->n);
    for (const tsr_cached *c = tsr__cache_first(cache, 0); c; c = c->next) {
        assert_true(there[c->hash / TSR_CACHE_BUCKETS]);
        n++;
    }
    assert_int_equal(n, cache->n);
    for (int i = 0; i < ENTRIES; i++)
        n -= there[i];
    assert_int_equal(n, 0);
}

static void the_unused_go_first(void **state)
{
    one_cache cache = {0};
    tsr_cached entry[ENTRIES];
    bool there[ENTRIES] = {false};
    (void)state;

    for (int i = 0; i < 8; i++)
        add(&cache, 8, &entry[i], i, there);
    assert_int_equal(cache.cache.n, 8);
    add(&cache, 8, &entry[8], 8, there); /* all were used just now, so all go */
    assert_int_equal(cache.cache.n, 1);
    for (int i = 9; i < 16; i++)
        add(&cache, 8, &entry[i], i, there);
    for (int i = 0; i < 16; i++)
        entry[i].used = i % 4 == 0;
    add(&cache, 8, &entry[16], 16, there);
    for (int i = 8; i < 16; i++)
        assert_int_equal(there[i], i % 4 == 0);
    check_list(&cache, there);
    assert_false(entry[8].used); /* it has to be used again to stay the next time */
    tsr__cache_clear(&cache.all, &cache.cache);
    check_list(&cache, there);
}

static void the_held_stay(void **state)
{
    one_cache cache = {0};
    tsr_cached entry[ENTRIES];
    bool there[ENTRIES] = {false};
    (void)state;

    for (int i = 0; i < ENTRIES; i++) {
        add(&cache, 4, &entry[i], i, there);
        entry[i].holds = i < 20;
        check_list(&cache, there);
        for (int k = 0; k <= i && k < 20; k++)
            assert_true(there[k]);
        assert_true(cache.cache.n <= 40 + 1);
    }
    tsr__cache_clear(&cache.all, &cache.cache);
    assert_int_equal(cache.cache.n, 0);
}

static void a_lower_limit_counts_at_once(void **state)
{
    one_cache cache = {0};
    tsr_cached entry[ENTRIES];
    bool there[ENTRIES] = {false};
    (void)state;

    for (int i = 0; i < 33; i++) {
        for (int k = 0; k < i; k++)
            entry[k].used = k < 16; /* half of them stay when room is made for the last */
        add(&cache, 32, &entry[i], i, there);
    }
    assert_int_equal(cache.cache.n, 17);
    add(&cache, 4, &entry[33], 33, there);
    assert_true(cache.cache.n <= 4);
    check_list(&cache, there);
    tsr__cache_clear(&cache.all, &cache.cache);
}

/* Two caches share bytes: room for one is made in both, and what is held stays. */
static void bytes_are_bounded_together(void **state)
{
    one_cache c = {0};
    tsr_cache other = {0};
    tsr_cached entry[ENTRIES], more[ENTRIES];
    bool there[ENTRIES] = {false}, others[ENTRIES] = {false};
    (void)state;

    c.all.limit_bytes = 1000;
    for (int i = 0; i < ENTRIES; i++) {
        add(&c, ENTRIES, &entry[i], i, there);
        more[i] = (tsr_cached){.hash = (uint64_t)i * TSR_CACHE_BUCKETS, .bytes = 300};
        tsr__cache_add(&c.all, &other, &more[i], note_drop, others);
        others[i] = true;
        assert_true(c.all.bytes <= 1000);
        assert_int_equal(c.all.bytes, 100 * c.cache.n + 300 * other.n);
        assert_true(there[i] || others[i]);
    }
    tsr__cache_clear(&c.all, &c.cache);
    tsr__cache_clear(&c.all, &other);
    assert_int_equal(c.all.bytes, 0);

    for (int i = 0; i < 20; i++) { /* 2,000 bytes that stay, and as many again at the most */
        add(&c, ENTRIES, &entry[i], i, there);
        entry[i].holds = 1;
    }
    for (int i = 20; i < ENTRIES; i++) {
        add(&c, ENTRIES, &entry[i], i, there);
        assert_true(c.all.bytes <= 4000 + 100);
    }
    for (int i = 0; i < 20; i++)
        assert_true(there[i]);
    tsr__cache_grow(&c.all, &entry[0], 500); /* an entry takes with it what it grew by */
    tsr__cache_clear(&c.all, &c.cache);
    assert_int_equal(c.all.bytes, 0);
}

/* ---- results ---- */

enum { MOST = 4096, WORK = 9 };

/* What a run leaves, as bytes. */
typedef struct record {
    unsigned char bytes[WORK][MOST];
    size_t n[WORK];
} record;

static tsr_status note(tsr_mesh *mesh, record *r, int i, tsr_tensor *x)
{
    tsr_spec spec = *tsr_tensor_spec(x);

    r->n[i] = (size_t)tsr_shape_count(&spec.shape) * tsr_dtype_size(spec.dtype);
    CHECK(r->n[i] <= MOST);
    CHECK(tsr_to_host(x, r->bytes[i], MOST < r->n[i] ? MOST : r->n[i]) == TSR_OK);
    return TSR_OK;
}

static tsr_tensor *numbers(tsr_mesh *mesh, const char *spec)
{
    return tsr_sin(tsr_arange(mesh, spec, 1, 1));
}

/* Ops that hold plans in different ways: moved inputs, windows, exchanged rows (nested in their
   own run), several tables at once, composed, in place, on the tape. */
static tsr_status work(tsr_mesh *mesh, record *r)
{
    static const int64_t ids_of_rows[13] = {0, 5, 10, 4, 9, 3, 8, 2, 7, 1, 6, 0, 5};
    tsr_tensor *a = numbers(mesh, "f64[6,10]@[S(0),S(1)]"), *y, *ids, *out[3];
    tsr_tensor *table = numbers(mesh, "f64[11,4]@[S(0),R]");
    tsr_table_use use[3];
    tsr_status st;

    tsr_scope_push(mesh);
    y = tsr_matmul(a, numbers(mesh, "f64[10,7]@[S(1),S(0)]"), NULL);
    TSR_TRY(note(mesh, r, 0, y));
    y = tsr_conv(numbers(mesh, "f64[2,3,9,5]@[S(2),S(3)]"), numbers(mesh, "f64[4,3,3,3]@[R,R]"),
                 NULL, &(tsr_conv_opts)CONV_OPTS(.padding = {1, 1}));
    TSR_TRY(note(mesh, r, 1, y));
    ids = from_host(mesh, "i64[13]@[R,S(0)]", ids_of_rows);
    TSR_TRY(note(mesh, r, 2, tsr_embedding(table, ids, NULL)));
    for (int i = 0; i < 3; i++)
        use[i] = (tsr_table_use){.table = i == 1 ? numbers(mesh, "f64[11,3]@[R,S(0)]") : table,
                                 .ids = ids};
    TSR_TRY(tsr_lookup_group(use, 3, out));
    for (int i = 0; i < 3; i++)
        TSR_TRY(note(mesh, r, 3 + i, out[i]));
    TSR_TRY(note(mesh, r, 6, tsr_softmax(a, 1)));
    tsr_add_inplace(a, tsr_redistribute(a, "[S(1),S(0)]"));
    TSR_TRY(note(mesh, r, 7, a));
    tsr_watch(table);
    tsr_tape_begin(mesh);
    TSR_TRY(tsr_backward(tsr_sum(tsr_softplus(tsr_embedding(table, ids, NULL)), NULL, 0, false)));
    TSR_TRY(note(mesh, r, 8, tsr_grad(table)));
    tsr_scope_pop(mesh);
    st = tsr_mesh_status(mesh);
done:
    return st;
}

/* Calls and moves that were not met before, and impossible ones. */
static tsr_status shapes(tsr_mesh *mesh, int from, int to)
{
    for (int n = from; n < to; n++) {
        char spec[TSR_TEXT_LEN];

        tsr_scope_push(mesh);
        snprintf(spec, sizeof spec, "f32[%d,3]@[S(0),R]", n);
        tsr_tensor *x = tsr_full(mesh, spec, 1);
        x = tsr_redistribute(tsr_add(x, x), "[R,S(1)]");
        CHECK(tsr_tensor_ok(x));
        snprintf(spec, sizeof spec, "f32[%d]@[R,R]", n);
        CHECK(!tsr_tensor_ok(tsr_add(x, tsr_full(mesh, spec, 1))));
        tsr_mesh_clear_error(mesh);
        tsr_scope_pop(mesh);
    }
    return TSR_OK;
}

/* How many plans were made for it. */
static tsr_status work_again(tsr_mesh *mesh, const record *first, int64_t *planned)
{
    record *again = calloc(1, sizeof *again);
    const int64_t before = tsr_counters_get(mesh).plan_misses;
    tsr_status st = TSR_ERR_MEMORY;

    if (again)
        TSR_TRY(work(mesh, again));
    for (int i = 0; again && i < WORK; i++)
        if (first->n[i] != again->n[i] || memcmp(first->bytes[i], again->bytes[i], MOST) != 0) {
            fprintf(stderr, "rank %d: result %d is another\n", tsr_mesh_rank(mesh), i);
            st = TSR_ERR_MISMATCH;
        }
    *planned = tsr_counters_get(mesh).plan_misses - before;
done:
    free(again);
    return st;
}

static tsr_status forgetting(tsr_mesh *mesh, void *arg)
{
    record *first = calloc(1, sizeof *first);
    int64_t planned;
    tsr_status st = TSR_ERR_MEMORY;
    (void)arg;

    CHECK(first);
    TSR_TRY(work(mesh, first));
    TSR_TRY(work_again(mesh, first, &planned));
    CHECK(planned == 0);
    for (int limit = 1; limit < 7; limit++) {
        tsr_plan_limit_set(mesh, limit + tsr_mesh_rank(mesh)); /* ranks need not agree */
        TSR_TRY(shapes(mesh, 10 * limit, 10 * limit + 1));
        TSR_TRY(work_again(mesh, first, &planned));
        CHECK(planned > 8);
    }
    tsr_plan_limit_set(mesh, TSR_PLAN_LIMIT);
    TSR_TRY(work_again(mesh, first, &planned));
    TSR_TRY(work_again(mesh, first, &planned));
    CHECK(planned == 0);
done:
    free(first);
    return st;
}

/* ---- memory ---- */

static tsr_status ever_new_shapes(tsr_mesh *mesh, void *arg)
{
    enum { LIMIT = 50, HELD = 120 };
    tsr_tensor *held[HELD];
    int64_t live;
    tsr_status st;
    (void)arg;

    tsr_plan_limit_set(mesh, LIMIT);
    TSR_TRY(shapes(mesh, 4, 300));
    live = tsr_allocations_live(mesh);
    TSR_TRY(shapes(mesh, 300, 1500));
    CHECK(tsr_allocations_live(mesh) < live + 20 * LIMIT);
    for (int i = 0; i < HELD; i++) { /* more specs in use than the limit */
        char spec[TSR_TEXT_LEN];

        snprintf(spec, sizeof spec, "f32[2,%d]@[R,S(1)]", i + 1);
        held[i] = tsr_full(mesh, spec, i);
    }
    TSR_TRY(shapes(mesh, 1500, 1800));
    for (int i = 0; i < HELD; i++) {
        float out[2 * HELD];

        CHECK(tsr_tensor_spec(held[i])->shape.size[1] == i + 1);
        CHECK(tsr_to_host(tsr_add(held[i], held[i]), out, (size_t)(i + 1) * 8) == TSR_OK);
        CHECK(out[0] == 2.0f * (float)i && out[2 * i + 1] == 2.0f * (float)i);
    }
done:
    return st;
}

/* The bytes of what is kept are counted and bounded, by default and by the program. */
static tsr_status few_bytes(tsr_mesh *mesh, void *arg)
{
    enum { BYTES = 1 << 20, RUNNING = 64 << 10 }; /* a plan grows when it first runs */
    tsr_counters c;
    size_t most = 0;
    tsr_status st;
    (void)arg;

    TSR_TRY(shapes(mesh, 4, 20));
    c = tsr_counters_get(mesh);
    CHECK(c.plan_bytes > 16 * 1000 && c.plan_bytes <= 16 << 20);
    TSR_TRY(shapes(mesh, 4, 20)); /* nothing new */
    CHECK(tsr_counters_get(mesh).plan_misses == c.plan_misses);
    CHECK(tsr_counters_get(mesh).plan_bytes == c.plan_bytes);
    tsr_plan_bytes_set(mesh, BYTES);
    for (int i = 20; i < 120; i++) {
        TSR_TRY(shapes(mesh, i, i + 1));
        c = tsr_counters_get(mesh);
        CHECK(c.plan_bytes <= BYTES + RUNNING);
        most = c.plan_bytes > most ? c.plan_bytes : most;
    }
    CHECK(most > BYTES / 2);     /* it is made use of */
    tsr_plan_bytes_set(mesh, 1); /* every plan is forgotten at once, and made again */
    TSR_TRY(shapes(mesh, 4, 20));
    CHECK(tsr_counters_get(mesh).plan_bytes <= RUNNING);
    tsr_plan_bytes_set(mesh, TSR_PLAN_BYTES);
    for (int i = 20, before = 0; i < 20000 && before <= (int)most;
         i++) { /* until some were forgotten */
        before = (int)most;
        TSR_TRY(shapes(mesh, i, i + 1));
        most = tsr_counters_get(mesh).plan_bytes;
        CHECK(most <= (16 << 20) + RUNNING);
    }
    CHECK(most < 12 << 20);
done:
    return st;
}

/* What one kept call takes, with the specs that it is the first to need. */
static tsr_status small_calls(tsr_mesh *mesh, void *arg)
{
    enum { SHAPES = 50, CALLS = 6, BYTES = 2048 };
    tsr_counters before, after;
    (void)arg;

    before = tsr_counters_get(mesh);
    for (int i = 1; i <= SHAPES; i++) {
        char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN];
        tsr_tensor *x;

        tsr_scope_push(mesh);
        snprintf(a, sizeof a, "f32[%d,16]@[S(0),R]", 4 * i);
        snprintf(b, sizeof b, "f32[16,%d]@[R,S(1)]", 4 * i);
        x = tsr_zeros(mesh, a);
        tsr_matmul(tsr_add(x, x), tsr_zeros(mesh, b), NULL);
        tsr_softmax(tsr_exp(x), 1);
        tsr_sum(x, (const int[]){1}, 1, false);
        tsr_reshape(x, (const int64_t[]){64 * i}, 1);
        tsr_scope_pop(mesh);
    }
    after = tsr_counters_get(mesh);
    CHECK(after.plan_misses - before.plan_misses == CALLS * SHAPES);
    CHECK(after.plan_bytes - before.plan_bytes < (size_t)BYTES * CALLS * SHAPES);
    return tsr_mesh_status(mesh);
}

static void results_do_not_depend_on_it(void **state)
{
    (void)state;
    pass_on("2x2", forgetting, NULL);
    pass_on("3x1", forgetting, NULL);
}

static void memory_stays(void **state)
{
    (void)state;
    pass_on("2x2", ever_new_shapes, NULL);
    pass_on("2x2", few_bytes, NULL);
    pass_on("2x2", small_calls, NULL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_unused_go_first),
        cmocka_unit_test(the_held_stay),
        cmocka_unit_test(a_lower_limit_counts_at_once),
        cmocka_unit_test(bytes_are_bounded_together),
        cmocka_unit_test(results_do_not_depend_on_it),
        cmocka_unit_test(memory_stays),
    };

    if (argc > 1 && strcmp(argv[1], "mpi") == 0)
        return run_under_mpi("2x2", forgetting, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
