/* SPDX-License-Identifier: Apache-2.0 */
/* test_base.c - errors, the heap's counting and faults, the pool, log levels. */
#include <limits.h>

#include "support/test.h"
#include "base/heap.h"
#include "base/log.h"
#include "base/pool.h"
#include "base/text.h"

static void errors_first_one_stays(void **state)
{
    tsr_error err = {0};

    (void)state;
    assert_int_equal(tsr__fail(&err, TSR_ERR_SHAPE, "k differs, %d vs %d", 3, 4), TSR_ERR_SHAPE);
    assert_int_equal(err.code, TSR_ERR_SHAPE);
    assert_string_equal(err.text, "k differs, 3 vs 4");
    assert_int_equal(tsr__fail(&err, TSR_ERR_IO, "later"), TSR_ERR_IO);
    assert_int_equal(err.code, TSR_ERR_SHAPE);
    assert_string_equal(err.text, "k differs, 3 vs 4");
    assert_int_equal(tsr__fail(NULL, TSR_ERR_IO, "nowhere"), TSR_ERR_IO);
}

static void errors_long_text_is_cut(void **state)
{
    tsr_error err = {0};

    (void)state;
    tsr__fail(&err, TSR_ERR_ARG, "%0*d", 2 * TSR_ERROR_LEN, 7);
    assert_int_equal(strlen(err.text), TSR_ERROR_LEN - 1);
}

/* A path or a file may have any bytes: none of them steers a terminal, or breaks the line. */
static void errors_have_no_control_characters(void **state)
{
    static const struct {
        const char *text, *escaped;
    } cases[] = {
        {"a\nb\033[2J\177", "a\\x0ab\\x1b[2J\\x7f"},
        {"gr\xc3\xb6\xc3\x9f"
         "er \xe2\x82\xac \xf0\x9f\x98\x80",
         NULL},
        {"\xc2\x9b"
         "31m \x9b \xe4",
         "\\xc2\\x9b31m \\x9b \\xe4"},
        {"\xc0\x8a \xed\xa0\x80", "\\xc0\\x8a \\xed\\xa0\\x80"},
    };
    char small[8] = "ab\n\n\n";

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tsr_error err = {0};
        tsr__fail(&err, TSR_ERR_IO, "%s", cases[i].text);
        assert_string_equal(err.text, cases[i].escaped ? cases[i].escaped : cases[i].text);
    }
    tsr__escape(small, sizeof small);
    assert_string_equal(small, "ab\\x0a");
}

static void errors_status_text(void **state)
{
    (void)state;
    assert_string_equal(tsr_status_text(TSR_OK), "success");
    assert_string_equal(tsr_status_text(TSR_ERR_MEMORY), "out of memory");
    assert_string_equal(tsr_status_text(TSR_ERR_STATE), "not possible in this state");
    assert_string_equal(tsr_status_text((tsr_status)999), "unknown status");
}

static void version_matches_macros(void **state)
{
    char text[32];

    (void)state;
    snprintf(text, sizeof text, "%d.%d.%d", TSR_VERSION_MAJOR, TSR_VERSION_MINOR,
             TSR_VERSION_PATCH);
    assert_string_equal(tsr_version(), text);
}

static void log_levels(void **state)
{
    static const char *const names[] = {"off", "warn", "info", "debug"};
    tsr_log_level level;
    tsr_error err = {0};

    (void)state;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(tsr__log_level_parse(names[i], &level, &err), TSR_OK);
        assert_int_equal(level, i);
    }
    assert_int_equal(tsr__log_level_parse(NULL, &level, &err), TSR_OK);
    assert_int_equal(level, TSR_LOG_WARN);
    assert_int_equal(tsr__log_level_parse("", &level, &err), TSR_OK);
    assert_int_equal(level, TSR_LOG_WARN);
    assert_int_equal(tsr__log_level_parse("loud", &level, &err), TSR_ERR_PARSE);
    assert_string_equal(err.text, "log level \"loud\"; expected off, warn, info or debug");
}

