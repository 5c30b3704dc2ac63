/* SPDX-License-Identifier: Apache-2.0 */
/* test_run_lists.c - lists of runs on random index sets: append, slice, index, and where two meet,
   all against arrays of plain indices. */
#include "support/test.h"
#include "layout/runs.h"
#include "support/naive_layout.h"
#include "support/numbers.h"

enum { MOST = 3000 };

typedef struct set {
    tsr_runs runs;
    int64_t index[MOST];
    int n;
} set;

static void expand(const tsr_runs *runs, int64_t *index, int *n)
{
    *n = 0;
    for (int i = 0; i < runs->n; i++) {
        const tsr_index_run *run = tsr__runs_at(runs, i);
        for (int64_t j = 0; j < run->count; j++)
            for (int64_t x = 0; x < run->len; x++) {
                assert_true(*n < MOST);
                index[(*n)++] = run->begin + j * run->step + x;
            }
    }
}

static void expect_set(const tsr_runs *runs, const int64_t *index, int n)
{
    int64_t seen[MOST];
    int n_seen;

    expand(runs, seen, &n_seen);
    assert_int_equal(n_seen, n);
    for (int i = 0; i < n; i++)
        assert_true(seen[i] == index[i]);
    assert_int_equal(tsr__runs_count(runs), n);
}

/* A random list, made of random runs with random gaps, often such that they join. */
static void make_set(tsr_heap *heap, uint64_t *seed, set *s)
{
    int parts = below(seed, 12);
    int64_t at = below(seed, 5);

    memset(s, 0, sizeof *s);
    for (int p = 0; p < parts; p++) {
        tsr_index_run run = {.begin = at, .len = below(seed, 5), .count = below(seed, 8)};
        run.step = run.len + below(seed, 4);
        if (below(seed, 3) == 0)
            run.count = 1, run.step = below(seed, 9); /* of one block the step means nothing */
        assert_int_equal(tsr__runs_append(heap, &s->runs, run, NULL), TSR_OK);
        if (run.len == 0 || run.count == 0)
            continue;
        for (int64_t j = 0; j < run.count; j++)
            for (int64_t x = 0; x < run.len; x++)
                s->index[s->n++] = at + j * run.step + x;
        at = s->index[s->n - 1] + 1 + below(seed, 4);
    }
    expect_set(&s->runs, s->index, s->n);
}

static void append_and_slice(void **state)
{
    static set s;
    tsr_heap heap = {0};
    uint64_t seed = 3;

    (void)state;
    for (int round = 0; round < 3000; round++) {
        make_set(&heap, &seed, &s);
        for (int i = 0; i <= s.n; i++)
            assert_int_equal(tsr__runs_index(&s.runs, i), i < s.n ? s.index[i] : -1);
        for (int k = 0; k < 20; k++) {
            int begin = below(&seed, s.n + 1);
            int end = begin + below(&seed, s.n + 3 - begin); /* also beyond the end */
            int there = end < s.n ? end : s.n;
            tsr_runs part = {0};
            assert_int_equal(tsr__runs_slice(&heap, &s.runs, begin, end, &part, NULL), TSR_OK);
            expect_set(&part, s.index + begin, there - begin);
            tsr__runs_free(&heap, &part);
        }
        /* cut anywhere and put together again */
        int cut = below(&seed, s.n + 1);
        tsr_runs both = {0};
        assert_int_equal(tsr__runs_slice(&heap, &s.runs, 0, cut, &both, NULL), TSR_OK);
        assert_int_equal(tsr__runs_slice(&heap, &s.runs, cut, s.n, &both, NULL), TSR_OK);
        expect_set(&both, s.index, s.n);
        tsr__runs_free(&heap, &both);
        tsr__runs_free(&heap, &s.runs);
        assert_int_equal(heap.live, 0);
    }
}

static void check_meeting(tsr_heap *heap, const set *a, const set *b, tsr_overlaps *found)
{
    int n = 0, j = 0;
    static int64_t pa[MOST], pb[MOST];

    for (int i = 0; i < a->n; i++) {
        while (j < b->n && b->index[j] < a->index[i])
            j++;
        if (j < b->n && b->index[j] == a->index[i]) {
            pa[n] = i;
            pb[n++] = j;
        }
    }
    assert_int_equal(tsr__runs_meet_count(&a->runs, &b->runs), n);
    assert_int_equal(tsr__runs_meet(heap, &a->runs, &b->runs, found, NULL), TSR_OK);
    int k = 0;
    for (int o = 0; o < found->n; o++) {
        const tsr_overlap *v = &found->v[o];
        for (int64_t y = 0; y < v->count; y++)
            for (int64_t x = 0; x < v->len; x++, k++) {
                assert_true(k < n);
                assert_true(v->a + y * v->a_step + x == pa[k]);
                assert_true(v->b + y * v->b_step + x == pb[k]);
            }
    }
    assert_int_equal(k, n);
}