static void heap_zeroes_and_counts(void **state)
{
    tsr_heap heap = {0};
    unsigned char *p, *none;

    (void)state;
    assert_int_equal(tsr__alloc(&heap, 10, 7, &p, NULL), TSR_OK);
    for (int i = 0; i < 70; i++)
        assert_int_equal(p[i], 0);
    assert_int_equal(tsr__alloc(&heap, 0, 8, &none, NULL), TSR_OK);
    assert_non_null(none);
    assert_int_equal(heap.calls, 2);
    assert_int_equal(heap.live, 2);
    tsr__free(&heap, p);
    tsr__free(&heap, none);
    tsr__free(&heap, NULL);
    assert_int_equal(heap.live, 0);
}

static void heap_refuses_what_cannot_be(void **state)
{
    tsr_heap heap = {0};
    char mark, *p = &mark;

    (void)state;
    for (int i = 0; i < 2; i++) {
        tsr_error err = {0};
        int64_t count = i == 0 ? -1 : INT64_MAX;

        assert_int_equal(tsr__alloc(&heap, count, 8, &p, &err), TSR_ERR_MEMORY);
        assert_int_equal(err.code, TSR_ERR_MEMORY);
        assert_non_null(strstr(err.text, "out of memory"));
        assert_ptr_equal(p, &mark);
    }
    assert_int_equal(heap.live, 0);
}

static void heap_fails_at_the_nth(void **state)
{
    (void)state;
    for (int n = 1; n <= 4; n++) {
        tsr_heap heap = {.fail_at = n};

        for (int i = 1; i <= 4; i++) {
            char *p = NULL;
            tsr_status st = tsr__alloc(&heap, 1, 1, &p, NULL);

            assert_int_equal(st, i == n ? TSR_ERR_MEMORY : TSR_OK);
            assert_true((p == NULL) == (i == n));
            tsr__free(&heap, p);
        }
        assert_int_equal(heap.live, 0);
    }
}

static void heap_grows_arrays(void **state)
{
    tsr_heap heap = {0};
    int *items = NULL, cap = 0;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(tsr__grow(&heap, &items, &cap, i, sizeof *items, NULL), TSR_OK);
        assert_true(cap > i);
        items[i] = 3 * i;
    }
    for (int i = 0; i < 1000; i++)
        assert_int_equal(items[i], 3 * i);
    assert_int_equal(heap.live, 1);

    int *before = items, cap_before = cap;

    heap.fail_at = heap.calls + 1;
    assert_int_equal(tsr__grow(&heap, &items, &cap, cap, sizeof *items, NULL), TSR_ERR_MEMORY);
    assert_ptr_equal(items, before);
    assert_int_equal(cap, cap_before);
    tsr__free(&heap, items);

    int full = INT_MAX;

    items = NULL;
    assert_int_equal(tsr__grow(&heap, &items, &full, INT_MAX, 1, NULL), TSR_ERR_MEMORY);
    assert_int_equal(heap.live, 0);
}

static const size_t sizes[] = {
    0,   1,    63,     64,      65,      511,           512,           513,     576,
    577, 4096, 100000, 1 << 20, 2 << 20, (2 << 20) + 1, (3 << 20) - 1, 9 << 20, 33 << 20};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void pool_buffers_are_aligned_and_whole(void **state)
{
    tsr_heap heap = {0};
    tsr_pool pool;
    char *p[SIZES];

    (void)state;
    tsr__pool_open(&pool, &heap);
    for (int i = 0; i < SIZES; i++) {
        size_t before = pool.held;

        assert_int_equal(tsr__pool_get(&pool, sizes[i], &p[i], NULL), TSR_OK);
        assert_int_equal((uintptr_t)p[i] % 64, 0);
        memset(p[i], i + 1, sizes[i]);
        /* an eighth, the header and a page or 64 bytes at most */
        assert_true(pool.held - before <=
                    sizes[i] + sizes[i] / 8 + 64 + (sizes[i] > 1 << 20 ? 4096 : 64));
        assert_int_equal(pool.used, pool.held);
    }
    assert_int_equal(heap.live, SIZES);
    for (int i = 0; i < SIZES; i++) {
        for (size_t j = 0; j < sizes[i]; j += 61)
            assert_int_equal(p[i][j], (char)(i + 1));
        tsr__pool_put(&pool, p[i]);
    }
    tsr__pool_put(&pool, NULL);
    assert_int_equal(heap.live, 0);
    assert_int_equal(pool.used, 0);
    assert_true(pool.held > 0);
    tsr__pool_trim(&pool);
    assert_int_equal(pool.held, 0);
}

static void pool_reuses_and_keeps_the_peak(void **state)
{
    tsr_heap heap = {0};
    tsr_pool pool;
    char *a, *b, *c;

    (void)state;
    tsr__pool_open(&pool, &heap);
    assert_int_equal(tsr__pool_get(&pool, 5 << 20, &a, NULL), TSR_OK);
    assert_int_equal(tsr__pool_get(&pool, 1000, &b, NULL), TSR_OK);
    size_t held = pool.held, peak = pool.peak;

    assert_int_equal(peak, pool.used);
    tsr__pool_put(&pool, a);
    assert_int_equal(tsr__pool_get(&pool, (5 << 20) - 5, &c, NULL), TSR_OK);
    assert_ptr_equal(c, a);
    tsr__pool_put(&pool, b);
    assert_int_equal(tsr__pool_get(&pool, 999, &b, NULL), TSR_OK);
    assert_int_equal(pool.held, held);
    assert_int_equal(pool.peak, peak);

    tsr__pool_trim(&pool); /* leaves alone what is in use */
    assert_int_equal(pool.held, held);
    b[998] = c[0] = 1;
    tsr__pool_put(&pool, b);
    tsr__pool_put(&pool, c);
    tsr__pool_trim(&pool);
    assert_int_equal(pool.held, 0);
    assert_int_equal(pool.peak, peak);
    assert_int_equal(tsr__pool_get(&pool, 1000, &b, NULL), TSR_OK);
    assert_true(pool.used < peak);
    assert_int_equal(pool.peak, peak);
    tsr__pool_put(&pool, b);
    tsr__pool_trim(&pool);
}

static void pool_fails_on_request(void **state)
{
    tsr_heap heap = {0};
    tsr_pool pool;
    tsr_error err = {0};
    char mark, *p, *q = &mark;

    (void)state;
    tsr__pool_open(&pool, &heap);
    heap.fail_at = 2;
    assert_int_equal(tsr__pool_get(&pool, 100, &p, &err), TSR_OK);
    tsr__pool_put(&pool, p);
    /* also where a free buffer waits: which allocation fails must not depend on history */
    assert_int_equal(tsr__pool_get(&pool, 100, &q, &err), TSR_ERR_MEMORY);
    assert_ptr_equal(q, &mark);
    assert_non_null(strstr(err.text, "100 bytes"));
    assert_int_equal(heap.live, 0);
    assert_int_equal(tsr__pool_get(&pool, 100, &q, NULL), TSR_OK);
    tsr__pool_put(&pool, q);
    tsr__pool_trim(&pool);
}

static void pool_refuses_the_impossible(void **state)
{
    static const size_t huge[] = {SIZE_MAX,        SIZE_MAX - 64,         (size_t)1 << 60,
                                  (size_t)1 << 48, ((size_t)1 << 48) + 1, (size_t)1 << 47};
    tsr_heap heap = {0};
    tsr_pool pool;
    char *p;

    (void)state;
    tsr__pool_open(&pool, &heap);
    assert_int_equal(tsr__pool_get(&pool, 100, &p, NULL), TSR_OK);
    tsr__pool_put(&pool, p);
    for (size_t i = 0; i < sizeof huge / sizeof *huge; i++)
        assert_int_equal(tsr__pool_get(&pool, huge[i], &p, NULL), TSR_ERR_MEMORY);
    assert_int_equal(heap.live, 0);
    tsr__pool_trim(&pool);
    assert_int_equal(pool.held, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_first_one_stays),
        cmocka_unit_test(errors_long_text_is_cut),
        cmocka_unit_test(errors_have_no_control_characters),
        cmocka_unit_test(errors_status_text),
        cmocka_unit_test(version_matches_macros),
        cmocka_unit_test(log_levels),
        cmocka_unit_test(heap_zeroes_and_counts),
        cmocka_unit_test(heap_refuses_what_cannot_be),
        cmocka_unit_test(heap_fails_at_the_nth),
        cmocka_unit_test(heap_grows_arrays),
        cmocka_unit_test(pool_buffers_are_aligned_and_whole),
        cmocka_unit_test(pool_reuses_and_keeps_the_peak),
        cmocka_unit_test(pool_fails_on_request),
        cmocka_unit_test(pool_refuses_the_impossible),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