static void meeting(void **state)
{
    static set a, b;
    tsr_heap heap = {0};
    tsr_overlaps found = {0};
    uint64_t seed = 4;

    (void)state;
    for (int round = 0; round < 30000; round++) {
        make_set(&heap, &seed, &a);
        make_set(&heap, &seed, &b);
        check_meeting(&heap, &a, &b, &found);
        check_meeting(&heap, &a, &a, &found);
        tsr__runs_free(&heap, &a.runs);
        tsr__runs_free(&heap, &b.runs);
    }
    tsr__free(&heap, found.v);
    assert_int_equal(heap.live, 0);
}

/* Two strided sets over 2^40 indices meet in closed time, and few overlaps describe it. */
static void large_strides(void **state)
{
    tsr_heap heap = {0};
    tsr_runs a = {0}, b = {0}, c = {0};
    tsr_overlaps found = {0};
    const int64_t n = INT64_C(1) << 40;

    (void)state;
    /* blocks of 2^20 at every 2^28, and one block of 2^39 */
    assert_int_equal(tsr__runs_append(&heap, &a, (tsr_index_run){0, 1 << 20, 1 << 28, 4096}, NULL),
                     TSR_OK);
    assert_int_equal(tsr__runs_append(&heap, &b, (tsr_index_run){n / 4, n / 2, 0, 1}, NULL),
                     TSR_OK);
    assert_true(tsr__runs_meet_count(&a, &b) == (INT64_C(2048) << 20));
    assert_int_equal(tsr__runs_meet(&heap, &a, &b, &found, NULL), TSR_OK);
    assert_int_equal(found.n, 1);
    assert_int_equal(found.v[0].count, 2048);
    assert_int_equal(found.v[0].len, 1 << 20);
    assert_true(found.v[0].a == INT64_C(1024) << 20 && found.v[0].b == 0);
    assert_true(found.v[0].a_step == 1 << 20 && found.v[0].b_step == 1 << 28);
    assert_int_equal(tsr__runs_slice(&heap, &a, 1, (INT64_C(4096) << 20) - 1, &c, NULL), TSR_OK);
    assert_int_equal(c.n, 3);
    assert_true(tsr__runs_count(&c) == (INT64_C(4096) << 20) - 2);
    tsr__free(&heap, found.v);
    assert_int_equal(heap.live, 0);
}

static void out_of_memory(void **state)
{
    uint64_t seed = 5;
    static set a, b;
    int failed = 0;

    (void)state;
    for (int round = 0; round < 300; round++) {
        tsr_heap heap = {0};
        tsr_runs part = {0};
        tsr_overlaps found = {0};
        make_set(&heap, &seed, &a);
        make_set(&heap, &seed, &b);
        heap.fail_at = heap.calls + 1 + below(&seed, 2);
        tsr_error err = {0};
        tsr_status st = tsr__runs_slice(&heap, &a.runs, 0, a.n, &part, &err);
        tsr_status st2 = tsr__runs_meet(&heap, &a.runs, &b.runs, &found, &err);
        assert_true((st == TSR_OK || st == TSR_ERR_MEMORY) &&
                    (st2 == TSR_OK || st2 == TSR_ERR_MEMORY));
        failed += st != TSR_OK || st2 != TSR_OK;
        assert_int_equal(err.code != TSR_OK, st != TSR_OK || st2 != TSR_OK);
        tsr__runs_free(&heap, &part);
        tsr__free(&heap, found.v);
        tsr__runs_free(&heap, &a.runs);
        tsr__runs_free(&heap, &b.runs);
        assert_int_equal(heap.live, 0);
    }
    assert_true(failed > 20);
}

/* The chunk rule itself, at sizes where sums could overflow. */
static void chunks(void **state)
{
    static const int64_t sizes[] = {0, 1, 5, 1000, INT64_C(1) << 62, (INT64_C(1) << 62) - 1};
    static const int parts[] = {1, 2, 3, 4, 7, 2147483647};

    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++) {
            int64_t begin, end, last = 0;
            for (int r = 0; r < parts[p] && r < 10; r++) {
                tsr__chunk(sizes[s], parts[p], r, &begin, &end);
                assert_true(begin == last && begin <= end && end <= sizes[s]);
                last = end;
            }
            tsr__chunk(sizes[s], parts[p], parts[p] - 1, &begin, &end);
            assert_true(end == sizes[s] && begin <= end);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(append_and_slice), cmocka_unit_test(meeting),
        cmocka_unit_test(large_strides),    cmocka_unit_test(out_of_memory),
        cmocka_unit_test(chunks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
